"""The base of a draft is saved while the fence is planned, and is the project as it was when the draft began."""

import fcntl
import os
import signal

from harness import cases, contains, equal, expect, kernel, lacks, timeout
from harness.drafts import drafts, in_copies, run
from harness.edits import difference, listing
from harness.loop import is_stopped, name_of, until

LINES = "".join(f"{number}\n" for number in range(1, 21))


def begin(t, script, fault=None):
    """Starts a script in a new draft. Each snapshot stops at the fault point."""
    env = t.env(RINGFENCE_SNAPSHOT_FAULT=f"{fault},stop") if fault else t.env()
    return t.fence_start("sh", "-c", script, opts=("--draft",), env=env)


def waits(process):
    """Reports whether ringfence waits for an answer, and so has done all that it does meanwhile."""
    with open(f"/proc/{process.pid}/wchan", encoding="ascii") as file:
        return "pipe_read" in file.read()


def stopped():
    """The snapshots of this test that wait at their fault point."""
    return [pid for pid, _ in kernel.descendants_of(os.getpid()) if name_of(pid) == "ringfence-snaps" and is_stopped(pid)]


def await_base(process):
    """Waits until the base has been read, but not stored, and ringfence waits for that alone. Returns the process id."""
    (snapshot,) = until("the base is read", stopped)
    until("ringfence waits for the base", lambda: waits(process))
    return snapshot


def finish(t, process):
    """Lets all snapshots of the command go on, and returns its result."""
    def has_ended():
        for pid in stopped():
            os.kill(pid, signal.SIGCONT)
        return process.poll() is not None
    until("the end of the command", has_ended)
    return t.finish(process)


def store_of(t):
    (name,) = os.listdir(os.path.join(t.state, "snapshots"))
    return os.path.join(t.state, "snapshots", name)


def layers_of(t):
    return os.path.join(t.state, "drafts", drafts(t)[-1]["id"], "layers")


def apply(t, code=0):
    return run(t, "apply", drafts(t)[-1]["id"], code=code)


# Edits by the user

