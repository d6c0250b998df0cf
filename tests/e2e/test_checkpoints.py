"""Checkpoints: a loop's changes can be shown and undone, down to the byte and the mode."""

import glob
import json
import os
import shutil
import socket
import stat
import subprocess
import time

from harness import Skip, cases, contains, each_identity, equal, expect, lacks, needs, root_only, timeout, unsanitized
from harness.edits import Editor, difference, listing
from harness.loop import LoopInPlace as Loop
from harness.loop import until
from harness.snapshots import Snapshots

ANY_IDENTITY = "Checkpoints are made and compared by the content of files."

STEPS = {"1": "edit new one; edit old changed; rm gone", "2": "edit done yes"}


def begin(t, scripts=None, *words, **files):
    loop = Loop(t, scripts=scripts or STEPS, **(files or {"old": "old\n", "gone": "gone\n"}))
    result = loop.run(*words)
    equal(result.code, 0, "exit status of run", result)
    return loop


def checkpoints(loop):
    return json.loads(loop.ringfence("checkpoints", "--json").out)["checkpoints"]


def store_of(t):
    folder = os.path.join(t.state, "snapshots")
    return os.path.join(folder, os.listdir(folder)[0])


def own(t, ignored=True):
    return Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, t.project, ignored, t.env())


def fsck(t, store, how="--strict"):
    result = t.run(["git", "--git-dir", store, "fsck", "--full", how], cwd=t.home)
    equal(result.code, 0, "exit status of git fsck", result)


SURVEYED = {"1": "edit new one; edit old changed; rm gone; chmod +x same; rm -r folder; edit folder file; "
                 "mkdir -p sub/sub; edit sub/sub/deep x; ln -s new link; edit build/out 2",
            "2": "edit build/out 3; edit sub/build y",
            "3": "rm new link; edit old old; edit gone gone; chmod -x same; rm -r sub folder; mkdir folder; edit folder/in in"}


def surveys(loop):
    """The project as it was after each iteration."""
    for number in ("1", "2", "3"):
        with open(os.path.join(loop.folder, "iterations", number, "after.json"), encoding="utf-8") as file:
            yield json.load(file)


def test_a_survey_counts_the_same_changes_with_checkpoints_and_without(t):
    """Its size is the checkpoint's: with generated files, without the targets of symlinks."""
    seen, saved = {}, []
    for setting in ("true", "false"):
        loop = Loop(t, name=setting, scripts=SURVEYED, old="old\n", gone="gone\n", same="same\n")
        for name in ("build", "folder"):
            os.mkdir(loop.path(name))
        loop.write("build/out", "1\n")
        loop.write("folder/in", "in\n")
        loop.run(f"--checkpoints={setting}", "-m", "3", check="false")
        seen[setting] = list(surveys(loop))
        if setting == "true":
            saved = [(entry["files"], entry["bytes"]) for entry in checkpoints(loop) if entry["kind"] == "after"]
        with open(os.path.join(loop.folder, "iterations/1/before.json"), encoding="utf-8") as file:
            equal(seen[setting][2]["tree"], json.load(file)["tree"], "the hash of a state that is back")
    for setting, after in seen.items():
        equal([one["changed"] for one in after], [7, 0, 7], f"changed files after each iteration, with --checkpoints={setting}")
    sizes = {setting: [(one["files"], one["bytes"]) for one in after] for setting, after in seen.items()}
    equal(sizes["true"], saved, "files and bytes with checkpoints")
    equal([(with_[0] - without[0], with_[1] - without[1]) for with_, without in zip(sizes["true"], sizes["false"])],
          [(1, 2 - 3), (2, 4 - 3), (1, 2)], "files and bytes of generated files, without those of a symlink")


# A loop

