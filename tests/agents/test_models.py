"""Real agents through the gateway: no key inside, no network, and the ledger is right to the nano-dollar."""

import json
import os
import time

from agents.moves import whole_turn
from agents.real import AGENTS, Real
from fakes import Server
from harness import cases, contains, equal, expect, lacks, timeout
from harness.provider import make_certificate

KEY = "sk-test-real-0123456789abcdef"
KEYS = {"claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "opencode": "ANTHROPIC_API_KEY"}
PROVIDERS = {"claude": "anthropic", "codex": "openai", "gemini": "gemini", "opencode": "anthropic"}
MODELS = {"claude": "claude-opus-5-5", "codex": "gpt-6-sol", "gemini": "gemini-2.5-pro", "opencode": "anthropic/claude-sonnet-4-5"}


class Routed(Real):
    """An agent that is directed to a provider with TLS."""

    def __init__(self, t, agent, turns):
        super().__init__(t, agent, [])
        self.door = []
        certificate = make_certificate(t.outside)
        self.server = Server(turns(self) if callable(turns) else turns, tls=certificate)
        t.cleanups.append(self.server.close)
        self.options = ["--upstream", f"{PROVIDERS[agent]}={self.server.address}", "--upstream-ca", certificate[0],
                        "--model", MODELS[agent]]

    def environment(self, **changes):
        return super().environment(**{KEYS[self.agent]: KEY}, **changes)

    def ledger(self):
        with open(f"{self.folder}/ledger.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def asked_model(self):
        """The number of requests to a model, including side requests."""
        return [request for request in self.server.requests if request.get("protocol")]


def prices(t, model):
    result = t.run([t.ringfence, "prices", "--json", model])
    equal(result.code, 0, f"the price of {model} is known", result)
    return json.loads(result.out)["models"][0]["tiers"][0]


@cases(*AGENTS)
@timeout(240)
def test_an_agent_does_its_whole_turn_with_a_token_and_no_network(t, agent):
    loop = Routed(t, agent, lambda loop: whole_turn(agent, loop.project))
    result = loop.work(options=loop.options)
    equal(result.code, 0, "exit status", f"{result}\n{loop.log('stderr.log')[-2000:]}\n{loop.log()[-2000:]}")
    contains(loop.tree()["calc.py"], "return a + b", "the file")
    expect(all(KEY in (request["key"] or "") for request in loop.asked_model()), "the provider gets the key",
           [request["key"] for request in loop.asked_model()])
    lines = loop.ledger()
    equal(len(lines), len(loop.asked_model()), "a line for each request", lines)
    for line in lines:
        tier = prices(t, line["model"])
        cost = sum(line[kind] * (tier[f"{kind}_nusd"] or 0) for kind in ("input", "output", "read", "write_5m", "write_1h"))
        equal((line["cost_nusd"], line["estimated"], line["agent"]), (cost, False, agent), "each line", line)
    ended = loop.one("ended")
    equal(ended["cost_nusd"], sum(line["cost_nusd"] for line in lines), "the loop's cost is the gateway's", ended)
    for folder, _, files in os.walk(loop.folder):
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                lacks(file.read().decode("latin-1"), KEY, name)


SEARCHES = {"claude": ("WebSearch", {"query": "the weather"}), "gemini": ("google_web_search", {"query": "the weather"})}


@cases(*SEARCHES)
@timeout(240)
def test_a_search_at_the_provider_is_refused_and_the_agent_goes_on(t, agent):
    name, query = SEARCHES[agent]
    loop = Routed(t, agent, lambda loop: [{"tools": [{"name": name, "input": query}]}, *whole_turn(agent, loop.project)])
    result = loop.work(options=loop.options)
    equal(result.code, 0, "exit status", f"{result}\n{loop.log()[-2000:]}")
    contains(loop.tree()["calc.py"], "return a + b", "the file")
    contains(loop.asked()[1], "ringfence: tools[]", "the model reads why")


@timeout(240)
def test_codex_asks_for_no_search_with_any_model(t):
    """Older models get it as a tool of each request."""
    loop = Routed(t, "codex", [{"text": "There is nothing to do."}])
    result = loop.work("--model", "gpt-5.5", options=loop.options[:-2])
    equal(result.code, 2, "exit status: the only iteration did nothing", result)
    contains(loop.asked()[0], '"apply_patch"', "the request has the tools of such a model")
    lacks(loop.asked()[0], '"web_search"', "and no search")


@cases(*AGENTS)
@timeout(240)
def test_a_budget_that_ends_in_the_middle_ends_the_agent(t, agent):
    """Some requests fit; the next is refused, and the agent stops at once."""
    turn = {"tools": [None], "text": "again", "usage": {"input": 30000, "output": 1000}, "again": -1}

    def turns(loop):
        return [{**turn, "tools": [loop.move.shell("echo again")]}]

    loop = Routed(t, agent, turns)
    began = time.monotonic()
    budget = 200 if agent == "gemini" else 500
    result = loop.work("--budget", f"{budget / 1000}", options=loop.options, check="false")
    spent = time.monotonic() - began
    equal(loop.history()[0]["failure"], "budget", "the class", f"{result}\n{loop.log()[-3000:]}")
    expect(sum(line["cost_nusd"] for line in loop.ledger()) <= budget * 10 ** 6, "the budget holds", loop.ledger())
    refused = loop.one("ended")["refused_requests"]
    expect(1 <= refused <= (1 if agent == "codex" else 2), "it stops within two requests, Codex after one", refused)
    expect(spent < 60, "it stops at once", spent)


@cases((429, "rate_limit_error", "provider limit"), (529, "overloaded_error", "overloaded"))
@timeout(240)
def test_opencode_that_says_nothing_of_a_limit_is_understood_all_the_same(t, status, kind, failure):
    """It waits silently; the gateway saw the refusal, and when the limit ends."""
    loop = Routed(t, "opencode", [{"status": status, "kind": kind, "message": "not now",
                                   "headers": {"retry-after": "3600"}, "again": -1}])
    began = time.time()
    waits, entry = loop.wait("--idle-timeout", "30s", options=loop.options)
    equal((entry["failure"], entry["counts"]), (failure, False), "the iteration", entry)
    if failure == "provider limit":
        expect(abs(waits["until_ms"] / 1000 - began - 3600) < 120, "the time that is waited for", waits)


@timeout(240)
def test_opencode_that_repeats_a_prompt_that_is_too_long_is_stopped(t):
    """It shortens its conversation, which succeeds, and repeats the request, until its time is up."""
    loop = Routed(t, "opencode", [{"status": 400, "kind": "invalid_request_error", "again": -1,
                                   "message": "prompt is too long: 300000 tokens > 200000 maximum"}])
    result = loop.work(options=loop.options)
    (entry,) = loop.history()
    equal((result.code, entry["failure"], entry["counts"]), (2, "runaway requests", True), "exit status and class", f"{result}\n{loop.log()[-3000:]}")
    expect(not entry["timed_out"], "it ends by itself", entry)
    expect(len([line for line in loop.ledger() if line["status"] == 400]) <= 12, "few requests left", loop.ledger())


REFUSALS = {401: ("authentication_error", "authentication"), 403: ("permission_error", "permission"),
            402: ("billing_error", "billing"), 404: ("not_found_error", "model not found")}


@cases(*((agent, status) for agent in AGENTS for status in REFUSALS))
@timeout(240)
def test_a_refusal_that_only_a_person_can_settle_pauses_the_loop_at_once(t, agent, status):
    kind, failure = REFUSALS[status]
    loop = Routed(t, agent, [{"status": status, "kind": kind, "message": "not you", "again": -1}])
    result = loop.work(options=loop.options)
    (entry,) = loop.history()
    equal((result.code, entry["failure"], entry["counts"]), (3, failure, False), "exit status and class", f"{result}\n{loop.log()[-3000:]}")
    contains(result.out, "then ringfence resume", "what to do")
