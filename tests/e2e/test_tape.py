"""Record and replay: what was said to models and by them is a text, and is said again without any."""

import json
import os

from harness import cases, contains, equal, expect, lacks
from harness.loop import Loop
from harness.provider import (STREAM, Models, Provider, chunk, event, message, message_events, respond, stream)


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
    """What of a ledger does not depend on the clock."""
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


# --- in a loop

# An agent: what the model says is a command, what that prints is said to the model, until it says DONE.
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

# What the model says in the first iteration, and in the others.
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
    """An answer of a provider with this text, in the form that was asked for."""
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

    def __init__(self, t, form="anthropic", answer=None):
        self.t = t
        self.form = form
        self.tape = place(t)
        self.provider = Provider(answer or self.answer)
        t.cleanups.append(self.provider.close)

    def answer(self, request, _):
        turns = words(request)
        steps = FIRST if "iteration 1 of" in turns[0][1].lower() else LATER
        return speak(self.form, steps[len(turns) // 2])

    def loop(self, name):
        loop = Loop(self.t, name=name)
        loop.write("chat.py", CHAT)
        return loop

    def words(self, *words):
        return ["run", "make it", "--agent-command", f"python3 chat.py {self.form}", "--check", "test -f done", *words]

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
        with open(os.path.join(loop.folder, "ledger.jsonl")) as file:
            return [json.loads(line) for line in file]


@cases("anthropic", "whole", "chat", "responses", "gemini")
def test_a_loop_replays_to_the_same_tree_and_the_same_ledger(t, form):
    taped = Taped(t, form)
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
    equal(len(taped.provider.requests), asked, "nobody was asked")
    equal(sorted(again.tree()), sorted(loop.tree()), "the same files")
    expect(again.tree() == loop.tree(), "the same tree", "")
    equal(sums(taped.ledger(again)), sums(taped.ledger(loop)), "the same ledger")
