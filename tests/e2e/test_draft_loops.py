"""run --workspace draft: a loop whose changes stay apart from the user's folder until they are applied."""

import fcntl
import json
import os
import subprocess
import time

from harness import cases, contains, equal, expect, lacks, needs, timeout, user_only
from harness.drafts import in_copies, on_overlay, use_copies
from harness.edits import difference, listing
from harness.gitrepo import Repository
from harness.loop import Loop, until
from harness.snapshots import Snapshots

DRAFT = ("--workspace", "draft")
STEPS = {"all": "say step $N; edit step-$N $N; [ $N -lt 2 ] || edit done yes"}
CHANGES = {"1": "edit done yes; edit new one; edit old changed; rm gone; chmod 755 mode; ln -s old link; mkdir -p a/b; edit a/b/c deep; rm -r folder"}


def begin(t, scripts=None, **options):
    """A project with some files."""
    loop = Loop(t, scripts=scripts or CHANGES, **options)
    for name in ("old", "gone", "mode"):
        loop.write(name, f"{name}\n")
    os.makedirs(loop.path("folder/inner"))
    loop.write("folder/inner/file", "file\n")
    return loop


def run(loop, *words, code=0, **options):
    result = loop.run(*DRAFT, *words, **options)
    equal(result.code, code, "exit status of run", result)
    return result


def apply(loop, *words, code=0):
    result = loop.ringfence("apply", *words)
    equal(result.code, code, "exit status of apply", result)
    return result


def untouched(loop, before):
    equal(difference(before, listing(loop.project)), "", "changes in the project")


# Running

def test_a_loop_on_a_draft_leaves_the_project_alone(t):
    loop = begin(t)
    before = listing(loop.project)
    result = run(loop)
    contains(result.out, "completed: every rule holds", "the progress")
    contains(result.out, "your project is unchanged", "the last line")
    untouched(loop, before)
    status = loop.status()
    equal((status["workspace"], status["status"]), ("draft", "completed"), "the status")
    contains(loop.ringfence("status").out, f"ringfence apply {status['id']}", "status")


def test_an_iteration_continues_where_the_last_one_ended(t):
    loop = begin(t, {"1": "edit counted 1; rm gone", "2": "test ! -e gone && cat counted && edit counted 2", "3": "cat counted; edit done yes"})
    run(loop)
    equal(loop.ringfence("logs", "--iteration", "3").out, "2\n", "what the third iteration saw")
    expect(not os.path.exists(loop.path("counted")), "nothing is in the project")


def test_the_task_list_is_read_from_the_draft(t):
    loop = begin(t, {"1": "echo '- [x] a' >tasks/list.md", "2": "rm -r tasks; mkdir tasks; echo '- [ ] b' >tasks/list.md", "3": "echo '- [x] b' >tasks/list.md"})
    os.mkdir(loop.path("tasks"))
    loop.write("tasks/list.md", "- [ ] a\n- [ ] c\n")
    run(loop, "--tasks", "tasks/list.md", check=None)
    equal(loop.status()["used"], 1, "iterations")
    with open(loop.path("tasks/list.md"), encoding="utf-8") as file:
        equal(file.read(), "- [ ] a\n- [ ] c\n", "the list in the project")


def test_a_task_list_that_was_removed_has_no_boxes(t):
    loop = begin(t, {"all": "rm -rf tasks"})
    os.mkdir(loop.path("tasks"))
    loop.write("tasks/list.md", "- [x] a\n- [ ] b\n")
    equal(run(loop, "--tasks", "tasks/list.md", "-m", "2", check=None, code=2).code, 2, "exit status")


def test_files_that_the_host_executes_may_change_in_the_draft(t):
    loop = begin(t, {"1": "mkdir -p .vscode; edit .vscode/tasks.json {}; edit done yes"})
    run(loop)
    expect(not os.path.exists(loop.path(".vscode")) and not t.quarantined(), "nothing is in the project or in quarantine")
    contains(apply(loop, code=125).err, "--yes", "the refusal")
    expect(not os.path.exists(loop.path("done")), "nothing was applied")
    apply(loop, "--yes")
    expect(os.path.exists(loop.path(".vscode/tasks.json")), "the file was applied")


