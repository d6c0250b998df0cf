"""Models in the fence: a loop's agent reaches them with a token and no network, and the gateway's count is the loop's cost."""

import contextlib
import json
import os
import signal
import threading

from harness import cases, contains, equal, expect, lacks
from harness.client import CLIENT
from harness.loop import Loop
from harness.provider import Provider, make_certificate, message, message_events, opus, respond, stream

KEY = "sk-ant-real-0123456789abcdef"

# One request, as an agent makes it; prints the status.
ASK = CLIENT + """
status, read = post({"model": "claude-opus-5-5", "max_tokens": int(sys.argv[1]) if len(sys.argv) > 1 else 100,
                     **json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}")})
if status == 200:
    print(status)
else:
    print(status, json.loads(read())["error"]["message"])
    sys.exit(1)
"""


class World:
    """A provider with TLS, user settings that point to it, and a loop."""

    def __init__(self, t, answer, **scripts):
        self.t = t
        certificate = make_certificate(t.outside)
        self.provider = Provider(answer, certificate)
        t.cleanups.append(self.provider.close)
        t.at_home(".config/ringfence/config.yml",
                  f"upstream: [anthropic={self.provider.url}]\nupstream-ca: {certificate[0]}\n")
        self.loop = Loop(t, scripts=scripts)
        self.loop.write("ask.py", ASK)
        self.env = t.env(ANTHROPIC_API_KEY=KEY)

    def run(self, *words, **options):
        return self.loop.run("--agent-format", "events", *words, env=self.env, **options)

    def ledger(self):
        with open(os.path.join(self.loop.folder, "ledger.jsonl")) as file:
            return [json.loads(line) for line in file]


def test_an_agent_reaches_its_model_without_a_key_and_without_a_network(t):
    world = World(t, lambda request, _: message(input=10, output=5), all=(
        "python3 ask.py >asked; env >seen; event cost '\"nusd\": 5'; (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && edit open yes;"
        "edit done yes; event final"))
    result = world.run("-m", "1")
    equal(result.code, 0, "exit status", result)
    equal(world.loop.tree()["asked"], "200\n", "the agent's request")
    lacks(world.loop.tree()["seen"], KEY, "the agent's environment")
    expect("open" not in world.loop.tree(), "nothing else is reached", world.loop.tree().keys())
    equal(world.provider.requests[0].headers["x-api-key"], KEY, "the provider got the key")
    (line,) = world.ledger()
    equal((line["cost_nusd"], line["iteration"], line["agent"]), (opus(10, 5), 1, "command"), "the ledger")
    ended = [json.loads(data) for kind, data in world.loop.events() if kind == "ended"]
    equal((ended[0]["cost_nusd"], ended[0]["agent_cost_nusd"]), (opus(10, 5), 5), "the gateway's count, and the agent's beside it")
    for folder, _, files in os.walk(t.state):
        for name in files:
            with contextlib.suppress(PermissionError), open(os.path.join(folder, name), "rb") as file:
                lacks(file.read().decode("latin-1"), KEY, name)


FORGERY = "#!/bin/sh\ntouch {escaped}\necho forged\n"


def forge(t, world):
    """A program of the agent for a folder of PATH; returns the file that it makes outside the fence, and that PATH."""
    escaped = os.path.join(t.outside, "escaped")
    world.loop.write("forgery", FORGERY.format(escaped=escaped))
    os.chmod(world.loop.path("forgery"), 0o755)
    os.mkdir(world.loop.path("bin"))
    os.chmod(world.loop.path("bin"), 0o777)
    os.chmod(t.outside, 0o777)
    return escaped, world.loop.path("bin") + ":" + os.environ["PATH"]


@cases("draft", "in-place")
def test_the_command_of_a_key_runs_no_program_of_the_agent(t, workspace):
    """It runs outside the fence, again in each iteration. PATH has a folder of the project, as with a virtual environment."""
    world = World(t, lambda request, _: message(), all="python3 ask.py >asked; cp forgery bin/cat; event final")
    escaped, path = forge(t, world)
    key = t.at_home("the-key", KEY + "\n")
    world.env = t.env(PATH=path)
    world.loop.workspace = workspace
    world.run("-m", "2", "--model-key", f"anthropic=command:cat {key}")
    equal([request.headers["x-api-key"] for request in world.provider.requests], [KEY, KEY], "the key in both iterations")
    equal(os.access(world.loop.made("bin/cat"), os.X_OK), True, "the agent's program is there")
    equal(os.path.exists(escaped), False, "it ran")


