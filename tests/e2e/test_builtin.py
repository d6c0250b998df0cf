"""The built-in agent in the real fence, through the real gateway, against scripted model servers: whole tasks, in both protocols."""

import contextlib
import json
import os

from fakes import Server
from harness import cases, contains, each_identity, equal, expect, lacks
from harness.loop import Loop
from harness.provider import Provider, event, respond, stream

ANY_IDENTITY = "The agent works in the fence, in which nobody is root."

KEY = "sk-real-0123456789abcdef0123456789"
PROVIDERS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
PROMISE = "<promise>COMPLETE</promise>"
BOTH = cases(("anthropic",), ("openai",))


def call(name, **arguments):
    return {"name": name, "input": arguments}


def turn(*tools, text="", **more):
    return {"text": text, "tools": list(tools), **more}


class World:
    """A project, a provider with a script, and user settings that point to it."""

    def __init__(self, t, turns, provider="anthropic", local=False, port=0, **files):
        self.t = t
        self.provider = provider
        self.server = Server(turns, ("127.0.0.1", port))
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
        """The tool results in a request to the model: (text, whether it is an error)."""
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
@each_identity
def test_it_fixes_a_bug_and_the_check_says_so(t, provider):
    world = World(t, [
        turn(call("list"), call("read", path="add.sh"), text="I look at it."),
        turn(call("edit", path="add.sh", old="$1 - $2", new="$1 + $2"), call("shell", command="sh add.sh 1 2")),
        turn(text=f"The operator was wrong; I learnt to add.\n{PROMISE}")], provider)
    world.loop.write("add.sh", "echo $(($1 - $2))\n")
    result = world.run("--promise", PROMISE, "--unpin", "add.sh", check='test "$(sh add.sh 1 2)" = 3')
    equal(result.code, 0, "exit status", (result, world.results()))
    equal(world.results(1)[1], ("1\techo $(($1 - $2))\n", False), "what read gave")
    equal(world.results(2), [("edited 'add.sh': 1 replacement, the first in line 1", False), ("3", False)], "edit and shell")
    equal([kind for kind in world.kinds() if kind != "tokens"],
          ["started", "text", "tool", "tool_result", "tool", "tool_result", "tool", "file", "tool_result", "tool", "tool_result", "final"],
          "the events")
    entry = world.loop.history()[0]
    expect(entry["session"], "it names its session", entry)
    equal(entry["verdict"], "done", "the verdict")
    expect(world.loop.status()["spent_nusd"] > 0, "it is metered", world.loop.status())


def ends(text="It is done.", **more):
    """Turns that make the change the check requires, and then end."""
    return [turn(call("write", path="done", content="yes\n")), turn(text=text, **more)]


@BOTH
def test_it_adds_a_file_in_a_new_folder(t, provider):
    world = World(t, [turn(call("write", path="src/new/greet.py", content="print('hello')\n")),
                      turn(call("shell", command="python3 src/new/greet.py")), turn(text="Added.")], provider)
    result = world.run(check="python3 src/new/greet.py")
    equal(result.code, 0, "exit status", result)
    equal(world.results(2), [("hello", False)], "what it printed")
    equal([event["target"] for event in world.events() if event["type"] == "file"], ["src/new/greet.py"], "files that changed")


def test_it_renames_across_files_and_leaves_what_is_ignored(t):
    files = {"one.py": "old = 1\nprint(old)\n", "two.py": "from one import old\n", "skip.log": "old\n", ".gitignore": "*.log\n"}
    world = World(t, [turn(call("search", pattern="\\bold\\b")),
                      turn(call("edit", path="one.py", old="old", new="fresh", replace_all=True),
                           call("edit", path="two.py", old="import old", new="import fresh")),
                      turn(text="Renamed.")])
    for name, text in files.items():
        world.loop.write(name, text)
    result = world.run(check="python3 two.py && ! grep -q old one.py two.py && grep -q old skip.log")
    equal(result.code, 0, "exit status", (result, world.results()))
    equal(world.results(1), [("one.py:1:old = 1\none.py:2:print(old)\ntwo.py:1:from one import old\n", False)], "what was found")
    contains(world.results(2)[0][0], "2 replacements", "replace_all")


