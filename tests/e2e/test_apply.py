"""apply: a loop's commits are merged into the user's branch as git merge would do it, or not at all."""

import contextlib
import json
import os
import random
import shutil

from harness import cases, contains, each_identity, equal, expect, kernel, lacks, needs, timeout
from harness.loop import LoopInPlace as Loop
from harness.repository import WHO, Repository
from harness.snapshots import Snapshots

ANY_IDENTITY = "Commits are judged and merged by their content."

RESULT = "ringfence/loop"
LINES = [f"line {number}" for number in range(1, 31)]


def text(**changes):
    """Thirty lines, some of them changed: l3="x"."""
    return "".join((changes.get(f"l{number}", line)) + "\n" for number, line in enumerate(LINES, 1))


def begin(t, files=None, **config):
    repo = Repository(t, t.path("repo"), files or {"a": text(), "b": "b\n", "folder/c": "c\n"}, **config)
    program = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, repo.folder, env=t.env(**WHO))
    return repo, program


def ask(program, work="apply", **words):
    return program.ask(work, branch=f"refs/heads/{RESULT}", message="a message\n", **words)


def apply(program, **words):
    code, answer = ask(program, **words)
    equal(code, 0, "exit status", answer)
    return answer


def refused(repo, program, part, **words):
    before = repo.state()
    code, answer = ask(program, **words)
    equal(code, 1, "exit status", answer)
    contains(answer["error"], part, "the reason")
    equal(repo.state(), before, "the repository")


def clean(repo, but=""):
    equal(repo.status(), but, "git status")
    equal(repo.try_git("fsck", "--strict").code, 0, "git fsck")


@needs("git")
@each_identity
def test_a_disk_that_is_full_when_the_lock_is_taken_changes_nothing(t):
    t.own_mounts()
    t.tmpfs(t.project, "4m")
    repo, program = begin(t)
    wanted = repo.commit(RESULT, {"a": text(l3="three")})
    with contextlib.suppress(OSError), open(t.path("filler"), "wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
    refused(repo, program, "ringfence-lock': No space left on device")
    os.unlink(t.path("filler"))
    apply(program)
    equal(repo.head(), wanted, "HEAD, once there is space")


# The result

@needs("git")
@each_identity
def test_a_result_moves_the_branch_forward_where_it_can(t):
    repo, program = begin(t)
    wanted = repo.commit(RESULT, {"a": text(l3="three"), "new/deep/d": ("100755", "d\n"), "b": None,
                                  "link": ("120000", "a")})
    answer = apply(program)
    equal((answer["kind"], answer["written"], answer["removed"], answer["commits"]), ("forward", 3, 1, 1), "what was done")
    equal(repo.head(), wanted, "HEAD")
    equal(repo.read("a").decode(), text(l3="three"), "a")
    expect(os.access(repo.path("new/deep/d"), os.X_OK), "d is executable")
    equal(os.readlink(repo.path("link")), b"a", "the link")
    clean(repo)
    contains(repo.git("reflog", "-1"), "ringfence apply", "the log of HEAD")
    contains(repo.git("reflog", "-1", "main"), "ringfence apply", "the log of the branch")
    equal(apply(program)["kind"], "nothing", "the second time")


@needs("git")
@each_identity
def test_both_sides_are_merged_in_a_commit_of_the_users(t):
    repo, program = begin(t)
    theirs = repo.commit(RESULT, {"a": text(l3="three"), "folder/new": "n\n"})
    ours = repo.commit("main", {"a": text(l20="twenty"), "b": "ours\n"})
    repo.git("reset", "-q", "--hard")
    answer = apply(program)
    equal(answer["kind"], "merge", "the kind")
    equal(repo.git("log", "-1", "--format=%P|%an|%s"), f"{ours} {theirs}|A User|a message", "the commit")
    equal(repo.read("a").decode(), text(l3="three", l20="twenty"), "a")
    clean(repo)


@needs("git")
def test_a_squash_is_one_commit_on_top(t):
    repo, program = begin(t)
    repo.commit(RESULT, {"a": text(l3="three")})
    repo.commit(RESULT, {"a": text(l3="three", l9="nine")}, base=RESULT)
    ours = repo.head()
    answer = apply(program, squash=1)
    equal((answer["kind"], answer["commits"]), ("squash", 2), "the kind")
    equal(repo.git("log", "-1", "--format=%P"), ours, "the parent")
    equal(repo.read("a").decode(), text(l3="three", l9="nine"), "a")
    clean(repo)
    equal(apply(program, squash=1)["kind"], "nothing", "a second time")


@needs("git")
def test_a_patch_is_what_git_am_takes(t):
    repo, program = begin(t)
    repo.commit(RESULT, {"a": text(l3="three"), "binary": bytes(range(256))}, message="the first\n\nwith a body")
    repo.commit(RESULT, {"b": None, "odd näme": "x\n", "c": ("100755", "c")}, base=RESULT, message="the second")
    before = repo.state()
    code, answer = ask(program, "patch")
    equal((code, answer["commits"]), (0, 2), "the answer")
    equal(repo.state(), before, "the repository")
    mails = program.out
    repo.git("am", "-q", input=mails)
    equal(repo.git("rev-parse", "HEAD^{tree}"), repo.git("rev-parse", f"{RESULT}^{{tree}}"), "the tree by git am")
    equal(repo.git("log", "-2", "--format=%s|%b"), "the second|\nthe first|with a body", "the messages")
    repo.git("reset", "-q", "--hard", "HEAD~2")
    repo.git("apply", "--index", input=mails)
    equal(repo.git("write-tree"), repo.git("rev-parse", f"{RESULT}^{{tree}}"), "the tree by git apply")


@needs("git")
def test_a_message_brings_no_files_that_no_commit_has(t):
    """Git am takes the first part of a mail that looks like a patch."""
    repo, program = begin(t)
    patch = "diff --git a/evil b/evil\nnew file mode 100755\n--- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n+evil\n"
    repo.commit(RESULT, {"a": text(l3="three")}, message=f"one\n\nFrom: Somebody <else@example.org>\n\nthe body\n---\n{patch}")
    repo.commit(RESULT, {"b": "two\n"}, base=RESULT, message=f"two\n\nFrom {'0' * 40} Mon Sep 17 00:00:00 2001\n"
                                                           f"From: x <x@example.org>\nSubject: three\n\n{patch}-- \n2.39\n")
    repo.git("checkout", "-q", "-b", "try")
    code, answer = ask(program, "patch")
    equal(code, 0, "exit status", answer)
    result = repo.try_git("am", "-q", input=program.out)
    equal(result.code, 0, "exit status of git am", result)
    equal(repo.git("diff", "--name-only", "try", RESULT), "", "what differs from the branch")
    equal(repo.git("log", "--format=%an %s", "-2"), "An Author two\nAn Author one", "the commits")


@needs("git", "patch")
@cases(("", ""), (" ", " "), ("X", "X"), ("\t \t", "\t \t"), ("- ", ""))
def test_a_message_brings_no_files_by_patch(t, first, margin):
    """It also takes an indented patch, or a mail within a mail."""
    repo, program = begin(t)
    patch = f"{first}--- /dev/null\n{margin}+++ b/evil\n{margin}@@ -0,0 +1 @@\n{margin}+evil\n"
    repo.commit(RESULT, {"a": text(l3="three")}, message=f"one\n\nthe body\n{patch}")
    equal(ask(program, "patch")[0], 0, "exit status")
    control = t.run(["patch", "-p1", "--dry-run"], cwd=repo.folder, input=patch)
    contains(control.out, "file evil", "as a control, without a mail around it")
    result = t.run(["patch", "-p1"], cwd=repo.folder, input=program.out)
    equal(result.code, 0, "exit status of patch", result)
    equal(repo.status(), " M a", "what it changes")


@needs("git")
def test_a_result_with_merges_is_one_patch(t):
    repo, program = begin(t)
    repo.commit("side", {"b": "side\n"})
    repo.commit(RESULT, {"a": text(l3="three")})
    repo.git("checkout", "-q", RESULT)
    repo.git("merge", "-q", "-m", "merged", "side")
    repo.git("checkout", "-q", "main")
    equal(ask(program, "patch")[0], 0, "exit status")
    repo.git("apply", "--index", input=program.out)
    equal(repo.git("write-tree"), repo.git("rev-parse", f"{RESULT}^{{tree}}"), "the tree")


@needs("git")
def test_a_branch_without_a_commit_gets_its_first_one(t):
    repo = Repository(t, t.path("repo"))
    program = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, repo.folder, env=t.env(**WHO))
    wanted = repo.commit(RESULT, {"a": "a\n", "folder/b": "b\n"}, base=None)
    equal(apply(program)["kind"], "forward", "the kind")
    equal((repo.head(), repo.git("symbolic-ref", "HEAD")), (wanted, "refs/heads/main"), "HEAD")
    clean(repo)


