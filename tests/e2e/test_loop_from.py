"""Loops that begin with the result of another loop, or with two results that are merged."""

import json
import os
import signal

from harness import cases, equal, expect, kernel, lacks, timeout
from harness import contains as holds
from harness.edits import difference, listing
from harness.gitrepo import Repository
from harness.loop import ENDED, Loop, is_stopped, kill, name_of, until


def contains(text, *parts):
    for part in parts:
        holds(text, part)


def begin(t, git=True, **files):
    loop = Loop(t)
    for name, text in {"text": "1\n2\n3\n4\n5\n6\n7\n", "gone": "gone\n", **files}.items():
        loop.write(name, text)
    return (loop, Repository(t, loop.project).filled()) if git else loop


def work(loop, script, *words, check="true", code=0):
    """Runs a loop whose agent is this script; returns its id."""
    result = loop.ringfence("run", "make it", "--agent-command", f"cat >/dev/null; {script}", "--check", check,
                            "--draft-kind", getattr(loop, "kind", "auto"), *words)
    equal(result.code, code, "exit status of run", result)
    loop.told = result.out + result.err
    loop.ident = None
    loop.ident = loop.status()["id"]
    return loop.ident


def shown(loop, ident, *paths):
    """The files of a draft, as a command in it sees them."""
    result = loop.ringfence("exec", "--in", ident, "--", "sh", "-c", 'for f; do echo "$f: $(cat "$f" 2>&1)"; done', "sh", *paths)
    equal(result.code, 0, "exit status of exec --in", result)
    return result.out


@cases(("git", "overlay"), ("plain", "overlay"), ("git", "copy"), ("plain", "copy"))
def test_a_loop_begins_with_the_result_of_another_one(t, repository, kind):
    loop = begin(t)[0] if repository == "git" else begin(t, git=False)
    loop.kind = kind
    before = listing(loop.project)
    first = work(loop, "echo one >one; rm gone; mkdir -p a/b; echo deep >a/b/c; chmod 700 a/b; sed -i s/1/first/ text", check="test -f one")
    second = work(loop, "test -f one && ! test -e gone && echo two >two", "--from", first, check="test -f two")
    contains(shown(loop, second, "one", "two", "text", "a/b/c"), "one: one\ntwo: two\ntext: first\n2", "a/b/c: deep")
    contains(shown(loop, second, "gone"), "No such file")
    equal(difference(before, listing(loop.project)), "", "changes in the project")
    contains(loop.ringfence("diff", "--stat").out, "two | 1 +", "1 changed")
    apply = loop.ringfence("apply", second)
    equal(apply.code, 0, "exit status of apply", apply)
    for name, text in (("one", "one\n"), ("two", "two\n"), ("a/b/c", "deep\n")):
        with open(loop.path(name), encoding="utf-8") as file:
            equal(file.read(), text, name)
    expect(not os.path.exists(loop.path("gone")), "what the first loop deleted is gone")
    undo = loop.ringfence("apply", "--undo", second)
    equal(undo.code, 0, "exit status of undo", undo)
    equal(difference(before, listing(loop.project)), "", "changes after the undo")


def test_its_branch_continues_the_other_one_and_the_agent_has_a_clean_work_tree(t):
    loop, repo = begin(t)
    first = work(loop, "echo one >one; git add one; git commit -qm first", check="test -f one")
    second = work(loop, "git status --short >/tmp/status; test ! -s /tmp/status && git log -1 --format=%s | grep -qx first && echo two >two",
                  "--from", first, check="test -f two")
    equal(repo.git("merge-base", f"ringfence/{first}", f"ringfence/{second}"), repo.git("rev-parse", f"ringfence/{first}"), "the base of the branch")
    equal(repo.git("diff", "--name-only", f"ringfence/{first}", f"ringfence/{second}"), "two", "the change in the branch")


def test_without_a_commit_of_the_other_one_it_continues_what_that_began_with(t):
    loop, repo = begin(t)
    first = work(loop, "echo one >one", check="test -f one")
    second = work(loop, "true", "--from", first, check="true")
    third = work(loop, "echo three >three", "--from", second, check="test -f three")
    equal(repo.git("diff", "--name-only", f"ringfence/{first}", f"ringfence/{third}"), "three", "the change in the branch")


@cases("overlay", "copy")
def test_ignored_files_come_with_it(t, kind):
    loop, _ = begin(t, **{".gitignore": "built/\n"})
    loop.kind = kind
    first = work(loop, "mkdir built; echo made >built/it", check="test -f built/it")
    second = work(loop, "echo more >>built/it; echo two >two", "--from", first, check="test -f two")
    contains(shown(loop, second, "built/it"), "made\nmore")
    contains(shown(loop, first, "built/it"), "made")
    lacks(shown(loop, first, "built/it"), "more")


