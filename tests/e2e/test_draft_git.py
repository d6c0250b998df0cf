"""Loops on drafts of repositories: the branch of the loop, and whether it is applied."""

import json
import os

from harness import cases, contains, equal, expect, needs
from harness.gitrepo import Repository
from harness.loop import Loop

ANY_IDENTITY = "Commits and their branches do not depend on who made them."

WORK = {"1": "edit mine by the agent; git add mine; git commit -q -m 'by the agent'; edit left over; edit done yes"}


def begin(t, scripts=None):
    loop = Loop(t, scripts=scripts or WORK)
    loop.write("old", "old\n")
    return loop, Repository(t, loop.project).filled()


def run(loop, *words, code=0):
    result = loop.run("--workspace", "draft", *words)
    equal(result.code, code, "exit status of run", result)
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


# What the user had not committed

def changed(repo, ident):
    """What the branch changes, all commits together."""
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
