"""ringfence run and related commands: when a loop is done, continues or stops, and what is printed about it."""

import json
import os
import signal
import time

from harness import cases, contains, equal, expect, lacks, user_only
from harness.loop import LoopInPlace as Loop
from harness.loop import WORKSPACES, at_work

STEPS = {"all": "say step $N; edit step-$N $N; [ $N -lt 2 ] || edit done yes"}


@cases(*WORKSPACES)
def test_a_loop_goes_on_until_its_check_passes(t, workspace):
    loop = Loop(t, scripts=STEPS, workspace=workspace)
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    contains(result.out, "iteration 2 of 20", "the progress")
    contains(result.out, "completed: every rule holds", "the last line")
    status = loop.ended("completed")
    equal((status["iteration"], status["used"], status["mechanism"]), (2, 2, t.mechanism), "the status")
    equal([entry["verdict"] for entry in loop.history()], ["go on", "done"], "the verdicts")


@cases(*WORKSPACES)
def test_what_an_iteration_leaves_is_kept_where_the_agent_cannot_write(t, workspace):
    loop = Loop(t, scripts={"all": "say hello; echo oops >&2; edit done yes"}, workspace=workspace)
    equal(loop.run().code, 0, "exit status")
    folder = os.path.join(loop.folder, "iterations/1")
    for name in ("prompt.md", "stdout.log", "stderr.log", "before.json", "after.json", "analysis.json",
                 "check-1.stdout.log"):
        expect(os.path.exists(os.path.join(folder, name)), f"there is {name}", os.listdir(folder))
    with open(os.path.join(folder, "stdout.log"), encoding="utf-8") as file:
        equal(file.read(), "hello\n", "the transcript")
    with open(os.path.join(folder, "analysis.json"), encoding="utf-8") as file:
        analysis = json.load(file)
    equal((analysis["should_continue"], analysis["completion"]), (False, 1000), "the analysis")
    equal(loop.ringfence("logs").out, "hello\noops\n", "the logs")
    equal(loop.ringfence("exec", "--", "ls", loop.folder).code, 2, "ls of the folder in the fence")


@cases(*WORKSPACES)
def test_the_prompt_tells_the_task_the_limits_and_what_the_check_printed(t, workspace):
    loop = Loop(t, scripts={"1": "say learnt: it is hard", "2": "edit done yes"}, workspace=workspace)
    loop.run("-m", "7", check="echo the bridge is broken; test -f done")
    with open(os.path.join(loop.folder, "iterations/2/prompt.md"), encoding="utf-8") as file:
        prompt = file.read()
    for part in ("make it", "iteration 2 of at most 7", "the bridge is broken", "learnt: it is hard",
                 "in a sandbox"):
        contains(prompt, part, "the prompt")
    following = json.loads(loop.ringfence("prompt", "--json").out)
    contains(following["prompt"], "iteration 3 of at most 7", "the prompt of an iteration that has not begun")
    equal(sum(part["bytes"] for part in following["parts"]), len(following["prompt"].encode()), "the sizes of its parts")
    equal([part["tokens"] for part in following["parts"] if part["part"] == "task"], [4], "tokens of the task")
    sizes = loop.ringfence("prompt", "--sizes").out
    contains(sizes, f"  all        {following['bytes']:7}  {following['tokens']:7}\n", "the table")
    lacks(sizes, "make it", "the table")


@cases(*WORKSPACES)
def test_old_failures_are_told_from_new_ones(t, workspace):
    loop = Loop(t, scripts={"1": "rm good; say x", "2": "edit bad x", "3": "edit good x; edit done yes"}, workspace=workspace)
    loop.write("good")
    result = loop.run("--check", "test -f good", check="test ! -e bad && echo all is odd; test -f done")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "'test -f good' fails (status 1); it passed before the first iteration", "the progress")
    equal([[check["new"] for check in entry["checks"]] for entry in loop.history()],
          [[False, True], [False, True], [False, False]], "new failures")
    prompts = []
    for number in (1, 2, 3):
        with open(os.path.join(loop.folder, f"iterations/{number}/prompt.md"), encoding="utf-8") as file:
            prompts.append(file.read())
    lacks(prompts[0], "before the first iteration", "the first prompt")
    contains(prompts[1], "this failure is new", "the second prompt")
    contains(prompts[1], "failed the same way before", "the second prompt")
    contains(prompts[2], "It also failed before the first iteration, but differently.", "the third prompt")


