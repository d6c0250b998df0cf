"""The built-in agent in the real fence, through the real gateway, against scripted model servers: whole tasks, in both protocols."""

import json
import os

from fakes import Server
from harness import cases, contains, equal, expect, lacks
from harness.loop import Loop

KEY = "sk-real-0123456789abcdef0123456789"
PROVIDERS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
PROMISE = "<promise>COMPLETE</promise>"
BOTH = cases(("anthropic",), ("openai",))


def call(name, **arguments):
    return {"name": name, "input": arguments}


def turn(*tools, text="", **more):
    return {"text": text, "tools": list(tools), **more}


class World:
    """A project, a provider with a script, and the user's settings that lead to it."""

    def __init__(self, t, turns, provider="anthropic", local=False, **files):
        self.t = t
        self.provider = provider
        self.server = Server(turns)
        t.cleanups.append(self.server.close)
        place = f"{'local:' if local else ''}{self.server.address}"
        t.at_home(".config/ringfence/config.yml", f"upstream: [{provider}={place}]\n")
        self.loop = Loop(t)
        for name, text in files.items():
            self.loop.write(name, text)
        self.env = t.env() if local else t.env(**{PROVIDERS[provider]: KEY})

    def run(self, *words, check="test -f done", agent="builtin", **options):
        checks = ["--check", check] if check else []
        agents = ["--agent", agent] if agent else []
        return self.loop.ringfence("run", "make it", *agents, "-m", "1", *checks, *words, env=self.env, **options)

    def bodies(self):
        return [request["body"] for request in self.server.conversation()]

    def results(self, index=-1):
        """What the model was given back by tools in a request: (text, whether it is an error)."""
        message = self.bodies()[index]["messages"]
        if self.provider == "anthropic":
            return [(block["content"], block.get("is_error", False)) for block in message[-1]["content"]
                    if block["type"] == "tool_result"]
        tools = []
        for one in reversed(message):
            if one["role"] != "tool":
                break
            tools.insert(0, (one["content"], one["content"].startswith("Error: ")))
        return tools

    def events(self):
        with open(os.path.join(self.loop.folder, "iterations/1/stdout.log"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def kinds(self):
        return [event["type"] for event in self.events()]


@BOTH
def test_it_fixes_a_bug_and_the_check_says_so(t, provider):
    world = World(t, [
        turn(call("list"), call("read", path="add.sh"), text="I look at it."),
        turn(call("edit", path="add.sh", old="$1 - $2", new="$1 + $2"), call("shell", command="sh add.sh 1 2")),
        turn(text=f"The operator was wrong; I learnt to add.\n{PROMISE}")], provider)
    world.loop.write("add.sh", "echo $(($1 - $2))\n")
    result = world.run("--promise", PROMISE, check='test "$(sh add.sh 1 2)" = 3')
    equal(result.code, 0, "exit status", (result, world.results()))
    equal(world.results(1)[1], ("1\techo $(($1 - $2))\n", False), "what read gave")
    equal(world.results(2), [("edited 'add.sh': 1 place, the first in line 1", False), ("3", False)], "edit and shell")
    equal([kind for kind in world.kinds() if kind != "tokens"],
          ["started", "text", "tool", "tool_result", "tool", "tool_result", "tool", "file", "tool_result", "tool", "tool_result", "final"],
          "the events")
    entry = world.loop.history()[0]
    expect(entry["session"], "it names its session", entry)
    equal(entry["verdict"], "done", "the verdict")
    expect(world.loop.status()["spent_nusd"] > 0, "it is metered", world.loop.status())