def test_a_draft_needs_checkpoints(t):
    result = begin(t).run(*DRAFT, "--checkpoints=false")
    equal(result.code, 125, "exit status")
    contains(result.err, "a draft needs checkpoints", "the refusal")


def test_two_loops_work_on_drafts_of_one_project_at_once(t):
    loop = begin(t, {"1": "say at work; sleep 1000"})
    first = loop.detach(*DRAFT)
    loop.heard("at work")
    second = Loop(t, scripts={"1": "edit done yes; edit second yes"})
    run(second)
    equal(loop.ringfence("status", "--json").code, 0, "status")
    apply(loop, second.status()["id"])
    expect(os.path.exists(loop.path("second")), "the second loop is applied while the first one runs")
    contains(apply(loop, first, code=125).err, "is running", "the refusal for the first")
    equal(loop.ringfence("abort", first).code, 0, "abort")


# Looking and going back

def test_checkpoints_diff_and_show_are_of_the_draft(t):
    loop = begin(t)
    run(loop)
    changes = json.loads(loop.ringfence("diff", "--json").out)["changes"]
    names = {change["path"]: change["status"] for change in changes}
    equal({name: names.get(name) for name in ("new", "old", "gone", "mode", "link", "a/b/c", "folder/inner/file")},
          {"new": "added", "old": "modified", "gone": "deleted", "mode": "mode", "link": "added", "a/b/c": "added",
           "folder/inner/file": "deleted"}, "the changes")
    last = loop.status()["checkpoint"]
    equal(loop.ringfence("show", f"{last}:old").out, "changed\n", "a file of the last checkpoint")
    equal(loop.ringfence("diff", "--", "a/b").code, 0, "diff of a path that only the draft has")
    equal(loop.ringfence("diff", "--", "nowhere").code, 125, "diff of a path that nobody has")
    equal(loop.ringfence("diff", "--draft", loop.status()["id"]).out, loop.ringfence("diff").out, "diff --draft")


def test_a_folder_that_was_made_again_hides_the_old_one(t):
    loop = begin(t, {"1": "rm -r folder; mkdir folder; edit folder/other x", "2": "test ! -e folder/inner && edit done yes"})
    run(loop)
    names = {change["path"]: change["status"] for change in json.loads(loop.ringfence("diff", "--json").out)["changes"]}
    equal((names.get("folder/inner/file"), names.get("folder/other")), ("deleted", "added"), "the changes")
    apply(loop)
    equal(os.listdir(loop.path("folder")), ["other"], "the folder in the project")


def test_what_the_user_edits_meanwhile_is_not_taken_for_the_agents(t):
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    loop = begin(t, {"1": f"say at work; meet {outside}/go; edit mine agent", "2": "edit done yes"})
    loop.detach(*DRAFT, "--write", outside)
    loop.heard("at work")
    loop.write("old", "by the user\n")
    loop.write("users", "by the user\n")
    with open(os.path.join(outside, "go"), "w", encoding="utf-8"):
        pass
    loop.ended("completed")
    names = [change["path"] for change in json.loads(loop.ringfence("diff", "--json").out)["changes"]]
    equal(sorted(names), ["done", "mine"], "the loop's changes")


def test_a_rollback_is_of_the_draft(t):
    loop = begin(t, {"1": "edit one 1; rm gone; rm -r folder", "2": "edit two 2; edit done yes"})
    before = listing(loop.project)
    run(loop)
    last = loop.status()["checkpoint"]
    result = loop.ringfence("rollback", "0", "--yes")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "your project is unchanged", "the output")
    untouched(loop, before)
    equal(loop.ringfence("diff").out, "", "what is left of the changes")
    equal(loop.ringfence("rollback", str(last), "--yes").code, 0, "exit status of the way back")
    apply(loop)
    expect(os.path.exists(loop.path("two")) and not os.path.exists(loop.path("gone")), "the changes are back, and applied")


