"""A second opinion before the work is done: read-only, with its own budget, exact after a crash."""

import json
import os

from fakes import Server
from harness import cases, contains, equal, expect, lacks, user_only
from harness.loop import WORKSPACES, Loop, kill, until

EVENTS = ("--agent-format", "events")
CLEAR = '{"findings": []}'
FINE = f"printf '%s' '{CLEAR}'"
BLOCKS = 'printf \'%s\' \'{"findings": [{"severity": "blocking", "file": "step-1", "line": 1, "text": "too `small`"},' \
         ' {"severity": "advice", "text": "name it"}]}\''
# The reviewer is content with the second step.
SECOND = f"cat >/dev/null; if [ -e step-2 ]; then {FINE}; else {BLOCKS}; fi"
STEPS = {"all": "edit step-$N $N; edit done yes"}


def reviewing(t, script, workspace="in-place", scripts=None, name="project"):
    """A loop with a reviewer that runs this script."""
    loop = Loop(t, name, scripts=scripts or STEPS, workspace=workspace)
    loop.write("reviewer.sh", script)
    return loop


def said(text):
    """Prints a final message as an event."""
    return "printf '%s\\n' '" + json.dumps({"type": "final", "text": text}) + "'"


def review(*words):
    return ("--review", "command:sh reviewer.sh", *words)


@cases(*WORKSPACES)
def test_blocking_findings_reopen_the_loop_and_are_quoted(t, workspace):
    loop = reviewing(t, SECOND, workspace)
    result = loop.run(*review())
    equal(result.code, 0, "exit status", result)
    contains(result.out, "blocking: step-1:1: too `small`", "what a person sees")
    history = loop.history()
    equal([(entry["verdict"], [len(one["findings"]) for one in entry["reviews"]]) for entry in history],
          [("go on", [2]), ("done", [0])], "the iterations")
    contains(history[0]["reason"], "the reviewer has blocking findings", "the reason")
    with open(os.path.join(loop.folder, "iterations/2/prompt.md"), encoding="utf-8") as file:
        prompt = file.read()
    contains(prompt, "> step-1:1: too `small`\n\nThese are advice only:\n\n> name it\n", "the next prompt")
    with open(os.path.join(loop.folder, "iterations/1/review-1.prompt.md"), encoding="utf-8") as file:
        asked = file.read()
    for part in ("# Task\n\nmake it\n", "`test -f done` passes.\n", "> +++ b/step-1\n", "> +1\n", '"severity": "blocking"'):
        contains(asked, part, "the reviewer's prompt")
    contains(loop.ringfence("history").out, "review, US$ 0.0000: 1 blocking, 1 advice", "history")
    contains(loop.ringfence("status").out, "reviewed by command: no findings", "status")
    contains(loop.ringfence("logs", "--review", "--iteration", "1").out, "too `small`", "the log of the review")


@cases(*WORKSPACES)
def test_a_reviewer_can_read_everything_and_change_nothing(t, workspace):
    """The agent can write where the reviewer cannot: in the project, and in a path that the user opened."""
    elsewhere = os.path.join(t.home, "elsewhere")
    os.mkdir(elsewhere)
    tries = f"for file in new step-1 {elsewhere}/new; do echo x 2>/dev/null >$file && echo wrote $file; done"
    loop = reviewing(t, f"cat step-1 >&2; {tries} >&2; {FINE}", workspace,
                     {"all": f"edit step-1 old; edit done yes; {tries}"})
    result = loop.run(*review(), "--write", ".", "--write", elsewhere)
    equal(result.code, 0, "exit status", result)
    with open(os.path.join(loop.folder, "iterations/1/stdout.log"), encoding="utf-8") as file:
        equal(file.read().count("wrote"), 3, "what the agent wrote")
    with open(os.path.join(loop.folder, "iterations/1/review-1.stderr.log"), encoding="utf-8") as file:
        text = file.read()
    contains(text, "x\n", "what the reviewer read")
    lacks(text, "wrote", "what the reviewer wrote")


def test_rounds_without_agreement_pause_for_a_person(t):
    loop = reviewing(t, f"cat >/dev/null; {BLOCKS}")
    result = loop.run(*review("--review-rounds", "2"))
    equal(result.code, 3, "exit status", result)
    status = loop.status()
    contains(status["reason"], "round 2 of 2", "the reason")
    equal((status["used"], status["review"]["rounds"]), (2, 2), "iterations and rounds")
    loop.write("reviewer.sh", f"cat >/dev/null; {FINE}")
    equal(loop.ringfence("resume", "--follow").code, 0, "exit status of resume")
    equal(loop.status()["used"], 3, "the agent worked once more")