@needs("git")
@each_identity
def test_a_loop_has_a_checkpoint_before_it_and_after_each_iteration(t):
    loop = begin(t)
    equal([(entry["number"], entry["kind"], entry["iteration"]) for entry in checkpoints(loop)],
          [(0, "start", 0), (1, "after", 1), (2, "after", 2)], "the checkpoints")
    equal(loop.status()["checkpoint"], 2, "the latest one")
    contains(loop.ringfence("checkpoints").out, "iteration 2", "what a person sees")
    fsck(t, store_of(t))


@each_identity
def test_a_rollback_undoes_a_loop_and_can_be_undone(t):
    loop = Loop(t, scripts=STEPS, old="old\n", gone="gone\n")
    os.chmod(loop.path("old"), 0o640)
    before = listing(loop.project)
    loop.run()
    after = listing(loop.project)
    result = loop.ringfence("rollback", "--yes")
    equal(result.code, 0, "exit status", result)
    equal(listing(loop.project), before, "the project after the rollback")
    contains(result.out, "rollback 2", "how to undo it")
    equal(loop.ringfence("rollback", "2", "--yes").code, 0, "exit status")
    equal(listing(loop.project), after, "the project after the second rollback")


def test_a_diff_shows_what_a_loop_did_and_applies(t):
    loop = begin(t)
    diff = loop.ringfence("diff")
    for part in ("+++ b/new\n@@ -0,0 +1 @@\n+one\n", "-old\n+changed\n", "deleted file mode 100644\n--- a/gone\n"):
        contains(diff.out, part, "the diff")
    contains(loop.ringfence("diff", "0", "1", "--stat").out, "3 changed", "the summary")
    equal(sorted(loop.ringfence("diff", "1", "2", "--name-only").out.split()), ["done"], "the names")
    equal(loop.ringfence("diff", "--", "new").out.count("diff --git"), 1, "files in the diff of one path")
    equal(loop.ringfence("diff", "--", "gone").code, 0, "exit status for a path that was removed")
    for words, where in ((["nosuch"], "checkpoint 0 or now"), (["0", "1", "nosuch"], "checkpoint 0 or checkpoint 1")):
        result = loop.ringfence("diff", *words)
        equal((result.code, result.out), (125, ""), "a path that is nowhere", result)
        contains(result.err, f"'nosuch': no such path in {where}\n", "stderr")
    ident = loop.status()["id"]
    contains(loop.ringfence("diff", ident).err, f"'{ident}' is not a path; use: ringfence diff --loop {ident}\n", "an id")
    contains(loop.ringfence("diff", ident[-4:]).err, f"use: ringfence diff --loop {ident[-4:]}\n", "the end of an id")
    changes = json.loads(loop.ringfence("diff", "0", "1", "--json").out)["changes"]
    equal([(change["path"], change["status"]) for change in changes],
          [("gone", "deleted"), ("new", "added"), ("old", "modified")], "the changes")


def test_show_prints_a_file_of_a_checkpoint(t):
    loop = begin(t)
    equal(loop.ringfence("show", "0:old").out, "old\n", "the file")
    equal(loop.ringfence("show", "1:old").out, "changed\n", "the file later")
    contains(loop.ringfence("show", "0:.").out, "script/\n", "the folder")
    result = loop.ringfence("show", "0:new")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "checkpoint 0 does not contain 'new'", "stderr")


@each_identity
def test_restore_brings_back_one_path_only(t):
    loop = begin(t)
    equal(loop.ringfence("restore", "gone", "--yes").code, 0, "exit status")
    equal(loop.ringfence("restore", "old", "--from", "0", "--yes").code, 0, "exit status")
    tree = loop.tree()
    equal((tree["gone"], tree["old"], tree["new"]), ("gone\n", "old\n", "one\n"), "the files")
    result = loop.ringfence("restore", "../outside", "--yes")
    equal(result.code, 125, "exit status", result)


@cases((("rollback", "99"), "there is no checkpoint 99"), (("restore", "none.py"), "checkpoint 0 does not contain 'none.py'"),
       (("restore", "old", "--from", "99"), "there is no checkpoint 99"))
