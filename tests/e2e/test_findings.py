"""Findings: signs that a change weakens the checks, in the diff of a draft or a loop."""

import json

from harness import contains, equal, lacks
from harness.terminal import Terminal

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
          [("failure-ignored", "stop", "run.sh", 1), ("expected-changed", "review", "tests/test_tax.py", 2),
           ("test-deleted", "stop", "tests/test_tax.py", 5)], "findings as JSON")


def test_only_the_given_paths_are_looked_at(t):
    t.write("tests/test_tax.py", TEST)
    draft = rehearse(t, "rm tests/test_tax.py; mkdir ci; echo 'make test || true' >ci/check.sh")
    contains(findings(t, draft, "--", "ci"), "ci/check.sh:1: a failure is ignored")
    lacks(findings(t, draft, "--", "ci"), "test_tax")


def test_a_change_that_weakens_nothing_says_so(t):
    t.write("tests/test_tax.py", TEST)
    draft = rehearse(t, "printf '\\ndef test_more():\\n    assert tax(200) == 38\\n' >>tests/test_tax.py")
    equal(findings(t, draft), "no sign that the changes weaken the checks\n", "findings")
    equal(json.loads(findings(t, draft, "--json")), {"findings": []}, "findings as JSON")


def test_a_hostile_name_or_line_cannot_reach_the_terminal(t):
    draft = rehearse(t, "mkdir tests; printf \"it.skip('\\033[31mred', () => {});\\n\" >\"tests/$(printf 'a\\033[2J').test.js\"")
    terminal = Terminal([t.ringfence, "diff", "--draft", draft, "--findings"], t.env(PAGER="cat"), t.project)
    equal(terminal.wait(), 0, "exit status of diff on a terminal")
    contains(terminal.text(), "tests/a\\x1b[2J.test.js:1: a test is skipped")
    contains(terminal.text(), "\\x1b[31mred")
    lacks(terminal.text(), "\033")
