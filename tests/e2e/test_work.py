"""Work lists: each task in a loop of its own, verified, and landed one by one."""

import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess

from harness import cases, contains, each_identity, equal, expect, lacks, timeout
from harness.batch import Batch, task
from harness.edits import difference, listing
from harness.gitrepo import Repository
from harness.loop import kill, until

ANY_IDENTITY = "A batch starts loops as their user does; who that is makes no difference to it."

PRD = """{
  "project": "p", "userStories": [
    {"id": "US-1", "title": "One", "description": "!(echo 1 >one)!", "passes": false, "priority": 2},
    {"id": "US-2", "title": "Two", "description": "!(cp one two)!", "dependsOn": ["US-1"], "passes":false}
  ]
}
"""


def begin(t, tasks, git=True, **files):
    batch = Batch(t, tasks, **files)
    if git:
        Repository(t, batch.project).filled()
    return batch


def drafts(batch):
    """The loops of a batch that have a draft."""
    return [data["loop"] for _, data in batch.events("begun") if "draft" in " ".join(os.listdir(os.path.join(batch.t.state, "loops", data["loop"])))]


# ---- reading ----

def test_a_list_is_shown_as_it_is_read_with_what_was_left_out(t):
    batch = begin(t, "- [ ] T1: one\n  - [ ] inner\n- [x] T2: two (depends on T1)\n# Nice to have\n- [ ] three\n")
    shown = batch.work("--list", "TASKS.md")
    equal(shown.code, 0, "exit status", shown)
    for text in ("TASKS.md (markdown)", "[ ] T1: one", "[x] T2: two", "after T1", "1 open task in an optional section", "2 tasks, 1 of them done"):
        contains(shown.out, text, "the list")
    read = json.loads(batch.work("--list", "TASKS.md", "--json").out)
    equal([(item["id"], item["done"], item["depends"]) for item in read["tasks"]], [("T1", False, []), ("T2", True, ["T1"])], "tasks")


@cases(((), "  tasks     2 at once; US$ 5 each, and all together US$ 25 (--jobs, --task-cost, --max-cost)\n"),
       (("--upstream", "openai=local:http://127.0.0.1:1"), "  tasks     2 at once (--jobs)\n"))
def test_limits_of_money_are_announced_where_models_cost_something(t, words, said):
    contains(begin(t, "- [ ] T1: one !(echo 1 >one)!\n").run(*words).out, said, "what is announced")


@cases(("TASKS.md", "- [ ] a (depends on T9)\n- [ ] T9: b (depends on #1)\n", "the dependencies form a circle"),
       ("TASKS.md", "nothing\n", "the list has no tasks"),
       ("x.json", "{", "invalid JSON"),
       ("x.yml", "- title: a\n  depends: b\n", "which is not in the list"),
       ("gone.md", None, "read the list 'gone.md'"))