def test_one_path_is_restored_in_the_draft(t):
    loop = begin(t)
    run(loop)
    equal(loop.ringfence("restore", "gone", "--yes").code, 0, "exit status")
    names = [change["path"] for change in json.loads(loop.ringfence("diff", "--json").out)["changes"]]
    expect("gone" not in names and "old" in names, "only this path is back", names)


# Taking over

def test_apply_takes_the_files_over_and_can_be_undone(t):
    loop = begin(t)
    before = listing(loop.project)
    run(loop)
    contains(apply(loop, "--dry-run").out, "would change", "the preview")
    untouched(loop, before)
    contains(apply(loop).out, "to undo this", "the result")
    expect(os.path.exists(loop.path("done")) and not os.path.exists(loop.path("folder")), "the changes are there")
    equal(os.readlink(loop.path("link")), "old", "the link")
    contains(apply(loop).out, "nothing to do: the draft has no changes, or the project already has them", "a second apply")
    apply(loop, "--undo", loop.status()["id"])
    untouched(loop, before)


def outcome(loop):
    return json.loads(apply(loop, "--dry-run", "--json").out)["outcome"]


def test_apply_says_first_how_a_loop_ended_that_is_not_completed(t):
    loop = begin(t, {"1": "edit new one; edit .envrc x", "2": "edit done yes"})
    run(loop, "-m", "1", "--check", "true", code=2)
    sentence = "the loop ended at a limit; 1 of 2 checks fails\n"
    said = apply(loop, code=125).err
    expect(-1 < said.find(sentence) < said.find("needs a yes"), "it is said before the question", said)
    contains(apply(loop, "--dry-run").err, sentence, "the preview")
    shown = outcome(loop)
    contains(shown.pop("reason"), "--max-iterations", "the reason")
    equal(shown, {"status": "limit", "checks": 2, "ran": 2, "failing": 1, "outdated": False, "final_failing": False}, "the JSON")
    contains(apply(loop, "--yes").err, sentence, "the notices")
    lacks(apply(loop, "--undo", loop.status()["id"], "--json").err, sentence, "the notices of an undo")
    equal(loop.ringfence("resume", "--follow", "-m", "2").code, 0, "exit status of resume")
    result = apply(loop, "--yes")
    lacks(result.err, "the loop ", "the notices when it is completed")
    equal((outcome(loop)["status"], outcome(loop)["failing"]), ("completed", 0), "the JSON")


@cases(("limit", ("--promise", "DONE", "-m", "1"), 2, "the loop ended at a limit; its check passes\n"),
       ("final", ("--final-check", "false", "--final-tries", "1"), 3, "the loop is paused; its check passes; a final check fails\n"),
       ("tasks", ("--promise", "DONE", "-m", "1"), 2, "the loop ended at a limit\n"))
def test_apply_says_what_the_checks_said(t, name, words, code, sentence):
    loop = begin(t, {"all": "edit done yes"})
    run(loop, *words, code=code, check=None if name == "tasks" else "test -f done")
    contains(apply(loop).err, sentence, "the notices")


def test_apply_says_that_the_checks_have_not_seen_the_last_changes(t):
    loop = begin(t, {"1": "edit new one", "2": "edit here x; hang"})
    loop.detach(*DRAFT, "--check", "test -f new")
    loop.there("here")
    loop.ringfence("abort", "--now")
    loop.ended("aborted")
    contains(apply(loop).err, "the loop was aborted; 1 of 2 checks failed when they last ran\n", "the notices")
    equal(outcome(loop)["outdated"], True, "the JSON")


@needs("git")
def test_apply_of_commits_says_how_the_loop_ended(t):
    loop = begin(t, {"all": "edit new one"})
    Repository(t, loop.project).filled()
    run(loop, "-m", "1", code=2)
    result = apply(loop, "--merge", "--json")
    contains(result.err, "the loop ended at a limit; its check fails\n", "the notices")
    equal(json.loads(result.out)["outcome"]["failing"], 1, "the JSON")


def test_apply_merges_with_the_users_edits_and_names_conflicts(t):
    loop = begin(t)
    run(loop)
    loop.write("old", "by the user\n")
    result = apply(loop, code=1)
    contains(result.out, "old", "the conflict")
    expect(not os.path.exists(loop.path("new")), "nothing was applied")
    apply(loop, loop.status()["id"], "--", "new", "a")
    expect(os.path.exists(loop.path("new")) and os.path.exists(loop.path("a/b/c")), "the named paths are applied")


