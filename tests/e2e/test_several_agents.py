"""Several agents: another one takes over at a provider's limit, a stronger one when the work is stalled; exact after a crash."""

import json
import os

from harness import cases, contains, equal, expect, user_only
from harness.loop import Loop, until

EVENTS = ("--agent-format", "events")
# The scripted agent is the first one; SECOND is another command line that reads the same scripts.
BOTH = ("--agent", "command,command:sh second.sh")
LIMIT = "event limit \"\\\"reset_at\\\": $(($(date +%s) + {seconds}))\"; exit 0"


def begin(t, first, second, name="project"):
    loop = Loop(t, name, scripts={"all": first})
    with open(os.path.join(loop.project, "agent.sh"), encoding="utf-8") as file:
        loop.write("second.sh", file.read().replace("script/", "other/"))
    os.mkdir(loop.path("other"))
    loop.write("other/all", second)
    return loop


def parts(loop):
    return [json.loads(data)["part"] for kind, data in loop.events() if kind == "begun"]


def test_a_long_limit_hands_over_with_the_memory_and_back(t):
    """The second agent works until the limit of the first one is over."""
    first = ("if [ -e step-2 ]; then edit done yes; elif [ -e step-0 ]; then edit reset $(($(date +%s) + 3)); "
             + LIMIT.format(seconds=3) + "; else edit step-0 x; event final '\"text\": \"I began with a zero.\"'; fi")
    second = "edit step-2 x; until [ $(date +%s) -gt $(cat reset) ]; do sleep 0.1; done; event final '\"text\": \"And I went on.\"'"
    loop = begin(t, first, second)
    result = loop.run(*BOTH, *EVENTS, "--patience", "1s")
    equal(result.code, 0, "exit status", result)
    equal(parts(loop), [0, 0, 1, 0], "who worked")
    equal([(entry["iteration"], entry["attempt"], entry["verdict"], entry["counts"]) for entry in loop.history()],
          [(1, 1, "go on", True), (2, 1, "go on", False), (2, 2, "go on", True), (3, 1, "done", True)], "the iterations")
    contains(loop.history()[1]["reason"], "command takes over until then (--patience 1 s)", "the reason")
    with open(os.path.join(loop.folder, "iterations/2.2/prompt.md"), encoding="utf-8") as file:
        contains(file.read(), "I began with a zero.", "what the second agent knows")
    with open(os.path.join(loop.folder, "iterations/3/prompt.md"), encoding="utf-8") as file:
        contains(file.read(), "And I went on.", "what the first agent knows")
    contains(loop.ringfence("history").out, "by command\n", "history")
    agents = loop.status()["agents"]
    equal([(one["name"], one["works"]) for one in agents], [("command", True), ("command", False)], "the agents")
    expect(agents[0]["limited_until"] > 0 and "limited_until" not in agents[1], "the limit of the first agent", agents)


def test_a_short_limit_and_a_limit_of_all_agents_are_waited_for(t):
    loop = begin(t, LIMIT.format(seconds=7200), LIMIT.format(seconds=3600))
    loop.detach(*BOTH, *EVENTS, "--patience", "3h")
    loop.waiting()
    equal(parts(loop), [0], "who worked before a short limit")
    loop.ringfence("abort")
    loop.ended("aborted")
    loop.detach(*BOTH, *EVENTS, "--patience", "10m")
    status = loop.waiting()
    equal(parts(loop), [0, 1], "who worked before all were at their limits")
    limits = [one["limited_until"] for one in status["agents"]]
    equal(status["waits_until"], min(limits), "the end of the first limit", status)
    contains(loop.ringfence("status").out, "the provider of command is at its limit until", "status")
    loop.ringfence("abort")
    loop.ended("aborted")


def test_a_stalled_loop_climbs_to_a_stronger_agent_and_down_again(t):
    """Two iterations without progress climb a step, one with progress goes down again."""
    weak = "[ -e step-3 ] && edit done yes; say nothing"
    strong = "edit step-$N x; say strong"
    loop = begin(t, weak, strong)
    result = loop.run("--escalate", "command:sh second.sh", "--escalate-after", "2")
    equal(result.code, 0, "exit status", result)
    equal(parts(loop), [0, 0, 1, 0], "who worked")
    reasons = [entry["reasons"] for entry in loop.history()]
    expect(any("climbing to command (--escalate-after)" in text for text in reasons[1]), "why it climbs", reasons[1])
    expect(any("progress: back to command" in text for text in reasons[2]), "why it comes down", reasons[2])


@cases((("--agent", "command,nobody"), "there is no agent 'nobody' (--agent)"), (("--escalate", "nobody"), "'nobody' (--escalate)"),
       (("--agent", ",".join(["command"] * 17)), "a loop has at most 16 agents"))
def test_what_cannot_work_is_refused(t, words, why):
    result = Loop(t).run(*words)
    equal(result.code, 125, "exit status", result)
    contains(result.err, why, "the refusal")


# Crashes: the first agent is at its limit, the second one does the work and costs once.

ONCE = "[ -e paid ] || event cost '\"nusd\": 30000000'; edit paid x; edit done yes"
END = ("completed", 1, 30000000, [0, 1])


def outcome(loop):
    status = loop.ended()
    settled = [part for number, part in enumerate(parts(loop)) if loop.history()[number]["verdict"] != "interrupted"]
    return status["status"], status["used"], status["spent_nusd"], settled


def test_the_loop_of_the_sweep_has_fifteen_events(t):
    loop = begin(t, LIMIT.format(seconds=7200), ONCE)
    loop.detach(*BOTH, *EVENTS)
    equal(outcome(loop), END, "the end")
    equal([kind for kind, _ in loop.events()][6:], ["begun", "ended", "checked", "continued", "begun", "ended", "checkpointed", "checked", "finished"],
          "the events")


@user_only
@cases(*range(6, 15))
def test_a_supervisor_killed_at_any_event_of_a_hand_over_changes_nothing(t, number):
    t.leftover_runs = True
    loops = {fault: begin(t, LIMIT.format(seconds=7200), ONCE, f"fault-{fault}") for fault in (f"{number}", f"{number}+", f"{number}b+")}
    for fault, loop in loops.items():
        loop.detach(*BOTH, *EVENTS, env=t.env(RINGFENCE_FAULT=fault))
    both = loops[f"{number}b+"]
    until("the end of both", lambda: not both.status()["supervisor_pid"] and both.status()["status"] in ("interrupted", "completed"))
    if both.status()["status"] == "interrupted":
        equal(both.ringfence("resume").code, 0, "exit status of resume")
    for fault, loop in loops.items():
        status, used, spent, settled = outcome(loop)
        # The first agent is asked again if its limit was not recorded.
        equal((status, used, spent, sorted(set(settled)), settled[-1]), (*END[:3], [0, 1], 1), f"the end at {fault}")
    t.all_gone()
