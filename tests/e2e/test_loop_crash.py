"""Loops survive kill -9, a torn file and a full disk; nothing is lost, and nothing is left behind."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess

from harness import Skip, cases, contains, equal, expect, gitrepo, kernel, needs, root_only, user_only
from harness.loop import LoopInPlace as Loop
from harness.loop import ENDED, WORKSPACES, is_stopped, keepers, kill, name_of, until
from harness.repository import Repository

# Each step costs once: a repeated attempt finds the work of the previous one.
TWO = {"all": "[ -e paid-$N ] || event cost '\"nusd\": 30000000'; edit paid-$N x; edit step-$N $N;"
              " [ $N -lt 2 ] || edit done yes"}
EVENTS = ("--agent-format", "events")
# The first attempt at iteration 1 waits to be killed; the next one finds its mark and continues.
MEET = {"1": "say try; if [ -e tried ]; then edit step-1 1; else edit tried x; spawn; hang; fi",
        "2": "edit done yes"}


def interrupted_once(t, loop):
    """The loop has recovered: the interrupted attempt is recorded and kept, and does not count."""
    t.leftover_runs = True
    status = loop.ended("completed")
    equal(status["used"], 2, "iterations that count")
    equal([(entry["iteration"], entry["attempt"], entry["verdict"]) for entry in loop.history()],
          [(1, 1, "interrupted"), (1, 2, "go on"), (2, 1, "done")], "the iterations")
    with open(os.path.join(loop.folder, "iterations/1/stdout.log"), encoding="utf-8") as file:
        equal(file.read(), "try\n", "the transcript of the interrupted try")
    t.all_gone()


def begin(t, workspace="in-place"):
    loop = Loop(t, scripts=MEET, workspace=workspace)
    loop.detach()
    loop.there("tried")
    loop.heard("try\n")
    return loop


@cases(*WORKSPACES)
def test_a_killed_supervisor_is_started_again(t, workspace):
    loop = begin(t, workspace)
    kill(loop.supervisor())
    interrupted_once(t, loop)


@cases(*WORKSPACES)
def test_a_killed_runner_interrupts_the_iteration_only(t, workspace):
    loop = begin(t, workspace)
    kill(loop.runner())
    interrupted_once(t, loop)


@cases(*WORKSPACES)
def test_a_killed_keeper_is_replaced_and_the_new_one_does_its_work(t, workspace):
    loop = begin(t, workspace)
    supervisor = loop.supervisor()
    first = keepers()
    kill(first[0])
    until("another keeper", lambda: [pid for pid in keepers() if pid not in first])
    equal(loop.supervisor(), supervisor, "the supervisor")
    kill(supervisor)
    interrupted_once(t, loop)


def test_a_loop_whose_supervisor_is_being_restarted_says_so(t):
    """Nobody is told to resume it, and a resume is refused; without its keeper it is interrupted."""
    loop = begin(t)
    (keeper,) = keepers()
    os.kill(keeper, signal.SIGSTOP)
    until("a stop", lambda: is_stopped(keeper))
    kill(loop.supervisor())
    status = until("the end of the supervisor", lambda: loop.status()["supervisor_pid"] is None and loop.status())
    equal((status["status"], status["reason"]), ("restarting", "its supervisor is gone, and is being started again"), "the status")
    shown = loop.ringfence("status").out
    expect("restarting" in shown and "resume" not in shown, "what a person sees", shown)
    for words in (("resume",), ("run", "another", "--workspace", "in-place", "--check", "true", "--agent-command", "true")):
        result = loop.ringfence(*words)
        equal(result.code, 125, f"exit status of {words[0]}", result)
        contains(result.err, "is already running", "the refusal")
    equal(loop.ringfence("resume", "--all").out, "", "what resume --all continues")
    os.kill(keeper, signal.SIGCONT)
    interrupted_once(t, loop)


@cases(*WORKSPACES)
def test_when_all_are_killed_resume_goes_on(t, workspace):
    loop = begin(t, workspace)
    supervisor, runner, keeper = loop.supervisor(), loop.runner(), keepers()[0]
    os.kill(keeper, signal.SIGSTOP)  # otherwise it would be faster than this test
    for pid in (supervisor, keeper, runner):
        kill(pid)
    t.all_gone()
    status = loop.status()
    equal((status["status"], status["supervisor_pid"]), ("interrupted", None), "the status")
    contains(status["reason"], "ringfence resume", "the reason")
    result = loop.ringfence("resume", "--all")
    equal(result.code, 0, "exit status of resume", result)
    interrupted_once(t, loop)


@cases(*((number, workspace) for number in range(4) for workspace in WORKSPACES))
def test_a_supervisor_and_a_runner_killed_in_one_instant_leave_nothing(t, number, workspace):
    """During short iterations, while a fence is being set up, in use or being removed."""
    t.leftover_runs = True
    loop = Loop(t, scripts={"all": "edit step $N"}, workspace=workspace)
    loop.detach("-m", "1000", "--max-same-error", "none")
    until("an iteration", lambda: loop.said().get("iteration", 0) > number)
    for pid in keepers():
        os.kill(pid, signal.SIGSTOP)  # otherwise it would be faster than this test
    both = [pid for pid, _ in kernel.descendants_of(os.getpid()) if name_of(pid) == "ringfence-loop"]
    for pid in (both if number % 2 else reversed(both)):
        kill(pid)
    for pid in keepers():
        kill(pid)
    t.all_gone()
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    equal(loop.ringfence("abort").code, 0, "exit status of abort")


def test_a_resume_waits_for_those_who_look_at_the_loop(t):
    """`status` takes the lock of a loop for a moment, which does not mean that somebody works on it."""
    loop = Loop(t, scripts={"1": "edit done yes"})
    loop.run(env=t.env(RINGFENCE_FAULT="1+"))
    folder = os.path.dirname(loop.folder)
    with open(os.path.join(loop.folder, "lock"), "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        process = t.start([t.ringfence, "resume"], cwd=loop.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for tries in (True, False, True):  # it has tried once, and tries again
            until("a try, or the end", lambda tries=tries: process.poll() is not None or is_locked(os.path.join(folder, ".start")) == tries)
        fcntl.flock(lock, fcntl.LOCK_UN)
    result = t.finish(process)
    equal(result.code, 0, "exit status", result)
    loop.ended("completed")


def is_locked(path):
    with open(path, "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_killed_agent_is_a_crash_that_counts(t):
    loop = Loop(t, scripts={"1": "say try; edit tried x; hang", "2": "edit done yes"})
    loop.detach()
    loop.there("tried")

    def agents():
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                if name_of(pid) == "sh" and loop.project == cwd_of(pid)]

    for pid in until("the agent", agents):
        kill(pid)
    equal(loop.ended("completed")["used"], 2, "iterations that count")
    equal(loop.history()[0]["failure"], "crash", "the class of the failure")


def cwd_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def snapshots():
    """The ringfence-snapshot processes of this test that wait at their fault point."""
    return [pid for pid, _ in kernel.descendants_of(os.getpid()) if name_of(pid) == "ringfence-snaps" and is_stopped(pid)]


def let_go(pid):
    os.kill(pid, signal.SIGCONT)
    until("that it goes on", lambda: not is_stopped(pid))


def retried(loop):
    return [json.loads(data)["task"] for kind, data in loop.events() if kind == "retried"]


@needs("git")
@cases(1, 2, 5)
def test_a_killed_ringfence_snapshot_is_started_again(t, point):
    """Each of its tasks dies once, at this fault point, and is done the second time."""
    loop = Loop(t, scripts={"all": "edit step-$N $N; git add -A; git commit -q -m step-$N; [ $N -lt 2 ] || edit done yes"})
    repo = gitrepo.Repository(t, loop.project).filled()
    starter = t.start([t.ringfence, *loop.run_words("--worktree", "--detach")], cwd=loop.project,
                      env=t.env(RINGFENCE_SNAPSHOT_FAULT=f"{point},stop"))
    killed = 0
    while stopped := until("a snapshot or the end", lambda: snapshots() or (starter.poll() is not None and
                                                                            loop.said()["status"] in ENDED and ["end"])):
        if stopped == ["end"]:
            break
        if stopped[0] in [pid for pid, _ in kernel.children_of(starter.pid)]:
            let_go(stopped[0])
            continue
        kill(stopped[0])
        killed += 1
        until("that it is retried", lambda: len(retried(loop)) == killed)  # noqa: B023
        let_go(until("another one", lambda: [pid for pid in snapshots() if pid != stopped[0]])[0])  # noqa: B023
    status = loop.ended("completed")
    expect(killed >= 4, "checkpoints, imports and leftovers were cut off", retried(loop))
    equal((status["used"], status.get("checkpoint_error"), status["git"].get("error")), (2, None, None), "the end", status)
    for number in ("1", "2"):
        equal(repo.git("show", f"ringfence/{status['id']}:step-{number}"), number, f"step {number}")
    equal(repo.git("rev-parse", f"ringfence/{status['id']}~1"), status["git"]["commit"], "the last commit of the agent")


def test_a_ringfence_snapshot_that_dies_again_and_again_pauses_the_loop(t):
    loop = Loop(t, scripts={"1": "edit a x", "2": "edit done yes"})
    equal(loop.run("-m", "1").code, 2, "exit status")
    loop.write("changed")  # or there is nothing to keep
    equal(loop.ringfence("resume", "-m", "3", env=t.env(RINGFENCE_SNAPSHOT_FAULT="1")).code, 0, "exit status of resume")
    status = loop.ended("paused")
    contains(status["reason"], "a checkpoint could not be taken, and no agent runs without one: ringfence-snapshot: Killed (3 times)",
             "the reason")
    equal(retried(loop), ["checkpoint"] * 2, "what was tried again")
    equal(loop.ringfence("resume").code, 0, "exit status of another resume")
    status = loop.ended("completed")
    equal(status.get("checkpoint_error"), None, "the error")


def views():
    """The processes of this test that mount a view, and wait at their fault point."""
    return [pid for pid, _ in kernel.descendants_of(os.getpid()) if name_of(pid) == "ringfence-view" and is_stopped(pid)]


# A check that notices broken code, and a mutant, whose only line is the agent's.
TESTED = "python3 -B -c 'from calc import tax; assert tax(1) in (None, 2)' && test -f done"
VIEWED = ("--prove-check", "--mutate", "1", "-m", "1", "--promise", "DONE")


def begin_viewed(t, name, workspace):
    loop = Loop(t, name, scripts={"all": "printf 'def tax(a):\\n    return a * 2\\n' >calc.py; say DONE"}, workspace=workspace)
    loop.write("calc.py", "def tax(a):\n    return None\n")
    loop.write("done")
    return loop


def moments(loop):
    """Returns the moments of the loop at which something was tried again, and the other events."""
    next_of = {"checked": {"baseline": "proof"}, "baselined": {"proof": "ready"}, "begun": {"ready": "agent"}, "ended": {"agent": "checks"},
               "mutating": {"checks": "mutant"}, "mutated": {"mutant": "checks"}}
    at, retries, others = "baseline", [], []
    for kind, _ in loop.events():
        if kind == "retried":
            retries.append(at)
            continue
        others.append(kind)
        at = next_of.get(kind, {}).get(at, at)
    return retries, others


def verdicts(loop):
    return [(entry["verdict"], [check["passed"] for check in entry["checks"]],
             [entry["mutants"][key] for key in ("tried", "noticed", "survived", "untested")]) for entry in loop.history()]


@cases(*((point, workspace) for point in (1, 2) for workspace in WORKSPACES))
def test_a_killed_process_that_mounts_a_view_is_started_again(t, point, workspace):
    """Each dies once, before or after it has mounted the view, and nothing else changes."""
    control = begin_viewed(t, "control", workspace)
    equal(control.run(*VIEWED, check=TESTED).code, 0, "exit status without a fault")
    loop = begin_viewed(t, "project", workspace)
    starter = t.start([t.ringfence, *loop.run_words(*VIEWED, "--detach", check=TESTED)], cwd=loop.project,
                      env=t.env(RINGFENCE_VIEW_FAULT=f"{point},stop"))
    killed = 0
    while stopped := until("a view or the end", lambda: views() or (starter.poll() is not None and loop.said()["status"] in ENDED and ["end"])):
        if stopped == ["end"]:
            break
        if stopped[0] in [pid for pid, _ in kernel.children_of(starter.pid)]:
            let_go(stopped[0])
            continue
        kill(stopped[0])
        killed += 1
        let_go(until("another one", lambda: [pid for pid in views() if pid != stopped[0]])[0])  # noqa: B023
    loop.ended("completed")
    first = ["checkpoint"] if workspace == "draft" else []  # a ringfence-snapshot that enters the view has a task of its own
    equal(retried(loop), first + ["view"] * (killed - len(first)), "what was tried again")
    retries, others = moments(loop)
    equal(set(retries), {"baseline", "proof", "checks", "mutant"} | ({"agent"} if workspace == "draft" else set()), "when", loop.events())
    equal(others, moments(control)[1], "the other events")
    equal(verdicts(loop), verdicts(control), "the iterations")
    expect(not os.path.exists(os.path.join(loop.folder, "view")), "no view is left")
    t.all_gone()


def test_a_process_that_mounts_a_view_and_dies_again_and_again_pauses_the_loop(t):
    """In place as well, where the checks could run without a view, but also without pins."""
    loop = Loop(t, scripts={"1": "edit a x", "2": "edit check.sh true"})
    loop.write("check.sh", "test -f done\n")
    equal(loop.run("-m", "1", check="sh check.sh").code, 2, "exit status")
    equal(loop.ringfence("resume", "-m", "2", env=t.env(RINGFENCE_VIEW_FAULT="1")).code, 0, "exit status of resume")
    status = loop.ended("paused")
    contains(status["reason"], "the checks did not run, because the pinned files cannot be shown: the process that mounts", "the reason")
    equal(retried(loop), ["view"] * 2, "what was tried again")
    equal(loop.ringfence("resume").code, 0, "exit status of another resume")
    equal(loop.ended("limit")["used"], 2, "iterations, of which the last one changed only the check")


def test_a_draft_whose_view_dies_again_and_again_fails_and_resume_goes_on(t):
    """A kill at the start is no reason to make a draft of another kind."""
    loop = Loop(t, scripts={"1": "edit a x", "2": "edit done yes"}, workspace="draft")
    result = loop.run(env=t.env(RINGFENCE_VIEW_FAULT="1"))
    equal(result.code, 125, "exit status of a start", result)
    contains(result.err, "the process that mounts the draft was killed", "the reason")
    equal(loop.run("-m", "1").code, 2, "exit status")
    equal(loop.ringfence("resume", "-m", "3", env=t.env(RINGFENCE_VIEW_FAULT="1")).code, 0, "exit status of resume")
    contains(loop.ended("failed")["reason"], "the process that mounts the draft was killed; once the cause is gone: ringfence resume", "the reason")
    equal(retried(loop), ["view"] * 2, "what was tried again")
    equal(loop.ringfence("resume").code, 0, "exit status of another resume")
    equal(loop.ended("completed")["used"], 2, "iterations that count")


def test_a_supervisor_that_is_told_to_end_leaves_an_interrupted_loop(t):
    loop = begin(t)
    os.kill(loop.supervisor(), signal.SIGTERM)
    t.all_gone()
    equal(loop.status()["status"], "interrupted", "the status")
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    interrupted_once(t, loop)


def test_too_many_interruptions_open_a_breaker(t):
    t.leftover_runs = True
    loop = Loop(t, scripts={"all": "edit here-$$ x; hang"})
    loop.detach()
    for number in range(1, 6):
        until("another try", lambda: len(loop.history()) == number)  # noqa: B023
        kill(loop.runner())
    status = loop.ended("failed")
    equal((status["used"], len(loop.history())), (0, 5), "iterations and tries", status)
    equal(loop.ringfence("circuit", "reset").code, 0, "circuit reset")


def test_a_supervisor_that_dies_again_and_again_is_given_up_with_a_sentence(t):
    t.leftover_runs = True
    loop = Loop(t, scripts={"all": "hang"})
    loop.detach("--max-interrupted", "none")
    seen = []
    for _ in range(5):
        seen.append(until("another supervisor", lambda: loop.status()["supervisor_pid"] not in (*seen, None)
                          and loop.status()["supervisor_pid"]))
        kill(seen[-1])
    t.all_gone()
    status = loop.status()
    equal(status["status"], "interrupted", "the status")
    contains(status["reason"], "died 5 times in a row", "the reason")
    contains(status["reason"], "ringfence resume", "the reason")
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    equal(loop.ringfence("abort", "--now").code, 0, "exit status of abort")


# The sweep

def disturbed(loop, fault):
    """Starts a loop whose supervisor, or starter, dies at this event; resumes it only if no process is left."""
    env = loop.t.env(RINGFENCE_FAULT=fault)
    first = fault.rstrip("+") == "1"
    started = loop.run("--detach", *EVENTS, env=loop.t.env(RINGFENCE_FAULT="1+") if first else env)
    equal(started.code, 137 if first else 0, f"exit status of run at {fault}", started)
    if first:
        # The starter died after it had recorded the loop; now the supervisor dies at its own first event.
        equal(loop.status()["status"], "interrupted", "the status")
        loop.ringfence("resume", env=env)


def settled(loop):
    status = loop.ended()
    made = {name: text for name, text in loop.tree().items() if name.startswith(("step", "done"))}
    return status["status"], status["used"], status["spent_nusd"], made


UNDISTURBED = ("completed", 2, 60000000, {"step-1": "1\n", "step-2": "2\n", "done": "yes\n"})


def test_the_loop_of_the_sweep_has_sixteen_events(t):
    loop = Loop(t, scripts=TWO)
    loop.detach(*EVENTS)
    equal(settled(loop), UNDISTURBED, "status, iterations, cost and tree")
    equal(len(loop.events()), 16, "events, of which the supervisor writes fifteen")


@user_only
@cases(*range(1, 16))
def test_a_supervisor_killed_at_any_event_changes_nothing(t, number):
    t.leftover_runs = True
    loops = {fault: Loop(t, f"fault-{fault}", scripts=TWO) for fault in (f"{number}", f"{number}+")}
    for fault, loop in loops.items():
        disturbed(loop, fault)
    for fault, loop in loops.items():
        equal(settled(loop), UNDISTURBED, f"status, iterations, cost and tree at {fault}")
        kinds = [kind for kind, _ in loop.events()]
        equal(kinds.count("started"), 1 if fault in ("1", "15+") else 2, f"supervisors at {fault}", kinds)
    t.all_gone()


@user_only
@cases(*range(1, 16))
def test_a_keeper_killed_at_any_event_changes_nothing(t, number):
    """Alone, before or after the event; and together with its supervisor, so that no process is left to continue."""
    t.leftover_runs = True
    faults = [f"{number}k", f"{number}k+", f"{number}b+"]
    loops = {fault: Loop(t, f"fault-{fault}", scripts=TWO) for fault in faults}
    for fault, loop in loops.items():
        loop.detach(*EVENTS, env=t.env(RINGFENCE_FAULT=fault))
    both = loops[faults[2]]
    wanted = "interrupted" if number < 15 else "completed"
    until("the end of both", lambda: both.status()["status"] == wanted and not both.status()["supervisor_pid"])
    if number < 15:
        equal(both.ringfence("resume").code, 0, "exit status of resume")
    for fault, loop in loops.items():
        equal(settled(loop), UNDISTURBED, f"status, iterations, cost and tree at {fault}")
        kinds = [kind for kind, _ in loop.events()]
        equal(kinds.count("started"), 2 if loop is both and number < 15 else 1, f"supervisors at {fault}", kinds)
    t.all_gone()


def begin_apart(t, name):
    """A loop for a work tree of its own, whose agent commits nothing."""
    loop = Loop(t, name, scripts={"all": "edit new one; edit done yes"})
    repo = Repository(t, loop.project)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "the first")
    return loop, repo


def closed_once(loop, repo):
    """The end is written once, after the one commit of what the agent left."""
    status = loop.ended("completed")
    branch = f"ringfence/{status['id']}"
    kinds = [kind for kind, _ in loop.events()]
    equal((kinds.count("closing"), kinds[-1], status["used"]), (1, "finished", 1), "the end", kinds)
    equal(repo.git("log", "--format=%an|%s", f"main..{branch}"), f"Ringfence|Ringfence {status['id']}: make it",
          "the commits")
    equal(repo.git("diff", "--name-status", "main", branch).split(), "A done A new".split(), "the result")
    equal(repo.git("status", "--porcelain", cwd=status["worktree"]), "", "git status in the work tree")


@needs("git")
@user_only
def test_a_loop_in_a_work_tree_killed_at_either_event_of_its_end_commits_once(t):
    """Before and after each: the supervisor alone, and with its keeper, so that no process is left to continue."""
    t.leftover_runs = True
    control, repo = begin_apart(t, "control")
    control.detach("--worktree")
    closed_once(control, repo)
    kinds = [kind for kind, _ in control.events()]
    equal(kinds[-2:], ["closing", "finished"], "the last events", kinds)
    last = len(kinds) - 1  # the first one is the starter's
    for number in (last - 1, last):
        for fault in (f"{number}", f"{number}+", f"{number}b", f"{number}b+"):
            loop, repo = begin_apart(t, f"fault-{fault}")
            loop.detach("--worktree", env=t.env(RINGFENCE_FAULT=fault))
            if "b" in fault:
                until("nobody", lambda: loop.status()["supervisor_pid"] is None)  # noqa: B023
                if loop.status()["status"] == "interrupted":
                    equal(loop.ringfence("resume").code, 0, f"exit status of resume at {fault}")
            closed_once(loop, repo)
    t.all_gone()


def test_a_starter_killed_before_its_first_event_leaves_no_loop(t):
    loop = Loop(t, scripts=TWO)
    equal(loop.run(env=t.env(RINGFENCE_FAULT="1")).code, 137, "exit status")
    equal(json.loads(loop.ringfence("status", "--json").out), {"loops": [], "batches": []}, "the loops")
    equal(loop.run().code, 0, "exit status of the next one")


# Files

@contextlib.contextmanager
def stopped(pid):
    """A supervisor that writes its state meanwhile would spoil what is done to the file."""
    os.kill(pid, signal.SIGSTOP)
    until("a stop", lambda: is_stopped(pid))
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_torn_state_file_is_made_anew(t):
    loop = Loop(t, scripts={"1": "edit here x; meet go", "2": "edit done yes"})
    loop.detach()
    loop.there("here")
    path = os.path.join(loop.folder, "state.json")
    with stopped(loop.supervisor()):
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"id": "2026')
        status = loop.status()
    equal((status["status"], status["last_heartbeat"]), ("running", None), "the status")
    loop.write("go")
    loop.ended("completed")
    with open(path, encoding="utf-8") as file:
        equal(json.load(file)["status"], "completed", "the state file")


@cases("UPDATE event SET data = replace(data, 'make it', 'break it') WHERE seq = 1",
       "DELETE FROM event WHERE seq = 4", "DELETE FROM event WHERE seq > 6",
       "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)", "UPDATE event SET kind = 'begun' WHERE seq = 3", "bytes", "nothing")
def test_a_damaged_journal_is_reported_and_never_guessed(t, damage):
    loop = Loop(t, scripts=TWO)
    loop.run("-m", "1")
    path = os.path.join(loop.folder, "journal.db")
    if damage == "bytes":
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * 4096)
    elif damage == "nothing":
        os.truncate(path, 0)
    else:
        store = sqlite3.connect(path)
        store.execute(damage)
        store.commit()
        store.close()
    status = loop.status()
    equal(status["status"], "failed", "the status", status)
    contains(status["reason"], "journal", "the reason")
    for command in ("resume", "abort", "history", "circuit", "logs"):
        result = loop.ringfence(command, status["id"])
        equal((result.code, result.out), (125, ""), f"exit status of {command}", result)
        contains(result.err, "journal", "what is said")


def fill_disk(t):
    """Fills the disk to the last byte; returns the file to remove."""
    ballast = os.path.join(t.state, "ballast")
    with open(ballast, "wb", buffering=0) as file:
        for size in (65536, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size):
                    pass
    return ballast


@root_only
@cases(*range(2, 16))
def test_a_disk_that_is_full_at_any_event_changes_nothing(t, number):
    t.leftover_runs = True
    t.own_mounts()
    t.tmpfs(t.state, "4m")
    # A run may still fit, because SQLite frees some pages. The output of its agent is lost, so it must not pay.
    loop = Loop(t, scripts={"all": "[ -e full ] && exit 1; " + TWO["all"]})
    loop.detach(*EVENTS, env=t.env(RINGFENCE_FAULT=f"{number}s"))
    supervisor = loop.supervisor()
    until("the event", lambda: is_stopped(supervisor))
    ballast = fill_disk(t)
    mark = t.write(os.path.join(t.project, "full"), "")
    os.kill(supervisor, signal.SIGCONT)
    t.all_gone()
    os.unlink(mark)
    full = loop.status()
    equal((full["status"], full["supervisor_pid"]), ("interrupted", None), "the status of a full disk", full)
    contains(full["reason"], "full", "the reason")
    os.unlink(ballast)
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    equal(settled(loop), UNDISTURBED, "status, iterations, cost and tree")


@root_only
def test_a_full_disk_ends_in_a_sentence_and_resume_goes_on(t):
    t.leftover_runs = True
    t.own_mounts()
    t.tmpfs(t.state, "24m")
    loop = Loop(t, scripts={"1": "edit here x; meet go", "2": "edit done yes"})
    loop.detach()
    loop.there("here")
    ballast = fill_disk(t)
    loop.write("go")
    t.all_gone()
    status = loop.status()
    equal((status["status"], status["supervisor_pid"]), ("interrupted", None), "the status", status)
    contains(status["reason"], "full", "the reason")
    contains(status["reason"], "ringfence resume", "the reason")
    os.unlink(ballast)
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    equal(loop.ended("completed")["used"], 2, "iterations that count")


def test_a_stopped_supervisor_is_noticed(t):
    """Its lock is held, its heartbeat is old."""
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    loop.detach()
    loop.there("here")
    path = os.path.join(loop.folder, "state.json")
    with stopped(loop.supervisor()):
        with open(path, encoding="utf-8") as file:
            state = json.load(file)
        state["last_heartbeat"] -= 300
        with open(path, "w", encoding="utf-8") as file:
            json.dump(state, file)
        contains(loop.status()["reason"] or "", "has not reported for ", "the reason")
    loop.write("go")
    loop.ended("completed")


def test_editing_the_settings_in_mid_run_changes_nothing(t):
    loop = Loop(t, scripts={"1": "edit here x; meet go", "2": "cat secret; edit done yes"})
    loop.write("secret", "the secret")
    loop.detach("--hide", "secret")
    loop.there("here")
    loop.write("ringfence.yml", "check: [false]\n")
    loop.write("go")
    loop.ended("completed")
    expect("the secret" not in loop.ringfence("logs").out, "what was hidden stays hidden")


def test_no_process_of_a_loop_holds_what_its_starter_had_open(t):
    """Otherwise a pipe would never end."""
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    process = t.start([t.ringfence, *loop.run_words("--detach")], cwd=loop.project,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    result = t.finish(process)
    equal(result.code, 0, "exit status", result)
    loop.there("here")
    loop.write("go")
    loop.ended("completed")


def test_a_fence_whose_first_process_is_killed_ends_the_loop_and_resume_goes_on(t):
    """This is not a judgement of the work, and the message says what to do."""
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    loop.detach()
    loop.there("here")
    inits = [pid for pid, command in kernel.descendants_of(loop.supervisor()) if command == "/run/ringfence/init"]
    expect(inits, "the fence's first process is there", kernel.descendants_of(loop.supervisor()))
    kill(inits[0])
    status = loop.ended("failed")
    equal(status["reason"], "the fence broke: its first process was killed from outside, and everything inside with it; "
          "once the cause is gone: ringfence resume", "the reason")
    contains(loop.ringfence("status").out, "once the cause is gone: ringfence resume", "what a person sees")
    loop.write("go")
    equal(loop.ringfence("resume", "--follow").code, 0, "exit status of resume")


@needs("git")
def test_a_broken_fence_loses_neither_the_cost_nor_the_commits_of_its_try(t):
    loop = Loop(t, scripts={"1": "edit new.txt hello; git add -A; git commit -q -m 'by the agent';"
                                 " event cost '\"nusd\": 30000000'; edit paid x; hang"})
    repo = gitrepo.Repository(t, loop.project).filled()
    loop.detach(*EVENTS)
    loop.there("paid")
    until("the cost", lambda: "30000000" in t.read(os.path.join(loop.folder, "iterations/1/stdout.log")))
    inits = [pid for pid, command in kernel.descendants_of(loop.supervisor()) if command == "/run/ringfence/init"]
    kill(inits[0])
    status = loop.ended("failed")
    equal(status["spent_nusd"], 30000000, "the cost", status)
    equal(repo.git("show", f"ringfence/{status['id']}:new.txt"), "hello", "what was committed")


def shown_as_before(loop, why):
    """Everything about an ended loop can be read, and what is wrong is said once."""
    project = os.path.basename(loop.project)
    for words, part in ((("status",), "completed"), (("history",), "done"), (("logs",), "spoken"), (("status", loop.id), "completed")):
        result = loop.ringfence(*words)
        equal(result.code, 0, f"exit status of {words[0]} in {project}", result)
        contains(result.out, part, f"what {words[0]} shows")
        equal(result.err.count(why), 1, f"how often {words[0]} says '{why}'", result)
    equal(loop.status()["used"], 2, "iterations in the JSON")


SPOKEN = {"1": "say spoken", "2": "say spoken; edit done yes"}


@user_only
def test_a_loop_whose_folder_became_read_only_can_be_seen(t):
    loop = Loop(t, scripts=SPOKEN)
    equal(loop.run().code, 0, "exit status of run")
    loop.id = loop.status()["id"]
    folder = loop.folder
    for name in os.listdir(folder):
        if name.startswith("journal.db"):
            os.chmod(os.path.join(folder, name), 0o400)
    os.chmod(folder, 0o500)
    shown_as_before(loop, "can only be read: you cannot write to it")
    os.chmod(folder, 0o700)


def completed_on_its_own_disk(t):
    """A loop that has completed, with its state on a disk of 24 MB."""
    t.own_mounts()
    t.tmpfs(t.state, "24m")
    loop = Loop(t, scripts=SPOKEN)
    equal(loop.run().code, 0, "exit status of run")
    loop.id = loop.status()["id"]
    return loop


@root_only
def test_a_loop_on_a_read_only_disk_can_be_seen(t):
    loop = completed_on_its_own_disk(t)
    kernel.mount("tmpfs", t.state, "tmpfs", kernel.MS_REMOUNT | kernel.MS_RDONLY, None)
    shown_as_before(loop, "can only be read: its disk is read-only")


@root_only
def test_a_loop_on_a_full_disk_can_be_seen(t):
    loop = completed_on_its_own_disk(t)
    fill_disk(t)
    shown_as_before(loop, "can only be read: its disk is full")


@root_only
@needs("mkfs.ext4")
def test_a_reader_survives_a_disk_with_small_blocks_that_is_nearly_full(t):
    """SQLite writes to a file that it maps; a page without room on the disk is SIGBUS."""
    loop = Loop(t, scripts=SPOKEN)
    equal(loop.run().code, 0, "exit status of run")
    image, disk = os.path.join(t.outside, "image"), os.path.join(t.outside, "disk")
    with open(image, "wb") as file:
        file.truncate(8 << 20)
    t.run(["mkfs.ext4", "-q", "-b", "1024", image])
    t.own_mounts()
    os.mkdir(disk)
    result = t.run(["mount", "-o", "loop", image, disk])
    if result.code:
        raise Skip(f"no loop device: {result.err}")
    os.chmod(disk, 0o700)
    shutil.copytree(os.path.join(t.state, "loops"), os.path.join(disk, "loops"))
    ballast = os.path.join(disk, "ballast")
    with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 1024):
            pass
    for free in range(40):
        os.truncate(ballast, max(0, os.path.getsize(ballast) - 1024 * (free > 0)))
        result = loop.ringfence("status", env=t.env(RINGFENCE_STATE_DIR=disk))
        equal(result.code, 0, f"exit status with {free} KB free", result)
        contains(result.out, "completed", f"the status with {free} KB free")
    t.run(["umount", disk])
