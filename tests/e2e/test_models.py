"""Models through the gateway: the key is added, streams are metered, and the budget is never exceeded."""

import ctypes
import gzip
import http.client
import json
import os
import platform
import select
import signal
import socket
import struct
import threading
import time

from harness import cases, contains, each_identity, equal, expect, lacks
from harness.case import Skip
from harness.loop import until
from harness.provider import (STREAM, Models, Provider, chunk, event, message, message_events, opus, respond, stream)

ANY_IDENTITY = "The gateway's answers and the ledger do not depend on who starts it; how it is confined does."

REGION = 11  # reservations assume the most expensive region: tenths


def body(tokens=100, **more):
    return {"model": "claude-opus-5-5", "max_tokens": tokens, "messages": [], **more}


def reserve(request, tokens):
    """The reservation for a request: each byte counts as a token of the most expensive kind."""
    return (8000 * len(json.dumps(request)) + 20000 * tokens) * REGION // 10


def dollars(nusd):
    """Rounds up to the precision of a setting."""
    return f"{-(-nusd // 10 ** 6) / 1000:.3f}"


def wait_for(condition, what):
    return until(what, condition)


# --- allowed requests

@each_identity
def test_the_key_is_added_outside_and_the_answer_comes_back(t):
    models = Models(t, lambda request, _: message(input=10, output=5))
    status, _, answer = models.ask(headers={"anthropic-version": "2023-06-01", "anthropic-beta": "b1", "cookie": "c=1",
                                            "x-claude-code-agent-id": "child-7"})
    equal((status, json.loads(answer)["content"][0]["text"]), (200, "hello"), "the answer")
    request = models.provider.requests[0]
    equal((request.headers["x-api-key"], request.headers["anthropic-version"], request.headers["anthropic-beta"]),
          (Models.KEY, "2023-06-01", "b1"), "what the provider got")
    equal((request.headers["accept-encoding"], request.headers["content-type"]), ("identity", "application/json"),
          "no compression is asked for, and the body is what it was read as")
    expect("cookie" not in request.headers, "cookies stay", request.headers)
    lacks(request.head, models.token, "the token stays here")
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["estimated"], line["child"], line["input"], line["output"], line["status"]),
          (opus(10, 5), False, "child-7", 10, 5, 200), "the ledger")


def test_a_stream_comes_byte_for_byte_however_it_is_cut(t):
    events = b"".join(message_events(text='say "usage":{"output_tokens":99999}', input=7, output=9, cache_read_input_tokens=100))
    models = Models(t, lambda request, _: STREAM + b"".join(chunk(events[i:i + 1]) for i in range(len(events))) + b"0\r\n\r\n")
    status, _, answer = models.ask(body=body(stream=True))
    equal((status, answer), (200, events), "the bytes")
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["estimated"]), (opus(7, 9, read=100), False), "prose counts nothing, split or not")


