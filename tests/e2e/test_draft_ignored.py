"""Ignored files of a draft: apply --with-ignored takes them over by the same rules as all others."""

import json
import os

from harness import contains, equal, expect, lacks, timeout
from harness.drafts import drafts, in_copies, run
from harness.edits import difference, listing

CHANGES = """
echo 2 >a; echo 2 >modules/old/lib; rm -r modules/gone; mkdir -p modules/new/.bin
echo n >modules/new/lib; ln -s ../lib modules/new/.bin/lib; echo e >modules/new/.envrc
rm -r build; mkdir build; echo o >build/o; rm x.log; echo l >y.log; chmod 755 modules/tool
"""


def fill(t):
    """A project whose ignored files are a folder, one with a tracked file, and some by their names."""
    os.unlink(t.attack)
    for words in (["init", "-q"], ["config", "user.name", "T"], ["config", "user.email", "t@example.org"]):
        equal(t.run(["git", *words]).code, 0, f"git {words}")
    for path in ("modules/tracked", "modules/old/lib", "modules/old/same", "modules/gone/lib", "modules/tool", "build/x", "x.log", "a"):
        t.write(path, "1\n")
    t.write(".gitignore", "modules/\nbuild/\n*.log\n")
    for words in (["add", "."], ["add", "-f", "modules/tracked"], ["commit", "-qm", "one"]):
        equal(t.run(["git", *words]).code, 0, f"git {words}")


def rehearse(t, script=CHANGES):
    result = t.sh(script, opts=("--draft",))
    equal(result.code, 0, "exit status of exec --draft", result)
    return drafts(t)[-1]["id"], result


def test_ignored_files_cross_when_asked_and_come_back(t):
    fill(t)
    before = listing(t.project)
    draft, result = rehearse(t)
    contains(result.err, "ignored files changed as well", "notices")
    plain = json.loads(run(t, "apply", draft, "--dry-run", "--json").out)
    equal([entry["path"] for entry in plain["changes"]], ["a"], "what crosses without ignored files")
    refused = run(t, "apply", draft, "--with-ignored", code=125)
    contains(refused.err, "modules/new/.envrc: run or obeyed unasked (direnv)", "the refusal")
    equal(difference(before, listing(t.project)), "", "changes before the yes")
    shown = run(t, "apply", draft, "--with-ignored", "--dry-run").out
    contains(shown, "ignored files: 9 paths, 16 bytes", "the preview")
    answer = json.loads(run(t, "apply", draft, "--with-ignored", "--yes-executed", "--json").out)
    equal({entry["group"]: entry["paths"] for entry in answer["groups"]}, {"executed": 1, "source": 1, "ignored": 9}, "the groups")
    after = listing(t.project)
    equal((t.read("modules/old/lib"), t.read("modules/old/same"), t.read("build/o"), t.read("y.log"), os.readlink(t.path("modules/new/.bin/lib"))),
          ("2\n", "1\n", "o\n", "l\n", "../lib"), "what was changed, and what was not")
    expect(os.access(t.path("modules/tool"), os.X_OK), "a mode crosses")
    expect(not any(t.exists(path) for path in ("modules/gone", "build/x", "x.log")), "what was removed is gone")
    contains(run(t, "apply", draft, "--with-ignored").out, "nothing to do")
    run(t, "apply", "--undo", draft)
    equal(difference(before, listing(t.project)), "", "the project after --undo")
    run(t, "apply", draft, "--with-ignored", "--yes")  # the files are new by their times, and as they were
    equal(difference(after, listing(t.project)), "", "the project after the second apply")
    result = t.sh("echo 3 >modules/old/lib; rm modules/new/lib", opts=("--in", draft))
    equal(result.code, 0, "exit status of exec --in", result)
    run(t, "apply", draft, "--with-ignored", "--", "modules/old")
    equal((t.read("modules/old/lib"), t.exists("modules/new/lib")), ("3\n", True), "a later change of the draft, and another path")
    for _ in range(2):
        run(t, "apply", "--undo", draft)
    equal(difference(before, listing(t.project)), "", "the project with both taken back")


def test_an_ignored_file_that_the_user_changed_is_kept_and_named(t):
    fill(t)
    draft, _ = rehearse(t)
    for path in ("modules/old/lib", "modules/gone/lib", "build/x", "y.log", "modules/old/same", "modules/old/user"):
        t.write(path, "mine\n")
    before = listing(t.project)
    answer = json.loads(run(t, "apply", draft, "--with-ignored", "--yes", "--json", code=1).out)
    equal(set(answer["conflicts"]), {"both changed modules/old/lib", "the draft deleted modules/gone, which you changed",
                                     "the draft deleted build/x, which you changed", "both changed y.log"}, "the conflicts")
    equal(difference(before, listing(t.project)), "", "changes with a conflict")
    run(t, "apply", draft, "--with-ignored", "--yes", "--", "x.log", "modules/new")
    run(t, "apply", draft, "--with-ignored", "--yes", code=1)  # it has seen the user's files by now
    t.write("modules/old/lib", "2\n")  # as in the draft
    for path in ("modules/gone/lib", "build/x", "y.log"):
        os.unlink(t.path(path))
    run(t, "apply", draft, "--with-ignored", "--yes")
    equal((t.read("modules/old/lib"), t.read("y.log"), t.read("modules/old/user"), t.read("modules/old/same")),
          ("2\n", "l\n", "mine\n", "mine\n"), "the project")


def test_ignored_files_cross_without_a_repository_and_hunks_leave_them_out(t):
    t.write(".gitignore", "build/\n")
    draft, result = rehearse(t, "mkdir build; echo 1 >build/out")
    contains(result.err, "only ignored files changed", "notices")
    lacks(result.err, "diff --draft", "notices")
    contains(run(t, "apply", draft).out, "nothing to do")
    run(t, "apply", draft, "--files", "--with-ignored")
    equal(t.read("build/out"), "1\n", "the file")
    contains(run(t, "apply", "-p", "--with-ignored", draft, code=125).err, "without --json, --dry-run and --with-ignored", "the refusal")


@timeout(600)
def test_an_apply_of_ignored_files_that_is_killed_is_whole_or_did_not_happen(t):
    """So is its undo, and each is finished by the next command of another draft."""
    fill(t)
    before = listing(t.project)
    draft, _ = rehearse(t, "echo 2 >modules/old/lib; rm -r modules/gone build; mkdir build; echo n >build/n")
    run(t, "apply", draft, "--with-ignored")
    after = listing(t.project)
    other, _ = rehearse(t, "true")
    for words, start, end in ((("--undo", draft), after, before), ((draft, "--with-ignored"), before, after)):
        fault, whole = 0, False
        while not whole:
            fault += 1
            result = t.run([t.ringfence, "apply", *words], env=t.env(RINGFENCE_SNAPSHOT_FAULT=str(fault)))
            whole = result.code == 0
            expect(whole or "Killed" in result.err, "it ended, or was killed", result)
            run(t, "apply", "--dry-run", other)
            now = listing(t.project)
            expect(now in (start, end), f"{words}, fault point {fault}: all or nothing", difference(end, now))
            if now == end and not whole:
                run(t, "apply", *((draft, "--with-ignored") if "--undo" in words else ("--undo", draft)))
        equal(difference(end, listing(t.project)), "", f"the project after {words}")
        expect(fault > 10, "there are fault points", fault)


globals().update(in_copies(dict(globals())))