def test_a_list_that_cannot_be_run_is_refused(t, name, text, why):
    batch = begin(t, "")
    if text is not None:
        batch.write(name, text)
    result = batch.work(name, "--check", "true", "--agent-command", "true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, why, "the reason")
    equal(batch.work("--show").code, 125, "there is no batch")


@cases(("--jobs", "0"), ("--jobs", "x"), ("--rounds", "1000"), ("--task-cost", "much"), ("--tasks", "TASKS.md"), ("--workspace", "in-place"))
def test_options_that_make_no_sense_are_refused(t, option, value):
    batch = begin(t, task("T1", "true"))
    result = batch.run(option, value, code=125)
    contains(result.err, option, "the reason")


@cases(
    ("--dry-run is for --apply", "--dry-run"),
    ("--yes is for --apply", "--yes"),
    ("use only one of", "--show", "--abort"),
    ("use only one of", "--list", "--pause"),
    ("something to compare", "--compare"),
)
def test_options_that_say_nothing_together_start_nothing(t, why, *options):
    batch = begin(t, task("T1", "true"))
    result = batch.run(*options, code=125)
    contains(result.err, why, "the reason")
    equal(batch.work("--show").code, 125, "there is no batch")


# ---- running ----

@each_identity
def test_tasks_run_in_their_order_land_and_are_applied_with_ticks(t):
    batch = begin(t, "# List\r\n\r\n" + task("T1", "echo one >one; git add one; git commit -qm one") + "text\n"
                  + task("T2", "cat one >two; echo two >>two", " (depends on T1)") + task("T3", "echo three >three") + "- [x] old\n")
    before = listing(batch.project)
    told = batch.run("--jobs", "2")
    contains(told.out, "3 tasks", "the beginning")
    contains(told.out, "4 of 4 tasks done", "the end")
    equal(difference(before, listing(batch.project)), "", "changes in the project")
    equal(set(batch.steps().values()), {"landed"}, "steps")
    landed = [data["task"] for _, data in batch.events("landed")]
    equal(sorted(landed), ["T1", "T2", "T3"], "each task landed once")
    equal(drafts(batch), [batch.show()["tip"]], "loops whose draft is there")
    expect(landed.index("T1") < landed.index("T2"), "T1 landed before T2", landed)
    batch.apply()
    equal(batch.read("two"), "one\ntwo\n", "the second task's file")
    equal(batch.read("three"), "three\n", "the third task's file")
    with open(batch.path("TASKS.md"), "rb") as file:
        text = file.read()
    equal(text.count(b"- [x]"), 4, "ticks")
    equal(text.replace(b"- [x] T", b"- [ ] T"), b"# List\r\n\r\n" + (task("T1", "echo one >one; git add one; git commit -qm one") + "text\n"
          + task("T2", "cat one >two; echo two >>two", " (depends on T1)") + task("T3", "echo three >three") + "- [x] old\n").encode(),
          "everything but the ticks")
    contains(batch.apply().err + batch.work("--show").out, "4 of 4 tasks done", "applied twice")


def test_commits_of_all_tasks_are_in_the_branch_of_the_last_loop(t):
    batch = begin(t, task("T1", "echo one >one; git add one; git commit -qm first") + task("T2", "echo two >two; git add two; git commit -qm second"))
    batch.run("--jobs", "1", "--keep-drafts")
    equal(len(drafts(batch)), 2, "drafts that are kept")
    tip = batch.show()["tip"]
    log = t.run(["git", "log", "--format=%s", f"ringfence/{tip}"], cwd=batch.project).out.split("\n")
    for subject in ("first", "second"):
        contains(log, subject, "the commits")


def test_the_agent_cannot_tick_the_list(t):
    batch = begin(t, task("T1", "sed -i s/\\[.\\]/[x]/ TASKS.md; echo y >TASKS.md; mv TASKS.md moved; echo one >one") + task("T2", "exit 1"))
    before = batch.read("TASKS.md")
    batch.run("--max-iterations", "1", code=1)
    equal(batch.steps(), {"T1": "landed", "T2": "failed"}, "steps")
    batch.apply()
    equal(batch.read("one"), "one\n", "the work of the task")
    equal(batch.read("TASKS.md"), before.replace("- [ ] T1", "- [x] T1"), "the list")


def test_a_task_that_fails_ends_only_those_that_depend_on_it_and_can_be_tried_again(t):
    switch = os.path.join(t.outside, "switch")
    batch = begin(t, task("T1", f"test -e {switch} && echo one >one") + task("T2", "cp one two", " (depends on T1)")
                  + task("T3", "cp two three", " (depends on T2)") + task("T4", "echo four >four"))
    result = batch.run("--max-iterations", "1", "--read", t.outside, code=1)
    equal(batch.steps(), {"T1": "failed", "T2": "waiting", "T3": "waiting", "T4": "landed"}, "steps")
    contains(result.out, "1 task failed, and 2 depend on it", "the end")
    contains(result.out, "cut off", "the table")
    equal(batch.work("--retry", "T4").code, 125, "exit status of a retry of a task that is done")
    equal(batch.work("--retry", "nobody").code, 125, "exit status of a retry of no task")
    with open(switch, "w", encoding="utf-8"):
        pass
    again = batch.work("--retry", "T1")
    equal(again.code, 0, "exit status of the retry", again)
    batch.ended("completed")
    equal(set(batch.steps().values()), {"landed"}, "steps")
    batch.apply()
    equal(batch.read("three"), "one\n", "the last file")
    equal(batch.read("four"), "four\n", "what was done before")


def test_a_list_that_is_done_is_no_failure_and_tasks_that_wait_to_be_applied_are_not_done_twice(t):
    batch = begin(t, task("T1", "echo x >>one"))
    batch.run()
    refused = batch.run(code=125)
    contains(refused.err, "1 task of the list is done in batch", "the reason")
    batch.run("--again")
    batch.apply()
    contains(batch.work("--show").out, "the result is applied", "the batch")
    equal(batch.read("one"), "x\n", "the result")
    contains(batch.run().out, "every task of the list is done", "a list that is done")


def test_a_summary_is_a_page_of_its_own_in_which_the_list_is_only_text(t):
    batch = begin(t, task("T1", "exit 1", " <script>alert(1)</script>\u202e") + task("T2", "echo two >two"))
    page = os.path.join(t.outside, "page.html")
    batch.run("--max-iterations", "1", "--summary", page, code=1)
    text = t.read(page)
    failed = batch.tasks()["T1"]
    for part in ("1 of 2 tasks done, 1 failed", "&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}", "the only iteration is used up",
                 f"ringfence logs {failed['loop']}", "<code>ringfence work --apply ", "color-scheme:light dark", "default-src 'none'"):
        contains(text, part, "the page")
    for part in ("<script", "\u202e", "src=", "href="):
        lacks(text, part, "the page")
    os.unlink(page)
    equal(batch.work("--show", "--summary", page).code, 0, "exit status of show")
    equal(t.read(page), text, "the page of the same batch")
    for words in (("--pause",), ("--list", "TASKS.md"), ("TASKS.md", "--detach")):
        refused = batch.work(*words, "--summary", page)
        equal(refused.code, 125, f"exit status of {words}", refused)
        contains(refused.err, "--summary is for --show", "the reason")


def test_old_batches_are_removed_with_their_loops_but_not_while_a_task_waits(t):
    agent = "cat >/dev/null; echo '<blocked>wait</blocked>'"
    batch = begin(t, task("T1", "echo one >one"))
    batch.run(agent=agent, code=3)
    loop = batch.tasks()["T1"]["loop"]
    cleaned = batch.loop.ringfence("clean", "--older", "1s", "--yes")
    equal(cleaned.code, 0, "exit status of clean", cleaned)
    expect(os.path.exists(os.path.join(t.state, "loops", loop)), "the loop that waits is there")
    refused = batch.loop.ringfence("clean", loop, "--yes")
    equal(refused.code, 125, "exit status of clean with its id", refused)
    contains(refused.err, "needed by a batch", "the reason")
    equal(batch.work("--abort").code, 0, "exit status of abort")
    ident = batch.show()["id"]
    removed = ""

    def clean():
        nonlocal removed
        removed += batch.loop.ringfence("clean", "--older", "1s", "--yes", "--json").out
        return ident in removed and loop in removed

    until("both are older than a second", clean)
    equal((os.listdir(os.path.join(t.state, "batches")), os.path.exists(os.path.join(t.state, "loops", loop))), ([], False), "what is left")


def test_a_project_without_git_works_as_well(t):
    batch = begin(t, task("T1", "mkdir -p a; echo one >a/one") + task("T2", "echo two >two"), git=False)
    batch.run("--jobs", "2")
    batch.apply()
    equal((batch.read("a/one"), batch.read("two")), ("one\n", "two\n"), "files")


def test_tasks_that_name_the_same_files_do_not_run_at_once_and_low_numbers_begin_first(t):
    both = os.path.join(t.outside, "both")
    os.mkdir(both, 0o777)
    os.chmod(both, 0o777)
    code = f"mkdir {both}/run && rmdir {both}/run && echo x >>src/log"
    batch = begin(t, "")
    batch.write("list.yml", "\n".join(f"- id: {name}\n  prompt: do it !({code})!\n  files: [{files}]\n  priority: {priority}\n" for name, files, priority in
                                      (("a", "src/log", 3), ("b", "src", 2), ("c", "src/log", 1))))
    os.mkdir(batch.path("src"))
    batch.write("src/log", "")
    batch.name = "list.yml"
    batch.run("--jobs", "3", "--write", both)
    equal([data["task"] for _, data in batch.events("begun")], ["c", "b", "a"], "the order")
    batch.apply()
    equal(batch.read("src/log"), "x\nx\nx\n", "the file that all of them changed")
    contains(batch.read("list.yml"), "done: true", "the list")


def test_stories_of_a_prd_are_done_and_pass(t):
    batch = begin(t, "")
    batch.name = "prd.json"
    batch.write("prd.json", PRD)
    batch.run()
    batch.apply()
    equal(batch.read("two"), "1\n", "the second story's file")
    equal(batch.read("prd.json"), PRD.replace('"passes": false', '"passes": true').replace('"passes":false', '"passes":true'), "prd.json")


def test_a_task_may_have_a_model_of_its_own(t):
    batch = begin(t, "")
    batch.name = "list.yml"
    batch.write("list.yml", "- id: a\n  prompt: one\n- id: b\n  prompt: two\n  model: own\n")
    batch.run("--model", "usual", agent="echo '<promise>COMPLETE</promise>'")
    config = batch.events("created")[0][1]["config"]
    models = {task["id"]: config["templates"][task["template"]]["model"] for task in config["tasks"]}
    equal(models, {"a": "usual", "b": "own"}, "the model of each task's loops", config)


def test_a_task_may_have_an_agent_and_checks_of_its_own(t):
    batch = begin(t, "")
    batch.name = "list.yml"
    batch.write("list.yml", "- id: a\n  prompt: one\n  checks: test -f one\n- id: b\n  prompt: two\n  agent: codex\n")
    t.write(os.path.join(t.home, "bin/codex"), "#!/bin/sh\n", 0o755)
    env = t.env(PATH=f"{t.home}/bin:/usr/bin:/bin", CODEX_API_KEY="k")
    result = batch.run(agent="echo one >one; echo '<promise>COMPLETE</promise>'", env=env, code=125)
    contains(result.err, "Codex cannot log in", "the agent that cannot work")
    batch.write("list.yml", "- id: a\n  prompt: one\n  checks: test -f one\n- id: b\n  prompt: two\n  checks: test -f two\n  depends: a\n")
    result = batch.run("--max-iterations", "1", agent="echo one >one; echo '<promise>COMPLETE</promise>'", code=1)
    equal(batch.steps(), {"a": "landed", "b": "failed"}, "steps")
    failed = batch.tasks()["b"]
    contains(failed["reason"], "(change the limit with --max-iterations); 'test -f two' fails", "why it failed")
    equal([result.out.count(text) for text in (failed["reason"], f"see: ringfence logs {failed['loop']}")], [2, 2], "times that it is said: event and table")
    checks = json.loads(batch.loop.ringfence("history", batch.tasks()["b"]["loop"], "--json").out)["iterations"][-1]["checks"]
    equal([check["command"] for check in checks], ["true", "test -f two", "test -f one"], "the checks of the second task")


# ---- landing ----

def meeting(t, count=2):
    """A folder, and code with which an agent waits for the others: their loops begin with the same tip."""
    place = os.path.join(t.outside, "meeting")
    os.mkdir(place)
    os.chmod(place, 0o777)
    return place, f"echo >{place}/$$-$(cat /proc/sys/kernel/random/uuid); while test $(ls {place} | wc -l) -lt {count}; do sleep 0.05; done"


def test_results_that_conflict_go_back_to_their_agent(t):
    """Both tasks change the same line; the second one gets the conflict as data, and keeps both changes."""
    place, meet = meeting(t)
    change = f"if grep -q '<<<<<<<' f; then grep -q 'These conf[l]icts are left' $P && grep '^[ab]' f | sort >g && mv g f; else {meet}; echo %s >f; fi"
    batch = begin(t, task("T1", change % "a") + task("T2", change % "b"), f="0\n")
    result = batch.run("--jobs", "2", "--write", place)
    begun = [data for _, data in batch.events("begun")]
    equal(len(begun), 3, "loops", begun)
    other = "T1" if begun[2]["task"] == "T2" else "T2"
    equal([data for _, data in batch.events("conflicted")], [{"task": begun[2]["task"], "conflicts": [{"path": "f", "tasks": [other]}]}],
          "the file, and the task that has changed it as well")
    contains(result.out, f"{begun[2]['task']}: conflicts in f (with {other}); its agent resolves them", "the line")
    equal(begun[2]["merges"], begun[0 if begun[2]["task"] == begun[0]["task"] else 1]["loop"], "the loop that is merged")
    batch.apply()
    equal(batch.read("f"), "a\nb\n", "both changes")


def test_a_result_that_conflicts_with_changes_of_the_user_is_merged_by_them_and_then_ticked(t):
    batch = begin(t, task("T1", "echo agent >f; git commit -qam f"), f="0\n")
    batch.run()
    batch.write("f", "user\n")
    t.run(["git", "commit", "-qam", "mine"], cwd=batch.project)
    refused = batch.apply(code=1)
    shown = batch.show()
    contains(refused.out, f"(git merge ringfence/{shown['tip']}), and then: ringfence work --apply {shown['id']}", "the advice")
    lacks(refused.out, "ringfence apply", "the advice")
    contains(batch.read("TASKS.md"), "- [ ] T1", "the list")
    t.run(["git", "merge", f"ringfence/{shown['tip']}"], cwd=batch.project)
    batch.write("f", "both\n")
    t.run(["git", "commit", "-qam", "merged"], cwd=batch.project)
    batch.apply()
    equal(batch.read("f"), "both\n", "the file as the user has merged it")
    contains(batch.read("TASKS.md"), "- [x] T1", "the list")


def test_two_tasks_that_break_each_others_work_never_leave_the_tip_red(t):
    """Each one alone passes the check; together they do not, until the second agent repairs it."""
    check = "test ! -e a -o ! -e b -o -e both"
    place, meet = meeting(t)
    batch = begin(t, task("T1", f"{meet}; echo a >a; test ! -e b || touch both") + task("T2", f"{meet}; echo b >b; test ! -e a || touch both"))
    batch.run("--jobs", "2", "--keep-drafts", "--write", place, check=check)
    landed = [data["task"] for _, data in batch.events("landed")]
    equal(sorted(landed), ["T1", "T2"], "each task landed once")
    loops = {data["task"]: data["loop"] for _, data in batch.events("begun")}
    for name in landed:
        batch.shown(loops[name], "sh", "-c", check)
    batch.apply()
    expect(os.path.exists(batch.path("both")), "the second agent repaired it")


@cases(("test ! -e never", 2), ("test ! -e a -o ! -e b -o -e both", 3))
def test_a_merge_whose_final_checks_hold_needs_no_agent(t, final, agents):
    """If one fails, the agent is told that, and nothing about it."""
    place, meet = meeting(t)
    repair = "if grep -q 'A hidden che[c]k failed' $P; then touch both; else"
    batch = begin(t, "".join(task(name, f"{repair} {meet}; echo x >{file}; fi") for name, file in (("T1", "a"), ("T2", "b"))))
    batch.run("--jobs", "2", "--final-check", final, "--write", place)
    equal(batch.steps(), {"T1": "landed", "T2": "landed"}, "steps")
    ended = batch.events("ended")
    equal(len(ended), 3, "loops", ended)
    equal(sum(data["iterations"] for _, data in ended), agents, "times that an agent ran", ended)


def test_what_is_done_stays_checked_while_later_tasks_run(t):
    batch = begin(t, "")
    batch.name = "list.yml"
    batch.write("list.yml", "- id: a\n  prompt: '!(echo a >a)!'\n  checks: test -f a\n- id: b\n  prompt: '!(rm -f a; echo b >b)!'\n  checks: test -f b\n")
    batch.run("--jobs", "1", code=1)
    equal(batch.steps(), {"a": "landed", "b": "failed"}, "steps")


def test_a_result_that_is_merged_again_and_again_fails_at_the_most_rounds(t):
    place, meet = meeting(t)
    batch = begin(t, task("T1", f"{meet}; echo 1 >f") + task("T2", f"{meet}; echo 2 >f"), f="0\n")
    batch.run("--jobs", "2", "--rounds", "1", "--write", place, code=1)
    failed = [name for name, step in batch.steps().items() if step == "failed"]
    equal(len(failed), 1, "failed tasks")
    contains(batch.tasks()[failed[0]]["reason"], "other results landed first", "the reason")


# ---- money ----

PAID = """P=/tmp/prompt; cat >$P; echo '{"type":"cost","usd":1.5}'; sed -n 's/.*!(\\(.*\\))!.*/\\1/p' $P | head -n 1 | sh
echo '{"type":"final","text":"<promise>COMPLETE</promise>"}'"""


def test_all_tasks_together_never_get_more_than_the_limit(t):
    batch = begin(t, "".join(task(f"T{i}", f"echo {i} >f{i}") for i in range(4)))
    # An agent that has reported too high a cost is stopped at some moment: here, while it sleeps.
    sleep = """if grep -q '^T2:' $P && test ! -e slept; then touch slept; echo '{"type":"cost","usd":1.5}'; exec sleep 1000; fi"""
    agent = PAID.replace("; echo '{", f"; {sleep}; echo '{{", 1)
    result = batch.run("--jobs", "1", "--max-cost", "4", "--task-cost", "4", "--agent-format", "events", agent=agent, code=3)
    contains(result.out, "the limit of cost is reached", "the reason")
    shown = batch.show()
    equal(batch.steps(), {"T0": "landed", "T1": "landed", "T2": "held", "T3": "waiting"}, "steps")
    grants = [data["grant_nusd"] for _, data in batch.events("begun")]
    equal(grants, [4000000000, 2500000000, 1000000000], "what the loops may spend")
    equal(shown["spent_nusd"], sum(data["spent_nusd"] for _, data in batch.events("ended")), "the sum")
    more = batch.work("--resume", "--max-cost", "20")
    equal(more.code, 0, "exit status with more money", more)
    equal(set(batch.steps().values()), {"landed"}, "steps")


def test_a_task_that_is_tried_again_has_its_money_again_within_the_limit_of_all(t):
    """Its agent spends too much in the first try, and is done in the second one."""
    switch = os.path.join(t.outside, "switch")
    batch = begin(t, task("T1", "true"))
    agent = f"""cat >/dev/null; test -e {switch} || exec echo '{{"type":"cost","usd":1.5}}'
echo '{{"type":"cost","usd":0.5}}'; echo '{{"type":"final","text":"<promise>COMPLETE</promise>"}}'"""
    batch.run("--max-cost", "10", "--task-cost", "1", "--agent-format", "events", "--read", t.outside, agent=agent, code=1)
    with open(switch, "w", encoding="utf-8"):
        pass
    again = batch.work("--retry", "T1")
    equal(again.code, 0, "exit status of the retry", again)
    batch.ended("completed")
    equal([data["grant_nusd"] for _, data in batch.events("begun")], [1000000000, 1000000000], "what its loops may spend")
    equal(batch.show()["spent_nusd"], 2000000000, "what both have spent")


@cases("every process", "the batch's own processes")
def test_loops_without_a_limit_share_the_one_that_a_person_sets_after_a_kill(t, what):
    """They go on with the new limit, also if they have gone on meanwhile."""
    t.leftover_runs = True
    batch, _, switch = hanging(t, 2, "--max-cost", "none", "--task-cost", "none")
    if what == "every process":
        batch.kill_all()
    else:
        supervisor = batch.events("started")[-1][1]["pid"]
        with open(f"/proc/{supervisor}/stat", encoding="utf-8") as file:
            keeper = int(file.read().rsplit(")", 1)[1].split()[1])
        os.kill(supervisor, signal.SIGSTOP)  # it would start another keeper
        kill(keeper)
        kill(supervisor)
    until("the end of the supervisor", lambda: batch.show()["status"] == "interrupted")
    equal([data["grant_nusd"] for _, data in batch.events("begun")], [0, 0], "what the loops could spend")
    equal(batch.work("--resume", "--detach", "--max-cost", "6").code, 0, "exit status of resume")
    loops = [at["loop"] for at in batch.tasks().values()]
    equal([data["grant_nusd"] for _, data in batch.events("granted")], [3000000000, 3000000000], "what they may spend now")

    def limits():
        known = {loop["id"]: loop["limits"]["cost_nusd"] for loop in json.loads(batch.loop.ringfence("status", "--json").out)["loops"]}
        return [known[loop] for loop in loops] == [3000000000, 3000000000]

    until("both loops know it", limits)
    with open(switch, "w", encoding="utf-8"):
        pass
    batch.ended("completed")


# ---- a person ----

HANG = "touch begun; while test ! -e {switch}; do sleep 0.05; done; echo done >done"


def hanging(t, count=2, *words):
    switch = os.path.join(t.outside, "switch")
    batch = begin(t, "".join(task(f"T{i}", f"touch {i}; " + HANG.format(switch=switch).replace("done >done", f"done >d{i}")) for i in range(count)))
    ident = batch.detach("--jobs", "2", "--read", t.outside, *words)
    until("two loops at work", lambda: [data["loop"] for _, data in batch.events("begun") if os.path.exists(
        os.path.join(t.state, "loops", data["loop"], "draft/upper/begun"))][1:])
    return batch, ident, switch


def test_a_batch_is_paused_and_continued(t):
    batch, ident, switch = hanging(t, 3)
    equal(batch.work("--pause", ident).code, 0, "exit status of pause")
    with open(switch, "w", encoding="utf-8"):
        pass
    shown = batch.ended("paused")
    expect(batch.steps()["T2"] == "waiting", "the third task has not begun", shown)
    equal(shown["reason"], "by you", "the reason")
    t.all_gone()
    again = batch.work("--resume")
    equal(again.code, 0, "exit status of resume", again)
    equal(set(batch.steps().values()), {"landed"}, "steps")
    equal(batch.work("--resume").code, 125, "exit status of resume of a completed batch")


def test_a_pause_comes_before_the_next_start(t):
    """A request that arrives while a loop is being started is not behind those that could follow."""
    batch = begin(t, "".join(task(f"T{i}", f"echo {i} >f{i}") for i in range(3)))
    equal(batch.loop.ringfence("status").code, 0, "exit status of status, which makes the folder of loops")
    with open(os.path.join(t.state, "loops/.start"), "w", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        batch.detach("--jobs", "3")
        until("the start of a loop", lambda: batch.events("begun"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            folder = os.open(batch.folder, os.O_PATH)
            client.connect(f"/proc/self/fd/{folder}/control")
            os.close(folder)
            client.send(b'{"do": "pause"}')
            fcntl.flock(starting, fcntl.LOCK_UN)
            equal(json.loads(client.recv(1000)), {"ok": True}, "the answer")
    batch.ended("paused")
    equal(len(batch.events("begun")), 1, "loops that have begun")


@cases("empty", "a header")
def test_a_kill_while_the_journal_of_a_loop_is_created_leaves_no_damage(t, what):
    """SQLite makes the file, and writes its header, before the schema is there: the task gets another loop."""
    batch = begin(t, task("T0", "echo 0 >f0"))
    equal(batch.loop.ringfence("status").code, 0, "exit status of status, which makes the folder of loops")
    with open(os.path.join(t.state, "loops/.start"), "w", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        batch.detach()
        ((_, first),) = until("the start of a loop", lambda: batch.events("begun"))
        folder = os.path.join(t.state, "loops", first["loop"])
        until("its draft", lambda: os.path.isdir(os.path.join(folder, "draft")))
        batch.kill_all()
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "journal.db"))) as store:
        if what == "a header":
            store.execute("PRAGMA journal_mode=WAL")
    equal(os.path.getsize(os.path.join(folder, "journal.db")) > 0, what == "a header", "the file has bytes")
    equal(batch.work("--resume").code, 0, "exit status of resume")
    equal(batch.steps(), {"T0": "landed"}, "steps")


def test_a_batch_is_aborted_with_all_its_loops(t):
    batch, ident, _ = hanging(t, 3)
    aborted = batch.work("--abort", ident)
    equal(aborted.code, 0, "exit status of abort", aborted)
    t.all_gone()
    equal(batch.show()["status"], "aborted", "the status")
    equal(batch.steps(), {"T0": "failed", "T1": "failed", "T2": "waiting"}, "steps")
    equal(batch.work("--abort").code, 125, "exit status of abort of a batch that has ended")


def test_a_second_batch_of_the_project_is_refused(t):
    batch, ident, switch = hanging(t)
    contains(batch.run(code=125).err, f"batch {ident} of this project has not ended", "the reason")
    with open(switch, "w", encoding="utf-8"):
        pass
    batch.ended("completed")


def test_a_task_whose_loop_pauses_waits_for_a_person_while_others_go_on(t):
    batch = begin(t, task("T1", "echo one >one") + task("T2", "echo two >two"))
    agent = """P=/tmp/prompt; cat >$P; grep -q 'one >one' $P && test ! -e pay && echo '{"type":"auth","text":"no key"}' && exit 1
echo two >two; echo '{"type":"final","text":"<promise>COMPLETE</promise>"}'"""
    result = batch.run("--jobs", "1", "--agent-format", "events", agent=agent, code=3)
    equal(batch.steps(), {"T1": "held", "T2": "landed"}, "steps")
    contains(result.out, "1 task waits for you", "the reason")
    aborted = batch.work("--abort")
    equal(aborted.code, 0, "exit status of abort", aborted)
    equal(batch.steps()["T1"], "failed", "the task that waited")
    t.all_gone()


def test_a_batch_that_ended_is_not_tried_again_while_another_one_of_the_project_runs(t):
    """Both would work on the same folder, and be paid for."""
    batch = begin(t, task("T1", "exit 1"))
    batch.run("--max-iterations", "1", code=1)
    first = batch.show()["id"]
    switch = os.path.join(t.outside, "switch")
    batch.write("B.md", task("T2", HANG.format(switch=switch)))
    batch.name = "B.md"
    second = batch.detach("--read", t.outside)
    for words in (("--retry", "T1", first), ("--resume", first)):
        refused = batch.work(*words)
        equal(refused.code, 125, f"exit status of {words[0]}", refused)
        contains(refused.err, f"batch {second} of this project has not ended", "the reason")
    with open(switch, "w", encoding="utf-8"):
        pass
    until("the end of the second one", lambda: json.loads(batch.work("--show", "--json", second).out)["status"] == "completed")
    equal(batch.work("--retry", "T1", first, "--detach").code, 0, "exit status when the other one has ended")
    until("the end of the first one", lambda: json.loads(batch.work("--show", "--json", first).out)["status"] == "failed")


def test_of_two_batches_that_begin_at_once_one_is_refused(t):
    batch = begin(t, task("T1", "echo one >one"))
    words = [t.ringfence, "work", "TASKS.md", "--check", "true", "--agent-command", "sleep 1000", "--detach"]
    begun = [t.start(words, cwd=batch.project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(3)]
    codes = sorted(one.wait() for one in begun)
    equal(codes, [0, 125, 125], "exit statuses")
    equal(batch.work("--abort").code, 0, "exit status of abort")


def test_a_task_that_took_the_id_of_one_that_is_done_is_not_ticked(t):
    batch = begin(t, task("T1", "echo one >one") + task("T2", "echo two >two"))
    batch.run()
    text = "- [ ] T1: a new one\n" + task("T2", "echo two >two") + task("T3", "echo one >one")
    batch.write("TASKS.md", text)
    contains(batch.apply(code=1).err, "'T1' is another task now", "the reason")
    equal(batch.read("TASKS.md"), text.replace("- [ ] T2", "- [x] T2"), "the list")


def test_a_request_waits_for_a_supervisor_that_has_no_socket_yet(t):
    t.leftover_runs = True
    batch, _, switch = hanging(t)
    supervisor = batch.events("started")[-1][1]["pid"]
    os.unlink(os.path.join(batch.folder, "control"))
    asked = t.start([t.ringfence, "work", "--pause"], cwd=batch.project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kill(supervisor)
    equal(asked.wait(), 0, "exit status of pause")
    with open(switch, "w", encoding="utf-8"):
        pass
    batch.ended("paused")


def test_of_batches_that_began_in_the_same_second_the_newer_one_is_meant(t):
    batch = begin(t, task("T1", "echo one >one"))
    for letters in ("zzzz", "2222"):
        batch.run("--again")
        os.rename(batch.folder, os.path.join(t.state, "batches", f"20200101-000000-{letters}"))
    equal(batch.show()["id"], "20200101-000000-2222", "the newest one")


# ---- crashes ----

def test_a_batch_that_was_killed_before_it_was_written_is_not_there(t):
    batch = begin(t, task("T1", "echo one >one"))
    batch.run(code=137, env=t.env(RINGFENCE_FAULT="1"))
    equal(len(os.listdir(os.path.join(t.state, "batches"))), 1, "folders of batches")
    os.mkdir(os.path.join(t.state, "batches/20990101-000000-abcd"))
    with open(os.path.join(t.state, "batches/20990101-000000-abcd/journal.db"), "w", encoding="utf-8"):
        pass  # this one was killed even earlier
    equal(batch.work("--show").code, 125, "exit status of show")
    batch.run()
    equal(batch.steps(), {"T1": "landed"}, "steps")


FOUR = "".join(task(f"T{i}", f"echo $$ >>{{log}}/T{i}; echo {i} >f{i}; echo {i} >>all", " (depends on T0)" if i else "") for i in range(4))


def crash(t, name, *words, env=None):
    log = os.path.join(t.outside, name)
    os.mkdir(log)
    os.chmod(log, 0o777)
    batch = begin(t, FOUR.replace("{log}", log))
    agent = """P=/tmp/prompt; cat >$P; if grep -q 'conflicts are left' $P; then sed -i '/^[<=>]/d' all; else
sed -n 's/.*!(\\(.*\\))!.*/\\1/p' $P | head -n 1 | sh; fi; echo '<promise>COMPLETE</promise>'"""
    batch.ident = batch.detach("--jobs", "2", "--write", log, *words, agent=agent, env=env)
    return batch, log


def settled(batch, log):
    """Every task is done once and landed once."""
    batch.ended("completed")
    equal(sorted(data["task"] for _, data in batch.events("landed")), ["T0", "T1", "T2", "T3"], "landed tasks")
    batch.apply()
    equal(sorted(batch.read("all").split()), ["0", "1", "2", "3"], "lines of the file that all changed")
    equal([batch.read(f"f{i}") for i in range(4)], [f"{i}\n" for i in range(4)], "files")
    for i in range(4):
        with open(os.path.join(log, f"T{i}"), encoding="utf-8") as file:
            equal(len(file.readlines()), 1, f"times that an agent worked on T{i}")


@timeout(240)
@cases(*range(1, 14))
def test_a_batch_whose_supervisor_is_killed_at_any_event_is_the_same(t, number):
    t.leftover_runs = True
    for fault in (f"{number}w", f"{number}w+"):
        batch, log = crash(t, fault, env=t.env(RINGFENCE_FAULT=fault))
        settled(batch, log)
        batch.t.run(["sh", "-c", f"chmod -R u+rwx {batch.project}; rm -rf {batch.project}"])
        equal(len(events_of(batch, "started")), 1 if fault == "1w" else 2, f"supervisors at {fault}")
    t.all_gone()


def events_of(batch, kind):
    """Of a batch whose project may be gone."""
    batch.show = lambda: {"id": batch.ident}
    return batch.events(kind)


@timeout(240)
@cases(*range(2, 14, 3))
def test_a_batch_whose_processes_are_all_killed_is_continued_by_a_person(t, number):
    t.leftover_runs = True
    batch, log = crash(t, "all", env=t.env(RINGFENCE_FAULT=f"{number}bw"))
    until("the end of its processes", lambda: batch.show()["status"] == "interrupted")
    batch.kill_all()
    again = batch.work("--resume")
    equal(again.code, 0, "exit status of resume", again)
    lacks([data for _, data in batch.events("ended") if data["status"] != "completed"], "failed", "tasks that did not complete")
    settled_by_resume(batch)


def settled_by_resume(batch):
    equal(sorted(data["task"] for _, data in batch.events("landed")), ["T0", "T1", "T2", "T3"], "landed tasks")
    batch.apply()
    equal([batch.read(f"f{i}") for i in range(4)], [f"{i}\n" for i in range(4)], "files")


# ---- races ----

def test_the_first_candidate_that_is_verified_wins_and_the_others_are_stopped(t):
    """One of the three candidates finds the switch missing and makes it; the others wait for ever."""
    switch = os.path.join(t.outside, "shared")
    os.mkdir(switch)
    os.chmod(switch, 0o777)
    batch = begin(t, task("T1", f"mkdir {switch}/first 2>/dev/null && echo won >f || sleep 1000") + task("T2", "cp f g", " (depends on T1)"))
    result = batch.run("--jobs", "3", "--candidates", "3", "--write", switch)
    equal(len(re.findall(r"^  lost +T1#", result.out, re.M)), 2, "candidates that have lost, in the table")
    steps = batch.steps()
    equal(sorted(step for name, step in steps.items() if name.startswith("T1#")), ["landed", "lost", "lost"], "the candidates")
    equal(len([name for name, step in steps.items() if name.startswith("T2#") and step == "landed"]), 1, "winners of the second task")
    t.all_gone()
    batch.apply()
    equal(batch.read("g"), "won\n", "the result of both tasks")
    equal(batch.read("TASKS.md").count("- [x]"), 2, "ticks")


def test_candidates_are_compared_and_a_person_picks_one(t):
    batch = begin(t, task("T1", "cat /proc/sys/kernel/random/uuid >f"))
    result = batch.run("--jobs", "2", "--candidates", "2", "--compare", code=3)
    contains(result.out, "1 task waits for your choice", "the reason")
    equal(batch.work("--pick", "T1").code, 125, "exit status for what is no candidate")
    loop = batch.tasks()["T1#2"]["loop"]
    wanted = batch.shown(loop, "cat", "f")
    picked = batch.work("--pick", "T1#2")
    equal(picked.code, 0, "exit status", picked)
    batch.ended("completed")
    equal(batch.steps(), {"T1#1": "lost", "T1#2": "landed"}, "steps")
    batch.apply()
    equal(batch.read("f"), wanted, "the candidate's result")


@cases(("--candidates", "0"), ("--agents", "a,,b"), ("--agents", "codex,claude"))
def test_a_race_that_cannot_begin_is_refused(t, option, value):
    batch = begin(t, task("T1", "true"))
    result = batch.run(option, value, code=125)
    contains(result.err, "codex" if value == "codex,claude" else option, "the reason")


@cases(("T1#2", 125), ("T2#2", 0))
def test_an_id_that_a_candidate_would_have_as_well_is_refused(t, ident, code):
    batch = begin(t, "")
    batch.name = "list.yml"
    batch.write("list.yml", f"- id: '{ident}'\n  title: a\n  done: true\n- id: T1\n  title: '!(true)!'\n")
    result = batch.run("--candidates", "2", code=code)
    if code:
        contains(result.err, "'T1#2' would also be the id of a candidate of 'T1'", "the reason")
        batch.run()


def test_status_names_a_batch_that_has_not_ended_and_resume_all_continues_it(t):
    t.leftover_runs = True
    batch, ident, switch = hanging(t)
    contains(batch.loop.ringfence("status").out, f"batch {ident}: running, 0 of 2 tasks done", "status")
    refused = batch.loop.ringfence("tell", "Use tabs")
    equal(refused.code, 125, "exit status of tell without a loop", refused)
    contains(refused.err, "2 loops run in this project", "the reason")
    for name, at in batch.tasks().items():
        contains(" ".join(refused.err.split()), f"{at['loop']}: {name}: do it", "the loops")
    loop = batch.tasks()["T0"]["loop"]
    equal(batch.loop.ringfence("tell", loop, "Use tabs").code, 0, "exit status of tell with a loop")
    batch.kill_all()
    contains(batch.loop.ringfence("status").out, f"batch {ident}: interrupted", "status")
    with open(switch, "w", encoding="utf-8"):
        pass
    contains(batch.loop.ringfence("resume", "--all").out, f"batch {ident} continues", "resume --all")
    batch.ended("completed")
    contains(batch.loop.ringfence("status").out, f"batch {ident}: completed", "status when it has ended")


def test_a_batch_stands_for_its_loops_and_commands_for_loops_say_what_to_do_with_it(t):
    batch = begin(t, task("T1", "echo one >one") + task("T2", "exit 1"))
    batch.run("--max-iterations", "1", code=1)
    ident, loops = batch.show()["id"], {name: at["loop"] for name, at in batch.tasks().items()}
    ringfence = batch.loop.ringfence
    status = ringfence("status").out
    contains(status, f"batch {ident}: failed: 1 task failed, 1 of 2 tasks done", "status")
    contains(status, f"your project is unchanged until ringfence work --apply {ident}", "status")
    lacks(status, loops["T2"], "status")
    seen = json.loads(ringfence("status", "--json").out)
    equal(sorted((loop["batch"], loop["task"]) for loop in seen["loops"]), [(ident, "T1"), (ident, "T2")], "what the loops belong to")
    equal(json.loads(batch.work("--batches", "--json").out)["batches"], seen["batches"], "the batches")
    equal([(one["id"], one["landed"], one["lists"], one["applied"]) for one in seen["batches"]], [(ident, 1, ["TASKS.md"], False)], "the batches")
    contains(ringfence("status", loops["T2"]).out, f"for task T2 of a batch; your project is unchanged until ringfence work --apply {ident}", "status of a loop")
    for words, advice in ((["logs"], f"ringfence work --show {ident}"), (["history"], f"ringfence work --show {ident}"),
                          (["diff", "--loop"], f"ringfence diff 0 --loop {loops['T1']}"), (["diff"], f"ringfence diff 0 --loop {loops['T1']}"),
                          (["checkpoints"], f"ringfence checkpoints {loops['T1']}"), (["apply"], f"ringfence work --apply {ident}"),
                          (["resume"], f"ringfence work --resume {ident}"), (["clean"], "ringfence clean --older")):
        refused = ringfence(*words, ident)
        equal(refused.code, 125, f"exit status of {words}", refused)
        contains(refused.err, f"{ident} is a batch", f"the reason of {words}")
        contains(refused.err, advice, f"the advice of {words}")
    refused = ringfence("apply")
    equal(refused.code, 125, "exit status of apply without a loop", refused)
    contains(refused.err, f"ringfence work --apply {ident}", "the advice")
    batch.apply()
    contains(batch.work("--batches").out, "the result is applied", "the batches")
    equal(batch.work("--batches", ident).code, 125, "exit status with an id")


def test_a_blocked_agent_is_answered_and_its_task_goes_on(t):
    agent = """P=/tmp/prompt; cat >$P; if grep -q 'The word is' $P; then sed -n 's/.*The word is \\([a-z]*\\).*/\\1/p' $P | head -n 1 >f
echo '<promise>COMPLETE</promise>'; elif grep -q 'two >two' $P; then echo two >two; echo '<promise>COMPLETE</promise>'
else echo '<blocked>say the word</blocked>'; fi"""
    batch = begin(t, task("T1", "true") + task("T2", "echo two >two"))
    result = batch.run("--jobs", "1", agent=agent, code=3)
    contains(result.out, "T1: needs you: blocked", "the reason")
    contains(result.out, "say the word", "what the agent needs")
    equal(batch.steps(), {"T1": "held", "T2": "landed"}, "steps")
    loop = batch.tasks()["T1"]["loop"]
    contains(result.out, f"ringfence answer {loop} TEXT", "the next step")
    equal(batch.work("--resume").code, 3, "exit status of resume without an answer")
    equal(len(json.loads(batch.loop.ringfence("history", loop, "--json").out)["iterations"]), 1, "times that the agent was asked")
    answered = batch.loop.ringfence("answer", loop, "The word is hello")
    equal(answered.code, 0, "exit status of answer", answered)
    contains(answered.err, "ringfence work --resume", "how the batch goes on")
    again = batch.work("--resume")
    equal(again.code, 0, "exit status of resume", again)
    batch.apply()
    equal(batch.read("f"), "hello\n", "what the answer was used for")