def test_a_loop_that_gets_no_further_stops_early_and_is_not_done(t):
    """The check passes and nine of ten boxes are ticked. Continued, it has the same number of attempts again."""
    loop = Loop(t, scripts={"all": "say the last one is not possible"})
    loop.write("TASKS.md", "- [x] one\n" * 9 + "- [ ] ten\n")
    result = loop.run("--tasks", "TASKS.md", check="true")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "no progress, at a confidence of 0.97 (--early-stop 0.95, --early-stop-after 2); 1 box is open", "the reason")
    equal([entry["verdict"] for entry in loop.history()], ["go on", "limit"], "the verdicts")
    equal(loop.ringfence("resume", "--follow", "--early-stop-after", "3").code, 2, "exit status of resume")
    equal([entry["verdict"] for entry in loop.history()], ["go on", "limit", "go on", "go on", "limit"], "the verdicts")


def test_a_promise_is_the_last_word_of_the_agent(t):
    loop = Loop(t, scripts={"1": "say DONE; say but not yet", "2": "say all is well; say DONE"})
    result = loop.run("--promise", "DONE", check=None)
    equal(result.code, 0, "exit status", result)
    contains(result.err, "only the agent's word", "the notice")
    equal(loop.status()["used"], 2, "iterations")


@cases("--completion", "--completion-promise", "--promise")
def test_names_of_other_tools_are_understood(t, name):
    loop = Loop(t, scripts={"all": "say FINE"})
    equal(loop.run(name, "FINE", check=None).code, 0, "exit status")


def test_without_any_rule_the_usual_promise_counts(t):
    loop = Loop(t, scripts={"all": "say '<promise>COMPLETE</promise>'"})
    equal(loop.run(check=None).code, 0, "exit status")


def test_a_promise_never_outvotes_a_check(t):
    loop = Loop(t, scripts={"all": "edit a $N; say DONE"})
    result = loop.run("--promise", "DONE", "-m", "2")
    equal(result.code, 2, "exit status", result)


@cases(*WORKSPACES)
def test_boxes_are_counted(t, workspace):
    loop = Loop(t, scripts={"1": "edit TASKS.md '- [x] one'; echo '- [ ] two' >>TASKS.md",
                            "2": "edit TASKS.md '- [x] one'; echo '- [x] two' >>TASKS.md"}, workspace=workspace)
    loop.write("TASKS.md", "- [ ] one\n")
    equal(loop.run("--tasks", "TASKS.md", check=None).code, 0, "exit status")
    equal(loop.status()["used"], 2, "iterations")


def test_a_check_that_runs_nothing_is_no_pass(t):
    loop = Loop(t, scripts={"all": "edit a $N"})
    result = loop.run("-m", "1", check="echo 'Ran 0 tests in 0.000s'; echo OK")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "ran nothing", "the progress")


@cases(*WORKSPACES)
def test_several_checks_must_all_pass(t, workspace):
    loop = Loop(t, scripts={"1": "edit done yes", "2": "edit other yes"}, workspace=workspace)
    result = loop.run("--check", "test -f other")
    equal(result.code, 0, "exit status", result)
    equal([[check["passed"] for check in entry["checks"]] for entry in loop.history()],
          [[True, False], [True, True]], "the checks")


def test_what_holds_already_is_not_started(t):
    loop = Loop(t, scripts={"all": "edit started yes"})
    loop.write("done")
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    contains(result.out, "every rule already holds", "the last line")
    expect(not os.path.exists(loop.path("started")), "no agent was started")


# Limits

def test_the_limit_of_iterations_names_itself(t):
    loop = Loop(t, scripts={"all": "edit a $N"})
    result = loop.run("--max-iterations", "2")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "--max-iterations", "the reason")
    equal((loop.status()["status"], loop.status()["used"]), ("limit", 2), "the status")


