"""Checks run in throw-away views: nothing that they write stays, and changes to pinned files do not count."""

import json
import os

from harness import cases, contains, equal, expect, lacks, needs, user_only
from harness.drafts import on_overlay
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


def begin(t, script, workspace="in-place"):
    loop = Loop(t, scripts={"all": script}, workspace="draft" if workspace == "copy" else workspace)
    os.makedirs(loop.path("tests"))
    os.makedirs(loop.path("tools"))
    for name, text in FILES.items():
        loop.write(name, text)
    os.chmod(loop.path("tools/run"), 0o755)
    return loop


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


def change_what_decides(t, workspace, env=None):
    """The code under test runs in the first check, and must not reach the files of the second one."""
    loop = begin(t, "edit done yes; edit conftest.py x", workspace)
    os.makedirs(loop.path("tests/data"))
    loop.write("tests/data/a", "a\n")
    spoil = ("echo true >check.sh; rm -r tests; mkdir tests; echo x >tests/new; rm pyproject.toml; ln -s calc.py pyproject.toml;"
             " mkdir build; echo x >build/test_x; echo x >conftest.py; test -f done")
    result = loop.run("-m", "1", "--check", spoil, "--check", "test -f tests/data/a -a -f build/test_x -a ! -e conftest.py && grep -q path pyproject.toml && ! sh check.sh",
                      "--final-check", "echo true >tests/test_calc.py", "--final-check", "grep -q tax tests/test_calc.py", check=None, env=env)
    equal(result.code, 0, "exit status", result)
    return result


@cases(*WORKSPACES)
def test_a_check_cannot_change_what_decides_in_a_later_one(t, workspace):
    change_what_decides(t, workspace)


def without_overlays(t):
    """Returns an environment in which drafts and views are copies."""
    t.own_mounts()
    return t.env(RINGFENCE_STATE_DIR=on_overlay(t, os.path.join(t.outside, "state")))


@user_only
def test_nor_in_a_view_that_is_a_copy(t):
    result = change_what_decides(t, "draft", without_overlays(t))
    contains(result.err, "the draft is a copy of the project", "the notices")


@user_only
def test_in_a_view_that_is_a_copy_the_checks_keep_their_folder_and_use_the_packages_from_before(t):
    loop = begin(t, f"edit {RUNNER} true; edit .venv/new x; seq 9 >>out/rounds", "draft")
    install(loop, f"test ! -e .venv/new && {ROUNDS} && ! grep -x true $0")
    os.makedirs(loop.path("out"))
    result = loop.run("--check-cache", "out", check=RUNNER, env=without_overlays(t))
    equal(result.code, 0, "exit status", result)
    contains(result.out, "iteration 2", "the rounds")
    contains(result.err, "the draft is a copy of the project", "the notices")


# Installed packages

RUNNER = ".venv/bin/runner"


def install(loop, script="test -f done"):
    """Installs a runner in a folder that git ignores."""
    os.makedirs(loop.path(".venv/bin/__pycache__"))
    loop.write(".gitignore", ".venv/\n")
    loop.write(RUNNER, f"#!/bin/sh\n{script}\n")
    loop.write(".venv/bin/__pycache__/runner.pyc", "old\n")
    loop.write("requirements.txt", "runner==1\n")
    os.chmod(loop.path(RUNNER), 0o755)


@cases("draft", "copy")
def test_checks_use_the_packages_that_were_installed_before_the_loop(t, workspace):
    """Caches are hidden as well, but not listed."""
    loop = begin(t, f"edit {RUNNER} true; rm -r .venv/bin/__pycache__; edit .venv/bin/new x; ln -s / .venv/lib", workspace)
    install(loop, "test -f .venv/bin/__pycache__/runner.pyc -a ! -e .venv/bin/new -a ! -L .venv/lib")
    kind = ("--draft-kind", "copy") if workspace == "copy" else ()
    result = loop.run("-m", "1", *kind, "--check", RUNNER, "--check", f"grep -q runner.pyc {RUNNER}", "--check", "test -f done", check=None)
    equal(result.code, 2, "exit status", result)
    (entry,) = loop.history()
    equal([check["passed"] for check in entry["checks"]], [True, True, False], "the results")
    equal(entry["pinned"], {".venv": "base"}, "what is pinned")


