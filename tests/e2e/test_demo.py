"""ringfence demo: the whole product, with nothing but itself."""

import json
import os
import signal
import subprocess

from harness import cases, contains, equal, expect, root_only
from harness.terminal import Terminal


def demo(t, *words, without_network=False, **variables):
    top = os.path.join(t.outside, "tmp")
    os.makedirs(top, exist_ok=True)
    command = [t.ringfence, "demo", *words]
    result = t.run(["unshare", "-n", *command] if without_network else command, env=t.env(TMPDIR=top, **variables))
    return result, [os.path.join(top, name) for name in os.listdir(top)]


def test_the_demo_shows_what_it_says_and_leaves_nothing(t):
    """Whatever git's variables point to, as in a hook."""
    index = os.path.join(t.outside, "index")
    result, left = demo(t, GIT_INDEX_FILE=index, GIT_DIR=t.outside, GIT_CONFIG_COUNT="none")
    equal(result.code, 0, "exit status", result)
    expect(not os.path.exists(index), "another repository's index is not touched", os.listdir(t.outside))
    for part in ("failed: '.env' is denied here", "  blocked: 1 connection", "denied: read .env (protected)\n", "check 'make check' fails",
                 "iteration 2 of 20", "check 'make check' passes\n  committed: ringfence/", "completed: every rule holds",
                 "+		push(b / a);\n", "Fix the operand order of minus and division\n"):
        contains(result.out, part, "what is shown")
    equal(result.out.count("  ✓ "), 6, "what holds")
    equal(left, [], "what is left")


@cases((True, "original"), (False, "fast"))
def test_the_demo_has_the_pace_of_its_model_where_somebody_looks_on(t, terminal, pace):
    """The command that it would run is written to a file instead."""
    words = os.path.join(t.outside, "words")
    program = os.path.join(t.outside, "ringfence")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho \"$@\" >>{words}\n")
    os.chmod(program, 0o755)
    argv = [os.path.join(t.build, "demo/run"), program]
    if terminal:
        Terminal(argv, t.env(TMPDIR=t.outside), t.project).wait(40)
    else:
        t.run(argv, env=t.env(TMPDIR=t.outside))
    with open(words, encoding="utf-8") as file:
        contains(file.readline(), f"--replay-pace {pace}\n", "the words of the loop")


@root_only
def test_the_demo_needs_no_network(t):
    equal(demo(t, without_network=True)[0].code, 0, "exit status")


def test_an_interrupted_demo_ends_its_loop_and_leaves_nothing(t):
    """Without a terminal, a loop continues in the background; its folder would be removed under it."""
    top = os.path.join(t.outside, "tmp")
    os.makedirs(top)
    process = subprocess.Popen([t.ringfence, "demo", "--", "--replay-pace", "original"], env=t.env(TMPDIR=top), cwd=t.project,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    for line in process.stdout:
        if "running the agent" in line:
            break
    os.killpg(process.pid, signal.SIGINT)
    rest = t.communicate(process)[0]
    equal(process.returncode, 130, "exit status", rest)
    equal(os.listdir(top), [], "what is left")


def test_a_kept_demo_can_be_looked_at(t):
    result, left = demo(t, "--keep")
    contains(result.out, f"{left[0]}/rpn", "where it is")
    environment = t.env(RINGFENCE_STATE_DIR=f"{left[0]}/state")
    loops = json.loads(t.run([t.ringfence, "status", "--json", "--project", f"{left[0]}/rpn"], env=environment).out)["loops"]
    equal([(loop["status"], loop["iteration"]) for loop in loops], [("completed", 2)], "the loops")
    expect(loops[0]["spent_nusd"] > 0, "replays are metered", loops)


def test_a_demo_that_goes_otherwise_fails(t):
    """Without a key, a live demo refuses to run; a missing tool of the project is named."""
    result, left = demo(t, "--live", "--", "--agent", "builtin")
    expect(result.code != 0, "exit status", result)
    contains(result.err, "ANTHROPIC_API_KEY", "what is missing")
    contains(result.out, "NOT so: the loop reports that the work is done", "the verdict")
    equal(left, [], "what is left")
    contains(demo(t, PATH="/nonexistent")[0].err, "is missing", "a tool")
    result = t.run([t.ringfence, "demo"], env=t.env(TMPDIR="/proc"))
    equal(result.code, 125, "exit status without a folder", result)
    contains(result.err, "cannot make a folder in '/proc'; name another one", "what to do")
