"""Record and replay: conversations with models are stored as text, and replayed without a model."""

import http.client
import json
import os
import signal
import socket
import threading
import time

from harness import Failure, cases, contains, each_identity, equal, expect, lacks
from harness.expect import shorten
from harness.loop import LoopInPlace as Loop
from harness.loop import until
from harness.provider import (STREAM, Models, Provider, chunk, event, message, message_events, respond, stream)

ANY_IDENTITY = "A tape is matched and replayed by its content."


def body(text="Fix it", **more):
    return {"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": text}], **more}


def place(t, name="agent.tape"):
    return os.path.join(t.outside, name)


def record(t, answer, *options, **more):
    return Models(t, answer, "--record", place(t), *options, **more)


def replay(t, *options, **more):
    """A gateway with a tape and without anything else; a request that reached the provider would be seen."""
    return Models(t, lambda request, _: respond({}, "500 No"), "--replay", place(t), *options, names=(), tls=False, **more)


def read(t, name="agent.tape"):
    with open(place(t, name)) as file:
        return file.read()


def sums(lines):
    """The parts of a ledger that do not depend on the clock."""
    return [{key: line.get(key) for key in ("route", "provider", "model", "counted_as", "input", "output", "write_5m", "write_1h",
                                            "read", "cost_nusd", "estimated", "status", "failure", "error")} for line in lines]


def test_a_stream_is_recorded_and_replayed_byte_for_byte(t):
    events = message_events(text="a word\\n \u00e4", input=7, output=9)
    models = record(t, lambda request, _: stream(events))
    asked = body(stream=True, system="Be brief.", tools=[{"name": "Bash"}, {"name": "Read"}])
    first = models.ask(body=asked)
    equal(models.stop().code, 0, "the recording ends")
    ledger = models.ledger()
    tape = read(t)
    contains(tape, "ringfence tape 1\n", "the head")
    contains(tape, "route messages anthropic\nmodel \"claude-opus-5-5\"\nstream\nsystem 10 ", "the request")
    contains(tape, "tools Bash Read\n", "the tools")
    contains(tape, " user\n  Fix it\nanswer 200\nheader content-type: text/event-stream\n", "the conversation")
    for secret in (Models.KEY, models.token):
        lacks(tape, secret, "secrets")
    os.remove(os.path.join(t.state, "gateway/ledger.jsonl"))
    models = replay(t)
    again = models.ask(body=asked)
    equal((again[0], again[2], again[1]["content-type"]), (first[0], b"".join(events), "text/event-stream"), "the answer")
    equal(models.stop().code, 0, "the replay ends")
    equal(models.provider.requests, [], "nobody was asked")
    equal(sums(models.ledger()), sums(ledger), "the same ledger")


def test_no_key_gets_on_a_tape_in_whichever_way_it_is_written(t):
    """In a head, and in JSON with letters as escapes, both ways. The control: other text is recorded unchanged."""
    key = Models.KEY
    escaped = f"\\u00{ord(key[0]):02x}" + key[1:-1] + f"\\u00{ord(key[-1]):02X}"
    answer = {"type": "message", "content": [{"type": "text", "text": f"{key} KEY plain"}], "usage": {"input_tokens": 1, "output_tokens": 1}}
    models = record(t, lambda request, _: respond(json.dumps(answer).replace("KEY", escaped).encode(), "200 OK", "application/json",
                                                  f"x-ratelimit-key: {key}", "x-ratelimit-plain: 5"))
    connection = models.connect()
    connection.request("POST", "/v1/messages", json.dumps(body("KEY plain")).replace("KEY", escaped), {"x-api-key": models.token})
    equal(connection.getresponse().status, 200, "the answer")
    models.stop()
    tape = read(t)
    lacks(tape, key[1:-1], "the key")
    for part in ("  <key> plain\n", "header x-ratelimit-key: xxx", "header x-ratelimit-plain: 5\n", 'xxx\\u0078 plain"}'):
        contains(tape, part, "the tape")
    models = replay(t)
    equal(models.ask(body=body("<key> plain"))[0], 200, "it replays")


