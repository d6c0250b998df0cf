"""Models through the gateway: the key is added, what streams is metered, and no cent goes over."""

import json

from harness import contains, equal, expect, lacks
from harness.provider import Models, message, message_events, opus, respond, stream


def test_the_key_is_added_outside_and_the_answer_comes_back(t):
    models = Models(t, lambda request, _: message(input=10, output=5))
    status, headers, body = models.ask(headers={"anthropic-version": "2023-06-01", "anthropic-beta": "b1", "cookie": "c=1",
                                                "x-claude-code-agent-id": "child-7"})
    equal((status, json.loads(body)["content"][0]["text"]), (200, "hello"), "the answer")
    request = models.provider.requests[0]
    equal((request.headers["x-api-key"], request.headers["anthropic-version"], request.headers["anthropic-beta"]),
          (Models.KEY, "2023-06-01", "b1"), "what the provider got")
    equal(request.headers["accept-encoding"], "identity", "no compression is asked for")
    expect("cookie" not in request.headers, "cookies stay", request.headers)
    lacks(json.dumps(request.headers), models.token, "the token stays here")
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["estimated"], line["child"], line["input"], line["output"], line["status"]),
          (opus(10, 5), False, "child-7", 10, 5, 200), "the ledger")


def test_a_stream_comes_as_it_is(t):
    events = message_events(text="streamed", input=7, output=9, cache_read_input_tokens=100)
    models = Models(t, lambda request, _: stream(events))
    status, headers, body = models.ask(body={"model": "claude-opus-5-5", "max_tokens": 50, "stream": True})
    equal((status, body), (200, b"".join(events)), "the bytes")
    (line,) = models.ledger(1)
    equal((line["cost_nusd"], line["estimated"]), (opus(7, 9, read=100), False), "the ledger")