def test_a_reviewer_without_an_opinion_is_asked_again_and_then_a_person(t):
    loop = reviewing(t, "grep -q 'You were asked before' && echo again || echo fine")
    result = loop.run(*review())
    equal(result.code, 3, "exit status", result)
    contains(loop.status()["reason"], "the reviewer gave no opinion: its answer could not be read", "the reason")
    contains(loop.ringfence("logs", "--review").out, "-- iteration 1, review 2\nagain\n", "the second time")
    equal(loop.status()["used"], 0, "iterations that count")
    # Everything else holds: no agent is needed to ask again.
    loop.write("reviewer.sh", f"cat >/dev/null; {FINE}")
    equal(loop.ringfence("resume", "--follow").code, 0, "exit status of resume")
    kinds = [kind for kind, _ in loop.events()]
    equal((kinds.count("begun"), kinds.count("rechecks"), loop.status()["used"]), (1, 1, 1), "agents, reviews alone, iterations")


def test_a_reviewer_whose_provider_is_at_its_limit_is_waited_for(t):
    limited = 'printf \'{"type": "limit", "reset_at": %s}\\n\' $(($(date +%s) + 2))'
    loop = reviewing(t, f"cat >/dev/null; if [ -e go ]; then {said(CLEAR)}; else {limited}; fi")
    loop.detach(*review(), *EVENTS)
    contains(loop.waiting()["reason"], "limit", "the reason")
    loop.write("go")
    status = loop.ended("completed")
    kinds = [kind for kind, _ in loop.events()]
    equal((status["used"], kinds.count("begun")), (1, 1), "iterations and agents")
    expect(kinds.count("rechecks") == kinds.count("waits") >= 1, "each wait ends with another review", kinds)


def test_the_review_has_its_own_budget_and_cost(t):
    """An agent of US$ 0.03 and a reviewer of US$ 0.02, whose limit is less."""
    cost = f"""printf '%s\\n' '{{"type": "cost", "nusd": 20000000}}'; {said(CLEAR)}"""
    loop = reviewing(t, f"cat >/dev/null; {cost}", scripts={"all": "event cost '\"nusd\": 30000000'; edit done yes"})
    result = loop.run(*review("--review-budget", "0.05"), *EVENTS)
    equal(result.code, 0, "exit status", result)
    status = loop.status()
    equal((status["spent_nusd"], status["review"]["spent_nusd"]), (50000000, 20000000), "the cost, and that of reviews")
    other = reviewing(t, f"cat >/dev/null; {cost}; sleep 60", name="other")
    result = other.run(*review("--review-budget", "0.01"), *EVENTS)
    equal(result.code, 3, "exit status", result)
    contains(other.status()["reason"], "--review-budget US$ 0.01", "the limit is named")
    equal(len(other.history()[0]["reviews"]), 1, "it is not tried again")


def test_what_cannot_review_is_refused(t):
    loop = Loop(t)
    for words, why in ((("nobody",), "there is no agent 'nobody' (--review)"), (("command",), "--review 'command:LINE'"),
                       (("codex",), "Codex is not installed")):
        result = loop.run("--review", *words)
        equal(result.code, 125, "exit status", result)
        contains(result.err, why, "the refusal")
    equal(loop.run("-m", "1").code, 2, "without a review")
    result = loop.ringfence("logs", "--review")
    contains(result.err, "has no reviewer", "logs")


def test_the_built_in_agent_reviews_through_the_gateway(t):
    """Its requests are metered, and a line of their own in the ledger and in cost."""
    found = '{"findings": [{"severity": "blocking", "file": "done", "text": "it is empty"}]}'
    server = Server([
        {"text": "", "tools": [{"name": "read", "input": {"path": "done"}}]},
        {"text": "", "tools": [{"name": "write", "input": {"path": "spoiled", "content": "x"}}]},
        {"text": f"It is empty.\n```json\n{found}\n```", "tools": []},
        {"text": '```json\n{"findings": []}\n```', "tools": []}], ("127.0.0.1", 0))
    t.cleanups.append(server.close)
    t.at_home(".config/ringfence/config.yml", f"upstream: [anthropic={server.address}]\n")
    loop = Loop(t, scripts={"1": "edit done", "2": "edit done yes"}, workspace="draft")
    result = loop.run("--review", "builtin:claude-sonnet-4-5", "--max-cost", "5",
                      env=t.env(ANTHROPIC_API_KEY="sk-real-0123456789abcdef0123456789"))
    equal(result.code, 0, "exit status", result)
    contains(result.out, "blocking: done: it is empty", "the finding")
    expect(not os.path.exists(loop.made("spoiled")), "the reviewer wrote nothing", result)
    status = loop.status()
    expect(0 < status["review"]["spent_nusd"] == status["spent_nusd"], "all of the cost is that of reviews", status)
    costs = json.loads(loop.ringfence("cost", "--by", "agent", "--json", status["id"]).out)
    equal([(line["agent"], line["requests"], line["cost_nusd"]) for line in costs["lines"]],
          [("builtin (review)", 4, status["spent_nusd"])], "the lines of cost")
    equal([one["metered"]["requests"] for entry in loop.history() for one in entry["reviews"]], [3, 1], "requests of each review")


