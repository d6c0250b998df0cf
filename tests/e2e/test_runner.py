"""The test runner itself: counts, the verdict, tests that fail once, on a tiny checkout."""

import os
import re
import shutil
import signal
import subprocess

from harness import cases, contains, equal, expect, lacks, needs, rundir, timeout, user_only

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
