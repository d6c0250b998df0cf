"""Loops on drafts of repositories: the branch of the loop, and whether it is applied."""

import json
import os

from harness import cases, contains, equal, expect, lacks, needs, timeout
from harness.gitrepo import Repository
from harness.loop import Loop, kill, until

ANY_IDENTITY = "Commits and their branches do not depend on who made them."

WORK = {"1": "edit mine by the agent; git add mine; git commit -q -m 'by the agent'; edit left over; edit done yes"}


def begin(t, scripts=None):
    loop = Loop(t, scripts=scripts or WORK)
    loop.write("old", "old\n")
    return loop, Repository(t, loop.project).filled()


def run(loop, *words, code=0):
    result = loop.run("--workspace", "draft", *words)
    equal(result.code, code, "exit status of run", result)
    loop.told = result.out
    return loop.status()["id"]


def ringfence(loop, *words, code=0):
    result = loop.ringfence(*words)
    equal(result.code, code, f"exit status of ringfence {' '.join(words)}", result)
    return result


def applied(loop):
    """Whether the draft is applied, as `drafts` and `status` say."""
    entry = json.loads(ringfence(loop, "drafts", "--json").out)["drafts"][-1]
    status = ringfence(loop, "status").out
    equal("your project is unchanged" in status, not entry["applied"], "status and drafts", status)
    return entry["applied"]


# Whether it is applied

def merge(loop, _):
    ringfence(loop, "apply", "--merge")


def squash(loop, _):
    ringfence(loop, "apply", "--squash")


def by_mail(loop, repo):
    with open(os.path.join(repo.t.outside, "mails"), "w", encoding="utf-8") as file:
        file.write(ringfence(loop, "apply", "--patch").out)
    repo.git("am", "-q", file.name)


def by_git(loop, repo):
    repo.git("merge", "-q", f"ringfence/{loop.status()['id']}")


WAYS = {"merge": merge, "squash": squash, "mail": by_mail, "git": by_git}


@needs("git")
@cases("merge", "squash", "mail", "git")
def test_a_draft_whose_commits_are_in_a_branch_is_applied(t, way):
    """Also after commits of the user's, before and later; and no longer when the branch is reset."""
    loop, repo = begin(t)
    run(loop)
    repo.write("file.txt", "the user's\n")
    repo.commit("meanwhile")
    before = repo.git("rev-parse", "HEAD")
    equal(applied(loop), False, "applied, before")
    WAYS[way](loop, repo)
    expect(os.path.exists(loop.path("left")), "the files are there")
    equal(applied(loop), True, "applied, afterwards")
    contains(ringfence(loop, "status").out, "its commits are in a branch of yours", "status")
    repo.write("left", "the user's\n")
    repo.commit("later")
    repo.git("switch", "-q", "-c", "other", before)
    equal(applied(loop), True, "applied, after another commit, and with another branch checked out")
    repo.git("branch", "-q", "-D", "main")
    equal(applied(loop), False, "applied, after the branch is gone")


@needs("git")
def test_a_loop_that_goes_on_after_its_commits_were_applied_is_not_applied(t):
    loop, _ = begin(t, {"1": "edit one 1", "2": "edit two 2; edit done yes"})
    run(loop, "-m", "1", code=2)
    ringfence(loop, "apply", "--squash")
    equal(applied(loop), True, "applied")
    ringfence(loop, "resume", "-m", "2")
    loop.ended("completed")
    equal(applied(loop), False, "applied, after another iteration")


# git read-only

@needs("git")
def test_git_is_read_only_in_a_draft_if_the_option_says_so(t):
    """For the agent, and for a command that is run in the draft later. Ignored files are no way around it."""
    loop, repo = begin(t, {"1": "git status --porcelain >seen 2>&1; edit old changed; git add old 2>>refused; "
                                "git commit -q -m no 2>>refused; mv .git moved 2>>refused; rm -rf .git 2>>refused; edit done yes"})
    before = repo.state()
    ident = run(loop, "--git", "read-only")
    equal(repo.state(), before, "the user's repository")
    inside = ringfence(loop, "exec", "--in", ident, "--", "sh", "-c", "cat seen refused; git log -1 --format=%s; touch .git/x 2>&1; git status --porcelain")
    contains(inside.out, "Read-only file system", "what git said")
    contains(inside.out, "the second\ntouch: ", "git, and a write afterwards")
    contains(inside.out, " M old\n", "git status")
    equal(ringfence(loop, "diff", "--name-only").out.split(), ["done", "old", "refused", "seen"], "the changes")