def test_a_loop_goes_on_after_it_was_applied(t):
    loop = begin(t, {"1": "edit one 1; edit old 1", "2": "edit two 2; edit one 2; edit old 2; edit done yes"})
    run(loop, "-m", "1", code=2)
    apply(loop)
    equal(loop.ringfence("resume", "-m", "2").code, 0, "exit status of resume")
    loop.ended("completed")
    expect(not os.path.exists(loop.path("two")), "the second iteration is not applied yet")
    apply(loop)
    expect(os.path.exists(loop.path("two")), "it is applied")
    equal([t.read(loop.path(name)) for name in ("one", "old")], ["2\n", "2\n"], "files that both iterations changed")


def test_what_the_user_edits_meanwhile_is_told_once(t):
    """Also if the agent has changed nothing so far: the edit alone may make a check pass."""
    loop = begin(t, {"1": "say idle", "2": "say idle", "3": "edit done yes"})
    run(loop, "-m", "1", code=2)
    loop.write("old", "by the user\n")
    equal(loop.ringfence("resume", "-m", "3").code, 0, "exit status of resume")
    loop.ended("completed")
    saved = [json.loads(data) for kind, data in loop.events() if kind == "checkpointed"]
    told = [(data["iteration"], data["edited"]) for data in saved if "edited" in data]
    equal(told, [(2, ["old"])], "what was told, and when")


# One-off commands in the draft of a loop

def test_a_command_runs_in_the_draft_of_a_loop(t):
    loop = begin(t)
    before = listing(loop.project)
    run(loop)
    ident = loop.status()["id"]
    result = loop.ringfence("exec", "--in", ident, "--", "sh", "-c", "cat new; echo more >more")
    equal((result.code, result.out), (0, "one\n"), "the command", result)
    untouched(loop, before)
    contains(loop.ringfence("diff", "--name-only").out, "more", "the changes of the draft")
    expect(not os.path.exists(os.path.join(loop.folder, "record.json")), "the loop has no other record")


def test_the_draft_of_a_running_loop_can_only_be_read(t):
    loop = begin(t, {"1": "edit new one; say at work; sleep 1000"})
    ident = loop.detach(*DRAFT)
    loop.heard("at work")
    result = loop.ringfence("exec", "--in", ident, "--", "sh", "-c", "cat new; echo x >x")
    equal(result.out, "one\n", "what the command saw", result)
    expect(result.code != 0, "it cannot write", result)
    contains(result.err, "can only be read", "the notice")
    equal(loop.ringfence("abort", ident).code, 0, "abort")


def test_a_shell_opens_in_the_draft_of_the_newest_loop(t):
    loop = begin(t)
    run(loop)
    contains(loop.ringfence("shell").err, "ringfence exec --in LOOP -- COMMAND", "the refusal without a terminal")
    terminal = t.tty([t.ringfence, "shell"], cwd=loop.project, env=t.env(TERM="xterm", SHELL="/bin/sh"))
    terminal.send("cat new; echo by hand >fixed; exit 7\n")
    equal(terminal.process.wait(600), 7, "exit status", terminal.text())
    apply(loop)
    equal(loop.outcome("fixed"), "by hand\n", "the file in the draft")
    expect(os.path.exists(loop.path("fixed")), "it is applied with the rest")


# The list

def test_drafts_of_loops_are_listed_and_removed_with_the_loop(t):
    loop = begin(t)
    run(loop)
    ident = loop.status()["id"]
    entry = json.loads(loop.ringfence("drafts", "--json").out)["drafts"][-1]
    equal((entry["id"], entry["loop"], entry["state"], entry["applied"]), (ident, True, "finished", False), "the draft")
    apply(loop)
    contains(loop.ringfence("drafts").out, "applied", "the list")
    result = loop.ringfence("discard", ident)
    equal(result.code, 125, "exit status of discard")
    contains(result.err, f"ringfence clean {ident}", "the refusal")
    equal(loop.ringfence("clean", ident, "--yes").code, 0, "exit status of clean")
    equal(json.loads(loop.ringfence("drafts", "--json").out)["drafts"], [], "drafts")
    expect(not os.path.exists(os.path.join(t.state, "loops", ident)), "the loop is gone")


