"""The section `loop` of bench/run.py: the time between two runs of an agent, and the memory of a loop.

The agent is one small script for all contenders; ralphy-cli finds it as `claude` in its PATH. Ralphy has
no check, fence or journal; the others pay for theirs in these figures.
"""

import contextlib
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import time

RALPHY_VERSION = "4.7.2"
AGENT = """#!/bin/bash
s=$EPOCHREALTIME
[ "$1" = --version ] && exit
cat >/dev/null </dev/stdin
echo "$s $EPOCHREALTIME" >>times
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'
"""
LIMITS = ["--max-same-error", "none", "--max-errors", "none", "--max-no-progress", "none"]


def install(kit):
    """Returns ralphy's program for this machine, from the cache; npm installs those for all machines."""
    folder = kit.install_npm(f"ralphy-cli-{RALPHY_VERSION}", [f"ralphy-cli@{RALPHY_VERSION}"])
    dist = os.path.join(folder, "node_modules", "ralphy-cli", "dist")
    ours = f"ralphy-linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}"
    for name in os.listdir(dist):
        if name != ours:
            os.unlink(os.path.join(dist, name))
    return os.path.join(dist, ours)


def prepare(kit, place, peers):
    os.makedirs(os.path.join(place.base, "agents"))
    agent = os.path.join(place.base, "agents", "claude")
    with open(agent, "w", encoding="utf-8") as file:
        file.write(AGENT)
    os.chmod(agent, 0o755)
    if not peers:
        return
    try:
        shutil.copy2(install(kit), os.path.join(place.base, "bin", "ralphy"))
    except kit.NotMeasured as why:
        print(f"ralphy-cli: {why}\n")


def ralphy(kit, place):
    program = os.path.join(place.base, "bin", "ralphy")
    if not os.path.exists(program):
        raise kit.NotMeasured("ralphy-cli is not installed")
    return program