def test_what_cannot_be_brought_back_is_said_before_anything_is_asked_or_ended(t, words, why):
    """The control: one that can be restored."""
    loop = Loop(t, scripts={"all": "edit here x; meet never"}, old="old\n")
    loop.detach()
    loop.there("here")
    result = loop.ringfence(*words, "--stop")
    equal(result.code, 125, "exit status", result)
    contains(result.err, why, "stderr without a terminal")
    equal(loop.status()["status"], "running", "the loop")
    terminal = t.tty([t.ringfence, *words, "--stop"], cwd=loop.project)
    terminal.expect(why)
    equal(terminal.process.wait(600), 125, "exit status on a terminal", terminal.text())
    lacks(terminal.text(), "[y/N]", "the terminal")
    contains(loop.ringfence("restore", "old", "--stop").err, "cannot ask for confirmation without a terminal", "what can be")
    loop.ended("aborted")


@cases((("rollback",), "the project"), (("restore", "old"), "'old'"))
def test_on_a_terminal_the_question_names_the_loop_and_when_it_began(t, words, what):
    loop = begin(t)
    status = loop.status()
    terminal = t.tty([t.ringfence, *words], cwd=loop.project)
    terminal.expect(r"\[y/N\]")
    begun = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(status["created_at"]))
    contains(terminal.text(), f"Roll back {what} to checkpoint 0 of loop {status['id']}, begun {begun}?", "the question")
    terminal.send("y\n")
    equal(terminal.process.wait(600), 0, "exit status")
    equal(loop.tree()["old"], "old\n", "what was brought back")


def test_a_rollback_asks_and_refuses_while_a_loop_runs(t):
    loop = Loop(t, scripts={"all": "edit here x; meet never"})
    loop.detach()
    loop.there("here")
    result = loop.ringfence("rollback", "--yes")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is running", "stderr")
    expect(os.path.exists(loop.path("here")), "nothing is changed")
    result = loop.ringfence("rollback", "--stop")
    contains(result.err, "--yes", "stderr without a terminal")
    equal(loop.ringfence("rollback", "--stop", "--yes").code, 0, "exit status")
    expect(not os.path.exists(loop.path("here")), "the project is as before")
    equal(loop.ended()["status"], "aborted", "the loop")


def test_checkpoints_are_taken_while_an_agent_works(t):
    loop = Loop(t, scripts={"1": "edit early x; meet go; edit done yes"})
    loop.detach("--checkpoint-every", "1s")
    loop.there("early")
    until("a checkpoint within", lambda: "within" in [entry["kind"] for entry in checkpoints(loop)], 30)
    equal(loop.status()["status"], "running", "the loop answers meanwhile")
    loop.write("go")
    loop.ended("completed")
    number = next(entry["number"] for entry in checkpoints(loop) if entry["kind"] == "within")
    equal(loop.ringfence("show", f"{number}:early").out, "x\n", "what it holds")


@each_identity
def test_what_an_agent_planted_does_not_come_back_with_a_rollback(t):
    plant = "mkdir .vscode; edit .vscode/tasks.json evil; edit here x; meet go; edit done yes"
    loop = Loop(t, scripts={"1": plant})
    loop.detach("--checkpoint-every", "1s")
    loop.there("here")
    until("a checkpoint within", lambda: "within" in [entry["kind"] for entry in checkpoints(loop)], 30)
    loop.write("go")
    loop.ended("completed")
    number = next(entry["number"] for entry in checkpoints(loop) if entry["kind"] == "within")
    contains(loop.ringfence("show", f"{number}:.vscode/tasks.json").out, "evil", "as a control, the checkpoint")
    result = loop.ringfence("rollback", str(number), "--yes")
    equal(result.code, 0, "exit status", result)
    contains(result.err, "quarantined", "stderr")
    expect(not os.path.exists(loop.path(".vscode")) and os.path.exists(loop.path("here")), "only that is missing",
           os.listdir(loop.project))