# Git

@needs("git")
def test_commits_come_as_a_branch_and_files_as_files(t):
    """The branch ends with what the agent did not commit, but without what the user had changed before."""
    loop = begin(t, {"1": "edit new one; git add new; git commit -q -m 'by the agent'; edit 'left *' over; rm gone untracked; "
                          "mkdir made; edit made/file x; edit ignored x; chmod 755 mode folder; edit done yes"})
    repo = Repository(t, loop.project).filled()
    repo.write(".git/info/exclude", "ignored\n")
    loop.write("kept", "the user's own\n")
    loop.write("untracked", "the user's own\n")
    loop.write("folder/inner/own", "the user's own\n")
    before, files = repo.state(), listing(loop.project)
    run(loop)
    equal(repo.state(), before, "index, HEAD, refs, configuration and hooks of the user")
    untouched(loop, files)
    ident = loop.status()["id"]
    branch = f"ringfence/{ident}"
    equal(repo.git("log", "-2", "--format=%an: %s", branch), f"Ringfence: Ringfence {ident}: make it\nA User: by the agent", "the branch")
    equal(sorted(repo.git("diff", "--name-status", f"{branch}~", branch).split("\n")),
          ["A\tdone", "A\tleft *", "A\tmade/file", "D\tgone", "M\tmode"], "what the last commit changes")
    inside = loop.ringfence("exec", "--in", ident, "--", "sh", "-c", "git log -2 --format=%s && git status --porcelain")
    equal(inside.out.split("\n")[1:-1], ["by the agent", "?? folder/inner/own", "?? kept"], "git in the draft", inside)
    contains(apply(loop, "--patch").out, "by the agent", "the commits as mail")
    head = repo.git("rev-parse", "HEAD")
    apply(loop)
    equal((repo.git("rev-parse", "HEAD"), os.path.exists(loop.path("left *"))), (head, True), "files alone were taken over")
    apply(loop, "--undo", ident)
    apply(loop, "--merge")
    equal(repo.git("rev-parse", "HEAD"), repo.git("rev-parse", branch), "the merged commit")
    expect(os.path.exists(loop.path("left *")) and not os.path.exists(loop.path("gone")), "the whole result is merged")


@needs("git")
def test_leftovers_that_cannot_be_committed_are_named(t):
    """Neither a hook nor a lock of the agent's stops them; a repository without HEAD does."""
    loop = begin(t, {"1": "edit new one; printf '#!/bin/sh\nexit 1\n' >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; "
                          "touch .git/index.lock; edit done yes"})
    repo = Repository(t, loop.project).filled()
    run(loop)
    contains(repo.git("log", "-1", "--format=%s", f"ringfence/{loop.status()['id']}"), "make it", "the branch")
    loop.write("script/1", "edit more one; rm .git/HEAD; edit done yes")
    contains(run(loop).out, "uncommitted work is only in the draft", "what is said")
    contains(loop.ringfence("diff", "--name-only").out, "more", "the changes of the draft")


# run --apply

def test_a_completed_loop_crosses_by_itself_if_asked(t):
    loop = begin(t)
    contains(run(loop, "--apply").err, "applied (to undo this", "the notice")
    expect(os.path.exists(loop.path("new")) and not os.path.exists(loop.path("gone")), "the changes are in the project")


def test_a_loop_does_not_cross_by_itself_if_a_file_needs_a_yes(t):
    loop = begin(t, {"1": "edit .envrc x; edit done yes"})
    before = listing(loop.project)
    result = run(loop, "--apply")
    ident = loop.status()["id"]
    contains(result.err, f"not applied: 1 changed path needs a yes (to be asked: ringfence apply {ident})\n", "the notice")
    untouched(loop, before)


def test_a_loop_does_not_cross_by_itself_if_it_is_not_completed(t):
    loop = begin(t, {"1": "edit new one"})
    before = listing(loop.project)
    run(loop, "--apply", "-m", "1", code=2)
    untouched(loop, before)


