"""An agent's reports about itself: limits, errors, cost and its session, with --agent-format events."""

import json
import os
import time

from harness import cases, contains, each_identity, equal, expect, lacks
from harness.loop import LoopInPlace as Loop
from harness.loop import kill, until

ANY_IDENTITY = "What follows from an agent's reports is decided by their content."

EVENTS = ("--agent-format", "events")
CENT = 10**7  # nano-dollars


def cost(cents):
    return f"event cost '\"nusd\": {cents * CENT}'"


def events_of(loop, kind):
    return [json.loads(data) for name, data in loop.events() if name == kind]


# Every class of failure, and every exit status

@cases(("event limit '\"reset_at\": '$(($(date +%s) + 3600))", "provider limit", "wait"),
       ("event limit '\"text\": \"try again in 2 hours\"'", "provider limit", "wait"),
       ("event overloaded", "overloaded", "wait"), ("event auth", "authentication", "pause"),
       ("event budget; exit 1", "budget", "limit"), ("event error; exit 1", "crash", "limit"),
       ("event final '\"ok\": false'", "crash", "limit"),
       ("event limit; event final '\"text\": \"it went on\"'; edit a $N", "check failed", "limit"),
       ("event final; exit 3", "check failed", "limit"), ("event text; crash", "crash", "limit"),
       ("true", "no-op", "limit"), ("edit /etc/out x || exit 1", "denial", "limit"),
       ("event text '\"text\": \"the rate limit is 429\"'; edit a $N", "check failed", "limit"))
def test_a_failure_has_the_class_that_facts_give_it(t, script, failure, verdict):
    loop = Loop(t, scripts={"all": script})
    loop.detach(*EVENTS, "-m", "1")
    if verdict == "wait":
        status = loop.waiting()
        equal((status["status"], status["used"]), ("waiting", 0), "the status", status)
        equal(loop.ringfence("abort").code, 0, "exit status of abort")
    loop.ended()
    entry = loop.history()[0]
    equal((entry["failure"], entry["verdict"]), (failure, verdict), "class and verdict", entry)


@cases(("edit done yes", 0, "completed"), ("exit 3", 1, "failed"), ("edit a $N", 2, "limit"),
       ("event auth '\"text\": \"the key is old\"'", 3, "paused"))
@each_identity
def test_every_status_has_its_exit_status(t, script, code, status):
    loop = Loop(t, scripts={"all": script})
    result = loop.run(*EVENTS, "-m", "9", "--max-errors", "2", "--max-no-progress", "3")
    equal((result.code, loop.status()["status"]), (code, status), "exit status and status", result)


# Limits of the provider

def test_a_limit_is_waited_out_to_the_stated_time_and_uses_up_no_iteration(t):
    loop = Loop(t, scripts={"1": "[ -e reset ] || { date +%s >now; echo $(($(cat now) + 2)) >reset; event limit"
                                 " '\"reset_at\": '$(cat reset); exit 1; }; date +%s >again; edit done yes"})
    result = loop.run(*EVENTS, "-m", "1")
    equal(result.code, 0, "exit status", result)
    contains(result.out, ": the provider's limit is reached\n", "the progress")
    expect("UTC" not in result.out.partition("waiting until")[2].partition("\n")[0], "the time is said once", result.out)
    tree = loop.tree()
    expect(int(tree["again"]) >= int(tree["reset"]), "it was waited to the end", tree)
    equal([event["until_ms"] for event in events_of(loop, "waits")], [int(tree["reset"]) * 1000], "what was decided")
    late_ms = loop.times("waited")[0] - int(tree["reset"]) * 1000
    expect(0 <= late_ms < 3000, "the wait was over then", late_ms)
    equal([(entry["iteration"], entry["attempt"], entry["verdict"]) for entry in loop.history()],
          [(1, 1, "wait"), (1, 2, "done")], "the iterations")
    equal(loop.status()["used"], 1, "iterations that count")