def test_without_checkpoints_there_are_none(t):
    loop = begin(t, STEPS, "--checkpoints=false", gone="x")
    contains(loop.ringfence("checkpoints").out, "--checkpoints=false", "what is said")
    equal(loop.ringfence("rollback", "--yes").code, 125, "exit status of rollback")


@root_only
def test_a_full_disk_pauses_a_loop_before_an_agent_is_started(t):
    t.own_mounts()
    t.tmpfs(os.path.join(t.state, "snapshots"), "2m")
    loop = Loop(t, scripts={"1": "head -c 8000000 /dev/urandom > large", "all": "edit started x; edit done yes"})
    result = loop.run()
    equal(result.code, 3, "exit status", result)
    contains(loop.status()["reason"], "No space left", "the reason")
    expect(not os.path.exists(loop.path("started")), "no further agent was started")
    os.unlink(loop.path("large"))
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    loop.ended("completed")
    equal(checkpoints(loop)[0]["kind"], "start", "the first checkpoint is there")


# The agent's files are data

def test_a_later_gitignore_hides_nothing_from_an_undo(t):
    loop = Loop(t, scripts={"1": "edit .gitignore '*'; edit mine agent; edit cache/x new; edit done yes"},
                mine="user\n")
    os.makedirs(loop.path("cache"))
    loop.write("cache/x", "ignored\n")
    loop.write(".gitignore", "cache/\n")
    loop.run()
    equal(loop.ringfence("rollback", "--yes").code, 0, "exit status")
    tree = loop.tree()
    equal((tree["mine"], tree[".gitignore"]), ("user\n", "cache/\n"), "what the agent changed")
    equal(tree["cache/x"], "new\n", "what was ignored when the loop began is left alone")


@cases((".gitconfig", "[core]\n\texcludesFile = ~/mine\n", "mine"),
       (".gitconfig", "[include]\n\tpath = ~/more\n[core]\n\texcludesFile = ~/mine\n", "mine"),
       (".config/git/config", "[core]\n\texcludesFile = {home}/mine\n", "mine"),
       (".gitconfig", "", ".config/git/ignore"))
def test_what_the_user_ignores_everywhere_is_left_alone(t, settings, text, rules):
    t.at_home(settings, text.format(home=t.home))
    t.at_home(rules, "*.swp\n")
    snapshots = own(t, ignored=False)
    for name in ("mine.txt", "mine.swp"):
        t.write(name, "before")
    snapshots.save()
    for name in ("mine.txt", "mine.swp"):
        t.write(name, "after")
    snapshots.rollback(0)
    equal((t.read("mine.txt"), t.read("mine.swp")), ("before", "after"), "what came back, and what did not")


@needs("git")
def test_what_git_tracks_is_kept_even_if_a_rule_ignores_it(t):
    loop = Loop(t, scripts={"1": "edit build/kept agent; edit build/other agent; edit done yes"})
    os.makedirs(loop.path("build"))
    loop.write("build/kept", "user\n")
    for words in (["init", "-q"], ["add", "-f", "build/kept"]):
        equal(t.run(["git", *words], cwd=loop.project).code, 0, f"git {words[0]}")
    loop.write(".gitignore", "build/\n")
    loop.run()
    equal(loop.ringfence("rollback", "--yes").code, 0, "exit status")
    tree = loop.tree()
    equal((tree["build/kept"], tree["build/other"]), ("user\n", "agent\n"), "tracked, and not tracked")


