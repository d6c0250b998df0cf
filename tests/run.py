#!/usr/bin/python3
"""Runs every test: the units (plain and sanitized), the source checks, and escape/ and e2e/ both as
root and as a plain user, who gets a copy of the built tree. Leaves nothing behind, and checks that.

With --agents: the real agents instead (tests/agents), which tests/agents/install has installed.
"""

import argparse
import contextlib
import fcntl
import glob
import itertools
import json
import os
import re
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)

from harness import case, kernel, scheduler  # noqa: E402

# A uid that no passwd file knows: such users exist in containers, and nothing may depend on a name.
PLAIN_UID = 12321
WORKERS = 3
PROGRAMS = ("ringfence", "ringfence-init", "ringfence-snapshot", "ringfence-gateway", "ringfence-agent", "tests/gateway_owner")
UNIT_TIMEOUT_S = 300
TEMP_PREFIX = "rft."


def sanitized_build(verbose):
    """The units once more, with ASan and UBSan. Returns an error text or None."""
    folder = os.path.join(ROOT, "build-asan")
    steps = []
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        steps.append(["meson", "setup", folder, "-Db_sanitize=address,undefined",
                      "-Dbuildtype=debug", "-Db_lundef=false"])
    steps.append(["ninja", "-C", folder, "unit-tests"])
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if verbose:
            print(done.stdout)
        if done.returncode:
            return f"{' '.join(step)}\n{done.stdout[-3000:]}"
    return None


def one_result(name, sentence, outcome, text="", seconds=0.0):
    return {"name": name, "sentence": sentence, "outcome": outcome, "text": text,
            "seconds": seconds}


def unit_lines(program, label):
    """The results that one unit program prints, one a line."""
    try:
        done = subprocess.run([program], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=UNIT_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        yield one_result(label, "ends in time", "failed", f"ran longer than {UNIT_TIMEOUT_S} s")
        return
    text = done.stdout.decode(errors="replace")
    count = failed = 0
    for line in text.splitlines():
        match = re.match(r"(ok|not ok)\b(?:\s+\d+)?(?:\s*-\s*)?(.*)", line)
        skip = re.search(r"#\s*skip\b[:\s]*(.*)", line, re.IGNORECASE)
        if not match and not skip:
            continue
        count += 1
        sentence = match.group(2) if match else line
        if skip:
            yield one_result(label, sentence, "skipped", skip.group(1) or "no reason given")
        elif match.group(1) == "ok":
            yield one_result(label, sentence, "passed")
        else:
            failed += 1
            yield one_result(label, sentence, "failed", text[-3000:])
    if done.returncode and not failed:
        yield one_result(label, f"ends with 0, not {done.returncode}", "failed", text[-3000:])
    elif not count:
        yield one_result(label, "says what it tests", "failed", text[-3000:])


def unit_results(options, note):
    wanted = lambda name: options.keyword in name  # noqa: E731
    plain = sorted(glob.glob(os.path.join(ROOT, "build/tests/unit_*")))
    programs = [(p, "unit") for p in plain if os.access(p, os.X_OK) and os.path.isfile(p)]
    if programs and any(wanted(f"unit-asan:{os.path.basename(p)}") for p, _ in programs):
        note("building the units with sanitizers")
        error = sanitized_build(options.verbose)
        if error:
            yield one_result("unit-asan", "the sanitized units build", "failed", error)
        else:
            programs += [(p, "unit-asan") for p
                         in sorted(glob.glob(os.path.join(ROOT, "build-asan/tests/unit_*")))
                         if os.access(p, os.X_OK) and os.path.isfile(p)]
    for program, kind in programs:
        label = f"{kind}:{os.path.basename(program)[5:]}"
        if wanted(f"{kind}:{os.path.basename(program)}"):
            yield from unit_lines(program, label)


def script_results(options):
    for script in ("check-errors", "check-includes", "check-paths", "check-reference"):
        for args in ([], ["--self-test"]):
            name = f"scripts:{script}"
            if options.keyword not in name:
                continue
            path = os.path.join(ROOT, "scripts", script)
            if not os.path.exists(path):
                yield one_result(name, " ".join([script, *args]), "failed", "it does not exist")
                continue
            done = subprocess.run([path, *args], cwd=ROOT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=UNIT_TIMEOUT_S, check=False)
            outcome = "failed" if done.returncode else "passed"
            yield one_result(name, " ".join([script, *args]), outcome,
                             done.stdout.decode(errors="replace")[-3000:])


def compile_attack(folder):
    program = os.path.join(folder, "attack")
    sources = sorted(glob.glob(os.path.join(TESTS, "escape/attack*.c")))
    subprocess.run(["cc", "-static", "-O1", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-o",
                    program, *sources], check=True)
    os.chmod(program, 0o755)
    return program


def copy_of_tree(folder, uid):
    """A tree that the identity owns: the programs and the tests. A build meanwhile does not disturb."""
    os.makedirs(os.path.join(folder, "build"))
    for program in PROGRAMS:
        shutil.copy(os.path.join(ROOT, "build", program), os.path.join(folder, "build"))
    shutil.copytree(os.path.join(ROOT, "build/demo"), os.path.join(folder, "build/demo"))
    shutil.copytree(TESTS, os.path.join(folder, "tests"),
                    ignore=shutil.ignore_patterns("__pycache__", "unit", "fuzz"))
    for base, folders, files in os.walk(folder):
        for name in [base, *(os.path.join(base, n) for n in folders + files)]:
            os.chown(name, uid, uid, follow_symlinks=False)


def spread(folder):
    """Lets ext4 put each folder below into another group of inodes.

    Where thousands of files come and go, it looks through all inodes that were freed lately before it takes
    one: half of the suite's time. Elsewhere this means nothing.
    """
    get_flags, set_flags, top_of_hierarchies = 0x80086601, 0x40086602, 0x20000
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            flags = struct.unpack("L", fcntl.ioctl(fd, get_flags, bytes(8)))[0]
            fcntl.ioctl(fd, set_flags, struct.pack("L", flags | top_of_hierarchies))
        finally:
            os.close(fd)


class Server:
    """A process that runs escape/ and e2e/ under one identity."""

    def __init__(self, identity, temp, attack, options):
        self.identity = identity
        self.folder = os.path.join(temp, identity[0])
        self.pending = b""
        os.makedirs(self.folder)
        spread(self.folder)
        tree = os.path.join(temp, f"{identity}-tree")
        uid = PLAIN_UID if identity == "user" and os.getuid() == 0 else os.getuid()
        copy_of_tree(tree, uid)
        argv = []
        if uid != os.getuid():
            os.chown(self.folder, uid, uid)
            argv = ["setpriv", "--reuid", str(PLAIN_UID), "--regid", str(PLAIN_UID),
                    "--clear-groups", "--"]
        config = {"identity": identity, "folder": self.folder, "attack": attack,
                  "build": os.path.join(tree, "build")}
        argv += ["/usr/bin/python3", os.path.join(tree, "tests/run.py"), "--serve",
                 json.dumps(config), "-k", options.keyword, "-j", str(options.workers)]
        argv += ["--agents"] if options.agents else []
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": self.folder, "LANG": "C.UTF-8",
               "RINGFENCE_TEST_MARK": os.path.basename(temp),
               **{name: os.environ[name] for name in ("RINGFENCE_TEST_AGENTS", "RINGFENCE_TEST_CAPTURE")
                  if name in os.environ}}
        self.process = subprocess.Popen(argv, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE)

    def results(self):
        """Reads what is there; returns (results, whether more may come)."""
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        *lines, self.pending = (self.pending + data).split(b"\n")
        return [json.loads(line) for line in lines], bool(data)