def test_what_a_client_makes_up_is_harmless_on_a_tape(t):
    """Names of roles, members, tools and models; it replays all the same."""
    asked = {"model": 'a "model"\n\x01\\', "max_tokens": 5, "tools": [{"name": "a\nb"}], "messages": [
        {"role": "us er\nexchange POST /x", "content": "x\n\x1b[31m", "a\nkey\x1b[31m": "v"}]}
    models = record(t, lambda request, _: message(), "--unknown-model", "most-expensive", "--provider-tools", "other")
    equal(models.ask(body=asked)[0], 200, "the answer")
    models.stop()
    tape = read(t)
    lacks(tape, "\x1b", "the tape")
    equal(tape.count("\nexchange "), 1, "exchanges")
    models = replay(t, "--provider-tools", "other")
    equal(models.ask(body=asked)[0], 200, "the replay")


# --- in a loop

# An agent: it runs the model's answer as a command and sends the output back, until the model says DONE.
CHAT = r"""
import json, os, subprocess, sys, urllib.error, urllib.request as u
form = sys.argv[1] if len(sys.argv) > 1 else "anthropic"
said = [("user", sys.stdin.read())]

def ask():
    one = [{"role": role, "content": text} for role, text in said]
    path, body = {
        "anthropic": ("/v1/messages", {"model": "claude-opus-5-5", "max_tokens": 100, "stream": True, "messages": one}),
        "whole": ("/v1/messages", {"model": "claude-opus-5-5", "max_tokens": 100, "messages": one}),
        "chat": ("/v1/chat/completions", {"model": "gpt-5.5", "stream": True, "messages": one}),
        "responses": ("/v1/responses", {"model": "gpt-6-sol", "stream": True, "input": one}),
        "gemini": ("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", {"contents": [
            {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]} for role, text in said]}),
    }[form]
    base = os.environ["ANTHROPIC_BASE_URL"]
    request = u.Request(base + path, json.dumps(body).encode(), {"authorization": "Bearer " + os.environ["ANTHROPIC_API_KEY"]})
    raw = u.urlopen(request).read().decode()
    if form == "whole":
        return json.loads(raw)["content"][0]["text"]
    text = ""
    for line in raw.split("\n"):
        if not line.startswith("data: {"):
            continue
        data = json.loads(line[6:])
        text += {"anthropic": lambda: data.get("delta", {}).get("text", ""),
                 "chat": lambda: "".join(c["delta"].get("content", "") for c in data["choices"]),
                 "responses": lambda: data.get("delta", ""),
                 "gemini": lambda: "".join(p.get("text", "") for c in data["candidates"] for p in c["content"]["parts"])}[form]()
    return text

for _ in range(9):
    try:
        text = ask()
    except urllib.error.HTTPError as error:
        print(error.code, json.loads(error.read())["error"]["message"], file=sys.stderr)
        sys.exit(1)
    if text == "DONE":
        sys.exit(0)
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True)
    said += [("assistant", text), ("user", f"exit {done.returncode}\n{done.stdout}{done.stderr}")]
sys.exit(1)
"""

KEY = "sk-ant-real-0123456789abcdef"

# The model's answers in the first iteration, and in the others.
FIRST = ("pwd; date; printf 'one\\ntwo\\n' >notes; echo $$ pid $$", "cat notes", "DONE")
LATER = ("env | sort; date +%s; cat notes; echo yes >done", "DONE")


def words(request):
    """The conversation of a request in any form: (role, text)."""
    data = request.json
    for key in ("messages", "input"):
        if key in data:
            return [(turn["role"], turn["content"]) for turn in data[key]]
    return [(turn["role"], turn["parts"][0]["text"]) for turn in data["contents"]]


