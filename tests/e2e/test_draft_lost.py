"""Drafts whose parts are gone: each command says what is lost, and what to do next; nothing is guessed."""

import json
import os
import shutil
import time

from harness import cases, contains, equal, expect, lacks, needs, root_only
from harness.edits import difference, listing
from harness.gitrepo import Repository
from harness.loop import Loop

STEPS = {"all": "edit step-$N $N; edit both agent; [ $N -lt 3 ] || edit done yes"}


def begin(t, *words, repository=False):
    """A loop on a draft, with one iteration; the user has changed a file since."""
    loop = Loop(t, scripts=STEPS)
    loop.write("both", "before\n")
    loop.write("mine", "before\n")
    if repository:
        Repository(t, loop.project).filled()
    equal(loop.run("--workspace", "draft", "-m", "1", *words).code, 2, "exit status of run")
    loop.write("both", "the user's\n")
    return loop, loop.status()["id"]


def refused(loop, *words):
    """The message of a command that is refused and changes nothing."""
    before = listing(loop.project) if os.path.exists(loop.project) else None
    result = loop.ringfence(*words)
    equal(result.code, 125, f"exit status of {' '.join(words)}", result)
    if before:
        equal(difference(before, listing(loop.project)), "", "changes in the project")
    equal(result.err.count("ringfence: "), 1, "messages", result)
    return result.err


# The checkpoints

@needs("git")
@cases("all", "of the loop")
def test_a_draft_without_its_first_checkpoint_is_not_applied_by_guessing(t, lost):
    """The user's own change would look like the base, and be replaced without a word."""
    loop, ident = begin(t, repository=True)
    store = os.path.join(t.state, "snapshots")
    away = os.path.join(t.outside, "away")
    os.rename(store, away)
    if lost == "of the loop":
        shutil.copytree(away, store, symlinks=True)
        (project,) = os.listdir(store)
        shutil.rmtree(os.path.join(store, project, "refs/ringfence", ident))
    for words in (("apply",), ("apply", "--dry-run"), ("apply", ident, "--", "step-1"), ("apply", "--yes")):
        message = refused(loop, *words)
        contains(message, f"the checkpoints of {ident} are lost", "the refusal")
        contains(message, f"ringfence/{ident}", "the way to the commits")
        contains(message, os.path.join(loop.folder, "draft"), "the way to the files")
    equal(t.read(loop.path("both")), "the user's\n", "the user's file")
    contains(refused(loop, "diff"), "there is no checkpoint 0", "the refusal of diff")
    equal(loop.ringfence("status").code, 0, "exit status of status")
    equal(loop.ringfence("resume", "-m", "3").code, 0, "exit status of resume")
    contains(loop.ended("paused")["reason"], f"the checkpoints of {ident} are lost", "why it pauses")
    contains(loop.ringfence("apply", "--patch").out, "step-1", "the commits")
    shutil.rmtree(store)
    os.rename(away, store)
    equal(loop.ringfence("resume").code, 0, "exit status of resume, with the checkpoints")
    loop.ended("completed")
    contains(loop.ringfence("apply").out, "both", "the conflict")


# The draft itself

def test_a_draft_whose_folder_is_gone_can_be_applied_from_its_last_checkpoint(t):
    loop, ident = begin(t)
    os.rename(os.path.join(loop.folder, "draft"), os.path.join(t.state, "away"))
    for words in (("diff",), ("rollback", "--yes"), ("exec", "--in", ident, "--", "true")):
        message = refused(loop, *words)
        contains(message, f"the folder of the draft, '{loop.folder}/draft', is gone", "the refusal")
        contains(message, "its last checkpoint can still be applied: ringfence apply", "the next command")
    equal(loop.ringfence("resume", "-m", "3").code, 0, "exit status of resume")
    contains(loop.ended("paused")["reason"], "is gone", "why it pauses")
    result = loop.ringfence("apply")
    equal(result.code, 1, "exit status of apply", result)
    contains(result.out, "both", "the conflict with the user's change")
    result = loop.ringfence("apply", ident, "--", "step-1")
    equal((result.code, os.path.exists(loop.path("step-1"))), (0, True), "the rest is applied", result)
    equal(loop.ringfence("apply", "--undo", ident).code, 0, "exit status of apply --undo")
    equal(loop.ringfence("clean", ident, "--yes").code, 0, "exit status of clean")


# The project

