"""Checks run in throw-away views: nothing that they write stays, and changes to pinned files do not count."""

import json
import os

from harness import cases, contains, equal, expect, lacks, needs
from harness.gitrepo import Repository
from harness.loop import WORKSPACES, Loop, kill

PYTEST = "python3 -B -m pytest -q -p no:cacheprovider"
TEST = "from calc import tax\n\n\ndef test_tax():\n    assert tax(100) == 19\n"
FILES = {
    "calc.py": "def tax(amount):\n    return 0\n",
    "tests/test_calc.py": TEST,
    "check.sh": "grep -q 'return 19' calc.py\n",
    "Makefile": "test:\n\tgrep -q 'return 19' calc.py\n",
    "tools/run": "#!/bin/sh\ngrep -q 'return 19' calc.py ../calc.py\n",
    "rules.make": "test:\n\tgrep -q 'return 19' calc.py\n",
    "package.json": json.dumps({"scripts": {"test": "grep -q 'return 19' calc.py"}, "dependencies": {}}),
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
}
NPM = "sh -c \"$(python3 -B -c 'import json; print(json.load(open(\"package.json\"))[\"scripts\"][\"test\"])')\""
SKIP = "def pytest_collection_modifyitems(items):\n    items.clear()\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n"

# The check, what the agent does, and what becomes of the files.
CHEATS = {
    "edits a test": (PYTEST, "sed -i 's/== 19/== 0/' tests/test_calc.py", {"tests/test_calc.py": "base"}),
    "deletes a test": (PYTEST, "rm tests/test_calc.py; edit tests/test_other.py 'def test_a(): pass'", {"tests/test_calc.py": "base"}),
    "replaces the folder of tests": (PYTEST, "mv tests old; mkdir tests; edit tests/test_other.py 'def test_a(): pass'; rm -r old",
                                     {"tests/test_calc.py": "base"}),
    "changes the mode of a folder of tests": ("test $(stat -c %a tests) = 711", "chmod 711 tests", {"tests": "base"}),
    "adds a conftest.py": (PYTEST, f"cat >conftest.py <<'E'\n{SKIP}E\n", {"conftest.py": "hidden"}),
    "adds a pytest.ini": (PYTEST, "mkdir o; edit o/test_o.py 'def test_o(): pass'; printf '[pytest]\\ntestpaths = o\\n' >pytest.ini",
                          {"pytest.ini": "hidden", "o/test_o.py": "hidden"}),
    "edits pyproject.toml": (PYTEST, "mkdir o; edit o/test_o.py 'def test_o(): pass';"
                                     " printf '[tool.pytest.ini_options]\\ntestpaths = [\"o\"]\\n' >pyproject.toml", {"pyproject.toml": "base"}),
    "adds a module in place of the runner": (PYTEST, "edit pytest.py 'print(\"1 passed\")'", {"pytest.py": "hidden"}),
    "adds a link in place of the runner": (PYTEST, "mkdir o; touch o/__init__.py; edit o/__main__.py 'print(\"1 passed\")'; ln -s o pytest",
                                           {"pytest": "hidden"}),
    "adds a plugin of the runner": (PYTEST, f"mkdir o.dist-info; printf '[pytest11]\\no = o\\n' >o.dist-info/entry_points.txt;"
                                            f" printf 'Name: o\\nVersion: 1\\n' >o.dist-info/METADATA; cat >o.py <<'E'\n{SKIP}E\n",
                                    {"o.dist-info/entry_points.txt": "hidden"}),
    "adds a configuration in place of a test": (PYTEST, f"rm tests/test_calc.py; mkdir tests/test_calc.py; cat >tests/test_calc.py/conftest.py <<'E'\n{SKIP}E\n"
                                                        "edit tests/test_other.py 'def test_a(): pass'", {"tests/test_calc.py": "base"}),
    "edits the script of the check in its folder": ("cd tools && ./run", "edit tools/run true", {"tools/run": "base"}),
    "edits the script that a shell runs": ("sh tools/run", "edit tools/run true", {"tools/run": "base"}),
    "edits the makefile that the check names": ("make -f rules.make test", "printf 'test:\\n\\ttrue\\n' >rules.make", {"rules.make": "base"}),
    "edits the script of the check": ("sh ./check.sh", "edit check.sh true", {"check.sh": "base"}),
    "edits the target of the check": ("make test", "printf 'test:\\n\\ttrue\\n' >Makefile", {"Makefile": "base"}),
    "adds a makefile that is preferred": ("make test", "printf 'test:\\n\\ttrue\\n' >GNUmakefile", {"GNUmakefile": "hidden"}),
    "edits a script in package.json": (NPM, "printf '{\"scripts\": {\"test\": \"true\"}, \"dependencies\": {\"x\": \"1\"}}' >package.json",
                                       {"package.json": "merged"}),
}


