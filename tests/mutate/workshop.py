"""A copy of the checkout in which mutants are built and tested.

Units are built with sanitizers, which also notice leaks; programs are built without. Neither build
has warnings, optimization or debug information to speak of: what counts is the time of one file.
Units are linked one by one, so that the first failure ends the work on a mutant.
"""

import contextlib
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import kernel  # noqa: E402

TREE = os.path.join(ROOT, "build-mutate")
QUICK = ["-Dbuildtype=plain", "-Doptimization=1", "-Ddebug=false", "-Dwerror=false",
         "-Dwarning_level=0", "-Dc_args=-w"]
BUILDS = {"build": QUICK,
          "build-asan": [*QUICK, "-Db_sanitize=address,undefined", "-Db_lundef=false"]}
PROGRAMS = ("ringfence", "ringfence-init", "ringfence-snapshot", "ringfence-gateway",
            "ringfence-agent", "ringfence-https", "ringfence-serve", "tests/gateway_owner", "tests/https_caller")
BUILD_LIMIT_S = 1800
MUTANT_BUILD_LIMIT_S = 300
# A mutant that takes this many times as long as the original hangs.
PATIENCE = 5
SHORTEST_LIMIT_S = 20
GRACE_S = 30


class Failed(Exception):
    """The unchanged sources do not build, or their tests fail."""


def _run(argv, limit_s, begin=None):
    """Returns (status, output); a status of None means that the time was up. begin: called in the
    child."""
    with subprocess.Popen(argv, cwd=TREE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True,
                          preexec_fn=begin) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            _end(process)
            for folder in glob.glob(f"/tmp/ringfence-unit-{process.pid}-*"):
                print(f"mutate: left by {argv[0]}, and removed: {folder}", flush=True)
                shutil.rmtree(folder, ignore_errors=True)


