"""The built-in agent by itself, against servers and models that do what they should not."""

import json
import os
import subprocess

from fakes import Server
from harness import cases, contains, equal, expect, lacks, root_only
from harness.provider import STREAM, Provider, chunk, event, respond, stream

TOKEN = "token-0123456789abcdef"
BOTH = cases(("anthropic",), ("openai",))


def call(name, **arguments):
    return {"name": name, "input": arguments}


def turn(*tools, text="", **more):
    return {"text": text, "tools": list(tools), **more}


class Agent:
    """ringfence-agent in a folder, with a server."""

    def __init__(self, t, server, provider="anthropic"):
        self.t = t
        self.server = server
        self.provider = provider
        t.cleanups.append(server.close)
        self.address = server.address if isinstance(server, Server) else server.url

    def run(self, *words, prompt="make it", cwd=None, **changes):
        variables = {"anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", ""), "openai": ("OPENAI_BASE_URL", "OPENAI_API_KEY", "/v1")}
        place, key, path = variables[self.provider]
        env = self.t.env(**{place: self.address + path, key: TOKEN, **changes})
        result = self.t.run([os.path.join(self.t.build, "ringfence-agent"), *words], input=prompt, env=env, cwd=cwd or self.t.project)
        self.events = [json.loads(line) for line in result.out.splitlines()]
        return result

    @property
    def last(self):
        return self.events[-1]

    def bodies(self):
        return [request["body"] for request in self.server.conversation()]

    def results(self, index=-1):
        messages = self.bodies()[index]["messages"]
        if self.provider == "anthropic":
            return [block["content"] for block in messages[-1]["content"] if block["type"] == "tool_result"]
        return [one["content"] for one in messages if one["role"] == "tool"]

    def count(self, kind):
        return sum(event["type"] == kind for event in self.events)


def scripted(t, *turns, provider="anthropic"):
    return Agent(t, Server(list(turns)), provider)


@BOTH
def test_torn_arguments_are_an_error_of_that_call_alone(t, provider):
    agent = scripted(t, turn(call("write", path="a", content="x"), broken_tool=True), turn(text="I see."), provider=provider)
    equal(agent.run().code, 0, "exit status", agent.events)
    contains(agent.results()[0], "not a JSON object, so nothing was done", "what the model is told")
    expect(not t.exists("a"), "nothing was written", "")


@cases(({},), ({"path": 7},), ({"path": "a", "content": None},), ({"path": "", "content": "x"},), ({"path": "x" * 5000, "content": "x"},))
def test_arguments_that_are_missing_or_wrong_are_said(t, arguments):
    agent = scripted(t, turn({"name": "write", "input": arguments}), turn(text="I see."))
    equal(agent.run().code, 0, "exit status", agent.events)
    expect(agent.results()[0], "a sentence", agent.results())
    equal([e["ok"] for e in agent.events if e["type"] == "tool_result"], [False], "an error")


def test_ten_megabytes_are_no_matter(t):
    """In a file, in output, in the model's answer, and in what the model writes."""
    t.write("large.txt", "y" * 10_000_000)
    agent = scripted(t, turn(call("read", path="large.txt"), call("shell", command="head -c 10000000 /dev/zero | tr '\\0' z"),
                             call("search", pattern="yyy")),
                     turn(text="w" * 10_000_000, *[call("shell", command="true")]), turn(text="The end."))
    result = agent.run()
    equal((result.code, agent.last["text"]), (0, "The end."), "exit status and last word")
    for body in agent.bodies():
        expect(len(json.dumps(body)) < 1_000_000, "requests are bounded", len(json.dumps(body)))
    read, shell, search = agent.results(1)
    contains(read, "9999500 more bytes of this line", "the long line")
    contains(shell, "bytes omitted", "the output")
    contains(search, "1 file over 8 MiB not searched", "the search")
    expect(max(map(len, result.out.splitlines())) < 100_000, "events are bounded", "")