@each_identity
def test_no_symlink_is_followed_and_nothing_of_the_project_is_executed(t):
    secret = t.at_home("secret.txt", "the secret")
    mark = os.path.join(t.outside, "executed")
    t.write("link", "")
    os.unlink(t.path("link"))
    os.symlink(secret, t.path("link"))
    os.symlink(t.home, t.path("home"))
    t.write(".gitattributes", "* filter=evil diff=evil\n")
    for place in (".git/config", "nested/.git/config"):
        t.write(place, f"[core]\n\tfsmonitor = touch {mark}\n\thooksPath = hooks\n[filter \"evil\"]\n"
                       f"\tclean = touch {mark}\n[diff \"evil\"]\n\ttextconv = touch {mark}\n"
                       f"\tcommand = touch {mark}\n[include]\n\tpath = {secret}\n")
    t.write("nested/.git/HEAD", "ref: refs/heads/main\n")
    t.write("nested/.git/objects/info/alternates", os.path.join(t.home, "elsewhere") + "\n")
    snapshots = own(t, ignored=False)
    snapshots.save()
    t.write("file", "changed\n")
    equal(snapshots.ask("diff", from_=0)[0], 0, "exit status of diff")
    contains(snapshots.out.decode(), "+changed", "the diff")
    snapshots.rollback(0)
    expect(not os.path.exists(mark), "nothing was executed")
    everything = t.run(["git", "--git-dir", snapshots.store, "cat-file", "--batch", "--batch-all-objects"], cwd=t.home)
    lacks(everything.out, "the secret", "the repository")
    contains(everything.out, secret, "as a control, the repository")
    expect(os.path.islink(t.path("link")), "the link is a link")


@needs("git")
@each_identity
def test_ringfence_snapshot_writes_to_its_own_places_only(t):
    """A repository that points elsewhere shows that the kernel enforces it."""
    elsewhere = os.path.join(t.outside, "elsewhere")
    os.makedirs(elsewhere)
    snapshots = own(t, ignored=False)
    equal(snapshots.ask("list")[0], 0, "exit status of list, which makes the repository")
    os.rmdir(os.path.join(snapshots.store, "rules"))
    os.symlink(elsewhere, os.path.join(snapshots.store, "rules"))
    code, answer = snapshots.ask("save", kind="start")
    equal((code, os.listdir(elsewhere)), (1, []), "the exit status, and what is elsewhere", answer)
    os.unlink(os.path.join(snapshots.store, "rules"))
    os.mkdir(os.path.join(snapshots.store, "rules"))
    snapshots.save()
    equal(os.listdir(os.path.join(snapshots.store, "rules")), ["loop"], "as a control, in its own place")


@each_identity
def test_pipes_and_sockets_are_not_waited_for(t):
    os.mkfifo(t.path("pipe"))
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(t.project)
        server.bind("socket")
        snapshots = own(t)
        answer = snapshots.save()
        equal(answer["not_kept"], [{"path": "socket", "why": "a socket"}], "what is not kept")
        os.unlink(t.path("pipe"))
        snapshots.rollback(0)
        expect(stat.S_ISFIFO(os.lstat(t.path("pipe")).st_mode), "the pipe is there again")
        expect(t.exists("socket"), "the socket is left alone")


def test_a_terminal_is_shown_no_control_characters(t):
    snapshots = own(t)
    snapshots.save()
    t.write("esc\x1b[31m", "a\x1b]0;title\x07b\n\u202ec\n")
    equal(snapshots.ask("diff", terminal=1)[0], 0, "exit status")
    expect(not set(snapshots.out) & {0x1b, 0x07}, "control characters are shown as text", snapshots.out)
    contains(snapshots.out.decode(), "\\x1b]0;title\\x07b", "the diff")
    equal(snapshots.ask("diff", terminal=0)[0], 0, "exit status")
    expect(0x1b in snapshots.out, "as a control, a file gets the bytes as they are")


# Exact

@timeout(240)
@cases(*range(6))
@each_identity
def test_random_edits_are_undone_to_the_byte_and_the_mode(t, seed):
    editor = Editor(t.project, seed)
    snapshots = own(t)
    editor.edit(40)
    kept = []
    for _ in range(2):
        kept.append((listing(t.project), snapshots.save()["number"]))
        editor.edit(25)
    for state, number in kept:
        snapshots.rollback(number)
        now = listing(t.project)
        expect(now == state, f"checkpoint {number} comes back", difference(state, now))
        editor.edit(10)
    # A folder with the name .gitattributes must not cause a complaint here.
    fsck(t, snapshots.store, "--connectivity-only")