def test_the_total_time_is_a_limit(t):
    loop = Loop(t, scripts={"all": "edit a $N; sleep 1.1"})
    result = loop.run("--max-time", "1s")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "--max-time", "the reason")


def test_the_total_time_ends_a_running_agent(t):
    for seconds in (2, 8, 32):  # on a busy machine the time may be over before the agent starts
        loop = Loop(t, name=f"project{seconds}", scripts={"all": "edit a $N; spawn; hang"})
        result = loop.run("--max-time", f"{seconds}s")
        if os.path.exists(loop.path("a")):
            break
    equal(result.code, 2, "exit status", result)
    contains(result.out, "the agent timed out", "the progress")
    contains(result.out, f"(--max-time {seconds}s)", "the option")
    contains(result.out, f"limit: the total time has reached its limit of {seconds} s", "the reason")
    t.all_gone()


def test_an_agent_that_runs_out_of_time_is_ended(t):
    loop = Loop(t, scripts={"all": "say begun; spawn; sleep 100"})
    result = loop.run("--timeout", "1s", "-m", "1")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "s (--timeout 1s)", "the progress")
    equal(loop.history()[0]["failure"], "timeout", "the class of the failure")


def test_an_agent_that_is_silent_is_ended(t):
    loop = Loop(t, scripts={"all": "say begun; hang"})
    result = loop.run("--idle-timeout", "1s", "-m", "1")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "(--idle-timeout 1s)", "the progress")
    equal(loop.history()[0]["failure"], "hang", "the class of the failure")


def test_a_check_has_a_time_of_its_own(t):
    loop = Loop(t, scripts={"all": "edit a $N"})
    result = loop.run("--check-timeout", "1s", "-m", "1", check="test ! -e a || sleep 100; false")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "timed out (--check-timeout 1s)", "the progress")


def test_what_an_agent_leaves_running_is_ended(t):
    loop = Loop(t, scripts={"all": "spawn; say left one; edit done yes"})
    equal(loop.run().code, 0, "exit status")
    t.all_gone()


@cases(("exit 3", "crash"), ("say x; crash", "crash"), ("true", "no-op"), ("edit a $N", "check failed"))
def test_failures_have_classes(t, script, failure):
    loop = Loop(t, scripts={"all": script})
    loop.run("-m", "1")
    contains(loop.history()[0]["failure"].replace(" ", "-"), failure.replace(" ", "-"), "the class")


@user_only
def test_a_flood_of_output_is_read_and_cut(t):
    loop = Loop(t, scripts={"all": "flood 70000000; edit done yes"})
    equal(loop.run().code, 0, "exit status")
    size = os.path.getsize(os.path.join(loop.folder, "iterations/1/stdout.log"))
    expect(64 << 20 <= size <= 65 << 20, "the log has its bound", size)


def test_the_same_failure_again_and_again_opens_a_breaker(t):
    loop = Loop(t, scripts={"all": "say x; exit 3"})
    result = loop.run()
    equal(result.code, 1, "exit status", result)
    breakers = json.loads(loop.ringfence("circuit", "--json").out)["breakers"]
    expect(any(entry["state"] == "open" for entry in breakers), "a breaker is open", breakers)
    equal(loop.ringfence("circuit", "reset").code, 0, "circuit reset")
    breakers = json.loads(loop.ringfence("circuit", "show", "--json").out)["breakers"]
    expect(all(entry["state"] == "closed" for entry in breakers), "all are closed", breakers)


# Commands

def test_detach_prints_the_id_last_and_status_shows_it(t):
    loop = Loop(t, scripts={"all": "meet go; edit done yes"})
    began = int(time.time())
    ident = loop.detach()
    status = loop.status()
    equal((status["id"], status["project"]), (ident, loop.project), "the loop")
    expect(status["status"] in ("starting", "running") and status["supervisor_pid"], "it runs", status)
    expect(began <= status["last_heartbeat"] <= time.time(), "the heartbeat is new", status)
    second = loop.run()
    equal(second.code, 125, "exit status of a second one", second)
    contains(second.err, ident, "the refusal")
    contains(loop.ringfence("status").out, ident, "status for people")
    loop.write("go")
    equal(loop.ended("completed")["used"], 1, "iterations")


