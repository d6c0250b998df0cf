"""--prove-check: a check that passes although all code is broken cannot fail, and the loop does not start."""

import glob
import json
import os

from harness import cases, contains, equal, expect, lacks, user_only
from harness.loop import WORKSPACES, Loop, kill, until

UNITTEST = "python3 -B -m unittest discover -s tests"
FILES = {
    "calc.py": "def tax(amount):\n    return amount * 19 // 100\n",
    "tests/test_calc.py": "import unittest\nfrom calc import tax\n\n\nclass Tax(unittest.TestCase):\n    def test_tax(self):\n"
                          "        self.assertEqual(tax(100), 19)\n",
    "Makefile": "nothing:\n",
}
# Checks that cannot fail, whatever the code does.
VACUOUS = {
    "a constant": "true",
    "an ignored failure": f"{UNITTEST} || true",
    "a runner that runs nothing": "make nothing",
    "a file that exists": "test -s calc.py",
}
PROVE = ("--prove-check", "-m", "1", "--promise", "DONE")


def begin(t, workspace="draft", files=None, script="touch agent-ran; say DONE", name="project"):
    loop = Loop(t, name, scripts={"all": script}, workspace=workspace)
    os.makedirs(loop.path("tests"))
    for file, text in (FILES if files is None else files).items():
        loop.write(file, text)
    return loop


def facts_of(path):
    """All that a write would change."""
    status = os.stat(path)
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def proofs(loop):
    return [json.loads(data) for kind, data in loop.events() if kind == "proved"]


@cases(*VACUOUS)
def test_a_check_that_cannot_fail_keeps_the_loop_from_starting(t, kind):
    """Without --prove-check, the same loop is done before it began."""
    loop = begin(t)
    result = loop.run(*PROVE, check=VACUOUS[kind])
    equal(result.code, 125, "exit status", result)
    contains(result.out, "1 of the checks still passes when all source code is broken", "the reason")
    contains(result.out, "not noticed", "what is shown about the check")
    equal([proof["noticed"] for proof in proofs(loop)], [False], "the proof")
    for name, text in FILES.items():
        equal(loop.tree()[name], text, name)
    expect("begun" not in [event for event, _ in loop.events()], "no iteration has begun")
    contains(loop.ringfence("resume").err, "it never started", "what a resume says")
    control = begin(t, name="control")
    equal(control.run("-m", "1", check=VACUOUS[kind]).code, 0, "exit status without --prove-check")


@cases(*WORKSPACES)
def test_a_check_that_can_fail_is_accepted_and_nothing_of_the_breakage_stays(t, workspace):
    loop = begin(t, workspace)
    before = {name: facts_of(loop.path(name)) for name in FILES}
    result = loop.run(*PROVE, check=UNITTEST)
    equal(result.code, 0, "exit status", result)
    (proof,) = proofs(loop)
    equal((proof["noticed"], proof["broken"], proof["example"]), (True, 1, "calc.py"), "the proof")
    with open(os.path.join(loop.folder, "iterations/0/proof-1.stderr.log"), encoding="utf-8") as file:
        contains(file.read(), "calc.py", "what the check said")
    equal({name: facts_of(loop.path(name)) for name in FILES}, before, "the files, with their times")
    for name, text in FILES.items():
        equal(loop.tree()[name], text, name)
    expect(os.path.exists(loop.made("agent-ran")), "the agent has worked")
    expect(not os.path.exists(os.path.join(loop.folder, "view")), "no view is left")


def test_a_check_that_misses_a_program_when_the_code_is_broken_has_noticed(t):
    loop = begin(t)
    result = loop.run(*PROVE, check='V="1 2"; python3 -B -c "import calc" || exit 127')
    equal(result.code, 0, "exit status", result)
    equal([(proof["noticed"], proof["code"]) for proof in proofs(loop)], [(True, 127)], "the proof")


def test_a_check_that_already_fails_needs_no_other_proof(t):
    loop = begin(t, script="sed -i s/0/1/ calc.py; say DONE", files={**FILES, "calc.py": "def tax(amount):\n    return 10 + 9 if amount else 0 + 'a'\n",
                                                        "tests/test_calc.py": FILES["tests/test_calc.py"].replace("19", "20")})
    loop.run(*PROVE, check=UNITTEST)
    (proof,) = proofs(loop)
    equal((proof["noticed"], proof["before"]), (True, True), "the proof")
    lacks(proof, "broken", "the proof")
    contains([kind for kind, _ in loop.events()], "begun", "the events")


@cases("true", UNITTEST)
def test_it_works_in_a_draft_that_is_a_copy(t, check):
    loop = begin(t)
    result = loop.run(*PROVE, "--draft-kind", "copy", check=check)
    equal(result.code, 125 if check == "true" else 0, "exit status", result)
    equal([proof["noticed"] for proof in proofs(loop)], [check != "true"], "the proof")


