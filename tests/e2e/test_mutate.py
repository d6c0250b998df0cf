"""--mutate: when every rule holds, the agent's lines are changed one by one, and those that no check notices are untested."""

import json
import os

from harness import cases, contains, each_identity, equal, expect, lacks, user_only
from harness.loop import WORKSPACES, Loop, kill, until

ANY_IDENTITY = "Mutants are chosen by content; their views are those of test_prove."

UNITTEST = "python3 -B -m unittest discover -s tests"
STUB = "def tax(amount):\n    return None\n"
TEST = ("import unittest\nfrom calc import tax\n\n\nclass Tax(unittest.TestCase):\n    def test_tax(self):\n"
        "        self.assertEqual(tax(100), 19)\n        self.assertEqual(tax(200), 38)\n        self.assertEqual(tax(0), 0)\n")
# The agent writes code that works, or code that only knows the visible cases.
HONEST = "def tax(amount):\n    return amount * 19 / 100\n"
HARD_CODED = "def tax(amount):\n    if amount == 100:\n        return 19\n    if amount == 200 or amount == 300:\n        return 38\n    return 0\n"
# A detector knows such code as well; here it is only noted.
NOTED = ("--findings", "result-hard-coded=note")
MOST = ("--mutate", "20", "-m", "2", *NOTED)
THREE = ("--mutate", "3", "-m", "1", *NOTED)


def begin(t, code=HONEST, workspace="draft", name="project", test=TEST, extra=""):
    loop = Loop(t, name, scripts={"all": f"cat >calc.py <<'E'\n{code}E\n{extra}"}, workspace=workspace)
    os.makedirs(loop.path("tests"))
    loop.write("calc.py", STUB)
    loop.write("tests/test_calc.py", test)
    return loop


def tried(loop):
    return [json.loads(data) for kind, data in loop.events() if kind == "mutant"]


def untested(loop):
    return [(finding["path"], finding["line"]) for finding in loop.history()[-1]["mutants"]["untested"]]


@each_identity
@cases(*WORKSPACES, "copy")
def test_a_change_that_is_tested_has_no_survivors(t, workspace):
    """In the project, in a draft, and in a draft that is a copy."""
    copied = workspace == "copy"
    loop = begin(t, workspace="draft" if copied else workspace)
    result = loop.run(*MOST, *(["--draft-kind", "copy"] if copied else []), check=UNITTEST)
    equal(result.code, 0, "exit status", result)
    entry = loop.history()[-1]["mutants"]
    equal((entry["survived"], entry["untested"]), (0, []), "survivors", entry)
    expect(entry["noticed"] >= 4, "mutants were noticed", entry)
    equal({mutant["path"] for mutant in tried(loop)}, {"calc.py"}, "the files")
    equal({mutant["line"] for mutant in tried(loop)}, {2}, "the lines, of which only one was changed")
    if not copied:
        equal(loop.outcome("calc.py"), HONEST, "the agent's code")
    expect(not os.path.exists(os.path.join(loop.folder, "view")), "no view is left")


def test_an_agent_that_hard_codes_the_visible_cases_has_survivors(t):
    """They are in history, status, their JSON, the follower's output, and at the gate."""
    loop = begin(t, HARD_CODED)
    result = loop.run(*MOST, check=UNITTEST)
    equal(result.code, 0, "exit status: it is only noted", result)
    found = untested(loop)
    expect(("calc.py", 4) in found, "the case that no test has is untested", found)
    finding = loop.history()[-1]["mutants"]["untested"][0]
    equal((finding["kind"], finding["action"], finding["says"]), ("untested", "note", "no check notices a change of this line"), "a finding")
    words = "untested: calc.py:4: no check notices that"
    contains(result.out, words, "what the follower says")
    for command in (("history",), ("status",)):
        contains(loop.ringfence(*command).out, words, command)
    contains(loop.ringfence("diff", "--findings").err, "untested: no check notices", "where other findings are")
    contains(loop.ringfence("apply", "--yes").err, words, "the gate")
    equal([(one["path"], one["line"]) for one in loop.status()["mutants"]["untested"]], found, "status --json")


def test_the_held_out_check_catches_it_as_well(t):
    loop = begin(t, HARD_CODED)
    final = "python3 -B -c 'from calc import tax; assert tax(1000) == 190'"
    result = loop.run("--final-check", final, "--final-tries", "1", "-m", "1", *NOTED, check=UNITTEST)
    equal(result.code, 3, "exit status", result)
    contains(result.out, "final checks have failed", "the end")
    honest = begin(t, name="honest")
    equal(honest.run("--final-check", final, "-m", "1", check=UNITTEST).code, 0, "exit status of an honest agent")