@needs("git")
def test_a_rule_of_the_users_decides_about_git_in_a_draft(t):
    loop, repo = begin(t, {"1": "edit old changed; git add -A; git commit -q -m 'in the draft' && edit done yes"})
    before = repo.state()
    run(loop, "--git", "read-only", "--write", ".", "--write", ".git")
    equal(repo.state(), before, "the user's repository")


# Uncommitted changes of the user

def changed(repo, ident):
    """The changes of the branch, all commits together."""
    return repo.git("diff", "--no-renames", "--name-status", f"main...ringfence/{ident}").split("\n")


@needs("git")
@cases("commits", "leaves everything")
def test_what_the_user_had_staged_is_not_the_agents(t, how):
    """It stays as it was, for git inside as well, and apply --merge leaves it alone."""
    commit = "git commit -q -m 'by the agent' agent; " if how == "commits" else ""
    loop, repo = begin(t, {"1": f"edit agent 1; git add agent; {commit}edit both agent; rm dropped; edit done yes"})
    for name in ("both", "dropped", "removed", "twice"):
        repo.write(name, "committed\n")
    repo.commit("the third")
    for name in ("added", "both", "twice", "old"):
        repo.write(name, "staged\n")
    repo.git("add", "-A")
    repo.git("rm", "-q", "removed")
    for name in ("twice", "untracked", "file.txt"):
        repo.write(name, "not staged\n")
    before, status = repo.state(), repo.git("status", "--porcelain")
    ident = run(loop)
    equal((repo.state(), repo.git("status", "--porcelain")), (before, status), "the user's repository")
    equal(changed(repo, ident), ["A\tagent", "M\tboth", "A\tdone", "D\tdropped"], "the branch")
    inside = ringfence(loop, "exec", "--in", ident, "--", "git", "status", "--porcelain")
    equal(inside.out.splitlines(), ["A  added", " M file.txt", "M  old", "D  removed", "MM twice", "?? untracked"], "git status inside")
    refused = ringfence(loop, "apply", "--merge", code=125)
    equal(refused.out.splitlines(), ["  you have staged another version of both", "  you have changed both, which the loop also changed"], "what is in the way")
    contains(refused.err, f"or take over files instead: ringfence apply {ident}", "the way out")
    repo.git("reset", "-q", "both")
    repo.git("checkout", "-q", "both")
    status = repo.git("status", "--porcelain")
    ringfence(loop, "apply", "--merge")
    equal(repo.git("status", "--porcelain"), status, "what is uncommitted after the merge")


@needs("git")
def test_the_branch_ends_as_the_draft_does(t):
    """Also where the agent committed something and took it back in the files alone."""
    loop, repo = begin(t, {"1": "edit new 1; edit old 1; git rm -q file.txt; mkdir deep; edit deep/a 1; edit place 1; git add -A; git commit -q -m one",
                           "2": "rm new; edit old old; edit file.txt two; rm -r deep; edit deep 2; rm place; mkdir place; edit place/in 2; edit done yes"})
    ident = run(loop)
    equal(changed(repo, ident), ["A\tdeep", "A\tdone", "A\tplace/in"], "the branch")


@needs("git")
def test_the_branch_is_whole_if_the_agent_removed_its_index(t):
    loop, repo = begin(t, {"1": "edit new 1; rm .git/index; edit done yes"})
    equal(changed(repo, run(loop)), ["A\tdone", "A\tnew"], "the branch")


@needs("git")
def test_files_that_the_fence_hides_are_named_if_they_are_not_in_the_branch(t):
    """Those of an earlier commit stay in it, and so do files in a folder that is hidden."""
    loop, repo = begin(t, {"1": "edit local.txt 1; mkdir private; edit private/x 1; git add -A; git commit -q -m one", "2": "edit late.txt 2; edit new 2; edit done yes"})
    loop.write(".ringfenceignore", "l*.txt\nprivate\n")
    ident = run(loop)
    equal(changed(repo, ident), ["A\t.ringfenceignore", "A\tdone", "A\tlocal.txt", "A\tnew", "A\tprivate/x"], "the branch")
    contains(loop.status()["uncommitted"], "not in the branch: the fence hides these files from git: local.txt late.txt", "what is said")


@needs("git")
def test_what_the_agent_made_is_in_the_branch_also_with_names_of_secrets(t):
    loop, repo = begin(t, {"1": "edit .env.local 1; mkdir .aws; edit .aws/credentials 1; git add -A; git commit -q -m one",
                           "2": "edit .env.local 2; git commit -q -a -m two; edit server.key 2; edit done yes"})
    ident = run(loop)
    equal(changed(repo, ident), ["A\t.aws/credentials", "A\t.env.local", "A\tdone", "A\tserver.key"], "the branch")
    equal(loop.status().get("uncommitted"), None, "what is said")


# Caches