@needs("git")
def test_names_may_be_odd_and_differ_in_case_only(t):
    repo, program = begin(t)
    names = ["A", b"\xff\xfe", "line\nfeed", " -x", "tab\tname", "Ä", "ä", "deep/" * 40 + "file", '"quoted"', "back\\slash"]
    wanted = repo.commit(RESULT, {name: f"{number}\n" for number, name in enumerate(names)})
    equal(apply(program)["written"], len(names), "files written")
    for number, name in enumerate(names):
        equal(repo.read(name), b"%d\n" % number, "a file")
    equal((repo.head(), repo.read("a").decode()), (wanted, text()), "HEAD, and the file whose name is nearly the same")
    clean(repo)


@needs("git")
def test_a_result_without_a_change_does_nothing(t):
    repo, program = begin(t)
    repo.git("branch", RESULT)
    before = repo.state()
    equal(apply(program)["kind"], "nothing", "the kind")
    equal(repo.state(), before, "the repository")


# Conflicts

CONFLICTS = {
    "content": ({"a": text(l10="ours", l11="ours")}, {"a": text(l11="theirs")}, "both changed lines 10-11 of a"),
    "two places": ({"a": text(l3="x", l20="x")}, {"a": text(l3="y", l20="y")}, "both changed lines 3, 20 of a"),
    "deleted here": ({"a": None}, {"a": text(l3="y")}, "you deleted a, which the loop changed"),
    "deleted there": ({"a": text(l3="y")}, {"a": None}, "you changed a, which the loop deleted"),
    "added twice": ({"n": "one\n"}, {"n": "two\n"}, "both added n, with different contents"),
    "binary": ({"bin": b"\0ours"}, {"bin": b"\0theirs"}, "both changed the binary file bin"),
    "symlinks": ({"link": ("120000", "x")}, {"link": ("120000", "y")}, "both changed the target of the symlink link"),
    "symlink and file": ({"link": ("120000", "x")}, {"link": "file\n"}, "link"),
    "renamed twice": ({"a": None, "one": text()}, {"a": None, "two": text()}, "a"),
    "file and folder": ({"n": "file\n"}, {"n/x": "in a folder\n"}, "n is a file here, but a folder in the loop's branch"),
    "folder and file": ({"n/x": "in a folder\n"}, {"n": "file\n"}, "n is a folder here, but a file in the loop's branch"),
    "submodule": ({"sub": ("160000", "1" * 40)}, {"sub": ("160000", "2" * 40)}, "both updated the submodule sub"),
}


@needs("git")
@cases(*CONFLICTS)
def test_a_conflict_is_told_in_words_and_changes_nothing(t, name):
    ours, theirs, words = CONFLICTS[name]
    repo, program = begin(t, {"a": text(), "bin": b"\0", "link": ("120000", "a"), "sub": ("160000", "3" * 40), "fits": text()})
    repo.commit(RESULT, {**theirs, "fits": text(l2="theirs")})
    repo.commit("main", {**ours, "fits": text(l25="ours")})
    repo.git("reset", "-q", "--hard")
    before = repo.state()
    objects = repo.git("count-objects")
    for dry in (1, 0):
        answer = apply(program, dry=dry)
        equal(repo.git("count-objects"), objects, "objects")
        equal(answer["kind"], "conflict", "the kind", answer)
        contains("\n".join(entry["words"] for entry in answer["conflicts"]), words, "the words")
        equal(repo.state(), before, "the repository")
    equal(repo.try_git("merge-tree", "--write-tree", "main", RESULT).code, 1, "the control: git merge-tree")


# The user's own changes

@needs("git")
def test_uncommitted_changes_elsewhere_are_kept(t):
    repo, program = begin(t, {"a": text(), "b": "b\n", "c": "c\n", "d": "d\n", ".gitignore": "*.o\n"})
    repo.commit(RESULT, {"a": text(l3="three"), "sub/new": "new\n"})
    repo.write("b", "mine\n")
    repo.write("c", "staged\n")
    repo.git("add", "c")
    repo.write("c", "staged, and more\n")
    os.unlink(repo.path("d"))
    repo.write("untracked", "mine\n")
    repo.write("sub/own.o", "ignored\n")
    before = repo.status()
    diff = repo.git("diff") + repo.git("diff", "--cached")
    apply(program)
    equal(repo.status(), before, "git status")
    equal(repo.git("diff") + repo.git("diff", "--cached"), diff, "git diff")
    equal(repo.read("untracked") + repo.read("sub/own.o"), b"mine\nignored\n", "files that git does not know")
    equal(repo.read("a").decode(), text(l3="three"), "what came")


OWN = {
    "changed": (lambda repo: repo.write("a", "mine\n"), "you have changed a, which the loop also changed"),
    "deleted": (lambda repo: os.unlink(repo.path("a")), "you have deleted a"),
    "staged": (lambda repo: (repo.write("a", "mine\n"), repo.git("add", "a")), "you have staged another version of a"),
    "untracked": (lambda repo: repo.write("new/d", "mine\n"), "new/d is in the way: you have an uncommitted file of that name"),
    "a file where a folder comes": (lambda repo: repo.write("new", "mine\n"), "new is in the way of new/d"),
    "a link where a folder comes": (lambda repo: os.symlink("folder", repo.path("new")), "new is in the way of new/d"),
    "a folder where a file comes": (lambda repo: repo.write("gone/x/y", "mine\n"), "gone/x/y is in the way of gone"),
    "a mode": (lambda repo: os.chmod(repo.path("a"), 0o755), "you have changed a"),
    "staged where a folder comes": (lambda repo: (repo.write("new", "m\n"), repo.git("add", "new"),
                                                  os.unlink(repo.path("new"))), "you have staged new, which is in the way of new/d"),
}


@needs("git")
@cases(*OWN)
def test_uncommitted_changes_of_the_same_files_are_in_the_way(t, name):
    act, words = OWN[name]
    repo, program = begin(t)
    repo.commit(RESULT, {"a": text(l3="three"), "new/d": "d\n", "gone": "a file\n"})
    act(repo)
    before = repo.state()
    for dry in (1, 0):
        answer = apply(program, dry=dry)
        contains("\n".join(answer["in_the_way"]), words, "what is said")
        equal(repo.state(), before, "the repository")


@needs("git")
def test_what_is_there_already_is_taken_as_it_is(t):
    """A loop that worked in the project itself has left its files there."""
    repo, program = begin(t)
    wanted = repo.commit(RESULT, {"a": text(l3="three"), "new": "new\n", "b": None})
    repo.write("a", text(l3="three"))
    repo.write("new", "new\n")
    os.unlink(repo.path("b"))
    status = os.stat(repo.path("a"))[:6], os.stat(repo.path("a")).st_mtime_ns
    answer = apply(program)
    equal((answer["there"], answer["written"], answer["removed"]), (3, 0, 0), "what was done")
    equal(repo.head(), wanted, "HEAD")
    equal((os.stat(repo.path("a"))[:6], os.stat(repo.path("a")).st_mtime_ns), status, "the file")
    clean(repo)