def test_edits_of_the_user_after_the_first_loop_stay(t):
    loop = begin(t, git=False)
    first = work(loop, "echo one >one", check="test -f one")
    loop.write("text", "1\n2\n3\n4\n5\n6\nuser\n")
    second = work(loop, "sed -i s/1/agent/ text; echo two >two", "--from", first, check="test -f two")
    equal(loop.ringfence("apply", second).code, 0, "exit status of apply")
    with open(loop.path("text"), encoding="utf-8") as file:
        equal(file.read(), "agent\n2\n3\n4\n5\n6\nuser\n", "both edits")


def test_pinned_files_are_those_of_the_user_whatever_the_first_loop_made_of_them(t):
    loop, _ = begin(t, **{"check.sh": "test -f wanted\n"})
    first = work(loop, "echo true >check.sh; echo one >one", "--max-iterations", "1", check="sh check.sh", code=2)
    second = work(loop, "echo two >two", "--from", first, "--max-iterations", "1", check="sh check.sh", code=2)
    contains(loop.ringfence("logs", "--checks", second).out + loop.told, "check 'sh check.sh' fails")
    third = work(loop, "echo wanted >wanted", "--from", second, check="sh check.sh")
    contains(shown(loop, third, "one", "two", "wanted"), "one: one\ntwo: two\nwanted: wanted")


def test_a_draft_of_another_kind_is_refused(t):
    loop, _ = begin(t)
    first = work(loop, "echo one >one", "--draft-kind", "copy", check="test -f one")
    result = loop.ringfence("run", "make it", "--agent-command", "true", "--check", "true", "--from", first, "--draft-kind", "overlay")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is of the kind 'copy', and this one is of the kind 'overlay' (to choose: --draft-kind copy)")
    equal(len(json.loads(loop.ringfence("status", "--json").out)["loops"]), 1, "loops")


def test_secrets_stay_hidden_and_whole_in_a_chain_of_copies(t):
    loop = begin(t, git=False, **{".env": "SECRET=1\n"})
    loop.kind = "copy"
    first = work(loop, "echo one >one; cat .env >leak 2>&1", check="test -f one")
    second = work(loop, "echo two >two; cat .env >>leak 2>&1", "--from", first, check="test -f two")
    lacks(shown(loop, second, "leak", "one"), "SECRET=1")
    equal(loop.ringfence("apply", second).code, 0, "exit status of apply")
    with open(loop.path(".env"), encoding="utf-8") as file:
        equal(file.read(), "SECRET=1\n", "the secret of the user")


# Two results

@cases("overlay", "copy")
def test_changes_that_do_not_conflict_are_merged_and_verified_without_an_agent(t, kind):
    loop, repo = begin(t)
    loop.kind = kind
    first = work(loop, "sed -i s/1/first/ text; echo one >one", check="test -f one")
    second = work(loop, "sed -i s/7/second/ text; echo two >two; rm gone", check="test -f two")
    merged = work(loop, "echo never >never", "--from", first, "--with", second, check="test -f one && test -f two && ! test -f never")
    contains(loop.told, "every rule already holds; nothing was started")
    contains(shown(loop, merged, "text"), "text: first\n2\n3\n4\n5\n6\nsecond")
    equal(repo.git("show", f"ringfence/{merged}:text"), "first\n2\n3\n4\n5\n6\nsecond", "the file in the branch")
    equal(repo.git("diff", "--name-status", f"ringfence/{first}", f"ringfence/{merged}").split(), ["D", "gone", "M", "text", "A", "two"], "the change in the branch")
    contains(repo.git("log", "-1", "--format=%B", f"ringfence/{merged}"), f"The work of {second}, merged into that of {first}.")


def test_the_agent_resolves_conflicts_and_is_told_about_them(t):
    loop, _ = begin(t)
    first = work(loop, "sed -i s/3/first/ text; echo a >both; echo one >one; rm gone", check="test -f one")
    second = work(loop, "sed -i s/3/second/ text; echo b >both; echo two >two; echo more >>gone", check="test -f two")
    merged = work(loop, "cp text before; cp both both.before; echo resolved >text; echo done >done", "--from", first, "--with", second, check="true")
    contains(loop.told, "conflicts for the agent to resolve", "running the agent")
    contains(shown(loop, merged, "before"), f"<<<<<<< the work so far\nfirst\n=======\nsecond\n>>>>>>> {second}")
    contains(shown(loop, merged, "both.before"), "<<<<<<< the work so far\na\n=======\nb\n>>>>>>>")
    contains(shown(loop, merged, "gone"), "No such file")
    with open(os.path.join(loop.folder, "iterations/1/prompt.md"), encoding="utf-8") as file:
        contains(file.read(), "# Merge", "- both changed text\n", "- both added both\n", f"- the work so far deleted gone, which {second} changed\n")


