"""Which agent a loop uses, with stand-ins for the programs: what is started, and how its stream is read."""

import json
import os

from harness import cases, contains, equal, expect, lacks, snapshot, user_only
from harness.loop import LoopInPlace as Loop
from harness.patience import in_time

RESULT = ('{"type":"result","subtype":"success","is_error":false,"result":"It is done.","session_id":"s-1",'
          '"total_cost_usd":0.25,"modelUsage":{"m":{"inputTokens":10,"outputTokens":5}}}')


# A key, and a server in the fence, so that no network is needed.
ANTHROPIC = ("--env", "ANTHROPIC_API_KEY=k", "--env", "ANTHROPIC_BASE_URL=http://127.0.0.1:4000")
OPENAI = ("--env", "OPENAI_API_KEY=k", "--env", "OPENAI_BASE_URL=http://127.0.0.1:4000")
GEMINI_KEY = ("--env", "GEMINI_API_KEY=k", "--env", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4000")


def stand_in(t, name, text, folder="bin"):
    """A program of that name in a folder of the user's, which is in PATH."""
    path = os.path.join(t.home, "tools", folder, name)
    return t.write(path, text, 0o755)


def environment(t, folder="bin", **changes):
    env = t.env(**changes)
    return {**env, "PATH": f"{t.home}/tools/{folder}:{env['PATH']}"}


def run(loop, *words, env=None, check="test -f done"):
    return loop.ringfence("run", "make it", "--workspace", "in-place", "--check", check, "-m", "1", *words, env=env)


def test_claude_is_started_with_its_options_and_its_stream_is_read(t):
    stand_in(t, "claude", f"#!/bin/sh\nprintf '%s\\n' \"$@\" >args\ncat >prompt\nenv >env\ntouch done\necho '{RESULT}'\n")
    loop = Loop(t)
    result = run(loop, "--agent", "claude", *ANTHROPIC, "--model", "m-1", "--agent-args",
                 "--effort 'very high'", env=environment(t))
    equal(result.code, 0, "exit status", result)
    tree = loop.tree()
    words = tree["args"].splitlines()
    for word in ("-p", "stream-json", "--dangerously-skip-permissions", "--strict-mcp-config", "m-1", "very high"):
        expect(word in words, f"{word} is among the words", words)
    contains(tree["prompt"], "make it", "the prompt on stdin")
    contains(tree["env"], "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "the environment")
    equal(loop.status()["spent_nusd"], 250_000_000, "what it says that it cost")
    entry = loop.history()[0]
    equal((entry["session"], entry["verdict"]), ("s-1", "done"), "session and verdict", entry)


def test_an_agent_that_hangs_after_its_result_has_finished(t):
    loop = Loop(t)
    loop.write("agent", f"cat >/dev/null; echo '{RESULT}'; sleep 600")

    def attempt(seconds):
        result = run(loop, "--agent-command", "sh agent", "--agent-format", "claude", "--idle-timeout", f"{seconds}s")
        equal(result.code, 2, "exit status", result)
        return loop.transcript()
    contains(in_time(attempt, lambda said: RESULT in said), RESULT, "what the agent prints")
    equal(loop.history()[0]["failure"], "check failed", "the class: no hang", loop.history()[0])


@cases(('{"type":"turn.failed","error":{"message":"stream disconnected"}}', "limit"), ("", "limit"),
       ('{"type":"turn.completed","usage":{}}', "done"))
def test_a_promise_counts_only_in_a_turn_that_ended_well(t, end, verdict):
    loop = Loop(t)
    said = '{"type":"item.completed","item":{"type":"agent_message","text":"<promise>COMPLETE</promise>"}}'
    loop.write("agent", f"cat >/dev/null; echo '{said}'; echo '{end}'")
    loop.ringfence("run", "make it", "--workspace", "in-place", "-m", "1", "--promise", "<promise>COMPLETE</promise>", "--agent-command",
                   "sh agent", "--agent-format", "codex")
    equal(loop.history()[0]["verdict"], verdict, "the verdict", loop.history()[0])


def test_a_stream_without_a_message_is_no_message(t):
    """The control: the same bytes as plain output are one."""
    for style, verdict in (("codex", "limit"), ("plain", "done")):
        loop = Loop(t, name=style)
        loop.write("agent", "cat >/dev/null; echo '{\"type\":\"news\"}'; echo '<promise>COMPLETE</promise>'")
        loop.ringfence("run", "make it", "--workspace", "in-place", "-m", "1", "--promise", "<promise>COMPLETE</promise>", "--agent-command",
                       "sh agent", "--agent-format", style)
        equal(loop.history()[0]["verdict"], verdict, f"the verdict with {style}")


USAGE = '{"type":"turn.completed","usage":{"input_tokens":3000000,"cached_input_tokens":1000000,"output_tokens":100000}}'


@cases((("--model", "gpt-6-sol"), "", 5_200_000_000, False), (("--model", "nobody-1"), "", 0, True), ((), "", 0, True),
       (("--model", "nobody-1"), "model nobody-1 1 1 1 1 1\n", 3_100_000_000, False))
def test_tokens_are_priced_where_the_agent_does_not_and_the_model_is_known(t, words, own, spent, unpriced):
    stand_in(t, "codex", f"#!/bin/sh\ncat >/dev/null\ntouch done\necho '{USAGE}'\n")
    if own:
        t.at_home(".config/ringfence/prices.txt", own)
    loop = Loop(t)
    result = run(loop, "--agent", "codex", *OPENAI, "--budget", "none", *words, env=environment(t))
    equal(result.code, 0, "exit status", result)
    equal(loop.status()["spent_nusd"], spent, "what was spent, in nano-dollars")
    ended = [json.loads(data) for kind, data in loop.events() if kind == "ended"][0]
    equal(ended.get("unpriced", False), unpriced, "is there more that is not known?", ended)


def test_aider_gets_its_prompt_as_a_file(t):
    stand_in(t, "aider", "#!/bin/sh\nprintf '%s\\n' \"$@\" >args\ncat \"$2\" >prompt\ntouch done\n")
    loop = Loop(t)
    result = run(loop, "--agent", "aider", *OPENAI, env=environment(t))
    equal(result.code, 0, "exit status", result)
    contains(result.err, "not covered by our tests", "the notice")
    contains(loop.tree()["prompt"], "make it", "the prompt")
    contains(loop.tree()["args"], "--yes-always", "the words")


def test_patchpal_is_run_by_the_interpreter_that_its_program_names(t):
    stand_in(t, "patchpal", "#!/usr/bin/python3\n")
    loop = Loop(t)
    os.makedirs(loop.path("patchpal"))
    loop.write("patchpal/__init__.py")
    loop.write("patchpal/agent.py", "import os\n\nclass Agent:\n    def run(self, text):\n        open('done', 'w').write(text)\n"
               "        return os.environ['PATCHPAL_MODEL'] + os.environ['PATCHPAL_REQUIRE_PERMISSION']\n\n"
               "def create_agent():\n    return Agent()\n")
    result = run(loop, "--agent", "patchpal", *OPENAI, "--model", "openai/x", env=environment(t))
    equal(result.code, 0, "exit status", result)
    contains(loop.tree()["done"], "make it", "the prompt")
    with open(f"{loop.folder}/iterations/1/stdout.log", encoding="utf-8") as file:
        equal(file.read().strip(), "openai/xfalse", "what it printed")


def test_auto_is_the_first_that_is_installed_and_can_log_in(t):
    for name in ("claude", "gemini"):
        stand_in(t, name, "#!/bin/sh\ncat >/dev/null\ntouch done\n")
    loop = Loop(t)
    run(loop, *GEMINI_KEY, env=environment(t))
    equal(loop.status()["agent"], "gemini", "the agent with a key")
    result = run(Loop(t, name="second"), "--agent", "auto", env=environment(t))
    equal(result.code, 125, "exit status without a key", result)
    for part in ("ringfence agents", "ANTHROPIC_API_KEY", "--upstream openai=local:URL", "--agent-command"):
        contains(result.err, part, "what to do")
    expect(len(result.err) < 240, "it is said in three lines", result.err)


@cases((("--agent", "nobody"), "there is no agent 'nobody'"), (("--agent", "codex"), "codex is not installed"),
       (("--agent", "claude"), "--env ANTHROPIC_API_KEY"), (("--agent", "claude", "--agent-login", "file"), "not logged in"),
       (("--agent", "command"), "--agent-command"))
def test_what_cannot_work_is_refused_before_anything_is_started(t, words, message):
    stand_in(t, "claude", "#!/bin/sh\ntouch started\n")
    loop = Loop(t)
    result = run(loop, *words, env=environment(t))
    equal(result.code, 125, "exit status", result)
    contains(result.err.lower(), message.lower(), "the message")
    expect(not os.path.exists(loop.path("started")), "nothing was started")


CLAUDE, CODEX, GEMINI, OPENCODE = (("--agent", name) for name in ("claude", "codex", "gemini", "opencode"))
KEY = ("--env", "ANTHROPIC_API_KEY=k")
FILE = ("--agent-login", "file")


@cases(
    ((*CLAUDE, *KEY), "--allow api.anthropic.com"),
    ((*CLAUDE, *FILE), "--allow api.anthropic.com --allow platform.claude.com"),
    ((*CLAUDE, "--env", "CLAUDE_CODE_OAUTH_TOKEN=k", "--allow", "example.org"), "--allow api.anthropic.com"),
    ((*CLAUDE, *KEY, "--env", "ANTHROPIC_BASE_URL=https://models.example.org/a"), "--allow models.example.org"),
    ((*CODEX, "--env", "OPENAI_API_KEY=k"), "--allow api.openai.com"),
    ((*CODEX, *FILE), "--allow chatgpt.com --allow auth.openai.com"),
    ((*GEMINI, "--env", "GEMINI_API_KEY=k"), "--allow generativelanguage.googleapis.com"),
    ((*GEMINI, *FILE), "--allow cloudcode-pa.googleapis.com --allow oauth2.googleapis.com"),
    ((*OPENCODE, *KEY), "--allow api.anthropic.com"),
    ((*OPENCODE, "--env", "OPENROUTER_API_KEY=k"), "--allow HOST"),
    ((*OPENCODE, *FILE), "--allow HOST"))
def test_an_agent_that_could_not_reach_its_provider_is_refused_with_the_missing_rule(t, words, rule):
    """The control: the same with that rule is started."""
    for name in ("claude", "codex", "gemini", "opencode"):
        stand_in(t, name, "#!/bin/sh\ncat >/dev/null\ntouch done\n")
    for name in (".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".local/share/opencode/auth.json"):
        t.at_home(name, "{}")
    loop = Loop(t)
    result = run(loop, *words, env=environment(t))
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"{rule} ", "what to do")
    expect("done" not in loop.tree(), "nothing was started")
    result = run(loop, *words, *rule.replace("HOST", "models.example.org").split(), env=environment(t))
    equal(result.code, 0, "exit status with the rule", result)


@cases(
    ("--env", "ANTHROPIC_BASE_URL=http://127.0.0.1:4000"),  # a server in the fence
    ("--agent-args", "--settings '{\"url\": \"http://127.0.0.1:4000\"}'"),
    ("--net", "open"))
def test_an_agent_that_may_reach_another_server_is_started(t, *words):
    stand_in(t, "claude", "#!/bin/sh\ncat >/dev/null\ntouch done\n")
    loop = Loop(t)
    result = run(loop, *CLAUDE, *KEY, *words, env=environment(t))
    equal(result.code, 0, "exit status", result)


def test_a_version_that_was_not_tested_is_said(t):
    package = os.path.join(t.home, "tools/node_modules/claude")
    t.write(f"{package}/package.json", '{"version": "9.9.9"}')
    t.write(f"{package}/bin/claude", "#!/bin/sh\ncat >/dev/null\ntouch done\n", 0o755)
    os.makedirs(os.path.join(t.home, "tools/bin"))
    os.symlink(f"{package}/bin/claude", os.path.join(t.home, "tools/bin/claude"))
    loop = Loop(t)
    result = run(loop, "--agent", "claude", *ANTHROPIC, env=environment(t))
    equal(result.code, 0, "exit status: it runs from where it is installed", result)
    contains(result.err, "9.9.9 was not tested", "the notice")
    found = json.loads(loop.ringfence("agents", "--json", env=environment(t)).out)["agents"][0]
    equal((found["version"], found["tested"], found["installed"]), ("9.9.9", False, True), "what agents says", found)


@user_only
@cases("claude", "codex", "gemini", "opencode")
def test_without_a_fence_nothing_skips_permissions_and_the_users_own_home_stays_as_it_is(t, agent):
    stand_in(t, agent, "#!/bin/sh\nprintf '%s\\n' \"$@\" >args\necho \"$HOME\" >home\ncat >/dev/null\ntouch done\n")
    for name in (".gemini/settings.json", ".codex/config.toml", ".claude/settings.json"):
        t.at_home(name, "mine")
    kept = [os.path.join(t.home, name) for name in (".gemini", ".codex", ".claude", ".config", ".cache")]
    before = [snapshot(path) for path in kept]
    key = {"codex": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}.get(agent, "ANTHROPIC_API_KEY")
    loop = Loop(t)
    result = run(loop, "--agent", agent, "--env", f"{key}=k", "--i-accept-no-fence", env=environment(t))
    equal(result.code, 0, "exit status", result)
    contains(result.err, "NO FENCE", "the notice")
    for word in ("skip-permissions", "bypass", "yolo", "--auto"):
        lacks(loop.tree()["args"], word, "the words")
    home = loop.tree()["home"].strip()
    expect(home != t.home and not os.path.exists(home), "its home was another one, and is gone", home)
    equal([snapshot(path) for path in kept], before, "what the user has at home")


KEEPS = ("#!/bin/sh\ncat >/dev/null\ncat ~/.claude/projects/* >>remembered 2>/dev/null\necho \"$@\" >>args\n"
         "echo \"word of $(wc -l <args)\" >>~/.claude/projects/s-1.jsonl\n" f"echo '{RESULT}'\n")


@cases((), ("--read-only",))
def test_sessions_are_kept_with_each_iteration_or_go_on(t, *words):
    stand_in(t, "claude", KEEPS)
    loop = Loop(t)
    run(loop, "--agent", "claude", *ANTHROPIC, "-m", "2", *words, env=environment(t))
    for number in (1, 2):
        path = f"{loop.folder}/iterations/{number}/session/projects/s-1.jsonl"
        expect(os.path.exists(path), f"iteration {number} has its own session", loop.history())
    expect("remembered" not in loop.tree() or not loop.tree()["remembered"], "nothing is remembered", loop.tree())
    if words:
        return
    other = Loop(t, name="other")
    run(other, "--agent", "claude", *ANTHROPIC, "-m", "2", "--session", "continue",
        env=environment(t))
    contains(other.tree()["remembered"], "word of 1", "what the second iteration finds")
    contains(other.tree()["args"].splitlines()[1], "--resume s-1", "its words")
    lacks(other.tree()["args"].splitlines()[0], "--resume", "the words of the first")
    equal(other.status()["spent_nusd"], 250_000_000, "what was spent: the sum of the session, once")


def test_where_sessions_cannot_be_kept_a_loop_does_without(t):
    stand_in(t, "claude", "#!/bin/sh\ncat >/dev/null\ntouch done\n")
    t.write(f"{t.state}-sessions", "a file is in the way")
    loop = Loop(t)
    words = ("--agent", "claude", *ANTHROPIC)
    refused = run(loop, *words, "--session", "continue", env=environment(t))
    equal(refused.code, 125, "exit status with --session continue", refused)
    result = run(loop, *words, env=environment(t))
    equal(result.code, 0, "exit status", result)
    contains(result.err, "sessions are not kept", "the notice")


def test_an_agent_in_the_project_leaves_the_project_writable(t):
    loop = Loop(t)
    folder = loop.path("node_modules/claude")
    t.write(f"{folder}/claude", "#!/bin/sh\ncat >/dev/null\ntouch node_modules/new done\n", 0o755)
    env = environment(t)
    result = run(loop, "--agent", "claude", *ANTHROPIC, env={**env, "PATH": f"{folder}:{env['PATH']}"})
    equal(result.code, 0, "exit status", result)
    expect(os.path.exists(loop.path("node_modules/new")), "packages can be installed")


def test_a_login_is_copied_into_the_fence_and_into_no_journal(t):
    t.at_home(".claude/.credentials.json", '{"token": "of-a-person"}')
    stand_in(t, "claude", "#!/bin/sh\ncp ~/.claude/.credentials.json seen\nenv >env\ncat >/dev/null\ntouch done\n")
    loop = Loop(t)
    result = run(loop, "--agent", "claude", "--agent-login", "file", *ANTHROPIC[2:], env=environment(t))
    equal(result.code, 0, "exit status", result)
    equal(loop.tree()["seen"], '{"token": "of-a-person"}', "what the agent finds in its home")
    lacks(loop.tree()["env"], "of-a-person", "the agent's environment")
    contains(result.err, "LOGIN IN THE FENCE", "the notice")
    expect(loop.status()["login_in_fence"].endswith(".credentials.json"), "the status says it")
    contains(loop.ringfence("status").out, "LOGIN IN THE FENCE", "the status for people")
    with open(f"{loop.folder}/iterations/1/analysis.json", encoding="utf-8") as file:
        contains(file.read(), "login_in_fence", "the analysis of the iteration")
    with open(f"{loop.folder}/iterations/1/report.json", encoding="utf-8") as file:
        expect(json.load(file)["login_in_fence"].endswith(".credentials.json"), "its report names the file", "")
    for base, _, files in os.walk(os.path.join(t.state, "loops")):
        for file in files:
            with open(os.path.join(base, file), "rb") as stream:
                expect(b"of-a-person" not in stream.read(), f"{file} does not hold it")
    # The control: without being asked, there is none.
    other = Loop(t, name="other")
    run(other, "--agent", "claude", *ANTHROPIC, env=environment(t))
    expect("seen" not in other.tree(), "no copy without --agent-login file", other.tree())
