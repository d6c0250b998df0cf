"""Loops in a hostile environment: killed at any moment, given the same request twice, with their folder removed."""

import json
import os
import shutil
import signal

from harness import cases, contains, equal, expect, kernel, root_only
from harness.loop import LoopInPlace as Loop
from harness.loop import at_work, is_stopped, until

HANG = "touch {}; while :; do sleep 100; done"
STEPS = {
    "baseline": (("--check", HANG.format("here")), "true"),
    "agent": ((), "edit here x; hang"),
    "checks": (("--check", "test -e tried || exit 1; " + HANG.format("here")), "edit tried x; say x"),
    "waiting": (("--agent-format", "events"), "event overloaded"),
}


def begin(t, step):
    words, script = STEPS[step]
    loop = Loop(t, scripts={"all": script})
    loop.detach(*words, check=None)
    until(f"the step {step}", lambda: loop.said()["step"] == step)
    if step != "waiting":
        loop.there("here")
    return loop


@cases(*[(step, *words) for step in STEPS for words in ((), ("--now",))])
def test_an_abort_in_any_step_ends_all(t, step, *words):
    loop = begin(t, step)
    result = loop.ringfence("abort", *words)
    equal((at_work(), result.code), ([], 0), "what is left at the end of abort, and its exit status", result)
    t.all_gone()
    equal(loop.status()["status"], "aborted", "the status")


@cases(("abort", "aborted"), ("pause", "paused"))
def test_what_is_asked_for_during_a_checkpoint_is_done_before_another_iteration(t, command, status):
    loop = Loop(t, scripts={"1": "edit a x", "2": "edit second x; edit done yes"})
    equal(loop.run("-m", "1").code, 2, "exit status")
    loop.write("changed")  # or there is nothing to keep
    equal(loop.ringfence("resume", "-m", "3", env=t.env(RINGFENCE_SNAPSHOT_FAULT="1,stop")).code, 0, "exit status of resume")
    snapshot = until("a checkpoint", lambda: [pid for pid, _ in kernel.children_of(loop.supervisor()) if is_stopped(pid)])[0]
    asking = t.start([t.ringfence, command], cwd=loop.project, stdout=-1, stderr=-1)
    until("the question", lambda: loop.status()["asked"] == command)
    os.kill(snapshot, signal.SIGCONT)
    result = t.finish(asking)
    equal(result.code, 0, f"exit status of {command}", result)
    loop.ended(status)
    expect(not os.path.exists(loop.path("second")), "no other iteration was begun")


@cases(*STEPS)
def test_an_end_of_the_supervisor_in_any_step_is_an_interruption(t, step):
    loop = begin(t, step)
    os.kill(loop.supervisor(), signal.SIGTERM)
    t.all_gone()
    equal(loop.status()["status"], "interrupted", "the status")
    equal(loop.ringfence("abort").code, 0, "exit status of abort")


def test_of_two_who_resume_at_once_one_does(t):
    loop = Loop(t, scripts={"all": "edit a $N"})
    equal(loop.run("-m", "1").code, 2, "exit status")
    loop.write("script/all", "edit here x; meet go; edit done yes")
    words = [t.ringfence, "resume", "-m", "5"]
    both = [t.start(words, cwd=loop.project, stdout=-1, stderr=-1) for _ in range(2)]
    results = [t.finish(process) for process in both]
    equal(sorted(result.code for result in results), [0, 125], "exit statuses", results)
    contains("".join(result.err for result in results), "is already running", "the refusal")
    loop.write("go")
    equal([kind for kind, _ in loop.events()].count("resumed"), 1, "resumed")
    loop.ended("completed")


def test_of_two_who_run_in_one_project_one_does(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    words = [t.ringfence, *loop.run_words("--detach")]
    both = [t.start(words, cwd=loop.project, stdout=-1, stderr=-1) for _ in range(2)]
    equal(sorted(t.finish(process).code for process in both), [0, 125], "exit statuses")
    loop.write("go")
    loop.ended("completed")


@cases("removed", "moved")
def test_a_project_that_vanishes_pauses_the_loop_with_a_sentence(t, how):
    """Nothing is decided about work that cannot be seen. The agent ends when the project is gone: a removal takes a while."""
    gone = {"removed": "[ $(stat -c %h .) = 0 ]", "moved": "[ -e go ]"}[how]
    loop = Loop(t, scripts={"all": f"edit here x; until {gone}; do sleep 0.02; done"})
    ident = loop.detach()
    loop.there("here")
    if how == "removed":
        shutil.rmtree(loop.project)
    else:
        os.rename(loop.project, loop.project + "-elsewhere")
        with open(os.path.join(loop.project + "-elsewhere", "go"), "w", encoding="utf-8"):
            pass
    t.all_gone()
    out = t.run([t.ringfence, "status", "--all", "--json"], cwd=t.home).out
    status = next(entry for entry in json.loads(out)["loops"] if entry["id"] == ident)
    equal(status["status"], "paused", "the status", status)
    contains(status["reason"], loop.project, "the reason")


def test_a_loop_whose_journal_is_removed_ends(t):
    """Nobody could see or end it any more."""
    t.leftover_runs = True
    loop = Loop(t, scripts={"all": "edit step $N; edit here x"})
    loop.detach("-m", "1000", "--max-same-error", "none")
    loop.there("here")
    shutil.rmtree(loop.folder, ignore_errors=True)
    t.all_gone()


@root_only
def test_on_a_full_disk_no_loop_is_begun(t):
    t.own_mounts()
    t.tmpfs(t.state, "1m")
    with open(os.path.join(t.state, "ballast"), "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
    loop = Loop(t, scripts={"all": "edit started x"})
    result = loop.run("--detach")
    equal((result.code, result.out), (125, ""), "the refusal", result)
    expect(result.err.strip() and not os.path.exists(loop.path("started")), "a sentence, and nothing started", result)


def test_a_project_that_is_gone_after_an_iteration_pauses_the_loop_until_it_is_back(t):
    """Such a project can be neither checkpointed nor checked. Then the checks run, without the agent."""
    loop = Loop(t, scripts={"all": "edit here $N; meet go; edit done yes"})
    loop.detach()
    loop.there("here")
    away = loop.project + "-away"
    os.rename(loop.project, away)
    with open(os.path.join(away, "go"), "wb"):
        until("the end", lambda: loop.said()["status"] == "paused")
    os.rename(away, loop.project)
    contains(loop.ended("paused")["reason"], f"'{loop.project}': No such file or directory (once the cause is gone: "
             "ringfence resume", "the reason")
    equal(loop.ringfence("resume", "--follow").code, 0, "exit status of resume")
    equal((loop.ended("completed")["used"], t.read("here")), (1, "1\n"), "iterations, and what the one agent wrote")
