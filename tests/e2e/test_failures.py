"""A provider that refuses requests, through the gateway: the loop's response is the same for every kind of agent."""

import json
import socket
import struct
import threading
import time

from harness import cases, contains, each_identity, equal, expect
from harness.client import CLIENT
from harness.loop import Loop
from harness.provider import STREAM, Provider, chunk, event, message, message_events, respond, stream

ANY_IDENTITY = "What follows from a provider's answers is decided by their content."

KEY = "sk-ant-real-0123456789abcdef"

SAY = CLIENT + """
def say(text):
    return post({"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": text}]})
"""

# One request, as an agent makes it; exits 1 where it is refused.
ASK = SAY + """
status, read = say("hi")
read()
sys.exit(status != 200)
"""

# How an agent behaves whose request is refused: what it runs (None: the built-in agent), and the options of `run`.
AGENTS = {
    "plain": ("python3 ask.py", ()),
    "events": ("python3 ask.py || event error; exit 1", ("--agent-format", "events")),
    "builtin": (None, ("--agent", "builtin", "--model", "claude-opus-5-5")),
    "plain, exit status 0": ("python3 ask.py; exit 0", ()),
    "plain, with an edit": ("python3 ask.py; edit a $N; say 'I did what I could'", ()),
    "events, but none": ("python3 ask.py; exit 0", ("--agent-format", "events")),
}
KINDS = tuple(AGENTS)[:3]

# The provider's answer and the loop's report: status, type, message, class, words.
REFUSALS = {
    401: ("authentication_error", "invalid x-api-key", "authentication", "the provider rejected the key or login"),
    403: ("permission_error", "your key may not use this", "permission", "the key or account is not allowed to do this"),
    402: ("billing_error", "pay your bill", "billing", "the provider's account has no credit left"),
    400: ("invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "billing",
          "the provider's account has no credit left"),
    404: ("not_found_error", "model: claude-opus-5-5", "model not found", "the provider does not know the model 'claude-opus-5-5'"),
}
PASSING = {
    429: ("rate_limit_error", "slow down", "provider limit", "the provider's limit is reached"),
    529: ("overloaded_error", "Overloaded", "overloaded", "the provider is overloaded"),
    503: ("api_error", "no server", "overloaded", "the provider is overloaded"),
    500: ("api_error", "Internal server error", "server error", "the provider has an internal error"),
    0: (None, None, "unreachable", "cannot be reached: Connection refused"),
}


def refusal(status, kind, text):
    return respond({"type": "error", "error": {"type": kind, "message": text}}, f"{status} No", "application/json", "x-should-retry: false")


class World:
    """A provider that gives one answer, settings that point to it (port: to nobody), and a loop."""

    def __init__(self, t, answer, agent, port=None):
        self.script, self.words = AGENTS[agent]
        if not port:
            self.provider = Provider(answer)
            t.cleanups.append(self.provider.close)
        t.at_home(".config/ringfence/config.yml", f"upstream: [anthropic=http://127.0.0.1:{port or self.provider.port}]\n")
        self.loop = Loop(t, scripts={"all": self.script} if self.script else None)
        self.loop.write("ask.py", ASK)
        self.env = t.env(ANTHROPIC_API_KEY=KEY)

    def run(self, *words):
        command = ("--agent-command", "sh agent.sh") if self.script else ()
        return self.loop.ringfence("run", "make it", *command, *self.words, "-m", "3", "--check", "test -f done", *words, env=self.env)


def check_first_iteration(loop, failure, verdict):
    (entry,) = loop.history()
    equal((entry["failure"], entry["verdict"], entry["counts"]), (failure, verdict, False), "the iteration", entry)


@cases(*((status, agent) for status in REFUSALS for agent in (AGENTS if status == 401 else KINDS)))
def test_a_refusal_that_only_a_person_can_settle_pauses_the_loop_at_once(t, status, agent):
    kind, text, failure, words = REFUSALS[status]
    world = World(t, lambda request, _: refusal(status, kind, text), agent)
    result = world.run()
    equal(result.code, 3, "exit status", result)
    check_first_iteration(world.loop, failure, "pause")
    said = world.loop.status()
    equal((said["status"], said["used"], len(world.provider.requests)), ("paused", 0, 1), "status, iterations and requests", said)
    for place, where in ((result.out, "what is told"), (said["reason"], "the reason")):
        contains(place, words, where)
        contains(place, "then ringfence resume", where)