# Crashes

# Each step and each review costs once: a repeated one finds the mark of the previous one, which only an agent can make.
PAID = {"all": "[ -e paid-$N ] || event cost '\"nusd\": 30000000'; edit paid-$N x; edit step-$N $N; edit done yes"}


def paid_reviewer():
    blocks = '{"findings": [{"severity": "blocking", "text": "one more step"}]}'
    return f"cat >/dev/null; if [ -e step-2 ]; then {said(CLEAR)}; else {said(blocks)}; fi\n"


def outcome(loop):
    status = loop.ended()
    steps = sorted(name for name in loop.tree() if name.startswith("step"))
    return status["status"], status["used"], status["spent_nusd"], status["review"]["rounds"], steps


WHOLE = ("completed", 2, 60000000, 1, ["step-1", "step-2"])


def started(loop, fault=None):
    env = {"env": loop.t.env(RINGFENCE_FAULT=fault)} if fault else {}
    return loop.detach(*review(), *EVENTS, **env)


def test_the_loop_of_the_review_sweep_has_twenty_events(t):
    loop = reviewing(t, paid_reviewer(), scripts=PAID)
    started(loop)
    equal(outcome(loop), WHOLE, "the end")
    equal([kind for kind, _ in loop.events()][9:],
          ["checked", "reviewing", "reviewed", "continued", "begun", "ended", "checkpointed", "checked", "reviewing", "reviewed", "finished"], "the events")


@user_only
@cases(9, 10, 11, 12, 17, 18, 19)
def test_a_supervisor_killed_at_any_event_of_a_review_changes_nothing(t, number):
    t.leftover_runs = True
    loops = {fault: reviewing(t, paid_reviewer(), scripts=PAID, name=f"fault-{fault}") for fault in (f"{number}", f"{number}+", f"{number}b+")}
    for fault, loop in loops.items():
        started(loop, fault)
    both = loops[f"{number}b+"]
    until("the end of both", lambda: not both.status()["supervisor_pid"] and both.status()["status"] in ("interrupted", "completed"))
    if both.status()["status"] == "interrupted":
        equal(both.ringfence("resume").code, 0, "exit status of resume")
    for fault, loop in loops.items():
        equal(outcome(loop), WHOLE, f"the end at {fault}")
    t.all_gone()


def test_a_review_that_is_cut_off_is_repeated_alone(t):
    """By the death of its runner, and of its supervisor; its cost counts each time."""
    t.leftover_runs = True
    # A review that has said something has already decided whether it waits.
    cost = "printf '%s\\n' '{\"type\": \"cost\", \"nusd\": 1000000}'"
    loop = reviewing(t, f"cat >/dev/null; if [ -e go ]; then {cost}; {said(CLEAR)}; else {cost}; sleep 300; fi")
    loop.detach(*review(), *EVENTS)

    def reviews(count):
        path = os.path.join(loop.folder, f"iterations/1/review-{count}.stdout.log")
        return os.path.exists(path) and os.path.getsize(path) > 0

    until("a review", lambda: reviews(1))
    kill(loop.runner())
    until("another review", lambda: reviews(2))
    kill(loop.supervisor())
    until("a third review", lambda: reviews(3))
    loop.write("go")
    kill(loop.runner())
    status = loop.ended("completed")
    equal((status["used"], status["review"]["spent_nusd"]), (1, 4000000), "iterations, and the cost of four reviews", status)
    kinds = [kind for kind, _ in loop.events()]
    equal((kinds.count("begun"), kinds.count("reviewing"), kinds.count("interrupted")), (1, 4, 0), "agents, reviews and interruptions")
    t.all_gone()
