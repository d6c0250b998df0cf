"""Alerts: a loop that needs attention says so, pauses, asks or is aborted."""

import json

from harness import cases, contains, equal, lacks
from harness.loop import Loop

ANY_IDENTITY = "Alerts are judged by what an agent reports."

EVENTS = ("--agent-format", "events")
CALLS = "for i in 1 2 3 4; do event tool; done\n"


def alerts(loop):
    return [json.loads(data) for name, data in loop.events() if name == "alerted"]


def test_an_alert_is_reported_once_in_an_iteration(t):
    loop = Loop(t, scripts={"1": CALLS + "edit a 1", "2": CALLS + "edit done yes"})
    result = loop.run(*EVENTS, "--alert", "tool-calls 2")
    equal(result.code, 0, "exit status", result)
    equal([(one["rule"], one["iteration"], one["then"]) for one in alerts(loop)],
          [("tool-calls", 1, "notify"), ("tool-calls", 2, "notify")], "the alerts")
    contains(result.out, "ALERT: more than 2 tool calls in this iteration", "the progress")
    contains(loop.ringfence("history").out, "ALERT: more than 2 tool calls in this iteration", "history")


@cases(("tool-calls 3 pause", "to continue: ringfence resume", "paused"),
       ("tool-calls 3 ask", "go on? (yes: ringfence resume; no: ringfence abort)", "paused"),
       ("tool-calls 3 abort", "more than 3 tool calls", "aborted"))
def test_an_alert_stops_an_agent_that_would_never_end(t, alert, words, status):
    loop = Loop(t, scripts={"1": CALLS + "hang"})
    result = loop.run(*EVENTS, "--alert", alert)
    contains(result.out, words)
    contains(result.out, "more than 3 tool calls in this iteration (4 so far)")
    equal(loop.ended(status)["iteration"], 1, "the iteration")
    contains(loop.ringfence("status").out, words, "status")
    contains(loop.ringfence("status").out, "ALERT: more than 3 tool calls", "status")


def test_a_loop_that_an_alert_has_paused_goes_on_with_another_level(t):
    loop = Loop(t, scripts={"1": CALLS + "[ -e go ] || hang; edit done yes"}, workspace="in-place")
    equal(loop.run(*EVENTS, "--alert", "tool-calls 3 pause").code, 3, "exit status")
    loop.write("go")
    result = loop.ringfence("resume", "--follow", "--alert", "tool-calls 4")
    equal(result.code, 0, "exit status of resume", result)
    equal(len(alerts(loop)), 1, "alerts")


def test_what_is_known_at_the_end_of_an_iteration_pauses_before_the_next_one(t):
    loop = Loop(t, scripts={"1": "for i in 1 2 3; do edit new$i x; done"})
    result = loop.run("--alert", "files 2 pause")
    equal(result.code, 3, "exit status", result)
    contains(result.out, "more than 2 files were changed in this iteration (3)")
    kinds = [kind for kind, _ in loop.events()]
    equal((kinds.count("begun"), kinds.count("interrupted")), (1, 0), "iterations, and those that were cut off")


def test_an_alert_that_is_off_is_not_reported(t):
    loop = Loop(t, scripts={"1": CALLS + "edit done yes"})
    result = loop.run(*EVENTS, "--alert", "tool-calls 3", "--alert", "tool-calls off")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "completed")
    lacks(result.out, "ALERT")


def test_a_malformed_alert_is_refused_before_anything_starts(t):
    loop = Loop(t)
    result = loop.run("--alert", "tool-call 3")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "alert: 'tool-call' is not a rule (errors, tool-calls,")