class Project:
    """Makes a project for each contender, with the agent in it."""

    def __init__(self, place, name):
        self.place = place
        self.folder = place.project(name)
        self.env = dict(place.env, PATH=os.path.join(place.base, "agents") + ":" + place.env["PATH"])
        shutil.copy(os.path.join(place.base, "agents", "claude"), os.path.join(self.folder, "agent"))
        os.chmod(os.path.join(self.folder, "agent"), 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text=""):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def loop(self, *words, agent="./agent", check="test -f done"):
        return [self.place.ringfence, "run", "x", "--workspace", "in-place", "--agent-command", agent, "--check", check, *LIMITS, *words]

    def run(self, kit, argv, codes=(0,)):
        done = subprocess.run(argv, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=3600, check=False)
        if done.returncode not in codes:
            raise kit.NotMeasured(f"{' '.join(argv[:3])} ... exited {done.returncode}: {done.stdout.strip()[-300:]}")
        return done.stdout

    def gaps(self):
        """From an agent's last act to the first of the next, in ms."""
        with open(self.path("times"), encoding="utf-8") as file:
            times = [[float(word) for word in line.split()] for line in file]
        os.unlink(self.path("times"))
        return [(after[0] - before[1]) * 1000 for before, after in zip(times, times[1:])]

    def status(self):
        out = subprocess.run([self.place.ringfence, "status", "--json"], cwd=self.folder, env=self.env,
                             stdout=subprocess.PIPE, text=True, check=True).stdout
        return json.loads(out)["loops"][-1]

    def until(self, kit, what, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise kit.NotMeasured(f"{what}: not within {seconds} s")
            time.sleep(0.02)


# ---------------------------------------------------------------- time

def measure(kit, place, size):
    rounds, count = size["loop"]
    print(f"Between two agents: from one's exit to the next one's start, with a check that does nothing, "
          f"{rounds} rounds of {count}")
    fenced, bare = Project(place, "loop-ringfence"), Project(place, "loop-bash")
    contenders = {
        "ringfence run (fence and check)": lambda: fenced.run(kit, fenced.loop("-m", str(count)), (2,)),
        "bare bash loop (check)": lambda: bare.run(kit, [
            kit.tool("bash"), "-c", f"for i in {{1..{count}}}; do ./agent </dev/null; test -f done && break; done; :"]),
    }
    projects = {"ringfence run (fence and check)": fenced, "bare bash loop (check)": bare}
    try:
        name = f"ralphy-cli {RALPHY_VERSION} (neither)"
        other = projects[name] = Project(place, "loop-ralphy")
        program = ralphy(kit, place)
        contenders[name] = lambda: (
            other.write("PRD.md", "".join(f"- [ ] task {number}\n" for number in range(count))),
            other.run(kit, [program, "--fast", "--no-commit", "--prd", "PRD.md"]))
        contenders[name]()
        other.gaps()
    except kit.NotMeasured as why:
        print(f"  ralphy-cli: not measured: {why}")
        contenders.pop(name, None)
    times = {name: [] for name in contenders}
    for number in range(rounds):
        for name in list(contenders)[:: 1 if number % 2 == 0 else -1]:
            contenders[name]()
            times[name] += projects[name].gaps()
    kit.show(times)
    value = statistics.median(times["ringfence run (fence and check)"])
    print(f"  ringfence: {value:.0f} ms   goal: under 80 ms   {'met' if value < 80 else 'missed'}")
    measure_many(kit, place, size["many"])


def measure_many(kit, place, count):
    """Runs this many loops at once; each has two fenced runs and one more."""
    projects = [Project(place, f"many-{number}") for number in range(count)]
    start = time.monotonic()
    waiting = list(projects)
    starting = []
    while waiting or starting:
        while waiting and len(starting) < 8:
            project = waiting.pop()
            starting.append(subprocess.Popen(project.loop("--detach", agent="touch done"), cwd=project.folder,
                                             env=project.env, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        done = starting.pop(0)
        if done.wait() != 0:
            raise kit.NotMeasured(f"a loop did not start: {done.stderr.read().decode()[-300:]}")
        done.stderr.close()
    words = [place.ringfence, "status", "--all", "--json"]

    def left():
        out = subprocess.run(words, cwd=projects[0].folder, env=projects[0].env, stdout=subprocess.PIPE, check=True)
        return [loop for loop in json.loads(out.stdout)["loops"]
                if "/many-" in loop["project"] and loop["status"] != "completed"]

    projects[0].until(kit, f"the end of {count} loops", lambda: not left(), 300)
    print(f"  {count} loops at once: all completed in {time.monotonic() - start:.1f} s")


def measure_long(kit, place, rounds, count, age):
    """Compares a loop that has done many iterations with new ones, in turns: an iteration's cost must not grow."""
    print(f"A loop after {age} iterations against new loops, between two agents, {rounds} rounds of {count}")
    old = Project(place, "long-old")
    old.run(kit, old.loop("-m", str(age)), (2,))
    old.gaps()
    times = {f"iteration {age} and later": [], f"iterations 1 to {count}": []}

    def go_on(number):
        most = str(age + (number + 1) * count)
        old.run(kit, [place.ringfence, "resume", "--follow", "--max-iterations", most], (2,))
        return old.gaps()

    def begin(number):
        new = Project(place, f"long-new-{number}")
        new.run(kit, new.loop("-m", str(count)), (2,))
        return new.gaps()

    for number in range(rounds):
        for name, measure_one in list(zip(times, (go_on, begin)))[:: 1 if number % 2 == 0 else -1]:
            times[name] += measure_one(number)
    kit.show(times)
    value = kit.ratio(times, *times)
    kit.show_ratio(f"iteration {age} / iteration {count}", value, "at most 1.1x", value <= 1.1)


# ---------------------------------------------------------------- memory

# ---------------------------------------------------------------- growth

COMMANDS = ("status", "history", "logs", "cost")
LEDGER_LINE = {"at_ms": 1790000000000, "iteration": 1, "agent": "claude", "route": "messages", "provider": "anthropic",
               "model": "claude-sonnet-4-5", "status": 200, "input": 1000, "output": 500, "write_5m": 0, "write_1h": 0,
               "read": 20000, "cost_nusd": 12345678}


class Grown:
    """A home with this many loops that have ended, all of one project: a real one, and copies with other ids."""

    def __init__(self, kit, place, count):
        self.env = dict(place.env, HOME=os.path.join(place.home, f"grown-{count}"))
        self.project = os.path.join(self.env["HOME"], "project")
        self.program = place.ringfence
        os.makedirs(self.project)
        done = subprocess.run([self.program, "run", "x", "--agent-command", "true", "--check", "false", "-m", "5", *LIMITS],
                              cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 2:
            raise kit.NotMeasured(f"the loop exited {done.returncode}: {done.stdout.strip()[-300:]}")
        self.loops = os.path.join(self.env["HOME"], ".local/state/ringfence/loops")
        first = os.path.join(self.loops, next(name for name in os.listdir(self.loops) if not name.startswith(".")))
        with open(os.path.join(first, "ledger.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(LEDGER_LINE) + "\n" for _ in range(30))
        names = [name for name in os.listdir(first) if os.path.isfile(os.path.join(first, name))]
        for number in range(count - 1):
            folder = os.path.join(self.loops, time.strftime("%Y%m%d-%H%M%S", time.gmtime(1700000000 + number * 977)) + "-copy")
            os.mkdir(folder)
            for name in names:
                shutil.copy2(os.path.join(first, name), folder)
        # A journal that was written in the last seconds is read in the slower way.
        time.sleep(3)

    def argv(self, command):
        return [self.program, command, "--project", self.project]

    def without_index(self):
        for name in (".index", ".costs", ".reopened"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(self.loops, name))


def measure_growth(kit, place, size):
    few, many, rounds = size["growth"]
    print(f"Commands with {few} and {many} loops of one project that have ended, {rounds} rounds")
    small, large = Grown(kit, place, few), Grown(kit, place, many)
    calm = kit.Calm(size["patience_s"])
    times = {}
    for command in COMMANDS:
        for name, grown in ((f"{command}, {few}", small), (f"{command}, {many}", large)):
            times.update(kit.in_turns({name: grown.argv(command)}, rounds, grown.env, calm.wait))
    first = []
    for _ in range(3):
        large.without_index()
        first.append(kit.wall_ms(large.argv("status"), large.env))
    times[f"status, {many}, no index yet"] = first
    kit.show(times)
    for command in COMMANDS:
        value = statistics.median(times[f"{command}, {many}"])
        print(f"  {command} with {many} loops: {value:.1f} ms   goal: under 10 ms   {'met' if value < 10 else 'missed'}")
    ratio = kit.ratio(times, f"status, {many}", f"status, {few}")
    kit.show_ratio(f"status, {many} / {few} loops", ratio, "under 3x", ratio < 3)


def field(pid, file, name):
    with open(f"/proc/{pid}/{file}", encoding="utf-8") as lines:
        return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), 0)


def ticks(pids):
    used = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            used += sum(int(word) for word in file.read().rsplit(")", 1)[1].split()[11:13])
    return used


class Running:
    """Runs a loop in the background, and always ends it."""

    def __init__(self, kit, project, user, *words, agent, check="test -f done"):
        self.kit, self.project, self.user = kit, project, user
        argv = [*user, *project.loop("--detach", *words, agent=agent, check=check)]
        project.run(kit, argv)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.user, self.project.place.ringfence, "abort", "--now"], cwd=self.project.folder,
                       env=self.project.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)

    def status(self):
        out = subprocess.run([*self.user, self.project.place.ringfence, "status", "--json"],
                             cwd=self.project.folder, env=self.project.env, stdout=subprocess.PIPE,
                             text=True, check=True).stdout
        return json.loads(out)["loops"][-1]

    def pids(self):
        """Keeper and supervisor."""
        supervisor = self.status()["supervisor_pid"]
        with open(f"/proc/{supervisor}/stat", encoding="utf-8", errors="replace") as file:
            return [int(file.read().rsplit(")", 1)[1].split()[1]), supervisor]


def owned(place, name, user, uid):
    project = Project(place, name)
    if user:
        for path in (project.folder, project.path("agent")):
            os.chown(path, uid, uid)
    return project


def weigh(kit, pids):
    parts = [(kit.comm(pid), kit.pss_kib(pid)) for pid in pids]
    return sum(kib for _, kib in parts), ", ".join(f"{name} {kib}" for name, kib in parts)


def measure_idle(kit, place, user, uid):
    project = owned(place, "loop-idle", user, uid)
    agent = "echo '{\"type\": \"limit\", \"text\": \"try again in 2 hours\"}'"
    with Running(kit, project, user, "--agent-format", "events", agent=agent) as loop:
        project.until(kit, "a wait", lambda: loop.status()["status"] == "waiting")
        pids = loop.pids()
        before = ticks(pids)
        time.sleep(3)
        kib, parts = weigh(kit, pids)
        print(f"  a loop that waits: {kib} KiB ({parts}), {ticks(pids) - before} ticks of CPU in 3 s   "
              f"goal: at most 8192 KiB, none   {'met' if kib <= 8192 else 'missed'}")


def measure_working(kit, place, user, uid):
    """Measures all other processes while the agent, a sleep, runs."""
    project = owned(place, "loop-working", user, uid)
    with Running(kit, project, user, agent="exec sleep 60") as loop:
        pids = loop.pids()

        def below():
            with contextlib.suppress(OSError):
                return {pid: kit.comm(pid) for pid in kit.processes_below(pids[0])}
            return {}
        project.until(kit, "a sleep", lambda: "sleep" in below().values())
        ours, parts = weigh(kit, [pid for pid, name in below().items() if name != "sleep"])
    print(f"  ringfence, at work: {ours} KiB: {parts}")
    other = owned(place, "loop-ralphy-memory", user, uid)
    other.write("PRD.md", "- [ ] one\n")
    agents = os.path.join(place.base, "sleepers")
    os.makedirs(agents, exist_ok=True)
    with open(os.path.join(agents, "claude"), "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\n[ "$1" = --version ] && exit\nexec sleep 60\n')
    os.chmod(os.path.join(agents, "claude"), 0o755)
    env = dict(other.env, PATH=agents + ":" + place.env["PATH"])
    try:
        found = kit.resident([*user, ralphy(kit, place), "--fast", "--no-commit"], env, other.folder)
    except kit.NotMeasured as why:
        print(f"  ralphy-cli: not measured: {why}")
        return
    theirs = sum(kib for _, kib in found)
    print(f"  ralphy-cli, at work: {theirs} KiB: " + ", ".join(f"{name} {kib}" for name, kib in found))
    kit.show_ratio("ralphy / ringfence", theirs / max(1, ours), "at least 10x", theirs >= 10 * ours)


def measure_flood(kit, place, user, uid, size):
    project = owned(place, "loop-flood", user, uid)
    agent = f"head -c {size} /dev/zero; touch flooded; while [ ! -e go ]; do sleep 0.1; done; touch done"
    start = time.monotonic()
    with Running(kit, project, user, "--idle-timeout", "none", agent=agent) as loop:
        project.until(kit, "the flood", lambda: os.path.exists(project.path("flooded")), 300)
        took = time.monotonic() - start
        supervisor = loop.pids()[1]
        peak = field(supervisor, "status", "VmHWM")
        project.write("go")
        project.until(kit, "its end", lambda: loop.status()["status"] == "completed")
    print(f"  an agent that prints {size >> 20} MiB ({took:.1f} s): the supervisor's peak is {peak} KiB   "
          f"goal: at most 32768 KiB   {'met' if peak <= 32768 else 'missed'}")


def measure_memory(kit, place, user, uid, size):
    print("Memory of a loop (PSS: shared pages counted once)")
    signal.signal(signal.SIGTERM, lambda *_: exit(1))
    measure_idle(kit, place, user, uid)
    measure_working(kit, place, user, uid)
    measure_flood(kit, place, user, uid, size["flood"])