@needs("git")
def test_a_changed_file_is_seen_although_size_and_time_are_the_same(t):
    """The new index is younger than the old one: a racy entry must not look clean because of that."""
    repo, program = begin(t, core_trustctime="false")
    repo.commit(RESULT, {"a": text(l3="three")})
    then = 1600000000
    os.utime(repo.path("b"), (then, then))
    repo.git("update-index", "--refresh")
    repo.write("b", "X\n")
    os.utime(repo.path("b"), (then, then))
    equal(repo.status(), "", "the control: git does not see it")
    os.utime(repo.path(".git/index"), (then, then))
    apply(program)
    equal(repo.status(), " M b", "git status")


# When it is refused

def midway(repo, *words):
    repo.commit("side", {"a": text(l3="side")})
    repo.commit("main", {"a": text(l3="main")})
    repo.git("reset", "-q", "--hard")
    expect(repo.try_git(*words, "side").code != 0, f"git {words[0]} stops")


STATES = {
    "merge": (lambda repo: midway(repo, "merge"), "a merge is in progress"),
    "rebase": (lambda repo: midway(repo, "rebase"), "a rebase is in progress"),
    "cherry-pick": (lambda repo: midway(repo, "cherry-pick"), "a cherry-pick is in progress"),
    "revert": (lambda repo: midway(repo, "revert"), "a revert is in progress"),
    "bisect": (lambda repo: repo.git("bisect", "start"), "a bisect is in progress"),
    "detached": (lambda repo: repo.git("checkout", "-q", "--detach"), "HEAD is detached"),
    "locked": (lambda repo: repo.write(".git/index.lock", ""), "index.lock' exists"),
    "no branch": (lambda repo: repo.git("branch", "-D", RESULT), "there is no branch ringfence/loop"),
    "unrelated": (lambda repo: repo.commit(RESULT, {"x": "x"}, base=None), "no commit in common"),
    "split index": (lambda repo: repo.git("update-index", "--split-index"), "index"),
}


@needs("git")
@cases(*STATES)
def test_it_waits_until_the_repository_is_at_rest(t, name):
    act, words = STATES[name]
    repo, program = begin(t)
    repo.commit(RESULT, {"a": text(l3="three")})
    act(repo)
    refused(repo, program, words)


@needs("git")
def test_without_a_repository_it_says_so(t):
    program = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, t.project, env=t.env(**WHO))
    code, answer = ask(program)
    equal(code, 1, "exit status")
    contains(answer["error"], "is not in a git repository", "the reason")


@needs("git")
def test_a_merge_needs_to_know_who_the_user_is(t):
    repo, program = begin(t)
    repo.commit(RESULT, {"a": text(l3="three")})
    repo.commit("main", {"b": "ours\n"})
    repo.git("reset", "-q", "--hard")
    program.env = t.env()
    refused(repo, program, "git config --global user.name")
    t.at_home(".gitconfig", "[user]\n\tname = At Home\n[includeIf \"gitdir:**/repo/\"]\n\tpath = ~/mail\n")
    t.at_home("mail", "[user]\n\temail = home@example.org\n")
    equal(apply(program)["kind"], "merge", "the kind")
    equal(repo.git("log", "-1", "--format=%an <%ae>"), "At Home <home@example.org>", "the author")


@needs("git")
@each_identity
def test_paths_that_lead_elsewhere_are_refused(t):
    repo, program = begin(t)
    blob = repo.git("hash-object", "-w", "--stdin", input=b"evil")
    for name in (".git", "..", ".GIT", "git~1"):
        raw = b"100644 x\0" + bytes.fromhex(blob)
        inner = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", input=raw)
        raw = b"40000 " + name.encode() + b"\0" + bytes.fromhex(inner)
        tree = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", input=raw)
        commit = repo.git("commit-tree", "-m", "evil", "-p", "main", tree)
        repo.git("update-ref", f"refs/heads/{RESULT}", commit)
        refused(repo, program, "an unsafe path")


@needs("git")
def test_a_tree_of_hundreds_of_folders_below_one_another_is_refused(t):
    repo, program = begin(t)
    repo.commit(RESULT, {"d/" * 300 + "x": "y"})
    refused(repo, program, "more than 256 levels of folders")
    repo.commit(RESULT, {"d/" * 200 + "x": "y"})
    equal(apply(program, dry=1)["kind"], "forward", "as a control, two hundred")


@needs("git")
@each_identity
def test_nothing_of_anybody_is_executed(t):
    mark = os.path.join(t.outside, "mark")
    repo, program = begin(t, {"a": text(), "b": "b\n", ".gitattributes": "* filter=evil merge=evil diff=evil\n"})
    repo.commit(RESULT, {"a": text(l3="three"), "b": "theirs\n"})
    repo.commit("main", {"a": text(l20="twenty")})
    repo.git("reset", "-q", "--hard")
    for key in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver",
                "diff.evil.textconv", "diff.evil.command", "core.fsmonitor", "core.editor", "gpg.program"):
        repo.git("config", key, f"touch {mark}; cat")
    repo.git("config", "commit.gpgsign", "true")
    for hook in ("post-merge", "pre-merge-commit", "post-checkout", "reference-transaction", "post-index-change",
                 "prepare-commit-msg", "commit-msg", "post-commit"):
        repo.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {mark}\n")
        os.chmod(repo.path(f".git/hooks/{hook}"), 0o755)
    answer = apply(program)
    equal((answer["kind"], answer["filtered"]), ("merge", ["a", "b"]), "what was done")
    expect(not os.path.exists(mark), "nothing was executed")
    equal(repo.read("b"), b"theirs\n", "b")
    repo.git("status")
    expect(os.path.exists(mark), "the control: git itself executes it")


# As git does it

def edited(rng, files):
    """Changes some of the files, with lines that occur nowhere else."""
    made = {}
    for _ in range(rng.randint(1, 4)):
        name = rng.choice(sorted(files))
        lines = files[name].split("\n")[:-1]
        act = rng.randrange(8)
        if act == 0:
            made[name] = None
        elif act == 1:
            made[f"new{rng.randrange(3)}"] = "".join(f"n{rng.random()}\n" for _ in range(3))
        elif act == 2:
            made[name], made[f"moved/{name}{rng.randrange(2)}"] = None, files[name]
        elif act == 3:
            made[name] = ("100755", files[name])
        elif act == 4 and "/" not in name:
            made[name], made[f"{name}/inside"] = None, f"i{rng.random()}\n"
        else:
            at = rng.randrange(len(lines))
            if act == 5:
                lines[at:at + rng.randint(1, 3)] = []
            elif act == 6:
                lines.insert(at, f"i{rng.random()}")
            else:
                lines[at] = f"c{rng.random()}"
            made[name] = "".join(line + "\n" for line in lines)
    return made


@needs("git")
@timeout(240)
@each_identity
def test_random_pairs_are_merged_as_git_does_it(t):
    rng = random.Random(1)
    files = {f"f{number}": "".join(f"{number} line {line}\n" for line in range(20)) for number in range(5)}
    files["d/e"] = "".join(f"e {line}\n" for line in range(20))
    repo, program = begin(t, files)
    base = repo.head()
    kinds = {"same": 0, "conflict": 0, "stricter": 0}
    for number in range(32):
        repo.commit(RESULT, edited(rng, files), base=base)
        repo.commit("main", edited(rng, files), base=base)
        repo.git("reset", "-q", "--hard")
        theirs = repo.try_git("merge-tree", "--write-tree", "main", RESULT)
        answer = apply(program, dry=number % 4 != 0)
        if answer["kind"] == "nothing":
            continue
        if answer["kind"] == "conflict":
            kinds["conflict" if theirs.code else "stricter"] += 1
            continue
        equal(theirs.code, 0, f"git merges pair {number}, too", theirs)
        equal(answer["tree"], theirs.out.strip(), f"the tree of pair {number}")
        kinds["same"] += 1
        if number % 4 == 0:
            equal(repo.git("write-tree"), theirs.out.strip(), f"the index of pair {number}")
            clean(repo)
    expect(kinds["same"] > 5 and kinds["conflict"] > 2, "there are both", kinds)
    expect(kinds["stricter"] <= 2, "hardly any conflict that git does not see", kinds)


# Crashes