def _end(process):
    """Ends a command that still runs, and its children; tests/run.py cleans up when it is asked to
    end."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)


def _listed():
    text = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    return [path for path in text.split("\0")
            if path and os.path.isfile(os.path.join(ROOT, path))]


def _same(one, other):
    with open(one, "rb") as a, open(other, "rb") as b:
        return a.read() == b.read()


def copy():
    """Copies what has changed since the last time, and removes what is gone."""
    listed = set(_listed())
    for base, folders, files in os.walk(TREE):
        if base == TREE:
            folders[:] = [name for name in folders if name not in BUILDS]
        for name in files:
            path = os.path.relpath(os.path.join(base, name), TREE)
            if path not in listed:
                os.unlink(os.path.join(TREE, path))
    for path in listed:
        source, target = os.path.join(ROOT, path), os.path.join(TREE, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or not _same(source, target):
            shutil.copy(source, target)


def _set_up(build):
    if not os.path.exists(os.path.join(TREE, build, "build.ninja")):
        status, output = _run(["meson", "setup", build, *BUILDS[build]], BUILD_LIMIT_S)
        if status != 0:
            raise Failed(output)


def _ninja(build, targets, limit_s):
    return _run(["ninja", "-C", build, "--quiet", *targets], limit_s)[0] == 0


def _digest(path):
    with open(os.path.join(TREE, path), "rb") as file:
        return hashlib.sha256(file.read()).digest()


def _objects(build):
    """{path of a source: the objects that are compiled from it}"""
    folder, result = os.path.join(TREE, build), {}
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            path = os.path.relpath(os.path.join(folder, entry["file"]), TREE)
            result.setdefault(path, []).append(entry["output"])
    return result


def _includes(unit, path):
    """Whether a unit test includes a source or its header."""
    stem = os.path.splitext(os.path.basename(path))[0]
    with open(os.path.join(TREE, "tests/unit", os.path.basename(unit) + ".c"), encoding="utf-8") as file:
        return any(line.endswith((f'/{stem}.h"', f'/{stem}.c"')) for line in file.read().splitlines())


class Tests:
    """The tests of a room, in the order in which they run."""

    def __init__(self, room, units_only):
        self.units = [f"tests/unit_{name}" for name in room.units]
        self.files = [] if units_only else list(room.files)
        self.limits_s = {}
        self.digests = {}
        self.objects = {}

    def prepare(self):
        """Builds everything and runs the tests without a mutant, to know how long they take."""
        if self.units:
            _set_up("build-asan")
            if not _ninja("build-asan", self.units, BUILD_LIMIT_S):
                raise Failed("the units do not build")
            self.objects = _objects("build-asan")
        if self.files:
            _set_up("build")
            if not _ninja("build", ["all", *PROGRAMS], BUILD_LIMIT_S):
                raise Failed("the programs do not build")
        for unit in self.units:
            self._time(unit, lambda unit=unit: self._unit(unit))
            self.digests[unit] = _digest(f"build-asan/{unit}")
        if self.files:
            self._time("files", self._pytest)

    def _time(self, name, run):
        began = time.monotonic()
        notice = run()
        if notice:
            raise Failed(f"fails without a mutant: {notice}")
        self.limits_s[name] = SHORTEST_LIMIT_S + PATIENCE * (time.monotonic() - began)

    def _unit(self, unit):
        """The first failure of a unit test, or None."""
        status, output = _run([f"build-asan/{unit}"], self.limits_s.get(unit, BUILD_LIMIT_S),
                              kernel.skip_syncs if os.getuid() == 0 else None)
        if status is None:
            return f"{unit}: hangs"
        for line in output.splitlines():
            if line.startswith("not ok") or "ERROR: " in line or "runtime error: " in line:
                return f"{unit}: {line}"
        return f"{unit}: ends with {status}" if status else None

    def _pytest(self, *options):
        """The first failure of the test files, or None. A busy machine must not make a mutant look
        noticed: what fails runs again."""
        argv = ["/usr/bin/python3", "tests/run.py", "--user-only", "-x", *self.files]
        status, output = _run(argv, self.limits_s.get("files", BUILD_LIMIT_S))
        if status is None:
            return "the test files hang"
        if status == 0:
            return None
        again, _ = _run([*argv, "--lf"], self.limits_s.get("files", BUILD_LIMIT_S))
        lines = [line for line in output.splitlines() if line.startswith("FAILED")]
        return (lines or [f"the test files end with {status}"])[0] if again != 0 else None

    def try_mutant(self, mutant):
        """Returns ("noticed", by what), ("survived", "") or ("broken", "") if it does not build."""
        path = os.path.join(TREE, mutant.path)
        write(path, mutant.mutated())
        try:
            return self._try(mutant.path)
        finally:
            write(path, mutant.source)

    def _try(self, path):
        if self.units and not self._compiles(path):
            return "broken", ""
        for unit in sorted(self.units, key=lambda unit: not _includes(unit, path)):
            if not _ninja("build-asan", [unit], MUTANT_BUILD_LIMIT_S):
                return self._unbuilt(path, unit)
            notice = self._is_changed(unit) and self._unit(unit)
            if notice:
                return "noticed", notice
        if not self.files:
            return "survived", ""
        if not _ninja("build", PROGRAMS, MUTANT_BUILD_LIMIT_S):
            return "broken", ""
        notice = self._pytest()
        return ("noticed", notice) if notice else ("survived", "")

    def _compiles(self, path):
        """One object is enough: others may wait for a generator that contains the mutant."""
        objects = self.objects.get(path)
        return not objects or any(_ninja("build-asan", [name], MUTANT_BUILD_LIMIT_S)
                                  for name in objects)

    def _unbuilt(self, path, target):
        """A mutant that compiles and does not build was refused by a program of the build."""
        return ("noticed", f"{target}: the build fails") if self.objects.get(path) else ("broken", "")

    def _is_changed(self, unit):
        """A unit that does not contain the mutant cannot notice it."""
        return _digest(f"build-asan/{unit}") != self.digests[unit]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
