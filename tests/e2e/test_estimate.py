"""ringfence estimate: what a loop will cost, and the comparison with what it did cost."""

import json
import os

from harness import contains, equal, expect, lacks
from harness.loop import Loop

LEVELS = ["low", "likely", "high"]


def estimated(loop, *words, **options):
    result = loop.ringfence("estimate", "--json", *words, **options)
    equal(result.code, 0, "exit status", result)
    return json.loads(result.out)


def test_it_estimates_from_prices_and_assumptions_within_the_limits(t):
    loop = Loop(t)
    env = t.env(ANTHROPIC_API_KEY="k")
    words = ("fix it", "--agent", "builtin", "--model", "claude-opus-4-8", "--budget", "none", "--max-cost", "none", "--max-time", "none")
    found = estimated(loop, *words, env=env)
    for key in ("cost_nusd", "time_ms", "iterations"):
        equal(list(found[key]), LEVELS, f"the levels of {key}")
        expect(0 < found[key]["low"] < found[key]["likely"] < found[key]["high"], f"their order in {key}", found)
    equal((found["based_on"], found["model"], found["prompt_bytes"], found["cost_capped"]),
          ("assumptions", "claude-opus-4-8", 6, False), "what it is based on")
    capped = estimated(loop, *words, "--max-cost", "0.5", "--max-time", "1m", "-m", "2", env=env)
    equal((capped["cost_nusd"]["high"], capped["time_ms"]["high"], capped["iterations"]["high"], capped["cost_capped"], capped["time_capped"]),
          (500_000_000, 60_000, 2, True, True), "with limits")
    free = estimated(loop, "--agent", "builtin", "--upstream", "openai=local:http://127.0.0.1:1")
    equal((free["cost_nusd"]["high"], free["local"]), (0, True), "with a local model")
    text = loop.ringfence("estimate", *words, env=env).out
    contains(text, "cost in US$", "for people")
    contains(text, "Based on assumptions about agents", "for people")
    expect(not os.path.exists(os.path.join(t.state, "loops")) or not [name for name in os.listdir(os.path.join(t.state, "loops")) if name[0] != "."],
           "no loop was made")


def test_an_hour_of_work_is_priced_for_every_model(t):
    loop = Loop(t)
    found = json.loads(loop.ringfence("estimate", "--per-hour", "--json").out)
    priced = {entry["model"]: entry["hour_nusd"] for entry in found["models"]}
    listed = [entry["name"] for entry in json.loads(loop.ringfence("prices", "--json").out)["models"]]
    equal(list(priced), listed, "the models of ringfence prices")
    equal(priced["claude-opus-4-1"], 31_050_000_000, "the assumed tokens at its prices")
    contains(loop.ringfence("estimate", "--per-hour").out, "240 requests an hour", "the assumptions")


def test_past_loops_count_more_and_history_compares(t):
    loop = Loop(t)
    loop.write("paid.sh", """cat >/dev/null; echo '{"type":"cost","usd":0.5}'; echo '{"type":"final","text":"x"}'; touch done\n""")
    words = ("--agent-command", "sh paid.sh", "--agent-format", "events", "--check", "test -f done", "--workspace", "in-place")
    equal(estimated(loop, *words)["cost_nusd"], None, "an agent that nobody knows")
    for _ in range(3):
        result = loop.ringfence("run", "x", *words)
        equal(result.code, 0, "exit status", result)
        lacks(result.out, "estimate", "a loop about which nothing is known")
        os.remove(loop.path("done"))
    found = estimated(loop, *words)
    equal((found["based_on"], found["past_loops"]), ("past loops", 3), "what it is based on")
    equal([found["cost_nusd"][level] for level in LEVELS], [500_000_000] * 3, "the cost")
    contains(loop.ringfence("estimate", *words).out, "Based on your 3 past loops", "for people")
    lacks(loop.ringfence("estimate", *words, "--model", "claude-opus-4-8").out, "your 3 past", "with another model")
    result = loop.ringfence("run", "x", *words)
    contains(result.out, "  estimate  US$ 0.50, ", "before the loop")
    contains(result.out, "spent US$ 0.50 in ", "at its end")
    contains(loop.ringfence("history").out, "; the estimate was US$ 0.50, ", "in history")
    history = json.loads(loop.ringfence("history", "--json").out)
    equal((history["spent_nusd"], history["estimate"]["cost_nusd"]["likely"], history["estimate"]["past_loops"]), (500_000_000, 500_000_000, 3),
          "in history as JSON")
    expect(history["worked_ms"] > 0, "the time", history)