@cases("moved", "removed")
def test_a_loop_whose_project_is_gone_says_so(t, how):
    loop, ident = begin(t)
    if how == "moved":
        os.rename(loop.project, loop.project + ".moved")
    else:
        shutil.rmtree(loop.project)
    for words in (("apply", ident), ("apply", "--dry-run", ident), ("exec", "--in", ident, "--", "true")):
        result = loop.ringfence(*words, cwd=t.home)
        equal(result.code, 125, f"exit status of {' '.join(words)}", result)
        contains(result.err, loop.project, "the message")
        lacks(result.err, "ringfence discard", "the message")
    contains(loop.ringfence("diff", "--draft", ident, cwd=t.home).out, "+agent", "the changes")
    contains(loop.ringfence("apply", ident, cwd=t.home).err, f"move it back, or remove the loop: ringfence clean {ident}", "the refusal of apply")
    result = loop.ringfence("resume", ident, "-m", "3", cwd=t.home)
    equal(result.code, 125, "exit status of resume", result)
    contains(result.err, f"its folder '{loop.project}' is gone (move it back, or remove the loop: ringfence clean {ident})", "the refusal of resume")
    if how == "moved":
        os.rename(loop.project + ".moved", loop.project)
        equal(loop.ringfence("apply", ident, "--", "step-1").code, 0, "exit status of apply when it is back")
    else:
        equal(loop.ringfence("clean", ident, "--yes", cwd=t.home).code, 0, "exit status of clean")


# The disk of the state folder

@root_only
@cases("full", "read-only")
def test_a_state_folder_that_cannot_be_written_is_named(t, how):
    t.own_mounts()
    os.makedirs(t.state, exist_ok=True)
    t.tmpfs(t.state, "24m")
    loop, ident = begin(t)
    filler = os.path.join(t.state, "filler")
    if how == "full":
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        word = "full"
    else:
        equal(t.run(["mount", "-o", "remount,ro", t.state]).code, 0, "remount")
        word = "Read-only file system"
    before = listing(loop.project)
    for words in (("apply", ident), ("exec", "--in", ident, "--", "sh", "-c", "echo x >x"), ("resume", ident, "-m", "3")):
        result = loop.ringfence(*words)
        equal(result.code, 125, f"exit status of {' '.join(words)}", result)
        contains(result.err.replace("No space left on device", "full"), word, f"the message of {words[0]}")
        contains(result.err, t.state, f"the place in the message of {words[0]}")
    equal(difference(before, listing(loop.project)), "", "changes in the project")
    equal(loop.ringfence("status").code, 0, "exit status of status")
    if how == "full":
        os.unlink(filler)
    else:
        equal(t.run(["mount", "-o", "remount,rw", t.state]).code, 0, "remount")
    equal(loop.ringfence("apply", ident, "--", "step-1").code, 0, "exit status of apply afterwards")


# Too much to hide

def test_too_many_files_to_hide_end_the_loop_which_goes_on_after_a_rollback(t):
    """Symlinks with names of secrets hide files of the project."""
    make = "import os; [os.symlink(f'../many/{i}', f'links/{i}.key') for i in range(5100)]"
    loop = Loop(t, scripts={"1": f'edit kept 1; mkdir links; python3 -c "{make}"'})
    os.mkdir(loop.path("many"))
    for i in range(5100):
        loop.write(f"many/{i}")
    result = loop.run("--workspace", "draft")
    equal(result.code, 125, "exit status of run", result)
    reason = loop.status()["reason"]
    contains(reason, "5100 of them are in 'many' of the draft", "the reason")
    contains(reason, "ringfence rollback", "the next command")
    contains(reason, "ringfence resume", "the command after it")
    equal(loop.ringfence("rollback", "0", "--yes").code, 0, "exit status of rollback")
    loop.write("script/1", "edit done yes")
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    loop.ended("completed")


# Old checkpoints

def numbers(loop, ident):
    return [entry["number"] for entry in json.loads(loop.ringfence("checkpoints", "--json", ident).out)["checkpoints"]]


@cases("age", "size")
def test_old_checkpoints_of_a_draft_go_but_it_can_still_be_applied_and_undone(t, limit):
    loop, ident = begin(t, "--workspace", "draft")
    loop.write("both", "before\n")
    before = listing(loop.project)
    equal(loop.ringfence("apply", ident).code, 0, "exit status of apply")
    equal(loop.ringfence("resume", "-m", "3").code, 0, "exit status of resume")
    loop.ended("completed")
    all_of_them = numbers(loop, ident)
    entries = json.loads(loop.ringfence("checkpoints", "--json", ident).out)["checkpoints"]
    applied = next(entry["number"] for entry in entries if entry["kind"] == "apply")
    kept = sorted({0, applied - 1, applied, all_of_them[-1]})
    expect(len(all_of_them) > len(kept), "there is something to remove", all_of_them)
    (store,) = os.listdir(os.path.join(t.state, "snapshots"))
    words = ("--checkpoint-size", "1")
    if limit == "age":
        old = time.time() - 31 * 24 * 3600
        os.utime(os.path.join(t.state, "snapshots", store, "refs/ringfence", ident), (old, old))
        words = ()
    equal(loop.run("--workspace", "draft", "-m", "2", *words, check="false").code, 2, "exit status of another loop")
    equal(numbers(loop, ident), kept, "what is left")
    equal(loop.ringfence("apply", ident).code, 0, "exit status of the second apply")
    expect(os.path.exists(loop.path("step-3")), "it is applied")
    for _ in range(2):
        equal(loop.ringfence("apply", "--undo", ident).code, 0, "exit status of apply --undo")
    equal(difference(before, listing(loop.project)), "", "what is left in the project")