def speak(form, text):
    """A provider's answer with this text, in the form of the request."""
    if form == "whole":
        return message(text=text, input=20, output=7)
    if form == "anthropic":
        return stream(message_events(text=text, input=20, output=7))
    if form == "chat":
        half = len(text) // 2
        return stream([event({"choices": [{"delta": {"content": text[:half]}, "finish_reason": None}]}),
                       event({"choices": [{"delta": {"content": text[half:]}, "finish_reason": "stop"}]}),
                       event({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 6}}), b"data: [DONE]\n\n"])
    if form == "responses":
        return stream([event({"type": "response.output_text.delta", "delta": text}, "response.output_text.delta"),
                       event({"type": "response.completed", "response": {"usage": {"input_tokens": 9, "output_tokens": 2}}},
                             "response.completed")])
    return stream([event({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}], "usageMetadata": {
        "promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}})])


class Taped:
    """A project with the agent above, recorded against a provider once, and replayed in others without any."""

    def __init__(self, t, form="anthropic", answer=None, first=FIRST):
        self.t = t
        self.form = form
        self.first = first
        self.tape = place(t)
        self.provider = Provider(answer or self.answer)
        t.cleanups.append(self.provider.close)

    def answer(self, request, _):
        turns = words(request)
        steps = self.first if "iteration 1 of" in turns[0][1].lower() else LATER
        return speak(self.form, steps[len(turns) // 2])

    def loop(self, name):
        loop = Loop(self.t, name=name)
        loop.write("chat.py", CHAT)
        return loop

    def words(self, *words):
        return ["run", "make it", "--workspace", "in-place", "--agent-command", f"python3 chat.py {self.form}", "--check", "test -f done", *words]

    def record(self, *words, name="here"):
        loop = self.loop(name)
        urls = [part for each in ("anthropic", "openai", "gemini") for part in ("--upstream", f"{each}={self.provider.url}")]
        result = loop.ringfence(*self.words("--record", self.tape, *urls, *words),
                                env=self.t.env(ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY=KEY, GEMINI_API_KEY=KEY))
        return loop, result

    def replay(self, *words, name="other", before=None):
        loop = self.loop(name)
        if before:
            before(loop)
        return loop, loop.ringfence(*self.words("--replay", self.tape, *words), env=self.t.env())

    def ledger(self, loop):
        try:
            with open(os.path.join(loop.folder, "ledger.jsonl")) as file:
                return [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []


@each_identity
def test_a_loop_replays_to_the_same_tree_and_the_same_ledger(t):
    taped = Taped(t)
    loop, result = taped.record("-m", "3")
    equal(result.code, 0, "exit status of the recording", result)
    asked = len(taped.provider.requests)
    equal(asked, 5, "requests in two iterations")
    with open(taped.tape) as file:
        tape = file.read()
    for secret in (KEY, loop.path("")):
        lacks(tape, secret, "secrets and places")
    contains(tape, "ANTHROPIC_API_KEY=<token>", "the token of the run")
    contains(tape, "<project>", "the project's folder")
    again, result = taped.replay("-m", "3")
    equal(result.code, 0, "exit status of the replay", result)
    contains(result.out, "  a replay: models would have cost US$ ", "what is said of money")
    lacks(result.out.replace("would have cost", ""), " cost US$", "what is said of money")
    equal(len(taped.provider.requests), asked, "nobody was asked")
    equal(sorted(again.tree()), sorted(loop.tree()), "the same files")
    expect(again.tree() == loop.tree(), "the same tree", "")
    equal(sums(taped.ledger(again)), sums(taped.ledger(loop)), "the same ledger")
    say_that_it_was_a_replay(t, taped, loop, again)


def say_that_it_was_a_replay(t, taped, loop, again):
    """Status, reports and the sum of costs do."""
    equal((again.status()["replay"], loop.status()["record"]), (taped.tape, taped.tape), "status --json")
    contains(again.ringfence("status").out, f"a replay of {taped.tape}: no model is used, and nothing is paid", "status")
    for name, where in (("analysis.json", lambda data: data), ("report.json", lambda data: data["net"])):
        with open(os.path.join(again.folder, "iterations/2", name)) as file:
            equal(where(json.load(file))["replay"], taped.tape, name)
    paid = sum(line["cost_nusd"] for line in taped.ledger(loop))
    cost = json.loads(again.ringfence("cost", "--json").out)
    equal((cost["total"]["cost_nusd"], cost["replayed_nusd"]), (paid, paid), "only what was paid is summed up")
    equal([line["model"] for line in cost["lines"]], ["claude-opus-5-5", "claude-opus-5-5 (replay)"], "the rest has its own line")
    cost = json.loads(again.ringfence("cost", "--json", again.status()["id"]).out)
    equal(cost["total"]["cost_nusd"], paid, "of the replay itself it is shown")
    expect(all(line.get("replay") for line in taped.ledger(again)), "each line says so", taped.ledger(again))


# The same in each iteration, which is not told which one it is.
SAME = """
import json, os, urllib.request as u
body = {"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Where am I?"}]}
request = u.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
open("said", "a").write(json.load(u.urlopen(request))["content"][0]["text"] + "\\n")
"""


def test_what_one_iteration_has_used_the_next_one_does_not_get(t):
    taped = Taped(t, answer=lambda request, _: message(text=f"here {len(taped.provider.requests)}"))

    def ask(loop, *options, **keys):
        loop.write("same.py", SAME)
        result = loop.ringfence("run", "make it", "--workspace", "in-place", "--agent-command", "cat >/dev/null; python3 same.py", "--check", "grep 3 said",
                                "-m", "5", *options, env=t.env(**keys))
        equal(result.code, 0, "exit status", result)
        return loop.tree()["said"]

    url = f"anthropic={taped.provider.url}"
    first = ask(taped.loop("here"), "--record", taped.tape, "--upstream", url, ANTHROPIC_API_KEY=KEY)
    equal(first, "here 1\nhere 2\nhere 3\n", "what was recorded")
    equal(ask(taped.loop("other"), "--replay", taped.tape), first, "the replay")


def test_where_a_loop_strays_it_ends_and_says_how(t):
    taped = Taped(t)
    equal(taped.record("-m", "3")[1].code, 0, "exit status of the recording")
    loop, result = taped.replay("-m", "3", before=lambda loop: os.mkdir(loop.path("notes")))
    equal(result.code, 1, "exit status", result)
    status = loop.status()
    where = "the request differs from the recording: message 3 (user), line 5: recorded \"\", received \"sh: 1: cannot create notes: Is a directory\""
    equal(status["status"], "failed", "the status")
    contains(status["reason"], "the replay has left its tape: " + where, "the reason")
    contains(result.out + result.err, "message 3 (user), line 5: ", "what is shown")
    with open(os.path.join(loop.folder, "iterations/1/stderr.log")) as file:
        contains(file.read(), "400 ringfence: " + where, "what the agent was told")


@each_identity
def test_a_tape_in_the_project_cannot_be_changed_by_the_agent(t):
    taped = Taped(t, first=("echo x >>agent.tape; rm -f agent.tape; mv agent.tape b; cat agent.tape >/dev/null && echo readable; "
                            "echo x >>other.tape; echo yes >done", "DONE"))
    loop = taped.loop("here")
    taped.tape = loop.path("agent.tape")
    equal(taped.record("-m", "1")[1].code, 0, "exit status")
    with open(taped.tape) as file:
        tape = file.read()
    contains(tape, "  readable\n", "what the agent was told")
    equal(tape.count("\nexchange "), 2, "it is whole")
    equal(loop.tree()["other.tape"], "x\n", "control: another file is the agent's")


def test_a_loop_whose_tape_has_a_gap_says_so(t):
    """The control is every other recording. The work goes on; a replay could not."""
    taped = Taped(t)
    with open(taped.tape, "w") as file:
        file.write("ringfence tape 1\n" + "exchange POST /x\nroute a b\ncut 0\n" * 10000)
    loop, result = taped.record("-m", "3")
    equal(result.code, 0, "exit status", result)
    why = "the recording ends here, and the run continues without it: the tape is full"
    equal(result.out.count(why), 2, "what is shown, in each iteration")
    equal(loop.status()["not_recorded"], why, "status --json")
    contains(loop.ringfence("status").out, f"recorded to {taped.tape}\n    NOT complete: {why}\n", "status")


def kill_in_the_midst(taped, name, *options, **keys):
    """Runs a loop whose first command only ends when its supervisor or runner is killed, to the loop's end."""
    loop = taped.loop(name)
    result = loop.ringfence(*taped.words("--detach", "-m", "3", *options), env=taped.t.env(**keys))
    equal(result.code, 0, "exit status of run --detach", result)
    loop.ident = result.out.splitlines()[-1]
    loop.there("began")
    contains(read(taped.t), "\nend ", "the tape when the agent has its answer")
    until("the first request in the ledger", lambda: len(taped.ledger(loop)) == 1)
    os.kill(getattr(loop, name)(), signal.SIGKILL)
    loop.ended("completed")
    return [line for line in sums(taped.ledger(loop)) if line["route"] != "lost"]


@each_identity
def test_a_loop_killed_in_the_midst_goes_on_with_its_tape(t):
    """Kills a supervisor while recording and a runner while replaying: exchanges of an interrupted iteration can be used again."""
    taped = Taped(t, first=("[ -e began ] || { echo >began; sleep 1000; }; echo yes >done", "DONE"))
    recorded = kill_in_the_midst(taped, "supervisor", "--record", taped.tape, "--upstream", f"anthropic={taped.provider.url}",
                                 ANTHROPIC_API_KEY=KEY)
    tape = read(t)
    equal((len(recorded), tape.count("\nexchange "), tape.count("\nend ")), (3, 3, 3), "what was whole is there, of both tries")
    replayed = kill_in_the_midst(taped, "runner", "--replay", taped.tape)
    equal(replayed[-2:], recorded[-2:], "the same ledger")
    t.leftover_runs = True


def test_a_replay_that_was_paused_goes_on_where_it_was(t):
    """The second iteration does not get exchanges that the first one used; the tape need not be named again."""
    hold = "node_modules/hold"  # not among the changed files that the second prompt counts
    taped = Taped(t, first=(f"echo >began; while [ -e {hold} ]; do sleep 0.05; done; echo one >>notes", "cat notes", "DONE"))
    recorded, result = taped.record("-m", "3")
    equal(result.code, 0, "exit status of the recording", result)
    loop = taped.loop("other")
    os.mkdir(loop.path("node_modules"))
    loop.write(hold)
    result = loop.ringfence(*taped.words("--detach", "-m", "3", "--replay", taped.tape), env=t.env())
    equal(result.code, 0, "exit status of run --detach", result)
    loop.ident = result.out.splitlines()[-1]
    loop.there("began")
    equal(loop.ringfence("pause").code, 0, "exit status of pause")
    os.remove(loop.path(hold))
    equal(loop.ended("paused")["iteration"], 1, "when it is paused")
    result = loop.ringfence("resume", env=t.env())
    equal(result.code, 0, "exit status of resume", result)
    equal(loop.ended("completed")["replay"], taped.tape, "still a replay")
    equal(sums(taped.ledger(loop)), sums(taped.ledger(recorded)), "the same ledger")
    t.leftover_runs = True


# --- without a loop

def take(models, path, asked):
    """Sends a request. How much of a cut stream arrives is unknown."""
    try:
        status, headers, answer = models.ask(path, asked, headers={"authorization": "Bearer " + models.token})
    except (http.client.HTTPException, ConnectionError):
        return "cut", None, None
    return status, headers.get("content-type"), answer


def answered(models, asked):
    """Asks until there is an answer, which is returned. A failure shows the last refusal."""
    given = []

    def ask():
        given[:] = take(models, "/v1/messages", asked)
        return given[0] == 200

    try:
        until("it answers", ask)
    except Failure as failure:
        raise Failure(f"{failure}\nthe last answer: {shorten(given)}") from None
    return given[2]


LIMITED = respond({"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}, "429 No", "application/json",
                  "Retry-After: 3600", "Set-Cookie: secret=1", "Request-Id: req_1")
OVERLOADED = respond({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, "529 No")
PATHS = {"anthropic": "/v1/messages", "whole": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses",
         "gemini": "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"}
BODIES = {"anthropic": body(stream=True), "whole": body(), "chat": {"model": "gpt-5.5", "stream": True, "messages": [
    {"role": "user", "content": "Hi"}]}, "responses": {"model": "gpt-6-sol", "stream": True, "input": "Hi"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}}


def test_every_form_is_replayed_byte_for_byte_to_the_same_ledger(t):
    """In each: an answer, a refusal, an overload, a stream that is cut, and the answer once more, all to the same request."""
    sent = {}

    def answer(request, connection):
        form = next(name for name, path in PATHS.items() if path == request.path and (name != "whole" or "stream" not in request.json))
        sent[form] = sent.get(form, 0) + 1
        data = speak(form, "hello \u00e4 \"x\"")
        if sent[form] == 4:
            connection.sendall(data[:-9 if form == "whole" else -40])
            return None
        return {2: LIMITED, 3: OVERLOADED}.get(sent[form], data)

    def ask(models):
        return [take(models, PATHS[form], BODIES[form]) for form in PATHS for _ in range(5)]

    models = record(t, answer)
    first = ask(models)
    models.stop()
    ledger = models.ledger()
    equal([part[0] for part in first[:5]], [200, 429, 529, "cut", 200], "what was recorded")
    tape = read(t)
    for secret in (Models.KEY, models.token, "secret=1", "Set-Cookie", "set-cookie", "req_1"):
        lacks(tape, secret, "the tape")
    contains(tape, "header retry-after: 3600\n", "what a client needs to know")
    os.remove(os.path.join(t.state, "gateway/ledger.jsonl"))
    models = replay(t)
    again = ask(models)
    for one, two in zip(first, again):
        equal(two, one, "each answer")
    models.stop()
    equal(models.provider.requests, [], "nobody was asked")
    equal(sums(models.ledger()), sums(ledger), "the same ledger")


def test_a_stray_is_refused_and_so_is_all_that_follows(t):
    models = record(t, lambda request, _: message())
    models.ask(body=body("Fix it\nand tell"))
    models.stop()
    models = replay(t)
    status, headers, answer = models.ask(body=body("Fix it\nor not"))
    said = json.loads(answer)["error"]
    equal((status, said["type"], headers["x-should-retry"]), (400, "invalid_request_error", "false"), "the form after which clients stop")
    equal(said["message"], "ringfence: the request differs from the recording: message 1 (user), line 2: recorded \"and tell\", received \"or not\" "
          "(line 3 of the tape)", "the difference")
    equal(models.ask(body=body("Fix it\nand tell"))[0], 400, "what was recorded is not given any more")
    contains(models.stop().err, "line 2: recorded \"and tell\", received \"or not\"", "on stderr")
    equal(sum(line["cost_nusd"] for line in models.ledger()[1:]), 0, "a stray costs nothing")
    models = replay(t)
    equal(models.ask(body=body("Fix it\nand tell"))[0], 200, "control: it is, to who asks for it")
    status, _, answer = models.ask(body=body("Fix it\nand tell"))
    contains(answer.decode(), "the tape has this request 1 time, but it was sent once more", "an exchange is used once")


def test_requests_side_by_side_find_their_answers_in_any_order(t):
    models = record(t, lambda request, _: message(text=request.json["messages"][0]["content"]))
    for name in "abcdef":
        models.ask(body=body(name))
    models.stop()
    models = replay(t)
    got = {}
    threads = [threading.Thread(target=lambda name=name: got.update({name: models.ask(body=body(name))})) for name in "fedcba"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal({name: json.loads(answer[2])["content"][0]["text"] for name, answer in got.items()}, {name: name for name in "abcdef"}, "each its own")


def test_counts_and_lists_are_given_as_often_as_they_are_asked_for(t):
    models = record(t, lambda request, _: respond({"data": [], "input_tokens": 7}))
    models.ask("/v1/models", method="GET")
    models.ask("/v1/messages/count_tokens", body())
    models.stop()
    models = replay(t)
    for _ in range(2):
        equal([models.ask("/v1/models", method="GET")[0], models.ask("/v1/messages/count_tokens", body())[0]], [200, 200], "again")
    equal(models.ask("/v1/messages/count_tokens", body("Other"))[0], 400, "one that was not recorded")


def test_a_budget_ends_a_replay_as_it_ends_the_real_thing(t):
    """Cut down, refused or cut off: the same, with the same spend."""
    asked = [body(str(i), max_tokens=2000) for i in range(6)]
    events = message_events(input=2000, output=2000)

    def ask(models):
        return [take(models, "/v1/messages", dict(one, stream=True)) for one in asked]

    models = record(t, lambda request, _: stream(events))
    equal([part[0] for part in ask(models)], [200] * 6, "all of it, without a budget")
    models.stop()
    os.remove(os.path.join(t.state, "gateway/ledger.jsonl"))
    real = Models(t, lambda request, _: stream(events), "--budget", "0.150")
    wanted = [part[0] for part in ask(real)]
    real.stop()
    ledger = sums(real.ledger())
    expect(wanted[0] == 200 and wanted[-1] == 402, "control: the real thing is ended", wanted)
    os.remove(os.path.join(t.state, "gateway/ledger.jsonl"))
    models = replay(t, "--budget", "0.150")
    equal([part[0] for part in ask(models)], wanted, "the replay")
    models.stop()
    equal(sums(models.ledger()), ledger, "the same ledger")


def test_a_local_model_costs_nothing_in_a_replay_either(t):
    models = record(t, lambda request, _: message(input=50, output=7), tls=False, local=True)
    models.ask()
    models.stop()
    contains(read(t), "\nfree\n", "the tape")
    models = replay(t)
    equal(models.ask()[0], 200, "the answer")
    equal([(line["cost_nusd"], line["input"]) for line in models.ledger(2)], [(0, 50)] * 2, "the ledger")


def test_the_original_pace_is_kept_if_that_is_wanted(t):
    events = message_events()
    came = threading.Event()

    def answer(request, connection):
        connection.sendall(STREAM + chunk(events[0]))
        came.wait(600)  # otherwise a delayed gateway would see both at once
        time.sleep(0.3)
        connection.sendall(b"".join(map(chunk, events[1:])) + b"0\r\n\r\n")
        return b""

    models = record(t, answer)
    connection = models.connect()
    connection.request("POST", "/v1/messages", json.dumps(body(stream=True)), {"x-api-key": models.token})
    response = connection.getresponse()
    equal(response.read1(65536), events[0], "the first event")
    came.set()
    equal(response.read(), b"".join(events[1:]), "the rest")
    models.stop()
    models = replay(t, "--replay-pace", "original")
    began = time.monotonic()
    equal(models.ask(body=body(stream=True))[2], b"".join(events), "the answer")
    expect(time.monotonic() - began >= 0.25, "never sooner", time.monotonic() - began)


@each_identity
def test_a_gateway_killed_in_the_midst_loses_one_exchange_at_most(t):
    hold = threading.Event()
    t.cleanups.append(hold.set)

    def answer(request, connection):
        if request.json["messages"][0]["content"] == "hang":
            connection.sendall(STREAM + chunk(message_events()[0]))
            hold.wait(600)
            return None
        return message(text=request.json["messages"][0]["content"])

    models = record(t, answer)
    models.ask(body=body("a"))
    connection = models.connect()
    connection.request("POST", "/v1/messages", json.dumps(body("hang", stream=True)), {"x-api-key": models.token})
    connection.getresponse().read1(10)
    killed = models.pid
    os.kill(killed, signal.SIGKILL)
    until("another one", lambda: models.pid not in (None, killed))
    answered(models, body("b"))
    models.stop()
    equal(read(t).count("\nexchange "), 2, "what was whole is there")
    models = replay(t)
    equal([models.ask(body=body(name))[0] for name in "ab"], [200, 200], "and is given")


@cases("in events", "in chunks", "of a stated length")
def test_an_exchange_is_on_the_tape_when_the_client_has_its_answer(t, how):
    """Even if that is long, and the gateway is killed then: it writes the tape before the end of the answer."""
    text = "word " * 400000
    length = json.dumps({"type": "message", "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
    chunks = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(length) + b"0\r\n\r\n"
    answer = {"in events": stream(message_events(text=text)), "in chunks": chunks, "of a stated length": respond(length)}[how]
    models = record(t, lambda request, _: answer)
    equal(models.ask(body=body(stream=how == "in events"))[0], 200, "the answer")
    tape = read(t)
    equal((tape.count("\nexchange "), tape.count("\nend ")), (1, 1), "the exchanges, and those that are whole")


def connect_slowly(models):
    """A client whose side of the connection keeps next to nothing that it has not read. By default the kernel
    decides how much, up to 32 MiB."""
    connection = models.connect()
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sock.connect(("127.0.0.1", models.port))
    return connection


def test_a_gateway_killed_in_a_replay_gives_the_same_to_who_asks_again(t):
    events = message_events(text="word " * 1500000)  # more than the gateway's side keeps, which is 4 MiB at most
    models = record(t, lambda request, _: stream(events))
    models.ask(body=body(stream=True))
    models.stop()
    models = replay(t)
    connection = connect_slowly(models)
    connection.request("POST", "/v1/messages", json.dumps(body(stream=True)), {"x-api-key": models.token})
    response = connection.getresponse()
    equal((response.status, len(response.read1(10))), (200, 10), "the begin of the answer")
    killed = models.pid
    os.kill(killed, signal.SIGKILL)
    until("another one", lambda: models.pid not in (None, killed))
    equal(answered(models, body(stream=True)), b"".join(events), "the answer")


def test_a_tape_that_is_full_ends_and_the_run_goes_on(t):
    with open(place(t), "w") as file:
        file.write("ringfence tape 1\n" + ("#" * 1023 + "\n") * (64 * 1024 - 1))
    models = record(t, lambda request, _: message(text="word " * 500))
    equal([models.ask()[0] for _ in range(2)], [200, 200], "the answers")
    contains(models.stop().err, "the recording ends here, and the run continues without it: the tape is full", "what is said")
    lacks(read(t)[-2000:], "exchange", "the tape")


def test_what_is_torn_off_is_dropped_and_recorded_over(t):
    models = record(t, lambda request, _: message())
    models.ask(body=body("a"))
    models.stop()
    with open(place(t), "a") as file:
        file.write("\nexchange POST /v1/messages\nroute messages anthropic\nmessage 0123 user\n  never answ")
    models = replay(t)
    equal(models.ask(body=body("a"))[0], 200, "what is whole is given")
    models.stop()
    models = record(t, lambda request, _: message())
    models.ask(body=body("b"))
    models.stop()
    lacks(read(t), "never answ", "the tape")
    models = replay(t)
    equal([models.ask(body=body(name))[0] for name in "ab"], [200, 200], "both")


@each_identity
def test_what_is_no_tape_is_refused_and_left_alone(t):
    def refuse(*options, env=None):
        result = t.run([t.ringfence, "gateway", "--port", "0", *options, "--", "true"], env=t.env(ANTHROPIC_API_KEY="sk-ant-0123456789"))
        equal(result.code, 125, "exit status", result)
        return result.err

    with open(place(t, "script"), "w") as file:
        file.write("#!/bin/sh\necho precious\n")
    for option in ("--record", "--replay"):
        contains(refuse(option, place(t, "script")), "line 1: this is not a tape", option)
    with open(place(t, "script")) as file:
        equal(file.read(), "#!/bin/sh\necho precious\n", "the file")
    contains(refuse("--replay", place(t, "missing")), "No such file", "a missing one")
    contains(refuse("--record", place(t, "no/folder.tape")), "its folder", "a missing folder")
    contains(refuse("--record", place(t), "--replay", place(t)), "--record and --replay cannot be combined", "both")
    with open(place(t), "w") as file:
        file.write("ringfence tape 1\n\nexchange POST /x\nanswer 200\n")
    contains(refuse("--replay", place(t)), "agent.tape', line 4: this line is out of place", "a damaged one")
    os.symlink(place(t), place(t, "link"))
    contains(refuse("--record", place(t, "link")), "symbolic links in its path are not followed", "a link")


@each_identity
def test_a_tape_has_one_recorder(t):
    models = record(t, lambda request, _: message())
    models.ask()
    result = t.run([t.ringfence, "gateway", "--port", "0", "--record", place(t), "--", "true"],
                   env=t.env(ANTHROPIC_API_KEY="sk-ant-0123456789"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is being recorded by another run", "the reason")
    models.stop()


def test_a_limit_of_the_provider_is_not_waited_for_in_a_replay(t):
    """While recording, the loop waits as usual; the tape says that it was an hour. Neither uses up an iteration."""
    limited = respond({"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}, "429 No", "application/json",
                      "Retry-After: 1")
    taped = Taped(t, answer=lambda request, _: limited if len(taped.provider.requests) == 1
                  else speak("anthropic", "DONE" if len(words(request)) > 1 else "echo yes >done"))
    loop, result = taped.record("-m", "1", "--agent-format", "events")
    equal(result.code, 0, "exit status of the recording", result)
    tape = read(t)
    with open(taped.tape, "w") as file:
        file.write(tape.replace("retry-after: 1\n", "retry-after: 3600\n"))
    again, result = taped.replay("-m", "1", "--agent-format", "events")
    equal(result.code, 0, "exit status of the replay", result)
    equal(sums(taped.ledger(again)), sums(taped.ledger(loop)), "the same ledger")


def test_a_users_own_file_can_name_a_tape_for_a_single_run(t):
    models = record(t, lambda request, _: message(text="here"))
    models.ask(body={"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Where am I?"}]})
    models.stop()
    t.at_home(".config/ringfence/config.yml", f"replay: {place(t)}\n")
    loop = Loop(t, name="here")
    loop.write("same.py", SAME)
    result = loop.ringfence("exec", "--report", place(t, "report.json"), "--", "python3", "same.py")
    equal((result.code, loop.tree()["said"]), (0, "here\n"), "exit status and answer", result)
    contains(result.err, "a replay: models would have cost US$ 0.0001", "what is said")
    with open(place(t, "report.json")) as file:
        equal(json.load(file)["net"]["replay"], place(t), "the report")
    result = loop.ringfence("exec", "--", "python3", "same.py")
    equal(result.code, 0, "each run begins anew", result)
    contains(loop.ringfence("policy").out, place(t), "the policy")
    loop.write("ringfence.yml", "record: stolen.tape\n")
    result = loop.ringfence("exec", "--", "python3", "same.py")
    equal((result.code, "stolen.tape" in loop.tree()), (0, False), "a project's own file cannot", result)