@cases("command:{project}/forgery", "command:sh -c 'cat {home}/the-key; . {project}/forgery'", "file:{project}/key", "command:linked")
def test_a_key_is_not_read_from_what_the_agent_can_change(t, source):
    world = World(t, lambda request, _: message(), all="python3 ask.py >asked; event final")
    escaped, _ = forge(t, world)
    key = t.at_home("the-key", KEY + "\n")
    world.loop.write("key", KEY)
    folder = os.path.join(t.outside, "own")
    os.mkdir(folder)
    os.symlink(world.loop.path("forgery"), os.path.join(folder, "linked"))
    world.env = t.env(PATH=folder + ":" + os.environ["PATH"])
    source = source.format(project=world.loop.project, home=os.path.dirname(key))
    result = world.run("-m", "1", "--model-key", "anthropic=" + source)
    equal(result.code != 0, True, "it fails", result)
    contains(result.out + result.err + world.loop.ringfence("status").out, "an agent can change '", "the reason")
    equal((len(world.provider.requests), os.path.exists(escaped)), (0, False), "requests, and whether the program ran")


@cases((1, " (estimated)"), (2, " (partly estimated)"), (0, ""))
def test_an_estimate_in_the_cost_of_a_loop_is_called_so(t, broken, words):
    """In the only iteration, in the first of two, or in none (the control), the answer of the model breaks off."""
    def answer(request, _):
        events = message_events(input=10000)
        return stream(events[:2] if broken and len(world.provider.requests) == 1 else events)
    world = World(t, answer, all="python3 ask.py 100 '{\"stream\": true}' >asked; event final")
    world.run("-m", "1" if broken == 1 else "2")
    guessed = sum(line["cost_nusd"] for line in world.ledger() if line["estimated"])
    equal(guessed > 0, broken > 0, "the ledger has an estimate", world.ledger())
    status = world.loop.status()
    equal(status["estimated_nusd"], guessed, "the status", status)
    contains(world.loop.ringfence("status").out, f"US$ {status['spent_nusd'] / 1e9:.2f}{words}  ", "the status for people")
    equal([entry.get("estimated_nusd", 0) for entry in world.loop.history()],
          [guessed] if broken == 1 else [guessed, 0], "the history")
    shown = world.loop.ringfence("history").out
    (contains if broken else lacks)(shown, "~ partly or wholly estimated", "the history for people")
    equal(shown.count("~ "), 2 if broken else 0, "the marks", shown)


# One request through the proxy, as clients do that ignore NO_PROXY: a full URI, or a tunnel. Arguments: form, port's offset, key.
ASK_BY_PROXY = """
import http.client, json, os, sys
form, offset, key = sys.argv[1], int(sys.argv[2]), sys.argv[3] or os.environ["ANTHROPIC_API_KEY"]
base = os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://")
host, port = base.split(":")
connection = http.client.HTTPConnection(*os.environ["http_proxy"].removeprefix("http://").split(":"))
if form == "tunnel":
    connection.set_tunnel(host, int(port) + offset)
body = json.dumps({"model": "claude-opus-5-5", "max_tokens": 100, "messages": []})
start = "" if form == "tunnel" else f"http://{host}:{int(port) + offset}"
try:
    for _ in range(2):
        connection.request("POST", start + "/v1/messages", body, {"x-api-key": key})
        answer = connection.getresponse()
        answer.read()
        print(answer.status)
except OSError as error:
    print(error)
"""


@cases("URI", "tunnel")
def test_a_client_that_asks_the_proxy_for_the_gateway_itself_gets_it(t, form):
    """As directly: with the token, and no other address of this machine."""
    world = World(t, lambda request, _: message(input=10, output=5), all=(
        f"python3 proxy.py {form} 0 '' >right; python3 proxy.py {form} 0 sk-wrong >wrong; python3 proxy.py {form} 1 '' >other; edit done yes; event final"))
    world.loop.write("proxy.py", ASK_BY_PROXY)
    result = world.run("-m", "1")
    equal(result.code, 0, "exit status", result)
    equal(world.loop.tree()["right"], "200\n200\n", "the agent's requests")
    contains(world.loop.tree()["wrong"], "401", "without the token")
    contains(world.loop.tree()["other"], "403", "another port of this machine")
    equal([request.headers["x-api-key"] for request in world.provider.requests], [KEY, KEY], "the provider got the key")
    equal(len(world.ledger()), 2, "the ledger")


