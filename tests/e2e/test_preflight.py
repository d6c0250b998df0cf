"""ringfence preflight: a loop is examined before it starts. Secrets are made of pieces here."""

import json
import os

from harness import cases, contains, equal, expect, lacks
from harness.gitrepo import Repository
from harness.loop import Loop

KEY = "r8KdP2mXw5" + "TzQ9vLb3NhYc6J"
TOKEN = "ghp_" + "r8KdP2mXw5TzQ9vLb3NhYc6JgF4sRq7WtUyE"


def examined(loop, *words, code=0, **options):
    """The items by name; the second one of a name is called NAME 2."""
    result = loop.ringfence("preflight", "--json", *words, **options)
    equal(result.code, code, "exit status", result)
    lacks(result.out + result.err, KEY, "the secret")
    report = json.loads(result.out)
    equal(report["ok"], code == 0, "ok", report)
    for item in report["items"]:
        equal(list(item), ["name", "state", "detail", "fix"], "the keys")
        expect(item["state"] in ("pass", "warn", "fail") and item["detail"], "an item", item)
    return {item["name"]: item for item in report["items"]}, report


def agent(*words):
    return ("--agent-command", "sh agent.sh", "--workspace", "in-place", *words)


def test_everything_passes_in_a_clean_project(t):
    loop = Loop(t)
    Repository(t, loop.project).commit()
    items, report = examined(loop, *agent("--check", "test -f done"))
    equal({name: item["state"] for name, item in items.items()},
          dict.fromkeys(("secrets", "git", "history", "agent", "check", "disk", "fence", "limits", "loops", "sends"), "pass"), "states")
    equal(report["secrets"], [], "the secrets")
    contains(items["fence"]["detail"], "canaries", "a fence that was tried")
    expect(not os.path.exists(os.path.join(t.state, "loops")) or not os.listdir(os.path.join(t.state, "loops")), "no loop was made")
    text = loop.ringfence("preflight", *agent("--check", "test -f done")).out
    contains(text, "pass  git      branch main, no uncommitted changes\n", "for people")
    contains(text, "\nThe loop can start.\n", "the verdict")


def test_secrets_in_files_and_commits_are_shown_masked_and_hidden_ones_are_not(t):
    loop = Loop(t)
    repo = Repository(t, loop.project)
    repo.write("old.py", f'token = "{TOKEN}"\n')
    repo.commit()
    os.remove(loop.path("old.py"))
    repo.write("settings.py", f"API_KEY={KEY}\n")
    repo.write(".env", f"API_KEY={KEY}\n")
    repo.commit()
    items, report = examined(loop, *agent("--check", "test -f done"))
    equal((items["secrets"]["state"], items["history"]["state"]), ("warn", "warn"), "states", report)
    equal([(found["path"], found["line"], bool(found["commit"]), found["shown"]) for found in report["secrets"]],
          [("settings.py", 1, False, "API_KEY=..."), ("old.py", 1, True, "ghp_...")], "the secrets")
    items, report = examined(loop, *agent("--check", "test -f done", "--hide", "settings.py"))
    equal(items["secrets"]["state"], "pass", "once it is hidden", report)
    # The run says the same, and starts.
    loop.write("done")
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    contains(result.err, "secrets: the agent can read settings.py:1: high-entropy value API_KEY=...", "at a run")
    contains(result.err, "to fix it: --hide settings.py", "at a run")
    lacks(result.err, KEY, "at a run")


