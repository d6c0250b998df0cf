"""Git for the agent: inside it commits as it likes, and only objects and refs come into the user's repository."""

import os

from harness import cases, contains, equal, expect, lacks, needs
from harness.gitrepo import Repository
from harness.loop import Loop

COMMIT = "git add -A; git commit -q -m 'by the agent'; "


def begin(t, script, *words, repository=None, scripts=None, name="project"):
    """A loop in a repository, run to its end."""
    loop = Loop(t, name, scripts=scripts or {"1": f"{script}; edit done yes"})
    repo = repository or Repository(t, loop.project).filled()
    loop.result = loop.run(*words)
    return loop, repo


def branch(loop):
    return f"ringfence/{loop.status()['id']}"


@needs("git")
def test_the_agent_commits_and_the_user_finds_a_branch(t):
    loop = Loop(t, scripts={"1": f"edit new.txt hello; {COMMIT} git log --format=%an%n%ae%n%s > seen; edit done yes"})
    repo = Repository(t, loop.project).filled()
    before = repo.state()
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    equal(repo.state(), before, "index, HEAD, refs, configuration and hooks of the user")
    equal(repo.git("log", "-1", "--format=%s", branch(loop)), "by the agent", "the commit")
    equal(repo.git("show", f"{branch(loop)}:new.txt"), "hello", "what is in it")
    equal(repo.git("rev-parse", f"{branch(loop)}^"), repo.git("rev-parse", "HEAD"), "its parent")
    contains(loop.tree()["seen"], "A User\nuser@example.org\nby the agent", "who committed")
    repo.fsck()
    contains(result.out + result.err, f"committed: {branch(loop)} is ", "what is told")