def test_bytes_that_are_no_utf8_are_shown_and_harm_nobody(t):
    with open(t.path("latin.txt"), "wb") as file:
        file.write(b"caf\xe9\nplain\n")
    text = b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\xff\xfeb \\ud800 c \\u0000 d"}}'

    def answer(request, _):
        start = [event({"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}})]
        end = [event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
               event({"type": "message_stop"})]
        if len(agent.server.requests) > 1:
            return stream([*start, event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "bye"}}), *end])
        return stream([*start, event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                       b"data: " + text + b"\n\n", b"data: {no json\n\n", b"data: " + b"\xff" * 10 + b"\n\n",
                       event({"type": "content_block_start", "index": 1,
                              "content_block": {"type": "tool_use", "id": "t1", "name": "read", "input": {}}}),
                       event({"type": "content_block_delta", "index": 1,
                              "delta": {"type": "input_json_delta", "partial_json": '{"path": "latin.txt"}'}}), *end])

    agent = Agent(t, Provider(answer))
    equal(agent.run().code, 0, "exit status", agent.events)
    said = [e["text"] for e in agent.events if e["type"] == "text"]
    equal(said, ["a\ufffd\ufffdb \ufffd c \ufffd d"], "what was said")
    body = agent.server.requests[-1].json
    equal(body["messages"][-1]["content"][0]["content"], "1\tcaf\ufffd\n2\tplain\n", "what the model is shown")


@BOTH
def test_an_endless_loop_of_tools_is_told_and_then_ended(t, provider):
    agent = scripted(t, turn(call("shell", command="echo same"), again=-1), provider=provider)
    equal(agent.run().code, 1, "exit status")
    contains(agent.last["text"], "is going in circles", "why")
    contains(json.dumps(agent.bodies()[-1]), "It will not change: try something else", "it was told before")
    equal(len(agent.bodies()), 8, "requests")


def test_the_same_change_again_and_again_is_a_loop_too(t):
    agent = scripted(t, turn(call("write", path="a", content="x"), again=-1))
    equal(agent.run().code, 1, "exit status")
    contains(agent.last["text"], "is going in circles", "why")


@BOTH
def test_many_large_results_at_once_fit_into_a_small_window(t, provider):
    t.write("large.txt", "a line of text\n" * 3000)
    t.write("small.txt", "small\n")
    agent = scripted(t, turn(*[call("read", path="large.txt")] * 9, call("read", path="small.txt")), turn(text="bye"), provider=provider)
    equal(agent.run("--window", "8000").code, 0, "exit status", agent.events)
    expect(len(json.dumps(agent.bodies()[-1])) < 24000, "the request is within the window", len(json.dumps(agent.bodies()[-1])))
    expect(len(agent.results()) == 10 and agent.results()[-1] == "1\tsmall\n", "all results are there, small ones whole", agent.results()[-1])


def test_a_loop_with_progress_is_bounded_by_its_turns(t):
    agent = scripted(t, turn(call("shell", command="echo x >>n; wc -l <n"), again=-1))
    equal(agent.run("--max-turns", "12").code, 1, "exit status")
    contains(agent.last["text"], "after 12 requests", "why")


@cases((429, "rate_limit_error", {"retry-after": "3600"}, "limit", 1), (529, "overloaded_error", {"retry-after-ms": "1"}, "overloaded", 4),
       (401, "authentication_error", {}, "auth", 1), (402, "billing_error", {}, "billing", 1), (400, "invalid_request_error", {}, "error", 1),
       (429, "rate_limit_error", {"retry-after-ms": "1", "x-should-retry": "false"}, "limit", 1),
       (400, "invalid_request_error", {"retry-after-ms": "1", "x-should-retry": "true"}, "error", 4))
def test_a_refusal_is_tried_again_as_the_server_says_and_named(t, status, kind, headers, named, requests):
    agent = scripted(t, {"status": status, "kind": kind, "message": "no\x1b[31m", "headers": headers, "again": -1})
    equal(agent.run().code, 1, "exit status")
    equal((agent.last["type"], len(agent.bodies())), (named, requests), "the class, and how often it was asked", agent.last)
    expect(named != "limit" or "retry-after" not in headers or agent.last["reset_at"] > 1_700_000_000, "until when", agent.last)
    contains(agent.last["text"], str(status), "the status")


@cases(("503 No", {"error": {"message": "Loading model", "type": "unavailable_error"}}, "overloaded", "answered 503: Loading model"),
       ("401 No", {"error": {"message": "who are you?"}}, "auth", "answered 401: who are you?"),
       ("404 No", {}, "error", "(status 404): name one with --model"), ("200 OK", {"data": []}, "error", "(status 200): name one with --model"))