@needs("git")
@cases(*range(3))
def test_a_diff_of_random_edits_is_what_git_apply_needs(t, seed):
    """For files and symlinks; a patch cannot hold empty folders, pipes and full modes."""
    editor = Editor(t.project, 1000 + seed)
    editor.pipe = editor.chmod = editor.repository = editor.large = editor.empty_folder = editor.create
    snapshots = own(t)
    editor.edit(30)
    snapshots.save()
    copy = os.path.join(t.home, "copy")
    subprocess.run(["cp", "-a", t.project, copy], check=True)
    editor.edit(15)
    equal(snapshots.ask("diff")[0], 0, "exit status of diff")
    if b"Binary files" in snapshots.out:
        equal(snapshots.ask("diff", style="names")[0], 0, "exit status of diff")
        return
    result = t.run(["git", "apply", "--allow-empty", "-"], input=snapshots.out, cwd=copy)
    equal(result.code, 0, "exit status of git apply", result)
    files = lambda tree: {name: entry[2] for name, entry in tree.items()  # noqa: E731
                          if name != "links" and entry[0] == "file"}
    equal(files(listing(copy)), files(listing(t.project)), "the files")


# Crashes

def world(t):
    for name in ("a", "b", "folder/c", "folder/inner/d"):
        t.write(name, name)
    os.link(t.path("a"), t.path("linked"))


def disturb(t):
    t.write("a2", "new")
    os.unlink(t.path("b"))
    os.mkdir(t.path("b"))
    t.write("b/now a folder", "x")
    os.rename(t.path("folder"), t.path("moved"))
    os.chmod(t.path("moved/c"), 0o600)
    os.unlink(t.path("linked"))
    t.write("linked", "no link")


@timeout(240)
def test_a_checkpoint_that_is_killed_anywhere_is_there_or_not(t):
    world(t)
    snapshots = own(t)
    state, count = listing(t.project), 0
    for fault in range(1, 100):
        t.write("a", f"content {fault}")
        state = listing(t.project)
        before = snapshots.numbers()
        code, _ = snapshots.ask("save", kind="after", fault=fault)
        count += code != 0
        equal(listing(t.project), state, f"the project at {fault}")
        number = snapshots.save()["number"]
        expect(number in (len(before), len(before) - 1), f"one more at most at {fault}", (before, number))
        if code == 0:
            break
    expect(count >= 8, "there are fault points", count)
    fsck(t, snapshots.store)
    t.write("a", "other")
    snapshots.rollback(number)
    equal(listing(t.project), state, "the last checkpoint")


@timeout(240)
@each_identity
def test_a_rollback_that_is_killed_anywhere_is_finished_by_the_next_command(t):
    world(t)
    snapshots = own(t)
    wanted = listing(t.project)
    snapshots.save()
    mixed = untouched = 0
    for fault in range(1, 200):
        disturb(t)
        changed = listing(t.project)
        code, _ = snapshots.ask("rollback", from_=0, fault=fault)
        pending = snapshots.ask("list")[1]["pending"]
        now = listing(t.project, skip=(b".git", b".ringfence-rollback"))
        untouched += now == changed
        mixed += now not in (changed, wanted)
        expect(pending or now in (changed, wanted), f"old or new, or known to be unfinished at {fault}")
        snapshots.save(kind="before")  # any command that looks at the project
        now = listing(t.project)
        expect(now == (wanted if pending or code == 0 else now), f"the project after the repair at {fault}",
               difference(wanted, now))
        expect(now in (changed, wanted), f"no mix at {fault}", difference(wanted, now))
        snapshots.rollback(0)
        equal(listing(t.project), wanted, f"the project after the next rollback at {fault}")
        if code == 0:
            break
    expect(untouched > 5 and mixed > 3, "there are fault points before and amid the changes", (untouched, mixed))


