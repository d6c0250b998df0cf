"""A work list of which all processes are killed again and again: each task is done once, lands once, and is paid for once."""

import contextlib
import json
import os
import random
import sqlite3
import time

from harness import equal, expect, timeout
from harness.batch import Batch
from harness.gitrepo import Repository
from harness.provider import Provider, make_certificate
from harness.soak import ASK, KEY, LOOPS, SEED, Truth, account

TASKS = int(os.environ.get("RINGFENCE_TEST_TASKS") or min(60, 5 * LOOPS))
KILLS = TASKS // 2
JOBS = 3

AGENT = """P=/tmp/prompt; export P; cat >$P; python3 ask.py whole; code=$(sed -n 's/.*!(\\(.*\\))!.*/\\1/p' $P | head -n 1)
if grep -qs '^<<<<<<<' shared; then sed -i '/^[<=>]/d' shared; else sh -c "$code"; fi; case $? in 0) echo '<promise>COMPLETE</promise>';; 9) echo '<blocked>make a key</blocked>';; *) exit 1;; esac"""
ANSWER = "The key is made."


def fails(number):
    return number % 10 == 7


def is_blocked(number):
    """Its agent needs an answer before it can work."""
    return number % 10 == 3


def dependencies(number):
    return [number - step for step in (3, 4) if number % step == 1 and number >= step]


def code(number):
    if fails(number):
        return "false"
    # An iteration that is killed is repeated, on the work that it has left.
    share = f"grep -qx {number} shared || echo {number} >>shared; " if number % 5 == 0 else ""
    # The prompt has this line as well.
    ask = "grep -q 'The ke[y] is made' $P || exit 9; " if is_blocked(number) else ""
    return f"{ask}{share}echo {number} >f{number}"


def line(number):
    after = f" (depends on {', '.join(f'T{other}' for other in dependencies(number))})" if dependencies(number) else ""
    return f"- [ ] T{number}: do it{after} !({code(number)})!\n"


def expected():
    """The step of each task in the end."""
    steps = {}
    for number in range(TASKS):
        cut_off = any(steps[f"T{other}"] != "landed" for other in dependencies(number))
        steps[f"T{number}"] = "waiting" if cut_off else "failed" if fails(number) else "landed"
    return steps


def answer(batch, env):
    """Answers the agents that are blocked, each once; returns how many."""
    blocked = [task["loop"] for task in batch.show()["tasks"] if task["step"] == "held" and task["reason"].startswith("blocked")]
    for loop in blocked:
        result = batch.loop.ringfence("answer", loop, ANSWER, env=env)
        expect(result.code == 0 or "is not blocked" in result.err or "already running" in result.err, "it can be answered", result)
    return len(blocked)


def harass(batch, chance, env):
    """Kills everything at moments that chance decides, and continues; returns how many kills hit something."""
    struck = 0
    for _ in range(KILLS):
        time.sleep(chance.random() * chance.choice((0.1, 0.5, 1.5)))
        if batch.show()["status"] in ("completed", "failed"):
            break
        struck += batch.kill_all()
        answer(batch, env)
        result = batch.work("--resume", "--detach", env=env)
        expect(result.code == 0 or "has ended" in result.err or "completed" in result.err, "it can be continued", result)
    return struck


def charged(folder):
    """The lines of a loop's ledger: no more than one for each run of its agent, which makes one request."""
    path = os.path.join(folder, "ledger.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = [{**json.loads(text), "loop": folder} for text in file]
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "journal.db"))) as store:
        ((runs,),) = store.execute("SELECT count(*) FROM event WHERE kind = 'begun'")
    expect(len(lines) <= runs, "a run of the agent costs one request", (lines, runs))
    return lines


@timeout(1800)
def test_a_list_of_which_everything_is_killed_is_done_and_paid_for_once(t):
    t.leftover_runs = True
    chance = random.Random(SEED)
    truth = Truth(SEED)
    certificate = make_certificate(t.outside)
    provider = Provider(truth.answer, certificate)
    t.cleanups.append(provider.close)
    t.at_home(".config/ringfence/config.yml", f"upstream: [anthropic={provider.url}]\nupstream-ca: {certificate[0]}\n")
    batch = Batch(t, "".join(map(line, range(TASKS))), **{"ask.py": ASK.replace("range(2)", "range(1)"), "shared": "begin\n"})
    Repository(t, batch.project).filled()
    env = t.env(ANTHROPIC_API_KEY=KEY)
    none = [word for name in ("interrupted", "errors", "same-error", "no-progress") for word in (f"--max-{name}", "none")]
    batch.run("--detach", "--jobs", str(JOBS), "--rounds", "50", "-m", "2", "--max-cost", "none", "--task-cost", "none", *none, agent=AGENT, env=env)
    struck = harass(batch, chance, env)
    while batch.ended()["status"] == "paused":
        answer(batch, env)
        equal(batch.work("--resume", "--detach", env=env).code, 0, "exit status of resume")
    batch.ended("failed" if "failed" in expected().values() else "completed")
    equal(batch.steps(), expected(), "the steps")
    held = [data["task"] for _, data in batch.events("held") if "make a key" in data["reason"]]
    equal(sorted(set(held)), sorted(f"T{number}" for number in range(TASKS) if is_blocked(number) and expected()[f"T{number}"] == "landed"),
          "tasks that waited for an answer")
    landed = [data["task"] for _, data in batch.events("landed")]
    equal(sorted(landed), sorted(name for name, step in expected().items() if step == "landed"), "each task landed once")
    batch.apply()
    equal(sorted(batch.read("shared").split()[1:], key=int),
          [str(number) for number in range(0, TASKS, 5) if expected()[f"T{number}"] == "landed"], "what several tasks added to one file")
    lines = [line for _, data in batch.events("begun") for line in charged(os.path.join(t.state, "loops", data["loop"]))]
    spent = sum(data["spent_nusd"] for _, data in batch.events("ended"))
    equal(batch.show()["spent_nusd"], spent, "the sum of the batch")
    lost = account(spent, lines, truth, struck * JOBS)
    print(f"{struck} kills, {len(lines)} lines, {len(truth.requests)} requests, {lost} lost on their way")