def begin(t, script, workspace="in-place"):
    loop = Loop(t, scripts={"all": script}, workspace=workspace)
    os.makedirs(loop.path("tests"))
    os.makedirs(loop.path("tools"))
    for name, text in FILES.items():
        loop.write(name, text)
    os.chmod(loop.path("tools/run"), 0o755)
    return loop


@cases(*CHEATS)
def test_an_agent_that_changes_what_decides_gains_nothing(t, kind):
    """The check passes with the agent's version, so it would have been deceived."""
    check, script, wanted = CHEATS[kind]
    loop = begin(t, script)
    result = loop.run("-m", "1", check=check)
    equal(result.code, 2, "exit status", result)
    (entry,) = loop.history()
    equal((entry["checks"][0]["passed"], entry["checks"][0]["own"]["passed"]), (False, True), "the results", result)
    equal({path: shown for path, shown in entry["pinned"].items() if path in wanted}, wanted, "the pinned files")


@cases(*WORKSPACES)
def test_what_a_check_writes_is_dropped_after_the_round(t, workspace):
    """A later check of the same round sees it."""
    loop = begin(t, "edit done yes", workspace)
    loop.write("kept", "old\n")
    result = loop.run("--check", "mkdir build && echo new >kept && rm calc.py", "--check", "test -d build && grep -q new kept && test -f done")
    equal(result.code, 0, "exit status", result)
    equal([os.path.exists(loop.path(name)) for name in ("build", "calc.py")], [False, True], "files in the project")
    with open(loop.path("kept"), encoding="utf-8") as file:
        equal(file.read(), "old\n", "a file that the check changed")
    expect(not os.path.exists(os.path.join(loop.folder, "view")), "the view is removed")
    if workspace == "draft":
        equal(sorted(os.listdir(os.path.join(loop.folder, "draft/upper"))), ["done"], "the draft")


@cases(*WORKSPACES)
def test_a_check_cannot_change_what_decides_in_a_later_one(t, workspace):
    """The code under test runs in the first check, and must not reach the files of the second one."""
    loop = begin(t, "edit done yes; edit conftest.py x", workspace)
    os.makedirs(loop.path("tests/data"))
    loop.write("tests/data/a", "a\n")
    spoil = ("echo true >check.sh; rm -r tests; mkdir tests; echo x >tests/new; rm pyproject.toml; ln -s calc.py pyproject.toml;"
             " mkdir build; echo x >build/test_x; echo x >conftest.py; test -f done")
    result = loop.run("-m", "1", "--check", spoil, "--check", "test -f tests/data/a -a -f build/test_x -a ! -e conftest.py && grep -q path pyproject.toml && ! sh check.sh",
                      "--final-check", "echo true >tests/test_calc.py", "--final-check", "grep -q tax tests/test_calc.py", check=None)
    equal(result.code, 0, "exit status", result)


def test_without_a_view_the_checks_change_the_project(t):
    loop = begin(t, "edit check.sh true; edit done yes")
    result = loop.run("--check", "touch built; sh check.sh", "--check-view=false")
    equal(result.code, 0, "exit status", result)
    expect(os.path.exists(loop.path("built")), "the check has written to the project")