@each_identity
def test_a_wait_survives_a_restart_of_the_supervisor(t):
    loop = Loop(t, scripts={"1": "[ -e reset ] || { echo $(($(date +%s) + 8)) >reset; event limit '\"reset_at\": '"
                                 "$(cat reset); exit 1; }; date +%s >again; edit done yes"})
    loop.detach(*EVENTS)
    before = loop.waiting()
    kill(before["supervisor_pid"])
    until("another supervisor", lambda: loop.status()["supervisor_pid"] not in (None, before["supervisor_pid"]))
    equal(loop.status()["status"], "waiting", "the status")
    loop.ended("completed")
    tree = loop.tree()
    expect(int(tree["again"]) >= int(tree["reset"]), "it was waited to the end", tree)
    equal(len(events_of(loop, "waits")), 1, "waits that were decided")


def test_a_limit_in_words_is_read_in_the_zone_that_it_names(t):
    loop = Loop(t, scripts={"all": "event limit \"\\\"text\\\": \\\"resets at $(TZ=UTC-2 date -d '+90 minutes' +%H:%M) "
                                   "(GMT+2)\\\"\"; exit 1"})
    loop.detach(*EVENTS)
    loop.waiting()
    left = events_of(loop, "waits")[0]["until_ms"] / 1000 - time.time()
    zoned = loop.ringfence("status", env=t.env(TZ="EST+5")).out
    wanted = time.strftime("%Y-%m-%d %H:%M:%S EST", time.gmtime(loop.status()["waits_until"] - 5 * 3600))
    contains(zoned, f"    the provider's limit is reached: waiting until {wanted}\n", "the time where a person is")
    expect(5200 < left < 5460, "an hour and a half is left", left)
    equal(loop.ringfence("abort").code, 0, "exit status of abort")


@cases("pause", "abort")
def test_a_wait_can_be_ended_by_a_person(t, command):
    loop = Loop(t, scripts={"all": "event overloaded"})
    loop.detach(*EVENTS)
    loop.waiting()
    equal(loop.ringfence(command).code, 0, f"exit status of {command}")
    loop.ended("paused" if command == "pause" else "aborted")


def test_a_wait_beyond_the_total_time_is_a_limit(t):
    loop = Loop(t, scripts={"all": "event limit '\"text\": \"try again in 20 hours\"'"})
    result = loop.run(*EVENTS)
    equal(result.code, 2, "exit status", result)
    contains(result.out, "--max-time", "the reason")


def test_authentication_pauses_at_once_and_resume_tries_again(t):
    loop = Loop(t, scripts={"1": "[ -e key ] || { event auth '\"text\": \"the key is old\"'; exit 1; }; edit done yes"})
    result = loop.run(*EVENTS)
    equal(result.code, 3, "exit status", result)
    contains(result.out, "the key is old", "the progress")
    equal(loop.status()["used"], 0, "iterations that count")
    loop.write("key")
    equal(loop.ringfence("resume", "--follow").code, 0, "exit status of resume")


# Money

def test_what_the_events_say_is_what_is_spent(t):
    loop = Loop(t, scripts={"1": f"{cost(3)}; {cost(4)}; edit a 1",
                            "2": "event final '\"usd\": 0.05, \"input\": 7'; edit done yes"})
    result = loop.run(*EVENTS)
    equal(result.code, 0, "exit status", result)
    contains(result.out, "US$ 0.0700", "the progress")
    contains(result.out, "US$ 0.07 of 25.00 spent", "the progress")
    equal(loop.status()["spent_nusd"], 12 * CENT, "in status")
    equal(loop.said()["spent_nusd"], 12 * CENT, "in the state file")
    equal([event.get("cost_nusd") for event in events_of(loop, "ended")], [7 * CENT, 5 * CENT], "in the journal")
    equal(loop.history()[1]["tokens"], {"input": 7}, "tokens: what is not known is not there")
    contains(loop.ringfence("status").out, "US$ 0.12", "status for people")