@needs("git")
@timeout(240)
@each_identity
def test_an_apply_that_is_killed_anywhere_is_finished_by_the_next_or_has_not_happened(t):
    repo, program = begin(t, {"a": text(), "b": "b\n", "c/d": "d\n", "e": "e\n", "keep": "k\n", "mine": "m\n"})
    repo.commit(RESULT, {"a": text(l3="three"), "b": None, "b/now": "a folder\n", "c/d": None, "c": "now a file\n",
                         "e": ("120000", "a"), "new/x": ("100755", "x\n")})
    repo.commit("main", {"keep": "ours\n", "a": text(l20="twenty")})
    repo.git("reset", "-q", "--hard")
    backup = t.path("backup")
    shutil.copytree(repo.folder, backup, symlinks=True)
    seen = {"before": 0, "mixed": 0, "after": 0, "pending": 0}

    def tree():
        return {path: value for path, value in repo.state().items()
                if b"/.git" not in path and b"/.ringfence-rollback" not in path}
    repo.write("mine", "not committed\n")
    old = tree()
    new = None
    for fault in range(1, 200):
        code, _ = ask(program, fault=fault)
        now, head = tree(), repo.head()
        pending = os.path.exists(repo.path(".git/ringfence-apply"))
        seen["before" if now == old else "after" if now == new else "mixed"] += 1
        seen["pending"] += pending
        if pending:
            equal(program.ask("finish")[0], 0, f"finishing at {fault}")
            expect(repo.head() != head or now == new, f"the branch has moved at {fault}")
            equal((tree(), repo.status()), (new or tree(), " M mine"), f"all is there at {fault}")
        code_again, answer = ask(program)
        equal(code_again, 0, f"the next one at {fault}", answer)
        expect(answer["kind"] == ("nothing" if pending or head != repo.git("rev-parse", "main~1") else "merge"),
               f"what the next one did at {fault}", (pending, answer))
        new = new or tree()
        equal(tree(), new, f"the files at {fault}")
        equal(repo.status(), " M mine", f"git status at {fault}")
        equal(repo.git("log", "--format=%p", "-1").count(" "), 1, "a merge commit")
        for left in ("index.lock", "ringfence-apply", "ringfence-lock", "ringfence-index", "ringfence-index.lock"):
            expect(not os.path.exists(repo.path(f".git/{left}")), f"{left} is gone at {fault}")
        equal(repo.try_git("fsck", "--strict").code if fault % 10 == 0 else 0, 0, "git fsck")
        if code == 0:
            break
        shutil.rmtree(repo.folder)
        shutil.copytree(backup, repo.folder, symlinks=True)
        repo.write("mine", "not committed\n")
    expect(code == 0 and seen["before"] > 8 and seen["mixed"] > 4 and seen["after"] > 2 and seen["pending"] > 10,
           "fault points everywhere", seen)


@needs("git")
def test_what_the_user_changes_after_a_kill_is_left_as_it_is(t):
    repo, program = begin(t)
    wanted = repo.commit(RESULT, {"a": text(l3="three"), "b": "theirs\n", "folder/c": "theirs\n", "folder/new": "theirs\n"})
    for fault in range(1, 200):
        if ask(program, fault=fault)[0] == 0 or repo.read("a") != text().encode():
            break
    expect(repo.head() != wanted and repo.read("folder/c") == b"c\n", "it was killed in the midst of it")
    repo.write("folder/c", "mine\n")
    repo.write("a", "mine, too\n")
    answer = apply(program)
    equal((answer["kind"], answer["recovered"], answer["recovered_left"]), ("nothing", True, ["a", "folder/c"]), "what was done")
    equal((repo.head(), repo.read("a"), repo.read("folder/c"), repo.read("folder/new")),
          (wanted, b"mine, too\n", b"mine\n", b"theirs\n"), "the repository")
    equal(repo.status(), " M a\n M folder/c", "git status")


def save(repo, name, content):
    """As an editor does it: the new version takes the place of the old one."""
    repo.write(f"{name}~", content)
    os.rename(repo.path(f"{name}~"), repo.path(name))


@needs("git")
@timeout(240)
@cases("a", "b", "new")
@each_identity
def test_what_the_user_saves_meanwhile_is_not_lost(t, name):
    """A changed, a deleted and a new file, with a crash at every point."""
    repo, program = begin(t)
    first = repo.head()
    theirs = repo.commit(RESULT, {"a": text(l3="three"), "b": None, "new": "theirs\n"})
    seen = set()
    for point in range(1, 200):
        saved = []
        code, answer = ask(program, fault=point, meanwhile=lambda: (save(repo, name, "mine\n"), saved.append(point)))
        equal(code, 0, f"exit status at {point}", answer)
        if not saved:
            break
        equal(repo.read(name), b"mine\n", f"what was saved at {point}", answer)
        expect(repo.head() in (first, theirs) and name in repo.status(), f"git sees it at {point}", (answer, repo.status()))
        expect(repo.head() == theirs or answer["in_the_way"], f"it is done, or told why not, at {point}", answer)
        seen.add("done" if repo.head() == theirs else "refused")
        if name in answer.get("left", []):
            seen.add("left")
        repo.git("clean", "-qf", "new")
        repo.git("reset", "-q", "--hard", first)
    equal(seen, {"done", "refused", "left"}, "all that can come of it")


@needs("git")
@cases("names cannot be exchanged", "a folder is a mount")
def test_what_comes_and_goes_does_so_also_where(t, how):
    repo, program = begin(t)
    wanted = repo.commit(RESULT, {"a": text(l3="three"), "folder/c": None, "new": "new\n"})
    def mount():
        kernel.become_root_of_nothing(kernel.NEWNS)
        kernel.mount(repo.path("folder"), repo.path("folder"), flags=kernel.MS_BIND)
    code, answer = ask(program, begin=kernel.forbid_exchange if how.startswith("names") else mount)
    equal(code, 0, "exit status", answer)
    equal((answer["written"], answer["removed"], answer["left"]), (2, 1, []), "what was done")
    equal(repo.head(), wanted, "HEAD")
    clean(repo)


@needs("git")
def test_what_was_written_aside_before_a_kill_goes_with_the_next_look(t):
    repo, program = begin(t)
    repo.commit(RESULT, {"a": text(l3="three"), "new": "new\n"})
    before, point = repo.head(), 0
    while not os.path.exists(repo.path(".ringfence-rollback")):
        point += 1
        equal(ask(program, fault=point)[0], -9, "it is killed")
    equal(program.ask("finish")[0], 0, "exit status of the one that finishes")
    if repo.head() == before:
        clean(repo)
    expect(not os.path.exists(repo.path(".ringfence-rollback")), "the folder is gone")


# The command

def looped(t, **files):
    """A loop that has done nothing, in a repository; a branch with its name stands for its commits."""
    loop = Loop(t, scripts={"1": "edit done yes"})
    repo = Repository(t, loop.project, {"a": text(), ".gitignore": "/script\n/agent.sh\n/done\n", **files})
    equal(loop.run().code, 0, "exit status of run")
    t.at_home(".gitconfig", "[user]\n\tname = At Home\n\temail = home@example.org\n")
    return loop, repo, f"ringfence/{loop.status()['id']}"


@needs("git")
@each_identity
def test_apply_says_what_it_does(t):
    loop, repo, branch = looped(t)
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status without a branch", result)
    contains(result.err, f"there is no branch {branch}", "stderr")
    contains(result.err, "with --workspace in-place, its changes are already in your files", "where they are")
    theirs = repo.commit(branch, {"a": text(l3="three"), "new": "new\n"})
    result = loop.ringfence("apply", "--dry-run")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "main would be fast-forwarded: 1 commit, 2 files\n  modified  a\n  added     new\n", "stdout")
    expect(repo.head() != theirs, "nothing is changed")
    result = loop.ringfence("apply")
    equal(result.code, 0, "exit status", result)
    contains(result.out, f"main was fast-forwarded: 1 commit from {branch}, 2 files written, 0 removed\n"
                         "to undo this: git reset --keep ", "stdout")
    equal(repo.head(), theirs, "HEAD")
    contains(loop.ringfence("apply").out, "nothing to do: main already contains", "stdout the next time")
    repo.git(*result.out.splitlines()[-1].split()[-4:][1:])
    expect(not os.path.exists(repo.path("new")), "it can be undone")
    answer = json.loads(loop.ringfence("apply", "--json", "--squash").out)
    equal((answer["kind"], answer["branch"]), ("squash", "main"), "as JSON")
    contains(repo.git("log", "-1", "--format=%an|%B"), "At Home|make it\n\nCreated by Ringfence loop", "the commit")