def test_a_budget_ends_the_iteration_on_the_wire(t):
    world = World(t, lambda request, _: message(input=10, output=5), all=(
        "i=0; while [ $i -lt 50 ]; do python3 ask.py 1000 >>asked || break; i=$((i + 1)); done; edit a $N; event error; exit 1"))
    result = world.run("-m", "1", "--budget", "0.025")
    equal(result.code, 2, "exit status", result)
    asked = world.loop.tree()["asked"].splitlines()
    contains(asked[-1], "402 ringfence: a request could cost US$ 0.0", "the last request")
    contains(asked[-1], "is left of this iteration's US$ 0.025; --budget changes it", "the last request")
    expect(sum(line["cost_nusd"] for line in world.ledger()) <= 25 * 10 ** 6, "the budget holds", world.ledger())
    equal(world.loop.history()[0]["failure"], "budget", "the class")


@cases(("max-cost", "is left of this phase's US$ 0.025; max-cost of the phase changes it"),
       ("budget", "is left of this iteration's US$ 0.025; budget of the phase changes it"))
def test_the_money_of_a_phase_is_called_so_when_a_request_is_refused(t, key, words):
    """In its second iteration, in which only a part is left; the whole is named."""
    world = World(t, lambda request, _: message(input=10, output=5), all=(
        "i=0; while [ $i -lt $((N * 50 - 49)) ]; do python3 ask.py 1000 >>asked || break; i=$((i + 1)); done; edit a $N; event error; exit 1"))
    world.loop.write("ringfence.yml", f"phases:\n  - {{name: only, {key}: 0.025}}\n")
    equal(world.loop.ringfence("trust", "--yes").code, 0, "exit status of trust")
    world.run("-m", "2")
    contains(world.loop.tree()["asked"].splitlines()[-1], words, "the last request")
    contains(world.loop.history()[-1]["limit"], f"{key} of the phase US$ 0.0", "what ended the agent")


def test_a_budget_that_is_too_small_for_one_request_is_named_as_that(t):
    world = World(t, lambda request, _: message(), all="event error \"\\\"text\\\": \\\"$(python3 ask.py 1000)\\\"\"; exit 1")
    result = world.run("--max-no-progress", "2", "--budget", "0.001")
    equal((result.code, world.provider.requests), (1, []), "exit status and requests", result)
    why = world.loop.history()[0]["refused_why"]
    contains(why, ", but only US$ 0.001 is left of this iteration's US$ 0.001; --budget changes it", "the reason")
    contains(result.out, f" s: {why}\n", "what is told")
    equal(result.out.count(why), 2, "how often it is told in two iterations")
    lacks(result.out, "used up its budget", "what is told")
    contains(world.loop.status()["reason"], "too small for this task: raise --budget", "the advice")


def asking(**fields):
    """An agent that makes one request with these fields, and fails if it is refused."""
    return f"python3 ask.py 100 '{json.dumps(fields)}' >>asked && edit done yes && event final; exit 1"


def test_a_model_without_a_price_pauses_the_loop_with_the_line_to_add(t):
    world = World(t, lambda request, _: message(input=10, output=5), all=asking(model="claude-next-9"))
    result = world.run("-m", "3")
    equal((result.code, world.provider.requests), (3, []), "exit status and requests", result)
    said = world.loop.status()
    equal((said["status"], said["used"], world.loop.history()[0]["failure"]), ("paused", 0, "refused request"), "no iteration is used", said)
    contains(said["reason"], "add this line to ~/.config/ringfence/prices.txt, with US$ per million tokens: model claude-next-9 INPUT OUTPUT",
             "the reason")
    t.at_home(".config/ringfence/prices.txt", "model claude-next-9 2 10 - - -\n")
    equal(world.loop.ringfence("resume", env=world.env).code, 0, "with that line it continues")
    world.loop.ended("completed")
    equal(world.ledger()[0]["cost_nusd"], 10 * 2000 + 5 * 10000, "the cost")


@cases(1, 0)
def test_a_refused_request_that_the_agent_did_without_is_told_in_each_iteration(t, refused):
    """The loop goes on, as the agent did. The control: nothing was refused."""
    search = json.dumps({"tools": [{"type": "web_search_20250305", "name": "web_search"}]})
    world = World(t, lambda request, _: message(), all=(f"python3 ask.py 100 '{search}' >>asked;" if refused else "") + "python3 ask.py >>asked; event final")
    result = world.run("-m", "2")
    equal((result.code, len(world.provider.requests)), (2, 2), "exit status and requests", result)
    why = "tools[].type: the provider itself would run 'web_search_20250305'; 'provider-tools: web-search' would allow it"
    equal(result.out.count(f"refused by the gateway: 1 request to a model, and the agent went on: {why}"), 2 * refused, "how often it is told", result)
    for entry in world.loop.history():
        equal((entry["failure"], entry["counts"], entry.get("policy_refused", 0)), ("check failed", True, refused), "the history", entry)
        (contains if refused else lacks)(str(entry["reasons"]), "provider-tools: web-search", "the reasons")