class Tally:
    def __init__(self, verbose):
        self.verbose = verbose
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.skips = {}
        self.live = sys.stdout.isatty()
        self.lock = threading.RLock()  # the units run beside the rest
        self.began = time.monotonic()

    def clear(self):
        if self.live:
            print("\r\x1b[K", end="")

    def note(self, text):
        with self.lock:
            self.clear()
            print(f"-- {text}", flush=True)

    def add(self, result):
        with self.lock:
            self.count(result)

    def count(self, result):
        outcome = result["outcome"]
        self.counts[outcome] += 1
        self.clear()
        if outcome == "failed":
            text = "\n    ".join(result["text"].rstrip().splitlines())
            text = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
            print(f"FAILED {result['name']}: {result['sentence']}\n    {text}", flush=True)
        elif outcome == "skipped":
            key = (result["name"].rpartition(" as ")[0] or result["name"], result["text"])
            self.skips.setdefault(key, []).append(result)
        if self.verbose and outcome != "failed":
            print(f"{outcome} {result['name']}: {result['sentence']} ({result['seconds']} s)",
                  flush=True)
        if self.live:
            print(self.line(), end="", flush=True)
        elif sum(self.counts.values()) % 100 == 0:
            print(f"-- {self.line()} so far", flush=True)

    def line(self):
        return "{passed} passed, {failed} failed, {skipped} skipped".format(**self.counts)

    def finish(self):
        self.clear()
        for (name, reason), results in self.skips.items():
            who = [r["name"].rpartition(" as ")[2] for r in results if " as " in r["name"]]
            print(f"skipped {name}{' as ' + ', '.join(sorted(set(who))) if who else ''}: {reason}")
        print(f"-- {time.monotonic() - self.began:.0f} s")
        print(self.line())
        ran = self.counts["passed"] + self.counts["failed"]
        return 0 if ran and not self.counts["failed"] else 1


def marked_processes(mark):
    """Processes that carry the run's mark: in their command line, environment, or folder."""
    found = []
    needle = mark.encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
                if needle in file.read():
                    found.append((int(pid), kernel.command_line(int(pid))))
                    break
        else:
            with contextlib.suppress(OSError):
                if mark in os.readlink(f"/proc/{pid}/cwd"):
                    found.append((int(pid), kernel.command_line(int(pid))))
    return found


