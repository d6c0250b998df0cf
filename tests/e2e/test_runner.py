"""The test runner itself: counts, the verdict, tests that fail once, on a tiny checkout."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess

from harness import cases, contains, equal, expect, fences, lacks, needs, rundir, timeout, user_only
from harness.weaker import UNTRIED, WEAKER

TESTS = '''
import os
from harness import Skip, cases, expect

@cases("one", "two")
def test_it_holds(t, word):
    pass

def test_it_fails_once(t):
    marker = "STATE/" + t.identity
    first = not os.path.exists(marker)
    open(marker, "w").close()
    t.run(["echo", "first" if first else "second"])
    expect(not first, "it does not hold yet")

def test_it_never_holds(t):
    expect(False, "this is always wrong")

def test_it_cannot_be_tried(t):
    raise Skip("there is no control")
'''

ONCE = '''
from harness import each_identity

ANY_IDENTITY = "it is the same for both"

def test_it_runs_once(t):
    pass

@each_identity
def test_it_runs_as_each(t):
    pass
'''

FENCED = '''
from harness import bwrap_only, cases, equal, mechanisms

def test_it_has_the_mechanism(t):
    result, report = t.report("true")
    equal((result.code, report["mechanism"]), (0, t.mechanism), "the fence", result)

@cases("one", "two")
def test_it_holds_for_two(t, word):
    equal(word, "two", "the word")

def test_it_is_not_tried(t):
    raise AssertionError("it was tried")

@mechanisms("bwrap", "podman")
def test_it_is_of_some(t):
    pass

@mechanisms("podman")
def test_it_is_of_another(t):
    raise AssertionError("it was tried")

@bwrap_only("it looks into bwrap")
def test_it_looks_into_bwrap(t):
    pass
'''
TABLES = """
UNTRIED = (
    ("bwrap", "test_it_is_not_tried", "its means do not work"),
)
WEAKER = (
    ("bwrap", "test_it_holds_for_two: o*", "one is not two"),
    ("bwrap/OTHER", "test_it_has_the_mechanism", "this is of the other identity"),
    ("moat", "test_it_has_the_mechanism", "it is not built"),
    ("moat", "test_it_holds_for_two", "it has water in it"),
)
"""

UNIT = '''#!/bin/sh
echo 'ok - one sentence'
[ -e STATE/unit ] && echo 'ok - another sentence' && exit 0
touch STATE/unit
echo 'not ok - another sentence'
exit 1
'''


class Checkout:
    """A checkout with the programs under test, this runner, and tests of its own."""

    def __init__(self, t):
        self.t = t
        self.folder = os.path.join(t.outside, "checkout")
        self.state = os.path.join(t.outside, "state")
        tests = os.path.join(os.path.dirname(t.build), "tests")
        os.mkdir(self.state)
        os.chmod(self.state, 0o777)
        shutil.copytree(os.path.join(tests, "harness"), os.path.join(self.folder, "tests/harness"))
        self.write("tests/escape/attack.c", "int main(void) { return 0; }\n")  # the runner compiles it
        for name in ("run.py", "pytest.ini"):
            shutil.copy(os.path.join(tests, name), os.path.join(self.folder, "tests"))
        for name in rundir.TABLES:
            self.write(name, t.read(os.path.join(os.path.dirname(t.build), name)))
        for name in (*rundir.FOLDERS, "build/tests"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        places = {os.path.basename(program): program for program in rundir.PROGRAMS}
        for name in os.listdir(t.build):
            os.symlink(os.path.join(t.build, name), os.path.join(self.folder, "build", places.get(name, name)))
        self.write("tests/e2e/test_tiny.py", TESTS)
        self.write("tests/e2e/test_once.py", ONCE)
        self.write("tests/unit/unit_tiny.c", "")
        self.write("build/tests/unit_tiny", UNIT, 0o755)
        # As root, the tests also run as a plain user; a user is told that root's are missing.
        self.identities = 2 if t.identity == "root" else 1
        self.missing = 0 if t.identity == "root" else 1

    def write(self, name, text, mode=None):
        self.t.write(os.path.join(self.folder, name), text.replace("STATE", self.state), mode)

    def run(self, *words):
        return self.t.run(["tests/run.py", "-j", "1", *words], cwd=self.folder, timeout=200)


@timeout(240)
def test_a_test_that_fails_once_is_listed_as_flaky_and_the_run_is_green(t):
    checkout = Checkout(t)
    result = checkout.run("tests/e2e", "tests/unit", "-k", "not never and not asan")
    equal(result.code, 0, "exit status", result)
    n = checkout.identities
    equal(result.out.splitlines()[-1],
          f"{4 * n + 3} passed, 0 failed, {n + checkout.missing} skipped", "the last line", result)
    flaky = result.out[result.out.index("FLAKY"):]
    equal(flaky.count("FLAKY "), n + 1, "flaky tests", flaky)
    contains(flaky, "test_it_fails_once[user]: failed, and passed when it ran alone", "its name")
    for text in ("it does not hold yet", "stdout: first", "stdout: second", "another sentence"):
        contains(flaky, text, "both outputs")


@timeout(240)
def test_a_test_that_fails_twice_is_a_failure(t):
    checkout = Checkout(t)
    result = checkout.run("tests/e2e", "-k", "never or holds or tried or runs", "--cpu", "--junitxml=junit.xml")
    equal(result.code, 1, "exit status", result)
    n = checkout.identities
    equal(result.out.splitlines()[-1],
          f"{3 * n + 1} passed, {n} failed, {n + checkout.missing} skipped", "the last line", result)
    contains(result.out, "FAILED AGAIN", "the second time")
    contains(result.out, "this is always wrong", "the reason")
    lacks(result.out, "FLAKY", "the output")
    expect("there is no control" in result.out, "a skipped test says why", result)
    contains(t.read(os.path.join(checkout.folder, "junit.xml")), "this is always wrong", "the XML")
    expect(re.search(rf"^ +\d+\.\d s of +{4 * n} in tests/e2e/test_tiny.py$", result.out, re.MULTILINE),
           "--cpu prints the CPU time by file", result)


@timeout(240)
def test_the_tests_that_failed_last_can_be_run_alone(t):
    checkout = Checkout(t)
    checkout.run("tests/e2e", "-k", "never or holds")
    result = checkout.run("tests/e2e", "--lf")
    equal(result.out.splitlines()[-1],
          f"0 passed, {checkout.identities} failed, {checkout.missing} skipped", "the last line",
          result)


def run_with(t, mechanism):
    """The tests of FENCED with a mechanism; returns (result, outcomes by test)."""
    checkout = Checkout(t)
    checkout.write("tests/e2e/test_fenced.py", FENCED)
    checkout.write("tests/harness/weaker.py", TABLES.replace("OTHER", "nobody"))
    result = checkout.run("tests/e2e/test_fenced.py", f"--{t.identity}-only", "--fence", mechanism, "--results", "results.json")
    outcomes = json.loads(t.read(os.path.join(checkout.folder, "results.json")))
    names = {one["test"].partition("::")[2]: one for one in outcomes}
    equal({(one["mechanism"], one["identity"]) for one in outcomes}, {(mechanism, t.identity)}, "whose outcomes they are")
    return result, {name: (one["outcome"], one["reason"].partition("\n")[0]) for name, one in names.items()}


@timeout(240)
def test_what_is_declared_as_weaker_is_counted_apart(t):
    result, outcomes = run_with(t, "bwrap")
    equal(result.code, 0, "exit status", result)
    equal(result.out.splitlines()[-1], "4 passed, 0 failed, 1 skipped", "the last line", result)
    contains(result.out, "-- 1 weaker than with bwrap", "the lines before it")
    equal(outcomes["test_it_holds_for_two[one]"], ("weaker", "one is not two"), "the outcome of what is weaker")
    equal(outcomes["test_it_holds_for_two[two]"], ("passed", ""), "the outcome of what is not")
    equal(outcomes["test_it_is_not_tried"], ("skipped", "not with bwrap: its means do not work"), "of what says nothing")


@timeout(240)
def test_tests_of_some_mechanisms_run_with_the_usual_one_without_an_option(t):
    checkout = Checkout(t)
    checkout.write("tests/e2e/test_fenced.py", FENCED)
    checkout.write("tests/harness/weaker.py", "UNTRIED = WEAKER = ()\n")
    result = checkout.run("tests/e2e/test_fenced.py", f"--{t.identity}-only", "-k", "of_some or of_another")
    equal(result.out.splitlines()[-1], "1 passed, 0 failed, 0 skipped", "the last line", result)


@timeout(240)
def test_a_test_that_holds_although_it_is_declared_as_weaker_fails(t):
    result, outcomes = run_with(t, "moat")
    equal(result.code, 1, "exit status", result)
    equal(outcomes["test_it_holds_for_two[one]"], ("weaker", "it has water in it"), "the outcome of what is weaker")
    equal(outcomes["test_it_holds_for_two[two]"],
          ("failed", "it holds with moat, and tests/harness/weaker.py says that it cannot: it has water in it"), "of what holds")
    equal(outcomes["test_it_looks_into_bwrap"], ("skipped", "only with bwrap: it looks into bwrap"), "of bwrap's own")
    # There is no such mechanism: so every start did ask for it.
    equal(outcomes["test_it_has_the_mechanism"], ("weaker", "it is not built"), "the outcome of what is refused")


@cases((["RF", "exec", "--", "true"], ["RF", "exec", "--fence", "moat", "--", "true"]),
       (["attack", "7", "RF", "run", "do it"], ["attack", "7", "RF", "run", "--fence", "moat", "do it"]),
       (["sh", "-c", "RF exec -- true; x"], ["sh", "-c", "RF exec --fence moat -- true; x"]),
       (["RF", "exec", "--fence", "bwrap", "--", "true"], ["RF", "exec", "--fence", "bwrap", "--", "true"]),
       (["RF", "status"], ["RF", "status"]), ("RF exec -- true", "RF exec -- true"))
def test_every_way_of_a_test_to_start_a_fence_asks_for_the_mechanism(t, argv, wanted):
    equal(fences.argv_with(argv, "RF", "moat"), wanted, "the words")
    equal(fences.argv_with(argv, "RF", ""), argv, "the words without --fence")


def test_what_is_declared_as_weaker_names_a_test_and_a_mechanism(t):
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    names = set()
    for path in glob.glob(os.path.join(tests, "*/test_*.py")):
        names.update(re.findall(r"(?m)^def (test_\w+)\(", t.read(path)))
    expect("test_what_is_declared_as_weaker_names_a_test_and_a_mechanism" in names, "the names of tests are found", names)
    rows = WEAKER + UNTRIED
    # test_drafts.py makes the tests of copies from those of overlays.
    unknown = [row for row in rows if row[1].partition(": ")[0].removesuffix("_in_a_copy") not in names]
    equal(unknown, [], "rows of tests that do not exist")
    strange = [row for row in rows if not re.fullmatch(r"(podman|docker|landlock)(/root|/user)?", row[0])]
    equal(strange, [], "rows of other mechanisms")


CRASH = """
#include "unit.h"
#include <signal.h>
int main(void)
{
	char path[UNIT_PATH];

	CHECK("the first", unit_temp(path) != NULL);
	printf("# %s\\n", path);
	return ENDING;
}
"""


def unit_test(t, ending):
    """A unit test that ends in this way."""
    source, program = t.write("crash.c", CRASH.replace("ENDING", ending)), t.path("crash")
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "unit")
    built = t.run(["cc", "-D_GNU_SOURCE", "-I", include, "-o", program, source])
    equal(built.code, 0, "the build", built)
    return program


def folder_in(output):
    folder = os.path.dirname(output.split("# ")[1].split("\n")[0])
    contains(folder, "/tmp/ringfence-unit-", "its folder")
    return folder


@needs("cc")
@cases("SIGSEGV", "SIGKILL", "0")
def test_a_unit_test_that_crashes_is_noticed_and_leaves_nothing(t, number):
    result = t.run([unit_test(t, f"raise({number})")])
    contains(result.out, "ok - the first\n", "its first sentence")
    folder = folder_in(result.out)
    expect(not os.path.exists(folder), "nothing is left", folder)
    crashed = number != "0"
    equal((result.code, "not ok - the test ends by itself: signal" in result.out), (int(crashed), crashed), "the verdict", result)


@needs("cc")
@cases(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
def test_a_unit_test_that_is_ended_leaves_nothing(t, number):
    with subprocess.Popen([unit_test(t, "pause()")], stdout=subprocess.PIPE, text=True) as process:
        folder = folder_in(process.stdout.readline() + process.stdout.readline())
        expect(os.path.exists(folder), "its folder is there while it runs", folder)
        process.send_signal(number)
        process.wait()
    expect(not os.path.exists(folder), "nothing is left", folder)
    equal(process.returncode, 1, "the verdict", process)


@needs("cc")
@user_only
def test_a_unit_test_that_leaves_a_folder_says_so(t):
    """As root every folder can be removed."""
    result = t.run([unit_test(t, "chmod(unit_folder, 0500)")])
    folder = folder_in(result.out)
    left = os.path.exists(folder)
    os.chmod(folder, 0o700)
    shutil.rmtree(folder)
    expect(left, "its folder is left", folder)
    contains(result.out, f"not ok - the test leaves nothing behind: {folder}\n", "the verdict")
    equal(result.code, 1, "the status", result)
