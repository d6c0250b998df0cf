#!/usr/bin/python3
"""The section `builtin`: memory, and time to the first request to a model, of the built-in agent beside claude and codex.

  bench/builtin.py [--quick]

Each agent is started by itself, with an empty home, against a model server of the tests. The time is from its start to the first request; the memory
is the proportional set size of the agent and its children while it waits for the answer to its second request, after it has run a command.
"""

import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[0] = os.path.join(ROOT, "tests")  # not the folder of this file, which also has an agents.py

from agents.moves import MOVES  # noqa: E402
from fakes import Server  # noqa: E402

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ringfence/agents")
LESS, SOONER = 20, 10  # the goals
PATIENCE_S = 60


def shell(agent, command):
    return {"name": "shell", "input": {"command": command}} if agent == "builtin" else MOVES[agent].shell(command)


def program(agent):
    if agent == "builtin":
        return os.path.join(ROOT, "build/ringfence-agent")
    found = sorted(glob.glob(f"{CACHE}/{agent}-*/node_modules/.bin/{agent}"))
    return found[-1] if found else None


def words(agent, url):
    if agent == "claude":
        return ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    if agent == "codex":
        provider = ('model_providers.gw={name="gw",base_url="%s/v1",env_key="OPENAI_API_KEY",wire_api="responses"}' % url)
        return ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-c", "model_provider=gw",
                "-c", provider, "-"]
    return []


def family(pid):
    """A process and all its descendants."""
    below = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    below.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
            except OSError:
                continue
    found = [pid]
    for one in found:
        found += below.get(one, [])
    return found


def memory_kib(pid):
    total = 0
    for one in family(pid):
        try:
            with open(f"/proc/{one}/smaps_rollup", encoding="utf-8") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except OSError:
            continue
    return total


def measure(agent):
    """(ms to the first request, KiB), or None if the agent did not get that far."""
    seen = {}

    def hook(_turn, _body):
        if "first" not in seen:
            seen["first"] = time.monotonic()
        elif "memory" not in seen:
            seen["memory"] = memory_kib(seen["pid"])

    folder = tempfile.mkdtemp(prefix="ringfence-bench-agent-")
    home, project = os.path.join(folder, "home"), os.path.join(folder, "project")
    os.makedirs(home)
    os.makedirs(project)
    with Server([{"tools": [shell(agent, "true")]}, {"text": "It is done."}], turn_hook=hook) as server:
        env = {"PATH": os.environ.get("PATH", ""), "HOME": home, "LANG": "C.UTF-8", "IS_SANDBOX": "1", "ANTHROPIC_BASE_URL": server.address,
               "ANTHROPIC_API_KEY": "sk-fake", "OPENAI_API_KEY": "sk-fake", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
               "DISABLE_AUTOUPDATER": "1"}
        start = time.monotonic()
        process = subprocess.Popen([program(agent), *words(agent, server.address)], env=env, cwd=project, stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        seen["pid"] = process.pid
        try:
            process.communicate(b"Run the command true, then end.", PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    shutil.rmtree(folder, ignore_errors=True)
    return (1000 * (seen["first"] - start), seen["memory"]) if "memory" in seen else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short, rough run")
    rounds = 2 if parser.parse_args().quick else 7
    figures = {}
    print(f"The first request, and memory at the second, {rounds} rounds, one after the other")
    print(f"{'':24}{'first request, ms':>20}{'memory, KiB':>14}")
    runs = {agent: [] for agent in ("builtin", "claude", "codex")}
    for agent in [agent for agent in runs if not program(agent)]:
        print(f"  {agent}: not measured, it is not installed (tests/agents/install)")
        del runs[agent]
    for _ in range(rounds):
        for agent, found in runs.items():
            found.append(measure(agent))
    for agent, found in runs.items():
        found = [one for one in found if one]
        if not found:
            print(f"  {agent}: not measured, it made no second request")
            continue
        figures[agent] = (statistics.median(one[0] for one in found), statistics.median(one[1] for one in found))
        print(f"  {agent:22}{figures[agent][0]:20.1f}{figures[agent][1]:14.0f}")
    own = figures.pop("builtin", None)
    for agent, (ms, kib) in figures.items():
        if own:
            less, sooner = kib / own[1], ms / own[0]
            print(f"  {agent} / builtin: memory {less:.0f}x (goal: {LESS}x, {'met' if less >= LESS else 'missed'}), "
                  f"first request {sooner:.0f}x (goal: {SOONER}x, {'met' if sooner >= SOONER else 'missed'})")
    print()


if __name__ == "__main__":
    main()