def test_a_build_that_fails_is_an_error_that_the_model_sees(t):
    world = World(t, [turn(call("shell", command="sh build.sh")),
                      turn(call("edit", path="build.sh", old="exti", new="exit"), call("shell", command="sh build.sh")),
                      turn(text="It builds.")], "openai")
    world.loop.write("build.sh", "echo building\nexti 0\n")
    result = world.run("--unpin", "build.sh", check="sh build.sh")
    equal(result.code, 0, "exit status", result)
    (first, failed), = world.results(1)
    expect(failed and "[exit status 127]" in first and "building" in first, "the failure, with its output", first)
    equal(world.results(2)[1], ("building", False), "and then it builds")


def test_a_large_file_is_read_in_parts(t):
    world = World(t, [turn(call("read", path="large.txt"), call("read", path="large.txt", offset=100000, limit=2),
                           call("search", pattern="line 77777", fixed=True)), *ends()])
    world.loop.write("large.txt", "".join(f"line {n} {'x' * 40}\n" for n in range(1, 150001)))
    equal(world.run().code, 0, "exit status", world.results())
    whole, part, found = (text for text, _ in world.results(1))
    expect(len(whole) < 50000, "what is shown at once is bounded", len(whole))
    contains(whole, "of 150000; continue with offset", "how to see more")
    contains(part, f"100000\tline 100000 {'x' * 40}\n100001\t", "the part")
    contains(found, "large.txt:77777:line 77777", "what was found")


def test_a_binary_file_is_recognised(t):
    world = World(t, [turn(call("read", path="image.bin"), call("search", pattern="needle")), *ends()], "openai")
    with open(world.loop.path("image.bin"), "wb") as file:
        file.write(b"\x89PNG\r\n\0\0needle\n" + bytes(range(256)))
    world.loop.write("text.txt", "a needle\n")
    equal(world.run().code, 0, "exit status", world.results())
    contains(world.results(1)[0][0], "a binary file of 271 bytes, starting with 89 50 4e 47", "what read says")
    equal(world.results(1)[1][0], "text.txt:1:a needle\n", "what search finds")


@each_identity
def test_a_command_that_hangs_is_ended_and_its_children_with_it(t):
    world = World(t, [turn(call("shell", command="sleep 600 & sleep 600", timeout_s=1),
                           call("shell", command="sleep 600 & echo $!"),
                           call("shell", command="ps -eo args | grep -c '^sleep 600' || true")), *ends()])
    equal(world.run().code, 0, "exit status", world.results())
    first, second, third = world.results(1)
    expect(first[0].endswith("[killed after 1 s: not finished]") and first[1], "the one that hangs", first)
    expect(second[0].isdigit() and not second[1], "one that leaves something behind does not hang", second)
    equal(third, ("0", False), "nothing of both is left")


def test_a_missing_tool_is_said_and_worked_around(t):
    world = World(t, [turn(call("shell", command="no-such-compiler --version")), turn(call("browse", url="x")), *ends()])
    equal(world.run().code, 0, "exit status", world.results())
    expect("not found" in world.results(1)[0][0] and world.results(1)[0][1], "a program that is not there", world.results(1))
    equal(world.results(2), [("there is no tool 'browse'; the tools are read, write, edit, list, search, shell", True)], "nor that tool")


@BOTH
def test_an_interrupted_stream_is_asked_for_again(t, provider):
    first = call("shell", command="echo once >>count")
    world = World(t, [turn(first, text="a long text that is cut", cut=True), turn(first), turn(text="x", cut=True), *ends()], provider)
    equal(world.run().code, 0, "exit status", world.results())
    equal(world.loop.tree()["count"], "once\n", "what was cut off did nothing")
    equal(world.kinds().count("retry"), 2, "it was said", world.kinds())
    bodies = world.bodies()
    expect(bodies[0] == bodies[1] and bodies[2] == bodies[3], "the same was asked", "")