@needs("git")
def test_a_loop_in_the_project_itself_has_left_its_files_there(t):
    loop = Loop(t, scripts={"1": "edit a x; edit b x; git rm -q c; git add -A; git commit -qm by-the-agent; edit b later; edit done x"})
    repo = Repository(t, loop.project)
    for name in "abc":
        loop.write(name, f"{name}\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "the first")
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    equal(repo.git("log", "--format=%s"), "the first", "the user's branch after the loop")
    before = {name: repo.read(name) for name in ("a", "b", "done")}
    result = loop.ringfence("apply")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "0 files written, 0 removed, 2 already up to date", "stdout")
    contains(result.err, "left as it is in the work tree: b\n", "stderr")
    equal(repo.git("log", "-1", "--format=%s"), "by-the-agent", "the user's branch")
    equal(repo.status(), " M b\n?? done", "git status")
    equal({name: repo.read(name) for name in before}, before, "the files")


@needs("git")
def test_a_terminal_is_shown_no_control_characters_of_a_patch(t):
    repo, program = begin(t)
    repo.commit(RESULT, {"new": "\x1b]0;evil\x07\n"}, message="subject\x1b[31m")
    equal(ask(program, "patch", terminal=1)[0], 0, "exit status")
    expect(not set(program.out) & {0x1b, 0x07}, "control characters are shown as text", program.out)
    equal(ask(program, "patch")[0], 0, "exit status")
    expect(0x1b in program.out, "as a control, a file gets the bytes as they are")


@needs("git")
@each_identity
def test_a_run_finishes_an_apply_that_was_cut_off(t):
    loop, repo, branch = looped(t)
    wanted = repo.commit(branch, {"a": text(l3="three"), "new": "new\n"})
    for fault in range(1, 200):
        loop.ringfence("apply", env=t.env(RINGFENCE_SNAPSHOT_FAULT=str(fault)))
        if os.path.exists(repo.path(".git/ringfence-apply")):
            break
    expect(repo.head() != wanted, "it was cut off")
    contains(loop.run().err, "finished an interrupted apply first", "stderr of run")
    equal((repo.head(), repo.git("diff", "HEAD")), (wanted, ""), "the repository")


def laid_out(t, layout):
    """A loop that has not begun, and the repository of its project."""
    ignored = {".gitignore": "script\nagent.sh\ndone\n", "a": text()}
    origin = Repository(t, os.path.join(t.home, "origin"), ignored)
    if layout == "a linked work tree":
        origin.folder = os.path.join(t.home, "linked")
        origin.git("worktree", "add", "-q", "-b", "other", origin.folder, cwd=os.path.join(t.home, "origin"))
        name = "linked"
    elif layout == "a submodule":
        outer = Repository(t, os.path.join(t.home, "outer"))
        outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", origin.folder, "sub")
        origin.folder = os.path.join(outer.folder, "sub")
        name = "outer/sub"
    else:
        name = "origin/below" if layout == "below the root" else "origin"
    return Loop(t, name=name, scripts={"1": "edit done yes"}), origin


@needs("git")
@timeout(240)
@cases("the root", "a linked work tree", "a submodule", "below the root")
def test_a_run_finishes_or_undoes_one_that_was_killed_wherever_git_is(t, layout):
    """After its note it is finished; before that, it has not happened, and its lock does not block git."""
    loop, repo = laid_out(t, layout)
    program = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, loop.project, env=t.env(**WHO))
    git = repo.git("rev-parse", "--absolute-git-dir")
    first = repo.head()
    wanted = repo.commit(RESULT, {"a": text(l3="three"), "new": "new\n"}, base="HEAD")
    point = 0
    for left in ("index.lock", "ringfence-apply"):
        while not os.path.exists(os.path.join(git, left)):
            point += 1
            equal(ask(program, fault=point)[0], -9, "it is killed")
        result = loop.run()
        equal(result.code, 0, "exit status of run", result)
        for name in ("index.lock", "ringfence-apply", "ringfence-lock"):
            expect(not os.path.exists(os.path.join(git, name)), f"{name} is gone", os.listdir(git))
        expect(not os.path.exists(repo.path(".ringfence-rollback")), "the folder is gone", os.listdir(repo.folder))
        equal((repo.head(), repo.git("status", "--porcelain", "-uno")), (first if left == "index.lock" else wanted, ""), f"with {left}")
        equal("finished an interrupted apply" in result.err, left != "index.lock", "what is said", result.err)
        os.unlink(loop.path("done"))
        loop.ident = None


@needs("git")
def test_apply_tells_conflicts_and_what_is_in_the_way(t):
    loop, repo, branch = looped(t)
    repo.commit(branch, {"a": text(l3="three")})
    repo.write("a", "mine\n")
    repo.git("add", "a")
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    contains(result.out, "you have staged another version of a", "stdout")
    contains(result.err, "git stash", "stderr")
    repo.commit("main", {"a": text(l3="mine")})
    repo.git("reset", "-q", "--hard")
    result = loop.ringfence("apply")
    equal(result.code, 1, "exit status", result)
    contains(result.out, "both changed line 3 of a\nnothing was changed; to resolve the conflicts by hand: git merge", "stdout")
    result = loop.ringfence("apply", "--json")
    equal((result.code, json.loads(result.out)["kind"]), (1, "conflict"), "as JSON")
    equal(loop.ringfence("apply", "--squash", "--patch").code, 125, "two ways at once")


@needs("git")
@cases(".envrc", ".vscode/tasks.json", "deep/down/.husky/pre-commit", ".claude/settings.json", "ringfence.yml",
       "tools/hooks/pre-commit", "d\\e/.envrc")
def test_what_the_host_would_execute_needs_a_yes(t, name):
    loop, repo, branch = looped(t)
    repo.git("config", "core.hooksPath", "tools/hooks")
    repo.commit(branch, {name: "evil\n", "a": text(l3="three")})
    before = repo.state()
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "[ringfence] " + name.replace("\\", r"\\") + ": run or obeyed unasked", "stderr")
    contains(result.err, "then use --yes", "stderr")
    equal(repo.state(), before, "the repository")
    result = loop.ringfence("apply", "--yes")
    equal(result.code, 0, "exit status", result)
    expect(os.path.exists(repo.path(name)), "it is there")


@needs("git")
def test_a_patch_names_what_the_host_would_execute_too(t):
    """This holds for each mail, because git am stops between them. The control: a branch without such a file."""
    loop, repo, branch = looped(t)
    repo.git("config", "core.hooksPath", "tools/hooks")
    repo.commit(branch, {"a": text(l3="three")})
    lacks(loop.ringfence("apply", "--patch").err, "run or obeyed unasked", "stderr")
    repo.commit(branch, {".envrc": "evil\n", "tools/hooks/pre-commit": "evil\n"}, base=branch)
    repo.commit(branch, {".envrc": None, "bare/HEAD": "ref: refs/heads/main\n", "bare/objects/x": "", "bare/refs/x": "",
                         "bare/config": "[core]\n"}, base=branch)
    result = loop.ringfence("apply", "--patch")
    equal(result.code, 0, "exit status", result)
    equal(result.out.count("Subject: [PATCH"), 3, "mails")
    for name, why in ((".envrc", ""), ("tools/hooks/pre-commit", "your git configuration uses it as a hook, program or settings"),
                      ("bare/config", "a git directory under another name")):
        contains(result.err, f"[ringfence] {name}: run or obeyed unasked ({why}", "stderr")


