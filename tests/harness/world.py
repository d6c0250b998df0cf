"""The world of one test: a home with a project in it, and ways to run things in and out of the fence."""

import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from . import fences, kernel
from .case import SANITIZED_SLOWER, Failure, Skip
from .expect import expect, shorten
from .patience import Patience
from .terminal import Terminal

RUN_TIMEOUT_S = 60  # limits are meant for hangs, not for slow machines
BWRAP = "/usr/bin/bwrap"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
GREETING = b"hello from the host"
SANITIZER_REPORT = re.compile(r"ERROR: AddressSanitizer|: runtime error: |UndefinedBehaviorSanitizer")


# `auto` must not find the machine's own engines where a test takes bwrap away.
NO_ENGINES = {"RINGFENCE_PODMAN": "/nonexistent/podman", "RINGFENCE_DOCKER": "/nonexistent/docker"}

class Result:
    def __init__(self, argv, code, out, err):
        self.argv = argv
        # As a shell reports it.
        self.code = 128 - code if code < 0 else code
        self.out = out.decode(errors="surrogateescape")
        self.err = err.decode(errors="surrogateescape")

    def __str__(self):
        command = " ".join(map(str, self.argv))
        return (f"$ {shorten(command, 600)}\nexit status {self.code}\n"
                f"stdout: {shorten(self.out)!s}\nstderr: {shorten(self.err)!s}")


