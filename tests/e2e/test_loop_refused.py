"""Refusals before a loop begins, or at its first step, and their messages."""

import json
import os

from harness import cases, contains, each_identity, equal, expect, lacks
from harness.loop import LoopInPlace as Loop

ANY_IDENTITY = "Arguments and settings are refused before anything starts."

STEPS = {"all": "edit started yes; edit done yes"}


def refuses(loop, result, *parts):
    """A refusal with these words, and no agent was started."""
    equal(result.code, 125, "exit status", result)
    for part in parts:
        contains(result.err + result.out, part, "the reason")
    expect(not os.path.exists(loop.path("started")), "no agent was started")


def test_a_check_that_nobody_agreed_to_is_not_dropped_in_silence(t):
    loop = Loop(t, scripts=STEPS)
    loop.write("ringfence.yml", "max-iterations: 3\ncheck: [make test]\n")
    result = loop.run(check=None)
    refuses(loop, result, "widens the fence (check)",
            "check 'make test' (ringfence.yml:2) is inactive: run ringfence trust, or set --check")
    lacks(result.err, "only the agent's word", "the notices")
    equal(loop.run().code, 0, "exit status with a check of one's own")


@cases("agent-command: ./evil", "agent: claude")
def test_an_agent_that_nobody_agreed_to_is_not_replaced_in_silence(t, line):
    loop = Loop(t, scripts=STEPS)
    loop.write("ringfence.yml", f"{line}\n")
    key = line.partition(":")[0]
    refuses(loop, loop.ringfence("run", "x", "--check", "test -f done"), "is inactive: run ringfence trust",
            f"or set --{key}")
    equal(loop.run().code, 0, "exit status with an agent of one's own")


def test_exec_says_nothing_of_settings_for_loops(t):
    loop = Loop(t)
    loop.write("ringfence.yml", "check: [make test]\nagent: claude\n")
    equal(loop.ringfence("exec", "--", "true").err, "", "the notices")


@cases("agent", "check")
@each_identity
def test_a_program_that_is_not_shown_in_the_fence_is_refused_before_anything_starts(t, who):
    loop = Loop(t, scripts=STEPS)
    tool = t.at_home("fix.sh", "#!/bin/sh\ntouch started done\n")
    os.chmod(tool, 0o755)
    words = ["run", "x", "--agent-command", "~/fix.sh --now" if who == "agent" else "sh agent.sh",
             "--check", f"A=b {tool}" if who == "check" else "test -f done"]
    refuses(loop, loop.ringfence(*words), "is hidden there", f"--read {tool}")
    equal(json.loads(loop.ringfence("status", "--json").out), {"loops": [], "batches": []}, "the loops")
    equal(loop.ringfence(*words, "--read", tool).code, 0, "exit status when it is shown")


@cases(("sh agent.sh", "{} test -f done"), ("{} sh agent.sh", "test -f done"))
@each_identity
def test_a_program_is_looked_up_by_the_path_inside(t, agent, check):
    loop = Loop(t, scripts=STEPS)
    shims = os.path.join(t.home, "shims")
    for name in ("env", "own"):
        t.script(name, "#!/bin/sh\nexit 1\n", shims)
    env = t.env()
    env["PATH"] = f"{shims}:{env['PATH']}"

    def run(program):
        return loop.ringfence("run", "x", "--agent-command", agent.format(program), "--check", check.format(program), env=env)

    refuses(loop, run("own"), f"{shims}/own is hidden there (--read {shims})")
    result = run("env")
    equal(result.code, 0, "exit status where another one is behind it in PATH", result)


@cases(("nosuch --really", "was not found", 127), ("./script", "could not be executed", 126))
def test_a_check_that_is_not_there_starts_no_agent(t, check, part, code):
    loop = Loop(t, scripts=STEPS)
    refuses(loop, loop.run(check=check), "refused: the check", part, f"status {code}")
    again = loop.ringfence("resume")
    refuses(loop, again, "never started")


def test_a_check_that_the_agent_is_to_make_may_be_missing(t):
    loop = Loop(t, scripts={"all": "edit done.sh 'exit 0'; chmod +x done.sh"})
    equal(loop.run(check="./done.sh").code, 0, "exit status")


def test_a_check_that_misses_something_itself_is_a_failing_check(t):
    loop = Loop(t, scripts={"all": "edit done 'exit 0'"})
    loop.write("done", "nosuch")
    equal(loop.run("--unpin", "done", check="sh done").code, 0, "exit status")


def test_an_agent_that_is_not_there_ends_the_loop_at_once(t):
    loop = Loop(t)
    result = loop.ringfence("run", "x", "--agent-command", "nosuch", "--check", "test -f done")
    refuses(loop, result, "refused: the agent's command 'nosuch' was not found in the fence")
    equal(len(loop.history()), 1, "iterations")


@cases("TASKS.md", "script")
@each_identity
def test_a_task_list_that_is_no_file_is_refused(t, name):
    loop = Loop(t, scripts=STEPS)
    refuses(loop, loop.run("--tasks", name, check=None), f"--tasks '{name}'")


# Resuming

@cases(("--max-iterations", "1", "true"), ("--max-time", "1s", "hang"))
def test_resume_refuses_where_a_limit_is_still_reached(t, part, value, script):
    loop = Loop(t, scripts={"all": f"if [ -e more ]; then edit done yes; else edit a 1; {script}; fi"})
    equal(loop.run(part, value).code, 2, "exit status")
    result = loop.ringfence("resume", "--follow")
    equal(result.code, 125, "exit status of resume", result)
    contains(result.err, part, "the reason")
    equal(loop.status()["status"], "limit", "the status")
    loop.write("more")
    equal(loop.ringfence("resume", "--follow", part, "900").code, 0, "exit status with more")


def test_resume_refuses_without_the_variables_of_the_loop(t):
    loop = Loop(t, scripts={"1": "edit a 1", "all": 'say "$TOKEN"; edit done yes'})
    equal(loop.run("-m", "1", "--env", "TOKEN", env=t.env(TOKEN="secret")).code, 2, "exit status")
    result = loop.ringfence("resume", "-m", "3")
    equal(result.code, 125, "exit status of resume", result)
    contains(result.err, "--env TOKEN", "the reason")
    equal(loop.status()["limits"]["iterations"], 1, "the limit: nothing was changed")
    equal(loop.ringfence("resume", "--follow", "-m", "3", env=t.env(TOKEN="secret")).code, 0, "with it")


@cases("--max-errors", "--max-same-error", "--max-no-progress", "--max-interrupted", "--max-cost", "--warn-cost",
       "--budget", "--timeout", "--idle-timeout", "--check-timeout")
def test_resume_takes_every_limit_that_run_takes(t, option):
    loop = Loop(t)
    contains(loop.ringfence("resume", option, "7").err, "no loop of the project", "what is missing is a loop")


# Missing things

@cases("status", "logs", "history", "pause", "resume", "abort", "circuit")
def test_a_loop_that_is_not_there_is_an_error(t, command):
    loop = Loop(t)
    words = (command, "show", "nobody") if command == "circuit" else (command, "nobody")
    result = loop.ringfence(*words)
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, "no loop 'nobody'", "the reason")
