"""Loops whose processes are killed at random moments end, and cost what their provider served: no more, no less."""

import json
import os
import random
import time

from harness import cases, equal, expect, timeout
from harness.loop import Loop, kill
from harness.provider import Provider, make_certificate
from harness.soak import ASK, KEY, LOOPS, SEED, Truth, account, living

ENOUGH = 40  # resumes; a loop that needs more does not get on


def until_asked(truth):
    """Waits for another request, or for the end of the loop."""
    before = len(truth.requests)
    while len(truth.requests) == before and living():
        time.sleep(0.005)


def harass(chance, truth, kills):
    """Kills some processes, at moments and of kinds that chance decides, often during a request; returns their roles."""
    struck = []
    for _ in range(kills):
        if chance.random() < 0.7:
            until_asked(truth)
        time.sleep(chance.random() * chance.choice((0.02, 0.1, 0.5)))
        there = living()
        roles = sorted({role for role, _ in there})
        if not roles:
            break
        struck.append(chance.choice(roles))
        kill(chance.choice([pid for role, pid in there if role == struck[-1]]))
    return struck


def drive(t, loop, chance, truth, env):
    """Kills, and resumes what has stopped, until the loop is completed; returns the roles of what was killed."""
    struck = []
    for number in range(ENOUGH):
        struck += harass(chance, truth, chance.randrange(1, 5)) if number < 3 else []
        status = loop.ended_or_interrupted()
        if status["status"] == "completed":
            t.all_gone()
            return struck
        result = loop.ringfence("resume", env=env)
        expect(result.code == 0 or "is already running" in result.err, f"it can be resumed: {status}", result)
    raise AssertionError(f"{ENOUGH} resumes were not enough: {loop.status()}")


class Soaked(Loop):
    def ended_or_interrupted(self):
        """Waits until no process will go on with the loop by itself."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            status = self.status()
            if status["status"] not in ("starting", "running", "restarting", "waiting") and not status["supervisor_pid"]:
                return status
            time.sleep(0.05)
        raise AssertionError(f"it neither ends nor goes on: {self.status()}")


@timeout(600)
@cases(*range(LOOPS))
def test_a_loop_that_is_killed_at_random_costs_what_was_served(t, number):
    """Even numbers ask for whole answers, whose cost is known to the token: each line is exact. Odd ones stream."""
    t.leftover_runs = True
    chance = random.Random(SEED * 100000 + number)
    truth = Truth(chance.random())
    certificate = make_certificate(t.outside)
    provider = Provider(truth.answer, certificate)
    t.cleanups.append(provider.close)
    t.at_home(".config/ringfence/config.yml", f"upstream: [anthropic={provider.url}]\nupstream-ca: {certificate[0]}\n")
    kind = "stream" if number % 2 else "whole"
    loop = Soaked(t, scripts={"all": f"python3 ask.py {kind}; edit step-$N $N; [ $N -lt 3 ] || edit done yes"})
    loop.write("ask.py", ASK)
    env = t.env(ANTHROPIC_API_KEY=KEY)
    none = [word for name in ("interrupted", "errors", "same-error", "no-progress") for word in (f"--max-{name}", "none")]
    loop.detach("-m", "30", *none, env=env)
    struck = drive(t, loop, chance, truth, env)
    with open(os.path.join(loop.folder, "ledger.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    account(loop.status()["spent_nusd"], lines, truth, len(struck))
    equal(loop.tree()["done"], "yes\n", "the work")
