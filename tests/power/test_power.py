"""A power cut loses what was not synced. Nothing that Ringfence counts on is lost."""

import glob
import json
import os
import time

from harness import cases, contains, equal, expect, lacks, needs, root_only, timeout
from harness.disk import Disk
from harness.drafts import drafts
from harness.loop import Loop, is_stopped, until
from harness import kernel
from harness.provider import Provider, make_certificate, message, opus
from harness.repository import Repository

SCRIPT = {"all": "edit step-$N $N; git add -A && git commit -q --allow-empty -m step-$N || exit 3;"
                 " [ $N -lt 2 ] || edit done yes"}


def some(moments):
    """All of them, or as many as RINGFENCE_TEST_CUTS says, evenly spread."""
    most = int(os.environ.get("RINGFENCE_TEST_CUTS") or len(moments))
    step = max(1, -(-len(moments) // most))
    return moments[::step]


# Where the power is cut: before (N) or after (N+) the supervisor's event N, or at point N of the first
# ringfence-snapshot that gets so far.
EVENTS = [f"{number}{after}s" for number in range(1, 18) for after in ("", "+")]
POINTS = [f"{number},stop" for number in range(1, 17)]


def works(t):
    """The doctor finds nothing, and a fence has users."""
    result = t.run([t.ringfence, "doctor"])
    equal(result.code, 0, "exit status of doctor", result)
    contains(t.works("cat", "/etc/passwd"), "nobody:", "the users in a fence")


def stopped():
    return [pid for pid, _ in kernel.descendants_of(os.getpid()) if is_stopped(pid)]


def begin(t, workspace="draft"):
    """A disk with a repository of the user's and a loop in it, which commits."""
    disk = Disk(t)
    repository = Repository(t, t.project, {"readme": "hello\n", ".gitignore": "attack\n"},
                            user_name="A User", user_email="user@example.org")
    loop = Loop(t, scripts=SCRIPT, workspace=workspace)
    disk.sync()
    return disk, repository, loop


def finish(t, loop):
    """Resumes what was interrupted, and waits for its end."""
    status = loop.status()
    if status["status"] != "completed":
        result = loop.ringfence("resume")
        equal(result.code, 0, "exit status of resume", result)
        status = loop.ended("completed")
    return status


def whole(t, repository, loop):
    """Everything is there: files, commits, checkpoints, and the user's own repository is sound."""
    status = finish(t, loop)
    equal(status["used"], 2, "iterations that count")
    equal(status["git"].get("error"), None, "the error of git", status["git"])
    for name, text in (("step-1", "1\n"), ("step-2", "2\n"), ("done", "yes\n")):
        equal(loop.outcome(name), text, f"the file {name}")
    equal(t.read("readme"), "hello\n", "the user's file")
    branch = f"ringfence/{status['id']}"
    for name in ("step-1", "step-2"):
        equal(repository.git("show", f"{branch}:{name}"), name[-1], f"{name} in the branch")
    result = repository.try_git("fsck", "--full")
    equal((result.code, "error" in result.err), (0, False), "git fsck of the user's repository", result)
    result = loop.ringfence("rollback", "0", "--yes")
    equal(result.code, 0, "exit status of rollback", result)
    expect(not os.path.exists(loop.made("step-1")), "the rollback removes what the loop made", result)
    t.leftover_runs = False
    t.works("true")


@root_only
@needs("mkfs.ext4")
def test_the_users_of_a_fence_survive(t):
    disk = Disk(t)
    t.works("true")
    disk.commit()
    disk.cut()
    works(t)


@root_only
@needs("mkfs.ext4")
def test_a_completed_loop_survives(t):
    disk, repository, loop = begin(t)
    loop.detach()
    loop.ended("completed")
    disk.commit()
    disk.cut()
    equal(loop.status()["status"], "completed", "the status")
    whole(t, repository, loop)


@root_only
@needs("mkfs.ext4")
def test_the_work_of_a_loop_without_checkpoints_survives(t):
    disk, repository, loop = begin(t, workspace="in-place")
    loop.detach("--checkpoints=false")
    ident = loop.ended("completed")["id"]
    disk.commit()
    disk.cut()
    equal(loop.status()["status"], "completed", "the status")
    equal((t.read("step-1"), t.read("step-2"), t.read("done")), ("1\n", "2\n", "yes\n"), "the files")
    equal(repository.git("show", f"ringfence/{ident}:step-2"), "2", "the last commit")


@root_only
@needs("mkfs.ext4")
@timeout(180)
@cases(*some(EVENTS + POINTS))
def test_a_loop_goes_on_after_a_cut(t, where):
    disk, repository, loop = begin(t)
    variable = "RINGFENCE_SNAPSHOT_FAULT" if "stop" in where else "RINGFENCE_FAULT"
    started = t.start([t.ringfence, *loop.run_words("--detach")], env=t.env(**{variable: where}))
    until("the moment of the cut, or the end",
          lambda: stopped() or (started.poll() is not None and loop.status()["status"] == "completed"))
    disk.commit()
    disk.cut()
    if not json.loads(loop.ringfence("status", "--json").out)["loops"]:  # the base of its draft is saved before the loop is made
        loop.detach()
        loop.ended("completed")
    whole(t, repository, loop)


@root_only
@needs("mkfs.ext4")
def test_a_plant_is_found_after_a_cut_during_the_run(t):
    disk = Disk(t)
    disk.sync()
    t.fence_start("sh", "-c", "mkdir .vscode && echo '{}' > .vscode/tasks.json && sync .vscode/tasks.json"
                              " && touch planted && sleep 1000")
    until("the plant", lambda: t.exists("planted"))
    disk.commit()
    disk.cut()
    expect(t.exists(".vscode/tasks.json"), "the plant is on disk", os.listdir(t.project))
    t.works("true")
    expect(not t.exists(".vscode/tasks.json"), "the next start moves the plant", t.quarantined())
    expect(t.quarantined("tasks.json"), "the plant is in quarantine", t.quarantined())


# One request, as an agent makes it.
ASK = """
import json, os, urllib.request as u
body = json.dumps({"model": "claude-opus-5-5", "max_tokens": 100}).encode()
u.urlopen(u.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body,
                    {"x-api-key": os.environ["ANTHROPIC_API_KEY"]}))
"""


@root_only
@needs("mkfs.ext4")
def test_money_that_was_spent_stays_spent(t):
    disk = Disk(t)
    certificate = make_certificate(t.outside)
    provider = Provider(lambda request, _: message(input=10, output=5), certificate)
    t.cleanups.append(provider.close)
    t.at_home(".config/ringfence/config.yml",
              f"upstream: [anthropic={provider.url}]\nupstream-ca: {certificate[0]}\n")
    loop = Loop(t, scripts={"1": "python3 ask.py; if [ -e asked ]; then edit done yes; else edit asked x; hang; fi"})
    loop.write("ask.py", ASK)
    disk.sync()
    env = t.env(ANTHROPIC_API_KEY="sk-ant-0123456789abcdef")
    loop.detach(env=env)
    loop.there("asked")
    disk.commit()
    disk.cut()
    result = loop.ringfence("resume", env=env)
    equal(result.code, 0, "exit status of resume", result)
    status = loop.ended("completed")
    equal(len(provider.requests), 2, "requests")
    expect(status["spent_nusd"] >= 2 * opus(10, 5), "both requests are counted", status["spent_nusd"])
    t.works("true")


@root_only
@needs("mkfs.ext4")
def test_trust_survives_and_so_does_its_end(t):
    disk = Disk(t)
    t.write("ringfence.yml", "allow: [registry.example]\n")
    disk.sync()
    ask = [t.ringfence, "trust", "--list", "--json"]
    result = t.run([t.ringfence, "trust", "--yes"])
    equal(result.code, 0, "exit status of trust", result)
    disk.cut()
    agreed = t.run(ask)
    contains(agreed.out, t.project, "the agreement")
    result = t.run([t.ringfence, "untrust"])
    equal(result.code, 0, "exit status of untrust", result)
    disk.cut()
    gone = t.run(ask)
    lacks(gone.out, t.project, "agreements after untrust")


def applied(repository, wanted):
    """Is the whole commit in the user's branch, index and files? If not, nothing is."""
    new = repository.head() == wanted
    equal(repository.git("diff", "HEAD"), "", "files and index against HEAD")
    equal(repository.read("a"), b"two\n" if new else b"one\n", "the file a")
    equal(os.path.exists(repository.path("new")), new, "the new file is there")
    equal(os.path.exists(repository.path("gone")), not new, "the old file is gone")
    return new


@root_only
@needs("mkfs.ext4")
@cases(*some(range(1, 41, 3)))
def test_an_apply_is_whole_or_did_not_happen(t, point):
    disk = Disk(t)
    ignored = {".gitignore": "script\nagent.sh\ndone\nattack\n", "a": "one\n", "gone": "old\n"}
    repository = Repository(t, t.project, ignored, user_name="A User", user_email="user@example.org")
    loop = Loop(t, workspace="in-place", scripts={"all": "edit done yes"})
    loop.detach()
    branch = f"ringfence/{loop.ended('completed')['id']}"
    wanted = repository.commit(branch, {"a": "two\n", "new": "new\n", "gone": None})
    disk.sync()
    started = t.start([t.ringfence, "apply", "--yes"],
                      env=t.env(RINGFENCE_SNAPSHOT_FAULT=f"{point},stop"))
    until("the moment of the cut, or the end", lambda: stopped() or started.poll() is not None)
    done = started.poll() is not None
    disk.commit()
    disk.cut()
    if not os.path.exists(repository.path(".git/ringfence-apply")):
        expect(applied(repository, wanted) or not done, "an apply that has ended is there")
    result = loop.ringfence("apply", "--yes")
    equal(result.code, 0, "exit status of apply", result)
    expect(applied(repository, wanted), "the next apply finishes it", result)
    equal(repository.try_git("fsck", "--full").code, 0, "exit status of git fsck")


@root_only
@needs("mkfs.ext4")
@cases(*some(range(1, 41, 4)))
def test_a_rollback_is_finished_after_a_cut(t, point):
    disk = Disk(t)
    t.write("a", "one\n")
    t.write("gone", "old\n")
    loop = Loop(t, workspace="in-place", scripts={"all": "edit a two; edit new new; rm gone; edit done yes"})
    disk.sync()
    loop.detach()
    loop.ended("completed")
    started = t.start([t.ringfence, "rollback", "0", "--yes"],
                      env=t.env(RINGFENCE_SNAPSHOT_FAULT=f"{point},stop"))
    until("the moment of the cut, or the end", lambda: stopped() or started.poll() is not None)
    disk.commit()
    disk.cut()
    result = loop.ringfence("rollback", "0", "--yes")
    equal(result.code, 0, "exit status of rollback", result)
    equal((t.read("a"), t.read("gone"), t.exists("new")), ("one\n", "old\n", False), "the files")


@root_only
@needs("mkfs.ext4")
@cases(*some(range(1, 22, 2)))
def test_a_loop_in_its_own_work_tree_goes_on_after_a_cut(t, number):
    disk, repository, loop = begin(t)
    before = repository.head()
    repository.git("add", "-A")
    repository.git("commit", "-qm", "the agent's script")
    disk.sync()
    started = t.start([t.ringfence, *loop.run_words("--detach", "--worktree")],
                      env=t.env(RINGFENCE_FAULT=f"{number}s"))
    until("the moment of the cut, or the end",
          lambda: stopped() or (started.poll() is not None and loop.status()["status"] == "completed"))
    disk.commit()
    disk.cut()
    status = finish(t, loop)
    branch = f"ringfence/{status['id']}"
    for name, text in (("step-1", "1"), ("step-2", "2"), ("done", "yes")):
        equal(repository.git("show", f"{branch}:{name}"), text, f"{name} in the branch")
    expect(repository.head() != before and not t.exists("step-1"), "the user's own tree is untouched")
    result = repository.try_git("fsck", "--full")
    equal(result.code, 0, "exit status of git fsck", result)


@root_only
@needs("mkfs.ext4")
@cases(*some(range(1, 31, 4)))
def test_a_work_tree_that_a_cut_left_unfinished_is_in_nobodys_way(t, point):
    disk, repository, loop = begin(t)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "the agent's script")
    disk.sync()
    started = t.start([t.ringfence, *loop.run_words("--detach", "--worktree")],
                      env=t.env(RINGFENCE_SNAPSHOT_FAULT=f"{point},stop"))
    until("the moment of the cut, or the end",
          lambda: stopped() or (started.poll() is not None and loop.status()["status"] == "completed"))
    disk.commit()
    disk.cut()
    result = loop.run("--worktree", timeout=120)
    equal(result.code, 0, "exit status of another run", result)
    result = repository.try_git("fsck", "--full")
    equal(result.code, 0, "exit status of git fsck", result)
    equal(repository.status(), "", "git status of the user's own tree")


@root_only
@needs("mkfs.ext4")
def test_files_that_a_cut_emptied_are_restored_and_named(t):
    """As an older version leaves it: the loop counts on files that were never synced."""
    disk = Disk(t)
    loop = Loop(t, workspace="in-place", scripts={"1": "edit kept text; edit lost text", "2": "edit done yes; meet go"})
    disk.sync()
    loop.detach()
    loop.there("done")
    disk.sync()
    disk.cut()
    t.write("lost", "")
    t.write("go")
    result = loop.ringfence("resume")
    equal(result.code, 0, "exit status of resume", result)
    loop.ended("completed")
    equal((t.read("kept"), t.read("lost")), ("text\n", "text\n"), "the files")
    repaired = [data for kind, data in loop.events() if kind == "checkpointed" and "repaired" in data]
    contains(str(repaired), '"repaired":["lost"]', "the events")


@root_only
@needs("mkfs.ext4")
@cases(*some(range(1, 41, 4)))
def test_an_apply_of_a_draft_is_finished_after_a_cut(t, point):
    """With ignored files, which only the checkpoints of the apply have."""
    disk = Disk(t)
    for path, text in ((".gitignore", "build/\n"), ("a", "one\n"), ("gone", "old\n"), ("build/a", "one\n"), ("build/gone", "old\n")):
        t.write(path, text)
    # An ignored file that changed within a tick of the kernel's clock before the draft may have changed after it.
    until("a later tick", lambda: time.time_ns() - os.stat(t.path("build/gone")).st_ctime_ns > 20_000_000)
    result = t.sh("for folder in . build; do echo two >$folder/a; echo new >$folder/new; rm $folder/gone; done", opts=("--draft",))
    equal(result.code, 0, "exit status of exec --draft", result)
    draft = drafts(t)[-1]["id"]
    disk.sync()
    apply = [t.ringfence, "apply", draft, "--with-ignored"]
    started = t.start(apply, env=t.env(RINGFENCE_SNAPSHOT_FAULT=f"{point},stop"))
    until("the moment of the cut, or the end", lambda: stopped() or started.poll() is not None)
    disk.commit()
    disk.cut()
    result = t.run(apply)
    equal(result.code, 0, "exit status of apply", result)
    for folder in ("", "build/"):
        equal((t.read(f"{folder}a"), t.exists(f"{folder}gone"), t.read(f"{folder}new")), ("two\n", False, "new\n"), "the files")
    result = t.run([t.ringfence, "apply", "--undo", draft])
    equal(result.code, 0, "exit status of apply --undo", result)
    for folder in ("", "build/"):
        equal((t.read(f"{folder}a"), t.read(f"{folder}gone"), t.exists(f"{folder}new")), ("one\n", "old\n", False), "the files after --undo")


@root_only
@needs("mkfs.ext4")
@cases(*some(range(1, 13, 2)))
def test_a_discard_is_finished_after_a_cut_and_other_drafts_are_whole(t, point):
    disk = Disk(t)
    t.write("a", "one\n")
    ids = []
    for script in ("echo two >a; echo new >new", "echo three >a"):
        equal(t.sh(script, opts=("--draft",)).code, 0, "exit status of exec --draft")
        ids.append(drafts(t)[-1]["id"])
    disk.sync()
    started = t.start([t.ringfence, "discard", ids[0]], env=t.env(RINGFENCE_SNAPSHOT_FAULT=f"{point},stop"))
    until("the moment of the cut, or the end", lambda: stopped() or started.poll() is not None)
    disk.commit()
    disk.cut()
    if len(drafts(t)) == 2:
        result = t.run([t.ringfence, "discard", ids[0]])
        equal(result.code, 0, "exit status of discard", result)
    equal([entry["id"] for entry in drafts(t)], ids[1:], "the drafts")
    refs = glob.glob(os.path.join(t.state, "snapshots/*/refs/ringfence/*"))
    equal([os.path.basename(path) for path in refs], ids[1:], "drafts with checkpoints")
    result = t.run([t.ringfence, "apply", ids[1]])
    equal((result.code, t.read("a")), (0, "three\n"), "exit status of apply, and the file", result)
