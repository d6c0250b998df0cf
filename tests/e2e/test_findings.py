"""Findings: signs that a change weakens the checks, in the diff of a draft or a loop."""

import json
import os

from harness import contains, equal, lacks
from harness.loop import LoopInPlace as Loop
from harness.terminal import Terminal

ANY_IDENTITY = "Findings are read from a diff."

TEST = "def test_tax():\n    assert tax(100) == 19\n\n\ndef test_free():\n    assert tax(0) == 0\n"


def rehearse(t, script):
    """Runs a script in a new draft. Returns its id."""
    equal(t.sh(script, opts=("--draft",)).code, 0, "exit status of exec --draft")
    return json.loads(t.run([t.ringfence, "drafts", "--json"]).out)["drafts"][-1]["id"]


def findings(t, draft, *words):
    result = t.run([t.ringfence, "diff", "--draft", draft, "--findings", *words])
    equal(result.code, 0, "exit status of diff", result)
    return result.out


def test_a_change_that_weakens_the_checks_is_shown_with_file_and_line(t):
    t.write("tests/test_tax.py", TEST)
    t.write("run.sh", "pytest\n")
    draft = rehearse(t, "sed -i 's/== 19/== 20/; /test_free/,$d' tests/test_tax.py; echo 'pytest || true' >run.sh")
    equal(findings(t, draft),
          "run.sh:1: a failure is ignored (failure-ignored)\n    pytest || true\n"
          "tests/test_tax.py:2: an expected value was changed (expected-changed)\n    assert tax(100) == 20\n"
          "tests/test_tax.py:5: a test was deleted (test-deleted)\n    test_free\n", "findings")
    found = json.loads(findings(t, draft, "--json"))["findings"]
    equal([(one["kind"], one["action"], one["path"], one["line"]) for one in found],
          [("failure-ignored", "stop", "run.sh", 1), ("test-deleted", "stop", "tests/test_tax.py", 5),
           ("expected-changed", "review", "tests/test_tax.py", 2)], "findings as JSON")


def test_only_the_given_paths_are_looked_at(t):
    t.write("tests/test_tax.py", TEST)
    t.write("ci/check.sh", "make test\n")
    draft = rehearse(t, "rm tests/test_tax.py; echo 'make test || true' >ci/check.sh")
    contains(findings(t, draft, "--", "ci"), "ci/check.sh:1: a failure is ignored")
    lacks(findings(t, draft, "--", "ci"), "test_tax")


def test_a_change_that_weakens_nothing_says_so(t):
    t.write("tests/test_tax.py", TEST)
    draft = rehearse(t, "printf '\\ndef test_more():\\n    assert tax(200) == 38\\n' >>tests/test_tax.py")
    equal(findings(t, draft), "no sign that the changes weaken the checks\n", "findings")
    equal(json.loads(findings(t, draft, "--json")), {"findings": [], "count": 0}, "findings as JSON")


def test_a_hostile_name_or_line_cannot_reach_the_terminal(t):
    draft = rehearse(t, "mkdir tests; printf \"it.skip('\\033[31mred', () => {});\\n\" >\"tests/$(printf 'a\\033[2J').test.js\"")
    terminal = Terminal([t.ringfence, "diff", "--draft", draft, "--findings"], t.env(PAGER="cat"), t.project)
    equal(terminal.wait(), 0, "exit status of diff on a terminal")
    contains(terminal.text(), "tests/a\\x1b[2J.test.js:1: a test is skipped")
    contains(terminal.text(), "\\x1b[31mred")
    lacks(terminal.text(), "\033")


# Loops

CHEAT = "sed -i 's/== 19/== 20/' test_tax.py; edit done yes"


def cheat(t, script, *words):
    """Runs a loop whose agent runs the script. Returns the loop and the result."""
    loop = Loop(t, scripts={"all": script})
    loop.write("test_tax.py", TEST)
    return loop, loop.run(*words)


def prompt(loop, iteration):
    with open(os.path.join(loop.folder, f"iterations/{iteration}/prompt.md"), encoding="utf-8") as file:
        return file.read()


def test_a_loop_whose_agent_changes_the_expected_value_waits_for_a_person(t):
    loop, result = cheat(t, CHEAT)
    equal(result.code, 3, "exit status", result)
    contains(result.out, "test_tax.py:2: an expected value was changed: assert tax(100) == 20", "the progress")
    contains(result.out, "paused: every rule holds, but there is 1 sign that the changes weaken the checks")
    loop.ended("paused")
    equal([entry["verdict"] for entry in loop.history()], ["pause"], "the verdicts")
    contains(loop.ringfence("diff", "--findings").out, "test_tax.py:2: an expected value was changed (expected-changed)")


def test_many_harmless_findings_do_not_hide_a_serious_one(t):
    loop, result = cheat(t, "for i in $(seq 60); do echo package$i==1 >>requirements.txt; done; " + CHEAT)
    equal(result.code, 3, "exit status", result)
    findings = json.loads(loop.ringfence("diff", "--findings", "--json").out)["findings"]
    equal((len(findings), findings[0]["kind"]), (61, "expected-changed"), "the findings")