@cases(*((status, agent) for status in PASSING for agent in (AGENTS if status == 529 else KINDS)))
def test_a_failure_that_passes_is_waited_for_and_uses_up_no_iteration(t, status, agent):
    kind, text, failure, words = PASSING[status]
    world = World(t, lambda request, _: refusal(status, kind, text), agent, port=None if status else t.held_port())
    result = world.run("--detach")
    equal(result.code, 0, "exit status", result)
    said = world.loop.waiting()
    contains(said["reason"], words, "the reason")
    contains(said["reason"], "waiting until ", "the reason")
    check_first_iteration(world.loop, failure, "wait")
    equal(said["used"], 0, "iterations", said)
    world.loop.ringfence("abort")
    world.loop.ended("aborted")


MONTHLY = refusal(429, "rate_limit_error", f"You have reached your monthly limit. {'See the documentation. ' * 20}Please try again in 30 days.")


def test_a_stated_wait_beyond_the_total_time_ends_the_loop_at_once(t):
    world = World(t, lambda request, _: MONTHLY, "plain")
    result = world.run()
    equal((result.code, len(world.provider.requests)), (2, 1), "exit status and requests", result)
    for words in ("the provider's limit is reached, and waiting until ", " would exceed the total time of 8 h (change it with --max-time)"):
        contains(result.out, words, "the reason")


def test_a_monthly_limit_is_waited_out_without_a_total_time(t):
    """The control: the same limit; a time that is only in the text of an error, after its first hundreds of bytes."""
    world = World(t, lambda request, _: MONTHLY, "plain")
    before = time.time()
    equal(world.run("--detach", "--max-time", "none").code, 0, "exit status")
    said = world.loop.waiting()
    expect(before - 2 <= said["waits_until"] - 30 * 86400 <= time.time() + 2, "the end of the wait", said)
    world.loop.ringfence("abort")
    world.loop.ended("aborted")