def test_caches_of_packages_are_hidden_but_not_named(t):
    loop = begin(t, "edit .venv/bin/__pycache__/runner.pyc forged; edit done yes", "draft")
    install(loop, "grep -q old .venv/bin/__pycache__/runner.pyc && test -f done")
    result = loop.run(check=RUNNER)
    equal(result.code, 0, "exit status", result)
    lacks(result.out, "pinned:", "the progress")


def test_packages_that_are_installed_again_are_the_same(t):
    loop = begin(t, "cp -a .venv n; rm -r .venv; mv n .venv; touch .venv/bin/*; edit done yes", "draft")
    install(loop)
    result = loop.run(check=RUNNER)
    equal(result.code, 0, "exit status", result)
    lacks(result.out, "pinned:", "the progress")


@cases("requirement", "comment", "unpin")
def test_packages_are_the_agents_if_it_changes_what_should_be_installed(t, how):
    script = {"requirement": "edit requirements.txt runner==2", "comment": "edit README.md runner==2", "unpin": "true"}[how]
    loop = begin(t, f"edit {RUNNER} 'test -f done'; {script}; edit done yes", "draft")
    install(loop, "false")
    result = loop.run("-m", "1", *(("--unpin", ".venv/") if how == "unpin" else ()), check=RUNNER)
    equal(result.code, 2 if how == "comment" else 0, "exit status", result)


def test_a_check_cannot_replace_the_packages_of_a_later_one(t):
    """Unless there were none before the loop: it may install them."""
    loop = begin(t, "edit done yes", "draft")
    install(loop, "exit 3")
    spoil = f"test -f done || exit 1; echo true >{RUNNER}; rm -r .venv/bin/__pycache__; mkdir node_modules; echo x >node_modules/x"
    result = loop.run("-m", "1", "--check", spoil, "--check", RUNNER, "--check", "test -f node_modules/x", check=None)
    equal(result.code, 2, "exit status", result)
    (entry,) = loop.history()
    equal([check["code"] for check in entry["checks"]], [0, 3, 0], "the results")


INNER = "web/.venv/bin/runner"
REPLACE = {"by a folder": "cp -a web n; rm -r web; mv n web", "by a symlink": "cp -a web n; rm -r web; ln -s n web"}


def install_inside(loop):
    os.mkdir(loop.path("web"))
    loop.write("web/code", "old\n")
    install(loop, "exit 3")
    os.rename(loop.path(".venv"), loop.path("web/.venv"))


@cases(*[(how, kind) for how in REPLACE for kind in ("overlay", "copy")])
def test_packages_are_those_from_before_if_the_folder_above_is_replaced(t, how, kind):
    loop = begin(t, f"{REPLACE[how]}; edit {INNER} true", "draft")
    install_inside(loop)
    result = loop.run("-m", "1", "--draft-kind", kind, check=INNER)
    equal(result.code, 2, "exit status", result)
    equal(loop.history()[0]["checks"][0]["code"], 3, "the result")


def test_the_agents_code_is_shown_beside_them(t):
    loop = begin(t, f"{REPLACE['by a folder']}; edit web/code new; edit {INNER} true", "draft")
    install_inside(loop)
    result = loop.run("-m", "1", check="grep -q new web/code && ! " + INNER)
    equal(result.code, 0, "exit status", result)


def test_a_check_cannot_replace_the_folder_above_the_packages_of_a_later_one(t):
    loop = begin(t, "edit done yes", "draft")
    install_inside(loop)
    spoil = f"test -f done || exit 1; {REPLACE['by a folder']}; echo true >{INNER}"
    result = loop.run("-m", "1", "--check", spoil, "--check", INNER, check=None)
    equal(result.code, 2, "exit status", result)
    equal([check["code"] for check in loop.history()[0]["checks"]], [0, 3], "the results")


@user_only
@cases("web", "web/.venv", "web/.venv/bin")
def test_packages_that_the_agent_has_closed_are_not_used(t, closed):
    """New files in a folder that cannot be listed cannot be hidden. Root can list it."""
    loop = begin(t, f"edit web/.venv/bin/new x; chmod 311 {closed}", "draft")
    install_inside(loop)
    result = loop.run("-m", "1", check="test -e web/.venv/bin/new")
    equal(loop.status()["status"], "paused", "the loop")
    contains(result.out, f"'{closed}' cannot be read in the draft", "the reason")
    expect(not os.path.exists(os.path.join(loop.folder, "view")), "nothing is left of the view")