def test_what_a_person_accepted_no_longer_counts(t):
    """The checks run again, and the agent does not: nothing else is missing, not even an iteration."""
    loop, _ = cheat(t, CHEAT, "-m", "1")
    result = loop.ringfence("resume", "--accept-findings", "--follow")
    equal(result.code, 0, "exit status", result)
    kinds = [kind for kind, _ in loop.events()]
    equal((kinds.count("begun"), kinds.count("rechecks"), kinds.count("checked")), (1, 1, 3), "the runs of agent and checks")
    contains(result.out, "completed: every rule holds")
    loop.ended("completed")
    shown = loop.ringfence("diff", "--findings")
    contains(shown.out, "(expected-changed)", "the findings")
    contains(shown.err, "1 finding of this loop was accepted, and no longer counts", "the notice")


def test_acceptance_does_not_spare_the_agent_what_else_is_missing(t):
    loop = Loop(t, scripts={"1": "rm test_tax.py", "2": "say no", "3": "edit done yes"})
    loop.write("test_tax.py", TEST)
    equal(loop.run().code, 3, "exit status")
    result = loop.ringfence("resume", "--accept-findings", "--follow")
    equal(result.code, 0, "exit status", result)
    equal([kind for kind, _ in loop.events()].count("begun"), 3, "the runs of the agent")


def test_without_acceptance_a_resumed_loop_pauses_again(t):
    loop, _ = cheat(t, CHEAT)
    equal(loop.ringfence("resume", "--follow").code, 3, "exit status")
    loop.ended("paused")


def test_an_agent_that_deletes_a_test_is_told_once_and_then_stopped(t):
    loop, result = cheat(t, "sed -i '/test_free/,$d' test_tax.py; say ok; edit done yes")
    equal(result.code, 3, "exit status", result)
    contains(result.out, "continuing: the changes weaken the checks")
    equal([entry["verdict"] for entry in loop.history()], ["go on", "pause"], "the verdicts")
    lacks(prompt(loop, 1), "# Findings", "the first prompt")
    contains(prompt(loop, 2), "- `test_tax.py` line 5: a test was deleted: `test_free`", "the second prompt")


def test_a_finding_about_a_whole_file_has_no_line(t):
    loop = Loop(t, scripts={"all": "echo 2 >yarn.lock; say ok"})
    loop.write("yarn.lock", "1\n")
    result = loop.run("--max-iterations", "2")
    contains(result.out, "  yarn.lock: a lockfile changed without its manifest: yarn.lock", "the progress")
    contains(prompt(loop, 2), "- `yarn.lock`: a lockfile changed without its manifest: `yarn.lock`", "the second prompt")


def test_a_large_file_that_was_not_examined_is_named(t):
    loop, result = cheat(t, "yes 'x()' | head -c 3000000 >test_big.py; edit done yes")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "test_big.py: a large file was not examined", "the progress")
    contains(loop.ringfence("diff", "--findings").out, "a large file was not examined (not-examined)", "diff")


def test_an_agent_that_takes_it_back_completes(t):
    loop = Loop(t, scripts={"1": "mv test_tax.py aside; edit done yes", "2": "mv aside test_tax.py; say back"})
    loop.write("test_tax.py", TEST)
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    equal([entry["verdict"] for entry in loop.history()], ["go on", "done"], "the verdicts")
    equal(loop.ringfence("diff", "--findings").out, "no sign that the changes weaken the checks\n", "findings")


def test_the_action_of_a_kind_can_be_changed(t):
    _, result = cheat(t, CHEAT, "--findings", "expected-changed=note")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "test_tax.py:2: an expected value was changed", "the progress")


def test_diff_shows_the_actions_of_the_loop(t):
    loop, _ = cheat(t, CHEAT, "--findings", "expected-changed=note")
    answer = json.loads(loop.ringfence("diff", "--findings", "--json").out)
    equal([entry["action"] for entry in answer["findings"]], ["note"], "the actions")


def test_diff_does_not_show_kinds_that_are_off_but_counts_them(t):
    loop, _ = cheat(t, CHEAT, "--findings", "expected-changed=off")
    equal(loop.ringfence("diff", "--findings").out, "1 finding is not shown: its kind is off (see: --findings)\n", "findings")


def test_findings_can_be_turned_off(t):
    loop, result = cheat(t, "rm test_tax.py; edit done yes", "--findings", "all=off")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "completed: every rule holds")
    lacks(result.out, "a test was deleted")
    loop.ended("completed")


def test_a_malformed_action_is_refused_before_anything_starts(t):
    _, result = cheat(t, CHEAT, "--findings", "test-removed=note")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--findings 'test-removed=note': use KIND=ACTION")


def test_a_project_cannot_turn_findings_off_without_consent(t):
    loop = Loop(t, scripts={"all": CHEAT})
    loop.write("test_tax.py", TEST)
    loop.write("ringfence.yml", "findings: [all=off]\n")
    result = loop.run()
    equal(result.code, 3, "exit status", result)
    contains(result.out, "an expected value was changed", "the progress")


def test_without_checkpoints_nothing_is_examined(t):
    _, result = cheat(t, CHEAT, "--checkpoints=false")
    equal(result.code, 0, "exit status", result)
    lacks(result.out, "an expected value was changed")