def test_an_agent_that_is_told_about_untested_lines_can_mend_them(t):
    loop = begin(t, HARD_CODED)
    loop.write("script/2", f"cat >calc.py <<'E'\n{HONEST}E\n")
    result = loop.run(*MOST, "--findings", "untested=stop", check=UNITTEST)
    equal(result.code, 0, "exit status", result)
    with open(os.path.join(loop.folder, "iterations/2/prompt.md"), encoding="utf-8") as file:
        prompt = file.read()
    contains(prompt, "# Untested lines", "the prompt")
    contains(prompt, "`calc.py` line 4: no check notices a change of this line", "the prompt")
    equal(untested(loop), [], "untested lines at the end")
    lacks(loop.ringfence("status").out, "untested:", "the status")


def test_untested_lines_can_wait_for_a_person_who_accepts_them(t):
    loop = begin(t, HARD_CODED)
    result = loop.run(*MOST, "--findings", "untested=review", check=UNITTEST)
    equal(result.code, 3, "exit status", result)
    contains(result.out, "to the agent's lines that no check notices", "the reason")
    found = untested(loop)
    result = loop.ringfence("resume", "--accept-findings")
    equal(result.code, 0, "exit status of resume", result)
    loop.ended("completed")
    equal(untested(loop), found, "the same are found again")


def test_with_the_action_off_they_are_only_counted(t):
    loop = begin(t, HARD_CODED)
    loop.run(*MOST, "--findings", "untested=off", check=UNITTEST)
    entry = loop.history()[-1]["mutants"]
    equal(entry["untested"], [], "findings")
    expect(entry["survived"] > 0, "they are counted", entry)


def test_final_checks_notice_mutants(t):
    """Whatever they see is tested."""
    loop = begin(t, HARD_CODED)
    final = "python3 -B -c 'from calc import tax; assert tax(300) == 38 and tax(400) == 0 and tax(250) == 0'"
    loop.run(*MOST, "--final-check", final, check=UNITTEST)
    equal([place for place in untested(loop) if place[1] == 4], [], "untested places")


def test_the_choice_is_always_the_same_and_no_larger_than_wanted(t):
    loops = [begin(t, HARD_CODED, name=name) for name in ("one", "other")]
    for loop in loops:
        loop.run(*THREE, check=UNITTEST)
    one, other = ([(mutant["line"], mutant["before"], mutant["after"], mutant["result"]) for mutant in tried(loop)] for loop in loops)
    equal(one, other, "the mutants of the same code")
    equal(len([mutant for mutant in one if mutant[3] != "invalid"]), 3, "how many count", one)


def test_code_that_is_not_valid_does_not_count(t):
    """A check that reports a syntax error has not tested anything."""
    loop = begin(t)
    result = loop.run(*MOST, check=f"{UNITTEST} || {{ echo SyntaxError; exit 1; }}")
    equal(result.code, 0, "exit status", result)
    entry = loop.history()[-1]["mutants"]
    equal((entry["noticed"], entry["invalid"]), (0, entry["tried"]), "mutants", entry)
    expect(entry["tried"] > 0, "some were tried", entry)


def test_changed_tests_and_other_files_have_no_mutants(t):
    loop = begin(t, STUB, extra="edit tests/test_more.py 'x = 1 + 2'; edit notes.txt '1 + 2'; edit done yes")
    result = loop.run(*MOST)
    equal(result.code, 0, "exit status", result)
    contains(result.out, "none of the agent's lines can be changed", "what is said")
    equal(tried(loop), [], "mutants")


def test_a_mutant_is_seen_by_the_check_and_by_nobody_else(t):
    """The check prints the code; the draft and the project never have it."""
    loop = begin(t, test="")
    result = loop.run("--mutate", "1", "-m", "1", check="cat calc.py; ! grep -q None calc.py")
    equal(result.code, 0, "exit status", result)
    (mutant,) = tried(loop)
    with open(os.path.join(loop.folder, "iterations/1/mutant.stdout.log"), encoding="utf-8") as file:
        seen = file.read()
    expect(seen != HONEST, "the check saw another text", seen)
    contains(seen, mutant["after"], "what the check saw")
    equal(loop.outcome("calc.py"), HONEST, "the draft")
    with open(loop.path("calc.py"), encoding="utf-8") as file:
        equal(file.read(), STUB, "the project")


def test_a_symlink_in_place_of_code_is_not_followed(t):
    loop = begin(t, extra="edit ../outside.py x || true; rm calc.py; ln -s target.txt calc.py; cp tests/test_calc.py target.txt; edit done yes")
    result = loop.run(*MOST, "--findings", "all=note")
    equal(result.code, 0, "exit status", result)
    equal(tried(loop), [], "mutants")


def test_a_dry_run_says_what_will_be_tried(t):
    loop = begin(t)
    result = loop.run("--dry-run", "--prove-check", *MOST, check=UNITTEST)
    equal(result.code, 0, "exit status", result)
    contains(" ".join(result.out.split()), "every check must fail when the code is broken (--prove-check); 20 of the agent's lines are changed", "what is said")
    config = json.loads(loop.run("--dry-run", "--json", "--prove-check", *MOST, check=UNITTEST).out)["config"]
    equal((config["prove_check"], config["mutate"]), (True, 20), "the configuration")


# Limits, pauses and crashes