OBEYED = {
    "hooks by ~": ("tools/pre-commit", ("core.hooksPath", "~/project/tools")),
    "hooks in the root": ("pre-commit", ("core.hooksPath", ".")),
    "an include": ("tools/git.inc", ("include.path", "../tools/git.inc")),
    "an include by ~": ("tools/git.inc", ("include.path", "~/project/tools/git.inc")),
    "an include with a condition": ("tools/git.inc", ("includeIf.gitdir:/.path", "../tools/git.inc")),
    "a program": ("tools/fsm", ("core.fsmonitor", "tools/fsm")),
    "a script": ("tools/clean.py", ("filter.x.clean", "python3 tools/clean.py %f")),
    "a link to hooks": ("tools/pre-commit", {".git/hooks": "../tools"}),
    "a link to a missing script": ("tools/pc", {".git/hooks/pre-commit": "../../tools/pc"}),
    "a link in a submodule": ("tools/pc", {".git/modules/a/hooks/pre-commit": "../../../../tools/pc"}),
    "a link in a folder of hooks": ("tools/pc", {"../hooks/pre-commit": "../project/tools/pc"}),
}


@needs("git")
@cases(*OBEYED)
def test_what_the_users_configuration_makes_git_obey_needs_a_yes(t, how):
    name, config = OBEYED[how]
    loop, repo, branch = looped(t)
    repo.commit(branch, {name: "evil\n"})
    contains(loop.ringfence("apply", "--dry-run").out, "1 file", "as a control, without it there is nothing to ask")
    if isinstance(config, tuple):
        repo.git("config", *config)
    else:
        repo.git("config", "core.hooksPath", "~/hooks")
        repo.write(".git/modules/a/HEAD", "ref: refs/heads/main\n")
        os.makedirs(repo.path(".git/modules/a/refs"))
        for link, target in config.items():
            os.makedirs(os.path.dirname(repo.path(link)), exist_ok=True)
            os.symlink(target, repo.path(link))
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"[ringfence] {name}: run or obeyed unasked", "stderr")
    equal(loop.ringfence("apply", "--yes").code, 0, "exit status with --yes")


@needs("git")
@each_identity
def test_the_users_configuration_that_lies_in_the_project_needs_a_yes(t):
    loop, repo, branch = looped(t)
    repo.commit("main", {"dot/gitconfig": "[core]\n"})
    repo.git("reset", "-q", "--hard", "main")
    repo.commit(branch, {"dot/gitconfig": "[core]\n\tpager = evil\n"})
    contains(loop.ringfence("apply", "--dry-run").out, "1 file", "as a control, without it there is nothing to ask")
    os.makedirs(os.path.join(t.home, ".config/git"))
    os.symlink(repo.path("dot/gitconfig"), os.path.join(t.home, ".config/git/config"))
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "[ringfence] dot/gitconfig: run or obeyed unasked", "stderr")


@needs("git")
@cases("apply", "apply --patch")
def test_a_file_that_a_link_at_home_leads_to_needs_a_yes(t, command):
    loop, repo, branch = looped(t)
    repo.commit(branch, {"fish/config.fish": "evil\n"})
    contains(loop.ringfence("apply", "--dry-run").out, "1 file", "as a control, without it there is nothing to ask")
    os.makedirs(os.path.join(t.home, ".config/fish"))
    os.symlink(os.path.join(t.home, "project/fish/config.fish"), os.path.join(t.home, ".config/fish/config.fish"))
    result = loop.ringfence(*command.split())
    equal(result.code, 125 if command == "apply" else 0, "exit status", result)
    contains(result.err, "[ringfence] fish/config.fish: run or obeyed unasked "
                         "(a symlink in your home leads to it)", "stderr")


HOOK = ("100755", "#!/bin/sh\n: > ../executed\n")
HARMLESS = ("100755", "#!/bin/sh\n")


def replaced(link, files):
    """The changes that make a folder of these files a symlink to another one."""
    return {**{name: None for name in files}, link: ("120000", "evil")}


# For each: the user's files, the user's configuration, and the agent's changes.
EXECUTED_BY_GIT = {
    "a folder above hooks": ({"th/hooks/pre-commit": HARMLESS}, ("core.hooksPath", "th/hooks"),
                             {**replaced("th", ["th/hooks/pre-commit"]), "evil/hooks/pre-commit": HOOK}),
    "a folder above an included file": ({"gc/extra": "[core]\n"}, ("include.path", "../gc/extra"),
                                        {**replaced("gc", ["gc/extra"]), "evil/extra": "[core]\n\thooksPath = evil\n",
                                         "evil/pre-commit": HOOK}),
    "a folder above a filter": ({"t2/clean": HARMLESS, ".gitattributes": "a filter=f\n"}, ("filter.f.clean", "t2/clean"),
                                {**replaced("t2", ["t2/clean"]), "evil/clean": HOOK}),
    "a folder above a folder in a link's path": (
        {"real/hooks/pre-commit": HARMLESS, "th": ("120000", "real")}, ("core.hooksPath", "th/hooks"),
        {**replaced("real", ["real/hooks/pre-commit"]), "evil/hooks/pre-commit": HOOK}),
    "a link that becomes a folder": (
        {"real/hooks/pre-commit": HARMLESS, "th": ("120000", "real")}, ("core.hooksPath", "th/hooks"),
        {"th": None, "th/hooks/pre-commit": HOOK}),
}


@needs("git")
@cases(*EXECUTED_BY_GIT)
@each_identity
def test_git_executes_nothing_unasked_where_a_folder_is_replaced(t, how):
    """A symlink in place of a folder leads a path of the user's configuration to other files."""
    files, config, changes = EXECUTED_BY_GIT[how]
    loop, repo, branch = looped(t)
    repo.commit("main", files)
    repo.git("reset", "-q", "--hard", "main")
    repo.git("config", *config)
    repo.commit(branch, changes)
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    for name in (name for name, content in changes.items() if content and name != "evil/pre-commit"):
        contains(result.err, f"[ringfence] {name}: run or obeyed unasked", "stderr")
    repo.write("a", "by the user\n")
    repo.try_git("commit", "-q", "-a", "-m", "by the user")
    executed = os.path.join(t.home, "executed")
    expect(not os.path.exists(executed), "nothing of the agent's was executed")
    equal(loop.ringfence("apply", "--yes").code, 0, "exit status with --yes")
    repo.write("a", "by the user again\n")
    repo.try_git("commit", "-q", "-a", "-m", "by the user again")
    expect(os.path.exists(executed), "as a control, after a yes git executes it")


@needs("git")
@cases("apply", "apply --patch")
def test_a_folder_above_the_target_of_a_link_at_home_needs_a_yes(t, command):
    loop, repo, branch = looped(t)
    repo.commit("main", {"dot/bashrc": "true\n"})
    repo.git("reset", "-q", "--hard", "main")
    repo.commit(branch, {**replaced("dot", ["dot/bashrc"]), "evil/bashrc": "evil\n"})
    contains(loop.ringfence("apply", "--dry-run").out, "3 files", "as a control, without it there is nothing to ask")
    os.symlink(repo.path("dot/bashrc"), os.path.join(t.home, ".bashrc"))
    result = loop.ringfence(*command.split())
    equal(result.code, 125 if command == "apply" else 0, "exit status", result)
    for name in ("dot", "evil/bashrc"):
        contains(result.err, f"[ringfence] {name}: run or obeyed unasked "
                             "(a symlink in your home leads to it)", "stderr")


@needs("git")
@cases("the target of a link at home", "a protected symlink")
def test_a_name_that_is_not_utf_8_is_followed_as_well(t, how):
    loop, repo, branch = looped(t)
    odd = os.fsdecode(b"odd\xff")
    repo.commit(branch, {f"{odd}/rc": "evil\n"} if how == "the target of a link at home" else {"conf/rc": "evil\n"})
    contains(loop.ringfence("apply", "--dry-run").out, "1 file", "as a control, without it there is nothing to ask")
    if how == "the target of a link at home":
        os.symlink(os.path.join(loop.project, odd, "rc"), os.path.join(t.home, ".bashrc"))
    else:
        os.makedirs(os.path.join(loop.project, odd))
        os.symlink("../conf", os.path.join(loop.project, odd, ".vscode"))
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "/rc: run or obeyed unasked", "stderr")