def test_a_checkpoint_of_many_and_large_files_is_exact(t):
    with open(t.path("sparse"), "wb") as file:
        file.truncate(5 << 30)
        file.seek(3 << 30)
        file.write(b"in the middle")
    with open(t.path("large"), "wb") as file:
        file.write(os.urandom(9 << 20))
    with open(t.path("large"), "rb") as file:
        content = file.read()
    os.chmod(t.path("large"), 0o755)
    snapshots = own(t)
    snapshots.save()
    with open(t.path("large"), "r+b") as file:
        file.seek(5 << 20)
        file.write(b"changed")
    answer = snapshots.save()
    expect(answer["stored_bytes"] < 5 << 20, "a change of a large file costs what changed", answer)
    os.unlink(t.path("sparse"))
    snapshots.rollback(0)
    with open(t.path("large"), "rb") as file:
        expect(file.read() == content, "the large file is as it was")
    info = os.stat(t.path("sparse"))
    expect(info.st_size == 5 << 30 and info.st_blocks < 1 << 15, "the sparse file is sparse", info)
    equal(stat.S_IMODE(os.stat(t.path("large")).st_mode), 0o755, "the mode")


@needs("git")
def test_old_and_large_checkpoints_make_room(t):
    snapshots = own(t)
    for number in range(8):
        with open(t.path("blob"), "wb") as file:
            file.write(os.urandom(300_000))
        snapshots.save(kind="start" if number == 0 else "within")
    state = listing(t.project)
    code, answer = snapshots.ask("prune", most_bytes=1_500_000)
    equal(code, 0, "exit status", answer)
    numbers = snapshots.numbers()
    expect(answer["bytes_after"] < 1_500_000 and {0, 7} <= set(numbers) and len(numbers) < 8, "what is left",
           (answer, numbers))
    fsck(t, snapshots.store)
    t.write("blob", "x")
    snapshots.rollback(7)
    equal(listing(t.project), state, "the latest one")


# Room

@needs("git")
@timeout(240)
def test_making_room_that_is_killed_anywhere_loses_nothing_that_should_stay(t):
    snapshots = own(t)
    killed = 0
    for fault in range(1, 60):
        for number in range(2):
            t.write("file", f"{fault} {number}")
            latest = snapshots.save(kind="start" if number == 0 else "within")["number"]
        code, _ = snapshots.ask("prune", most_bytes=1, fault=fault)
        killed += code != 0
        expect({0, latest} <= set(snapshots.numbers()), f"the first and the latest stay at {fault}")
        equal((snapshots.ask("show", from_=latest, path="file")[0], snapshots.out), (0, f"{fault} 1".encode()),
              f"the latest one at {fault}")
        if code == 0:
            break
    fsck(t, snapshots.store)
    snapshots.rollback(0)
    equal(t.read("file"), "1 0", "the first one")
    expect(killed > 5, "there are fault points", killed)


@each_identity
def test_clean_removes_a_loop_with_all_that_it_kept(t):
    loop = begin(t)
    first, folder = loop.status()["id"], loop.folder
    loop.write("more", "x" * 100_000)
    os.unlink(loop.path("done"))
    equal(loop.run().code, 0, "exit status of the second loop")
    result = loop.ringfence("clean", first)
    equal(result.code, 125, "exit status without a terminal", result)
    expect(os.path.exists(folder), "nothing is removed")
    result = loop.ringfence("clean", first, "--yes")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "1 loop removed", "stdout")
    expect(not os.path.exists(folder), "its folder is gone")
    equal(os.listdir(os.path.join(store_of(t), "refs/ringfence")), [loop.status()["id"]], "whose checkpoints are left")
    fsck(t, store_of(t))
    equal(loop.ringfence("rollback", "--yes").code, 0, "exit status of a rollback of the other one")
    equal(loop.tree()["more"], "x" * 100_000, "the file from before the second loop")
    answer = json.loads(loop.ringfence("clean", "--older", "1s", "--yes", "--json").out)
    until("an age of a second", lambda: answer["removed"] or
          json.loads(loop.ringfence("clean", "--older", "1s", "--yes", "--json").out)["removed"])
    equal(os.listdir(os.path.join(store_of(t), "objects/pack")), [], "packs")
    equal(json.loads(loop.ringfence("status", "--json").out), {"loops": [], "batches": []}, "loops and batches")