def test_an_honest_agent_is_done_and_may_also_add_tests_and_dependencies(t):
    loop = begin(t, "sed -i 's/return 0/return 19/' calc.py; printf 'def test_b():\\n    pass\\n' >tests/test_b.py;"
                    " printf '{\"scripts\": {\"test\": \"grep -q .return.19. calc.py\"}, \"dependencies\": {\"x\": \"1\"}}' >package.json")
    result = loop.run(check=f"{PYTEST} && test -f tests/test_b.py && grep -q x package.json")
    equal(result.code, 0, "exit status", result)


def test_the_agent_is_told_and_then_a_person_decides(t):
    loop = begin(t, "sed -i 's/== 19/== 0/' tests/test_calc.py")
    result = loop.run(check=PYTEST)
    equal(result.code, 3, "exit status", result)
    contains(result.out, "pinned: the checks use the original 'tests/test_calc.py'", "the progress")
    contains(result.out, "with the agent's version of pinned files, it passes", "the progress")
    contains(result.out, "paused: the checks pass only with the agent's version of pinned files", "the end")
    with open(os.path.join(loop.folder, "iterations/2/prompt.md"), encoding="utf-8") as file:
        contains(file.read(), "- `tests/test_calc.py`\n", "the prompt")
    result = loop.ringfence("resume", "--unpin", "tests/", "--findings", "all=off", "--follow")
    lacks(result.out, "pinned:", "the progress after the pause")


@needs("git")
def test_changes_to_pinned_files_wait_for_a_yes_of_their_own(t):
    """As files, and as commits. New tests are not pinned."""
    loop = begin(t, "sed -i 's/return 0/return 19/' calc.py; sed -i 's/== 19/!= 0/' tests/test_calc.py; edit tests/test_new.py 'def test_n(): pass'",
                 "draft")
    repo = Repository(t, loop.project).filled()
    result = loop.run("--apply", "--findings", "all=off", check=PYTEST)
    equal(result.code, 0, "exit status", result)
    contains(result.err, "not applied: 1 ", "run --apply")
    preview = json.loads(loop.ringfence("apply", "--dry-run", "--json").out)
    equal([(change["path"], change.get("why")) for change in preview["changes"] if change["group"] == "pinned"],
          [("tests/test_calc.py", "the checks used the version from before the loop")], "the proposal")
    equal([group["needs_yes"] for group in preview["groups"] if group["group"] == "pinned"], [True], "its group")

    result = loop.ringfence("apply", "--merge")
    equal(result.code, 125, "exit status of apply --merge", result)
    contains(result.err, "tests/test_calc.py: the checks used the version from before the loop", "what needs a yes")
    contains(result.err, "then use --yes-pinned", "the advice")
    contains(loop.ringfence("apply", "--merge", "--dry-run", "--json").out, '"pinned": [\n    {\n      "path": "tests/test_calc.py"', "as JSON")

    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status of apply", result)
    contains(result.err, "then use --yes-pinned, or", "the advice")
    terminal = t.tty([t.ringfence, "apply", "--project", loop.project])
    terminal.expect("pinned, changed by the agent\\? \\[y/N\\]")
    contains(terminal.text(), "-    assert tax(100) == 19", "the diff")
    terminal.send("n\n")
    equal(terminal.wait(), 0, "exit status after a no")
    contains(terminal.text(), "left in the draft: tests/test_calc.py", "what is left")
    with open(loop.path("tests/test_calc.py"), encoding="utf-8") as file:
        equal(file.read(), TEST, "the test in the project")
    expect(os.path.exists(loop.path("tests/test_new.py")), "the rest is applied")
    equal(loop.ringfence("apply", "--yes-pinned").code, 0, "exit status with the yes")
    equal(loop.ringfence("apply", "--undo", loop.status()["id"]).code, 0, "an undo needs no yes")
    equal(loop.ringfence("apply", "--undo", loop.status()["id"]).code, 0, "nor the next one")
    result = loop.ringfence("apply", "--merge", "--yes-pinned")
    equal(result.code, 0, "exit status of apply --merge with the yes", result)
    contains(repo.git("show", "--stat", "HEAD"), "tests/test_calc.py", "the commit")


def test_a_check_sees_the_mode_of_a_pinned_file(t):
    loop = begin(t, "chmod 644 run.sh; edit done yes")
    loop.write("run.sh", "#!/bin/sh\ntest -f done\n")
    os.chmod(loop.path("run.sh"), 0o755)
    equal(loop.run(check="./run.sh").code, 0, "exit status")


