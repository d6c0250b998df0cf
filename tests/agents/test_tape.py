"""Real agents, recorded once and replayed without a provider: to the same file and the same ledger."""

import os

from agents.moves import whole_turn
from agents.real import AGENTS, CALC, CAPTURE, Real
from agents.test_models import KEY, MODELS, Routed
from harness import cases, contains, equal, lacks, timeout


class Taped(Routed):
    """Directed to a provider, and later only to a tape; then no key is set."""

    played = False

    def environment(self, **changes):
        return Real.environment(self, **changes) if self.played else super().environment(**changes)


def sums(loop):
    """The parts of a ledger that do not depend on the clock, sorted: side requests have no fixed order."""
    return sorted(tuple(line[key] for key in ("route", "model", "input", "output", "read", "write_5m", "cost_nusd", "status"))
                  for line in loop.ledger())


@cases(*AGENTS)
@timeout(400)
def test_an_agent_is_recorded_and_replayed(t, agent):
    loop = Taped(t, agent, lambda loop: whole_turn(agent, loop.project))
    tape = os.path.join(t.outside, "agent.tape")
    result = loop.work("--record", tape, options=loop.options)
    equal(result.code, 0, "exit status of the recording", f"{result}\n{loop.log()[-2000:]}")
    with open(tape, encoding="utf-8") as file:
        text = file.read()
    if CAPTURE:
        with open(f"{CAPTURE}/{agent}.tape", "w", encoding="utf-8") as file:
            file.write(text)
    lacks(text, KEY, "the tape")
    recorded, asked = sums(loop), len(loop.server.requests)
    loop.played = True
    loop.write("calc.py", CALC)
    result = loop.work("--replay", tape, options=["--model", MODELS[agent]])
    equal(result.code, 0, "exit status of the replay", f"{result}\n{loop.log('stderr.log')[-2000:]}\n{loop.log()[-2000:]}")
    contains(loop.tree()["calc.py"], "return a + b", "the file")
    equal(len(loop.server.requests), asked, "nobody was asked")
    equal(sums(loop), recorded, "the same ledger")
    # With a different file, the agent stops, and the loop names the first difference.
    loop.write("calc.py", CALC.replace("a - b", "a // b"))
    result = loop.work("--replay", tape, options=["--model", MODELS[agent]])
    equal(result.code, 1, "exit status of the stray", f"{result}\n{loop.log()[-2000:]}")
    contains(loop.status()["reason"], "the replay has left its tape: the request differs from the recording: message ", "the reason")
    contains(loop.status()["reason"], "a // b", "what came")
