"""Shared by tests with random kills: a provider that keeps its own account, and the processes that can be killed."""

import json
import os
import random
import time

from . import kernel
from .expect import equal, expect
from .loop import is_stopped, name_of
from .provider import STREAM, chunk, event, message, opus

LOOPS = int(os.environ.get("RINGFENCE_TEST_LOOPS") or 100)
SEED = int(os.environ.get("RINGFENCE_TEST_SEED") or 1)
KEY = "sk-ant-real-0123456789abcdef"
MOST = 200  # output tokens of a request
PIECE = 16  # bytes of text in an event, for four tokens

# The processes of a loop, by name; the agent is a shell and its children.
ROLES = {"ringfence-keep": "keeper", "ringfence-loop": "supervisor or runner", "ringfence-gatew": "gateway",
         "ringfence-snaps": "snapshot", "ringfence-work": "batch", "bwrap": "fence", "init": "fence", "sh": "agent", "python3": "agent"}

# Two requests; an answer that breaks off is nothing unusual.
ASK = """
import json, os, sys, urllib.request as u
for number in range(2):
    body = {"model": "claude-opus-5-5", "max_tokens": %d, "stream": sys.argv[1] == "stream", "messages": []}
    request = u.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
                        {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
    try:
        u.urlopen(request, timeout=20).read()
    except Exception as error:
        print(error)
""" % MOST


class Truth:
    """The provider's own account: requests, and how much of each answer it has sent."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.requests = []

    def answer(self, request, connection):
        if len(request.body) < int(request.headers["content-length"]):
            return None  # it broke off, and nobody is billed for it
        served = {"input": len(request.body), "output": 0, "whole": False}
        self.requests.append(served)
        time.sleep(self.random.random() / 5)
        return self.stream(served, connection) if request.json["stream"] else self.whole(served)

    @staticmethod
    def whole(served):
        """The answer is made and billed to its end, even if nobody listens any more."""
        served.update(output=MOST, whole=True)
        return message(input=served["input"], output=MOST)

    def stream(self, served, connection):
        """Ends when nobody listens any more, and bills what it has sent."""
        first = {"type": "message_start", "message": {"model": "claude-opus-5-5", "content": [], "usage": {
            "input_tokens": served["input"], "output_tokens": 1}}}
        served["output"] = 1
        connection.sendall(STREAM + chunk(event(first, "message_start")))
        for _ in range(self.random.randrange(2, 20)):
            served["output"] += 4
            delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * PIECE}}
            connection.sendall(chunk(event(delta, "content_block_delta")))
            time.sleep(self.random.random() / 30)
        served["whole"] = True
        last = [event({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                       "usage": {"output_tokens": served["output"]}}, "message_delta"),
                event({"type": "message_stop"}, "message_stop")]
        connection.sendall(b"".join(map(chunk, last)) + b"0\r\n\r\n")
        return b""


def cost(served):
    return opus(served["input"], served["output"])


def living():
    """The processes of this test's loop: [(role, pid)]."""
    found = [(ROLES.get(name_of(pid)), pid) for pid, _ in kernel.descendants_of(os.getpid())]
    return [(role, pid) for role, pid in found if role and not is_stopped(pid)]


def account(spent, lines, truth, struck):
    """Status, ledger and provider agree."""
    total = sum(line["cost_nusd"] for line in lines)
    equal(spent, total, "the cost that status shows, and the sum of the ledger", lines)
    rest = list(truth.requests)
    for line in (line for line in lines if not line["estimated"] and line["cost_nusd"]):
        match = next((served for served in rest if served["whole"] and cost(served) == line["cost_nusd"]), None)
        expect(match, "the provider has served what the ledger calls exact", (line, truth.requests))
        rest.remove(match)
    # The rest was cut off: never below what was served, nor above what was asked for. A request may have been charged that
    # was lost on its way, for each kill at most one.
    charged = sum(line["cost_nusd"] for line in lines if line["estimated"])
    least = sum(map(cost, rest))
    most = sum(opus(served["input"], MOST) for served in rest)
    each = opus(max([served["input"] for served in truth.requests], default=0), MOST)
    lost = len(struck) * each
    expect(least <= charged <= most + lost, "what was cut off costs what it may have cost", (least, charged, most, lines, rest, struck))
    return charged - least, lost