def test_an_agent_that_has_spent_its_budget_is_ended(t):
    loop = Loop(t, scripts={"1": f"{cost(3)}; {cost(4)}; edit spent x; hang", "2": "edit done yes"})
    result = loop.run(*EVENTS, "--budget", "0.07")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "had used up its budget", "the progress")
    equal([entry["failure"] for entry in loop.history()], ["budget", "none"], "the classes")
    equal(loop.status()["spent_nusd"], 7 * CENT, "what is spent")


@cases("none", "0.50")
def test_a_budget_can_be_raised_or_taken_away(t, budget):
    loop = Loop(t, scripts={"1": f"{cost(8)}; edit spent x; hang", "2": f"{cost(8)}; edit done yes"})
    equal(loop.run(*EVENTS, "--budget", "0.07", "-m", "1").code, 2, "exit status")
    result = loop.ringfence("resume", "--follow", "--budget", budget, "-m", "2")
    equal(result.code, 0, "exit status of resume", result)
    equal([entry["failure"] for entry in loop.history()], ["budget", "none"], "the classes")


def test_below_its_budget_nobody_is_ended(t):
    loop = Loop(t, scripts={"all": f"{cost(6)}; edit done yes"})
    equal(loop.run(*EVENTS, "--budget", "0.07").code, 0, "exit status")


def test_the_cost_of_the_loop_is_a_limit_and_resume_can_raise_it(t):
    loop = Loop(t, scripts={"1": f"{cost(6)}; edit a 1", "2": f"{cost(6)}; edit here x; hang",
                            "3": f"{cost(6)}; edit done yes"})
    result = loop.run(*EVENTS, "--max-cost", "0.10")
    equal(result.code, 2, "exit status", result)
    contains(result.out, "--max-cost", "the reason")
    status = loop.status()
    equal((status["status"], status["spent_nusd"], status["used"]), ("limit", 12 * CENT, 2), "the status")
    again = loop.ringfence("resume", "--follow")
    equal(again.code, 125, "exit status of a resume without more money", again)
    contains(again.err, "--max-cost", "the reason")
    equal(loop.status()["used"], 2, "iterations: none was begun")
    equal(loop.ringfence("resume", "--follow", "--max-cost", "1").code, 0, "exit status of resume")
    equal(loop.status()["spent_nusd"], 18 * CENT, "what is spent")


def test_the_warning_pauses_once(t):
    loop = Loop(t, scripts={"1": f"{cost(6)}; edit a 1", "2": f"{cost(6)}; edit done yes"})
    result = loop.run(*EVENTS, "--warn-cost", "0.05")
    equal(result.code, 3, "exit status", result)
    contains(result.out, "--warn-cost", "the reason")
    equal(loop.ringfence("resume", "--follow").code, 0, "exit status of resume")
    equal(loop.status()["used"], 2, "iterations")


def test_a_warning_level_that_is_lowered_pauses_once_too(t):
    loop = Loop(t, scripts={"1": f"{cost(6)}; edit a 1", "2": "edit done yes"})
    equal(loop.run(*EVENTS, "-m", "1").code, 2, "exit status")
    resume = ("resume", "--follow", "-m", "3")
    equal(loop.ringfence(*resume, "--warn-cost", "0.05").code, 3, "exit status of resume")
    equal(loop.ringfence(*resume).code, 0, "exit status of the next")


def test_a_warning_need_not_pause(t):
    loop = Loop(t, scripts={"1": f"{cost(6)}; edit a 1", "2": "edit done yes"})
    result = loop.run(*EVENTS, "--warn-cost", "0.05", "--no-pause-on-warning")
    equal(result.code, 0, "exit status", result)
    contains(json.dumps(loop.history()[0]["reasons"]), "--warn-cost", "the warning")