def reset(request, connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# Servers that do not answer as a model, and what is said.
STRANGERS = {
    "reset": (reset, "did not respond: "),
    "captive portal": (lambda request, _: respond(b"<html>Log in to this network</html>", kind="text/html"),
                       "did not respond: its answer is not a model's"),
}


@cases(*((stranger, agent) for stranger in STRANGERS for agent in KINDS))
def test_a_server_that_does_not_answer_as_a_model_is_waited_for_and_costs_nothing(t, stranger, agent):
    answer, words = STRANGERS[stranger]
    world = World(t, answer, agent)
    equal(world.run("--detach").code, 0, "exit status")
    contains(world.loop.waiting()["reason"], words, "the reason")
    check_first_iteration(world.loop, "unreachable", "wait")
    equal(json.loads(world.loop.ringfence("cost", "--json").out)["total"]["cost_nusd"], 0, "the cost")
    world.loop.ringfence("abort")
    world.loop.ended("aborted")


def began(request, connection, *more):
    """The beginning of a streamed answer; more: other parts."""
    connection.sendall(STREAM + b"".join(map(chunk, [*message_events(text="Let me think")[:2], *more])))


def cut(request, connection):
    began(request, connection)
    reset(request, connection)


def end_early(request, connection):
    began(request, connection)
    return b"0\r\n\r\n"


def break_json(request, connection):
    began(request, connection, b'data: {"type": "content_block_delta", "del\n\n')
    return b"0\r\n\r\n"


WHOLE = message()
PARTIAL = {
    "cut": cut,
    "ended early": end_early,
    "broken JSON": break_json,
    "broken JSON, not streamed": lambda request, _: respond(WHOLE.partition(b"\r\n\r\n")[2][:-5]),
}


@cases(*((partial, agent) for partial in PARTIAL for agent in KINDS if agent != "builtin" or "not" not in partial))
def test_an_answer_that_is_not_whole_is_waited_for_and_costs_what_came(t, partial, agent):
    world = World(t, PARTIAL[partial], agent)
    world.loop.write("ask.py", ASK.replace("status != 200", "1"))
    equal(world.run("--detach").code, 0, "exit status")
    contains(world.loop.waiting()["reason"], "the model server at anthropic did not finish its answer", "the reason")
    check_first_iteration(world.loop, "unreachable", "wait")
    expect(json.loads(world.loop.ringfence("cost", "--json").out)["total"]["cost_nusd"] > 0, "it costs something")
    world.loop.ringfence("abort")
    world.loop.ended("aborted")


def test_a_whole_answer_of_which_the_agent_makes_nothing_is_a_crash(t):
    """The control of the above."""
    world = World(t, lambda request, _: stream(message_events()), "plain")
    world.loop.write("ask.py", ASK.replace("status != 200", "1"))
    equal(world.run("-m", "1").code, 2, "exit status")
    equal(world.loop.history()[0]["failure"], "crash", "the class")


TOO_LONG = {400: ("invalid_request_error", "prompt is too long: 1200000 tokens > 1000000 maximum"),
            413: ("request_too_large", "Request exceeds the maximum size")}


@cases(*((status, agent) for status in TOO_LONG for agent in KINDS))
def test_a_conversation_that_is_too_long_is_named_and_an_error(t, status, agent):
    world = World(t, lambda request, _: refusal(status, *TOO_LONG[status]), agent)
    equal(world.run("-m", "1").code, 2, "exit status")
    equal(world.loop.history()[0]["failure"], "prompt too long", "the class")
    contains(str(world.loop.history()[0]["reasons"]), "the conversation is too long for the model", "the reasons")


@cases(("too_long", "none"), ("error", "abc-1"))
def test_a_session_that_is_too_long_is_not_continued(t, event, had):
    """The control: after another error, it is continued."""
    loop = Loop(t, scripts={"all": "printf '%s' \"${RINGFENCE_SESSION-none}\" >had-$N; event started '\"session\": \"abc-'$N'\"'; "
                                   f"event {event}; exit 1"})
    loop.run("--agent-format", "events", "--session", "continue", "-m", "2")
    equal((loop.tree()["had-1"], loop.tree()["had-2"]), ("none", had), "the sessions of both iterations")


@cases("plain", "events")
@each_identity
def test_after_the_cause_is_removed_resume_goes_on_from_there(t, agent):
    """The control: the same agent, the same provider, and a key that the provider accepts."""
    mended = []
    world = World(t, lambda request, _: message() if mended else refusal(401, "authentication_error", "invalid x-api-key"), agent)
    equal(world.run().code, 3, "exit status")
    mended.append(True)
    world.loop.write("script/all", "python3 ask.py && edit done yes")
    result = world.loop.ringfence("resume", "--follow", env=world.env)
    equal((result.code, world.loop.status()["used"]), (0, 1), "exit status and iterations", result)


@cases((200, "python3 ask.py; edit /etc/out x; exit 1", "denial"),
       (200, "edit /etc/out x; exit 1", "denial"),
       (400, "python3 ask.py; edit /etc/out x; exit 1", "crash"),  # the failed request explains more
       (200, "edit /etc/out x; python3 ask.py; exit 1", "crash"),  # it went on to ask its model
       (200, "edit /etc/out x; sleep 11; exit 1", "crash"))  # it went on for more than ten seconds
@each_identity
def test_only_a_denial_that_comes_right_before_a_crash_explains_it(t, status, script, failure):
    refused = refusal(400, "invalid_request_error", "messages: at least one message is required")
    world = World(t, lambda request, _: refused if status == 400 else message(), "plain")
    world.loop.write("script/all", script)
    equal(world.run("-m", "1").code, 2, "exit status")
    (entry,) = world.loop.history()
    equal((entry["failure"], entry["denials"]), (failure, 1), "the class, and what was denied", entry)


# An agent that repeats a request, whatever the answer is; it prints the statuses and ends well.
REPEAT = SAY + """
for _ in range(14):
    print(say("hi")[0])
"""
FAILING = refusal(400, "invalid_request_error", "messages: roles must alternate")


TOO_LONG_400 = refusal(400, *TOO_LONG[400])


@cases(("plain", FAILING), ("events", FAILING), ("plain", TOO_LONG_400))
def test_an_agent_that_repeats_a_failing_request_is_refused_after_ten(t, agent, answer):
    """Whatever the agent says about its end, and also if the error has a class of its own."""
    world = World(t, lambda request, _: answer, agent)
    world.loop.write("ask.py", REPEAT)
    world.loop.write("script/all", "python3 ask.py; event final")
    result = world.run("-m", "1")
    equal((result.code, len(world.provider.requests)), (2, 10), "exit status and requests", result)
    contains(result.out, "10 requests in a row failed with the same error", "what is told")
    (entry,) = world.loop.history()
    equal((entry["failure"], entry["counts"]), ("runaway requests", True), "the class", entry)
    contains(str(entry["reasons"]), "10 requests in a row failed with the same error (HTTP 400, invalid_request_error)", "the reasons")
    with open(f"{world.loop.folder}/iterations/1/stdout.log", encoding="utf-8") as file:
        statuses = [line.strip() for line in file if line.strip().isdigit()]
    equal(statuses, ["400"] * 10 + ["402"] * 4, "what the agent gets")


BETWEEN = {
    "an answer": lambda n: message() if n % 9 == 0 else FAILING,
    "another error": lambda n: FAILING if n % 2 else refusal(409, "conflict_error", "conflict"),
}


@cases(*BETWEEN)
def test_other_answers_in_between_show_that_no_request_is_repeated_in_vain(t, between):
    """The control: the same agent, an answer or another error before the tenth."""
    world = World(t, lambda request, _: BETWEEN[between](len(world.provider.requests)), "plain")
    world.loop.write("ask.py", REPEAT)
    world.loop.write("script/all", "python3 ask.py")
    equal(world.run("-m", "1").code, 2, "exit status")
    equal((len(world.provider.requests), world.loop.history()[0]["failure"]), (14, "check failed"), "requests and class")


# As opencode does it: after each failure a request to shorten the conversation, which succeeds. It ends when it is refused.
SHORTEN = SAY + """
while say("work")[0] != 402:
    say("shorten this")
"""


def test_a_request_that_fails_ten_times_is_refused_whatever_is_answered_in_between(t):
    world = World(t, lambda request, _: FAILING if b"work" in request.body else message(), "plain")
    world.loop.write("ask.py", SHORTEN)
    world.loop.write("script/all", "python3 ask.py")
    equal(world.run("-m", "1").code, 2, "exit status")
    equal([b"work" in request.body for request in world.provider.requests], [True, False] * 10, "requests that left")
    (entry,) = world.loop.history()
    equal(entry["failure"], "runaway requests", "the class", entry)
    contains(str(entry["reasons"]), "10 attempts of one request failed with the same error (HTTP 400, invalid_request_error)", "the reasons")


def test_a_limit_that_passes_is_never_refused_here(t):
    """The agent waits in its own way; the class is still the provider's limit."""
    world = World(t, lambda request, _: refusal(429, "rate_limit_error", "slow down"), "plain")
    world.loop.write("ask.py", REPEAT)
    world.loop.write("script/all", "python3 ask.py")
    equal(world.run("--detach").code, 0, "exit status")
    contains(world.loop.waiting()["reason"], "the provider's limit is reached", "the reason")
    equal(len(world.provider.requests), 14, "requests")
    world.loop.ringfence("abort")
    world.loop.ended("aborted")


SLEEP = '{"command": "sleep 1000", "timeout_s": 1000}'


@cases("the model", "a command")
def test_the_builtin_agent_that_waits_for_something_silent_is_stopped_as_a_hang(t, what):
    """The time is above that between its heartbeats, which tell that something arrives."""
    over = threading.Event()
    t.cleanups.append(over.set)
    call = stream([event({"type": "message_start", "message": {"model": "claude-opus-5-5", "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                   event({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "shell", "input": {}}}),
                   event({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": SLEEP}}),
                   event({"type": "content_block_stop", "index": 0}),
                   event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
                   event({"type": "message_stop"})])
    world = World(t, lambda request, _: over.wait() and b"" if what == "the model" else call, "builtin")
    equal(world.run("-m", "1", "--idle-timeout", "8s").code, 2, "exit status")
    equal(world.loop.history()[0]["failure"], "hang", "the class")


def test_a_provider_without_a_key_pauses_the_loop_at_once(t):
    """The gateway itself refuses the request."""
    world = World(t, lambda request, _: message(), "plain")
    world.loop.write("ask.py", ASK.replace("/v1/messages", "/v1/chat/completions"))
    equal(world.run().code, 3, "exit status")
    check_first_iteration(world.loop, "authentication", "pause")
    equal(world.provider.requests, [], "requests")


def test_a_request_that_is_answered_after_all_is_no_failure(t):
    """The end of the last request counts."""
    world = World(t, lambda request, _: message() if len(world.provider.requests) > 1 else refusal(401, "authentication_error", "no"), "plain")
    world.loop.write("script/all", "python3 ask.py; python3 ask.py && edit done yes")
    equal(world.run().code, 0, "exit status")


def test_an_agent_that_finished_well_after_a_failed_request_is_fine(t):
    world = World(t, lambda request, _: refusal(403, "permission_error", "not this one"), "events")
    world.loop.write("script/all", "python3 ask.py; edit a $N; event final '\"text\": \"I did without it\"'")
    equal(world.run("-m", "1").code, 2, "exit status")
    equal(world.loop.history()[0]["failure"], "check failed", "the class")