@cases(("--from", "20260102-030405-zzzz"), ("--with", "20260102-030405-zzzz"), ("--loop-id", "../x"), ("--loop-id", "20260102-030405-ABCD"))
def test_wrong_loops_are_refused_in_words(t, option, value):
    loop, _ = begin(t)
    result = loop.ringfence("run", "make it", "--agent-command", "true", "--check", "true", option, value)
    equal(result.code, 125, "exit status", result)
    contains(result.err, {"--from": "there is no loop '20260102-030405-zzzz'", "--with": "add --from LOOP", "--loop-id": "is not a valid id of a loop"}[option])
    equal(json.loads(loop.ringfence("status", "--json").out)["loops"], [], "loops")
    equal([name for name in os.listdir(os.path.join(t.state, "loops")) if name[0] != "."] if os.path.isdir(os.path.join(t.state, "loops")) else [], [],
          "folders of loops")


def test_a_loop_of_another_project_or_in_place_or_at_work_is_refused(t):
    loop, _ = begin(t)
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    other = Loop(t, name="other")
    elsewhere = work(other, "echo one >one", check="test -f one")
    placed = work(loop, "echo one >one", "--workspace", "in-place", check="test -f one")
    busy = loop.ringfence("run", "make it", "--detach", "--write", outside, "--check", f"test -f {outside}/go",
                          "--agent-command", f"touch {outside}/here; sh agent.sh; while [ ! -f {outside}/go ]; do sleep 0.01; done").out.splitlines()[-1]
    until("its agent", lambda: os.path.exists(os.path.join(outside, "here")))
    for ident, words in ((elsewhere, "has no draft of"), (placed, "has no draft of"), (busy, "is still running")):
        result = loop.ringfence("run", "make it", "--agent-command", "true", "--check", "true", "--from", ident)
        contains(result.err, words)
        expect(result.code != 0, "it is refused", result)
    open(os.path.join(outside, "go"), "w", encoding="utf-8").close()
    loop.ident = busy
    loop.ended()


def test_an_id_is_used_once(t):
    loop, _ = begin(t)
    ident = "20260102-030405-abcd"
    work(loop, "echo one >one", "--loop-id", ident, check="test -f one")
    equal(loop.ident, ident, "the id of the loop")
    again = loop.ringfence("run", "make it", "--agent-command", "true", "--check", "true", "--loop-id", ident)
    equal(again.code, 125, "exit status", again)
    contains(again.err, f"the loop {ident} exists already")


def stopped():
    """The snapshots that stopped at the fault point."""
    return [pid for pid, _ in kernel.descendants_of(os.getpid()) if name_of(pid) == "ringfence-snaps" and is_stopped(pid)]


def cut_off(t, loop, point, words):
    """Kills a start and its task at this fault point. Returns false if the start passes it; the loop then goes on."""
    starter = t.start([t.ringfence, *words], cwd=loop.project, env=t.env(RINGFENCE_SNAPSHOT_FAULT=f"{point},stop"))
    while True:
        found = until("a stopped task or the end", lambda: stopped() or (starter.poll() is not None and loop.said()["status"] in ENDED and ["end"]))
        if found == ["end"]:
            return False
        if found[0] in [pid for pid, _ in kernel.children_of(starter.pid)]:
            kill(starter.pid)
            kill(found[0])
            starter.wait()
            until("the end of the task", lambda: not stopped())
            return True
        os.kill(found[0], signal.SIGCONT)
        until("that it goes on", lambda: not is_stopped(found[0]))  # noqa: B023


@timeout(300)
@cases("--from", "--with")
def test_a_start_that_is_killed_anywhere_leaves_nothing_and_can_be_repeated_with_its_id(t, kind):
    loop, _ = begin(t)
    first = work(loop, "sed -i s/1/first/ text; echo one >one", check="test -f one")
    second = work(loop, "sed -i s/7/second/ text; echo two >two", check="test -f two")
    loop.ident = "20260102-030405-abcd"
    words = ["run", "make it", "--agent-command", "cat >/dev/null; echo two >two", "--check", "test -f one && test -f two", "--detach",
             "--loop-id", loop.ident, "--from", first, *(("--with", second) if kind == "--with" else ())]
    killed = 0
    while cut_off(t, loop, killed + 1, words):
        killed += 1
        equal(len(json.loads(loop.ringfence("status", "--json").out)["loops"]), 2, "loops after a kill")
    loop.ended("completed")
    expect(killed >= (8 if kind == "--with" else 1), "the start was killed at each of its fault points", killed)
    contains(shown(loop, loop.ident, "one", "two"), "one: one\ntwo: two")
    equal([name for name in os.listdir(os.path.join(t.state, "loops")) if name.startswith(".making") or name.startswith(".new")], [], "notes")