def test_a_loop_does_not_cross_by_itself_if_there_is_a_conflict(t):
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    loop = begin(t, {"1": f"edit old agent; edit {outside}/there x; meet {outside}/go; edit done yes"})
    command = t.start([t.ringfence, *loop.run_words(*DRAFT, "--apply", "--write", outside)], cwd=loop.project,
                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until("the agent", lambda: os.path.exists(os.path.join(outside, "there")))
    loop.write("old", "by the user\n")
    with open(os.path.join(outside, "go"), "w", encoding="utf-8"):
        pass
    contains(command.communicate()[1], "not applied: ", "the notice")
    with open(loop.path("old"), encoding="utf-8") as file:
        equal(file.read(), "by the user\n", "the user's file")


def test_apply_is_refused_where_it_has_no_meaning(t):
    loop = begin(t)
    for words, why in ((("--workspace", "in-place", "--apply"), "--workspace draft"), ((*DRAFT, "--apply", "--detach"), "not both")):
        result = loop.run(*words)
        equal(result.code, 125, "exit status", result)
        contains(result.err, why, "the refusal")


# Crashes

def drafted(t, kind):
    """Checkpoints of a draft, its folder, and where its own files are."""
    for name in ("old", "kept"):
        t.write(name, f"{name}\n")
    equal(t.sh("true", opts=("--draft", "--draft-kind", kind)).code, 0, "exit status of exec --draft")
    # A file that changed just before a checkpoint read it is read again by the next one.
    until("a later time", lambda: time.time_ns() - os.stat(t.path("kept")).st_ctime_ns > 100_000_000)
    draft = os.path.join(t.state, "drafts", os.listdir(os.path.join(t.state, "drafts"))[0], "layers")
    snapshots = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, t.project, env=t.env())
    snapshots.save(draft=draft)
    return snapshots, draft, os.path.join(draft, {"overlay": "upper", "copy": "files"}[kind])


def test_checkpoints_of_drafts_read_no_file_that_an_earlier_one_has_read(t):
    """Although no loop has ever worked in the project itself. After a reboot, files are read."""
    snapshots, draft, files = drafted(t, "overlay")
    t.write(os.path.join(files, "new"), "new\n")
    equal(snapshots.save(kind="after", draft=draft, edited=1)["edited_read"], 0, "files read to see what the user changed")
    snapshots.loop = "second"
    equal(snapshots.save(draft=draft)["read_files"], 0, "files read for the first checkpoint of another loop")
    snapshots.loop = "loop"
    with open(os.path.join(snapshots.store, "cache"), "r+b") as file:
        file.seek(8)
        file.write(b"another boot")
    expect(snapshots.save(kind="after", draft=draft, edited=1)["edited_read"] > 0, "files are read after a reboot")


def drafted_large(t):
    """A draft that changes one of forty folders, and makes another one."""
    for folder in range(40):
        t.write(f"d{folder}/inner/file", f"{folder}\n")
    snapshots, draft, files = drafted(t, "overlay")
    t.write(os.path.join(files, "d7/inner/file"), "changed\n")
    t.write(os.path.join(files, "new/file"), "new\n")
    return snapshots, draft


def test_a_checkpoint_of_a_draft_reads_only_folders_that_the_draft_changed(t):
    """So it costs what the change costs, not what the project costs."""
    snapshots, draft = drafted_large(t)
    saved = snapshots.save(kind="after", draft=draft, since=0)
    equal(saved["read_folders"], 3, "folders read: the project, d7 and d7/inner")
    equal(saved["tally"]["changed"], 2, "changed files")
    first = snapshots.ask("list")[1]["checkpoints"][0]
    equal((saved["files"] - first["files"], saved["bytes"] - first["bytes"]), (1, 10), "more files and bytes in the checkpoint")