# Folders that the checks keep

ROUNDS = "mkdir -p out && echo round >>out/rounds && test $(wc -l <out/rounds) = 3"


@cases(*WORKSPACES, "copy")
def test_the_checks_keep_a_folder_that_the_agent_never_sees(t, workspace):
    """It is empty at first, whatever the project has, and the agent's own is not shown."""
    loop = begin(t, "cat web/out/rounds; mkdir -p web/out; touch web/out/agent; seq 9 >>web/out/rounds", workspace)
    os.makedirs(loop.path("web/out"), mode=0o750)
    loop.write("web/out/rounds", "mine\n")
    kind = ("--draft-kind", "copy") if workspace == "copy" else ()
    result = loop.run("--check-cache", "web/out", *kind, check=f"cd web && {ROUNDS} && test ! -e out/agent")
    equal(result.code, 0, "exit status", result)
    equal([entry["verdict"] for entry in loop.history()], ["go on", "done"], "the verdicts")
    with open(os.path.join(loop.folder, "iterations/2/stdout.log"), encoding="utf-8") as file:
        equal(file.read(), "mine\n" + "".join(f"{i}\n" for i in range(1, 10)), "what the agent sees")


def test_without_a_kept_folder_each_round_begins_cold(t):
    loop = begin(t, "edit done yes")
    equal(loop.run("-m", "2", check=ROUNDS).code, 2, "exit status")


def test_a_kept_folder_that_a_check_replaced_is_dropped(t):
    loop = begin(t, "edit done yes", "draft")
    result = loop.run("-m", "1", "--check-cache", "out", check="rmdir out && ln -s / out && test -f done")
    equal(result.code, 0, "exit status", result)
    equal(os.listdir(os.path.join(loop.folder, "check-cache")), [], "what is kept")


@cases("/tmp", "..", ".", "a/../b", "a/", ".git/x", "")
def test_a_folder_that_cannot_be_kept_is_refused(t, folder):
    result = begin(t, "true").run("--check-cache", folder)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--check-cache", "the reason")


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


# Code that ends its test runner with the summary of a success.
FORGED = ("import os\nos.write(2, b'.\\n----\\nRan 1 test in 0.000s\\n\\nOK\\n')\nos._exit(0)\n\n\ndef tax(amount):\n    return 0\n")
IN_PROCESS = "python3 -B -c 'from calc import tax; assert tax(1000) == 190'"
FROM_OUTSIDE = "test \"$(python3 -B -c 'from calc import tax; print(tax(1000))')\" = 190"


@cases(("found", (), 2), ("in the process", ("--findings", "all=off", "--final-check", IN_PROCESS), 0),
       ("from outside", ("--findings", "all=off", "--final-check", FROM_OUTSIDE), 2))
def test_a_forged_summary_is_found_or_fails_a_held_out_check_that_judges_from_outside(t, name, words, code):
    """One that runs in the same process is deceived as the visible check is: documented as open."""
    loop = begin(t, f"cat >calc.py <<'E'\n{FORGED}E", "draft")
    loop.write("tests/test_calc.py", "import unittest\nfrom calc import tax\n\n\nclass Tax(unittest.TestCase):\n"
                                     "    def test_tax(self):\n        self.assertEqual(tax(100), 19)\n")
    result = loop.run("-m", "1", *words, check="python3 -B -m unittest discover -s tests")
    equal(result.code, code, "exit status", result)
    equal([check["passed"] for check in loop.history()[-1]["checks"]], [True], "the visible check")
    if name == "found":
        contains(result.out, "calc.py:3: an exit status is forced", "the finding")


def test_an_agent_that_solves_only_the_visible_cases_fails_the_held_out_check(t):
    """It is told that a hidden check fails, and nothing else; it cannot see the folder, not even if one above it is shown."""
    loop = begin(t, "edit solved visible; cat ~/shown/held/check.sh || echo unseen; ls ~/shown; env", "draft")
    result, folder = hold_out(t, loop, "--read", os.path.join(t.home, "shown"))
    equal(result.code, 3, "exit status", result)
    contains(result.out, " succeeds (final check, hidden from the agent)\n", "what decides")
    contains(result.out, "paused: everything else holds, but final checks have failed 2 times", "the end")
    contains(result.out, "to allow more failures in all: ringfence resume --final-tries NUMBER", "how to go on")
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