def test_a_tool_of_the_provider_pauses_the_loop_and_names_the_setting(t):
    search = asking(tools=[{"type": "web_search_20250305", "name": "web_search"}])
    world = World(t, lambda request, _: message(input=10, output=5), all=search)
    result = world.run("-m", "3")
    equal((result.code, world.provider.requests), (3, []), "exit status and requests", result)
    said = world.loop.status()
    equal((said["status"], said["used"]), ("paused", 0), "no iteration is used", said)
    contains(said["reason"], "tools[].type: the provider itself would run 'web_search_20250305'; 'provider-tools: web-search' would allow it",
             "the reason")
    equal(world.loop.ringfence("resume", "--provider-tools", "web-search", env=world.env).code, 0, "with the setting it continues")
    world.loop.ended("completed")
    equal(len(world.provider.requests), 1, "the request passed")


def test_a_project_cannot_allow_a_providers_tools_by_itself(t):
    world = World(t, lambda request, _: message(input=10, output=5),
                  all=asking(tools=[{"type": "web_search_20250305", "name": "web_search"}]))
    world.loop.write("ringfence.yml", "provider-tools: [web-search]\n")
    result = world.run("-m", "1")
    equal((result.code, world.provider.requests), (3, []), "it is not active", result)
    contains(result.err, "inactive until you run: ringfence trust", "and that is told")


# As ask.py, with a library that uses the proxy of the environment, except for the addresses in NO_PROXY.
ASK_WITH_LIBRARY = """
import json, os, sys, urllib.request as u, urllib.error
body = {"model": "claude-opus-5-5", "max_tokens": int(sys.argv[1]) if len(sys.argv) > 1 else 100,
        **json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}")}
request = u.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
                    {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
try:
    print(u.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.code, json.load(error)["error"]["message"])
    sys.exit(1)
"""


# The allowed hosts, and the statuses of requests that name an image, an MCP server, a limited fetch tool and an unlimited one.
REACHES = {"none": ((), ["400", "400", "400", "400"]),
           "with subdomains": (("docs.example", "*.docs.example"), ["200", "200", "200", "400"]),
           "listed": (("docs.example",), ["200", "200", "400", "400"]),
           "other": (("other.example",), ["400", "400", "400", "400"])}


@cases(*REACHES)
def test_a_provider_connects_only_to_hosts_that_the_network_policy_lists(t, case):
    image = {"type": "image", "source": {"type": "url", "url": "https://docs.example/a.png"}}
    fetch = {"type": "web_fetch_20250910", "name": "web_fetch"}
    asks = {"image": {"messages": [{"role": "user", "content": [image]}]},
            "server": {"mcp_servers": [{"type": "url", "url": "https://docs.example/mcp", "name": "d"}]},
            "fetch": {"tools": [{**fetch, "allowed_domains": ["docs.example"]}]},
            "any": {"tools": [fetch]}}
    script = "".join(f"python3 ask.py 100 '{json.dumps(ask)}' | head -c 3 >{name};" for name, ask in asks.items())
    allowed, answers = REACHES[case]
    world = World(t, lambda request, _: message(input=10, output=5), all=script + "edit done yes; event final")
    world.loop.write("ask.py", ASK_WITH_LIBRARY)
    hosts = [word for host in allowed for word in ("--allow", host)]
    result = world.run("-m", "1", "--budget", "20", "--provider-tools", "web-fetch", "--provider-tools", "mcp", *hosts)
    equal(result.code, 0, "exit status", result)
    equal([world.loop.tree()[name] for name in asks], answers, "the statuses")


def test_a_loops_money_is_its_limit(t):
    world = World(t, lambda request, _: message(input=len(request.body), output=500), all="python3 ask.py 500 >>asked; edit a $N; event final")
    result = world.run("-m", "9", "--max-cost", "0.030", "--warn-cost", "none")
    equal((result.code, world.loop.status()["status"]), (2, "limit"), "exit status and status", result)
    contains(world.loop.status()["reason"], "max-cost", "the reason")
    expect(sum(line["cost_nusd"] for line in world.ledger()) <= 30 * 10 ** 6, "it holds", world.ledger())


