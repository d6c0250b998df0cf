"""Loops in containers: killed at any place, resumed and applied. No container is left, and those of others stay."""

import contextlib
import os
import shutil
import signal

from harness import cases, equal, expect, kernel, needs, timeout
from harness.container import Engine
from harness.loop import Loop, keepers, kill, name_of, until

MECHANISMS = ("podman", "docker")
# The first attempt at iteration 1 waits to be killed; the next one finds its mark and continues.
MEET = {"1": "say try; if [ -e tried ]; then edit step-1 1; else edit tried x; spawn; hang; fi",
        "2": "edit done yes"}
TOGETHER = 5


def begin(t, engine, name="project"):
    loop = Loop(t, name, scripts=MEET)
    loop.detach("--fence", t.mechanism)
    loop.there("tried")
    expect(engine.containers(), "the agent is in a container", loop.status())
    return loop


def complete(t, loop):
    """Resumes the loop, which then completes, and applies its result."""
    equal(loop.ringfence("resume", "--all").code, 0, "exit status of resume")
    loop.ended("completed")
    t.all_gone()
    expect(not os.path.exists(loop.path("done")), "the project is untouched before apply", loop.tree())
    equal(loop.ringfence("apply", "--yes").code, 0, "exit status of apply")
    equal([os.path.exists(loop.path(name)) for name in ("tried", "step-1", "done")], [True] * 3, "the result in the project")


@timeout(300)
def test_a_loop_that_is_killed_in_the_middle_is_resumed_completed_and_applied(t):
    t.leftover_runs = True
    engine = Engine(t)
    loop = begin(t, engine)
    supervisor, runner, keeper = loop.supervisor(), loop.runner(), keepers()[0]
    os.kill(keeper, signal.SIGSTOP)  # otherwise it would be faster than this test
    for pid in (supervisor, keeper, runner):
        kill(pid)
    t.all_gone()
    complete(t, loop)
    equal([(entry["iteration"], entry["attempt"], entry["verdict"]) for entry in loop.history()],
          [(1, 1, "interrupted"), (1, 2, "go on"), (2, 1, "done")], "the iterations")
    engine.empty()


@timeout(300)
def test_an_aborted_loop_leaves_no_container(t):
    engine = Engine(t)
    loop = begin(t, engine)
    equal(loop.ringfence("abort").code, 0, "exit status of abort")
    loop.ended("aborted")
    t.all_gone()
    engine.empty()


@timeout(400)
def test_loops_at_the_same_time_do_not_disturb_each_other(t):
    engine = Engine(t)
    gate = os.path.join(t.home, "gate")
    os.mkdir(gate)
    script = f"edit step-$N $N; until [ -e {gate}/open ]; do sleep 0.2; done; edit done yes"
    loops = [Loop(t, f"project-{number}", scripts={"all": script}) for number in range(TOGETHER)]
    for loop in loops:
        loop.detach("--fence", t.mechanism, "--read", gate)
    until("a container for each", lambda: len(engine.containers()) == TOGETHER)
    t.write(os.path.join(gate, "open"))
    for loop in loops:
        equal(loop.ended("completed")["used"], 1, "its iterations")
        equal(loop.outcome("done"), "yes\n", "its result")
    t.all_gone()
    engine.empty()


# Kills of the processes of one run

def client(t, engine, process, name):
    """One process, or two where podman starts itself again in its user namespace."""
    return until("the client", lambda: [pid for pid, _ in kernel.descendants_of(process.pid) if name_of(pid) == t.mechanism])


def monitor(t, engine, process, name):
    """Podman's conmon or Docker's shim: the parent of the container's first process."""
    first = engine.inspect(name)["State"]["Pid"]
    with open(f"/proc/{first}/stat", encoding="utf-8", errors="replace") as file:
        return [int(file.read().rpartition(")")[2].split()[1])]


def first_process(t, engine, process, name):
    return [engine.inspect(name)["State"]["Pid"]]


VICTIMS = {"ringfence": lambda t, engine, process, name: [process.pid], "client": client, "monitor": monitor,
           "init": first_process, "client and monitor": lambda *which: client(*which) + monitor(*which)}


@needs("busybox")
@timeout(300)
@cases(*VICTIMS)
def test_whatever_is_killed_nothing_is_left_and_other_containers_live_on(t, who):
    t.leftover_runs = True
    engine = Engine(t)
    other = engine.bystander(engine.image("bystander"))
    born = engine.inspect(other)["State"]["StartedAt"]
    process = t.fence_start("sh", "-c", "echo ready; exec sleep 600")
    equal(process.stdout.readline(), b"ready\n", "the command")
    name = engine.started(other)
    before = engine.inspect(name)["State"]["Pid"]
    # Without its monitor, podman removes a container and leaves the record of its runtime.
    record = f"/run/crun/{engine.inspect(name)['Id']}"
    t.cleanups.append(lambda: shutil.rmtree(record, ignore_errors=True))
    for pid in VICTIMS[who](t, engine, process, name):
        os.kill(pid, signal.SIGKILL)
    # The command goes on without some of them, until a person ends it.
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGTERM)
    result = t.finish(process)
    expect(result.code != 0, "it does not claim success", result)
    until("the end of what ran inside", lambda: name_of(before) == "")
    # The next start removes what a killed one has left, when the last process of that has ended.
    until("the removal of the run's folder", lambda: t.works("true") == "" and not t.runs())
    until("the end of all other containers", lambda: engine.containers() == [other])
    state = engine.inspect(other)["State"]
    equal((state["Running"], state["StartedAt"]), (True, born), "the bystander")


@needs("busybox")
@timeout(300)
def test_a_container_with_a_name_like_ours_is_not_removed(t):
    """Only what a record of the state folder names is ringfence's."""
    engine = Engine(t)
    image = engine.image("alike")
    name = f"ringfence-{os.path.basename(t.folder)}"
    engine.works("run", "--detach", "--network", "none", "--name", name, "--label", "org.ringfence.run=1",
                 "--volume", f"{t.outside}:/mnt", image, "sleep", "600")
    t.cleanups.append(lambda: engine.remove(name))
    t.works("true")
    equal(engine.containers(), [name], "the containers")
    equal(engine.inspect(name)["State"]["Running"], True, "its state")