@BOTH
def test_a_window_that_is_too_small_is_kept_to(t, provider):
    """Each file is a third of the window. The oldest results are dropped, then summarized, and the task is still known."""
    world = World(t, [*(turn(call("read", path=f"file{n}.txt")) for n in range(8)), *ends("At last.")], provider)
    world.server.turn_hook = lambda turn, body: turn.usage.update(input=len(json.dumps(body)) // 4)
    for n in range(8):
        world.loop.write(f"file{n}.txt", f"this is file {n}\n" * 500)
    result = world.run("--agent-args", "--window 12000")
    equal(result.code, 0, "exit status", (result, world.events()[-3:]))
    for body in world.bodies():
        expect(len(json.dumps(body)) < 48000, "no request is larger than the window", len(json.dumps(body)))
    texts = json.dumps(world.bodies()[-1])
    contains(texts, "make it", "the task is still there")
    lacks(texts, "this is file 0", "what was read first")
    expect(any("to save space" in json.dumps(body) for body in world.bodies()), "it was said to the model", "")


@each_identity
def test_it_stays_in_its_folder(t):
    """The control: the same tools with a path and a symlink that stay inside."""
    t.write(os.path.join(t.outside, "secret.txt"), "the secret", 0o644)
    world = World(t, [turn(call("read", path="../../outside/secret.txt"), call("read", path="/etc/passwd"), call("read", path="out/secret.txt"),
                           call("write", path="out/new.txt", content="x"), call("list", path="out"), call("search", pattern="secret", path="out"),
                           call("read", path="in/../../inside.txt"), call("read", path="abs"),
                           call("read", path="inside/../../project/inside.txt")), *ends()])
    os.symlink(t.outside, world.loop.path("out"))
    os.makedirs(world.loop.path("a/b"))
    os.symlink("a/b", world.loop.path("in"))
    os.symlink(world.loop.path("inside.txt"), world.loop.path("abs"))
    world.loop.write("inside.txt", "a line\n")
    equal(world.run().code, 0, "exit status", world.results())
    results = world.results(1)
    for text, failed in results[:6] + results[8:]:
        expect(failed and ("leads out of the project" in text or "outside the project" in text or "there is no" in text),
               "what leads out is refused", text)
        lacks(text, "the secret", "what is outside")
    equal(results[6:8], [("1\ta line\n", False)] * 2, "what stays inside is not")
    expect(not os.path.exists(os.path.join(t.outside, "new.txt")), "nothing was written there", "")


# A command that leaves its process group and its session, and reports that it runs.
STRAY = ("setsid sh -c 'echo $$ >pid; exec sleep 300' >/dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.01; done; "
         "kill -0 $(cat pid) && echo alive")


@each_identity
def test_what_a_command_leaves_behind_is_ended_with_it(t):
    """It could read along while the agent's memory is open to the fence's observer. The control: it lives as long as the command does."""
    world = World(t, [turn(call("shell", command=STRAY), call("shell", command="kill -0 $(cat pid) || echo gone")), *ends()])
    equal(world.run().code, 0, "exit status", world.results())
    equal(world.results(1)[0][0], "alive", "while the command runs")
    contains(world.results(1)[1][0], "gone", "when the next one does")


# Prints the agent's memory, if it can be read at all.
PEEK = """
import os, re
own = f"/proc/{os.getppid()}"
try:
    maps = [line.split() for line in open(own + "/maps")]
    memory = open(own + "/mem", "rb", 0)
except OSError as error:
    print("refused", error.strerror)
    raise SystemExit
for line in maps:
    start, end = (int(part, 16) for part in line[0].split("-"))
    if "w" in line[1]:
        memory.seek(start)
        print("found" if re.search(rb"x-api-key: \\S+", memory.read(end - start)) else "nothing")
"""


@each_identity
def test_no_key_and_no_token_gets_to_commands_events_or_files(t):
    probe = ("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/$PPID/cmdline | tr '\\0' ' '; "
             "ls -la /proc/$PPID/fd")
    world = World(t, [turn(call("shell", command=probe), call("shell", command="env >seen"), call("shell", command="exec python3 peek.py")), *ends()])
    world.loop.write("peek.py", PEEK)
    equal(world.run().code, 0, "exit status", world.results())
    contains(world.results(1)[0][0], "PATH=", "the command has an environment (the control)")
    contains(world.results(1)[2][0], "refused Permission denied", "the agent's memory")
    # The token that the requests to the gateway carried; it is not known outside the gateway.
    for word in (KEY, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "127.0.0.1:61080"):
        lacks(world.results(1)[0][0], word, "what the command saw")
        lacks(world.loop.tree()["seen"], word, "its environment")
    for folder, _, files in os.walk(t.state):
        for name in files:
            with contextlib.suppress(PermissionError), open(os.path.join(folder, name), "rb") as file:
                lacks(file.read().decode("latin-1"), KEY, name)


@each_identity
def test_what_the_fence_denies_is_denied_and_told(t):
    world = World(t, [turn(call("read", path=".env"), call("write", path=".git/hooks/pre-commit", content="evil"),
                           call("shell", command="cat .env; echo evil >.git/hooks/pre-commit")), *ends()])
    world.loop.write(".env", "TOKEN=hidden")
    os.makedirs(world.loop.path(".git/hooks"))
    world.loop.write(".git/HEAD", "ref: refs/heads/main\n")
    result = world.run("--workspace", "in-place")
    equal(result.code, 0, "exit status", (result, world.results()))
    read, write, shell = world.results(1)
    equal((read, write[1]), (("'.env' is denied here; retrying will not help", True), True), "what the tools say", write)
    lacks(shell[0], "hidden", "the secret")
    entry = world.loop.history()[0]
    told = [one["count"] for one in entry["denied"] if one["target"].endswith("pre-commit")]
    equal(sum(told), 2, "the agent's own try is told, and that of its command", entry)


def test_the_gateways_budget_stops_it_at_once(t):
    world = World(t, [turn(call("shell", command="true"), usage={"input": 200000}, again=9)])
    result = world.run("--budget", "0.50")
    equal(result.code, 2, "exit status", result)
    equal(world.loop.history()[0]["failure"], "budget", "the class", world.events()[-1])
    equal(world.events()[-1]["type"], "budget", "the last event")
    expect(world.kinds().count("retry") <= 1, "what was cut in the midst is asked for once more, and what is refused is not", world.kinds())


def test_auto_falls_back_to_it_and_agents_lists_it(t):
    world = World(t, ends())
    result = world.run(agent=None)
    equal(result.code, 0, "exit status", result)
    listed = json.loads(world.loop.ringfence("agents", "--json", env=world.env).out)["agents"]
    found = [agent for agent in listed if agent["name"] == "builtin"]
    expect(found and found[0]["installed"] and found[0]["tested"], "agents lists it", found)
    world.env = t.env()
    os.unlink(os.path.join(t.home, ".config/ringfence/config.yml"))
    refused = world.run(agent="builtin")
    equal(refused.code, 125, "without a model", refused)
    contains(refused.err, "--upstream openai=local:URL", "what to do")


def test_a_session_goes_on_where_it_ended(t):
    world = World(t, [turn(call("shell", command="echo first >>log")), turn(text="The first part is done."),
                      turn(call("write", path="done", content="x")), turn(text="All is done.")])
    result = world.run("-m", "2", "--session", "continue")
    equal(result.code, 0, "exit status", (result, world.bodies()[-1]))
    last = world.bodies()[-1]["messages"]
    contains(json.dumps(last), "The first part is done.", "what was said before")
    contains(json.dumps(last), "echo first", "what was done before")
    sessions = {entry["session"] for entry in world.loop.history()}
    equal(len(sessions), 1, "one session", sessions)


def test_a_local_server_and_nothing_else_is_enough(t):
    """Without a key, another agent or a model's name, the server's first model is used, and counted at no cost."""
    def answer(request, _):
        if request.path == "/v1/models":
            return respond({"data": [{"id": "small-local-model"}]})
        calls = [{"index": 0, "id": "c", "function": {"name": "shell", "arguments": json.dumps({"command": "touch done"})}}]
        first = request.json["messages"][-1]["role"] == "user"
        delta = {"tool_calls": calls} if first else {"content": "done"}
        return stream([event({"choices": [{"delta": delta, "finish_reason": "stop"}]}),
                       event({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 5}}), b"data: [DONE]\n\n"])

    server = Provider(answer)
    t.cleanups.append(server.close)
    loop = Loop(t)
    result = loop.ringfence("run", "make it", "-m", "1", "--check", "test -f done", "--upstream", f"openai=local:{server.url}")
    equal(result.code, 0, "exit status", result)
    equal([request.path for request in server.requests], ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"], "what was asked")
    expect(all("authorization" not in request.headers for request in server.requests), "no key was sent", "")
    equal((server.requests[-1].json["model"], loop.status()["spent_nusd"]), ("small-local-model", 0), "the model, and what it cost")
    contains(result.out, "  a local model, at no cost: 2 requests, 100 tokens in, 10 out\n", "what is said of that")
    contains(result.out, "  limits    1 iteration, 1h each, 8h in total\n", "the limits, of which none is money")
    lacks(result.out, "US$ 0.0", "what is said of that")
    equal(loop.history()[0]["metered"], {"requests": 2, "free_requests": 2, "input": 100, "output": 10, "estimated_nusd": 0, "replay": False}, "the history")


def test_a_local_server_that_is_not_running_is_refused_and_not_waited_for(t):
    """The control is a server at such an address."""
    place = f"http://127.0.0.1:{t.held_port()}"
    loop = Loop(t)
    result = loop.ringfence("run", "make it", "--check", "test -f done", "--upstream", f"openai=local:{place}", "--model", "m")
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"no model server listens at {place}: start it there", "what to do")
    equal(json.loads(loop.ringfence("status", "--json").out)["loops"], [], "loops")
    other = loop.ringfence("run", "make it", "--check", "test -f done", "--upstream", f"openai=local:{place}", "--agent-command", "touch done")
    equal(other.code, 0, "an agent that asks no model", other)
    world = World(t, ends(), provider="openai", local=True)
    result = world.run("--model", "m")
    equal(result.code, 0, "one that is running", result)
    contains(result.out, f"network   none; models of openai at {world.server.address}, at no cost\n", "where models are")