def test_an_examination_reads_only_folders_that_differ(t):
    snapshots, draft = drafted_large(t)
    snapshots.save(kind="after", draft=draft)
    pinned = os.path.join(t.outside, "pinned")
    os.mkdir(pinned)
    code, answer = snapshots.ask("examine", from_=0, to=1, pinned=pinned, check="./d7/inner/file")
    equal((code, [entry["path"] for entry in answer["pinned"]]), (0, ["d7/inner/file"]), "exit status, and what is pinned")
    equal(answer["read_folders"], 7, "folders read: the project, d7 and d7/inner in both checkpoints, and new")


def test_taking_back_changes_of_a_check_reads_only_folders_that_it_changed(t):
    snapshots, draft = drafted_large(t)
    snapshots.save(kind="after", draft=draft)
    views = os.path.join(t.outside, "views")
    t.write(os.path.join(views, "pinned/upper/d7/inner/file"), "by a check\n")
    t.write(os.path.join(views, "pinned/upper/d8/inner/file"), "by a check\n")
    os.mkdir(os.path.join(views, "pins"))
    code, answer = snapshots.ask("settle", to=1, pinned=views, check="./d7/inner/file")
    equal((code, answer["read_folders"]), (0, 9), "exit status, and folders read: seven that differ, d8 and d8/inner")
    equal([os.path.exists(os.path.join(views, "pinned/upper", folder, "inner/file")) for folder in ("d7", "d8")], [False, True],
          "only the change to the pinned file is taken back")


def changed(snapshots, draft):
    """The paths that a draft changes."""
    equal(snapshots.ask("diff", from_=0, style="json", draft=draft)[0], 0, "exit status of diff")
    return sorted(change["path"] for change in json.loads(snapshots.out)["changes"])


@timeout(240)
@cases("overlay", "copy")
def test_a_rollback_of_a_draft_that_is_killed_anywhere_is_finished_there(t, kind):
    """Never in the project, not even by a task for the project itself."""
    snapshots, draft, files = drafted(t, kind)
    before = listing(t.project)
    mixed = 0
    for fault in range(1, 200):
        for name in ("old", "new"):
            with open(os.path.join(files, name), "w", encoding="utf-8") as file:
                file.write("agent\n")
        code, _ = snapshots.ask("rollback", from_=0, draft=draft, fault=fault)
        pending = os.path.exists(os.path.join(snapshots.store, "undo-loop"))
        mixed += pending
        snapshots.save(kind="before")  # of the project itself
        equal(difference(before, listing(t.project)), "", f"changes in the project at {fault}")
        snapshots.save(kind="before", draft=draft)
        wanted = [] if pending or code == 0 else ["new", "old"]
        equal(changed(snapshots, draft), wanted, f"the changes of the draft at {fault}")
        if code == 0:
            break
    expect(code == 0 and mixed >= 3, "there are fault points", (code, mixed))


@cases("overlay", "copy")
def test_a_file_that_a_power_cut_has_emptied_is_restored_in_the_draft(t, kind):
    snapshots, draft, files = drafted(t, kind)
    before = listing(t.project)
    upper = os.path.join(files, "old")
    with open(upper, "w", encoding="utf-8") as file:
        file.write("agent\n")
    snapshots.save(kind="after", draft=draft)
    with open(upper, "w", encoding="utf-8"):
        pass
    equal(snapshots.save(kind="before", draft=draft).get("repaired"), None, "what is repaired in the same boot")
    with open(upper, "w", encoding="utf-8") as file:
        file.write("agent\n")
    snapshots.save(kind="after", draft=draft)
    with open(upper, "w", encoding="utf-8"):
        pass
    with open(os.path.join(snapshots.store, "boot-loop"), "w", encoding="utf-8") as file:
        file.write("another boot")
    equal(snapshots.save(kind="before", draft=draft)["repaired"], ["old"], "what is repaired after a reboot")
    with open(upper, encoding="utf-8") as file:
        equal(file.read(), "agent\n", "the file in the draft")
    equal(difference(before, listing(t.project)), "", "changes in the project")


# Copies