# For each: a symlink of the user's with its target, the agent's changes, and those that need a yes.
LED_TO = {
    "a folder": (".vscode", "conf", {"conf/tasks.json": "evil\n"}, ["conf/tasks.json"]),
    "a file": (".envrc", "env/rc", {"env/rc": "evil\n"}, ["env/rc"]),
    "hooks": (".husky", "hk", {"hk/post-merge": HOOK}, ["hk/post-merge"]),
    "settings of a tool": (".cargo", "cg", {"cg/config.toml": "evil\n"}, ["cg/config.toml"]),
    "instructions": ("CLAUDE.md", "docs/a.md", {"docs/a.md": "evil\n"}, ["docs/a.md"]),
    "a file in a folder": (".vscode/tasks.json", "../conf/t", {"conf/t": "evil\n"}, ["conf/t"]),
    "a chain": ("s/.vscode", "../a2/b/c", {"a2/b": ("120000", "../d"), "d/c/tasks.json": "evil\n"},
                ["a2/b", "d/c/tasks.json"]),
}


@needs("git")
@cases(*((how, kind) for how in LED_TO for kind in ("tracked", "ignored")))
def test_a_file_that_a_protected_symlink_leads_to_needs_a_yes(t, how, kind):
    link, target, changes, asked = LED_TO[how]
    loop, repo, branch = looped(t)
    repo.commit(branch, {**changes, "a": text(l3="three")})
    lacks(loop.ringfence("apply", "--dry-run").err, "[ringfence] ", "stderr without it, as a control")
    if kind == "tracked":
        repo.commit("main", {link: ("120000", target)})
        repo.git("reset", "-q", "--hard", "main")
        repo.commit(branch, {**changes, "a": text(l3="three")})
    else:
        repo.write(".git/info/exclude", f"/{link}\n")
        os.makedirs(os.path.dirname(repo.path(link)), exist_ok=True)
        os.symlink(target, repo.path(link))
    before = repo.state()
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    for name in asked:
        contains(result.err, f"[ringfence] {name}: ", "stderr")
    contains(result.err, f"{link} leads to it", "stderr")
    lacks(result.err, "[ringfence] a: ", "stderr")
    equal(repo.state(), before, "the repository")
    equal(loop.ringfence("apply", "--yes").code, 0, "exit status with --yes")


@needs("git")
def test_a_protected_symlink_that_comes_names_its_target_too(t):
    loop, repo, branch = looped(t)
    repo.commit(branch, {".vscode": ("120000", "conf"), "conf/tasks.json": "evil\n"})
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    for name in (".vscode", "conf/tasks.json"):
        contains(result.err, f"[ringfence] {name}: run or obeyed unasked", "stderr")


@needs("git")
@cases("all of it comes", "its head comes", "it is there and its settings change")
def test_a_git_directory_among_files_needs_a_yes(t, how):
    """Whatever its name: git obeys the repository that it finds in the current folder."""
    loop, repo, branch = looped(t)
    bare = {"tools/x/HEAD": "ref: refs/heads/main\n", "tools/x/objects/y": "", "tools/x/refs/y": "",
            "tools/x/config": "[core]\n\tfsmonitor = evil\n"}
    first = {} if how == "all of it comes" else {name: text for name, text in bare.items() if not name.endswith(
        "HEAD" if how == "its head comes" else "config")}
    if first:
        repo.commit("main", first)
        repo.git("reset", "-q", "--hard", "main")
    repo.commit(branch, {name: text for name, text in bare.items() if name not in first})
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "a git directory under another name", "stderr")
    repo.commit(branch, {"tools/HEAD": "x\n", "objects": "x\n"})
    equal(loop.ringfence("apply").code, 0, "as a control, a file called HEAD")


MONITOR = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {folder}\n\tfsmonitor = \"touch {mark}; false\"\n"
COMMON = "[core]\n\trepositoryformatversion = 1\n\tfsmonitor = \"touch {mark}; false\"\n[extensions]\n\tworktreeConfig = true\n"
PRIVATE = "[core]\n\tbare = false\n\tworktree = {folder}\n"
REF = "ref: refs/heads/main\n"
# Each: the folder in which the user then uses git, and the files that apply brings.
DIRECTORIES = {
    "one folder": ("docs", {"docs/HEAD": REF, "docs/objects/k": "", "docs/refs/k": "", "docs/config": MONITOR}),
    "with its configuration elsewhere":
        ("docs", {"docs/HEAD": REF, "docs/commondir": "../lib\n", "docs/config.worktree": PRIVATE, "lib/objects/k": "",
                  "lib/refs/k": "", "lib/config": COMMON}),
    "with everything but its head in the project's root":
        ("docs", {"docs/HEAD": REF, "docs/commondir": "..\n", "docs/config.worktree": PRIVATE, "objects/k": "", "refs/k": "", "config": COMMON}),
    "below the folder with its configuration":
        ("lib/docs", {"lib/docs/HEAD": REF, "lib/docs/commondir": "..\n", "lib/docs/config.worktree": PRIVATE, "lib/objects/k": "",
                      "lib/refs/k": "", "lib/config": COMMON}),
    "of links": ("docs", {"docs/HEAD": ("120000", "refs/heads/main"), "docs/objects": ("120000", "../one"), "docs/refs": ("120000", "../one"),
                          "docs/config": ("120000", "../one/plain"), "one/plain": MONITOR}),
    "of programs": ("docs", {"docs/HEAD": REF, "docs/objects": ("100755", "x"), "docs/refs": ("100755", "x"), "docs/config": MONITOR}),
    "with a commit at its head": ("docs", {"docs/HEAD": "1" * 40 + "\n", "docs/objects/k": "", "docs/refs/k": "", "docs/config": MONITOR}),
}


def run_by_git(repo, folder, mark):
    """Uses git as a person would, and reports whether it ran what was planted."""
    if os.path.isdir(repo.path(folder)):
        repo.try_git("status", cwd=os.fsdecode(repo.path(folder)))
    ran = os.path.exists(mark)
    if ran:
        os.unlink(mark)
    return ran


def planted(t, how):
    """The parts of a git directory, and the file that git would create if it obeyed its configuration."""
    folder, parts = DIRECTORIES[how]
    mark = os.path.join(t.outside, "mark")

    def filled(part):
        text = part[1] if isinstance(part, tuple) else part
        text = text.replace("{mark}", mark).replace("{folder}", t.path(folder))
        return (part[0], text) if isinstance(part, tuple) else text
    return folder, {name: filled(part) for name, part in parts.items()}, mark


@needs("git")
@cases(*DIRECTORIES)
def test_a_git_directory_of_any_form_needs_a_yes(t, how):
    folder, parts, mark = planted(t, how)
    loop, repo, branch = looped(t)
    repo.commit(branch, parts)
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"[ringfence] {folder}/HEAD: run or obeyed unasked", "stderr")
    contains(result.err, "a git directory under another name", "stderr")
    expect(not run_by_git(repo, folder, mark), "git runs nothing")
    equal(loop.ringfence("apply", "--yes").code, 0, "exit status with --yes")
    expect(run_by_git(repo, folder, mark), "as a control, git would have run it")