def test_a_local_server_that_goes_away_is_waited_for_by_its_name_and_asked_again_when_it_is_back(t):
    world = World(t, [turn(call("shell", command="touch asked; until [ -e gone ]; do sleep 0.05; done"))], provider="openai", local=True,
                  port=t.held_port())
    world.loop.workspace = "in-place"  # the command would not see a file that is added below a draft
    host, port = world.server.server.server_address
    result = world.run("--model", "m", "--detach", "--workspace", "in-place")
    equal(result.code, 0, "exit status", result)
    world.loop.there("asked")
    world.server.close()
    world.loop.write("gone")
    status = world.loop.waiting()
    contains(status["reason"], f"the model server at {host}:{port} cannot be reached: Connection refused: waiting until ", "the reason")
    entry = world.loop.history()[0]
    equal((entry["failure"], entry["verdict"], entry["counts"]), ("unreachable", "wait", False), "the iteration", entry)
    world.loop.ringfence("pause")
    world.loop.ended("paused")
    with Server(ends(), listen=(host, port)):
        result = world.loop.ringfence("resume", "--follow", env=world.env)
    equal(result.code, 0, "exit status of resume", result)


def test_a_local_server_that_goes_away_in_a_request_is_waited_for_and_so_is_the_answer_which_models_it_has(t):
    world = World(t, [turn(text="never sent")], provider="openai", local=True, port=t.held_port())
    host, port = world.server.server.server_address
    world.server.turn_hook = lambda _turn, _body: world.server.close()
    result = world.run("--detach")
    equal(result.code, 0, "exit status", result)
    wanted = f"the model server at {host}:{port} did not respond: it closed the connection before its response was complete: waiting until "
    contains(world.loop.waiting()["reason"], wanted, "the reason")
    world.loop.ringfence("pause")
    world.loop.ended("paused")
    equal([request["path"] for request in world.server.requests], ["/v1/models", "/v1/chat/completions"], "what was asked")
    world.loop.ringfence("resume", env=world.env)
    wanted = f"the model server at {host}:{port} cannot be reached: Connection refused: waiting until "
    contains(world.loop.waiting()["reason"], wanted, "the reason, where it is asked which models it has")
    entries = [(entry["failure"], entry["verdict"], entry["counts"]) for entry in world.loop.history()]
    equal(entries, [("unreachable", "wait", False)] * 2, "the iterations")
    world.loop.ringfence("pause")
    world.loop.ended("paused")
    with Server(ends(), listen=(host, port)):
        result = world.loop.ringfence("resume", "--follow", env=world.env)
    equal(result.code, 0, "exit status of resume", result)


# Sends a request to the model with each word of the environment that could be the token; prints each status.
SPEND = """
import http.client, os, re
for token in ["none", *{word for value in os.environ.values() for word in re.findall("[0-9a-f]{32}", value)}]:
    gateway = http.client.HTTPConnection("127.0.0.1", 61080, timeout=60)
    gateway.request("POST", "/v1/messages", '{"model": "claude-sonnet-5-5", "max_tokens": 5, "messages": []}', {"x-api-key": token})
    print("status", gateway.getresponse().status)
"""


def test_where_hosts_are_allowed_commands_can_reach_them_and_no_model(t):
    """The token is the agent's alone. The control: the agent uses it in requests, and without hosts there is no proxy."""
    for words, wanted in ((("--allow", "example.com"), "http://127.0.0.1:61080\n0\nstatus 401"), ((), "0\nstatus 401")):
        world = World(t, [turn(call("shell", command='test -n "$HTTP_PROXY" && echo $HTTP_PROXY; echo ${#ANTHROPIC_API_KEY}; python3 spend.py')), *ends()])
        world.loop.write("spend.py", SPEND)
        equal(world.run(*words).code, 0, "exit status")
        equal(world.results(1)[0][0].strip(), wanted, f"with {words}")
