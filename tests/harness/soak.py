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
LEAST, MOST = 100, 999  # output tokens of a request
PIECE = 16  # bytes of text in an event, for four tokens

# The processes of a loop, by name; the agent is a shell and its children.
ROLES = {"ringfence-keep": "keeper", "ringfence-loop": "supervisor or runner", "ringfence-gatew": "gateway",
         "ringfence-snaps": "snapshot", "ringfence-work": "batch", "bwrap": "fence", "init": "fence", "sh": "agent", "python3": "agent"}

# Two requests of different sizes, so that few cost the same; an answer that breaks off is nothing unusual.
ASK = """
import json, os, random, sys, urllib.request as u
for number in range(2):
    body = {"model": "claude-opus-5-5", "max_tokens": random.randint(%d, %d), "stream": sys.argv[1] == "stream", "messages": []}
    request = u.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
                        {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
    try:
        u.urlopen(request, timeout=20).read()
    except Exception as error:
        print(error)
""" % (LEAST, MOST)


class Truth:
    """The provider's own account: requests, and how much of each answer it has sent."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.requests = []

    def answer(self, request, connection):
        if len(request.body) < int(request.headers["content-length"]):
            return None  # it broke off, and nobody is billed for it
        served = {"input": len(request.body), "output": 0, "most": request.json["max_tokens"], "whole": False}
        self.requests.append(served)
        time.sleep(self.random.random() / 5)
        return self.stream(served, connection) if request.json["stream"] else self.whole(served)

    @staticmethod
    def whole(served):
        """The answer is made and billed to its end, even if nobody listens any more."""
        served.update(output=served["most"], whole=True)
        return message(input=served["input"], output=served["most"])

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


def highest(served):
    """The most that it could have cost, for somebody who did not see its end."""
    return opus(served["input"], served["most"])


def living():
    """The processes of this test's loop: [(role, pid)]."""
    found = [(ROLES.get(name_of(pid)), pid) for pid, _ in kernel.descendants_of(os.getpid())]
    return [(role, pid) for role, pid in found if role and not is_stopped(pid)]


def may_be(line, served):
    """Can this line be about this request? One that was seen to its end costs exactly what was served; another one as much, or more,
    but never more than the request could cost."""
    if not line["estimated"]:
        return served["whole"] and line["cost_nusd"] == cost(served)
    return cost(served) <= line["cost_nusd"] <= highest(served)


def account(spent, lines, truth, kills):
    """Status, ledgers and provider agree, line by line. kills: how often a request can have been cut off. Ids are unique in a ledger: a
    line of one of several ledgers has its `loop`.

    Each request that was served has a line of its own, and each other line is an estimate for a request that was cut off on its
    way to the provider. Returns how many of these there are.
    """
    equal(spent, sum(line["cost_nusd"] for line in lines), "the cost that status shows, and the sum of the ledger", lines)
    charged = sorted((line for line in lines if line["cost_nusd"]), key=lambda line: (line["estimated"], line["cost_nusd"]))
    for line in charged:
        expect(line.get("id"), "a line names its request: nothing else is charged", (line, lines))
    equal(len({(line.get("loop"), line["id"]) for line in charged}), len(charged), "lines of different requests", lines)
    rest, lost = list(truth.requests), []
    for line in charged:
        # In ascending order, the request with the lowest limit is the best choice.
        found = min((served for served in rest if may_be(line, served)), key=highest, default=None)
        if found:
            rest.remove(found)
        else:
            lost.append(line)
    equal(rest, [], "requests that were served and have no line", (lines, truth.requests))
    expect(all(line["estimated"] for line in lost), "the provider has served what the ledger calls exact", (lost, truth.requests))
    top = opus(max((served["input"] for served in truth.requests), default=0), MOST)
    expect(all(line["cost_nusd"] <= top for line in lost), "a request that was lost costs no more than a request can", lost)
    expect(len(lost) <= kills, "a kill cuts off no more requests than were under way", (lost, kills))
    return len(lost)