@needs("git")
@cases(*DIRECTORIES)
def test_a_git_directory_that_comes_in_parts_needs_a_yes(t, how):
    """Whichever part is the last. The others are there: committed before, or files that git ignores."""
    folder, parts, mark = planted(t, how)
    loop, repo, branch = looped(t)
    first = repo.head()
    for last in sorted(name for name in parts if name.rsplit("/", 1)[-1] not in ("plain", "config.worktree")):
        others = {name: part for name, part in parts.items() if name != last}
        repo.commit(branch, {last: parts[last]}, base=repo.commit("others", others, base=first))
        repo.git("reset", "-q", "--hard", "others")
        result = loop.ringfence("apply")
        equal(result.code, 125, f"exit status with {last} after a commit", result)
        contains(result.err, f"[ringfence] {last}: run or obeyed unasked", "stderr")
        repo.git("reset", "-q", first)
        repo.write(".git/info/exclude", "".join(f"/{name.split('/')[0]}\n" for name in others))
        repo.commit(branch, {last: parts[last]}, base=first)
        result = loop.ringfence("apply")
        equal(result.code, 125, f"exit status with {last} beside ignored files", result)
        contains(result.err, f"[ringfence] {last}: run or obeyed unasked", "stderr")
        expect(not run_by_git(repo, folder, mark), "git runs nothing")
        for name in {name.split("/")[0] for name in others}:
            path = repo.path(name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


@needs("git")
def test_folders_that_are_not_git_directories_need_no_yes(t):
    """A library for git has folders of these names."""
    loop, repo, branch = looped(t)
    repo.commit(branch, {"git/objects/base.py": "", "git/refs/head.py": "", "git/config.py": "", "docs/HEAD": "", "docs/config": "",
                         "web/hooks/use.js": "", "web/refs/x.js": "", "web/config/x.js": "", "web/HEAD/x": "", "web/commondir": ""})
    result = loop.ringfence("apply")
    equal(result.code, 0, "exit status", result)


# Files that only the history has

PASSING = {
    "a hook": ({".husky/pre-commit": "evil\n"}, ".husky/pre-commit", "husky"),
    "a workflow": ({".github/workflows/x.yml": "evil\n"}, ".github/workflows/x.yml", "after a push"),
    "an obeyed file": ({"tools/hooks/pre-commit": "evil\n"}, "tools/hooks/pre-commit", "your git configuration uses it"),
    "a git directory": ({"docs/HEAD": REF, "docs/refs/k": "", "docs/config": "x"}, "docs/HEAD", "a git directory under another name"),
}


def asks_about_history(loop, repo, name, commit, why):
    """Only ways that bring the commits ask, and they change nothing before."""
    before = repo.state()
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    line = next((line for line in result.err.splitlines() if f"only in the history: {name} " in line), "")
    for part in (f"(commit {commit[:10]}): ", why, "; --squash leaves it out"):
        contains(line, part, "the line about the file")
    contains(result.err, "then use --yes or --squash", "stderr")
    equal(repo.state(), before, "the repository")


@needs("git")
@cases(*[(name, way) for name in PASSING for way in ("forward", "merge")])
def test_a_file_that_only_the_history_has_needs_a_yes_too(t, name, way):
    """A checkout, bisect or rebase would put it into the folder later. The control: --squash does not bring it."""
    files, path, why = PASSING[name]
    loop, repo, branch = looped(t)
    repo.git("config", "core.hooksPath", "tools/hooks")
    evil = repo.commit(branch, {**files, "a": text(l3="three")})
    repo.commit(branch, {name: None for name in files}, base=branch)
    if way == "merge":
        repo.commit("main", {"b": "ours\n"})
        repo.git("reset", "-q", "--hard")
    start = repo.head()
    asks_about_history(loop, repo, path, evil, why)
    answer = json.loads(loop.ringfence("apply", "--dry-run", "--json").out)
    equal([(item["path"], item["commit"]) for item in answer["executed"] if item["path"] == path], [(path, evil)], "as JSON")
    lacks(answer, "history", "the answer")
    result = loop.ringfence("apply", "--squash")
    equal((result.code, result.err), (0, ""), "exit status and stderr with --squash", result)
    expect(evil not in repo.git("log", "--format=%H"), "the squash does not have the commit")
    repo.git("reset", "-q", "--hard", start)
    equal(loop.ringfence("apply", "--yes").code, 0, "exit status with --yes")
    contains(repo.git("log", "--format=%H"), evil, "the history")


@needs("git")
def test_another_version_in_the_history_is_named_beside_that_of_the_result(t):
    loop, repo, branch = looped(t)
    evil = repo.commit(branch, {".envrc": "evil\n"})
    repo.commit(branch, {".envrc": "harmless\n"}, base=branch)
    asks_about_history(loop, repo, ".envrc", evil, "direnv")
    contains(loop.ringfence("apply").err, "[ringfence] .envrc: run or obeyed unasked", "stderr")


@needs("git")
def test_the_parts_of_a_git_directory_may_come_with_several_commits_of_the_history(t):
    """One part was the user's own, and the result has none. The control: parts that are never together."""
    loop, repo, branch = looped(t, **{"docs/refs/k": ""})
    first = repo.head()
    repo.commit("main", {"docs/refs/k": None})
    repo.git("reset", "-q", "--hard")
    evil = repo.commit(branch, {"docs/HEAD": REF}, base=first)
    repo.commit(branch, {"docs/HEAD": None, "docs/refs/k": None}, base=branch)
    asks_about_history(loop, repo, "docs/HEAD", evil, "a git directory under another name")
    repo.commit(branch, {"docs/HEAD": REF}, base=first)
    repo.commit(branch, {"docs/refs/k": None}, base=branch)
    asks_about_history(loop, repo, "docs/HEAD", repo.git("rev-parse", f"{branch}~1"), "a git directory under another name")
    repo.commit(branch, {"docs/refs/k": None, "docs/x": "x"}, base=first)
    repo.commit(branch, {"docs/HEAD": REF}, base=branch)
    repo.commit(branch, {"docs/HEAD": None}, base=branch)
    equal(loop.ringfence("apply").code, 0, "exit status of the control")


@needs("git")
def test_what_a_merge_in_the_history_brings_needs_a_yes(t):
    """The file may be in the merge alone, or in a side that it drops."""
    loop, repo, branch = looped(t)
    side = repo.commit("side", {".envrc": "evil\n"})
    repo.commit(branch, {"a": text(l3="three")})
    tree = repo.git("rev-parse", f"{branch}^{{tree}}")
    both = repo.git("commit-tree", tree, "-p", branch, "-p", "side", "-m", "without the side's file")
    repo.git("update-ref", f"refs/heads/{branch}", both)
    asks_about_history(loop, repo, ".envrc", side, "direnv")
    evil = repo.commit("evil", {".envrc": "evil\n", "a": text(l3="three")})
    one = repo.commit("one", {"a": text(l3="three")})
    both = repo.git("commit-tree", f"{evil}^{{tree}}", "-p", one, "-p", "main", "-m", "with a file of its own")
    repo.git("update-ref", f"refs/heads/{branch}", both)
    repo.commit(branch, {".envrc": None}, base=branch)
    asks_about_history(loop, repo, ".envrc", both, "direnv")


@needs("git")
def test_what_the_user_has_committed_already_is_not_asked_about(t):
    """Source files that come and go do not count, nor does the user's own file that the loop deletes and restores."""
    loop, repo, branch = looped(t, **{".envrc": "mine\n"})
    repo.commit(branch, {".envrc": None, "new.c": "x\n"})
    repo.commit(branch, {".envrc": "mine\n", "new.c": "y\n"}, base=branch)
    repo.commit(branch, {".envrc": None, "new.c": None}, base=branch)
    result = loop.ringfence("apply")
    equal((result.code, result.err), (0, ""), "exit status and stderr", result)


@needs("git")
def test_a_branch_that_moves_after_the_look_is_not_applied(t):
    """Also if its tree is the same: its history is not what was shown."""
    repo, program = begin(t)
    repo.commit(RESULT, {"a": text(l3="three")})
    seen = apply(program, dry=1)
    repo.commit(RESULT, {".envrc": "evil\n"}, base=RESULT)
    repo.commit(RESULT, {".envrc": None}, base=RESULT)
    refused(repo, program, "a branch moved in the meantime", tree=seen["tree"], theirs=seen["theirs"])
    seen = apply(program, dry=1)
    equal(apply(program, tree=seen["tree"], theirs=seen["theirs"])["kind"], "forward", "the control")


@needs("git")
def test_a_history_that_is_too_long_to_be_judged_is_refused(t):
    repo, program = begin(t)
    stream = [f"commit refs/heads/{RESULT}\ncommitter A <a@example.org> {1700000000 + number} +0000\ndata 1\nx\n"
              + (f"from {repo.head()}\n" if number == 0 else "") + f"M 100644 inline a\ndata {len(str(number))}\n{number}\n"
              for number in range(10001)]
    repo.git("fast-import", "--quiet", input="".join(stream))
    refused(repo, program, "brings more than 10000 commits, too many to judge (use --squash)")
    equal(apply(program, squash=1)["kind"], "squash", "the control")