def test_a_refusal_to_say_which_models_there_are_has_the_class_that_it_has_of_a_message(t, status, body, named, words):
    agent = Agent(t, Provider(lambda request, _: respond(body, status)), "openai")
    equal(agent.run(RINGFENCE_LOCAL_MODELS="openai").code, 1, "exit status")
    equal(agent.last["type"], named, "the class", agent.last)
    contains(agent.last["text"], words, "the sentence")


def test_the_gateways_own_limit_is_a_budget(t):
    agent = scripted(t, {"status": 402, "kind": "insufficient_quota", "message": "ringfence: the budget for this iteration is used up"},
                     provider="openai")
    equal(agent.run().code, 1, "exit status")
    equal(agent.last["type"], "budget", "the class", agent.last)


def test_after_an_overload_the_work_goes_on(t):
    agent = scripted(t, {"status": 529, "kind": "overloaded_error", "headers": {"retry-after-ms": "1"}},
                     {"error": "overloaded_error", "headers": {"retry-after-ms": "1"}}, turn(text="here I am"))
    equal((agent.run().code, agent.last["text"], agent.count("retry")), (0, "here I am", 2), "exit status, last word, tries", agent.events)


@BOTH
def test_a_conversation_that_the_provider_finds_too_long_is_cut(t, provider):
    for n in range(4):
        t.write(f"f{n}", f"{n}" * 400 + "\n" * 90)
    agent = scripted(t, *(turn(call("read", path=f"f{n}")) for n in range(4)),
                     {"status": 400, "kind": "invalid_request_error", "message": "prompt is too long: 5000 tokens > 4000 maximum", "again": 0},
                     turn(text="summary or end", again=-1), provider=provider)
    equal(agent.run().code, 0, "exit status", agent.events)
    sizes = [len(json.dumps(body)) for body in agent.bodies()]
    expect(sizes[5] < sizes[4], "it became smaller", sizes)
    contains(json.dumps(agent.bodies()[-1]), "make it", "the task is still there")


def anthropic_answer(stop, text="", tool=None):
    events = [event({"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}})]
    blocks = ([{"type": "text", "text": text}] if text else []) + ([{"type": "tool_use", "id": "t", "name": tool, "input": {}}] if tool else [])
    for index, block in enumerate(blocks):
        events.append(event({"type": "content_block_start", "index": index, "content_block": block}))
    return stream([*events, event({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 3}}),
                   event({"type": "message_stop"})])


def played(t, *answers):
    """A server that gives these answers in order."""
    agent = Agent(t, Provider(lambda request, _: answers[min(len(agent.server.requests), len(answers)) - 1]))
    return agent


def test_an_answer_that_is_cut_at_its_limit_is_gone_on_with(t):
    agent = played(t, anthropic_answer("max_tokens", "the first half"), anthropic_answer("pause_turn", "a pause"), anthropic_answer("end_turn", "the end"))
    equal((agent.run().code, agent.last["text"]), (0, "the end"), "exit status, last word", agent.events)
    last = agent.server.requests[-1].json["messages"]
    equal([one["role"] for one in last], ["user", "assistant", "user", "assistant"], "a pause is gone on with as it is")
    contains(last[2]["content"][0]["text"], "cut off at its length limit", "what it was told")


def test_a_model_that_never_ends_or_refuses_is_an_error(t):
    agent = played(t, anthropic_answer("max_tokens", "more"))
    equal((agent.run().code, agent.last["type"], len(agent.server.requests)), (1, "error", 4), "one that never ends", agent.last)
    agent = played(t, anthropic_answer("refusal", "I will not"))
    equal((agent.run().code, len(agent.server.requests)), (1, 1), "one that refuses")
    contains(agent.last["text"], "refus", "why")


def test_one_that_ends_without_a_word_is_asked_for_it_once(t):
    agent = played(t, anthropic_answer("end_turn", " \n"), anthropic_answer("end_turn", "done"))
    equal((agent.run().code, agent.last["text"], len(agent.server.requests)), (0, "done", 2), "exit status, last word, requests")


@BOTH
def test_names_that_models_make_up_are_understood_or_made_harmless(t, provider):
    names = ["functions.shell", "tools/ns:shell", "what is this?", "x" * 200, ""]
    agent = scripted(t, turn(*({"name": name, "input": {"command": "echo here"}} for name in names), text=" \n"), turn(text="bye"), provider=provider)
    equal(agent.run().code, 0, "exit status", agent.events)
    equal(agent.results()[:2], ["here", "here"], "a name in front is none of the tool's")
    contains(agent.results()[2], "there is no tool 'what_is_this_'", "what is no tool")
    sent = json.dumps(agent.bodies()[-1]["messages"][1 if provider == "anthropic" else 2])
    contains(agent.results()[4], "there is no tool 'unknown'", "nor what has no name")
    for name in ("shell", "what_is_this_", "x" * 64):
        contains(sent, json.dumps(name), "what goes back")
    if provider == "anthropic":
        lacks(sent, '"type": "text"', "a text of blanks")


def test_thoughts_go_back_as_they_came(t):
    agent = scripted(t, turn(call("shell", command="true"), thinking="I think hard"), turn(text="bye"))
    equal(agent.run().code, 0, "exit status", agent.events)
    thought = agent.bodies()[-1]["messages"][1]["content"][0]
    equal(thought, {"type": "thinking", "thinking": "I think hard", "signature": "fake"}, "the thought")


def thought_of(block, *deltas):
    """An Anthropic answer with a thinking block and a tool call."""
    call_ = {"type": "tool_use", "id": "t", "name": "list", "input": {}}
    return stream([event({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}),
                   event({"type": "content_block_start", "index": 0, "content_block": block}),
                   *(event({"type": "content_block_delta", "index": 0, "delta": delta}) for delta in deltas),
                   event({"type": "content_block_start", "index": 1, "content_block": call_}),
                   event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}), event({"type": "message_stop"})])