@each_identity
def test_what_an_aborted_or_interrupted_agent_spent_is_spent(t):
    t.leftover_runs = True
    loop = Loop(t, scripts={"1": f"{cost(3)}; [ -e again ] && edit more x; edit here x; hang"})
    loop.detach(*EVENTS)
    loop.there("here")
    loop.heard("cost")
    os.unlink(loop.path("here"))
    loop.write("again")
    kill(loop.supervisor())
    loop.there("more")
    equal(loop.status()["spent_nusd"], 3 * CENT, "what the interrupted one spent")
    equal(loop.history()[0]["cost_nusd"], 3 * CENT, "in the history")
    loop.ringfence("abort")
    equal(loop.ended("aborted")["spent_nusd"], 6 * CENT, "what both spent")


# Sessions, and what is said

SESSION = "printf 'had:%s\\n' \"${RINGFENCE_SESSION-none}\" >had-$N; event started '\"session\": \"abc-'$N'\"'"


@cases(("fresh", "had:none\n"), ("continue", "had:abc-1\n"))
def test_a_session_is_continued_on_request(t, how, second):
    loop = Loop(t, scripts={"all": f"{SESSION}; [ $N -lt 2 ] || edit done yes"})
    equal(loop.run(*EVENTS, "--session", how).code, 0, "exit status")
    tree = loop.tree()
    equal((tree["had-1"], tree["had-2"]), ("had:none\n", second), "what the agents had")


def test_a_session_that_is_no_name_is_not_handed_on(t):
    script = SESSION.replace("abc-", "a b\\n$(reboot)")
    loop = Loop(t, scripts={"all": f"{script}; [ $N -lt 2 ] || edit done yes"})
    equal(loop.run(*EVENTS, "--session", "continue").code, 0, "exit status")
    equal(loop.tree()["had-2"], "had:none\n", "what the second agent had")


def test_the_promise_is_looked_for_in_the_final_message(t):
    loop = Loop(t, scripts={"1": "event final '\"text\": \"not yet\"'; echo DONE",
                            "2": "event final '\"text\": \"it is\\nDONE\"'; event tokens"})
    equal(loop.run(*EVENTS, "--promise", "DONE", check=None).code, 0, "exit status")
    equal(loop.status()["used"], 2, "iterations")


def test_what_is_no_event_is_counted_and_harmless(t):
    loop = Loop(t, scripts={"all": "echo '{\"type\": \"tool\"'; echo '[]'; printf '\\0\\377\\n'; flood 3000000; echo;"
                                   f"{cost(3)}; printf '{{\"type\": \"cost\", \"nusd\": 5}}'; edit done yes"})
    equal(loop.run(*EVENTS).code, 0, "exit status")
    ended = events_of(loop, "ended")[0]
    equal((ended["unknown_events"], ended["cost_nusd"]), (4, 3 * CENT + 5), "what was understood", ended)


@cases((("--agent", "nobody"), "there is no agent 'nobody'"), (("--agent-format", "xml"), "plain, events"),
       (("--session", "old"), "fresh or continue"))
def test_an_agent_that_is_not_known_is_refused(t, words, part):
    loop = Loop(t)
    result = loop.run(*words)
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, part, "the reason")


def test_agent_command_is_an_agent_by_name(t):
    loop = Loop(t, scripts={"all": "edit done yes"})
    equal(loop.run("--agent", "command").code, 0, "exit status")
    config = events_of(loop, "created")[0]["config"]
    equal((config["agent"], config["agent_format"], config["session"]), ("command", "plain", "fresh"), "frozen")
    missing = loop.ringfence("run", "x", "--agent", "command")
    equal(missing.code, 125, "exit status without a command", missing)
    contains(missing.err, "--agent-command", "the reason")


def test_plain_output_is_never_taken_for_facts(t):
    loop = Loop(t, scripts={"all": f"event auth; {cost(99)}; edit done yes"})
    result = loop.run()
    equal((result.code, loop.status()["spent_nusd"]), (0, 0), "exit status and cost", result)
    lacks(result.out, "cost US$", "the progress")