def test_later_numbers_replace_earlier_ones(t):
    events = [event({"type": "message_start", "message": {"usage": {
                  "input_tokens": 5, "output_tokens": 1, "cache_creation_input_tokens": 30,
                  "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}}}}),
              event({"type": "message_delta", "usage": {"output_tokens": 40, "input_tokens": None}}),
              event({"type": "message_delta", "usage": {"output_tokens": 60, "cache_creation_input_tokens": None}}),
              event({"type": "message_stop"})]
    models = Models(t, lambda request, _: stream(events))
    models.ask(body=body(stream=True))
    equal(models.ledger(1)[0]["cost_nusd"], opus(5, 60, write_5m=10, write_1h=20), "the cost")


def test_the_first_event_arrives_before_the_last_is_made(t):
    gate = threading.Event()
    events = message_events()

    def answer(request, connection):
        connection.sendall(STREAM + chunk(events[0]))
        gate.wait(600)
        connection.sendall(b"".join(map(chunk, events[1:])) + b"0\r\n\r\n")
        return b""

    models = Models(t, answer)
    connection = models.connect()
    connection.request("POST", "/v1/messages", json.dumps(body(stream=True)), {"x-api-key": models.token})
    response = connection.getresponse()
    equal(response.read1(65536), events[0], "the first event")
    gate.set()
    equal(response.read(), b"".join(events[1:]), "the rest")


def test_usage_is_asked_for_and_its_chunk_taken_out_again(t):
    parts = [event({"model": "gpt-5.5", "choices": [{"delta": {"content": "a"}, "finish_reason": None}], "usage": None}),
             event({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": None})]
    extra = event({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20,
                                            "prompt_tokens_details": {"cached_tokens": 60}}})
    models = Models(t, lambda request, _: stream([*parts, extra, b"data: [DONE]\n\n"]))
    chat = {"model": "gpt-5.5", "stream": True, "messages": []}
    _, _, answer = models.ask("/v1/chat/completions", chat, headers={"authorization": "Bearer " + models.token})
    equal(answer, b"".join(parts) + b"data: [DONE]\n\n", "without the chunk")
    equal(models.provider.requests[0].json["stream_options"], {"include_usage": True}, "what was asked for")
    equal(models.provider.requests[0].headers["authorization"], "Bearer " + Models.KEY, "the key")
    equal(models.ledger(1)[0]["cost_nusd"], 40 * 5000 + 60 * 500 + 20 * 30000, "the cost")
    chat["stream_options"] = {"include_usage": True}
    _, _, answer = models.ask("/v1/chat/completions", chat)
    equal(answer, b"".join(parts) + extra + b"data: [DONE]\n\n", "with it, for who asks")


def test_responses_and_gemini_are_metered_too(t):
    def answer(request, _):
        if "generateContent" in request.path:
            return respond({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}], "usageMetadata": {
                "promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}})
        return stream([event({"type": "response.output_text.delta", "delta": "x", "obfuscation": "yyyyyyyyyy"}),
                       event({"type": "response.completed", "response": {"usage": {
                           "input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}}})])

    models = Models(t, answer)
    models.ask("/v1/responses", {"model": "gpt-6-sol", "stream": True})
    models.ask(f"/v1beta/models/gemini-2.5-pro:generateContent?key={models.token}", {"contents": []}, headers={"x-api-key": "no"})
    lines = models.ledger(2)
    equal([line["cost_nusd"] for line in lines], [5 * 2000 + 4 * 200 + 2 * 10000, 10 * 1250 + 5 * 10000], "the costs")
    equal(models.provider.requests[1].path, "/v1beta/models/gemini-2.5-pro:generateContent", "no key in the path")
    equal(models.provider.requests[1].headers["x-goog-api-key"], Models.KEY, "the key")


def test_free_routes_pass_and_count_nothing(t):
    models = Models(t, lambda request, _: respond({"data": []}))
    equal(models.ask("/v1/models", method="GET")[0], 200, "models")
    equal(models.ask("/v1/messages/count_tokens", body())[0], 200, "count_tokens")
    models.stop()
    equal(models.ledger(), [], "the ledger")


def test_a_local_model_costs_nothing_and_is_counted(t):
    models = Models(t, lambda request, _: respond({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": {
        "prompt_tokens": 50, "completion_tokens": 7}}), "--budget", "0.001", tls=False, local=True)
    equal(models.ask("/v1/chat/completions", {"model": "qwen3:8b", "messages": []})[0], 200, "the answer")
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["input"], line["output"]), (0, 50, 7), "the ledger")


def test_an_unknown_model_is_never_free(t):
    models = Models(t, lambda request, _: message(input=1000, output=100), "--unknown-model", "most-expensive")
    models.ask(body={"model": "claude-next-9", "max_tokens": 100})
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["counted_as"]), (1000 * 30000 + 100 * 180000, "gpt-5.5-pro"), "as the most expensive, and says so")


def test_an_unknown_model_is_refused_with_the_line_to_add(t):
    models = Models(t, lambda request, _: message())
    status, _, answer = models.ask(body={"model": "claude-next-9", "max_tokens": 100})
    equal(status, 400, "the status")
    contains(answer.decode(), "~/.config/ringfence/prices.txt, with US$ per million tokens: model claude-next-9 INPUT OUTPUT - - -", "the reason")
    equal((models.ask()[0], len(models.provider.requests)), (200, 1), "a known one passes")


def test_the_gateway_asks_for_short_turns(t):
    """So streams are forwarded promptly while a build is running; kernels before 6.12 do not support this."""
    models = Models(t, lambda request, _: message(), tls=False)
    attributes = ctypes.create_string_buffer(56)
    result = ctypes.CDLL(None, use_errno=True).syscall(315, models.pid, attributes, 56, 0)
    if platform.machine() != "x86_64" or tuple(map(int, platform.release().split(".")[:2])) < (6, 12):
        raise Skip("sched_getattr() tells nothing of it here")
    equal((result, struct.unpack_from("=Q", attributes, 24)[0]), (0, 100000), "a turn, in nanoseconds")


# --- budgets

def test_parallel_requests_cannot_overshoot(t):
    """Eight at once, against money for three: never more than three are in flight, and the budget is not exceeded."""
    lock = threading.Lock()
    state = {"now": 0, "most": 0}

    def answer(request, _):
        with lock:
            state["now"] += 1
            state["most"] = max(state["most"], state["now"])
        time.sleep(0.05)
        with lock:
            state["now"] -= 1
        return message(input=len(request.body), output=100)

    one = reserve(body(), 100)
    models = Models(t, answer, "--budget", dollars(3 * one))
    codes = []
    threads = [threading.Thread(target=lambda: codes.append(models.ask(body=body())[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(state["most"] <= 3, "three at once at most", state)
    expect(codes.count(200) >= 3 and codes.count(402) == 8 - codes.count(200), "the others wait, or are refused", codes)
    expect(models.spent() <= int(float(dollars(3 * one)) * 10 ** 9), "the budget holds", models.spent())
    equal(models.ask()[0], 402, "and it stays so")


def test_a_document_that_the_provider_fetches_is_reserved_for(t):
    """US$ 1.76 are reserved for it, so one dollar is not enough. Content in the body itself costs no more than its bytes."""
    models = Models(t, lambda request, _: message(), "--budget", "1", "--provider-tools", "web-fetch", tls=False)
    schema = {"name": "t", "input_schema": {"type": "object", "properties": {"file_id": {"type": "string"}, "source": {"type": "url"}}}}
    here = [{"role": "user", "content": [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}}]}]
    equal(models.ask(body=body(messages=here, tools=[schema]))[0], 200, "a document that is here")
    there = [{"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}]}]
    status, _, answer = models.ask(body=body(messages=there))
    equal((status, len(models.provider.requests)), (402, 1), "one that is only named")
    contains(answer.decode(), "a request could cost US$ 1.76", "the reason")


def test_too_much_output_is_cut_down_and_nothing_else_changes(t):
    models = Models(t, lambda request, _: message(), "--budget", "0.500")
    asked = json.dumps(body(128000, tools=[{"name": "t", "input_schema": {"max_tokens": 128000}}])).encode()
    equal(models.ask(body=asked)[0], 200, "the answer")
    got = models.provider.requests[0].body
    limit = json.loads(got)["max_tokens"]
    expect(1024 <= limit < 128000, "it may answer less", limit)
    equal(got, asked.replace(b'"max_tokens": 128000', b'"max_tokens": %-6d' % limit, 1), "the rest is the same")


def test_codex_gets_a_limit_that_it_did_not_name(t):
    models = Models(t, lambda request, _: respond({"status": "completed", "usage": {"input_tokens": 1, "output_tokens": 1}}),
                    "--budget", "0.100")
    models.ask("/v1/responses", {"model": "gpt-6-astra", "input": "x"})
    expect(models.provider.requests[0].json["max_output_tokens"] < 3000, "a limit", models.provider.requests[0].json)


@cases("messages", "responses", "chat", "gemini")
def test_a_used_up_budget_is_refused_in_the_clients_own_form(t, form):
    path, request, status, part = {
        "messages": ("/v1/messages", body(), 402, '"type":"billing_error"'),
        "responses": ("/v1/responses", {"model": "gpt-5.5"}, 429, '"code":"insufficient_quota"'),
        "chat": ("/v1/chat/completions", {"model": "gpt-5.5"}, 402, '"code":"insufficient_quota"'),
        "gemini": ("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": []}, 402, '"code":402'),
    }[form]
    models = Models(t, lambda request, _: message(), "--budget", "0.001")
    for _ in range(2):
        got, headers, answer = models.ask(path, request)
        equal((got, headers["x-should-retry"]), (status, "false"), "the status")
        contains(answer.decode(), part, "the form")
        contains(answer.decode(), "US$ 0.001 is left of this run's US$ 0.001; --budget changes it", "the reason")
    equal(models.provider.requests, [], "nothing left the machine")


def start_stream(models, path="/v1/messages", request=None):
    """A request whose stream has begun: the connection and the response."""
    connection = models.connect()
    connection.request("POST", path, json.dumps(request or body(stream=True)), {"x-api-key": models.token})
    response = connection.getresponse()
    response.read1(65536)
    return connection, response


def test_the_latch_cuts_what_streams_and_refuses_every_retry(t):
    """A provider that charges more than was reserved: the stream that exceeds the budget ends all others."""
    gate, over = threading.Event(), threading.Event()
    t.cleanups.append(over.set)
    events = message_events()

    def answer(request, connection):
        if request.json.get("system") == "greedy":
            gate.wait(600)
            return message(input=10 ** 7, output=5)
        connection.sendall(STREAM + chunk(events[0]) + chunk(events[1]))
        over.wait(600)

    models = Models(t, answer, "--budget", "1")
    streams = [start_stream(models) for _ in range(2)]
    greedy = threading.Thread(target=models.ask, kwargs={"body": body(system="greedy")})
    greedy.start()
    gate.set()
    for _, response in streams:
        try:
            rest = response.read()
            expect(False, "the stream is cut", rest)
        except (http.client.IncompleteRead, ConnectionResetError):
            pass
    greedy.join()
    equal(models.ask()[0], 402, "a retry")
    lines = models.ledger(3)
    equal(sorted(line["estimated"] for line in lines), [False, True, True], "what was cut is estimated")
    equal(max(line["cost_nusd"] for line in lines), opus(10 ** 7, 5), "what was spent is written down, though it is too much")


def test_codex_is_told_within_its_stream(t):
    gate, over = threading.Event(), threading.Event()
    t.cleanups.append(over.set)

    def answer(request, connection):
        if request.path == "/v1/messages":
            gate.wait(600)
            return message(input=10 ** 7, output=5)
        connection.sendall(STREAM + chunk(event({"type": "response.output_text.delta", "delta": "x"})))
        over.wait(600)

    models = Models(t, answer, "--budget", "1")
    _, response = start_stream(models, "/v1/responses", {"model": "gpt-6-luna", "stream": True, "max_output_tokens": 100})
    greedy = threading.Thread(target=models.ask)
    greedy.start()
    gate.set()
    rest = response.read().decode()
    greedy.join()
    contains(rest, "event: response.failed", "the end")
    contains(rest, '"code":"insufficient_quota"', "the end")
    status, _, answer = models.ask("/v1/responses", {"model": "gpt-6-luna"})
    equal(status, 429, "a retry")
    contains(answer.decode(), "insufficient_quota", "a retry")


@each_identity
def test_a_daily_budget_is_shared_by_all_runs(t):
    t.one_day()
    models = Models(t, lambda request, _: message(input=32000, output=500), "--daily-budget", "0.150")
    equal(models.ask(body=body(1000))[0], 200, "the first run")
    models.stop()
    again = Models(t, lambda request, _: message(), "--daily-budget", "0.150")
    status, _, answer = again.ask(body=body(5000))
    equal(status, 402, "the second run")
    contains(answer.decode(), "is left of today's US$ 0.15; --daily-budget changes it", "the reason")
    other = Models(t, lambda request, _: message(), "--budget", "0.150")
    equal(other.ask(body=body(1000))[0], 200, "a run without that limit")


# --- failures

def test_a_client_that_goes_away_is_charged_for_what_it_saw(t):
    events = message_events(text="x" * 400, input=50)
    gone = threading.Event()

    def answer(request, connection):
        connection.sendall(STREAM + chunk(events[0]) + chunk(events[1]))
        connection.settimeout(60)
        try:
            connection.recv(1)
        except OSError:
            pass
        gone.set()

    models = Models(t, answer)
    connection, _ = start_stream(models, request=body(1000, stream=True))
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    (line,) = models.ledger(1)
    equal((line["estimated"], line["input"], line["output"]), (True, 50, 200), "two bytes a token")
    expect(gone.wait(600), "the provider is told to stop", "")


def reset(connection):
    """Ends a connection with a reset, when it is closed."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def ask_anyhow(models, *words, **more):
    """A request whose answer may break off; returns its status, or None."""
    try:
        return models.ask(*words, **more)[0]
    except (http.client.HTTPException, ConnectionError):
        return None


# The first event of a streamed answer, by path: it names the model or the tokens.
BEGINNINGS = {
    "/v1/messages": message_events(input=50)[0],
    "/v1/chat/completions": event({"model": "gpt-5.5", "choices": [{"delta": {"role": "assistant"}, "finish_reason": None}]}),
    "/v1/responses": event({"type": "response.created", "response": {"model": "gpt-5.5", "status": "in_progress", "usage": None}}),
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse": event({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}),
}
QUESTIONS = {
    "/v1/messages": {"model": "claude-opus-5-5", "max_tokens": 100, "messages": []},
    "/v1/chat/completions": {"model": "gpt-5.5", "messages": []},
    "/v1/responses": {"model": "gpt-5.5", "input": []},
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse": {"contents": []},
}


def question(path, streamed=True):
    return {**QUESTIONS[path], **({} if "gemini" in path else {"stream": streamed})}


@cases(*BEGINNINGS)
def test_a_stream_that_began_and_broke_off_is_charged_by_estimate(t, path):
    def answer(request, connection):
        connection.sendall(STREAM + chunk(BEGINNINGS[path]))
        reset(connection)

    models = Models(t, answer, tls=False)
    ask_anyhow(models, path, question(path))
    (line,) = models.ledger(1)
    expect(line["estimated"] and line["cost_nusd"] > 0, "an estimate", line)


@cases(("the server", 3, 8), ("the client", 1, 1))
def test_the_input_of_a_broken_answer_is_guessed_unless_the_client_broke_it_off(t, who, tokens, size):
    """A client could make dense requests that look sparse; it cannot break off a server."""
    path, left = "/v1/responses", threading.Event()
    words = json.dumps({**question(path), "instructions": "word " * 2000}).encode()

    def answer(request, connection):
        connection.sendall(STREAM + chunk(BEGINNINGS[path]))
        if who == "the client":
            left.wait()
        else:
            reset(connection)

    models = Models(t, answer, tls=False)
    t.cleanups.append(left.set)
    if who == "the client":
        connection = models.connect()
        connection.request("POST", path, words, {"authorization": f"Bearer {models.token}", "content-type": "application/json"})
        connection.getresponse().read(1)
        connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()
    else:
        ask_anyhow(models, path, words)
    (line,) = models.ledger(1)
    equal((line["estimated"], line["input"]), (True, len(words) * tokens // size), "the estimate", line)


def test_a_client_that_leaves_after_the_head_of_an_error_does_not_hide_its_cause(t):
    """As curl --fail does. The provider sends the body late, unless the request has been settled before."""
    said = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}).encode()

    def answer(request, connection):
        head, body = respond(said, "400 Bad Request").split(b"\r\n\r\n")
        connection.sendall(head + b"\r\n\r\n")
        models.ledger(1, timeout=1)
        connection.sendall(body)

    models = Models(t, answer, tls=False)
    with socket.create_connection(("127.0.0.1", models.port)) as client:
        words = json.dumps(question("/v1/messages")).encode()
        client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: %s\r\nContent-Length: %d\r\n\r\n%s" % (
            models.token.encode(), len(words), words))
        contains(client.recv(16).decode(), "HTTP/1.1 400", "the head")
    (line,) = models.ledger(1)
    equal((line["status"], line["failure"], line["cost_nusd"]), (400, "billing", 0), "the ledger", line)


# Answers with nothing in them that a model made: bytes, or what is done with the connection.
NO_ANSWERS = {
    "a reset": reset,
    "an end": lambda connection: None,
    "a head that is cut off": b"HTTP/1.1 200 OK\r\nContent-",
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "a redirect": respond(b"", "302 Found", "text/html", "Location: http://login.example/"),
    "a captive portal": respond(b"<html><body>Please log in to this network.</body></html>", kind="text/html"),
    "a portal with JSON": respond({"login": "required", "message": "accept our terms"}),
    "an empty body": respond(b""),
    "broken JSON": respond(b'{"oops": '),
    "an empty stream": stream([]),
    "a stream of nothing known": stream([event({"hello": "world"}), b": ping\n\n"]),
    "a stream that is cut before its first event": lambda connection: (connection.sendall(STREAM), reset(connection)),
}


@cases(*((what, path) for what in NO_ANSWERS for path in QUESTIONS), *((what, "/v1/messages", False) for what in NO_ANSWERS))
def test_a_server_that_does_not_answer_as_a_model_costs_nothing(t, what, path, streamed=True):
    def answer(request, connection):
        made = NO_ANSWERS[what]
        if isinstance(made, bytes):
            connection.sendall(made)
        else:
            made(connection)

    models = Models(t, answer, tls=False)
    ask_anyhow(models, path, question(path, streamed))
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["estimated"], line["failure"]), (0, False, "unreachable"), "the ledger", line)
    contains(line["error"], f"127.0.0.1:{models.provider.port} ", "the reason")


@cases(True, False)
def test_a_server_that_was_silent_for_long_before_it_broke_off_may_have_worked(t, streamed):
    """unanswered_ms: until then, a lost connection costs nothing."""
    models = Models(t, lambda request, connection: reset(connection), tls=False, caps={"unanswered_ms": 0})
    ask_anyhow(models, body=body(stream=streamed))
    (line,) = models.ledger(1)
    expect(line["estimated"] and line["cost_nusd"] > 0, "an estimate", line)


def test_an_answer_in_an_unknown_encoding_is_charged_by_estimate(t):
    models = Models(t, lambda request, _: respond(b"\x0a\x05hello", kind="application/x-protobuf"), tls=False)
    models.ask("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": []}, headers={"accept": "application/x-protobuf"})
    (line,) = models.ledger(1)
    expect(line["estimated"] and line["cost_nusd"] > 0, "an estimate", line)


def failed_response(*between):
    """A stream of OpenAI's Responses that fails with a rate limit after these events."""
    failed = {"model": "gpt-5.5", "status": "failed", "usage": None, "error": {"code": "rate_limit_exceeded", "message": "slow down"}}
    return stream([BEGINNINGS["/v1/responses"], *between, event({"type": "response.failed", "response": failed})])


def test_an_error_instead_of_an_answer_costs_nothing_within_a_stream_either(t):
    models = Models(t, lambda request, _: failed_response(), tls=False)
    models.ask("/v1/responses", question("/v1/responses"))
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["estimated"], line["failure"]), (0, False, "rate limit"), "the ledger", line)


def test_an_error_after_a_part_of_the_answer_is_charged_by_estimate(t):
    text = event({"type": "response.output_text.delta", "delta": "hello"})
    models = Models(t, lambda request, _: failed_response(text), tls=False)
    models.ask("/v1/responses", question("/v1/responses"))
    (line,) = models.ledger(1)
    equal(line["failure"], "rate limit", "the class")
    expect(line["estimated"] and line["cost_nusd"] > 0, "an estimate", line)


def test_an_estimate_is_called_so_at_the_end(t):
    def answer(request, connection):
        connection.sendall(STREAM + chunk(message_events(input=50)[0]))
        reset(connection)

    models = Models(t, answer, tls=False)
    ask_anyhow(models, body=body(stream=True))
    models.ledger(1)
    models.process.send_signal(signal.SIGINT)
    contains(models.t.communicate(models.process)[1].decode(), " (estimated): 1 request", "the notice")


@cases("200 OK", "429 Too Many Requests")
def test_a_compressed_error_costs_nothing(t, status):
    packed = gzip.compress(b'{"type":"error","error":{"type":"rate_limit_error","message":"no"}}')
    models = Models(t, lambda request, _: respond(packed, status, "application/json", "Content-Encoding: gzip"), tls=False)
    equal(models.ask()[0], 502, "the status")
    equal(models.ledger(1)[0]["cost_nusd"] > 0, status == "200 OK", "a charge: only for what may be an answer")


def test_a_provider_that_cannot_be_reached_costs_nothing(t):
    port = t.held_port()
    models = Models(t, lambda request, _: message(), "--upstream", f"anthropic=https://127.0.0.1:{port}")
    status, _, answer = models.ask()
    equal(status, 502, "the status")
    reason = f"127.0.0.1:{port} cannot be reached: Connection refused"
    contains(answer.decode(), f"anthropic: {reason}", "the reason")
    line = models.ledger(1)[0]
    equal((line["cost_nusd"], line["failure"], line["error"]), (0, "unreachable", reason), "the ledger")


def test_a_name_that_does_not_exist_is_a_provider_that_cannot_be_reached(t):
    # Names under .onion are never looked up (RFC 7686), so that no network is needed to know.
    models = Models(t, lambda request, _: message(), "--upstream", "anthropic=https://models.onion")
    equal(models.ask()[0], 502, "the status")
    line = models.ledger(1)[0]
    equal((line["cost_nusd"], line["failure"]), (0, "unreachable"), "the ledger", line)
    contains(line["error"], "models.onion:443 cannot be reached: ", "the reason")


@cases(429, 529, 401)
def test_a_providers_own_no_is_passed_on_and_not_billed(t, code):
    kind = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}[code]
    models = Models(t, lambda request, _: respond({"type": "error", "error": {"type": kind, "message": "no"}}, f"{code} No",
                                                  "application/json", "Retry-After: 60"))
    before = time.time() * 1000
    status, headers, answer = models.ask()
    after = time.time() * 1000
    equal((status, headers["retry-after"], json.loads(answer)["error"]["type"]), (code, "60", kind), "the answer")
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["estimated"], line["error"]), (0, False, kind), "the ledger")
    equal(line["failure"], {429: "rate limit", 529: "overloaded", 401: "authentication"}[code], "the class")
    if code != 401:
        expect(before - 1 <= line["retry_at_ms"] - 60000 <= after + 1, "when to try again", (before, line, after))


@cases(("API_KEY_INVALID", "authentication"), ("BILLING_DISABLED", "billing"), ("SERVICE_DISABLED", "permission"),
       ("FIELD_UNKNOWN", "other"))
def test_googles_reason_for_an_invalid_request_is_its_class(t, reason, failure):
    error = {"code": 400, "message": "no", "status": "INVALID_ARGUMENT",
             "details": [{"@type": "type.googleapis.com/google.rpc.Help"}, {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]}
    models = Models(t, lambda request, _: respond({"error": error}, "400 Bad Request"), tls=False)
    models.ask("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": []})
    (line,) = models.ledger(1)
    equal((line["failure"], line["cost_nusd"]), (failure, 0), "the class", line)


def openai_limit(**more):
    return {"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", **more}}


# Limits whose end is only in the body, by path: the seconds from now, and the body at this time.
LIMITS = {
    "resets_at": ("/v1/responses", 7200, lambda now: openai_limit(resets_at=int(now) + 7200)),
    "resets_in_seconds": ("/v1/chat/completions", 4320, lambda now: openai_limit(resets_in_seconds=4320)),
    "in words": ("/v1/messages", 4320, lambda now: {"type": "error", "error": {"type": "rate_limit_error", "message": "Please try again in 1h12m."}}),
    "in words, after a long text": ("/v1/messages", 4320, lambda now: {"type": "error", "error": {
        "type": "rate_limit_error", "message": f"This request would exceed your limit. {'See the documentation. ' * 100}Try again in 1h12m."}}),
    "retryDelay": ("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", 34, lambda now: {
        "error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "no", "details": [{"retryDelay": "34s"}]}}),
    "in a month": ("/v1/responses", 30 * 86400, lambda now: openai_limit(resets_at=int(now) + 30 * 86400)),
    "never": ("/v1/responses", None, lambda now: openai_limit(resets_at="soon", message="try again in a while")),
}


@cases(*LIMITS)
def test_a_limits_end_in_the_body_is_read(t, where):
    path, after, made = LIMITS[where]
    models = Models(t, lambda request, _: respond(made(time.time()), "429 Too Many Requests"), tls=False)
    before = time.time()
    equal(models.ask(path, question(path))[0], 429, "the status")
    (line,) = models.ledger(1)
    equal(line["failure"], "rate limit", "the class", line)
    equal("retry_at_ms" in line, after is not None, "a time", line)
    if after:
        expect(before - 2 <= line["retry_at_ms"] / 1000 - after <= time.time() + 2, "when to try again", (before, line))


def test_an_error_within_a_stream_is_seen(t):
    events = [message_events(input=10)[0],
              event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error")]
    models = Models(t, lambda request, _: stream(events))
    models.ask(body=body(stream=True))
    (line,) = models.ledger(1)
    equal((line["failure"], line["error"], line["input"]), ("overloaded", "overloaded_error", 10), "the ledger")


def test_what_is_compressed_is_not_passed_on(t):
    packed = gzip.compress(json.dumps({"usage": {"input_tokens": 1, "output_tokens": 1}}).encode())
    models = Models(t, lambda request, _: respond(packed, "200 OK", "application/json", "Content-Encoding: gzip"))
    status, _, answer = models.ask()
    equal(status, 502, "the status")
    contains(answer.decode(), "compressed although that was not requested", "the reason")
    (line,) = models.ledger(1)
    equal((line["estimated"], line["cost_nusd"]), (True, reserve(body(), 100)), "all that was reserved is charged")


def test_redirects_are_not_followed(t):
    other = Provider(lambda request, _: message())
    t.cleanups.append(other.close)
    models = Models(t, lambda request, _: respond({}, "307 Elsewhere", "application/json", f"Location: {other.url}/v1/messages"))
    status, headers, _ = models.ask()
    equal((status, "location" in headers, other.requests), (502, False, []), "the key goes nowhere else")


def test_another_certificate_is_refused(t):
    models = Models(t, lambda request, _: message())
    elsewhere = t.outside + "/other"
    os.makedirs(elsewhere)
    from harness.provider import make_certificate
    models.provider.context.load_cert_chain(*make_certificate(elsewhere))
    status, _, answer = models.ask()
    equal(status, 502, "the status")
    contains(answer.decode(), "certificate is not trusted", "the reason")
    equal(models.ledger(1)[0]["failure"], "unreachable", "the class")
    equal(models.provider.requests, [], "no request, no key")


def test_refusals_are_cheap(t):
    """530 of them, as a client once made in 20 s."""
    models = Models(t, lambda request, _: message(), "--budget", "0.001")
    models.ask()
    with open(f"/proc/{models.pid}/stat") as file:
        start = sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    for _ in range(530):
        connection = models.connect()
        equal(models.ask(connection=connection)[0], 402, "the status")
        connection.close()
    with open(f"/proc/{models.pid}/stat") as file:
        ticks = sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) - start
    expect(ticks / os.sysconf("SC_CLK_TCK") < 0.5, "half a second of one core", ticks)
    equal(models.provider.requests, [], "nothing left")


def test_32_mib_pass_and_33_do_not(t):
    models = Models(t, lambda request, _: message(input=10, output=1), tls=False)
    start = json.dumps(body())[:-1].encode() + b', "metadata": "'
    whole = start + b"a" * ((32 << 20) - len(start) - 2) + b'"}'
    status, _, _ = models.ask(body=whole)
    equal((status, len(models.provider.requests[0].body), models.provider.requests[0].body[-20:]),
          (200, 32 << 20, whole[-20:]), "32 MiB")
    with open(f"/proc/{models.pid}/status") as file:
        peak = int(next(line for line in file if line.startswith("VmHWM")).split()[1])
    expect(peak < 16 << 10, "they are not kept in its memory", peak)
    head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {models.token}\r\nContent-Length: {33 << 20}\r\n\r\n"
    contains(models.raw(head.encode()).decode(), "HTTP/1.1 413 ", "33 MiB")
    chunks = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {models.token}\r\nTransfer-Encoding: chunked\r\n\r\n{33 << 20:x}\r\n"
    with socket.create_connection(("127.0.0.1", models.port), 60) as connection:
        connection.sendall(chunks.encode())
        answer = b""
        try:
            for _ in range(33):
                connection.sendall(b"{" + b" " * ((1 << 20) - 1))
        except OSError:
            pass
        try:
            answer = connection.recv(4096)
        except ConnectionResetError:
            pass
    expect(not answer or b" 413 " in answer or b" 400 " in answer, "33 MiB in chunks", answer)
    equal(len(models.provider.requests), 1, "only one left the machine")


def test_a_reader_that_stalls_holds_up_the_provider_and_not_the_gateway(t):
    sent = {"bytes": 0}

    def answer(request, connection):
        if request.json.get("stream"):
            connection.sendall(STREAM)
            connection.settimeout(3)
            try:
                for _ in range(1000):
                    connection.sendall(chunk(b": " + b"x" * 65536 + b"\n\n"))
                    sent["bytes"] += 65536
            except OSError:
                pass
            return None
        return message()

    models = Models(t, answer, tls=False)
    connection = socket.create_connection(("127.0.0.1", models.port))
    data = json.dumps(body(stream=True)).encode()
    connection.sendall(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {models.token}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
    wait_for(lambda: sent["bytes"] > 0, "it begins")
    last = -1
    while last != sent["bytes"]:
        last = sent["bytes"]
        time.sleep(0.1)
    expect(sent["bytes"] < 40 << 20, "backpressure", sent)
    equal(models.ask()[0], 200, "others are served")
    with open(f"/proc/{models.pid}/status") as file:
        rss = int(next(line for line in file if line.startswith("VmRSS")).split()[1])
    expect(rss < 16 << 10, "flat memory", rss)
    connection.close()


SMUGGLING = {
    "two lengths": "Content-Length: 2\r\nContent-Length: 3\r\n",
    "length beside chunks": "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
    "another coding": "Transfer-Encoding: gzip, chunked\r\n",
    "a blank before the colon": "Content-Length : 2\r\n",
    "a folded line": "X-A: b\r\n c\r\nContent-Length: 2\r\n",
    "a bare line feed": "X-A: b\nContent-Length: 2\r\n",
    "a signed length": "Content-Length: +2\r\n",
    "a length in hexadecimal": "Content-Length: 0x2\r\n",
    "two hosts": "Host: y\r\nContent-Length: 2\r\n",
    "a control character": "X-A: \x01\r\nContent-Length: 2\r\n",
}


@cases(*SMUGGLING)
def test_what_two_parsers_could_read_in_two_ways_is_refused(t, name):
    models = Models(t, lambda request, _: message(), tls=False)
    head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {models.token}\r\n{SMUGGLING[name]}\r\n"
    contains(models.raw(head.encode("latin-1") + b"{}").decode(), "HTTP/1.1 400 ", "the answer")
    equal(models.provider.requests, [], "nothing left")
    equal(models.ask()[0], 200, "a plain one passes")


@cases("the head", "the body", "chunks")
def test_a_request_that_trickles_has_a_time_altogether(t, part):
    """A byte from time to time: each is progress, and the request is refused all the same. Others are served meanwhile."""
    models = Models(t, lambda request, _: message(), tls=False, caps={"header_ms": 1500, "body_ms": 1500})
    length = {"the head": "", "the body": "Content-Length: 100000\r\n\r\n", "chunks": "Transfer-Encoding: chunked\r\n\r\n"}[part]
    start = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {models.token}\r\n{length}"
    drop = {"the head": b"x", "the body": b" ", "chunks": b"1\r\n \r\n"}[part]
    with socket.create_connection(("127.0.0.1", models.port), 30) as client:
        client.sendall(start.encode() + (b"X-A: " if part == "the head" else b""))
        drops = 0
        while not select.select([client], [], [], 0.05)[0]:
            client.sendall(drop)
            drops += 1
            expect(drops < 600, "it is refused", drops)
        answer = client.recv(65536).decode()
    contains(answer, "HTTP/1.1 408 ", "the answer")
    contains(answer, "was not complete within 1500 milliseconds", "the reason")
    lacks(answer, "x-should-retry: false", "a client that was held up may ask again")
    expect(drops > 1, "it trickled", drops)
    equal(models.ask()[0], 200, "a whole one")
    equal(len(models.provider.requests), 1, "what left")


def test_a_reader_that_stalls_holds_up_its_provider_and_nobody_else(t):
    ended = threading.Event()
    flood = {"sent": 0}

    def answer(request, connection):
        if not request.json.get("stream"):
            return message()
        piece = chunk(event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x" * 60000}}))
        try:
            connection.sendall(STREAM + chunk(message_events()[0]))
            while flood["sent"] < 256 << 20:
                connection.sendall(piece)
                flood["sent"] += len(piece)
        except OSError:
            pass
        ended.set()

    models = Models(t, answer, tls=False, caps={"idle_ms": 2000})
    data = json.dumps(body(stream=True))
    with socket.create_connection(("127.0.0.1", models.port), 30) as client:
        client.sendall(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {models.token}\r\nContent-Length: {len(data)}\r\n\r\n{data}".encode())
        contains(client.recv(100).decode(), "HTTP/1.1 200 OK", "the stream begins")
        equal(models.ask()[0], 200, "somebody else")
        expect(ended.wait(600), "the provider is held up, and let go in the end", flood)
    expect(flood["sent"] < 64 << 20, "no more than sockets hold", flood)
    with open(f"/proc/{models.pid}/status", encoding="ascii") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    expect(peak < 32 << 10, "the gateway keeps little of it", peak)
    lines = models.ledger(2)
    equal(sorted((line["estimated"], line["output"] > 0) for line in lines), [(False, True), (True, True)], "it is charged for what it asked for")


@cases("//v1/messages", "/v1/%6dessages", "/v1/%2e%2e/v1/messages", "/v1/../v1/messages", "/v1/messages/batches", "/v1/files",
       "/v1/messages/", "/V1/messages", "/", "/v1/embeddings")
def test_other_paths_are_no_routes(t, path):
    models = Models(t, lambda request, _: message(), tls=False)
    equal(models.ask(path)[0], 404, "the status")
    equal(models.provider.requests, [], "nothing left")


@cases("twice", "other letters", "escaped", "no JSON", "a list", "no number")
def test_bodies_with_two_meanings_are_refused(t, name):
    text = {"twice": '{"model":"claude-opus-5-5","max_tokens":1,"max_tokens":100000}',
            "other letters": '{"model":"claude-opus-5-5","max_tokens":1,"MAX_TOKENS":100000}',
            "escaped": '{"model":"claude-opus-5-5","max_tokens":1,"max_token\\u0073":100000}',
            "no JSON": '{"model":"claude-opus-5-5","max_tokens":1,}',
            "a list": '[{"model":"claude-opus-5-5","max_tokens":1}]',
            "no number": '{"model":"claude-opus-5-5","max_tokens":"1"}'}[name]
    models = Models(t, lambda request, _: message(), tls=False)
    equal(models.ask(body=text.encode())[0], 400, "the status")
    equal(models.provider.requests, [], "nothing left")


def test_a_websocket_is_told_to_post(t):
    models = Models(t, lambda request, _: message(), tls=False)
    head = f"GET /v1/responses HTTP/1.1\r\nHost: x\r\nauthorization: Bearer {models.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    contains(models.raw(head.encode()).decode(), "HTTP/1.1 426 ", "the answer")


def test_without_the_token_nothing_is_served(t):
    models = Models(t, lambda request, _: message(), tls=False)
    for token in ("sk-ant-anything", models.token[:-1] + ("0" if models.token[-1] != "0" else "1"), models.token + "0"):
        equal(models.ask(token=token)[0], 401, "the status")
    equal(models.provider.requests, [], "nothing left")
    equal(models.ask()[0], 200, "with it")


# --- the key

@each_identity
def test_the_key_is_in_the_gateway_and_nowhere_else(t):
    def answer(request, _):
        echo = json.dumps({"type": "message", "content": [{"type": "text", "text": "your key is " + Models.KEY}],
                           "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
        return respond(echo, "200 OK", "application/json", f"X-Echo: {Models.KEY}")

    models = Models(t, answer)
    status, headers, answer_bytes = models.ask()
    equal((status, headers["x-echo"]), (200, "x" * len(Models.KEY)), "a head is masked")
    contains(answer_bytes.decode(), "your key is " + "x" * len(Models.KEY), "a body is masked")
    pid = models.pid
    for name in ("cmdline", "environ"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                lacks(file.read().decode("latin-1"), Models.KEY, name)
        except PermissionError:
            pass
    with open(f"/proc/{models.process.pid}/cmdline", "rb") as file:
        lacks(file.read().decode(), Models.KEY, "the owner's arguments")
    if os.getuid() != 0:
        try:
            with open(f"/proc/{pid}/mem", "rb"):
                expect(False, "its memory cannot be read", "")
        except PermissionError:
            pass
    with open(f"/proc/{pid}/limits") as file:
        core = next(line for line in file if line.startswith("Max core file size")).split()
    equal(core[4:6], ["0", "0"], "no core file")
    result = models.stop()
    lacks(result.out + result.err, Models.KEY, "what it said")
    for folder, _, files in os.walk(t.state):
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                lacks(file.read().decode("latin-1"), Models.KEY, name)


def test_a_key_that_is_echoed_in_pieces_is_masked(t):
    events = [event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": Models.KEY}})]
    raw = b"".join(events)
    models = Models(t, lambda request, _: STREAM + b"".join(chunk(raw[i:i + 1]) for i in range(len(raw))) + b"0\r\n\r\n")
    _, _, answer = models.ask(body=body(stream=True))
    equal(answer, raw.replace(Models.KEY.encode(), b"x" * len(Models.KEY)), "the bytes")


def test_a_key_that_is_echoed_with_escapes_is_masked(t):
    """As JSON may write any letter, in pieces of any size."""
    key = "".join(f"\\u{ord(letter):04x}" if n % 3 else letter for n, letter in enumerate(Models.KEY))
    raw = b'data: {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "your key is %s"}}\n\n' % key.encode()
    pieces = [raw[i:i + 7] for i in range(0, len(raw), 7)]
    models = Models(t, lambda request, _: STREAM + b"".join(map(chunk, pieces)) + b"0\r\n\r\n")
    _, _, answer = models.ask(body=body(stream=True))
    equal(len(answer), len(raw), "no byte more or less")
    equal(json.loads(answer[6:])["delta"]["text"], "your key is " + "x" * len(Models.KEY), "what is in it")


@cases("file", "command")
@each_identity
def test_a_key_can_come_from_a_file_or_a_command(t, kind):
    path = t.at_home("the-key", "sk-from-elsewhere-123\n")
    source = f"file:{path}" if kind == "file" else f"command:cat {path}"
    models = Models(t, lambda request, _: message(), "--model-key", f"anthropic={source}", tls=False)
    models.ask()
    equal(models.provider.requests[0].headers["x-api-key"], "sk-from-elsewhere-123", "the key")


def test_a_key_that_is_not_there_is_told(t):
    result = t.run([t.ringfence, "gateway"])
    equal(result.code, 125, "exit status", result)
    contains(result.err, "there is no key for a model provider: set ANTHROPIC_API_KEY", "the message")
    result = t.run([t.ringfence, "gateway", "--model-key", "anthropic=sk-ant-0123456789"])
    contains(result.err, "never put the key itself here", "the message")


# --- crashes

@each_identity
def test_a_gateway_killed_in_a_request_counts_all_that_it_was_granted(t):
    started, over = threading.Event(), threading.Event()

    def answer(request, connection):
        if not started.is_set():
            started.set()
            over.wait(600)
            return None
        return message(input=10, output=5)

    models = Models(t, answer, "--budget", "1")
    thread = threading.Thread(target=lambda: swallow(models.ask))
    thread.start()
    expect(started.wait(600), "the request is on its way", "")
    os.kill(models.pid, signal.SIGKILL)
    thread.join()
    over.set()
    (line,) = models.ledger(1)
    equal((line["route"], line["estimated"]), ("lost", True), "the open lease is spent")
    expect(line["cost_nusd"] >= opus(10, 5), "and it is not less than what was under way", line)
    wait_for(lambda: models.pid, "it is started again")
    equal(models.ask()[0], 200, "and serves")
    models.stop()
    equal(sum(line["cost_nusd"] for line in models.ledger()), line["cost_nusd"] + opus(10, 5), "the sum")


def test_a_gateway_killed_in_a_stream_costs_what_was_streamed(t):
    """Not less than the provider may bill, and not all that was reserved for it."""
    over = threading.Event()
    t.cleanups.append(over.set)

    def answer(request, connection):
        if len(models.provider.requests) > 1:
            return message(input=10, output=5)
        connection.sendall(STREAM + b"".join(map(chunk, message_events(text="x" * 2000, input=5000)[:2])))
        over.wait(60)
        return None

    models = Models(t, answer, "--budget", "5")
    began = time.monotonic()
    connection = models.connect()
    body = {"model": "claude-opus-5-5", "max_tokens": 64000, "stream": True, "messages": []}
    connection.request("POST", "/v1/messages", json.dumps(body), {"x-api-key": models.token})
    contains(connection.getresponse().read1(65536).decode(), "message_start", "the start of the answer")
    os.kill(models.pid, signal.SIGKILL)
    (line,) = models.ledger(1)
    tokens = 1000 + 300 * (time.monotonic() - began + 1)
    equal((line["route"], line["estimated"]), ("lost", True), "the line")
    expect(opus(5000, 1000) <= line["cost_nusd"] <= opus(5000, tokens), "its cost is what was streamed", (line, tokens))
    wait_for(lambda: models.pid, "it is started again")
    equal(models.ask()[0], 200, "and serves")
    models.stop()
    equal(models.spent(), line["cost_nusd"] + opus(10, 5), "the sum")


def swallow(function):
    try:
        function()
    except (OSError, http.client.HTTPException):
        pass


@each_identity
def test_an_owner_that_is_killed_loses_no_spend(t):
    models = Models(t, lambda request, _: message(input=10, output=5), "--daily-budget", "1")
    equal((models.ask()[0], len(models.ledger(1))), (200, 1), "a request, and its line")
    os.kill(models.process.pid, signal.SIGKILL)
    models.process.wait()
    before = models.spent()
    again = Models(t, lambda request, _: message(input=10, output=5), "--daily-budget", "1")
    expect(again.spent() > before, "what was granted and not used is lost", again.ledger())
    equal(again.ask()[0], 200, "another request")
    again.stop()
    equal([line["route"] for line in again.ledger()], ["messages", "lost", "messages"], "the ledger")


# --- cost

def test_cost_adds_up_the_ledger(t):
    t.one_day()
    models = Models(t, lambda request, _: message(input=10, output=5))
    for _ in range(3):
        models.ask()
    models.stop()
    result = t.run([t.ringfence, "cost", "--json"])
    equal(result.code, 0, "exit status", result)
    whole = json.loads(result.out)
    equal((whole["total"]["requests"], whole["total"]["cost_nusd"], whole["lines"][0]["model"]),
          (3, 3 * opus(10, 5), "claude-opus-5-5"), "the sum")
    contains(t.run([t.ringfence, "cost", "--by", "day"]).out, "0.00042", "by day")
    contains(t.run([t.ringfence, "cost", "--csv"]).out, '"claude-opus-5-5",3,30,15,0,0,0,0.00042,0.00', "as CSV")
    equal(t.run([t.ringfence, "cost", "--by", "moon"]).code, 125, "by something else")


@cases("missing", "garbage", "cut")
def test_a_ledger_that_lost_its_lines_is_not_a_small_cost(t, how):
    t.one_day()
    models = Models(t, lambda request, _: message(input=10, output=5))
    for _ in range(3):
        models.ask()
    models.stop()
    equal(t.run([t.ringfence, "cost"]).err, "", "what is said before")
    path = os.path.join(t.state, "gateway/ledger.jsonl")
    lines = t.read(path).splitlines(keepends=True)
    if how == "missing":
        os.unlink(path)
    else:
        t.write(path, "\0garbage\n" * 9 if how == "garbage" else "".join(lines[:1]))
    result = t.run([t.ringfence, "cost"])
    equal(result.code, 0, "exit status", result)
    contains(result.err, path, "what is said")
    contains(result.err, "lines are missing", "what is said")
    left = 1 if how == "cut" else 0
    equal(json.loads(t.run([t.ringfence, "cost", "--json"]).out)["missing_nusd"], (3 - left) * opus(10, 5), "the JSON")


@cases(80, 120)
def test_costs_are_no_wider_than_the_terminal(t, columns):
    models = Models(t, lambda request, _: message(input=1234567, output=12345, cache_read_input_tokens=1234567),
                    "--unknown-model", "most-expensive")
    name = "claude-opus-5-5-" + "x" * 10
    for model in ("claude-opus-5-5", name):
        models.ask(body={"model": model, "max_tokens": 20000, "messages": []})
    models.stop()
    terminal = t.tty([t.ringfence, "cost"], cols=columns)
    equal(terminal.wait(), 0, "exit status")
    lines = terminal.text().replace("\r", "").splitlines()
    equal([line for line in lines if len(line) > columns], [], "lines that are too long")
    words = [line.split() for line in lines]
    if columns == 80:
        equal(words[2::2], [["claude-opus-5-5"], [name], ["total"]], "names above their numbers")
        words = [above + below for above, below in zip(words[::2], words[1::2])]
    equal([row[:4] for row in words[1:]], [["claude-opus-5-5", "1", "1234567", "12345"], [name, "1", "1234567", "12345"],
                                           ["total", "2", "2469134", "24690"]], "names and numbers")


@each_identity
def test_a_command_runs_with_a_token_instead_of_the_key(t):
    provider = Provider(lambda request, _: message(input=10, output=5))
    t.cleanups.append(provider.close)
    script = ('import json, os, urllib.request as u\n'
              'r = u.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps({"model": "claude-opus-5-5", "max_tokens": 9}).encode(),\n'
              '              {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})\n'
              'print(u.urlopen(r).status)\nraise SystemExit(7)')
    result = t.run([t.ringfence, "gateway", "--upstream", f"anthropic={provider.url}", "--", "python3", "-c", script],
                   env=t.env(ANTHROPIC_API_KEY="sk-real-0123456789"))
    equal((result.code, result.out), (7, "200\n"), "the command", result)
    contains(result.err, "models cost US$ 0.00014", "what it cost")
    contains(t.run([t.ringfence, "gateway", "--help"]).out, "limit the cost of one run (in a loop: of one iteration)", "what --budget is here")
    equal(provider.requests[0].headers["x-api-key"], "sk-real-0123456789", "the key")


def test_a_proxy_on_the_way_is_honoured(t):
    seen = []

    def proxy(connection):
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
        seen.append(head.decode())
        host, port = head.split()[1].decode().split(":")
        with socket.create_connection((host, int(port))) as server:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            pump = threading.Thread(target=copy, args=(server, connection), daemon=True)
            pump.start()
            copy(connection, server)

    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass

    server = t.serve(("127.0.0.1", 0), family=socket.AF_INET, handle=proxy)
    models = Models(t, lambda request, _: message(), "--upstream-proxy", f"http://u:p@127.0.0.1:{server.getsockname()[1]}")
    equal(models.ask()[0], 200, "the answer")
    contains(seen[0], f"CONNECT 127.0.0.1:{models.provider.port} HTTP/1.1", "the way")
    contains(seen[0], "Proxy-Authorization: Basic dTpw", "the proxy's own password")
    lacks(seen[0], Models.KEY, "no key there")


def test_connections_to_a_provider_are_used_again(t):
    models = Models(t, lambda request, _: message())
    connection = models.connect()
    for _ in range(5):
        equal(models.ask(connection=connection)[0], 200, "the answer")
    equal(models.provider.connections, 1, "one connection")


# --- found by attacks

def test_a_body_where_none_belongs_is_refused(t):
    """Without a length, the body would be the provider's next request, followed by the next request's key."""
    models = Models(t, lambda request, _: message())
    status, _, answer = models.ask("/v1/models", b'{"a":["x"]}', method="GET")
    equal(status, 400, "the status", answer)
    equal(models.provider.requests, [], "what the provider got")
    models.ask()
    equal([r.path for r in models.provider.requests], ["/v1/messages"], "what it got of another")


@cases(("/v1/responses", {"model": "gpt-6-astra", "input": "x", "max_output_tokens": None}),
       ("/v1/chat/completions", {"model": "gpt-6-astra", "messages": [], "max_completion_tokens": None}))
def test_a_limit_that_is_null_is_written_over(t, path, asked):
    models = Models(t, lambda request, _: respond({"status": "completed", "choices": [], "usage": {
        "input_tokens": 1, "output_tokens": 1, "prompt_tokens": 1, "completion_tokens": 1}}), "--budget", "0.10")
    models.ask(path, asked)
    text = models.provider.requests[0].body.decode()
    equal(text.count("max_"), 1, "limits in it", text)
    lacks(text, "null", "the request")


def test_two_runs_at_once_do_not_lift_each_others_budget(t):
    one = Models(t, lambda request, _: message(input=10, output=1000), "--budget", "0.05")
    two = Models(t, lambda request, _: message(input=10, output=1000), "--budget", "0.05")
    answered = [sum(m.ask(body=body(1000))[0] == 200 for m in (one, two)) for _ in range(6)]
    expect(sum(answered) <= 4, "requests that passed", answered)


def test_an_answer_in_one_piece_that_nobody_waits_for_is_charged_in_full(t):
    gone = threading.Event()

    def answer(request, connection):
        gone.wait(600)
        return b""

    models = Models(t, answer)
    connection = models.connect()
    connection.request("POST", "/v1/messages", json.dumps(body(1000)), {"x-api-key": models.token})
    wait_for(lambda: models.provider.requests, "the request is at the provider")
    connection.close()
    (line,) = models.ledger(1)
    gone.set()
    expect(line["estimated"] and line["cost_nusd"] >= opus(0, 1000), "the charge", line)


def test_a_piece_without_usage_in_place_of_a_stream_is_charged_in_full(t):
    models = Models(t, lambda request, _: respond({"type": "message", "content": [{"type": "text", "text": "x"}]}))
    models.ask(body=body(1000, stream=True))
    (line,) = models.ledger(1)
    equal((line["estimated"], line["output"]), (True, 1000), "the charge")


@cases(1, 4)
def test_each_answer_of_an_aborted_stream_is_charged(t, answers):
    over = threading.Event()
    t.cleanups.append(over.set)

    def answer(request, connection):
        connection.sendall(STREAM)
        over.wait(600)

    models = Models(t, answer, tls=False)
    connection = models.connect()
    connection.request("POST", "/v1/chat/completions", json.dumps(
        {"model": "gpt-5.5", "max_completion_tokens": 100000, "messages": [], "stream": True, "n": answers}),
        {"authorization": "Bearer " + models.token})
    connection.getresponse()
    time.sleep(0.2)  # no text comes, so the time is charged
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    (line,) = models.ledger(1)
    expect(line["output"] >= answers * (line["duration_ms"] * 300 // 1000 - 1) > 0, "300 tokens a second and answer", line)


@cases({"generationConfig": None}, {"generation_config": None}, {"generation_config": {}}, {"generationConfig": {"maxOutputTokens": 0}})
def test_gemini_gets_a_limit_in_its_own_settings(t, settings):
    models = Models(t, lambda request, _: respond({"candidates": [], "usageMetadata": {"promptTokenCount": 1}}), "--budget", "0.10")
    equal(models.ask("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": [], **settings})[0], 200, "the status")
    (key,) = settings
    request = models.provider.requests[0].json
    equal(sorted(request), ["contents", key], "the request")
    expect(1024 <= request[key]["maxOutputTokens"] < 128000, "the limit", request)


def test_what_would_leave_out_the_usage_does_not_go_on(t):
    models = Models(t, lambda request, _: respond({"candidates": [], "usageMetadata": {"promptTokenCount": 1}}))
    models.ask("/v1beta/models/gemini-2.5-pro:generateContent?fields=candidates&alt=json", {"contents": []},
               headers={"x-goog-fieldmask": "candidates"})
    request = models.provider.requests[0]
    contains(request.path, "alt=json", "the rest of the question")
    lacks(request.head.lower(), "field", "what the provider got")


def test_an_errors_name_is_a_word_in_the_ledger(t):
    text = '{"type":"error","error":{"type":"sk\\u002dtest 1","message":"x"}}'
    models = Models(t, lambda request, _: respond(text.encode(), status="400 Bad Request"))
    models.ask()
    equal(models.ledger(1)[0]["error"], "other", "the name")
