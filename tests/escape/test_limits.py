"""Item 76: bombs of processes, memory, descriptors, disk and logs are limited and named; other processes survive.

Every bomb is finite, so that a fence that fails does not take the machine with it.
"""

import os
import re
import signal
import subprocess
import time

from harness import Skip, bwrap_only, cases, contains, equal, expect, timeout
from harness.loop import until

PYTHON = "/usr/bin/python3"
TICKS = 20
NEIGHBOUR = f"i=0; while [ $i -lt {TICKS} ]; do sleep 0.05; echo tick; i=$((i+1)); done"

FORK = """
import os, time
for level in range(3):
    for _ in range(6):
        try:
            if os.fork() == 0:
                break
        except OSError:
            pass
time.sleep(HOLD)
os._exit(1)
"""
MEMORY = """
import os, time
held = []
for _ in range(60):
    held.append(bytearray(16 << 20))
    time.sleep(0.02)
print("held all")
"""
FILES = """
import os, time
held = []
try:
    while len(held) < 3000:
        held.append(os.dup(0))
except OSError as error:
    time.sleep(HOLD)
    raise SystemExit(error.strerror)
print("held all")
"""
DISK = "for i in 1 2 3 4 5 6; do dd if=/dev/zero of=fill$i bs=1M count=40 oflag=sync 2>/dev/null; done; echo held all"
LOG = "exec >log; i=0; while [ $i -lt 400000 ]; do echo a line of a log that nobody will ever read $i; i=$((i+1)); done"

BOMBS = {
    "processes": (("--processes", "32"), (PYTHON, "-c", FORK), "32"),
    "memory": (("--memory", "64M"), (PYTHON, "-c", MEMORY), "64M"),
    "open-files": (("--open-files", "128"), (PYTHON, "-c", FILES), "128"),
    "disk": (("--disk", "16M"), ("sh", "-c", DISK), "16M"),
    "file-size": (("--file-size", "1M"), ("sh", "-c", LOG), "1M"),
}


def held(command, seconds):
    return [word.replace("HOLD", str(seconds)) for word in command]


def bomb(t, command, opts):
    """It holds what it took until the watch has looked, which takes longer on a busy machine."""
    for seconds in (0.6, 3, 15, 60):
        result, report = t.report(*held(command, seconds), opts=opts)
        if report["exit"]["limit"]:
            break
    return result, report


def without_groups(t):
    t.own_mounts()
    t.tmpfs("/sys/fs/cgroup")


@cases(*((name, groups) for name in BOMBS for groups in ("with groups", "without")))
@timeout(240)
def test_76_a_bomb_is_capped_and_named_and_its_neighbour_is_not_disturbed(t, name, groups):
    opts, command, value = BOMBS[name]
    if name == "disk":
        t.needs_counted_writes()
    if groups == "without":
        without_groups(t)
    os.mkdir(os.path.join(t.home, "other"))
    neighbour = t.fence_start("sh", "-c", NEIGHBOUR, cwd=os.path.join(t.home, "other"))
    equal(neighbour.stdout.readline(), b"tick\n", "the neighbour")
    result, report = bomb(t, command, opts)
    equal((result.code, report["exit"]["kind"], report["exit"]["limit"]), (123, "limit", name), "the end",
          result)
    contains(result.err, f"ran into its limit: {name} ({value})", "the notice")
    expect("held all" not in result.out, "capped", result)
    out, _ = t.communicate(neighbour)
    equal((neighbour.returncode, out.count(b"tick")), (0, TICKS - 1), "the neighbour")


@cases("processes", "memory", "open-files")
@timeout(240)
def test_76_the_control_without_its_limit_a_bomb_goes_off(t, name):
    _, command, _ = BOMBS[name]
    result, report = t.report(*held(command, 1.5), opts=("--memory", "4G"))
    equal(report["exit"]["limit"], None, "the limit", result)
    if name == "processes":
        expect(report["use"]["processes_peak"] > 64, "processes", report)
    else:
        contains(result.out, "held all", "the bomb")


@timeout(240)
def test_76_a_bomb_of_small_processes_takes_itself_and_not_the_fence(t):
    """Many processes that each hold a little: init is not the one that is killed."""
    script = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        held = bytearray(8 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(HOLD)
raise SystemExit(1)
"""
    result, report = bomb(t, (PYTHON, "-c", script), ("--memory", "100M", "--processes", "60"))
    equal((result.code, report["exit"]["limit"]), (123, "memory"), "the end", result)


def test_76_the_watch_costs_nothing_where_nothing_is_watched(t):
    """A run without limits sleeps while its command sleeps."""
    process = t.fence_start("sh", "-c", "trap 'echo got' USR1; echo ready; until read line; do :; done", stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command")
    process.send_signal(signal.SIGUSR1)  # it is passed on after the start
    equal(process.stdout.readline(), b"got\n", "the command")

    def switches():
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", file.read()).group(1))

    def sleeps():
        before = switches()
        time.sleep(1)
        return switches() - before <= 2
    until("a second in which it wakes twice at most", sleeps)
    t.communicate(process, b"\n")


@bwrap_only("it puts another program in the place of bwrap")
def test_78_a_limit_that_does_not_hold_inside_is_caught_before_the_command_runs(t):
    """A mechanism that resets the CPU affinity."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("there is one CPU only")
    without_groups(t)
    path = t.script("bwrap", "#!/bin/sh\n[ -e /nonexistent ] || taskset -pc 0-1023 $$ >/dev/null\n"
                    "exec /usr/bin/bwrap \"$@\"\n")
    env = t.env(RINGFENCE_BWRAP=path)
    equal(t.fence("echo", "ran", env=env).out, "ran\n", "the control")
    result = t.fence("echo", "ran", opts=("--cpus", "1"), env=env)
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, "canary 'limits' got through", "the reason")