def test_a_providers_limit_is_waited_out_to_the_second(t):
    limited = respond({"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}, "429 No", "application/json",
                      "Retry-After: 2")
    world = World(t, lambda request, _: limited if len(world.provider.requests) == 1 else message(),
                  all="python3 ask.py && edit done yes && event final")
    result = world.run("-m", "1")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "waiting until", "the progress")
    equal([line["cost_nusd"] for line in world.ledger()][0], 0, "a refusal costs nothing")
    equal(world.loop.history()[0]["failure"], "provider limit", "the class")


def killed_in_a_request(t, find):
    """A loop that completed although one of its processes, find(loop), was killed during a model request."""
    started, over = threading.Event(), threading.Event()
    t.cleanups.append(over.set)

    def answer(request, _):
        if not started.is_set():
            started.set()
            over.wait(600)
            return None
        return message(input=10, output=5)

    world = World(t, answer, all="python3 ask.py 1000 && edit done yes && event final")
    world.loop.detach("--agent-format", "events", "-m", "2", env=world.env)
    expect(started.wait(600), "the request is on its way", "")
    os.kill(find(world.loop), signal.SIGKILL)
    world.loop.ended("completed")
    t.leftover_runs = True
    return world


def test_a_runner_killed_in_a_request_loses_no_spend(t):
    world = killed_in_a_request(t, Loop.runner)
    lines = world.ledger()
    equal([line["route"] for line in lines], ["lost", "messages"], "the ledger")
    expect(lines[0]["cost_nusd"] >= 20000 * 1000, "all that was promised to it is spent", lines)
    entry = [json.loads(data) for kind, data in world.loop.events() if kind == "interrupted"]
    equal(entry[0]["cost_nusd"], lines[0]["cost_nusd"], "and the journal knows")


def test_a_supervisor_killed_in_a_request_goes_on_with_the_key(t):
    world = killed_in_a_request(t, Loop.supervisor)
    lines = world.ledger()
    equal(lines[-1]["route"], "messages", "the ledger")
    spent = [json.loads(data)["cost_nusd"] for kind, data in world.loop.events() if kind in ("interrupted", "ended")]
    equal(sum(spent), sum(line["cost_nusd"] for line in lines), "journal and ledger agree")


def test_the_money_of_a_day_pauses_the_loop(t):
    t.one_day()
    world = World(t, lambda request, _: message(input=len(request.body), output=500), all="python3 ask.py 500 >>asked; edit a $N; event final")
    result = world.run("-m", "9", "--daily-budget", "0.030")
    equal((result.code, world.loop.status()["status"]), (3, "paused"), "exit status and status", result)
    contains(world.loop.status()["reason"], "is left of today's US$ 0.03; --daily-budget changes it", "the reason")
    equal(world.loop.ringfence("resume", "--daily-budget", "10", "-m", "4", env=world.env).code, 0, "exit status of resume")
    world.loop.ended("limit")
    expect(len(world.ledger()) > 2, "and spends", world.ledger())


def test_a_resume_without_the_key_is_refused_and_changes_nothing(t):
    world = World(t, lambda request, _: message(input=10, output=5), all="python3 ask.py >asked; edit a $N; event final")
    equal(world.run("-m", "1").code, 2, "exit status")
    before = world.loop.status()
    result = world.loop.ringfence("resume", "-m", "2", env=t.env())
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, "its model key is in ANTHROPIC_API_KEY, which is not set: set it and resume again", "the reason")
    equal((world.loop.status(), len(world.ledger())), (before, 1), "the loop")
    equal(world.loop.ringfence("resume", "-m", "2", "--follow", env=world.env).code, 2, "with the key it goes on")
    equal(len(world.ledger()), 2, "requests")


def test_a_script_that_has_used_no_model_resumes_without_the_key(t):
    world = World(t, lambda request, _: message(), all="env >seen-$N; edit a $N")
    equal(world.loop.run("-m", "1", env=world.env).code, 2, "exit status")
    contains(world.loop.tree()["seen-1"], "ANTHROPIC_BASE_URL=", "what the script saw with the key")
    result = world.loop.ringfence("resume", "-m", "2", "--follow", env=t.env())
    equal(result.code, 2, "exit status of resume", result)
    contains(result.err, "ANTHROPIC_API_KEY is not set, so the loop continues without access to anthropic", "the notice")
    lacks(world.loop.tree()["seen-2"], "ANTHROPIC_BASE_URL=", "what it saw without")


