#!/usr/bin/python3
"""Runs the tests with pytest: units (plain and sanitized), source checks, escape/ and e2e/.

Tests of escape/ and e2e/ run as root and as a plain user if root starts this, each with a copy of
the built tree. A failed test runs once more, alone. At the end nothing may be left behind. With
--sanitize, escape/ and e2e/ run with programs that were built with ASan and UBSan.

With --fence NAME, every fence is made by that mechanism, and the tests are escape/ and some of
e2e/. Podman and Docker get storage and a daemon of the run's own. Known weaknesses are listed in
harness/weaker.py. --results FILE writes the outcome of each test.

Options that are not listed here are pytest's: -k WORD, -x, --lf, --durations=10, --junitxml=FILE,
-v, and paths such as tests/e2e/test_exit.py or tests/unit.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)

from harness import engines, fences, kernel, programs, rundir  # noqa: E402
from harness.tally import printable, verdict as verdict_line  # noqa: E402

WORKERS = 3
SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
# More failures than this are not flaky tests, and would take too long to run one by one.
AGAIN_MAX = 25
SUITES = ("tests/escape", "tests/e2e")
PROGRAMS = ("tests/unit", "scripts")
ENGINES = ("podman", "docker")
# With --fence: what depends on how the fence is made.
FENCE_SUITES = ("tests/escape", *(f"tests/e2e/test_{name}.py" for name in (
    "denials", "drafts", "exit", "git", "limits", "listen", "loop", "loop_crash", "models_fence", "network", "streams")))
PASSED_ON = ("RINGFENCE_TEST_AGENTS", "RINGFENCE_TEST_CAPTURE", "RINGFENCE_TEST_CUTS", "RINGFENCE_TEST_DRAFTS", "RINGFENCE_TEST_GOLDENS", "RINGFENCE_TEST_LOOPS",
             "RINGFENCE_TEST_MATRIX", "RINGFENCE_TEST_PROJECTS", "RINGFENCE_TEST_SEED",
             "RINGFENCE_TEST_WEB", "PATH", "TERM", "COLUMNS")
NOT_AS_ROOT = "escape/ and e2e/ as root: not run as root; run it as root for both"


class Interrupted(Exception):
    """A signal ends the run."""


class Verdict:
    """The counts over all runs of pytest, and other findings."""

    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0, "weaker": 0}
        self.outcomes = []
        self.engines = None
        self.flaky = []
        self.began = time.monotonic()

    def add(self, counts):
        for outcome, count in counts.items():
            self.counts[outcome] += count

    def fail(self, claim, evidence):
        self.counts["failed"] += 1
        print(f"FAILED {claim}\n    {printable(evidence)}", flush=True)

    def skip(self, text):
        self.counts["skipped"] += 1
        print(f"skipped {text}", flush=True)

    def forgive(self, item, failures, account):
        """Counts what failed first and passed when it ran alone as passed, and remembers it."""
        for outcome in self.outcomes:
            if outcome["item"] == item:
                outcome.update(outcome="passed", reason="")
        self.counts["failed"] -= len(failures)
        self.counts["passed"] += len(failures)
        self.flaky.append((item, failures, account))

    def finish(self):
        for item, failures, account in self.flaky:
            print(f"FLAKY {item}: failed, and passed when it ran alone")
            for failure in failures:
                print(f"  failed: {failure['sentence']}\n    {printable(failure['text'])}")
            print(f"  passed:\n    {printable(account or 'without output')}")
        if self.counts["weaker"]:
            print(f"-- {self.counts['weaker']} weaker than with {fences.USUAL} (tests/harness/weaker.py)")
        print(f"-- {time.monotonic() - self.began:.0f} s")
        print(verdict_line(self.counts))
        ran = self.counts["passed"] + self.counts["failed"]
        return 0 if ran and not self.counts["failed"] else 1


def identities(options):
    if options.agents:  # they are installed for one user, and the fence never runs them as root
        return ["root" if os.getuid() == 0 else "user"]
    if os.getuid() != 0:
        return [] if options.root_only else ["user"]
    return [who for who, other in (("root", options.user_only), ("user", options.root_only))
            if not other]


def describe_run(options, temp, build):
    """Makes the folders of a run. The result is all that the tests know of them."""
    run = {"root": ROOT, "attack": rundir.compile_attack(TESTS, temp), "again": [],
           "build": build, "sanitized": options.sanitize, "cpu": options.cpu, "fences": options.fences or [""], "engines": {}, "identities": identities(options), "homes": {}, "builds": {}, "trees": [],
           "units": rundir.make_units(temp)}
    for identity in run["identities"]:
        tree = os.path.join(temp, f"{identity}-tree")
        rundir.copy_tree(ROOT, build, tree, rundir.uid_of(identity))
        if options.sanitize:
            rundir.expect_reports(tree)
        run["trees"].append(tree)
        run["builds"][identity] = os.path.join(tree, "build")
        run["homes"][identity] = rundir.make_home(temp, identity)
    return run


def in_tree(argument, tree):
    """Pytest runs in the tree: paths of the checkout become those of the copy."""
    option, equals, value = argument.partition("=")
    if option in ("--junitxml", "--junit-xml"):
        return option + equals + os.path.abspath(value)
    path, colons, name = argument.partition("::")
    absolute = os.path.abspath(path)
    if argument.startswith("-") or not os.path.exists(path) or not absolute.startswith(ROOT + "/"):
        return argument
    return os.path.join(tree, os.path.relpath(absolute, ROOT)) + colons + name


def pytest_arguments(options, rest, tree):
    rest = [in_tree(argument, tree) for argument in rest]
    if not any(argument.startswith(tree) for argument in rest):
        suites = ("tests/agents",) if options.agents else FENCE_SUITES if options.fences else SUITES
        some = options.agents or options.fences or options.user_only or options.root_only or options.sanitize
        suites += () if some else PROGRAMS
        rest += [os.path.join(tree, suite) for suite in suites]
    return ["--rootdir", tree, "-c", os.path.join(tree, "tests/pytest.ini"),
            "-o", f"cache_dir={ROOT}/build/pytest-cache", *rest]


def run_pytest(run, temp, arguments, **options):
    """Returns (exit status, what the tally wrote)."""
    results = os.path.join(temp, "results.json")
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    env |= {"HOME": temp, "LANG": "C.UTF-8", "RINGFENCE_TEST_MARK": os.path.basename(temp),
            "RINGFENCE_TEST_RUN": json.dumps({**run, "results": results}),
            "PYTHONPATH": os.path.join(run["trees"][0], "tests"), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    argv = ["/usr/bin/python3", "-m", "pytest", "-p", "xdist.plugin", "-p", "harness.plugin"]
    with subprocess.Popen(argv + arguments, cwd=run["trees"][0], env=env, process_group=0,
                          **options) as process:
        try:
            status = process.wait()
        except Interrupted:
            process.send_signal(signal.SIGINT)  # it ends its workers and writes the counts
            status = process.wait()
    try:
        with open(results, encoding="utf-8") as file:
            written = json.load(file)
        os.unlink(results)
    except FileNotFoundError:
        written = {"counts": {}, "failures": [], "accounts": {}, "outcomes": []}
    return status, written


def run_again(run, temp, arguments, failures, verdict):
    """Every item that failed, once more and one after another."""
    items = list(dict.fromkeys(failure["item"] for failure in failures))
    if not 0 < len(items) <= AGAIN_MAX:
        return
    print(f"-- {len(items)} failed; each runs once more, alone", flush=True)
    _, written = run_pytest({**run, "again": items}, temp, [*arguments, "-n0"],
                            stdout=subprocess.DEVNULL)
    still = {failure["item"] for failure in written["failures"]}
    for item in items:
        first = [failure for failure in failures if failure["item"] == item]
        if item in written["accounts"] and item not in still:
            verdict.forgive(item, first, written["accounts"][item])
    for failure in written["failures"]:
        print(f"FAILED AGAIN {failure['name']}: {failure['sentence']}\n"
              f"    {printable(failure['text'])}", flush=True)


def find_build(options, verdict):
    """The folder with the programs, or None."""
    build = os.path.join(ROOT, "build-asan" if options.sanitize else options.build)
    if options.sanitize:
        print("-- building with sanitizers", flush=True)
        try:
            programs.build_sanitized(ROOT, "all", "unit-tests")
        except programs.Failed as failed:
            verdict.fail("the sanitized programs build", str(failed))
            return None
    for program in rundir.PROGRAMS:
        if not os.access(os.path.join(build, program), os.X_OK):
            verdict.fail(f"{os.path.basename(build)}/{program} is built", "run make first")
            return None
    return build


def run_tests(options, rest, temp, verdict):
    build = find_build(options, verdict)
    if not build:
        return
    run = describe_run(options, temp, build)
    if os.getuid() != 0 and not (options.user_only or options.agents):
        verdict.skip(NOT_AS_ROOT)
    if not run["trees"]:
        return
    if set(options.fences) & set(ENGINES):
        verdict.engines = engines.Engines(temp, run["identities"])
        verdict.engines.start()
        run["engines"] = verdict.engines.environments
    arguments = pytest_arguments(options, rest, run["trees"][0])
    workers = options.workers * len(run["identities"])
    status, written = run_pytest(run, temp, ["-n", str(workers), *arguments])
    verdict.add(written["counts"])
    verdict.outcomes += written["outcomes"]
    if status not in (0, 1, 5) and not written["failures"]:
        verdict.fail("the suite runs to its end", f"pytest ended with {status}; see above")
    if status == 1 and "-x" not in rest:
        run_again(run, temp, arguments, written["failures"], verdict)
    if options.results:
        write_results(options.results, verdict.outcomes)
    for report in rundir.reports(run["trees"]):
        verdict.fail("no sanitizer reports anything", report)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", dest="workers", type=int, default=WORKERS, metavar="N",
                        help="tests at once for each identity (%(default)s)")
    parser.add_argument("--user-only", action="store_true", help="escape/ and e2e/ as a user only")
    parser.add_argument("--root-only", action="store_true", help="escape/ and e2e/ as root only")
    parser.add_argument("--sanitize", action="store_true", help="escape/ and e2e/ with sanitizers")
    parser.add_argument("--build", default="build", metavar="DIR",
                        help="take the programs from this build folder (%(default)s)")
    parser.add_argument("--fence", dest="fences", action="append", default=[], metavar="NAME",
                        help="the mechanism of every fence: bwrap, podman, docker, landlock; may be repeated")
    parser.add_argument("--results", metavar="FILE", help="write the outcome of each test as JSON")
    parser.add_argument("--cpu", action="store_true", help="print the CPU time of the tests, by file")
    parser.add_argument("--agents", action="store_true", help="the real agents, and nothing else")
    return parser.parse_known_args()


def write_results(path, outcomes):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(sorted(outcomes, key=lambda outcome: outcome.pop("item")), file, indent=1)


def interrupt(number, _):
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(f"by {signal.Signals(number).name}")


def main():
    options, rest = parse()
    os.umask(0o022)
    kernel.become_subreaper()
    # A caller may have started this with signals ignored; the tests send some.
    for number in SIGNALS:
        signal.signal(number, interrupt)
    rundir.remove_stale()
    temp = rundir.make()
    rundir.mount_disk(temp)
    verdict = Verdict()
    try:
        run_tests(options, rest, temp, verdict)
    except Interrupted as interrupted:
        verdict.fail("the run is whole", f"it was ended {interrupted}")
    except engines.Unusable as unusable:
        verdict.fail("podman and docker work", str(unusable))
    finally:
        for claim, evidence in verdict.engines.stop() if verdict.engines else ():
            verdict.fail(claim, evidence)
        for claim, evidence in rundir.leftovers(temp):
            verdict.fail(claim, evidence)
        status = verdict.finish()
    return status


if __name__ == "__main__":
    sys.exit(main())
