"""The first use: a project without any configuration, and a person who has read nothing."""

import os

from harness import contains, equal, expect, lacks, user_only
from harness.loop import Loop

STEPS = {"all": "edit done yes; say '<promise>COMPLETE</promise>'"}


def test_a_loop_says_what_it_will_do_and_takes_the_check_that_the_project_has(t):
    loop = Loop(t, scripts=STEPS)
    loop.write("Makefile", "check:\n\ttest -f done\n")
    result = loop.run(check=None)
    equal(result.code, 0, "exit status", result)
    lines = [line.split(None, 1) for line in result.out.splitlines()[1:6]]
    equal([line[0] for line in lines], ["agent", "fence", "network", "limits", "done"], "what is said first")
    contains(result.out, "agent     sh agent.sh\n", "the agent")
    contains(result.out, "the project is writable, except secrets; changes go to a draft; your home", "the fence")
    contains(result.out, "network   none\n", "the network")
    contains(result.out, "20 iterations, 1h each, 8h in total, US$ 2 each, US$ 25 in total", "the limits")
    contains(result.out, "done when 'make check' succeeds (found in the project) and the agent says "
             "<promise>COMPLETE</promise>", "the rule")
    contains(result.out, "check 'make check' passes", "what decides")
    lacks(result.err, "only the agent's word", "the notices")


def test_a_check_that_passes_already_ends_nothing_that_nobody_chose(t):
    loop = Loop(t, scripts=STEPS)
    loop.write("Makefile", "check:\n\ttrue\n")
    equal(loop.run(check=None).code, 0, "exit status")
    expect(os.path.exists(loop.made("done")), "the agent has worked", "")


def test_a_check_that_passes_while_the_agent_has_not_promised_is_explained(t):
    loop = Loop(t, scripts={"all": "edit done yes; say 'All is well.'"})
    loop.write("Makefile", "check:\n\ttest -f done\n")
    result = loop.run("-m", "2", check=None)
    equal(result.code, 2, "exit status", result)
    contains(result.out, "continuing: the checks pass, but the agent did not end with the promise\n", "why it goes on")
    contains(result.out, "(change the limit with --max-iterations); the check 'make check' passes, but nobody chose it and the agent "
             "did not say that it is done; to stop as soon as it passes: ringfence run --check 'make check'\n", "why it ends")
    result = loop.run("--check", "make check", check=None)
    equal(result.code, 0, "exit status of what is advised", result)


def test_a_rule_that_is_set_counts_and_the_projects_own_check_does_not(t):
    loop = Loop(t, scripts=STEPS)
    loop.write("Makefile", "check:\n\tfalse\n")
    for words in (("--promise", "<promise>COMPLETE</promise>"), ("--check", "test -f done")):
        result = loop.run(*words, check=None)
        equal(result.code, 0, "exit status", result)
        lacks(result.out, "make check", "what is said")


def test_a_list_of_tasks_counts_together_with_the_check_that_the_project_has(t):
    loop = Loop(t, scripts={"1": "edit TASKS.md '- [x] one'", "2": "edit done yes"})
    loop.write("Makefile", "check:\n\ttest -f done\n")
    loop.write("TASKS.md", "- [ ] one\n")
    result = loop.run("--tasks", "TASKS.md", check=None)
    equal(result.code, 0, "exit status", result)
    contains(result.out, "'make check' succeeds (found in the project)", "the rule")
    equal(loop.status()["used"], 2, "iterations: ticked boxes alone are not enough")
    lacks(result.err, "only the agent's word", "the notices")


def test_a_promise_alone_counts_alone_and_nothing_is_said_to_be_missing(t):
    loop = Loop(t, scripts={"all": "say DONE"})
    loop.write("Makefile", "check:\n\tfalse\n")
    result = loop.run("--promise", "DONE", check=None)
    equal(result.code, 0, "exit status", result)
    contains(result.err, "no --check is configured: only the agent's word will count", "the notice")


def test_without_any_check_that_is_said(t):
    loop = Loop(t, scripts={"all": "say '<promise>COMPLETE</promise>'"})
    result = loop.run(check=None)
    contains(result.out, "done when the agent says <promise>COMPLETE</promise>\n", "the rule")
    contains(result.err, "none was found in the project: only the agent's word will count", "the notice")


def test_a_program_is_told_the_id_alone_and_json_alone(t):
    loop = Loop(t, scripts=STEPS)
    loop.detach()
    loop.ended("completed")
    result = loop.run("--json")
    expect(all(line.startswith("{") for line in result.out.splitlines()), "lines of JSON", result.out)


@user_only
def test_a_project_that_is_not_yours_to_change_is_refused_with_what_helps(t):
    loop = Loop(t, scripts=STEPS)
    os.chmod(loop.project, 0o555)
    result = loop.run()
    os.chmod(loop.project, 0o755)
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"you cannot write to '{loop.project}' (work on a copy of your own: cp -r {loop.project} NEW, ", "what helps")
    contains(loop.run().out, "ringfence diff shows what changed, apply takes it over; until then your project is unchanged\n", "what comes next")


def test_a_current_folder_that_is_refused_is_not_called_an_option(t):
    result = t.run([t.ringfence, "exec", "--", "true"], cwd="/tmp")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the current folder '/tmp' is refused: ", "stderr")
    contains(t.run([t.ringfence, "exec", "--project", "/tmp", "--", "true"]).err, "--project '/tmp' is refused: ", "with the option")
