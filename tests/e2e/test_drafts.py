"""Drafts: a rehearsed command changes nothing in the project until its draft is applied."""

import json
import os
import signal
import subprocess

from harness import cases, contains, equal, expect, lacks, needs, timeout
from harness.drafts import cross_and_come_back, drafts, fill, in_copies, merge_with_the_users
from harness.edits import difference, listing
from harness.snapshots import Snapshots

LINES = "".join(f"{number}\n" for number in range(1, 21))


def rehearse(t, script, *opts, code=0):
    """Runs a script in a new draft. Returns its id and the result."""
    result = t.sh(script, opts=("--draft", *opts))
    equal(result.code, code, "exit status of exec --draft", result)
    return drafts(t)[-1]["id"], result


def apply(t, draft, *words, code=0):
    result = t.run([t.ringfence, "apply", *words[:1], draft, *words[1:]] if words[:1] == ("--undo",)
                   else [t.ringfence, "apply", draft, *words])
    equal(result.code, code, "exit status of apply", result)
    return result


# Rehearsing

def test_a_rehearsal_leaves_the_project_alone_and_lists_its_changes(t):
    t.write("old", "old\n")
    t.write("gone", "gone\n")
    before = listing(t.project)
    draft, result = rehearse(t, "echo new >new; echo changed >old; rm gone; cat old")
    equal(result.out, "changed\n", "what the command saw")
    for line in ("A new", "M old", "D gone", f"ringfence apply {draft}", f"ringfence discard {draft}"):
        contains(result.err, line, "notices")
    equal(difference(before, listing(t.project)), "", "changes in the project")


def test_the_exit_status_is_that_of_the_command(t):
    draft, _ = rehearse(t, "echo x >x; exit 7", code=7)
    entry = drafts(t)[-1]
    equal((entry["id"], entry["exit"], entry["state"]), (draft, 7, "finished"), "the draft")


def test_a_rehearsal_without_changes_says_so(t):
    draft, result = rehearse(t, "true")
    contains(result.err, f"draft {draft}: nothing changed")
    contains(apply(t, draft).out, "nothing to do")


def test_files_that_the_host_executes_can_be_edited_in_a_draft(t):
    """The gate decides about them. In place, they are read-only or quarantined."""
    t.write(".vscode/settings.json", "{}\n")
    draft, result = rehearse(t, "echo 1 >.vscode/settings.json; echo 2 >.envrc; mkdir -p .git/hooks; echo 3 >.git/hooks/x")
    lacks(result.err, "denied", "notices")
    contains(result.err, "A .envrc, +1 -0: run or obeyed unasked (direnv)", "notices")
    expect(not t.exists(".envrc") and not t.quarantined(), "nothing is in the project or the quarantine")
    result = apply(t, draft, code=125)
    contains(result.err, "--yes", "the refusal")
    expect(not t.exists(".envrc"), "nothing was applied")
    apply(t, draft, "--yes")
    equal((t.read(".envrc"), t.read(".vscode/settings.json")), ("2\n", "1\n"), "the applied files")
    expect(not t.exists(".git"), "a repository made in a draft stays there")


def test_secrets_stay_hidden_in_a_draft(t):
    t.write(".env", "KEY=very-secret\n")
    t.write("conf/real", "-----BEGIN PRIVATE KEY-----\nvery-secret\n")
    os.symlink("conf/real", t.path("server.pem"))
    _, result = rehearse(t, "cat .env; cat conf/real; mv conf moved; cat moved/*; cp -r . /tmp/all; cat /tmp/all/.env", code=1)
    lacks(result.out, "very-secret", "what the command read")
    equal(t.read(".env"), "KEY=very-secret\n", "the secret outside")


def test_a_command_can_run_in_the_draft_again(t):
    t.write("old", "old\n")
    draft, _ = rehearse(t, "echo one >one; rm old")
    result = t.sh("cat one; ls; echo two >two", opts=("--in", draft))
    equal(result.code, 0, "exit status of exec --in", result)
    contains(result.out, "one\n", "the second command sees the first one's file")
    lacks(result.out, "old", "what the second command lists")
    equal([entry["id"] for entry in drafts(t)], [draft], "the drafts")
    apply(t, draft)
    equal((t.read("one"), t.read("two"), t.exists("old")), ("one\n", "two\n", False), "the project")


def test_a_command_starts_in_the_project_if_the_draft_lost_the_current_folder(t):
    t.write("sub/file", "1\n")
    draft, _ = rehearse(t, "rm -r sub")
    result = t.run([t.ringfence, "exec", "--project", t.project, "--in", draft, "--", "pwd"], cwd=t.path("sub"))
    equal((result.code, result.out), (0, t.project + "\n"), "where the command starts", result)


def test_a_draft_of_another_project_or_none_is_refused(t):
    draft, _ = rehearse(t, "echo x >x")
    other = os.path.join(t.home, "other")
    os.mkdir(other)
    result = t.run([t.ringfence, "exec", "--in", draft, "--", "true"], cwd=other)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "another project")
    for words in (("exec", "--in", "nope", "--", "true"), ("discard", "nope"), ("discard", "../x"), ("diff", "--draft", "nope")):
        result = t.run([t.ringfence, *words])
        equal(result.code, 125, f"exit status of {words}", result)
        contains(result.err, "no draft", f"the error of {words}")


def test_a_project_with_another_file_system_in_it_is_copied_and_what_is_there_does_not_cross(t):
    """An overlay would show an empty folder instead."""
    t.own_mounts()
    t.tmpfs(t.path("data"))
    t.write("data/file", "1\n")
    draft, result = rehearse(t, "cat data/file; echo 2 >data/file; echo 2 >data/new; echo x >x")
    contains(result.err, "is mounted inside the project, and an overlay cannot include it", "the notice")
    equal(result.out, "1\n", "what the command saw")
    contains(result.err, "1 path changed", "the notices")
    apply(t, draft)
    equal((t.read("x"), t.read("data/file"), t.exists("data/new")), ("x\n", "1\n", False), "the project")


# While a command runs