def test_a_second_loop_in_a_project_is_refused_with_what_can_be_done_instead(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    loop.detach()
    loop.there("here")
    result = loop.run()
    equal(result.code, 125, "exit status", result)
    contains(" ".join(result.err.split()), f"the loop {loop.status()['id']} is already running in this project (stop it with ringfence abort "
             f"{loop.status()['id']}; ringfence run --workspace draft starts another one beside it)", "stderr")
    loop.write("go")
    loop.ended("completed")


def test_two_loops_run_at_once_in_two_projects(t):
    loops = [Loop(t, name, scripts={"all": "meet go; edit done yes"}) for name in ("one", "two")]
    idents = [loop.detach() for loop in loops]
    everything = json.loads(loops[0].ringfence("status", "--all", "--json").out)["loops"]
    equal({entry["id"] for entry in everything}, set(idents), "the loops")
    for loop in loops:
        loop.write("go")
    for loop in loops:
        loop.ended("completed")


def test_pause_ends_the_iteration_and_resume_goes_on(t):
    loop = Loop(t, scripts={"1": "edit here-1 x; meet go", "2": "edit done yes"})
    loop.detach()
    loop.there("here-1")
    equal(json.loads(loop.ringfence("pause", "--json").out)["status"], "running", "pause as JSON")
    loop.write("go")
    status = loop.ended("paused")
    equal(status["used"], 1, "iterations")
    contains(status["reason"], "ringfence resume", "the reason")
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    equal(loop.ended("completed")["used"], 2, "iterations")


def test_resume_with_another_limit_goes_on(t):
    loop = Loop(t, scripts={"all": "edit step-$N $N; [ $N -lt 2 ] || edit done yes"})
    equal(loop.run("-m", "1").code, 2, "exit status")
    result = loop.ringfence("resume", "--follow", "-m", "3")
    equal(result.code, 0, "exit status of resume", result)
    status = loop.ended("completed")
    equal((status["used"], status["limits"]["iterations"]), (2, 3), "the status")
    refused = loop.ringfence("resume")
    equal(refused.code, 125, "exit status of another resume", refused)


@cases((), ("--now",))
def test_abort_ends_all_at_once(t, *words):
    loop = Loop(t, scripts={"all": "spawn; edit here x; hang"})
    loop.detach()
    loop.there("here")
    result = loop.ringfence("abort", *words)
    equal((at_work(), result.code), ([], 0), "what is left at the end of abort, and its exit status", result)
    t.all_gone()
    equal(loop.status()["status"], "aborted", "the status")
    equal(loop.ringfence("abort").code, 125, "exit status of another abort")


def test_a_paused_loop_can_be_aborted(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go"})
    loop.detach()
    loop.there("here")
    loop.ringfence("pause")
    loop.write("go")
    loop.ended("paused")
    equal(json.loads(loop.ringfence("abort", "--json").out)["status"], "aborted", "abort as JSON")
    equal(loop.status()["status"], "aborted", "the status")


def test_an_abort_is_an_exit_status_in_the_foreground(t):
    loop = Loop(t, scripts={"all": "edit here x; hang"})
    process = t.start([t.ringfence, *loop.run_words()], cwd=loop.project, stdout=-1, stderr=-1)
    loop.there("here")
    loop.ringfence("abort", "--now")
    equal(t.finish(process).code, 4, "exit status of run")


def test_a_signal_leaves_the_loop_in_the_background(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    process = t.start([t.ringfence, *loop.run_words()], cwd=loop.project, stdout=-1, stderr=-1)
    loop.there("here")
    os.kill(process.pid, signal.SIGINT)
    result = t.finish(process)
    equal(result.code, 5, "exit status of run", result)
    contains(result.out, "continues in the background", "the last line")
    loop.write("go")
    loop.ended("completed")


@cases(("p\n", "paused", 3), ("a\n", "aborted", 4), ("d\n", "completed", 5), ("\x03", "aborted", 4))
def test_on_a_terminal_ctrl_c_asks(t, answer, status, code):
    loop = Loop(t, scripts={"all": "edit here x; meet go; [ $N = 1 ] && ! [ -e really ] || edit done yes"})
    terminal = t.tty([t.ringfence, *loop.run_words()], cwd=loop.project)
    loop.there("here")
    terminal.send("\x03")
    terminal.expect(r"abort\? \[D/p/a\] ")
    terminal.send(answer)
    if status == "completed":
        equal(terminal.wait(), code, "exit status of run")
        loop.write("really")
    if status == "paused":
        terminal.expect("pausing when this iteration ends")
    loop.write("go") if status != "aborted" else None
    loop.ended(status)
    if status == "paused":
        terminal.expect("paused by you")
        lacks(terminal.text(), "continuing:", "what is said before")
    if status != "completed":
        equal(terminal.wait(), code, "exit status of run")


def test_logs_follow_to_the_end(t):
    loop = Loop(t, scripts={"1": "say one; edit here x; meet go; say two", "2": "say three; edit done yes"})
    loop.detach()
    loop.there("here")
    process = t.start([t.ringfence, "logs", "-f"], cwd=loop.project, stdout=-1, stderr=-1)
    equal(process.stdout.readline(), b"one\n", "the first line")
    loop.write("go")
    equal(t.finish(process).out, "two\nthree\n", "the rest")
    equal(loop.ringfence("logs", "--iteration", "1").out, "one\ntwo\n", "of iteration 1")
    equal(loop.ringfence("logs", "--iteration", "9").code, 125, "of one that is not there")
    loop.ended("completed")


def test_a_term_in_the_foreground_detaches_also_on_a_terminal(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    terminal = t.tty([t.ringfence, *loop.run_words()], cwd=loop.project)
    loop.there("here")
    os.kill(terminal.process.pid, signal.SIGTERM)
    equal(terminal.wait(), 5, "exit status of run")
    loop.write("go")
    loop.ended("completed")


def test_dry_run_shows_prompt_and_policy_and_starts_nothing(t):
    loop = Loop(t, scripts=STEPS)
    result = loop.run("--dry-run")
    equal(result.code, 0, "exit status", result)
    for part in ("make it", "iteration 1 of at most 20", "network", "limit", "  rules  "):
        contains(result.out, part, "what is shown")
    config = json.loads(loop.run("--dry-run", "--json", "--prompt-messages", "5", "--prompt-output-size", "none").out)["config"]
    equal([config[f"prompt_{key}"] for key in ("history", "messages", "message_bytes", "output_bytes")], [10, 5, 1500, 0], "limits")
    equal(json.loads(loop.ringfence("status", "--json").out), {"loops": [], "batches": []}, "the loops")


def test_a_prompt_file_is_the_objective(t):
    loop = Loop(t, scripts=STEPS)
    loop.write("PROMPT.md", "the long story")
    result = loop.ringfence("run", "-p", "PROMPT.md", "--agent-command", "sh agent.sh", "--check",
                            "test -f done", "--dry-run")
    contains(result.out, "the long story", "the prompt")


@cases((["run"], "an objective"), (["run", "x"], "--agent-command"),
       (["run", "x", "y", "--agent-command", "true"], "one objective"),
       (["run", "x", "--prompt-file", "agent.sh", "--agent-command", "true"], "not both"),
       (["run", "x", "--agent-command", "true", "--tasks", "/etc/passwd"], "not in the project"),
       (["run", "x", "--agent-command", "true", "--max-cost", "cheap"], "an amount"),
       (["run", "x", "--agent-command", "true", "--prompt-messages", "21"], "or none (the maximum is 20), not '21'"),
       (["status", "--jsn"], "--json"), (["pause"], "no loop"), (["resume", "nobody"], "nobody"),
       (["abort"], "no loop"), (["circuit"], "no loop"), (["logs"], "no loop"), (["history"], "no loop"), (["prompt"], "no loop"),
       (["exec", "--max-cost", "3", "--", "true"], "--max-cost"))
def test_what_cannot_be_meant_is_refused(t, words, part):
    loop = Loop(t)
    result = loop.ringfence(*words)
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, part, "the reason")


def test_a_projects_file_may_not_choose_the_agent(t):
    loop = Loop(t, scripts=STEPS)
    loop.write("ringfence.yml", "agent-command: ./evil\nmax-iterations: 3\n")
    result = loop.ringfence("run", "x", "--check", "true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "widens the fence (agent-command)", "the notice")
    own = loop.run("--dry-run")
    contains(own.out, "iteration 1 of at most 3", "what tightens holds")


def test_options_have_short_names_and_stand_anywhere(t):
    loop = Loop(t, scripts=STEPS)
    loop.write("PROMPT.md", "Build the bridge.\n")
    own = ["--agent-command", "true", "--dry-run"]
    for words in (["run", "-p", "PROMPT.md", "-m=4", *own, "--completion-promise", "ALL DONE"],
                  ["run", *own, "Build the bridge.", "--completion=ALL DONE", "-m", "4"],
                  ["run", *own, "-m", "4", "--promise", "ALL DONE", "--", "Build the bridge."]):
        result = loop.ringfence(*words)
        equal(result.code, 0, "exit status", result)
        for text in "Build the bridge.", "iteration 1 of at most 4", "ALL DONE":
            contains(result.out, text, " ".join(words))
    contains(loop.ringfence("run", "Build", "the", *own, "bridge").err, "put it in quotes", "advice")
    contains(loop.ringfence("status", "a", "b").err, "does not take the argument 'b'", "the reason")


def test_a_fence_that_cannot_be_made_is_refused_before_anything_starts(t):
    loop = Loop(t, scripts=STEPS)
    result = loop.run("--write", t.home)
    equal(result.code, 125, "exit status", result)
    equal(json.loads(loop.ringfence("status", "--json").out), {"loops": [], "batches": []}, "the loops")


def test_a_fence_that_fails_in_mid_run_ends_it_at_once(t):
    loop = Loop(t, scripts={"1": "edit here x; meet go", "2": "edit second x"})
    os.mkdir(os.path.join(t.home, "given"))
    process = t.start([t.ringfence, *loop.run_words("--read", os.path.join(t.home, "given"))],
                      cwd=loop.project, stdout=-1, stderr=-1)
    loop.there("here")
    os.rmdir(os.path.join(t.home, "given"))
    loop.write("go")
    result = t.finish(process)
    equal(result.code, 125, "exit status of run", result)
    equal(loop.ended()["status"], "failed", "the status")
    expect(not os.path.exists(loop.path("second")), "no other iteration was started")


@cases("run", "status", "logs", "history", "pause", "resume", "abort", "circuit")
def test_each_command_has_help_and_a_man_page(t, command):
    result = t.run([t.ringfence, command, "--help"])
    equal((result.code, result.err), (0, ""), "help", result)
    contains(result.out, f"usage: ringfence {command}", "help")
    contains(t.run([t.ringfence, "help", "--man", command]).out, ".SH SYNOPSIS", "the man page")


def test_the_agent_is_in_the_fence(t):
    """The scripted agent tries to get out, and reports the result."""
    t.at_home(".ssh/id_rsa", "the key")
    loop = Loop(t, scripts={"all": "cat ~/.ssh/id_rsa 2>&1; echo planted >../outside.txt; edit done yes"})
    equal(loop.run().code, 0, "exit status")
    out = loop.ringfence("logs").out
    lacks(out, "the key", "the log")
    expect(not os.path.exists(os.path.join(t.home, "outside.txt")), "nothing is planted outside")
    with open(os.path.join(t.home, ".ssh/id_rsa"), encoding="utf-8") as file:
        equal(file.read(), "the key", "the control: the key is there for its owner")


@cases(("max-iterations: 1000", "iterations", 20), ("max-iterations: 5", "iterations", 5),
       ("max-time: 100h", "time_s", 8 * 3600), ("timeout: 50h", "timeout_ms", 3600000))
def test_a_projects_own_file_can_only_tighten_the_limits_of_a_loop(t, line, name, value):
    loop = Loop(t, scripts={"all": "edit done yes"})
    t.write("ringfence.yml", f"{line}\n")
    equal(loop.run().code, 0, "exit status")
    equal(loop.ended("completed")["limits"][name], value, "the limit")