@user_only
def test_where_an_overlay_does_not_work_the_draft_of_a_loop_is_a_copy_and_the_reason_is_told(t):
    t.own_mounts()
    env = t.env(RINGFENCE_STATE_DIR=on_overlay(t, os.path.join(t.outside, "state")))
    loop = begin(t)
    before = listing(loop.project)
    refused = loop.run(*DRAFT, "--draft-kind", "overlay", env=env)
    equal(refused.code, 125, "exit status with --draft-kind overlay", refused)
    for part in ("a draft of this project is not possible here", "--workspace in-place", "--workspace worktree"):
        contains(refused.err, part, "the refusal")
    equal(json.loads(loop.ringfence("status", "--json", env=env).out)["loops"], [], "the loops")
    contains(run(loop, env=env).err, "the draft is a copy of the project, because an overlay does not work: ", "the notices")
    untouched(loop, before)
    equal(json.loads(loop.ringfence("drafts", "--json", env=env).out)["drafts"][-1]["kind"], "copy", "the kind")


def test_a_copy_that_is_too_large_is_refused_and_leaves_nothing(t):
    use_copies(t)
    result = begin(t).run(*DRAFT, "--draft-size", "1K")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the limit is 1", "the refusal")
    contains(result.err, "--workspace in-place", "the refusal")
    equal([name for name in os.listdir(os.path.join(t.state, "loops")) if name != ".start"], [], "what is left")


def test_what_a_killed_start_has_left_is_removed(t):
    """The note names the project; nobody holds it any more. A start that is still at it holds its own."""
    loop = begin(t)
    run(loop)
    loops = os.path.join(t.state, "loops")
    for ident in ("20260102-030405-dead", "20260102-030405-live"):
        os.makedirs(os.path.join(loops, ident, "draft/files.partial"))
        with open(os.path.join(loops, f".making-{ident}"), "w", encoding="utf-8") as file:
            file.write(loop.project)
    with open(os.path.join(loops, ".making-20260102-030405-live"), encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        equal(loop.ringfence("clean", "--older", "1d", "--yes").code, 0, "exit status of clean")
        equal(sorted(name for name in os.listdir(loops) if "-030405-" in name),
              [".making-20260102-030405-live", "20260102-030405-live"], "what is left")


def test_a_hidden_file_never_comes_into_a_copy(t):
    """Its content is in the checkpoints, and a rollback writes what they have."""
    use_copies(t)
    loop = begin(t, {"1": "mv conf moved; edit done yes"})
    os.mkdir(loop.path("conf"))
    loop.write("conf/.env", "KEY=secret\n")
    loop.write("conf/public", "public\n")
    run(loop)
    last = str(loop.status()["checkpoint"])
    files = os.path.join(loop.folder, "draft/files")
    equal(os.path.getsize(os.path.join(files, "moved/.env")), 0, "the size of the file that was moved")
    equal(loop.ringfence("rollback", "0", "--yes").code, 0, "exit status of rollback")
    equal(os.path.getsize(os.path.join(files, "conf/.env")), 0, "the size of the file that is back")
    equal(loop.ringfence("diff").out, "", "what is left of the changes")
    equal(loop.ringfence("restore", "--from", last, "moved/public", "--yes").code, 0, "exit status of restore")
    refused = loop.ringfence("rollback", last, "--yes")
    contains(refused.err, "a file that the fence hides as '.env'", "the refusal")
    apply(loop, "--yes")
    with open(loop.path("conf/.env"), encoding="utf-8") as file:
        equal(file.read(), "KEY=secret\n", "the user's file")


globals().update(in_copies({function.__name__: function for function in (
    test_an_iteration_continues_where_the_last_one_ended,
    test_the_task_list_is_read_from_the_draft,
    test_a_task_list_that_was_removed_has_no_boxes,
    test_checkpoints_diff_and_show_are_of_the_draft,
    test_a_folder_that_was_made_again_hides_the_old_one,
    test_what_the_user_edits_meanwhile_is_not_taken_for_the_agents,
    test_a_rollback_is_of_the_draft,
    test_one_path_is_restored_in_the_draft,
    test_apply_takes_the_files_over_and_can_be_undone,
    test_a_loop_goes_on_after_it_was_applied,
    test_a_command_runs_in_the_draft_of_a_loop,
    test_the_draft_of_a_running_loop_can_only_be_read,
    test_commits_come_as_a_branch_and_files_as_files)}))