def end_children():
    """Whatever is still below this process; returns what there was."""
    seen = {}
    left = kernel.wait_for_children(20)
    while left:
        seen.update(left)
        for pid, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # What the dead leave behind comes to this process and is met on the next round.
        left = kernel.wait_for_children(1)
    return list(seen.items())


def leftovers(temp):
    """What a run must not leave; each as one failed result."""
    mark = os.path.basename(temp)
    for pid, command in end_children() + marked_processes(mark):
        yield one_result("leftovers", "no process is left", "failed", f"{pid}: {command}")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if mark in line:
                yield one_result("leftovers", "no mount is left", "failed", line)
    scheduler.remove_tree(temp)
    if os.path.lexists(temp):
        yield one_result("leftovers", "no file is left", "failed", temp)


def make_temp():
    """Named without chance: letters of a random name end like a file that must not be there, or spell a word."""
    for number in itertools.count(1):
        with contextlib.suppress(FileExistsError):
            temp = os.path.join(tempfile.gettempdir(), f"{TEMP_PREFIX}{os.getpid()}.{number}")
            os.mkdir(temp, 0o711)
            return temp


def remove_stale():
    """Folders of runs that were killed -9."""
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), f"{TEMP_PREFIX}*.*")):
        pid = os.path.basename(folder).split(".")[1]
        with contextlib.suppress(OSError):
            if (pid.isdigit() and not os.path.exists(f"/proc/{pid}")
                    and os.lstat(folder).st_uid == os.getuid()):
                scheduler.remove_tree(folder)


def identities(options, tally):
    if options.agents: # they are installed for one user, and the fence never runs them as root
        return ["root" if os.getuid() == 0 else "user"]
    if os.getuid() != 0:
        if not options.user_only:
            tally.add(one_result("root", "escape/ and e2e/ as root", "skipped",
                                 "not run as root; run it as root for both"))
        return [] if options.root_only else ["user"]
    return [who for who, other in (("root", options.user_only), ("user", options.root_only))
            if not other]


def run_servers(servers, tally):
    with selectors.DefaultSelector() as selector:
        for server in servers:
            selector.register(server.process.stdout, selectors.EVENT_READ, server)
        while selector.get_map():
            for key, _ in selector.select():
                results, more = key.data.results()
                for result in results:
                    tally.add(result)
                if not more:
                    selector.unregister(key.fileobj)
                    if key.data.process.wait() != 0:
                        tally.add(one_result(key.data.identity, "the suite runs to its end",
                                             "failed", "its process died; see above"))


def run_units(options, tally):
    """The scripts and the units, beside escape/ and e2e/, which mostly wait."""
    try:
        for result in script_results(options):
            tally.add(result)
        for result in unit_results(options, tally.note):
            tally.add(result)
    except Exception:
        tally.add(one_result("unit", "the suite runs to its end", "failed", traceback.format_exc()))


def run_everything(options, temp, tally):
    units = threading.Thread(target=run_units, args=(options, tally), daemon=True)
    if not (options.user_only or options.root_only or options.agents):
        units.start()
    for program in PROGRAMS:
        if not os.access(os.path.join(ROOT, "build", program), os.X_OK):
            tally.add(one_result("build", f"build/{program} is built", "failed", "run make first"))
            break
    else:
        attack = compile_attack(temp)
        run_servers([Server(who, temp, attack, options) for who in identities(options, tally)],
                    tally)
    if units.is_alive():
        units.join()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-k", dest="keyword", default="", metavar="TEXT",
                        help="only tests whose name contains TEXT")
    parser.add_argument("-v", dest="verbose", action="store_true", help="show every test")
    parser.add_argument("-j", dest="workers", type=int, default=WORKERS, metavar="N",
                        help="tests at once for each identity (%(default)s)")
    parser.add_argument("--user-only", action="store_true", help="escape/ and e2e/ as a user only")
    parser.add_argument("--root-only", action="store_true", help="escape/ and e2e/ as root only")
    parser.add_argument("--agents", action="store_true", help="the real agents, and nothing else")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    if options.serve:
        config = json.loads(options.serve)
        found = [c for c in case.load(TESTS, *([("agents",)] if options.agents else []))
                 if options.keyword in c.name and c.concerns(config["identity"])]
        scheduler.serve(found, config, options.workers)
        return 0
    os.umask(0o022)
    kernel.become_subreaper()
    # Whoever starts this in the background may have signals ignored; the tests send some.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    remove_stale()
    temp = make_temp()
    tally = Tally(options.verbose)
    try:
        run_everything(options, temp, tally)
    finally:
        for result in leftovers(temp):
            tally.add(result)
        status = tally.finish()
    return status


if __name__ == "__main__":
    sys.exit(main())