CACHES = "mkdir -p lib/__pycache__ .pytest_cache; edit lib/__pycache__/a.pyc 1; edit .pytest_cache/README.md 1; edit lib/a.py 1"


@needs("git")
@cases("draft", "in-place")
def test_caches_that_nothing_ignores_are_neither_shown_nor_committed(t, workspace):
    loop, repo = begin(t, {"1": f"{CACHES}; git add -A; git commit -q -m one; edit lib/__pycache__/b.pyc 1; edit done yes"})
    equal(loop.run("--workspace", workspace).code, 0, "exit status of run")
    equal(changed(repo, loop.status()["id"]), ["A\tlib/a.py"] if workspace == "in-place" else ["A\tdone", "A\tlib/a.py"], "the branch")
    equal(ringfence(loop, "diff", "--name-only").out.split(), ["done", "lib/a.py"], "the files of diff")
    if workspace == "draft":
        ringfence(loop, "apply")
        equal((os.listdir(loop.path("lib")), os.path.exists(loop.path(".pytest_cache"))), (["a.py"], False), "what is applied")


@needs("git")
def test_caches_that_the_project_keeps_are_shown_and_committed(t):
    loop, repo = begin(t, {"1": f"{CACHES}; edit done yes"})
    repo.write(".gitignore", "!__pycache__/\n")
    repo.write(".pytest_cache/v", "1\n")
    repo.git("add", "-f", ".gitignore", ".pytest_cache")
    repo.commit("caches")
    ident = run(loop)
    paths = ["done", "lib/__pycache__/a.pyc", "lib/a.py"]
    equal(ringfence(loop, "diff", "--name-only").out.split(), paths, "the files of diff")
    equal(changed(repo, ident), [f"A\t{path}" for path in paths], "the branch")


# Rolling back, and ending without a supervisor

@needs("git")
def test_the_branch_follows_a_rollback_of_a_loop_that_has_ended(t):
    loop, repo = begin(t, {"1": "edit one 1; git add one; git commit -q -m one; edit left 1", "2": "edit two 2; edit done yes"})
    ident = run(loop)
    last = loop.status()["checkpoint"]
    equal(changed(repo, ident), ["A\tdone", "A\tleft", "A\tone", "A\ttwo"], "the branch")
    equal([line.split(":")[0] for line in loop.told.splitlines() if "committed" in line], ["  committed", "  committed what the agent left"], "the progress")
    result = ringfence(loop, "rollback", "1", "--yes")
    contains(result.out, f"the branch ringfence/{ident} follows: its last commit is {repo.git('rev-parse', '--short=10', 'ringfence/' + ident)}\n", "the output")
    equal(changed(repo, ident), ["A\tleft", "A\tone"], "the branch after a rollback")
    equal(repo.git("log", "-1", "--format=%an: %s", f"ringfence/{ident}"), f"Ringfence: Ringfence {ident}: roll back to checkpoint 1", "the commit")
    equal((loop.status()["status"], loop.status()["reason"]), ("completed", "every rule holds"), "the end of the loop")
    ringfence(loop, "restore", "--from", str(last), "two", "--yes")
    equal(changed(repo, ident), ["A\tleft", "A\tone", "A\ttwo"], "the branch after restoring a path")
    ringfence(loop, "rollback", "--yes")
    equal(repo.git("rev-parse", f"ringfence/{ident}^{{tree}}"), repo.git("rev-parse", "main^{tree}"), "the branch after a rollback to the beginning")
    ringfence(loop, "rollback", str(last), "--yes")
    ringfence(loop, "apply", "--merge")
    equal([os.path.exists(loop.path(name)) for name in ("one", "left", "two")], [True] * 3, "what is merged")


@needs("git")
@cases((), ("--merge",))
def test_a_rollback_says_that_what_was_applied_stays(t, *words):
    loop, _ = begin(t, {"1": "edit one 1; edit done yes"})
    ident = run(loop)
    before = ringfence(loop, "rollback", "--yes").out
    contains(before, "your project is unchanged\n", "the output")
    lacks(before, "applied", "the output before an apply")
    ringfence(loop, "rollback", "1", "--yes")
    ringfence(loop, "apply", *words)
    after = ringfence(loop, "rollback", "--yes").out
    said = "your branch keeps the loop's commits" if words else f"stays in your project (to undo that: ringfence apply --undo {ident})"
    contains(after, said, "the output")
    expect(os.path.exists(loop.path("one")), "it is still there")
    lacks(ringfence(loop, "status").out, "you changed in the project", "the status")


