"""Files that a power cut has emptied are noticed: they are made again, or the loss is named."""

import glob
import json
import os
import signal

from harness import cases, contains, equal, expect, needs
from harness.loop import LoopInPlace as Loop
from harness.loop import keepers, kill
from harness.repository import Repository


def empty(*paths):
    for path in paths:
        with open(path, "wb"):
            pass


def test_an_emptied_copy_of_etc_is_made_again(t):
    contains(t.works("cat", "/etc/passwd"), "nobody:", "the users before")
    copies = glob.glob(os.path.join(t.state, "etc/*"))
    equal(len(copies), 1, "copies", copies)
    empty(*(path for path in glob.glob(os.path.join(copies[0], "*")) if os.path.isfile(path)))
    contains(t.works("cat", "/etc/passwd"), "nobody:", "the users after")
    equal(glob.glob(os.path.join(t.state, "etc/*")), copies, "copies after")


def test_an_emptied_checkpoint_repository_works_again(t):
    loop = Loop(t, scripts={"1": "edit done yes"})
    equal(loop.run().code, 0, "exit status of run")
    empty(*glob.glob(os.path.join(t.state, "snapshots/*.git/HEAD")),
          *glob.glob(os.path.join(t.state, "snapshots/*.git/config")))
    result = loop.ringfence("rollback", "0", "--yes")
    equal(result.code, 0, "exit status of rollback", result)
    expect(not os.path.exists(loop.path("done")), "the rollback removes what the loop made")


@needs("git")
@cases("HEAD", "index", "config", "refs/heads/main", "objects/*/*")
def test_a_damaged_git_directory_is_made_again_with_the_commits_so_far(t, name):
    commit = "edit step-$N $N; git add step-$N && git commit -q -m step-$N"
    loop = Loop(t, scripts={"1": commit, "2": "if [ -e go ]; then " + commit + "; edit done yes; else edit began x; hang; fi"})
    repository = Repository(t, loop.project, {"readme": "hello\n", ".gitignore": "attack\n"},
                            user_name="A User", user_email="user@example.org")
    loop.detach()
    loop.there("began")
    supervisor, runner, keeper = loop.supervisor(), loop.runner(), keepers()[0]
    os.kill(keeper, signal.SIGSTOP)  # or it would be quicker than this test
    for pid in (supervisor, keeper, runner):
        kill(pid)
    t.all_gone()
    t.leftover_runs = True
    paths = glob.glob(os.path.join(loop.folder, "git", name))
    expect(paths, "the agent's git directory has it", os.listdir(os.path.join(loop.folder, "git")))
    for path in paths:
        os.chmod(path, 0o600)
    empty(*paths)
    loop.write("go")
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    status = loop.ended("completed")
    branch = f"ringfence/{status['id']}"
    equal(repository.git("log", "--format=%s", f"main..{branch}"), "step-2\nstep-1", "the agent's commits")
    equal(repository.git("ls-tree", "--name-only", branch), ".gitignore\nreadme\nstep-1\nstep-2", "the files of the last one")
    told = [json.loads(data).get("why", "") for kind, data in loop.events() if kind == "git"]
    contains(str(told), "made again from the commits that were imported", "the events")


@cases(("loops/20260101-000000-abcd/journal.db", "ringfence clean"), ("snapshots/0.git/HEAD", "the next checkpoint"),
       ("runs/20260101-000000-00000000", "check your projects"), ("trust/0123", "ringfence trust"))
def test_the_doctor_does_not_say_that_a_damaged_state_works(t, name, remedy):
    control = t.run([t.ringfence, "doctor"])
    equal(control.code, 0, "exit status without damage", control)
    path = os.path.join(t.state, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    empty(path)
    if name.startswith("loops"):
        equal(t.run([t.ringfence, "doctor"]).code, 0, "exit status for a loop whose creation was cut off")
        empty(os.path.join(os.path.dirname(path), "lock"))
    t.leftover_runs = True
    result = t.run([t.ringfence, "doctor", "--json"])
    equal(result.code, 1, "exit status", result)
    found = {check["name"]: check for check in json.loads(result.out)["checks"]}["state"]
    equal(found["state"], "fail", "the check", found)
    contains(found["detail"], path, "the detail")
    contains(found["remedy"], remedy, "the remedy")
