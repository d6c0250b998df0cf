"""Attacks in objects that are valid by themselves, or that only Ringfence commits."""

import os

from harness import cases, contains, equal, expect, needs
from harness.gitrepo import Private, Repository
from harness.loop import LoopInPlace as Loop

EVIL = b'[submodule "x"]\n\tpath = x\n\turl = y\n\tupdate = !touch x\n'


def both(t, name="repo"):
    """A user's repository, and a private directory that borrows from it."""
    repo = Repository(t, os.path.join(t.home, name)).filled()
    private = Private(t, repo)
    equal(private.open()["mode"], "private", "the mode")
    return repo, private.detached()


@needs("git")
def test_modules_that_came_in_by_another_name_are_checked_still(t):
    repo, private = both(t)
    good = private.commit()
    blob = private.put("blob", EVIL)
    first = private.commit_of(private.tree(("100644", b"notes.txt", blob)), good)
    private.head(first)
    equal(private.bring()["refs"], 1, "as a control, under another name it comes in")
    private.head(private.commit_of(private.tree(("100644", b".gitmodules", blob)), first))
    answer = private.bring()
    contains(" ".join(answer["refused"]), "a .gitmodules with a command", "what was refused")
    equal(repo.git("rev-parse", private.branch), first, "the branch")
    repo.fsck()


@needs("git")
def test_modules_that_are_the_users_own_come_along_however_odd(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    repo.write("fixtures/.gitmodules", EVIL.decode())
    repo.commit("a fixture")
    private = Private(t, repo)
    private.open()
    tip = private.commit()
    equal(private.bring()["refused"], [], "what was refused")
    equal(repo.git("rev-parse", private.branch), tip, "the branch")


def odd(private, good, how):
    """A commit that git fsck --strict refuses, or should refuse."""
    blob = private.put("blob", b"x")
    tree = private.tree(("100644", b"x", blob))
    person = b"A <a@example.org> 1700000000 +0000\n"
    if how == "a long line of attributes":
        tree = private.tree(("100644", b".gitattributes", private.put("blob", b"x " + b"y" * 5000 + b"\n")))
    elif how == "long attributes in a folder, by a short name":
        inner = private.tree(("100644", b"GITATT~1", private.put("blob", b"x " + b"y" * 5000 + b"\n")))
        tree = private.tree(("40000", b"sub", inner))
    elif how == "a link that some take for a folder":
        tree = private.tree(("120000", b"A", private.put("blob", b".git")), ("40000", b"a", tree))
    elif how == "modules that take a host":
        text = b'[submodule "x"]\n\turl = ../../../:fo\n'
        tree = private.tree(("100644", b".gitmodules", private.put("blob", text)))
    elif how == "modules with a carriage return":
        text = b'[submodule "x"]\n\turl = y\n\tpath = "sub\r"\n'
        tree = private.tree(("100644", b".gitmodules", private.put("blob", text)))
    more = b"hidden\0behind\n" if how == "a NUL in a message" else b"plain\n"
    return private.put("commit", b"tree " + tree.encode() + b"\nparent " + good.encode() + b"\nauthor " + person
                       + b"committer " + person + b"\n" + more)


@needs("git")
@cases("nothing odd", "a long line of attributes", "long attributes in a folder, by a short name",
       "a link that some take for a folder", "modules that take a host", "modules with a carriage return",
       "a NUL in a message")
def test_what_git_fsck_would_not_like_does_not_come_in(t, how):
    repo, private = both(t)
    private.head(odd(private, private.commit(), how))
    answer = private.bring()
    equal(bool(answer["refused"]), how != "nothing odd", f"is it refused: {answer}")
    repo.fsck()


@needs("git")
@cases(250, 300, "in two steps")
def test_trees_are_no_deeper_than_anybody_needs(t, depth):
    """A tree 30,000 folders deep overflows git's stack."""
    repo, private = both(t)
    good = private.commit()
    tree = private.tree(("100644", b"x", private.put("blob", b"x")))
    steps = [200, 100] if depth == "in two steps" else [depth]
    for levels in steps:  # the second one builds on objects that are known by then
        private.head(private.commit_of(tree, good))
        for _ in range(levels):
            tree = private.tree(("40000", b"d", tree))
        outer = private.tree(("40000", b"a", tree), ("40000", b"z", tree))
        good = private.commit_of(outer, good)
    private.head(good)
    answer = private.bring()
    equal(bool(answer["refused"]), depth != 250, f"is it refused: {answer}")
    repo.fsck()


SEALED = {
    "modules": ("printf '[submodule \"x\"]\\n\\tupdate = !touch x\\n' > .gitmodules", "a .gitmodules with a command"),
    "a link as modules": ("ln -s /etc/passwd .gitmodules", "a tree whose .gitmodules is not a regular file"),
    "a folder with a backslash": ("mkdir 'x\\.git'; echo x > 'x\\.git/config'", None),
    "a folder that some take for .git": ("mkdir git~1; echo x > git~1/config", None),
    "attributes": ("head -c 5000 /dev/zero | tr '\\0' y > .gitattributes", "a .gitattributes with a line"),
    "a link beside a folder": ("mkdir A; echo x > A/x; ln -s .git a", "a symlink that some file systems treat as another entry"),
}


@needs("git")
@cases(*SEALED)
def test_what_an_agent_leaves_uncommitted_is_checked_as_well(t, how):
    act, why = SEALED[how]
    loop = Loop(t, scripts={"1": f"{act}; edit done yes"})
    repo = Repository(t, loop.project).filled()
    ended = loop.run("--worktree")
    equal(ended.code, 0, "exit status of run", ended)
    status = loop.status()
    name = f"ringfence/{status['id']}"
    result = loop.ringfence("apply", "--dry-run")
    if why:
        equal(result.code, 125, "exit status of apply", result)
        for where, said in (("apply", result.err), ("the loop's end", ended.out), ("status", loop.ringfence("status").out),
                            ("status --json", status["uncommitted"])):
            contains(said, "cannot be committed: ", f"what {where} says")
            contains(said, why, f"what {where} says")
    else:
        expect("uncommitted" not in status, "nothing is told", status)
        equal(repo.git("diff", "--name-only", "main", name), "done", "what was committed")
    repo.fsck()
