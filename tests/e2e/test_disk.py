"""Disk: a loop's usage and the free space are watched while it runs; it pauses before the disk is full."""

import os

from harness import contains, equal, expect, needs, root_only
from harness.loop import LoopInPlace as Loop
from harness.repository import Repository

# Writes, and waits for a test that never comes: only the watch ends it.
GREEDY = "if [ -f again ]; then edit done yes; else edit again x; head -c 8000000 /dev/urandom >large; meet never; fi"


@needs("git")
def test_a_loop_that_takes_too_much_is_paused_and_goes_on_with_more(t):
    loop = Loop(t, scripts={"all": GREEDY})
    repo = Repository(t, loop.project)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "the first")
    result = loop.run("--worktree", "--loop-disk", "4M", "--idle-timeout", "5m")
    equal(result.code, 3, "exit status", result)
    status = loop.status()
    for part in ("the loop uses ", "work tree ", "--loop-disk is 4 MiB", "ringfence resume --loop-disk"):
        contains(status["reason"], part, "the reason")
    equal(status["used"], 0, "iterations that count")
    result = loop.ringfence("resume", "--follow")
    equal(result.code, 3, "exit status of a resume without more", result)
    result = loop.ringfence("resume", "--follow", "--loop-disk", "100M")
    equal(result.code, 0, "exit status of a resume with more", result)


def test_a_loop_begins_only_with_as_much_free_as_is_asked_for(t):
    loop = Loop(t, scripts={"1": "edit done yes"})
    result = loop.run("--min-free", "1000T")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is free, and --min-free is 1024000.0 GiB (free some space; ringfence clean --older", "stderr")
    expect(not os.path.exists(loop.path("done")), "nothing was started")
    equal(loop.run("--min-free", "1M").code, 0, "the control: with less")


@root_only
def test_a_disk_that_fills_up_pauses_the_loop(t):
    t.own_mounts()
    project = os.path.join(t.home, "project")
    t.tmpfs(project, "16m")
    loop = Loop(t, scripts={"all": GREEDY})
    result = loop.run("--min-free", "10M", "--idle-timeout", "5m")
    equal(result.code, 3, "exit status", result)
    contains(loop.status()["reason"], f"the disk of '{project}' is nearly full: ", "the reason")
    os.unlink(loop.path("large"))
    equal(loop.ringfence("resume", "--follow").code, 0, "exit status of resume")