def test_the_state_of_git_is_told(t):
    loop = Loop(t)
    repo = Repository(t, loop.project).filled()
    loop.write("file.txt", "mine\n")
    words = agent("--check", "test -f done")
    contains(examined(loop, *words)[0]["git"]["detail"], "uncommitted changes (file.txt)", "a dirty tree")
    equal(examined(loop, *words, "--workspace", "draft")[0]["git"]["state"], "pass", "for a draft")
    repo.git("checkout", "-q", "--", "file.txt")
    repo.git("checkout", "-q", "--detach")
    contains(examined(loop, *words)[0]["git"]["detail"], "HEAD is detached", "without a branch")
    repo.git("switch", "-q", "main")
    repo.git("checkout", "-q", "-b", "other", "HEAD~1")
    loop.write("file.txt", "other\n")
    repo.commit()
    equal(repo.run("merge", "main").code, 1, "a conflict")
    contains(examined(loop, *words)[0]["git"]["detail"], "a merge is in progress", "an unfinished merge")


def test_what_could_only_fail_is_a_failure(t):
    loop = Loop(t)
    items, _ = examined(loop, "--agent-command", "no-such-agent", "--check", "no-such-check", "--tasks", "NONE.md", code=1)
    contains(items["agent"]["detail"], "no 'no-such-agent' in PATH", "the agent")
    contains(items["check"]["detail"], "--tasks 'NONE.md': there is no such file", "the goal")
    items, _ = examined(loop, "--agent", "claude", "--check", "no-such-check", code=1)
    equal((items["agent"]["state"], items["agent"]["fix"]), ("fail", "ringfence agents"), "an agent that is not installed")
    contains(items["check"]["detail"], "no 'no-such-check' in PATH", "the check")
    items, _ = examined(loop, *agent("--check", "true", "--max-iterations", "none", "--max-time", "none"))
    contains(items["check"]["detail"], "can never fail", "a vacuous check")
    equal(items["limits"]["state"], "warn", "no limits")
    equal(loop.ringfence("preflight", "--chekc", "x").code, 125, "exit status of a wrong option")


# Checks, and what is wrong with them.
CHECKS = {
    "npm test": "has no script 'test'", "npm run lint": "can never fail", "pnpm -s run placeholder": "always fails", "npm run unit": "", "npm": "", "npm run": "",
    "bun test": "", "npm ci && npm test": "", "make check": "has no target 'check'", "make -s test": "", "make both": "", "make -C lib check": "", "make done": "",
    "make": "",
}


@cases(*CHECKS)
def test_what_a_check_runs_is_followed_one_step(t, command):
    """Scripts and targets are pinned, so an agent cannot add the one that is missing."""
    trouble = CHECKS[command]
    loop = Loop(t, done="")
    loop.write("package.json", '{"scripts": {"lint": "echo ok", "unit": "node --test", "placeholder": "echo Error: no test specified && exit 1"}}')
    loop.write("Makefile", "one both: done\n\ttrue\n\ntest:\n\ttrue\n")
    # A package manager need not be installed.
    env = t.env(PATH=loop.path("bin") + ":" + t.env()["PATH"])
    os.makedirs(loop.path("bin"))
    for name in ("npm", "pnpm", "bun"):
        loop.write(f"bin/{name}", "#!/bin/sh\n")
        os.chmod(loop.path(f"bin/{name}"), 0o755)
    items, _ = examined(loop, *agent("--check", command), env=env)
    equal(items["check"]["state"], "warn" if trouble else "pass", "the state", items)
    contains(items["check"]["detail"], trouble or "to see how it does now", "what is said")


def test_it_tells_where_prompts_are_sent(t):
    loop = Loop(t)
    env = t.env(ANTHROPIC_API_KEY="k")
    items, _ = examined(loop, *agent("--models", "auto", "--model", "claude-opus-4-8"), env=env)
    contains(items["sends"]["detail"], "api.anthropic.com (anthropic), for claude-opus-4-8", "the host and the model")
    unknown = agent("--models", "auto", "--model", "no-such-model")
    contains(examined(loop, *unknown, env=env, code=1)[0]["sends"]["detail"], "its requests are refused", "a model without a price")
    items, _ = examined(loop, *unknown, "--unknown-model", "most-expensive", env=env)
    equal(items["sends"]["state"], "warn", "one that is priced nevertheless", items)