def test_clean_does_not_touch_a_loop_that_runs(t):
    loop = Loop(t, scripts={"all": "edit here x; meet never"})
    ident = loop.detach()
    loop.there("here")
    result = loop.ringfence("clean", ident, "--yes")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is running", "stderr")
    equal(loop.ringfence("clean", "--older", "1s", "--yes", "--json").code, 0, "exit status of --older")
    equal(loop.status()["status"], "running", "the loop")
    loop.ringfence("abort", "--now")


def test_a_lost_store_is_not_mistaken_for_the_first_checkpoints(t):
    """The numbers go on, so no earlier one means a later state of the project."""
    scripts = {"1": "edit one 1", "2": "edit two 2", "3": "edit three 3; edit done yes"}
    loop = Loop(t, scripts=scripts)
    equal(loop.run("-m", "2").code, 2, "exit status of run")
    shutil.rmtree(os.path.join(t.state, "snapshots"))
    result = loop.ringfence("resume", "--follow", "-m", "3")
    equal(result.code, 3, "exit status of resume", result)
    contains(result.out, "the pinned files are not known: there is no checkpoint 0", "the reason")
    result = loop.ringfence("resume", "--follow", "--check-view=false")
    equal(result.code, 0, "exit status of resume without pins", result)
    numbers = [entry["number"] for entry in json.loads(loop.ringfence("checkpoints", "--json").out)["checkpoints"]]
    expect(numbers and min(numbers) > 2, "the numbers go on", numbers)
    result = loop.ringfence("rollback", "--yes")
    equal(result.code, 125, "exit status of rollback", result)
    contains(result.err, "there is no checkpoint 0", "what is said")
    expect(os.path.exists(loop.path("three")), "the work is still there")


@cases("less", "sh -c less")
def test_a_difference_is_not_shown_by_a_pager_of_the_agent(t, pager):
    """PATH has a folder of the project, as with a virtual environment; the pager runs outside the fence."""
    loop = begin(t, {"1": "edit old changed; edit done yes"})
    os.mkdir(loop.path("bin"))
    for folder, word in ((loop.path("bin"), "forged"), (os.path.join(t.outside, "own"), "own")):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "less"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho {word} less\ncat\n")
        os.chmod(os.path.join(folder, "less"), 0o755)
    path = ":".join([loop.path("bin"), os.path.join(t.outside, "own"), os.environ["PATH"]])
    env = t.env(TERM="xterm", PATH=path, **({"PAGER": pager} if pager != "less" else {}))
    terminal = t.tty([t.ringfence, "diff"], cwd=loop.project, env=env)
    equal(terminal.wait(), 0, "exit status")
    contains(terminal.text(), "+changed", "what it shows")
    equal(terminal.text().splitlines()[0], "own less", "the pager")


@unsanitized("such programs load the libraries of the sanitizers")
def test_the_program_loads_nothing_but_the_c_library(t):
    """Loading libgit2 and what it needs takes longer than a small checkpoint."""
    if not glob.glob("/usr/lib/*/libgit2.a"):
        raise Skip("there is no libgit2 as an archive")
    listed = t.run(["readelf", "-d", os.path.join(t.build, "ringfence-snapshot")]).out
    equal([line.split()[-1] for line in listed.splitlines() if "(NEEDED)" in line], ["[libc.so.6]"], "what it loads")