def test_exec_leads_to_models_if_the_users_file_says_so(t):
    world = World(t, lambda request, _: message())
    t.write("ask.py", ASK)
    report = t.at_home("report.json", "")
    result = t.fence("python3", "ask.py", opts=("--report", report), env=world.env)
    expect(result.code != 0 and not world.provider.requests, "it does not by itself", result)
    with open(report, encoding="utf-8") as file:
        expect("models" not in json.load(file), "and the report says nothing of models", "")
    with open(os.path.join(t.home, ".config/ringfence/config.yml"), "a") as file:
        file.write("models: auto\n")
    result = t.fence("python3", "ask.py", opts=("--report", report), env=world.env)
    equal((result.code, result.out), (0, "200\n"), "now it does", result)
    contains(result.err, "models cost US$ 0.00014: 1 request, 10 tokens in, 5 out", "and says what it cost")
    with open(report, encoding="utf-8") as file:
        equal(json.load(file)["models"], {"requests": 1, "refused": 0, "input": 10, "output": 5, "cache_write": 0, "cache_read": 0,
                                          "cost_nusd": 140000}, "the report")


def test_exec_leads_to_models_if_asked_and_refuses_where_it_cannot(t):
    world = World(t, lambda request, _: message())
    t.write("ask.py", ASK)
    result = t.fence("python3", "ask.py", opts=("--models", "auto"), env=world.env)
    equal((result.code, result.out), (0, "200\n"), "what the command got", result)
    lacks(t.fence("env", opts=("--models", "auto"), env=world.env).out, KEY, "the environment")
    poor = t.fence("python3", "ask.py", "100000", opts=("--models", "auto", "--budget", "0.01"), env=world.env)
    contains(poor.out, "budget", "what it got beyond its budget")
    for words, env, why in (((), t.env(XDG_CONFIG_HOME=t.outside), "there is no key for a model provider"),
                            (("--net", "open"), world.env, "--models needs the network of the fence")):
        result = t.fence("echo", "ran", opts=("--models", "auto", *words), env=env)
        equal((result.code, result.out), (125, ""), "the refusal", result)
        contains(result.err, why, "the reason")


def test_a_projects_own_file_cannot_lead_keys_elsewhere(t):
    elsewhere = Provider(lambda request, _: message())
    t.cleanups.append(elsewhere.close)
    world = World(t, lambda request, _: message(), all="python3 ask.py; edit done yes; event final")
    world.loop.write("ringfence.yml", f"upstream: [anthropic={elsewhere.url}]\nmodel-key: [anthropic=env:ANTHROPIC_API_KEY]\n")
    result = world.run("-m", "1")
    equal((result.code, elsewhere.requests, len(world.provider.requests)), (0, [], 1), "it is not active", result)
    contains(result.err, "inactive until you run: ringfence trust", "and that is told")


def test_a_key_that_is_passed_on_is_the_users_choice(t):
    world = World(t, lambda request, _: message(), all="env >seen; edit done yes; event final")
    result = world.run("-m", "1", "--env", "ANTHROPIC_API_KEY")
    equal(result.code, 0, "exit status", result)
    contains(world.loop.tree()["seen"], KEY, "the key is inside")
    lacks(world.loop.tree()["seen"], "ANTHROPIC_BASE_URL=http://127.0.0.1:61080", "and no gateway in between")


def test_only_providers_with_a_key_are_led_to(t):
    world = World(t, lambda request, _: message(), all="env >seen; edit done yes; event final")
    equal(world.run("-m", "1").code, 0, "exit status")
    contains(world.loop.tree()["seen"], "ANTHROPIC_BASE_URL=http://127.0.0.1:61080", "the one whose key is there")
    lacks(world.loop.tree()["seen"], "OPENAI_API_KEY", "another")
    result = world.loop.ringfence("run", "x", "--agent-command", "true", "--check", "true", "--dry-run", env=world.env)
    contains(result.out, f"models       anthropic {world.provider.url}", "the policy")


def test_without_a_key_nothing_changes(t):
    loop = Loop(t, scripts={"all": "env >seen; edit done yes; event final"})
    equal(loop.run("--agent-format", "events", "-m", "1").code, 0, "exit status")
    lacks(loop.tree()["seen"], "RINGFENCE_MODELS", "the environment")
    expect(not os.path.exists(os.path.join(loop.folder, "ledger.jsonl")), "no ledger", os.listdir(loop.folder))