def thinks(text):
    return {"type": "thinking_delta", "thinking": text}


def signs(text):
    return {"type": "signature_delta", "signature": text}


SIGNATURE = "Eq/+0\"\\\u00e4" * 400 + "=="


@cases(({"type": "thinking", "thinking": "", "signature": ""}, [thinks("I "), thinks("think"), signs(SIGNATURE)], "I think"),
       ({"type": "thinking", "thinking": "all at once", "signature": SIGNATURE}, [], "all at once"),
       ({"type": "thinking", "thinking": "x" * 500_000, "signature": ""}, [signs(f"{n}") for n in range(20_000)] + [signs(SIGNATURE)], "x" * 500_000))
def test_a_signature_goes_back_as_it_came(t, block, deltas, text):
    """Without it the provider refuses the thinking block. However often it arrives, the block is stored once."""
    agent = played(t, thought_of(block, *deltas), anthropic_answer("end_turn", "bye"))
    equal(agent.run().code, 0, "exit status", agent.events)
    expect(agent.server.requests[-1].json["messages"][1]["content"][0] == {"type": "thinking", "thinking": text, "signature": SIGNATURE},
           "the thought", agent.server.requests[-1].body[-3000:])


def test_requests_are_the_same_wherever_and_whenever(t):
    """Another folder, another environment, another day: the same bytes."""
    seen = []
    for place in ("one", "two/deeper"):
        folder = os.path.join(t.home, place)
        for name in ("b.txt", "a.txt", "sub/c.txt"):
            t.write(os.path.join(folder, name), f"text of {name}\n")
        agent = scripted(t, turn(call("list"), call("search", pattern="text"), call("read", path="a.txt"), call("shell", command="cat b.txt; false")),
                         turn(call("edit", path="a.txt", old="text", new="word")), turn(text="bye"))
        equal(agent.run(cwd=folder, OTHER=place).code, 0, "exit status", agent.events)
        seen.append(json.dumps(agent.bodies()).replace(agent.address, ""))
    equal(seen[0], seen[1], "the requests")
    lacks(seen[0], t.home, "no path of the machine is in them")


def test_caching_is_asked_for_where_it_pays(t):
    agent = scripted(t, turn(call("shell", command="true")), turn(call("shell", command="echo 2")), turn(text="bye"))
    agent.run()
    body = agent.bodies()[-1]
    marked = [i for i, one in enumerate(body["messages"]) if "cache_control" in one["content"][-1]]
    equal(marked, [2, 4], "the last two messages of the user", body["messages"])
    expect("cache_control" in body["system"][-1] and "cache_control" in body["tools"][-1], "system and tools", "")