@cases(*WORKSPACES)
def test_a_supervisor_that_is_killed_during_a_check_leaves_no_view(t, workspace):
    t.leftover_runs = True
    loop = begin(t, "if [ -e tried ]; then rm hang; edit done yes; else edit tried x; edit hang x; fi; rm -f check.sh", workspace)
    loop.detach(check="if [ -e hang ]; then touch here; while :; do sleep 100; done; fi; test -f check.sh && test -f done")
    loop.there("here")
    kill(loop.supervisor())
    loop.ended("completed")
    equal([entry["verdict"] for entry in loop.history()], ["interrupted", "done"], "the verdicts")
    expect(not os.path.exists(os.path.join(loop.folder, "view")), "the view is removed")
    t.all_gone()


# Held-out checks

GENERAL = "grep -q general solved"
HELD = ("--final-check", 'echo secret words; sh "$RINGFENCE_HOLD_OUT/check.sh"', "--final-tries", "2")


def hold_out(t, loop, *words):
    folder = os.path.join(t.home, "shown/held")
    os.makedirs(folder)
    os.chmod(os.path.dirname(folder), 0o755)
    with open(os.path.join(folder, "check.sh"), "w", encoding="utf-8") as file:
        file.write(GENERAL + "\n")
    return loop.run(*HELD, "--hold-out", folder, *words, check="test -s solved"), folder


def test_an_agent_that_solves_only_the_visible_cases_fails_the_held_out_check(t):
    """It is told that a hidden check fails, and nothing else; it cannot see the folder, not even if one above it is shown."""
    loop = begin(t, "edit solved visible; cat ~/shown/held/check.sh || echo unseen; ls ~/shown; env", "draft")
    result, folder = hold_out(t, loop, "--read", os.path.join(t.home, "shown"))
    equal(result.code, 3, "exit status", result)
    contains(result.out, "paused: everything else holds, but final checks have failed 2 times", "the end")
    contains(loop.ringfence("logs", "--checks").out, "secret words", "what the user sees")
    for name in ("iterations/2/prompt.md", "iterations/2/stdout.log"):
        with open(os.path.join(loop.folder, name), encoding="utf-8") as file:
            text = file.read()
        lacks(text, "secret words", name)
        lacks(text, "HOLD_OUT", name)
        lacks(text, GENERAL, name)
        contains(text, "A hidden check failed" if name.endswith("md") else "unseen", name)
    equal([[check["passed"] for check in entry["final_checks"]] for entry in loop.history()], [[False], [False]], "the results")
    expect(os.path.isdir(folder), "the folder is still there")


def test_an_agent_that_solves_the_task_passes_the_held_out_check(t):
    loop = begin(t, "[ $N -lt 2 ] || edit solved general")
    result, _ = hold_out(t, loop)
    equal(result.code, 0, "exit status", result)
    equal(["final_checks" in entry for entry in loop.history()], [False, True], "when final checks run")


@cases("project", "project/inner", "missing")
def test_a_folder_that_cannot_be_held_out_is_refused(t, where):
    loop = begin(t, "true")
    os.makedirs(loop.path("inner"))
    result = loop.run("--final-check", "true", "--hold-out", os.path.join(os.path.dirname(loop.project), where))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--hold-out", "the reason")


def test_a_project_cannot_name_final_checks(t):
    """The agent could read them there."""
    loop = begin(t, "true")
    loop.write("ringfence.yml", "final-check: ['true']\n")
    result = loop.run()
    contains(result.err, "final-check", "what is said")


def test_a_kill_during_a_final_check_counts_no_failure(t):
    t.leftover_runs = True
    loop = begin(t, "edit solved visible; [ ! -e tried ] || edit general x; edit tried x")
    loop.detach("--final-check", "[ -e general ] || { touch here; while :; do sleep 100; done; }", "--final-tries", "1", check="test -s solved")
    loop.there("here")
    kill(loop.supervisor())
    loop.ended("completed")
    t.all_gone()