@cases("true", "python3 -B -c 'import calc'")
def test_final_checks_are_proved_as_well(t, final):
    loop = begin(t)
    result = loop.run(*PROVE, "--final-check", final, check=UNITTEST)
    equal(result.code, 125 if final == "true" else 0, "exit status", result)
    equal([(proof["noticed"], proof.get("final", False)) for proof in proofs(loop)], [(True, False), (final != "true", True)], "the proofs")


def test_each_check_must_be_able_to_fail(t):
    loop = begin(t)
    result = loop.run(*PROVE, "--check", "true", check=UNITTEST)
    equal(result.code, 125, "exit status", result)
    equal([proof["noticed"] for proof in proofs(loop)], [True, False], "the proofs")


def test_a_project_without_code_proves_nothing(t):
    loop = begin(t, files={"README.md": "text\n"})
    os.unlink(loop.path("agent.sh"))
    result = loop.ringfence("run", "make it", "--agent-command", "true", *PROVE, "--check", "test -f README.md")
    equal(result.code, 125, "exit status", result)
    contains(result.out, "the project has no source code to break", "the reason")


def test_pinned_files_are_not_broken(t):
    """Otherwise every test would notice its own breakage."""
    loop = begin(t)
    result = loop.run(*PROVE, check="python3 -B -c \"import ast; ast.parse(open('tests/test_calc.py').read())\"")
    equal(result.code, 125, "exit status", result)
    equal([proof["noticed"] for proof in proofs(loop)], [False], "the proof")


@cases("--check-view=false", ("--checkpoints=false", "--workspace", "in-place"))
def test_without_views_it_is_refused(t, *words):
    loop = begin(t)
    result = loop.run("--prove-check", *words)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--prove-check needs the views that checks run in", "the reason")


def test_without_a_check_it_is_refused(t):
    loop = begin(t, files={})
    result = loop.run("--prove-check", "--promise", "DONE", check=None)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--prove-check needs a check", "the reason")


def test_an_abort_ends_a_proof(t):
    t.leftover_runs = True
    loop = begin(t)
    loop.detach(*PROVE, check="python3 -B -c 'import calc' || { touch here; sleep 300; }")
    until("the proof", lambda: os.path.exists(os.path.join(loop.folder, "view/trial/upper/here")))
    equal(loop.ringfence("abort", "--now").code, 0, "exit status of abort")
    loop.ended("aborted")
    t.all_gone()


# Crashes

def test_the_loop_of_the_sweep_has_these_events(t):
    loop = begin(t)
    loop.detach(*PROVE, "--check", "python3 -B -c 'import calc'", check=UNITTEST)
    loop.ended("completed")
    equal([kind for kind, _ in loop.events()][:10],
          ["created", "started", "checkpointed", "git", "checked", "checked", "proved", "proved", "baselined", "begun"], "the events")


@user_only
@cases(*range(4, 9))
def test_a_supervisor_killed_at_any_event_of_a_proof_changes_nothing(t, number):
    """Before and after the event, of a check that can fail, and of one that cannot."""
    t.leftover_runs = True
    loops = [(begin(t, name=f"{end}-{fault}"), fault, check, end) for fault in (f"{number}", f"{number}+")
             for check, end in (("python3 -B -c 'import calc'", "completed"), ("true", "failed"))]
    for loop, fault, check, _ in loops:
        loop.detach(*PROVE, "--check", check, check=UNITTEST, env=t.env(RINGFENCE_FAULT=fault))
    for loop, fault, _, end in loops:
        loop.ended(end)
        equal([proof["noticed"] for proof in proofs(loop)], [True, end == "completed"], f"the proofs at {fault}")
        equal(loop.tree()["calc.py"], FILES["calc.py"], f"the code at {fault}")
        expect(not os.path.exists(os.path.join(loop.folder, "view")), f"no view is left at {fault}")
    t.all_gone()


def test_a_supervisor_or_runner_killed_during_a_proof_repeats_it(t):
    t.leftover_runs = True
    loop = begin(t)
    loop.write("go.sh", "python3 -B -c 'import calc' || { [ -e go ] || { mktemp here.XXXXXXXX; sleep 300; }; exit 1; }\n")
    loop.detach(*PROVE, "--workspace", "in-place", check="sh ./go.sh")

    def proofs_begun():
        """Each proof leaves a name of its own, in a new view."""
        return set(glob.glob(os.path.join(loop.folder, "view/trial/upper/here.*")))
    first = until("the proof", proofs_begun)
    kill(loop.runner())
    second = until("it again", lambda: proofs_begun() - first)
    kill(loop.supervisor())
    until("it once more", lambda: proofs_begun() - first - second and loop.status()["supervisor_pid"])
    loop.write("go")
    kill(loop.runner())
    loop.ended("completed")
    equal([proof["noticed"] for proof in proofs(loop)], [True], "the proofs")
    t.all_gone()