def test_no_command_begins_before_the_base_was_read(t):
    """If one did, its version of a file could be older than the base's, and would replace what the user edited in between."""
    t.write("text", LINES)
    run(t, "exec", "--draft", "--", "true")
    with open(os.path.join(store_of(t), "lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = begin(t, "sed -i 's/^1$/draft/' text")
        until("ringfence waits", lambda: waits(process))
        t.write("text", LINES + "user\n")
    result = t.finish(process)
    equal(result.code, 0, "exit status", result)
    contains(result.err, "M text, +1 -1", "the notices")
    apply(t)
    equal(t.read("text"), LINES.replace("1\n", "draft\n", 1) + "user\n", "the project")


def test_what_the_user_edits_after_the_base_was_read_is_merged(t):
    t.write("text", LINES)
    t.write("gone", "1\n")
    process = begin(t, "sed -i 's/^1$/draft/' text", fault=1)
    await_base(process)
    expect(not os.path.exists(layers_of(t)), "the draft is made when its base is complete")
    t.write("text", LINES + "user\n")
    t.write("added", "user\n")
    os.unlink(t.path("gone"))
    result = finish(t, process)
    equal(result.code, 0, "exit status", result)
    apply(t)
    equal((t.read("text"), t.read("added"), t.exists("gone")),
          (LINES.replace("1\n", "draft\n", 1) + "user\n", "user\n", False), "the project")


@cases("echo draft >text", "rm text; echo draft >text", "rm text")
def test_what_the_user_edits_after_the_base_was_read_is_named_if_the_draft_changes_it_otherwise(t, script):
    t.write("text", "1\n")
    process = begin(t, script, fault=1)
    await_base(process)
    t.write("text", "user\n")
    result = finish(t, process)
    equal(result.code, 0, "exit status", result)
    contains(apply(t, code=1).out, "text", "the conflict")
    equal(t.read("text"), "user\n", "the user's file")


def test_a_secret_that_the_user_makes_while_the_base_is_saved_is_hidden(t):
    """The other new file shows that the command sees what is new."""
    t.write("conf/old", "old\n")
    process = begin(t, "cat conf/new; cat conf/.env conf/deep/.env", fault=1)
    await_base(process)
    t.write("conf/.env", "KEY=very-secret\n")
    t.write("conf/deep/.env", "KEY=very-secret\n")
    t.write("conf/new", "new\n")
    result = finish(t, process)
    equal((result.code, result.out), (1, "new\n"), "what the command read", result)
    lacks(result.out + result.err, "very-secret", "the output")


# Kills

def kill(t, process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    t.all_gone()


def check_interrupted(t, before, what):
    """A draft whose base is not complete: no command runs in it, it is not applied, and it can be discarded."""
    (entry,) = drafts(t)
    equal((entry["state"], entry["exit"]), ("interrupted", None), f"{what}: the draft")
    result = t.sh("echo ran; echo 2 >text", opts=("--in", entry["id"]))
    equal((result.code, result.out), (125, ""), f"{what}: another command in it", result)
    apply(t, code=125)
    equal(difference(before, listing(t.project)), "", f"{what}: the project")
    run(t, "discard", entry["id"])
    equal(drafts(t), [], f"{what}: the drafts")
    expect(entry["id"] not in os.listdir(os.path.join(store_of(t), "refs/ringfence")), f"{what}: no checkpoint is left")


def check_next(t, number):
    """The next draft has a base of its own."""
    t.write("text", LINES + f"user {number}\n")
    result = t.sh("sed -i 's/^1$/draft/' text", opts=("--draft",))
    contains(result.err, "M text, +1 -1", f"the next draft after {number}")
    apply(t)
    equal(t.read("text"), LINES.replace("1\n", "draft\n", 1) + f"user {number}\n", f"the project after {number}")
    run(t, "discard", drafts(t)[-1]["id"])


def cut_off(t, point):
    """Kills a rehearsal while its base is at this fault point. Returns false if the base passes it."""
    process = begin(t, "echo 2 >text", fault=point)
    until("a stopped snapshot, or the end", lambda: stopped() or process.poll() is not None)
    if process.poll() is None and not os.path.exists(layers_of(t)):
        kill(t, process)
        return True
    equal(finish(t, process).code, 0, "exit status of the command")
    return False


@timeout(300)
def test_a_rehearsal_that_is_killed_while_its_base_is_saved_leaves_a_draft_that_can_be_discarded(t):
    t.leftover_runs = True
    t.write("text", LINES)
    point = 1
    while cut_off(t, point):
        t.write("text", LINES + f"before {point}\n")
        check_interrupted(t, listing(t.project), f"fault point {point}")
        check_next(t, point)
        point += 1
    expect(point > 4, "the base has fault points", point)


def test_a_rehearsal_that_is_killed_before_its_base_was_read_leaves_a_draft_that_can_be_discarded(t):
    t.leftover_runs = True
    t.write("text", LINES)
    run(t, "exec", "--draft", "--", "true")
    run(t, "discard", drafts(t)[-1]["id"])
    with open(os.path.join(store_of(t), "lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = begin(t, "echo 2 >text")
        until("ringfence waits", lambda: waits(process))
        kill(t, process)
    check_interrupted(t, listing(t.project), "before the base was read")
    check_next(t, 1)


# Refusals

@cases("--write", "--cwd")
def test_a_rehearsal_that_is_refused_leaves_no_draft(t, option):
    """The first option is refused before the base is begun, the second one after the scan."""
    result = t.sh("true", opts=("--draft", option, "/missing"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "/missing", "the error")
    equal(drafts(t), [], "the drafts")
    stores = os.path.join(t.state, "snapshots")
    begun = os.path.isdir(stores) and os.listdir(stores)
    expect(not begun or option == "--cwd", "nothing was read for a request that is refused at once", begun)
    expect(not begun or not os.listdir(os.path.join(store_of(t), "refs/ringfence")), "no checkpoint is left")


# Both kinds

globals().update(in_copies(dict(globals())))