def models_server(models):
    def answer(request, _):
        if request.path == "/v1/models":
            return respond({"object": "list", "data": models})
        body = [event({"choices": [{"index": 0, "delta": {"content": request.json["model"]}, "finish_reason": None}]}),
                event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}), b"data: [DONE]\n\n"]
        return stream(body)
    return Provider(answer)


def test_a_local_server_says_itself_which_model_it_has(t):
    agent = Agent(t, models_server([{"id": "qwen:7b", "max_model_len": 8192}, {"id": "other"}]), "openai")
    equal((agent.run(RINGFENCE_LOCAL_MODELS="openai").code, agent.last["text"]), (0, "qwen:7b"), "the first", agent.events)
    equal(agent.server.requests[-1].json["max_tokens"], 2048, "its window is known")
    equal((agent.run("--model", "named", RINGFENCE_LOCAL_MODELS="openai").code, agent.last["text"]), (0, "named"), "the one that is named")
    agent = Agent(t, models_server([]), "openai")
    equal(agent.run(RINGFENCE_LOCAL_MODELS="openai").code, 1, "none")
    contains(agent.last["text"], "name one with --model", "what to do")


def test_servers_that_number_their_calls_badly_are_understood(t):
    """All calls have the index 0 and are complete, with equal ids or without any; the finish reason is "stop"."""
    def answer(request, _):
        if len(agent.server.requests) > 1:
            return stream([event({"choices": [{"delta": {"content": "bye"}, "finish_reason": "stop"}]})])
        calls = [{"index": 0, "id": f"c{n}", "function": {"name": "shell", "arguments": json.dumps({"command": f"echo {n}"})}} for n in (1, 2)]
        return stream([event({"choices": [{"delta": {"tool_calls": [one]}, "finish_reason": None}]}) for one in calls] +
                      [event({"choices": [{"delta": {}, "finish_reason": "stop"}]})])
    agent = Agent(t, Provider(answer), "openai")
    equal(agent.run().code, 0, "exit status", agent.events)
    tools = [one["content"] for one in agent.server.requests[-1].json["messages"] if one["role"] == "tool"]
    equal(tools, ["1", "2"], "both results, in order")


@root_only
def test_a_full_disk_costs_no_file(t):
    """The control: a file that fits is written."""
    folder = os.path.join(t.project, "small")
    os.mkdir(folder)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
    t.cleanups.append(lambda: subprocess.run(["umount", folder], check=True))
    t.write("small/kept", "abc\n" * 2000)
    agent = scripted(t, turn(call("write", path="small/kept", content="x" * 100000),
                             call("edit", path="small/kept", old="abc", new="x" * 50, replace_all=True),
                             call("shell", command="uniq -c small/kept"), call("write", path="small/kept", content="fine\n"),
                             call("read", path="small/kept")), turn(text="bye"))
    equal(agent.run().code, 0, "exit status", agent.events)
    results = agent.results()
    for text in results[:2]:
        contains(text, "write 'small/kept' (the file is unchanged): No space left on device", "what is said")
    equal(results[2].split(), ["2000", "abc"], "the file")
    equal(results[4], "1\tfine\n", "what there is room for")


def tools_of(*ids):
    """An Anthropic answer with one call for each id."""
    calls = [event({"type": "content_block_start", "index": i, "content_block": {"type": "tool_use", "id": ident, "name": "list", "input": {}}})
             for i, ident in enumerate(ids)]
    return stream([event({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}), *calls,
                   event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}), event({"type": "message_stop"})])


def test_ids_of_calls_that_are_no_ids_are_given_anew(t):
    """Providers refuse a conversation that has an id twice. The control: a valid id is kept."""
    agent = played(t, tools_of("toolu_1", "same", "same", "", "a b\n", "x" * 500, "call_3"), anthropic_answer("end_turn", "bye"))
    equal(agent.run().code, 0, "exit status", agent.events)
    calls, results = agent.server.requests[-1].json["messages"][1:]
    ids = [block["id"] for block in calls["content"]]
    equal([ids[0], ids[-1]], ["toolu_1", "call_3"], "what was good")
    equal(len(set(ids)), 7, "each is another one")
    expect(all(len(ident) < 20 and ident.isprintable() for ident in ids), "and a word", ids)
    equal([block["tool_use_id"] for block in results["content"]], ids, "the results")