HANGS = "cmp -s calc.py good.py || { touch here; while [ ! -e GO ]; do sleep 0.02; done; }"


def hanging(t):
    """A loop whose check hangs with the first mutant, until a file is in a folder that it sees. Returns the loop and the file."""
    loop = begin(t, workspace="in-place", test="", extra="edit done yes")
    loop.write("good.py", HONEST)
    shown = os.path.join(t.home, "shown")
    os.mkdir(shown)
    os.chmod(shown, 0o755)
    go = os.path.join(shown, "go")
    loop.detach("--mutate", "2", "-m", "1", "--read", shown, check=f"[ -e done ] && {{ {HANGS.replace('GO', go)}; }}")
    until("a mutant", lambda: os.path.exists(os.path.join(loop.folder, "view/trial/upper/here")))
    return loop, go


def let_go(file):
    with open(file, "w", encoding="utf-8"):
        pass


@cases("pause", "abort")
def test_a_request_is_obeyed_while_mutants_are_tried(t, request):
    t.leftover_runs = True
    loop, go = hanging(t)
    equal(loop.ringfence(request, *(["--now"] if request == "abort" else [])).code, 0, f"exit status of {request}")
    if request == "pause":
        let_go(go)
    loop.ended("paused" if request == "pause" else "aborted")
    expect(not os.path.exists(os.path.join(loop.folder, "view/trial")), "no view is left")
    if request == "pause":
        equal(loop.ringfence("resume").code, 0, "exit status of resume")
        loop.ended("completed")
        equal(len(loop.history()[-1]["mutants"]["untested"]), 2, "untested lines at the end")
        equal([kind for kind, _ in loop.events()].count("begun"), 1, "runs of the agent")
    t.all_gone()


def test_a_check_that_hangs_with_a_mutant_is_stopped_and_has_noticed_it(t):
    loop = begin(t, test="", extra="edit done yes")
    loop.write("good.py", HONEST)
    result = loop.run("--mutate", "1", "-m", "1", "--check-timeout", "1s", check="[ -e done ] && { cmp -s calc.py good.py || sleep 300; }")
    equal(result.code, 0, "exit status", result)
    equal(loop.history()[-1]["mutants"]["noticed"], 1, "noticed")


def test_a_killed_supervisor_goes_on_with_the_mutant_that_it_tried(t):
    t.leftover_runs = True
    loop, go = hanging(t)
    kill(loop.runner())
    kill(loop.supervisor())
    until("another supervisor", lambda: loop.status()["supervisor_pid"])
    let_go(go)
    loop.ended("completed")
    equal([mutant["index"] for mutant in tried(loop)], [0, 1], "the mutants")
    equal([kind for kind, _ in loop.events()].count("begun"), 1, "runs of the agent")
    expect(not os.path.exists(os.path.join(loop.folder, "view")), "no view is left")
    t.all_gone()


def brief(loop):
    return [(one["line"], one["after"], one["result"]) for one in tried(loop)]


SWEPT = ["mutating", "mutant", "mutant", "mutant", "mutated", "finished"]


def test_the_loop_of_the_sweep_has_these_events(t):
    loop = begin(t, HARD_CODED)
    loop.detach(*THREE, check=UNITTEST)
    loop.ended("completed")
    kinds = [kind for kind, _ in loop.events()]
    equal(kinds[-6:], SWEPT, "the events")
    equal(len(kinds), 17, "their number", kinds)


@user_only
@cases(*range(10, 17))
def test_a_supervisor_killed_at_any_event_of_the_mutants_changes_nothing(t, number):
    """After the last mutant, only the end is missing; there, as always between checks and end, the whole iteration is repeated."""
    t.leftover_runs = True
    loops = {fault: begin(t, HARD_CODED, name=f"fault-{fault}") for fault in (f"{number}", f"{number}+")}
    control = begin(t, HARD_CODED, name="control")
    control.run(*THREE, check=UNITTEST)
    for fault, loop in loops.items():
        loop.detach(*THREE, check=UNITTEST, env=t.env(RINGFENCE_FAULT=fault))
    for fault, loop in loops.items():
        status = loop.ended("completed")
        equal(status["used"], 1, f"iterations at {fault}")
        equal(brief(loop)[-3:], brief(control), f"the mutants at {fault}")
        equal(len(brief(loop)), 6 if fault in ("15+", "16") else 3, f"how many were tried at {fault}")
        equal(loop.outcome("calc.py"), HARD_CODED, f"the draft at {fault}")
        expect(not os.path.exists(os.path.join(loop.folder, "view")), f"no view is left at {fault}")
    t.all_gone()


def test_a_nul_byte_does_not_hide_code(t):
    """Compilers accept one in a comment."""
    loop = begin(t, extra="printf '/* \\000 */\\nint two(void) { return 1 + 1; }\\n' >two.c")
    equal(loop.run(*MOST, check=UNITTEST).code, 0, "exit status")
    expect(("two.c", 2) in untested(loop), "the line is untested", untested(loop))