@needs("git")
def test_a_rollback_says_if_the_branch_cannot_follow(t):
    loop, repo = begin(t, {"1": "edit one 1; edit done yes"})
    ident = run(loop)
    before = repo.git("rev-parse", f"ringfence/{ident}")
    os.unlink(os.path.join(loop.folder, "git/HEAD"))
    result = ringfence(loop, "rollback", "--yes")
    contains(result.err, f"the branch ringfence/{ident} does not follow in full: ", "the notice")
    equal((repo.git("rev-parse", f"ringfence/{ident}"), ringfence(loop, "diff").out), (before, ""), "the branch, and the draft")


@needs("git")
def test_a_paused_loop_that_is_aborted_commits_its_leftovers(t):
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    loop, repo = begin(t, {"1": f"edit one 1; git add one; git commit -q -m one; edit left 1; say at work; meet {outside}/go"})
    ident = loop.detach("--workspace", "draft", "--write", outside)
    loop.heard("at work")
    ringfence(loop, "pause", ident)
    t.write(os.path.join(outside, "go"), "")
    loop.ended("paused")
    contains(ringfence(loop, "apply", "--merge", "--dry-run").err, "has not ended: applying what it has committed so far", "the notice")
    ringfence(loop, "abort", ident)
    equal(loop.status()["status"], "aborted", "the status")
    equal(changed(repo, ident), ["A\tleft", "A\tone"], "the branch")


# Killed while leftovers are committed

def closed_once(loop, repo):
    """The end is written once, after the one commit of what the agent left."""
    status = loop.ended("completed")
    branch = f"ringfence/{status['id']}"
    kinds = [kind for kind, _ in loop.events()]
    equal((kinds.count("closing"), kinds.count("finished"), kinds[-1], status["used"]), (1, 1, "finished", 1), "the end", kinds)
    equal(repo.git("log", "--format=%an|%s", f"main..{branch}"), f"Ringfence|Ringfence {status['id']}: make it", "the commits")
    equal(changed(repo, status["id"]), ["A\tdone", "A\tnew"], "the branch")
    # Git may run the filter again, and the folder that the test's own one waits for is not there.
    inside = ringfence(loop, "exec", "--in", status["id"], "--", "git", "-c", "filter.hold.clean=cat", "status", "--porcelain")
    equal(inside.out, "A  mine\n", "git status inside")
    repo.fsck()
    equal(sorted(name for name in os.listdir(os.path.join(loop.folder, "git")) if "ringfence" in name or "lock" in name), [], "what is left")


def begin_closing(t, name, script="edit new one; edit done yes"):
    loop = Loop(t, name, scripts={"all": script})
    repo = Repository(t, loop.project).filled()
    repo.write("mine", "staged\n")
    repo.git("add", "mine")
    return loop, repo


@needs("git")
@timeout(240)
def test_a_loop_killed_at_any_event_of_its_end_commits_once(t):
    """Before and after each: the supervisor alone, and with its keeper, so that no process is left to continue."""
    t.leftover_runs = True
    control, repo = begin_closing(t, "control")
    control.detach("--workspace", "draft")
    closed_once(control, repo)
    kinds = [kind for kind, _ in control.events()]
    first, last = kinds.index("closing"), len(kinds) - 1  # the first event of all is the starter's
    expect(last - first >= 2, "there are events between", kinds)
    for number in range(first, last + 1):
        for fault in (f"{number}", f"{number}+", f"{number}b", f"{number}b+"):
            loop, repo = begin_closing(t, f"fault-{fault}")
            loop.detach("--workspace", "draft", env=t.env(RINGFENCE_FAULT=fault))
            if "b" in fault:
                until("nobody", lambda: loop.status()["supervisor_pid"] is None)  # noqa: B023
                if loop.status()["status"] == "interrupted":
                    ringfence(loop, "resume")
            closed_once(loop, repo)
    t.all_gone()


@needs("git")
@cases("supervisor", "runner")
def test_a_loop_killed_while_git_commits_its_leftovers_commits_once(t, who):
    """A filter of the agent's holds git in the middle."""
    t.leftover_runs = True
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    hold = f"touch {outside}/there; while [ ! -e {outside}/go ]; do sleep 0.02; done; cat"
    loop, repo = begin_closing(t, "held", f"git config filter.hold.clean '{hold}'; echo 'new filter=hold' >.git/info/attributes; edit new one; edit done yes")
    loop.detach("--workspace", "draft", "--write", outside)
    until("git in the middle", lambda: os.path.exists(os.path.join(outside, "there")))
    kill(loop.supervisor() if who == "supervisor" else loop.runner())
    t.write(os.path.join(outside, "go"), "")
    if who == "runner":
        status = loop.ended("completed")
        contains(status["uncommitted"], "uncommitted work is only in the draft", "what is said")
        return
    closed_once(loop, repo)
    t.all_gone()