def test_a_server_that_only_says_that_it_will_answer_is_left(t):
    def promise(request, connection):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
    agent = Agent(t, Provider(promise))
    equal(agent.run().code, 1, "exit status", agent.events)
    contains(agent.last["text"], "too many interim responses", "why")


def test_an_answer_that_does_not_end_is_asked_for_once(t):
    """It is paid for each time."""
    def pour(request, connection):
        connection.sendall(STREAM)
        while True:
            connection.sendall(chunk(b":" + b" " * (4 << 20) + b"\n"))
    agent = Agent(t, Provider(pour))
    equal(agent.run().code, 1, "exit status", agent.events)
    contains(agent.last["text"], "response is too long", "why")
    equal((agent.last["type"], len(agent.server.requests)), ("error", 1), "its class, and how often it was asked", agent.events)


@cases(("https://api.example.com", "needs TLS"), ("http://models.example.com:80", "does not look up names"), ("ftp://x", "not an http:// URL"),
       ("http://127.0.0.1:99999", "invalid port"), ("http://[::1", "contains no valid address"), ("http://127.0.0.1:1", "connect to the model server"))
def test_a_place_that_cannot_be_reached_is_said(t, place, why):
    agent = scripted(t)
    agent.address = place
    equal(agent.run().code, 1, "exit status")
    contains(agent.last["text"], why, "why")


@cases((b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "not valid HTTP"), (b"\0\0\0\r\n\r\n", "not valid HTTP"), (b"", "closed the connection"),
       (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "does not stream"), (STREAM + b"zz\r\n", "cut off"))
def test_an_answer_that_is_no_answer_is_said_after_some_tries(t, answer, why):
    def hang_up(request, connection):
        connection.sendall(answer)
    agent = Agent(t, Provider(hang_up))
    equal(agent.run().code, 1, "exit status", agent.events)
    contains(agent.last["text"], why, "why")
    expect(len(agent.server.requests) <= 8, "some tries", len(agent.server.requests))


@cases(("torn", "[{"), ("strange", '[{"role": "model", "blocks": [{"kind": "call", "text": "{}", "id": "1", "name": "x"}]}]'), ("../up", ""), ("none", None))
def test_a_session_that_is_lost_or_torn_begins_anew(t, name, text):
    """The control: a complete session is continued."""
    folder = os.path.join(t.home, ".ringfence-agent")
    os.makedirs(folder)
    if text:
        t.write(os.path.join(folder, f"{name}.json"), text)
    agent = scripted(t, turn(text="first"), turn(text="second"))
    equal(agent.run("--resume", name).code, 0, "exit status", agent.events)
    equal(len(agent.bodies()[0]["messages"]), 1, "a new conversation")
    expect(os.listdir(t.outside) == [], "nothing was written elsewhere", "")
    if "/" not in name:
        equal(agent.run("--resume", name).code, 0, "exit status", agent.events)
        equal(len(agent.bodies()[1]["messages"]), 3, "now it is whole")


def test_the_projects_notes_are_read(t):
    t.write("AGENTS.md", "Use tabs.\n")
    agent = scripted(t, turn(text="bye"))
    agent.run()
    contains(agent.bodies()[0]["messages"][0]["content"][0]["text"], "# The project's notes (AGENTS.md)\n\nUse tabs.", "the prompt")


@cases(("--window", "0"), ("--nothing",), ("word",), ("--model",))
def test_options_that_there_are_not_are_refused(t, *words):
    agent = scripted(t)
    equal(agent.run(*words).code, 1, "exit status", agent.events)


def test_an_empty_prompt_and_no_server_are_said(t):
    agent = scripted(t)
    equal(agent.run(prompt="").code, 1, "exit status")
    contains(agent.last["text"], "prompt on stdin is empty", "why")
    result = subprocess.run([os.path.join(t.build, "ringfence-agent")], input=b"x", env=t.env(), cwd=t.project, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False)
    contains(result.stdout.decode(), "no model can be reached", "why")
