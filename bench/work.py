"""The section `work` of bench/run.py: what a task of a work list costs beside its loop, and the memory of a long list."""

import json
import os
import statistics
import subprocess
import time

import loop

AGENT = "cat >/dev/null; date +%s%N >made; echo '<promise>COMPLETE</promise>'"
SAME = ["--check", "true", "--promise", "<promise>COMPLETE</promise>", *loop.LIMITS]


def tasks(count):
    return "".join(f"- [ ] T{number}: a task\n" for number in range(count))


def timed(project, kit, argv):
    start = time.perf_counter()
    project.run(kit, argv)
    return (time.perf_counter() - start) * 1000


def measure(kit, place, size):
    rounds, count = size["work"]
    print(f"A list of {count} tasks, one after another, against as many loops of their own, ms for each task, {rounds} rounds")
    project = loop.Project(place, "work")
    project.write("TASKS.md", tasks(count))
    program = place.ringfence
    times = {"a task of ringfence work": [], "ringfence run": []}
    for number in range(rounds):
        batch = lambda: timed(project, kit, [program, "work", "TASKS.md", "--again", "--jobs", "1", "--agent-command", AGENT, *SAME]) / count
        loops = lambda: sum(timed(project, kit, [program, "run", "a task", "--agent-command", AGENT, *SAME]) for _ in range(count)) / count
        for name, contender in list(zip(times, (batch, loops)))[:: 1 if number % 2 == 0 else -1]:
            times[name].append(contender())
    kit.show(times)
    value = statistics.median(times["a task of ringfence work"]) - statistics.median(times["ringfence run"])
    print(f"  a task adds: {value:.0f} ms   goal: under 50 ms   {'met' if value < 50 else 'missed'}")
    measure_waiting(kit, place, size["waiting"])


def measure_waiting(kit, place, count):
    project = loop.Project(place, "work-waiting")
    project.write("TASKS.md", tasks(count))
    words = [place.ringfence, "work", "TASKS.md", "--jobs", "1", "--agent-command", "sleep 1000", "--check", "true", "--detach"]
    project.run(kit, words)
    try:
        shown = lambda: json.loads(project.run(kit, [place.ringfence, "work", "--show", "--json"]))
        project.until(kit, "the first loop", lambda: any(task["step"] == "running" for task in shown()["tasks"]))
        supervisor = next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and kit.comm(int(pid)) == "ringfence-work"
                          and os.stat(f"/proc/{pid}").st_uid == os.geteuid())
        time.sleep(1)
        before = loop.ticks([supervisor])
        time.sleep(5)
        used = loop.ticks([supervisor]) - before
        kib = kit.pss_kib(supervisor)
        print(f"  a list of {count} tasks, one at work: the supervisor has {kib} KiB, and uses {used} ticks of CPU in 5 s   "
              f"goal: under 16384 KiB, none   {'met' if kib < 16384 and not used else 'missed'}")
    finally:
        subprocess.run([place.ringfence, "work", "--abort"], cwd=project.folder, env=project.env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
