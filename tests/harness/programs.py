"""Unit tests and source checks: programs whose output is read, one result for each sentence.

A unit test prints `ok - sentence` or `not ok - sentence`. It runs twice: as built, and built with
sanitizers, which the first test of that kind builds.
"""

import fcntl
import os
import re
import subprocess

import pytest

from . import kernel
from .case import DEFAULT_TIMEOUT_S
from .patience import crowding

TIMEOUT_S = 300
BUILD_TIMEOUT_S = 1800
GRACE_S = 30
CHECKS = ("check-containers", "check-durable", "check-environment", "check-errors", "check-failures", "check-filters", "check-fuzz",
          "check-includes", "check-paths", "check-protocols", "check-reference", "check-statics", "check-tests")
OUTPUT_LIMIT = 3000


class Failed(Exception):
    """The program says that something does not hold; its output is the text."""


def results_of(text, status):
    """(outcome, sentence, detail) for each line of a unit test's output."""
    count = failed = 0
    for line in text.splitlines():
        match = re.match(r"(ok|not ok)\b(?:\s+\d+)?(?:\s*-\s*)?(.*)", line)
        skip = re.search(r"#\s*skip\b[:\s]*(.*)", line, re.IGNORECASE)
        if not match and not skip:
            continue
        count += 1
        sentence = match.group(2) if match else line
        if skip:
            yield "skipped", sentence, skip.group(1) or "no reason given"
        elif match.group(1) == "ok":
            yield "passed", sentence, ""
        else:
            failed += 1
            yield "failed", sentence, text[-OUTPUT_LIMIT:]
    if status and not failed:
        yield "failed", f"ends with 0, not {status}", text[-OUTPUT_LIMIT:]
    elif not count:
        yield "failed", "says what it tests", text[-OUTPUT_LIMIT:]


def _run(argv, root, timeout_s=TIMEOUT_S, begin=None, **env):
    """Returns (output, status). begin: called in the child."""
    with subprocess.Popen(argv, cwd=root, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, preexec_fn=begin) as process:
        try:
            output, _ = process.communicate(timeout=timeout_s * crowding())
        except subprocess.TimeoutExpired:
            _end(process)
            return f"not ok - ends within {timeout_s} s\n", 1
    return output.decode(errors="backslashreplace"), process.returncode


def _end(process):
    """Asks first: a unit test ends its child and removes its files."""
    process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def build_sanitized(root, *targets):
    """Builds targets in build-asan. One process builds at a time; the others find it done."""
    folder = os.path.join(root, "build-asan")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "test.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        steps = [["ninja", "-C", folder, *targets]]
        if not os.path.exists(os.path.join(folder, "build.ninja")):
            steps.insert(0, ["meson", "setup", folder, "-Db_sanitize=address,undefined",
                             "-Dbuildtype=debug", "-Db_lundef=false"])
        for step in steps:
            text, status = _run(step, root, BUILD_TIMEOUT_S)
            if status:
                raise Failed(f"{' '.join(step)}\n{text[-OUTPUT_LIMIT:]}")


class ProgramItem(pytest.Item):
    """Its report carries the results of its sentences, which the tally counts one by one."""

    def __init__(self, *, run, **options):
        super().__init__(**options)
        self.test_run = run
        self.root = run["root"]
        self.timeout_s = TIMEOUT_S
        self.index = 0

    def results(self):
        raise NotImplementedError

    def runtest(self):
        results = [list(result) for result in self.results()]
        self.user_properties.append(("results", results))
        failed = [f"{sentence}\n{detail}" for outcome, sentence, detail in results
                  if outcome == "failed"]
        if failed:
            raise Failed("\n".join(failed))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, self.name


class UnitItem(ProgramItem):
    def __init__(self, *, program, kind, **options):
        super().__init__(**options)
        self.program = program
        self.kind = kind
        # The sanitized build takes a while: its tests come after those with a long time limit.
        self.timeout_s = TIMEOUT_S if kind == "unit" else DEFAULT_TIMEOUT_S + 1
        self.extra_keyword_matches.add(f"{kind}:{program}")

    def results(self):
        folder = self.test_run["build"]
        if self.kind != "unit":
            build_sanitized(self.root, "unit-tests")
            folder = os.path.join(self.root, "build-asan")
        program = os.path.join(folder, "tests", self.program)
        return results_of(*_run([program], self.root, begin=kernel.skip_syncs if os.getuid() == 0 else None,
                                TMPDIR=self.test_run["units"]))


class BuildItem(ProgramItem):
    """Comes first, so that the build is done when the first test needs it."""

    def __init__(self, **options):
        super().__init__(**options)
        self.timeout_s = BUILD_TIMEOUT_S
        self.extra_keyword_matches.add("unit-asan:build")

    def results(self):
        build_sanitized(self.root, "unit-tests")
        return []


class CheckItem(ProgramItem):
    def __init__(self, *, args, **options):
        super().__init__(**options)
        self.args = args
        self.extra_keyword_matches.add(f"scripts:{self.path.name}")

    def results(self):
        script = os.path.join(self.root, "scripts", self.path.name)
        text, status = _run([script, *self.args], self.root)
        sentence = " ".join([self.path.name, *self.args])
        return [("failed" if status else "passed", sentence, text[-OUTPUT_LIMIT:])]


class UnitFile(pytest.File):
    test_run = None

    def collect(self):
        for kind in ("unit", "unit-asan"):
            yield UnitItem.from_parent(self, name=kind, run=self.test_run, program=self.path.stem,
                                       kind=kind)


class BuildFile(pytest.File):
    test_run = None

    def collect(self):
        yield BuildItem.from_parent(self, name="unit-asan", run=self.test_run)


class CheckFile(pytest.File):
    test_run = None

    def collect(self):
        for args in ([], ["--self-test"]):
            yield CheckItem.from_parent(self, name=args[0].strip("-") if args else "check",
                                        run=self.test_run, args=args)


def collect(path, parent, run):
    """The collector for a unit test's source or a check of scripts/; None for other files."""
    kind = None
    if path.parent.name == "unit" and path.match("unit_*.c"):
        kind = UnitFile
    elif path.parent.name == "unit" and path.name == "unit.h":
        kind = BuildFile
    elif path.parent.name == "scripts" and path.name in CHECKS:
        kind = CheckFile
    if kind is None:
        return None
    collector = kind.from_parent(parent, path=path)
    collector.test_run = run
    return collector