class World:
    def __init__(self, folder, identity, build, attack, fence="", engines=()):
        self.identity = identity
        self.asked = fence  # the mechanism that each start of ringfence asks for, or nothing
        self.mechanism = fence or fences.USUAL
        self.engines = dict(engines)  # the environment in which podman and docker find their folders
        self.folder = folder
        self.build = build
        self.ringfence = os.path.join(build, "ringfence")
        self.home = os.path.join(folder, "home")
        self.project = os.path.join(self.home, "project")
        self.outside = os.path.join(folder, "outside")
        self.state = os.path.join(self.home, ".local/state/ringfence")
        self.sanitized = os.path.exists(os.path.join(build, "sanitizer.log"))
        self.attack_source = attack
        self.attack = os.path.join(self.project, "attack")
        self.running = []
        self.servers = []
        self.cleanups = []
        self.results = collections.deque(maxlen=3)
        # A test that kills ringfence -9 leaves its run's folder behind by design.
        self.leftover_runs = False
        os.makedirs(self.project)
        os.makedirs(self.outside)
        os.chmod(folder, 0o755)
        shutil.copy(attack, self.attack)

    # Files

    def path(self, name):
        return os.path.join(self.project, name)

    def write(self, name, text="", mode=None):
        """Writes a file of the project (or an absolute path) and returns its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode(errors="surrogateescape"))
        if mode is not None:
            os.chmod(path, mode)
        return path

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read().decode(errors="surrogateescape")

    def unmade(self, folder):
        """A path of the host that must not be created; removed if the fence fails."""
        path = os.path.join(folder, f"ringfence-test-{os.getpid()}-{self.identity}")
        self.cleanups.append(lambda: os.path.lexists(path) and os.unlink(path))
        return path

    def at_home(self, name, text="the secret", mode=0o600):
        return self.write(os.path.join(self.home, name), text, mode)

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def script(self, name, text, folder=None):
        return self.write(os.path.join(folder or self.outside, name), text, 0o755)

    def quarantined(self, name=""):
        """Paths of the quarantine, relative to a run's folder, that end in name."""
        root = os.path.join(self.state, "quarantine")
        found = []
        for base, _, files in os.walk(root):
            for file in files:
                full = os.path.join(base, file)
                relative = os.path.relpath(full, root).split(os.sep, 1)[1]
                if relative.endswith(name):
                    found.append(full)
        return found

    def runs(self):
        try:
            return os.listdir(os.path.join(self.state, "runs"))
        except FileNotFoundError:
            return []

    # Running

    def env(self, **changes):
        env = {"PATH": PATH, "HOME": self.home, "LANG": "C.UTF-8", "TERM": "dumb",
               "RINGFENCE_TEST_MARK": os.path.basename(os.path.dirname(os.path.dirname(self.folder)))}
        env.update(self.engines or NO_ENGINES)
        env.update(changes)
        return {name: value for name, value in env.items() if value is not None}

    def start(self, argv, env=None, **options):
        options.setdefault("cwd", self.project)
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("bufsize", 0)  # communicate() does not see what readline() has buffered
        argv = fences.argv_with(argv, self.ringfence, self.asked)
        process = subprocess.Popen(argv, env=env or self.env(), start_new_session=True, **options)
        self.running.append(process)
        return process

    def finish(self, process, input=None, timeout=RUN_TIMEOUT_S):
        out, err = self.communicate(process, input, timeout)
        self.results.append(Result(process.args, process.returncode, out or b"", err or b""))
        return self.results[-1]

    def communicate(self, process, input=None, timeout=RUN_TIMEOUT_S):
        """Both outputs, at the end of the process, which must come."""
        limit = Patience(timeout * (SANITIZED_SLOWER if self.sanitized else 1))
        while True:
            try:
                return process.communicate(input, max(1, limit.left()))
            except subprocess.TimeoutExpired as expired:
                if limit.left() > 0:
                    input = None  # the process has it already, or will get the rest
                    continue
                self.kill(process)
                raise Failure(f"did not end within {timeout} s: {shorten(process.args, 600)}\n"
                              f"stdout: {expired.stdout!r}\nstderr: {expired.stderr!r}") from None

    def run(self, argv, input=None, timeout=RUN_TIMEOUT_S, **options):
        """Outside of the fence."""
        if isinstance(input, str):
            input = input.encode()
        if input is not None:
            options["stdin"] = subprocess.PIPE
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return self.finish(self.start(argv, **options), input, timeout)

    def fence_argv(self, *command, opts=()):
        return [self.ringfence, "exec", *opts, "--", *command]

    def fence(self, *command, opts=(), **options):
        """Inside: `ringfence exec OPTS -- COMMAND`, from the project."""
        return self.run(self.fence_argv(*command, opts=opts), **options)

    def fence_start(self, *command, opts=(), **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return self.start(self.fence_argv(*command, opts=opts), **options)

    def sh(self, script, opts=(), **options):
        """A shell script inside."""
        return self.fence("sh", "-c", script, opts=opts, **options)

    def works(self, *command, opts=(), **options):
        """Runs inside, must end with 0; returns stdout."""
        result = self.fence(*command, opts=opts, **options)
        expect(result.code == 0, "should work inside", result)
        return result.out

    def report(self, *command, opts=(), **options):
        """Runs inside with --report; returns (result, the report)."""
        file = os.path.join(self.outside, "report.json")
        result = self.fence(*command, opts=("--report", file, *opts), **options)
        try:
            with open(file, encoding="utf-8") as stream:
                return result, json.load(stream)
        except (OSError, ValueError) as error:
            raise Failure(f"no valid report: {error}\n{result}") from None

    def needs_counted_writes(self):
        """For a limit of bytes written to disks: a tmpfs has none, and some file systems count none."""
        _, report = self.report("sh", "-c", "dd if=/dev/zero of=counted bs=64K count=2 conv=fsync; rm counted")
        if not report["use"]["disk_written"]:
            raise Skip("this file system does not count what is written")

    def tty(self, argv, **options):
        options.setdefault("env", self.env(TERM="xterm"))
        options.setdefault("cwd", self.project)
        terminal = Terminal(fences.argv_with(argv, self.ringfence, self.asked), **options)
        self.running.append(terminal.process)
        return terminal

    def bwrap_argv(self, *command, binds=()):
        """A sandbox without restrictions, in which the caller has every capability over its own namespaces."""
        return [BWRAP, "--dev-bind", "/", "/", "--unshare-user", "--unshare-net", "--unshare-pid",
                "--uid", "0", "--gid", "0", "--cap-add", "ALL", *binds, "--", *command]

    def sleeper(self):
        """A process of the host that the tests may try to harm."""
        return self.start(["sleep", "600"])

    def spent(self):
        """CPU time of what has ended so far, in seconds: independent of other load."""
        if self.sanitized:
            raise Skip("sanitizers take CPU time, so it cannot be measured")
        return sum(os.times()[2:4])

    def all_gone(self, timeout=30):
        """Waits until no process is left that this test started, however indirectly."""
        left = kernel.wait_for_children(timeout)
        expect(not left, f"processes are left after {timeout} s", left)

    def kill(self, process):
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                process.kill()
            process.wait()

    # The host around the fence

    def own_mounts(self):
        """Mounts made from here on are seen by this test alone and end with it."""
        try:
            kernel.own_mounts()
        except OSError as error:
            raise Skip(f"no mount namespace for the test: {error}") from None

    def own_network(self):
        """From here on this test has a network with nothing in it but a loopback."""
        try:
            kernel.own_network()
        except OSError as error:
            raise Skip(f"no network namespace for the test: {error}") from None

    def tmpfs(self, target, size="1m"):
        os.makedirs(target, exist_ok=True)
        kernel.mount("tmpfs", target, "tmpfs", 0, f"mode=755,size={size}")

    def own_tmp(self):
        """An empty /tmp for this test, in which only what the test needs is at its old place."""
        fresh = os.path.join(self.folder, "tmp")
        os.mkdir(fresh)
        keep = {p for p in (self.folder, self.build, os.path.dirname(self.attack_source))
                if p.startswith("/tmp/")}
        kernel.mount("tmpfs", fresh, "tmpfs", 0, "mode=1777")
        for path in sorted(keep):
            target = os.path.join(fresh, os.path.relpath(path, "/tmp"))
            os.makedirs(target, exist_ok=True)
            kernel.mount(path, target, None, kernel.MS_BIND)
        kernel.mount(fresh, "/tmp", None, kernel.MS_MOVE)
        os.chdir(self.project)

    def serve(self, address, kind=socket.SOCK_STREAM, family=socket.AF_UNIX, handle=None):
        """A server on the host, in a thread; returns its bound socket.

        It greets every client, unless `handle(connection)` is given.
        """
        server = socket.socket(family, kind)
        self.servers.append(server)
        if family == socket.AF_UNIX and isinstance(address, str):
            os.makedirs(os.path.dirname(address), exist_ok=True)
        if family != socket.AF_UNIX:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        if family == socket.AF_UNIX and isinstance(address, str):
            os.chmod(address, 0o777)
        if kind == socket.SOCK_STREAM:
            server.listen(64)
            self.answer(server, handle or _greet)
        elif family != socket.AF_UNIX:
            threading.Thread(target=_answer_datagrams, args=(server,), daemon=True).start()
        return server

    def held_port(self):
        """Reserves a port of 127.0.0.1 until the test ends. Nothing listens there, unless the test does."""
        held = socket.socket()
        self.servers.append(held)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]

    def one_day(self):
        """Returns when at least a minute of the day is left."""
        while (now := time.localtime()).tm_hour == 23 and now.tm_min == 59:
            time.sleep(60 - min(now.tm_sec, 59))

    def answer(self, server, handle):
        """Serves a listening socket in threads: handle(connection) for each client."""
        threading.Thread(target=_answer_streams, args=(server, handle), daemon=True).start()

    # The end

    def account(self, known):
        """The last events, for finding the cause of a failure; without those already shown."""
        told = [str(result) for result in self.results if str(result) not in known]
        told[:0] = ["what ran last:"] * bool(told)
        for name in ("supervisor.log", "state.json", "iterations/*/stderr.log"):
            for path in sorted(glob.glob(os.path.join(self.state, "loops/*", name))):
                with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read()
                    told += [f"{os.path.relpath(path, self.state)}: {text[-1500:]}"] if text.strip() else []
        return told

    def sanitizer_reports(self):
        """Reports of programs in a fence, which can only write them to standard error."""
        texts = [str(result) for result in self.results]
        for path in glob.glob(os.path.join(self.state, "loops/*/iterations/*/stderr.log")):
            with contextlib.suppress(OSError), open(path, errors="replace") as file:
                texts.append(file.read())
        return [text for text in texts if self.sanitized and SANITIZER_REPORT.search(text)]

    def end(self):
        """Ends what the test started; returns complaints about what ringfence left behind."""
        for cleanup in reversed(self.cleanups):
            cleanup()
        for process in self.running:
            self.kill(process)
        complaints = []
        complaints += self.sanitizer_reports()
        if not self.leftover_runs and self.runs():
            complaints.append(f"folders of runs are left in the state: {self.runs()}")
        return complaints


def _greet(connection):
    connection.sendall(GREETING)


def _answer_streams(server, handle):
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_converse, args=(connection, handle), daemon=True).start()


def _converse(connection, handle):
    with connection:
        try:
            handle(connection)
        except OSError:
            pass


def _answer_datagrams(server):
    while True:
        try:
            _, peer = server.recvfrom(2048)
            server.sendto(GREETING, peer)
        except OSError:
            return