def test_a_draft_in_use_is_neither_applied_nor_discarded(t):
    process = t.fence_start("sh", "-c", "echo x >x; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    entry = drafts(t)[-1]
    equal(entry["state"], "running", "state")
    for words in (("apply", entry["id"]), ("discard", entry["id"]), ("exec", "--in", entry["id"], "--", "true")):
        result = t.run([t.ringfence, *words])
        equal(result.code, 125, f"exit status of {words}", result)
        contains(result.err, "is running in draft", f"the error of {words}")
    result = t.finish(process, b"end\n")
    equal(result.code, 0, "exit status", result)
    apply(t, entry["id"])
    equal(t.read("x"), "x\n", "the project")


def test_what_the_user_changes_meanwhile_is_not_part_of_the_draft(t):
    t.write("mine", "1\n")
    t.write("its", "1\n")
    process = t.fence_start("sh", "-c", "echo 2 >its; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    t.write("mine", "2\n")
    t.write("added", "by the user\n")
    result = t.finish(process, b"end\n")
    contains(result.err, "M its", "notices")
    lacks(result.err, "mine", "notices")
    lacks(result.err, "added", "notices")
    t.write("mine", "3\n")
    apply(t, drafts(t)[-1]["id"])
    equal((t.read("mine"), t.read("its"), t.read("added")), ("3\n", "2\n", "by the user\n"), "the project")


@cases("chmod 700 folder", "echo 2 >folder/its", "mkdir folder/new; echo 2 >folder/new/its")
def test_what_the_user_changes_meanwhile_in_a_folder_of_the_draft_is_not_part_of_it(t, script):
    """If it were, apply would bring back what the user has undone since."""
    for name in ("mine", "gone", "its"):
        t.write(f"folder/{name}", "1\n")
    process = t.fence_start("sh", "-c", f"{script}; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    t.write("folder/mine", "2\n")
    t.write("folder/added", "by the user\n")
    os.unlink(t.path("folder/gone"))
    result = t.finish(process, b"end\n")
    for name in ("mine", "added", "gone"):
        lacks(result.err, f"folder/{name}", "notices")
    t.write("folder/mine", "1\n")
    t.write("folder/gone", "1\n")
    os.unlink(t.path("folder/added"))
    before = {name: t.read(f"folder/{name}") for name in ("mine", "gone")}
    apply(t, drafts(t)[-1]["id"])
    equal({name: t.read(f"folder/{name}") for name in ("mine", "gone")}, before, "the user's files")
    expect(not t.exists("folder/added"), "what the user removed stays removed")


@cases("rm -r folder", "rm -r folder; echo x >folder", "rm -r folder; ln -s x folder", "rm -r folder; mkdir folder; echo x >folder/x")
def test_a_folder_that_the_draft_replaced_is_replaced_whatever_the_user_changes_elsewhere(t, script):
    t.write("folder/inner/file", "1\n")
    process = t.fence_start("sh", "-c", f"{script}; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    t.write("mine", "1\n")
    t.finish(process, b"end\n")
    apply(t, drafts(t)[-1]["id"])
    equal((t.exists("folder/inner"), os.path.lexists(t.path("folder"))), (False, script != "rm -r folder"), "the folder")
    equal(t.read("mine"), "1\n", "the user's file")


def test_a_killed_rehearsal_leaves_an_interrupted_draft_and_nothing_else(t):
    before = listing(t.project)
    t.leftover_runs = True
    process = t.fence_start("sh", "-c", "echo x >x; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    process.send_signal(signal.SIGKILL)
    process.wait()
    t.all_gone()
    entry = drafts(t)[-1]
    equal((entry["state"], entry["exit"]), ("interrupted", None), "the draft")
    contains(apply(t, entry["id"], code=125).err, "exec --in", "the error of apply")
    equal(difference(before, listing(t.project)), "", "changes in the project")
    equal(t.works("cat", "x", opts=("--in", entry["id"])), "x\n", "what the draft has")
    apply(t, entry["id"])
    equal(t.read("x"), "x\n", "the project")


def test_a_draft_whose_second_command_was_killed_is_not_applied_without_its_changes(t):
    draft, _ = rehearse(t, "echo one >one")
    t.leftover_runs = True
    process = t.fence_start("sh", "-c", "echo two >two; echo ready; read end", opts=("--in", draft), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    process.send_signal(signal.SIGKILL)
    process.wait()
    t.all_gone()
    equal(drafts(t)[-1]["state"], "interrupted", "the state")
    contains(apply(t, draft, code=125).err, f"exec --in {draft}", "the error of apply")
    t.works("true", opts=("--in", draft))
    apply(t, draft)
    equal((t.read("one"), t.read("two")), ("one\n", "two\n"), "the project")


def test_a_draft_that_cannot_be_read_is_not_taken_for_a_leftover(t):
    draft, _ = rehearse(t, "echo x >x")
    folder = os.path.join(t.state, "drafts", draft)
    os.chmod(folder, 0)
    t.sh("true", opts=("--draft",))
    os.chmod(folder, 0o700)
    apply(t, draft)
    equal(t.read("x"), "x\n", "the project")


# The gate

def test_apply_and_undo_bring_everything_over_and_back(t):
    t.write("a", "a\n", mode=0o600)
    t.write("folder/b", "b\n")
    t.write("run", "#!/bin/sh\n", mode=0o644)
    before = listing(t.project)
    draft, _ = rehearse(t, "echo A >a; mv folder/b c; rmdir folder; chmod 755 run; mkdir empty; ln -s a link; mkfifo pipe")
    contains(apply(t, draft, "--dry-run").out, "would change")
    equal(difference(before, listing(t.project)), "", "changes by --dry-run")
    contains(apply(t, draft).out, f"ringfence apply --undo {draft}")
    equal(t.read("a"), "A\n", "a")
    equal(os.lstat(t.path("run")).st_mode & 0o777, 0o755, "the mode of run")
    expect(not t.exists("folder") and t.exists("empty") and os.path.islink(t.path("link")), "folders and links")
    contains(apply(t, draft, "--undo").out, "taken back")
    equal(difference(before, listing(t.project)), "", "the project after --undo")


def test_a_second_undo_does_not_apply_the_draft_again(t):
    before = listing(t.project)
    draft, _ = rehearse(t, "echo a >a; echo b >b")
    apply(t, draft)
    apply(t, draft, "--undo", "--", "a")
    equal((t.exists("a"), t.exists("b")), (False, True), "after --undo of a")
    apply(t, draft, "--undo", "--", "b")
    contains(apply(t, draft, "--undo").out, "nothing to do")
    equal(difference(before, listing(t.project)), "", "the project after --undo")
    apply(t, draft)
    apply(t, draft, "--undo")
    equal(difference(before, listing(t.project)), "", "the project after another apply and --undo")


def test_a_diff_shows_what_a_draft_changes(t):
    t.write("a", "one\n")
    draft, _ = rehearse(t, "echo two >a; echo b >b")
    result = t.run([t.ringfence, "diff", "--draft", draft])
    equal(result.code, 0, "exit status of diff", result)
    for line in ("-one", "+two", "+b"):
        contains(result.out, line, "the diff")
    result = t.run([t.ringfence, "diff", "--draft", draft, "--name-only", "--", "b"])
    equal((result.out, result.code), ("b\n", 0), "the diff of one path")


def test_lines_of_both_sides_are_merged(t):
    t.write("file", LINES)
    draft, _ = rehearse(t, "sed -i s/^20$/twenty/ file")
    t.write("file", LINES.replace("1\n", "one\n", 1))
    contains(apply(t, draft).err, "merged your changes and the draft's: file")
    contains(t.read("file"), "one\n2\n", "the user's change")
    contains(t.read("file"), "19\ntwenty\n", "the draft's change")


@cases(("sed -i s/^1$/uno/ file", "one", "both changed file"),
       ("rm file", "one", "the draft deleted file, which you changed"),
       ("echo x >file", None, "you deleted file, which the draft changed"),
       ("echo x >new", "new", "both added new"),
       ("rm folder/inner; rmdir folder; echo x >folder", "inner", "both changed folder"),
       ("chmod 600 file", "mode", "both changed the mode of file"))
def test_a_conflict_is_named_and_nothing_changes(t, script, user, words):
    t.write("file", LINES)
    t.write("folder/inner", "inner\n")
    draft, _ = rehearse(t, script + "; echo other >other")
    if user == "one":
        t.write("file", LINES.replace("1\n", "one\n", 1))
    elif user == "new":
        t.write("new", "mine\n")
    elif user == "inner":
        t.write("folder/inner", "mine\n")
    elif user == "mode":
        os.chmod(t.path("file"), 0o640)
    else:
        os.unlink(t.path("file"))
    before = listing(t.project)
    contains(apply(t, draft, code=1).out, words)
    equal(difference(before, listing(t.project)), "", "changes in the project")
    apply(t, draft, "--", "other")
    equal(t.read("other"), "other\n", "the path without a conflict")


def test_only_the_named_paths_cross(t):
    t.write("a/gone", "gone\n")
    draft, _ = rehearse(t, "mkdir -p a/b c; echo 1 >a/b/one; echo 2 >a/two; echo 3 >c/three; rm a/gone")
    apply(t, draft, "--", "a/b")
    equal((t.exists("a/b/one"), t.exists("a/two"), t.exists("c"), t.exists("a/gone")), (True, False, False, True), "after a/b")
    apply(t, draft, "--", "a", "c/three")
    equal((t.read("a/two"), t.read("c/three"), t.exists("a/gone")), ("2\n", "3\n", False), "after the rest")
    contains(apply(t, draft, "--", "../x", code=125).err, "is not in the project")


def test_only_the_named_path_crosses_into_a_new_folder(t):
    t.write("a", "file\n")
    draft, _ = rehearse(t, "rm a; mkdir a; echo 1 >a/one; echo 2 >a/two")
    apply(t, draft, "--", "a/one")
    equal(os.listdir(t.path("a")), ["one"], "the folder that replaced a file")
    apply(t, draft)
    equal(sorted(os.listdir(t.path("a"))), ["one", "two"], "the folder after the rest")


def test_a_draft_whose_project_is_gone_is_refused_and_can_be_discarded(t):
    draft, _ = rehearse(t, "echo x >x")
    os.rename(t.project, t.project + ".moved")
    for words in ((draft,), ("--undo", draft)):
        result = t.run([t.ringfence, "apply", *words], cwd=t.home)
        equal(result.code, 125, f"exit status of apply {words}", result)
        contains(result.err, f"the project '{t.project}' of draft {draft} is gone", "the error")
    equal(t.run([t.ringfence, "discard", draft], cwd=t.home).code, 0, "exit status of discard")
    os.rename(t.project + ".moved", t.project)


def test_ignored_files_do_not_cross(t):
    t.run(["git", "init", "-q"])
    t.write(".gitignore", "build/\n")
    t.write("build/out", "1\n")
    draft, _ = rehearse(t, "echo 2 >build/out; echo x >x; cat build/out")
    apply(t, draft)
    equal((t.read("build/out"), t.read("x")), ("1\n", "x\n"), "the project")


def test_a_hard_link_stays_one(t):
    """Also one to a file that did not change; but not to one that the user changed."""
    for name in ("same", "user"):
        t.write(name, "1\n")
    draft, _ = rehearse(t, "ln same same-2; ln user user-2; echo x >new; ln new new-2")
    t.write("user", "mine\n")
    apply(t, draft)
    links = {name: os.stat(t.path(name)) for name in ("same", "same-2", "user", "user-2", "new", "new-2")}
    equal([links[name].st_ino == links[f"{name}-2"].st_ino for name in ("same", "user", "new")], [True, False, True], "links to one file")
    equal((t.read("same"), t.read("user"), t.read("user-2")), ("1\n", "mine\n", "1\n"), "the files")
    apply(t, draft, "--undo")
    equal((os.stat(t.path("same")).st_nlink, t.exists("same-2"), t.read("user")), (1, False, "mine\n"), "the project after --undo")


def test_git_in_a_draft_does_not_touch_the_repository(t):
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org"]
    t.write("a", "1\n")
    for words in (["init", "-q"], ["add", "a"], ["commit", "-qm", "one"]):
        equal(t.run([*git, *words]).code, 0, f"git {words}")
    before = listing(t.path(".git"), skip=())
    _, result = rehearse(t, "echo 2 >a; git -c user.name=T -c user.email=t@example.org commit -qam two && git log --oneline | wc -l")
    equal(result.out.strip(), "2", "the commits inside")
    equal(difference(before, listing(t.path(".git"), skip=())), "", "changes in .git")


def test_discard_removes_a_draft_with_its_checkpoints(t):
    draft, _ = rehearse(t, "echo x >x")
    result = t.run([t.ringfence, "discard", draft])
    equal(result.code, 0, "exit status of discard", result)
    contains(result.out, "1 draft removed")
    equal(drafts(t), [], "the drafts")
    store = os.path.join(t.state, "snapshots")
    equal([name for name in os.listdir(os.path.join(store, os.listdir(store)[0], "refs/ringfence")) if name == draft], [],
          "the checkpoints")
    equal(os.listdir(os.path.join(t.state, "drafts")), [], "the folder of drafts")


def test_a_damaged_record_is_an_error_and_not_a_loop(t):
    draft, _ = rehearse(t, "echo x >x")
    for text in ("", "{", '{"version": 99, "project": "/x"}', "[]"):
        t.write(os.path.join(t.state, "drafts", draft, "record.json"), text)
        for words in (("apply", draft), ("discard", draft), ("diff", "--draft", draft)):
            result = t.run([t.ringfence, *words])
            equal(result.code, 125, f"exit status of {words}", result)
            contains(result.err, draft, f"the error of {words}")
        equal(drafts(t), [], "the drafts that can be read")


# Groups

SETTINGS = ".vscode/settings.json"
CI = ".github/workflows/ci.yml"
PLANTS = f"echo 1 >.envrc; mkdir -p .github/workflows; echo 2 >{CI}; echo 3 >a.c"


def in_project(t):
    return [name for name in (".envrc", CI, "a.c") if t.exists(name)]


def on_terminal(t, *words):
    return t.tty([t.ringfence, *words])


def answer(terminal, *pairs):
    """Waits for each question in turn, and answers it."""
    for question, reply in pairs:
        terminal.expect(question)
        terminal.send(reply + "\n")
    return terminal.wait()


def test_what_crosses_is_shown_by_group(t):
    os.unlink(t.attack)
    t.write("lines.c", LINES)
    t.write("package.json", "{}\n")
    draft, result = rehearse(t, PLANTS + "; sed -i s/^3$/three/ lines.c; echo '[]' >package.json; mkdir tests; echo t >tests/t.c; "
                             "echo k=1 >x.ini; printf 'a\\0b' >b.png; head -c 1048576 /dev/zero >big")
    shown = apply(t, draft, "--dry-run").out
    for out in (result.err, shown):
        for line in ("executed by this machine: 1 path, +1 -0", "A .envrc, +1 -0: run or obeyed unasked (direnv)", "run in CI: 1 path, +1 -0",
                     f"A {CI}, +1 -0: run or obeyed after a push (GitHub Actions)", "dependencies and lockfiles: 1 path, +1 -1", "M package.json, +1 -1",
                     "configuration: 1 path, +1 -0", "tests: 1 path, +1 -0", "M lines.c, +1 -1", "binary files: 1 path", "A b.png, ",
                     "large files: 1 path", "A big, 1 MiB"):
            contains(out, line, "the groups")
    answer = json.loads(apply(t, draft, "--dry-run", "--json").out)
    groups = {entry["group"]: entry for entry in answer["groups"]}
    equal(groups["executed"], {"group": "executed", "paths": 1, "added": 1, "removed": 0, "bytes": 2, "needs_yes": True}, "a group")
    equal({name for name, entry in groups.items() if entry["needs_yes"]}, {"executed", "ci"}, "groups that need a yes")
    changes = {entry["path"]: entry for entry in answer["changes"]}
    equal({path: changes[path]["group"] for path in changes},
          {".envrc": "executed", CI: "ci", "a.c": "source", "lines.c": "source", "package.json": "dependencies", "tests/t.c": "tests",
           "x.ini": "configuration", "b.png": "binary", "big": "large"}, "the group of each path")
    equal((changes["big"]["bytes"], changes["lines.c"]["added"], changes["lines.c"]["removed"]), (1 << 20, 1, 1), "sizes")
    equal(sum(entry["paths"] for entry in groups.values()), len(changes), "every path is in one group")


KEYS = {"id", "result", "groups", "changes", "left", "conflicts", "merged", "kept", "written", "removed", "adjusted", "recovered"}


def test_apply_answers_in_the_documented_json(t):
    t.write("a", "1\n")
    draft, _ = rehearse(t, "echo 2 >a; echo x >new")
    for words, result in ((("--dry-run",), "preview"), ((), "applied"), ((), "nothing"), (("--undo",), "undone")):
        answer = json.loads(run(t, "apply", draft, "--json", *words).out)
        equal((set(answer), answer["id"], answer["result"]), (KEYS, draft, result), f"the answer of apply {words}")
    t.write("a", "3\n")
    answer = json.loads(run(t, "apply", draft, "--json", code=1).out)
    equal((answer["result"], answer["conflicts"]), ("conflict", ["both changed a"]), "a conflict")


@cases((("--yes-executed",), 125, "--yes-ci"), (("--yes-ci",), 125, "--yes-executed"), ((), 125, "then use --yes-executed --yes-ci, or"),
       (("--yes-executed", "--yes-ci"), 0, ""), (("--yes",), 0, ""))
def test_each_group_has_a_yes_of_its_own(t, words, code, missing):
    draft, _ = rehearse(t, PLANTS)
    result = run(t, "apply", draft, *words, code=code)
    contains(result.err, missing, "the error")
    equal(in_project(t), [] if code else [".envrc", CI, "a.c"], "the project")


@cases(("y", "y", [".envrc", CI, "a.c"]), ("y", "n", [".envrc", "a.c"]), ("n", "y", [CI, "a.c"]), ("n", "n", ["a.c"]))
def test_a_no_leaves_a_group_in_the_draft_and_the_rest_crosses(t, executed, ci, there):
    before = listing(t.project)
    draft, _ = rehearse(t, PLANTS)
    terminal = on_terminal(t, "apply", draft)
    code = answer(terminal, ("executed by this machine\\? \\[y/N\\]", executed), ("run in CI\\? \\[y/N\\]", ci))
    equal((code, in_project(t)), (0, there), "exit status and the project")
    contains(terminal.text(), "applied:", "the terminal")
    expect(t.exists(".github") == (CI in there), "no empty folder is made")
    apply(t, draft, "--yes")
    equal(in_project(t), [".envrc", CI, "a.c"], "the project after the rest")
    apply(t, draft, "--undo", "--yes")
    if there != [".envrc", CI, "a.c"]:
        equal(in_project(t), there, "the project after one --undo")
        apply(t, draft, "--undo", "--yes")
    equal(difference(before, listing(t.project)), "", "the project after --undo")


def test_a_no_to_everything_changes_nothing(t):
    draft, _ = rehearse(t, "echo 1 >.envrc")
    terminal = on_terminal(t, "apply", draft)
    equal(answer(terminal, ("executed by this machine\\? \\[y/N\\]", "n")), 1, "exit status")
    contains(terminal.text(), "nothing was changed", "the terminal")
    expect(not t.exists(".envrc"), "nothing crossed")
    equal(drafts(t)[0]["applied"], False, "applied")


def test_the_question_shows_the_diff_without_control_characters(t):
    t.write(SETTINGS, "old\n")
    draft, _ = rehearse(t, "printf 'evil\\033[2J\\n' >" + SETTINGS)
    terminal = on_terminal(t, "apply", draft)
    equal(answer(terminal, ("executed by this machine\\? \\[y/N\\]", "n")), 1, "exit status")
    terminal = on_terminal(t, "apply", draft)
    terminal.expect("\\[y/N\\]")
    contains(terminal.text(), "-old", "the diff")
    contains(terminal.text(), "evil\\x1b[2J", "the diff")
    lacks(terminal.text(), "\033[2J", "the terminal")
    terminal.send("n\n")
    terminal.wait()


def test_a_yes_counts_for_exactly_what_was_shown(t):
    """The file changes while the question waits: it is asked again, and nothing crosses before that."""
    t.write(SETTINGS, LINES)
    draft, _ = rehearse(t, "sed -i s/^20$/twenty/ " + SETTINGS)
    terminal = on_terminal(t, "apply", draft)
    terminal.expect("executed by this machine\\? \\[y/N\\]")
    t.write(SETTINGS, LINES.replace("1\n", "one\n", 1))
    terminal.send("y\n")
    terminal.expect("(?s)executed by this machine\\? \\[y/N\\].*executed by this machine\\? \\[y/N\\]")
    lacks(t.read(SETTINGS), "twenty", "the file before the second answer")
    terminal.send("y\n")
    equal(terminal.wait(), 0, "exit status")
    equal(t.read(SETTINGS), LINES.replace("1\n", "one\n", 1).replace("20\n", "twenty\n"), "the file")


def test_a_declined_file_with_a_name_that_is_not_utf_8_does_not_cross(t):
    draft, _ = rehearse(t, "f=$(printf '\\377'); mkdir $f; echo 1 >$f/.envrc; echo 2 >$f/x; mv x y 2>/dev/null; true")
    terminal = on_terminal(t, "apply", draft)
    equal(answer(terminal, ("executed by this machine\\? \\[y/N\\]", "n")), 0, "exit status")
    equal(os.listdir(os.path.join(os.fsencode(t.project), b"\xff")), [b"x"], "the folder")


def test_a_renamed_file_that_is_declined_keeps_its_old_name(t):
    t.write("script", "#!/bin/sh\n")
    draft, _ = rehearse(t, "mv script .envrc; echo 1 >x")
    terminal = on_terminal(t, "apply", draft)
    equal(answer(terminal, ("executed by this machine\\? \\[y/N\\]", "n")), 0, "exit status")
    equal((t.exists("script"), t.exists(".envrc"), t.exists("x")), (True, False, True), "the project")


def test_the_summary_names_hosts_that_were_refused(t):
    script = "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 5)' 2>/dev/null; echo x >x"
    _, result = rehearse(t, script)
    contains(result.err, "wanted to connect to, and was refused: 192.0.2.1:80", "notices")


# Hunks

HUNK = "Apply this hunk \\[[a-z,?]*\\]\\?"


def pick(t, draft, replies, *words, code=0):
    """Answers each question of apply -p."""
    terminal = on_terminal(t, "apply", "-p", draft, *words)
    seen = 0
    for reply in replies:
        seen += 1
        terminal.expect(f"(?s)(.*Apply this (hunk|file|mode change) \\[[a-z,?]*\\]\\?){{{seen}}}")
        terminal.send(reply + "\n")
    equal(terminal.wait(), code, f"exit status of apply -p: {terminal.text()}")
    return terminal.text()


@cases("ny", "syny", "nn", "sa")
def test_chosen_hunks_cross_and_the_rest_stays_in_the_draft(t, replies):
    os.unlink(t.attack)
    t.write("file", LINES)
    before = listing(t.project)
    draft, _ = rehearse(t, "sed -i 's/^2$/two/; s/^4$/four/; s/^19$/nineteen/' file")
    taken = {"ny": (19,), "syny": (2, 19), "nn": (), "sa": (2, 4, 19)}[replies]
    words = {2: "two", 4: "four", 19: "nineteen"}
    wanted = "".join(f"{words[number] if number in taken else number}\n" for number in range(1, 21))
    pick(t, draft, replies, code=0 if taken else 1)
    equal(t.read("file"), wanted, "the file")
    apply(t, draft)
    equal(t.read("file"), "".join(f"{words.get(number, number)}\n" for number in range(1, 21)), "the file after the rest")
    while drafts(t)[0]["applied"]:
        apply(t, draft, "--undo")
    equal(difference(before, listing(t.project)), "", "the project after --undo")


@cases(("nyn", 0, (2,)), ("ynq", 0o111, ()), ("a", 0o111, (2, 19)), ("d", 0, ()))
def test_the_mode_of_a_file_is_asked_about_before_its_hunks(t, replies, mode, lines):
    t.write("file", LINES)
    os.chmod(t.path("file"), 0o644)
    words = {2: "two", 19: "nineteen"}
    draft, _ = rehearse(t, "sed -i 's/^2$/two/; s/^19$/nineteen/' file; chmod 755 file")
    text = pick(t, draft, replies, code=0 if mode or lines else 1)
    contains(text, "old mode 0644", "the terminal")
    contains(text, "(1/3) Apply this mode change [y,n,q,a,d,?]?", "the terminal")
    equal((os.stat(t.path("file")).st_mode & 0o111, t.read("file")),
          (mode, "".join(f"{words[number] if number in lines else number}\n" for number in range(1, 21))), "the file")
    apply(t, draft)
    equal((os.stat(t.path("file")).st_mode & 0o777, "two" in t.read("file")), (0o755, True), "the file after the rest")


def test_hunks_are_merged_with_the_users_edits(t):
    t.write("file", LINES)
    draft, _ = rehearse(t, "sed -i 's/^2$/two/; s/^19$/nineteen/' file")
    t.write("file", LINES.replace("10\n", "ten\n"))
    pick(t, draft, "yn")
    equal(t.read("file"), LINES.replace("10\n", "ten\n").replace("2\n", "two\n", 1), "the file")


def test_files_that_are_added_or_removed_or_binary_are_chosen_whole(t):
    t.write("gone", "gone\n")
    t.write("gone-too", "gone, too\n")
    t.write("mode", "mode\n")
    draft, _ = rehearse(t, "rm gone gone-too; chmod 755 mode; echo 1 >.envrc; echo 2 >new; printf 'a\\0b' >z; ln -s new link")
    text = pick(t, draft, "ynyyyny")
    contains(text, "A .envrc, +1 -0: run or obeyed unasked (direnv)", "the reason")
    contains(text, "+1", "the content of a new file")
    equal((t.exists(".envrc"), t.exists("gone"), t.exists("gone-too"), os.path.lexists(t.path("link")), os.access(t.path("mode"), os.X_OK),
           t.exists("new"), t.exists("z")), (True, True, False, True, True, False, True), "the project")


@cases("null", "long")
def test_a_hunk_is_shown_to_the_end_of_its_lines(t, case):
    """Shells skip a null byte, and no command may hide behind a long line."""
    t.write("run.sh", "# comment\n" * 1000)
    middle = {"null": "\\000", "long": "a" * 70000}[case]
    draft, _ = rehearse(t, f"printf 'echo {middle} behind-it\\n' >>run.sh")
    terminal = on_terminal(t, "apply", "-p", draft)
    equal(answer(terminal, (HUNK, "n")), 1, "exit status")
    contains(terminal.text(), "behind-it", "the hunk")


def test_quitting_leaves_everything_after_it_in_the_draft(t):
    draft, _ = rehearse(t, "echo 1 >a1; echo 2 >b1; echo 3 >c1")
    pick(t, draft, "yq")
    equal((t.exists("a1"), t.exists("b1"), t.exists("c1")), (True, False, False), "the project")
    contains(pick(t, draft, "?q", code=1), "nothing was changed", "the terminal")


def test_a_project_that_changes_while_hunks_are_chosen_is_left_alone(t):
    t.write("file", LINES)
    draft, _ = rehearse(t, "sed -i 's/^2$/two/' file")
    terminal = on_terminal(t, "apply", "-p", draft)
    terminal.expect(HUNK)
    t.write("other", "1\n")
    terminal.send("y\n")
    equal(terminal.wait(), 125, "exit status")
    contains(terminal.text(), "the project changed in the meantime", "the terminal")
    equal(t.read("file"), LINES, "the file")


def test_hunks_need_a_terminal(t):
    draft, _ = rehearse(t, "echo x >x")
    contains(run(t, "apply", "-p", draft, code=125).err, "without a terminal", "the error")
    contains(run(t, "apply", "-p", draft, "--json", code=125).err, "--hunks asks about each part", "the error with --json")


# As a newcomer meets it

def run(t, *words, code=0, cwd=None):
    result = t.run([t.ringfence, *words], **({"cwd": cwd} if cwd else {}))
    equal(result.code, code, f"exit status of {words}", result)
    return result


def start_waiting(t):
    """Starts a command in a new draft that waits. Returns its process and the draft's id."""
    process = t.fence_start("sh", "-c", "echo x >x; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    return process, drafts(t)[-1]["id"]


def make_older(t, draft, days):
    path = os.path.join(t.state, "drafts", draft, "record.json")
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    for key in ("began_ms", "used_ms"):
        record[key] -= days * 86400 * 1000
    t.write(path, json.dumps(record))


def test_the_list_shows_age_size_and_whether_a_draft_was_applied(t):
    os.unlink(t.attack)  # a copy would include it
    first, _ = rehearse(t, "head -c 300000 /dev/zero >big; echo x >other")
    second, _ = rehearse(t, "echo y >y")
    make_older(t, first, 3)
    lines = run(t, "drafts").out.splitlines()
    expect(lines[0].startswith(first) and "3 days ago" in lines[0] and "finished" in lines[0], "the first line", lines)
    expect(lines[1].startswith(second) and "just now" in lines[1], "the second line", lines)
    contains(lines[0], " KiB ", "the size")
    expect(drafts(t)[0]["bytes"] >= 300000, "the size in JSON", drafts(t)[0])
    equal([entry["applied"] for entry in drafts(t)], [False, False], "applied, before")
    apply(t, first, "--", "big")
    equal([entry["applied"] for entry in drafts(t)], [True, False], "applied, afterwards")
    contains(run(t, "drafts").out.splitlines()[0], "applied", "the line")
    apply(t, first, "--undo")
    equal([entry["applied"] for entry in drafts(t)], [False, False], "applied, after --undo")


def test_each_undo_takes_back_one_more_apply_and_then_there_is_none(t):
    draft, _ = rehearse(t, "echo a >a; echo b >b")
    apply(t, draft, "--", "a")
    apply(t, draft, "--", "b")
    apply(t, draft, "--undo")
    equal((t.exists("a"), t.exists("b")), (True, False), "a and b after one --undo")
    apply(t, draft, "--undo")
    equal((t.exists("a"), t.exists("b")), (False, False), "a and b after two")
    contains(apply(t, draft, "--undo", code=125).err, "nothing to undo", "the error of the third")
    apply(t, draft)
    apply(t, draft, "--undo")
    equal((t.exists("a"), t.exists("b")), (False, False), "a and b after another apply and --undo")


def test_a_draft_that_goes_on_after_an_apply_is_applied_again(t):
    """The first apply is not taken for a change of the user; what the user changed is kept or named as always."""
    os.unlink(t.attack)
    for name in ("same", "mine", "both", "mode", "gone/x"):
        t.write(name, LINES)
    before = listing(t.project)
    draft, _ = rehearse(t, "for f in same mine both; do sed -i s/^3$/three/ $f; done; echo 1 >new; mkdir f; echo 1 >f/1; rm -r gone; chmod 700 mode")
    t.write("both", LINES.replace("19\n", "nineteen\n"))
    apply(t, draft)
    applied = listing(t.project)
    result = t.sh("for f in same mine both; do sed -i 's/^three$/drei/; s/^10$/ten/' $f; done; echo 2 >new; rm -r f; mkdir gone; echo 2 >gone/x; chmod 755 mode",
                  opts=("--in", draft))
    equal(result.code, 0, "exit status of exec --in", result)
    t.write("mine", "mine\n")
    answer = json.loads(run(t, "apply", draft, "--json", code=1).out)
    equal(answer["conflicts"], ["both changed both", "both changed mine"], "the conflicts")  # of both: line 3 came with a merge
    apply(t, draft, "--", "same", "new", "f", "gone", "mode")
    equal((t.read("same"), t.read("new"), t.exists("f"), t.read("gone/x"), os.stat(t.path("mode")).st_mode & 0o777, t.read("mine")),
          (LINES.replace("3\n", "drei\n", 1).replace("10\n", "ten\n"), "2\n", False, "2\n", 0o755, "mine\n"), "the files")
    apply(t, draft, "--undo")
    t.write("mine", LINES.replace("3\n", "three\n", 1))
    equal(difference(applied, listing(t.project)), "", "the project after one --undo")
    apply(t, draft, "--undo")
    t.write("both", LINES)
    equal(difference(before, listing(t.project)), "", "the project after both")


def test_an_apply_or_undo_that_changes_nothing_is_not_recorded(t):
    draft, _ = rehearse(t, "echo a >a")
    apply(t, draft)
    contains(apply(t, draft).out, "nothing to do", "the second apply")
    apply(t, draft, "--undo")
    expect(not t.exists("a"), "--undo takes the first apply back")


def test_a_diff_of_a_draft_names_a_path_that_neither_side_has(t):
    t.write("old", "old\n")
    draft, _ = rehearse(t, "echo b >b; rm old")
    run(t, "diff", "--draft", draft, "--", "b", "old")
    contains(run(t, "diff", "--draft", draft, "--", "nope", code=125).err, "neither the draft nor its base has the path 'nope'")


def test_a_diff_of_a_draft_takes_no_checkpoint_and_no_loop(t):
    draft, _ = rehearse(t, "echo b >b")
    contains(run(t, "diff", "--draft", draft, "0", code=125).err, "has no checkpoints to choose from")
    contains(run(t, "diff", "--draft", draft, "--loop", "x", code=125).err, "--loop or --draft")
    contains(run(t, "diff", draft, code=125).err, f"ringfence diff --draft {draft}")


def test_a_draft_without_a_result_says_why_and_how_to_go_on(t):
    process, draft = start_waiting(t)
    contains(run(t, "diff", "--draft", draft, code=125).err, "a command is running in draft")
    t.leftover_runs = True
    process.send_signal(signal.SIGKILL)
    process.wait()
    t.all_gone()
    contains(run(t, "diff", "--draft", draft, code=125).err, f"ringfence exec --in {draft}")


def test_paths_are_relative_to_the_current_folder_of_the_drafts_project(t):
    t.write("sub/keep", "keep\n")
    draft, _ = rehearse(t, "echo 1 >x; echo 2 >sub/x; echo 3 >y")
    run(t, "apply", draft, "--", "x", cwd=t.path("sub"))
    equal((t.exists("x"), t.exists("sub/x")), (False, True), "x and sub/x")
    run(t, "apply", draft, "--", "../x", cwd=t.path("sub"))
    equal(t.read("x"), "1\n", "x")
    run(t, "apply", draft, "--", "y", cwd=t.home)
    equal(t.read("y"), "3\n", "y, applied from outside the project")


def test_a_path_that_a_draft_does_not_change_is_named(t):
    t.write("same", "same\n")
    draft, _ = rehearse(t, "echo 1 >x")
    contains(apply(t, draft, "--", "same").out, "the draft changes nothing at the given paths, or the project already has it")


def test_an_id_that_is_neither_a_loop_nor_a_draft_is_called_so(t):
    contains(run(t, "apply", "nope", code=125).err, "there is no loop or draft 'nope'")


def test_a_draft_is_not_mistaken_for_a_loop(t):
    draft, _ = rehearse(t, "echo 1 >x")
    contains(run(t, "clean", draft, code=125).err, f"ringfence discard {draft}")
    contains(run(t, "apply", code=125).err, "ringfence drafts")


def test_a_new_draft_in_an_old_one_is_refused(t):
    draft, _ = rehearse(t, "echo 1 >x")
    contains(run(t, "exec", "--draft", "--in", draft, "--", "true", code=125).err, "--draft or --in")


def test_a_command_that_is_refused_leaves_no_draft(t):
    run(t, "exec", "--draft", "--cwd", "nope", "--", "true", code=125)
    equal(drafts(t), [], "the drafts")
    draft, _ = rehearse(t, "echo 1 >x")
    run(t, "exec", "--in", draft, "--cwd", "nope", "--", "true", code=125)
    equal([entry["id"] for entry in drafts(t)], [draft], "a draft that was there before")
    apply(t, draft)
    equal(t.read("x"), "1\n", "its change")


def test_a_project_that_has_gone_is_named(t):
    other = os.path.join(t.home, "other")
    os.mkdir(other)
    run(t, "exec", "--draft", "--", "touch", "x", cwd=other)
    draft = drafts(t, "--all")[-1]["id"]
    os.rename(other, other + "-moved")
    contains(run(t, "apply", draft, code=125).err, f"the project '{other}' of draft {draft}")
    run(t, "discard", draft)


def test_discard_answers_in_json(t):
    draft, _ = rehearse(t, "echo 1 >x")
    answer = json.loads(run(t, "discard", draft, "--json").out)
    equal(answer["removed"], [draft], "removed")
    expect(answer["freed_bytes"] > 0, "freed bytes", answer)


def test_clean_removes_old_drafts_and_names_them_first(t):
    old, _ = rehearse(t, "echo 1 >x")
    new, _ = rehearse(t, "echo 1 >x")
    make_older(t, old, 3)
    other = os.path.join(t.home, "other")
    os.mkdir(other)
    run(t, "exec", "--draft", "--", "touch", "x", cwd=other)
    foreign = drafts(t, "--all")[-1]["id"]
    make_older(t, foreign, 3)
    run(t, "clean", "--older", "2d", code=125)  # it cannot ask here
    equal([entry["id"] for entry in drafts(t)], [old, new], "the drafts before")
    contains(run(t, "clean", "--older", "2d", "--yes").out, "1 draft removed")
    equal([entry["id"] for entry in drafts(t, "--all")], [foreign, new], "the drafts of all projects")
    answer = json.loads(run(t, "clean", "--older", "2d", "--all", "--yes", "--json").out)
    equal(answer["removed"], [foreign], "removed with --all")


def test_clean_leaves_a_draft_in_use_alone(t):
    process, draft = start_waiting(t)
    make_older(t, draft, 3)
    equal(json.loads(run(t, "clean", "--older", "2d", "--yes", "--json").out)["removed"], [], "removed")
    equal(t.finish(process, b"end\n").code, 0, "exit status of the command")
    equal([entry["id"] for entry in drafts(t)], [draft], "the drafts")


def test_a_new_draft_removes_old_ones_in_which_nothing_waits(t):
    """All others stay, however old they are."""
    t.write(".gitignore", "build/\n")
    kinds = {"applied": "echo 1 >a", "empty": "true", "waits": "echo 1 >b", "in part": "echo 1 >c; echo 1 >d", "undone": "echo 1 >e",
             "ignored": "mkdir build; echo 1 >build/x; echo 1 >f", "used": "echo 1 >g", "young": "echo 1 >h"}
    ids = {kind: rehearse(t, script)[0] for kind, script in kinds.items()}
    for kind in ("applied", "undone", "ignored", "used", "young"):
        run(t, "apply", ids[kind])
    run(t, "apply", ids["in part"], "--", "c")
    run(t, "apply", "--undo", ids["undone"])
    run(t, "exec", "--in", ids["used"], "--", "sh", "-c", "echo 2 >g")
    for kind in kinds:
        if kind != "young":
            make_older(t, ids[kind], 31)
    _, result = rehearse(t, "true")
    contains(result.err, "removed 2 old drafts, of which everything is applied", "notices")
    left = {entry["id"] for entry in drafts(t)}
    equal({kind for kind in kinds if ids[kind] in left}, set(kinds) - {"applied", "empty"}, "the drafts that are left")
    expect(all(t.exists(name) for name in "acfg"), "what was applied stays")
    terminal = on_terminal(t, "clean")
    equal(answer(terminal, ("Remove 5 drafts with logs and checkpoints\\? \\[y/N\\]", "n")), 1, "exit status of clean")
    contains(terminal.text(), f"{ids['waits']}  draft that is not applied", "what clean offers")


def test_no_new_draft_is_made_above_the_limit(t):
    draft, _ = rehearse(t, "head -c 200000 /dev/zero >big")
    _, result = rehearse(t, "true", "--drafts-size", "1M")
    result = t.sh("true", opts=("--draft", "--drafts-size", "100K"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "and the limit is 100 KiB: discard some first (ringfence drafts --all", "the refusal")
    equal(len(drafts(t)), 2, "the drafts")
    equal(t.sh("true", opts=("--in", draft, "--drafts-size", "100K")).code, 0, "exit status in an old draft")


def test_the_checkpoints_of_a_draft_do_not_go_for_their_age(t):
    """It could not be applied without them."""
    snapshots = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, t.project, env=t.env())
    future = 10 ** 15
    for place in ("drafts/loop", "loops/loop/draft"):
        os.makedirs(os.path.join(t.outside, place))
        for loop, there in (("loop", True), ("other", True), ("another", False)):
            if loop == "another":
                os.rmdir(os.path.join(t.outside, place))
            t.write("file", f"{place} {loop}\n")
            one = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, t.project, env=t.env())
            one.loop = loop
            one.save(kind="after", oldest_ms=future if loop != "loop" else 0)
            equal(bool(snapshots.numbers()), there, f"the checkpoints are there after one of {loop}")


# Random edits

@timeout(300)
@cases(*range(8))
def test_random_edits_cross_and_come_back_to_the_byte_and_the_mode(t, seed):
    fill(t, 100 + seed)
    cross_and_come_back(t, seed)


@timeout(300)
@cases(*range(6))
def test_random_edits_of_both_sides_are_there_or_named(t, seed):
    fill(t, 200 + seed)
    merge_with_the_users(t, 300 + 2 * seed)


# Changes in between

def test_what_differs_from_the_preview_does_not_cross_and_counts_as_no_apply(t):
    snapshots = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, t.project, env=t.env())
    snapshots.save()
    t.write("new", "new\n")
    result = snapshots.save(kind="after")["number"]
    os.unlink(t.path("new"))
    shown = snapshots.ask("cross", dry=1, from_=0, to=result)[1]["present"]
    t.write("mine", "saved by the user after the preview\n")
    code, answer = snapshots.ask("cross", from_=0, to=result, present=shown)
    equal((code, answer["status"]), (1, "busy"), "the crossing", answer)
    kinds = [entry["kind"] for entry in snapshots.ask("list")[1]["checkpoints"]]
    equal((t.exists("new"), "apply" in kinds), (False, False), "the file, and a checkpoint of an apply")
    equal(snapshots.ask("cross", from_=0, to=result)[0], 0, "exit status of the crossing that was not shown")
    equal(t.read("new"), "new\n", "the file")


# Crashes

def test_a_crossing_that_is_killed_is_completed_by_the_next_task(t):
    snapshots = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, t.project, env=t.env())
    for name in ("a", "b", "folder/c", "gone"):
        t.write(name, f"{name}\n")
    os.unlink(t.attack)
    before = listing(t.project)
    snapshots.save()
    t.write("a", "changed\n")
    t.write("new/file", "new\n")
    os.unlink(t.path("gone"))
    after = listing(t.project)
    result = snapshots.save(kind="after")["number"]
    fault = 0
    while True:
        fault += 1
        snapshots.rollback(0)
        equal(difference(before, listing(t.project)), "", "the project before")
        code, _ = snapshots.ask("cross", fault=fault, from_=0, to=result)
        if code == 0:
            break
        equal(code, -9, f"exit status at fault point {fault}")
        snapshots.ask("diff", style="names")  # any task that reads the project
        now = listing(t.project)
        expect(now in (before, after), f"fault point {fault}: all or nothing", difference(after, now))
        equal(snapshots.ask("cross", from_=0, to=result)[0], 0, "exit status of the second attempt")
        equal(difference(after, listing(t.project)), "", f"the project after fault point {fault}")
    expect(fault > 5, "the crossing has fault points", fault)
    equal(difference(after, listing(t.project)), "", "the project")


def apply_with_fault(t, fault, *words):
    """Applies with a kill at a fault point. Returns whether nothing was killed."""
    result = t.run([t.ringfence, "apply", *words], env=t.env(RINGFENCE_SNAPSHOT_FAULT=str(fault)))
    expect(result.code == 0 or "Killed" in result.err, "it ended, or was killed", result)
    return result.code == 0


@timeout(300)
def test_a_rehearsal_whose_checkpoints_are_killed_leaves_no_draft_or_one_that_goes_on(t):
    """First that of the base, before the command, then that of the result, after it."""
    t.write("a", "1\n")
    before = listing(t.project)
    for again in (False, True):
        fault, whole = 0, False
        while not whole:
            fault += 1
            words = ("--in", rehearse(t, "true")[0]) if again else ("--draft",)
            result = t.run([t.ringfence, "exec", *words, "--", "sh", "-c", "echo 2 >a"], env=t.env(RINGFENCE_SNAPSHOT_FAULT=str(fault)))
            whole = result.code == 0
            expect(whole or "Killed" in result.err, "it ended, or was killed", result)
            equal(difference(before, listing(t.project)), "", f"the project after fault point {fault}")
            equal([entry["state"] for entry in drafts(t)], ["finished"] if whole else ["interrupted"] if again else [], "the drafts")
            for entry in drafts(t):
                equal(t.sh("cat a", opts=("--in", entry["id"])).out, "2\n", f"the draft after fault point {fault}")
                contains(apply(t, entry["id"], "--dry-run").out, "M a", f"what would cross after fault point {fault}")
                run(t, "discard", entry["id"])
        expect(fault > 5, "there are fault points", fault)


@timeout(300)
def test_an_apply_that_is_killed_counts_only_if_it_happens(t):
    """If it counted and had not happened, no part that was applied earlier could be taken back."""
    os.unlink(t.attack)
    t.write("b", "old\n")
    before = listing(t.project)
    draft, _ = rehearse(t, "echo a >a; echo b >b")
    fault, whole = 0, False
    while not whole:
        fault += 1
        apply(t, draft, "--", "a")
        whole = apply_with_fault(t, fault, draft, "--", "b")
        undone = 0
        while t.run([t.ringfence, "apply", "--undo", draft]).code == 0:
            undone += 1
            expect(undone <= 2, f"fault point {fault}: no more than two parts can be taken back")
        equal(difference(before, listing(t.project)), "", f"the project, with everything taken back after fault point {fault}")
    expect(fault > 10, "an apply has fault points", fault)


@timeout(300)
def test_an_undo_that_is_killed_is_finished_or_has_not_begun(t):
    os.unlink(t.attack)
    t.write("b", "old\n")
    before = listing(t.project)
    draft, _ = rehearse(t, "mkdir new; echo a >new/a; echo b >b; echo c >c")
    apply(t, draft)
    after = listing(t.project)
    fault, whole = 0, False
    while not whole:
        fault += 1
        whole = apply_with_fault(t, fault, "--undo", draft)
        run(t, "apply", "--dry-run", draft)  # any command that reads the project
        now = listing(t.project)
        expect(now in (before, after), f"fault point {fault}: all or nothing", difference(after, now))
        again = t.run([t.ringfence, "apply", "--undo", draft])
        equal(again.code, 0 if now == after else 125, f"exit status of the next undo after fault point {fault}", again)
        equal(difference(before, listing(t.project)), "", f"the project after fault point {fault}")
        equal(drafts(t)[0]["applied"], False, "applied")
        apply(t, draft)
    expect(fault > 10, "an undo has fault points", fault)


@timeout(300)
def test_a_discard_that_is_killed_is_finished_by_the_next_one(t):
    """Checkpoints of a draft without a record would stay for ever."""
    refs = os.path.join(t.state, "snapshots", "{}", "refs/ringfence")
    fault, whole = 0, False
    while not whole:
        fault += 1
        draft, _ = rehearse(t, "echo a >a; echo b >b")
        store = refs.format(os.listdir(os.path.join(t.state, "snapshots"))[0])
        expect(draft in os.listdir(store), "the draft has checkpoints")
        result = t.run([t.ringfence, "discard", draft], env=t.env(RINGFENCE_SNAPSHOT_FAULT=str(fault)))
        whole = result.code == 0
        if not whole:
            contains(result.err, "Killed", f"the error at fault point {fault}")
            equal([entry["id"] for entry in drafts(t)], [draft], f"the drafts after fault point {fault}")
            run(t, "discard", draft)
        equal((drafts(t), [name for name in os.listdir(store) if name == draft]), ([], []), f"what is left after fault point {fault}")
    expect(fault > 3, "a discard has fault points", fault)


@needs("git")
def test_a_command_in_a_draft_does_not_finish_an_apply_there(t):
    """An apply that was killed belongs to the project; a command in a draft sees only its view."""
    t.write("a", "a\n")
    draft, _ = rehearse(t, "echo changed >a; echo new >b")
    apply(t, draft)
    (store,) = (os.path.join(t.state, "snapshots", name) for name in os.listdir(os.path.join(t.state, "snapshots")))
    number = max(os.listdir(os.path.join(store, "refs/ringfence", draft)), key=int)
    tree = t.run(["git", "--git-dir", store, "rev-parse", f"refs/ringfence/{draft}/{number}^{{tree}}"]).out.strip()
    os.unlink(t.path("b"))
    with open(os.path.join(store, "undo"), "w", encoding="utf-8") as note:
        note.write(f"{tree}\n")
    equal(t.sh("true", opts=("--in", draft)).code, 0, "exit status of a command in the draft")
    apply(t, draft)
    equal((t.read("a"), t.read("b")), ("changed\n", "new\n"), "the project")


def test_a_folder_that_the_command_closes_keeps_its_files(t):
    t.write("folder/inner/file", "1\n")
    draft, result = rehearse(t, "echo 2 >folder/new; chmod 000 folder/inner folder")
    contains(result.err, "3 paths changed", "the notices")
    apply(t, draft)
    equal(os.stat(t.path("folder")).st_mode & 0o777, 0, "the mode")
    os.chmod(t.path("folder"), 0o700)
    os.chmod(t.path("folder/inner"), 0o700)
    equal((t.read("folder/inner/file"), t.read("folder/new")), ("1\n", "2\n"), "the files")


# Both kinds

globals().update(in_copies(dict(globals()), test_a_project_with_another_file_system_in_it_is_copied_and_what_is_there_does_not_cross))
