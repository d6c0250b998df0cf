"""Git for the agent: inside it commits as it likes, and only objects and refs come into the user's repository."""

import json
import os
import signal

from harness import cases, contains, each_identity, equal, expect, lacks, needs, timeout
from harness.gitrepo import Private, Repository
from harness.loop import LoopInPlace as Loop
from harness.loop import WORKSPACES, keepers, kill, until

ANY_IDENTITY = "Commits come in by their content; who may write to the private git directory is tested as each."

COMMIT = "git add -A; git commit -q -m 'by the agent'; "


def begin(t, script, *words, repository=None, scripts=None, name="project", workspace="in-place"):
    """A loop in a repository, run to its end."""
    loop = Loop(t, name, scripts=scripts or {"1": f"{script}; edit done yes"}, workspace=workspace)
    repo = repository or Repository(t, loop.project).filled()
    loop.result = loop.run(*words)
    return loop, repo


def branch(loop):
    return f"ringfence/{loop.status()['id']}"


def last_of_agent(loop, workspace):
    """The agent's last commit. On a draft, one of what it left uncommitted follows."""
    return branch(loop) + ("~1" if workspace == "draft" else "")


@needs("git")
@cases(*WORKSPACES)
@each_identity
def test_the_agent_commits_and_the_user_finds_a_branch(t, workspace):
    loop = Loop(t, scripts={"1": f"edit new.txt hello; {COMMIT} git log --format=%an%n%ae%n%s > seen; edit done yes"},
                workspace=workspace)
    repo = Repository(t, loop.project).filled()
    before = repo.state()
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    equal(repo.state(), before, "index, HEAD, refs, configuration and hooks of the user")
    last = last_of_agent(loop, workspace)
    equal(repo.git("log", "-1", "--format=%s", last), "by the agent", "the commit")
    equal(repo.git("show", f"{last}:new.txt"), "hello", "what is in it")
    equal(repo.git("rev-parse", f"{last}^"), repo.git("rev-parse", "HEAD"), "its parent")
    contains(loop.outcome("seen"), "A User\nuser@example.org\nby the agent", "who committed")
    repo.fsck()
    contains(result.out + result.err, f"committed: {branch(loop)} is ", "what is told")
    contains(loop.ringfence("status").out, f"committed: {branch(loop)} is ", "what status says")
    with open(os.path.join(loop.folder, "iterations/1/prompt.md"), encoding="utf-8") as file:
        contains(file.read(), "You can commit, branch, stash and rebase", "what the agent is told")


@needs("git")
@cases(*WORKSPACES)
@each_identity
def test_the_agent_amends_branches_tags_stashes_and_rebases_over_iterations(t, workspace):
    scripts = {
        "1": f"edit one 1; {COMMIT} git commit -q --amend -m amended; git branch side HEAD~1; git tag light; "
             "git tag -a -m annotated heavy; edit file.txt stashed; git stash -q",
        "2": f"git log -1 --format=%s > subject; git checkout -q side; edit two 2; git add two; git commit -q -m two; "
             "git checkout -q main; git rebase -q side; git branch -d light 2>/dev/null; git stash pop -q; "
             "git commit -q -am popped; edit done yes",
    }
    loop, repo = begin(t, "", scripts=scripts, workspace=workspace)
    equal(loop.result.code, 0, "exit status of run", loop.result)
    below = f"refs/ringfence/{loop.status()['id']}"
    equal(loop.outcome("subject"), "amended\n", "what the second iteration found")
    last = last_of_agent(loop, workspace)
    equal(repo.git("log", "--format=%s", last).split("\n"),
          ["popped", "amended", "two", "the second", "the first"], "the history")
    refs = repo.refs("refs/ringfence")
    equal(sorted(refs), [f"{below}/heads/side", f"{below}/stash", f"{below}/tags/heavy", f"{below}/tags/light"],
          "what came beside the branch")
    equal(repo.git("log", "-1", "--format=%s", f"{below}/heads/side"), "two", "the other branch")
    equal(repo.git("cat-file", "-t", f"{below}/tags/heavy"), "tag", "the annotated tag")
    equal(repo.git("diff", "--stat", "main", last).count("|"), 3, "files in the diff")
    equal(repo.git("stash", "list"), "", "the user's stash")
    repo.fsck()


def object_times(repo, only=None):
    """When each file of the user's objects was last modified."""
    times = {}
    for base, _, files in os.walk(os.path.join(repo.folder, "objects")):
        for path in (os.path.join(base, name) for name in files):
            if only is None or path in only:
                times[path] = os.stat(path).st_mtime_ns
    return times


@needs("git")
@cases("packed", "loose", "both")
def test_a_commit_after_every_file_was_touched_writes_only_what_is_new(t, kind):
    script = ("touch -d 2001-01-01 f*; edit f1 new; git commit -q -am 'by the agent'; "
              "git count-objects > seen; edit done yes")
    loop = Loop(t, scripts={"1": script})
    repo = Repository(t, loop.project).filled()
    for i in range(40):
        repo.write(f"f{i}", f"{i}\n")
        if i == 20 and kind == "both":
            repo.commit()
            repo.git("gc", "-q")
    repo.commit()
    if kind == "packed":
        repo.git("gc", "-q")
    before = object_times(repo)
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    equal(loop.tree()["seen"].split()[0], "3", "objects: a file, a tree and a commit")
    equal(repo.git("diff", "--name-only", "main", branch(loop)), "f1", "the commit")
    equal(object_times(repo, before), before, "times of the user's objects")
    repo.fsck()


@needs("git")
@each_identity
def test_git_status_inside_is_what_the_user_sees(t):
    loop = Loop(t, scripts={"1": "git status --porcelain=v2 --branch > /tmp/x; git diff > /tmp/d; git diff --cached > /tmp/c; "
                                 "cat /tmp/x /tmp/d /tmp/c > seen; edit done yes"})
    repo = Repository(t, loop.project).filled()
    for name in ("staged", "changed", "gone", "both", "sub/deep"):
        repo.write(name)
    repo.write(".gitignore", "*.log\n")
    repo.commit()
    repo.write("staged", "y\n")
    repo.git("add", "staged")
    repo.write("both", "y\n")
    repo.git("add", "both")
    for name in ("both", "changed"):
        repo.write(name, "z\n")
    os.unlink(loop.path("gone"))
    repo.write("new")
    repo.write("x.log")
    wanted = repo.git("status", "--porcelain=v2", "--branch") + "\n" + repo.git("diff") + "\n" + repo.git("diff", "--cached")
    before = repo.state()
    equal(loop.run().code, 0, "exit status of run")
    equal(loop.tree()["seen"].strip(), wanted, "what git says inside")
    equal(repo.state(), before, "the user's git directory")


@needs("git")
def test_a_file_that_changed_when_the_index_was_written_is_seen_inside(t):
    """Size and time match the index, which is equally old: git reads the file, unless a copy of the index is younger."""
    status = "git -c core.trustctime=false status --porcelain file.txt"
    loop = Loop(t, scripts={"1": f"{status} > seen; edit done yes"})
    repo = Repository(t, loop.project).filled()
    then = 1600000000
    os.utime(loop.path("file.txt"), (then, then))
    repo.git("update-index", "--refresh")
    repo.write("file.txt", "one\n")
    os.utime(loop.path("file.txt"), (then, then))
    equal(repo.git(*status.split()[1:]), "", "a control: beside a younger index git does not see it")
    os.utime(loop.path(".git/index"), (then, then))
    equal(loop.run().code, 0, "exit status of run")
    equal(loop.tree()["seen"], " M file.txt\n", "what git says inside")


@needs("git")
def test_without_a_commit_nothing_comes_in(t):
    loop, repo = begin(t, "git status > /dev/null; git branch other; git add -A; git stash -q; git stash drop -q; git checkout -q other")
    equal(loop.result.code, 0, "exit status of run", loop.result)
    equal(list(repo.refs()), ["refs/heads/main"], "the refs")
    expect(not os.path.exists(os.path.join(repo.folder, "refs/ringfence")), "no folder is left")
    lacks(loop.result.out + loop.result.err, "committed", "what is told")


@needs("git")
def test_an_agent_that_empties_its_git_is_told_of_and_told_once(t):
    scripts = {"1": "rm -rf .git/* .git/.??*; edit a 1", "2": "git status >status 2>&1; edit a 2", "3": "edit done yes"}
    loop, repo = begin(t, "", scripts=scripts)
    equal(loop.result.code, 0, "exit status of run", loop.result)
    sentence = "the agent emptied .git: git does not work in the fence for the rest of the loop"
    equal(loop.result.out.count(f"  {sentence}\n"), 1, "how often it is told", loop.result.out)
    contains(loop.ringfence("status").out, f"    {sentence}\n", "what status says")
    equal(loop.status()["git"]["why"], sentence, "as JSON")
    contains(loop.tree()["status"], "not a git repository", "what git says inside")
    for number, part in ((1, "You can commit, branch"), (2, "Git no longer works here, because .git was emptied")):
        with open(os.path.join(loop.folder, f"iterations/{number}/prompt.md"), encoding="utf-8") as file:
            contains(file.read(), part, f"what the agent is told in iteration {number}")
    repo.fsck()


@needs("git")
@each_identity
def test_with_read_only_the_agent_cannot_commit(t):
    loop, repo = begin(t, f"edit new x; {COMMIT} true", "--git", "read-only")
    equal(list(repo.refs()), ["refs/heads/main"], "the refs")
    expect(not os.path.exists(os.path.join(loop.folder, "git")), "there is no private directory")
    with open(os.path.join(loop.folder, "iterations/1/prompt.md"), encoding="utf-8") as file:
        contains(file.read(), "Do not commit", "what the agent is told")
    other, repo = begin(t, f"edit new x; {COMMIT} true", name="second")
    contains(list(repo.refs()), f"refs/heads/{branch(other)}", "as a control, by default it can")


@needs("git")
def test_a_project_may_only_make_git_read_only(t):
    loop = Loop(t, scripts={"1": f"edit new x; {COMMIT} true; edit done yes"})
    loop.write("ringfence.yml", "git: read-only\n")
    repo = Repository(t, loop.project).filled()
    loop.run()
    equal(list(repo.refs()), ["refs/heads/main"], "the refs")
    os.makedirs(os.path.join(t.home, ".config/ringfence"))
    with open(os.path.join(t.home, ".config/ringfence/config.yml"), "w", encoding="utf-8") as file:
        file.write("git: read-only\n")
    loop.write("ringfence.yml", "git: private\n")
    os.unlink(loop.path("done"))
    loop.run()
    equal(list(repo.refs()), ["refs/heads/main"], "the refs when the project would widen it")
    contains(loop.ringfence("config", "git").out, "read-only", "what holds")


# Repositories of all kinds

@needs("git")
@each_identity
def test_in_a_linked_work_tree_the_agent_commits_as_well(t):
    main = Repository(t, os.path.join(t.home, "main")).filled()
    project = os.path.join(t.home, "tree")
    main.git("worktree", "add", "-q", "-b", "topic", project)
    loop = Loop(t, "tree", scripts={"1": f"git rev-parse --abbrev-ref HEAD > seen; git status --short >> seen; "
                                         f"edit new x; {COMMIT} true; edit done yes"})
    before = main.state()
    repo = Repository(t, project)
    before = main.state()
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    equal(main.state(), before, "the git directory of all work trees")
    equal(main.git("log", "-1", "--format=%s", branch(loop)), "by the agent", "the commit")
    equal(main.git("rev-parse", f"{branch(loop)}^"), repo.git("rev-parse", "topic"), "its parent")
    contains(loop.tree()["seen"], "topic\n", "the branch inside")
    main.fsck()


@needs("git")
def test_a_git_file_that_leads_to_a_folder_which_does_not_know_of_it_is_not_followed(t):
    other = Repository(t, os.path.join(t.home, "other")).filled()
    loop = Loop(t, scripts={"1": "git log > seen 2>&1; ls /run/ringfence > listing; edit done yes"})
    loop.write(".git", f"gitdir: {other.folder}\n")
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    contains(loop.status()["git"]["why"], "does not point back to it", "why")
    equal(loop.tree()["listing"], "init\n", "what is shown inside")


@needs("git")
@each_identity
def test_submodules_are_there_and_only_read(t):
    inner = Repository(t, os.path.join(t.home, "inner")).filled()
    loop = Loop(t, scripts={"1": f"git submodule status > seen; git -C sub log -1 --format=%s >> seen; git status --short >> seen; "
                                 f"git -C sub commit -q --allow-empty -m no 2>/dev/null && echo committed >> seen; "
                                 f"edit new x; git add new; git commit -qm 'by the agent'; edit done yes"})
    repo = Repository(t, loop.project)
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "sub")
    repo.commit("with a submodule")
    repo.write("sub/file.txt", "changed\n")
    before = repo.state()
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    equal(repo.state(), before, "the git directories")
    seen = loop.tree()["seen"]
    contains(seen, "the second\n", "git in the submodule")
    contains(seen, " m sub\n", "git status")
    contains(seen, f" {inner.git('rev-parse', 'HEAD')} sub", "git submodule status")
    lacks(seen, "committed", "a commit there")
    contains(result.out + result.err, "git is read-only in submodules", "what is told")
    equal(repo.git("log", "-1", "--format=%s", branch(loop)), "by the agent", "the commit")
    repo.fsck()


@needs("git")
def test_a_submodule_that_is_the_project_has_a_private_git(t):
    inner = Repository(t, os.path.join(t.home, "inner")).filled()
    outer = Repository(t, os.path.join(t.home, "outer"))
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "sub")
    loop = Loop(t, "outer/sub", scripts={"1": f"edit new x; {COMMIT} true; edit done yes"})
    repo = Repository(t, loop.project)
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    equal(repo.git("log", "-1", "--format=%s", branch(loop)), "by the agent", "the commit")


@needs("git")
def test_a_shallow_clone_stays_shallow(t):
    origin = Repository(t, os.path.join(t.home, "origin")).filled()
    project = os.path.join(t.home, "clone")
    equal(t.run(["git", "clone", "-q", "--depth", "1", f"file://{origin.path}", project]).code, 0, "git clone")
    loop, repo = begin(t, f"git log --format=%s > seen; edit new x; {COMMIT} true", repository=Repository(t, project), name="clone")
    equal(loop.result.code, 0, "exit status", loop.result)
    equal(repo.git("log", "--format=%s", branch(loop)).split("\n"), ["by the agent", "the second"], "the history")
    equal(loop.tree()["seen"], "the second\n", "the history inside")
    repo.fsck()


@needs("git")
@each_identity
def test_a_repository_without_commits_gets_its_first_one(t):
    loop = Loop(t, scripts={"1": f"edit new x; {COMMIT} true; edit done yes"})
    repo = Repository(t, loop.project)
    before = repo.state()
    equal(loop.run().code, 0, "exit status")
    equal(repo.git("log", "--format=%s", branch(loop)), "by the agent", "the history")
    equal(repo.state(), before, "the user's git directory")


def test_without_a_repository_nothing_is_made(t):
    loop = Loop(t, scripts={"1": "edit done yes"})
    equal(loop.run().code, 0, "exit status")
    expect(not os.path.exists(loop.path(".git")), "no stub is left")
    expect(not os.path.exists(os.path.join(loop.folder, "git")), "nothing in the state either")
    equal((loop.status()["git"]["mode"], loop.status()["git"]["why"]), ("none", "the project is not a git repository"), "what is told")


@needs("git")
@cases("private", "read-only")
@each_identity
def test_a_subfolder_of_a_repository_is_the_project_and_has_no_git(t, mode):
    loop = Loop(t, "whole/part", scripts={"1": "git log >seen 2>&1; edit done yes"})
    repo = Repository(t, os.path.dirname(loop.project)).filled()
    result = loop.run("--git", mode)
    equal(result.code, 0, "exit status", result)
    sentence = f"the project is only part/ of the repository {repo.path} (for the whole repository: --project {repo.path})"
    equal(result.err.replace("\n", " ").count(sentence), 1, "how often it is told", result.err)
    contains(loop.tree()["seen"], "not a git repository", "what git says inside")
    with open(os.path.join(loop.folder, "iterations/1/prompt.md"), encoding="utf-8") as file:
        lacks(file.read(), "git status, diff and log work", "the prompt")
    if mode == "private":
        equal(loop.status()["git"]["why"], f"the project is only a part of the repository '{repo.path}'", "why, in JSON")
    words = ("exec", "--", "true")
    contains(loop.ringfence(*words).err.replace("\n", " "), sentence, "exec")
    equal(loop.ringfence("exec", "--project", ".", "--", "true").err, "", "exec in a project that was chosen")


@needs("git")
def test_a_repository_that_was_planted_before_a_crash_is_not_borrowed_from(t):
    other = Repository(t, os.path.join(t.home, "other")).filled()
    loop = Loop(t, scripts={"1": "[ -f planted ] || { git init -q .; echo " + other.folder + "/objects > "
                                 ".git/objects/info/alternates; edit planted x; meet never; }; "
                                 "ls /run/ringfence > listing; ls -a > entries; edit done yes"})
    loop.detach()
    loop.there("planted")
    all_of_it = (keepers()[0], loop.supervisor(), loop.runner())
    for pid in all_of_it:
        os.kill(pid, signal.SIGSTOP)  # otherwise the others would be faster than this test, and clean up
    for pid in all_of_it:
        kill(pid)
    until("nobody", lambda: loop.status()["supervisor_pid"] is None)
    t.all_gone()
    expect(os.path.exists(loop.path(".git")), "it is there when the loop goes on")
    equal(loop.ringfence("resume").code, 0, "exit status of resume")
    loop.ended("completed")
    equal(loop.tree()["listing"], "init\n", "what is shown inside")
    lacks(loop.tree()["entries"], ".git\n", "what was planted")
    equal(loop.status()["git"]["mode"], "none", "what git is inside")


@needs("git")
def test_objects_that_are_borrowed_already_are_borrowed_again(t):
    origin = Repository(t, os.path.join(t.home, "origin")).filled()
    project = os.path.join(t.home, "clone")
    equal(t.run(["git", "clone", "-q", "-s", origin.path, project]).code, 0, "git clone")
    loop, repo = begin(t, f"git log --format=%s > seen 2>&1; git fsck > seen.fsck 2>&1; edit new x; {COMMIT} true",
                       repository=Repository(t, project), name="clone")
    equal(loop.tree()["seen"], "the second\nthe first\n", "the history inside")
    lacks(loop.tree()["seen.fsck"], "error", "git fsck inside")
    equal(repo.git("log", "-1", "--format=%s", branch(loop)), "by the agent", "the commit")
    repo.fsck()


@needs("git")
@cases("SHA-256", "partial clone", "reftable", "an unknown extension", "another work tree", "a symlink")
@each_identity
def test_what_cannot_be_private_is_read_only_and_named(t, kind):
    loop = Loop(t, scripts={"1": f"edit new x; ({COMMIT} true) > /dev/null 2>&1; edit done yes"})
    words, config, why = {
        "SHA-256": (("--object-format=sha256",), (), "SHA-256"),
        "partial clone": ((), ("extensions.partialClone=origin", "core.repositoryformatversion=1"), "partial clone"),
        "reftable": ((), ("extensions.refStorage=reftable",), "reftable"),
        "an unknown extension": ((), ("extensions.fancy=1",), "extension"),
        "another work tree": ((), (f"core.worktree={t.outside}",), "another folder"),
        "a symlink": ((), (), "neither a folder nor a file"),
    }[kind]
    repo = Repository(t, loop.project, *words).filled()
    for entry in config:
        repo.git("config", *entry.split("="))
    if kind == "a symlink":
        os.rename(loop.path(".git"), os.path.join(t.home, "elsewhere.git"))
        os.symlink(os.path.join(t.home, "elsewhere.git"), loop.path(".git"))
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    contains(result.out + result.err, "git is read-only inside the fence: ", "what is told")
    contains(loop.status()["git"]["why"], why, "why")
    expect(not os.path.exists(os.path.join(loop.folder, "git")), "there is no private directory")


@needs("git")
def test_a_sparse_checkout_with_a_sparse_index_works(t):
    loop = Loop(t, scripts={"1": f"git status --short > seen; edit in/new x; git add in/new; git commit -qm 'by the agent'; edit done yes"})
    repo = Repository(t, loop.project)
    for name in ("in/a", "out/b", "out/deep/c"):
        repo.write(name)
    repo.commit()
    repo.git("sparse-checkout", "init", "--cone", "--sparse-index")
    repo.git("sparse-checkout", "set", "in", "script")
    wanted = repo.git("status", "--short")
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    contains(loop.tree()["seen"], wanted, "git status inside")
    equal(repo.git("ls-tree", "-r", "--name-only", branch(loop)).count("out/"), 2, "what is not checked out is there")
    repo.fsck()


# The branch

@needs("git")
def test_a_branch_that_the_user_moved_or_checked_out_is_left_alone(t):
    scripts = {"1": f"edit one 1; {COMMIT} meet go", "2": f"edit two 2; {COMMIT} edit done yes"}
    for how in ("moved", "checked out"):
        loop = Loop(t, f"project-{how[0]}", scripts=scripts)
        repo = Repository(t, loop.project).filled()
        loop.detach("--checkpoints=false")
        loop.there("one")
        loop.write("go")
        loop.ended("completed")
        name = branch(loop)
        first = repo.git("rev-parse", name)
        os.unlink(loop.path("done"))
        if how == "moved":
            repo.git("branch", "-f", name, "main")
        else:
            repo.git("worktree", "add", "-q", os.path.join(t.outside, "tree"), name)
        before = repo.git("rev-parse", name)
        loop.write("script/all", f"edit three 3; {COMMIT} edit done yes")
        private = Private_of(t, loop, repo)
        private.commit("later")
        answer = private.bring()
        contains(" ".join(answer["refused"]), "it was moved by someone else" if how == "moved" else "it is checked out",
                 "what is told")
        equal(repo.git("rev-parse", name), before, "the branch")
        ref = f"refs/ringfence/{loop.ident}/HEAD"
        equal(repo.git("log", "-1", "--format=%s", ref), "later", "where the commits are")
        expect(first != repo.git("rev-parse", ref), "they are new")
        repo.fsck()


@needs("git")
@cases(".gitconfig", ".config/git/config")
@each_identity
def test_the_agent_commits_by_the_name_that_git_would_take(t, name):
    """Also if the user sets it in a file that is included for some repositories only."""
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    repo.git("config", "--remove-section", "user")
    t.at_home(name, f'[user]\n\tname = "At # Home"\n\temail = home@example.org\n'
                    f'[includeIf "gitdir:{repo.path}/"]\n\tpath = ~/at-work\n')
    t.at_home("at-work", "[user]\n\temail = work@example.org\n")
    wanted = [repo.git("config", "user.name"), repo.git("config", "user.email")]
    equal(wanted, ["At # Home", "work@example.org"], "what git says outside")
    private = Private(t, repo)
    private.open()
    equal([private.git("config", "--local", "user.name"), private.git("config", "--local", "user.email")], wanted,
          "what it says inside")


def Private_of(t, loop, repo):
    """The private directory of a loop that has ended."""
    private = Private(t, repo)
    private.folder = loop.folder
    private.path = os.path.join(loop.folder, "git")
    private.snapshots.loop = loop.ident
    return private


@needs("git")
def test_a_branch_of_the_users_that_is_in_the_way_is_named(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    repo.git("branch", "ringfence")
    private = Private(t, repo)
    private.open()
    tip = private.commit()
    for pack in (False, True):
        if pack:
            repo.git("pack-refs", "--all", "--prune")
        contains(" ".join(private.bring()["refused"]), "'refs/heads/ringfence' exists", "what is told")
        equal(repo.git("rev-parse", "refs/ringfence/loop/HEAD"), tip, "where the commits are")
    repo.git("branch", "-D", "ringfence")
    equal(private.bring()["ref"], private.branch, "as a control, without it")
    repo.fsck()


@needs("git")
def test_a_branch_that_git_has_packed_is_found_and_moved(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    private.open()
    private.commit("one")
    private.bring()
    repo.git("gc", "-q")
    expect(not os.path.exists(os.path.join(repo.folder, private.branch)), "it is packed")
    tip = private.commit("two", "two.txt")
    private.bring()
    equal(repo.git("rev-parse", private.branch), tip, "the branch")
    equal(repo.git("log", "--format=%s", private.branch).split("\n")[:2], ["two", "one"], "its history")
    repo.fsck()


@needs("git")
def test_what_the_user_has_pruned_in_part_comes_in_anew(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    private.open()
    folder = os.path.join(repo.folder, "objects/pack")
    private.commit("one", "one.txt")
    private.bring()
    first = os.listdir(folder)
    private.commit("two", "two.txt")
    private.bring()
    repo.git("branch", "-D", private.branch[len("refs/heads/"):])
    for name in first:  # as if it was old, and the other pack was not
        os.unlink(os.path.join(folder, name))
    private.commit("three", "three.txt")
    equal(private.bring()["refs"], 1, "refs that came")
    equal(repo.git("log", "--format=%s", private.branch).split("\n"), ["three", "two", "one", "the second", "the first"],
          "the history")
    repo.fsck()


@needs("git")
def test_a_gc_that_runs_while_objects_come_in_takes_nothing_away(t):
    """The objects exist, the refs do not yet: for git gc --prune=now, nothing refers to them."""
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    private.open()
    tip = private.commit()
    points = 0
    while True:
        points += 1
        code, _ = private.ask("git-import", fault=points)
        if code == 0:
            break
        packs = [name for name in os.listdir(os.path.join(repo.folder, "objects/pack")) if name.endswith(".idx")]
        kept = [name for name in os.listdir(os.path.join(repo.folder, "objects/pack")) if name.endswith(".keep")]
        there = repo.run("cat-file", "-e", tip).code == 0
        if there and private.branch not in repo.refs():
            equal((len(packs), len(kept)), (1, 1), "a pack that no ref needs, and what keeps it")
            repo.git("gc", "-q", "--prune=now")
            repo.git("repack", "-a", "-d", "-q")
            equal(repo.run("cat-file", "-e", tip).code, 0, "it is there still")
            break
    expect(points > 3 and code != 0, "there is such a moment", points)
    private.bring()
    equal(repo.git("rev-parse", private.branch), tip, "the branch")
    equal([name for name in os.listdir(os.path.join(repo.folder, "objects/pack")) if name.endswith(".keep")], [],
          "what is kept after it")
    repo.fsck()


@needs("git")
@timeout(240)
def test_no_gc_at_any_point_of_an_import_takes_anything_away(t):
    """Neither finished packs, nor temporary files."""
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    private.open()

    def collect():
        repo.git("prune", "--expire=now")
        repo.git("repack", "-a", "-d", "-q")
        points.append(point)

    points = []
    for point in range(1, 60):
        tip = private.commit(f"commit {point}", f"file-{point}")
        code, answer = private.ask("git-import", fault=point, meanwhile=collect)
        equal(code, 0, f"exit status at {point}", answer)
        equal(repo.git("rev-parse", private.branch), tip, f"the branch at {point}")
        repo.git("rev-list", "--objects", "--quiet", private.branch)
        if not points or points[-1] != point:
            break
    expect(len(points) > 8, "points", points)
    repo.fsck()


# Crashes

@needs("git")
@each_identity
def test_kill_9_at_any_point_of_an_import_leaves_the_old_or_the_new(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    private.open()
    old = private.commit("one")
    private.git("branch", "side")
    private.bring()
    faults = 0
    for number in range(2, 60):
        new = private.commit(f"commit {number}", f"file-{number}")
        private.git("branch", "-f", "side")
        code, _ = private.ask("git-import", fault=number - 1)
        repo.fsck()
        seen = repo.refs("refs/heads/ringfence", "refs/ringfence")
        expect(all(ident in (old, new) for ident in seen.values()), f"after fault {number - 1}", seen)
        if code == 0:
            break
        equal(code, -9, "how it ended")
        faults += 1
        private.bring()
        equal(set(repo.refs("refs/heads/ringfence", "refs/ringfence").values()), {new}, "running it again")
        left = [name for base, _, files in os.walk(repo.folder) for name in files
                if name.endswith(".lock") or name.startswith("ringfence-")]
        equal(left, [], "lock files and temporary files")
        packs = os.listdir(os.path.join(repo.folder, "objects/pack"))
        equal(sorted(name[:-5] for name in packs if name.endswith(".pack")),
              sorted(name[:-4] for name in packs if name.endswith(".idx")), "packs have their indexes")
        old = new
    expect(faults > 10, "there are fault points", faults)


@needs("git")
def test_a_temporary_pack_that_a_kill_has_left_goes_with_its_loop(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    private.open()
    private.commit()

    def temporary():
        return [name for name in os.listdir(os.path.join(repo.folder, "objects/pack")) if not name.startswith("pack-")]

    for point in range(1, 60):
        equal(private.ask("git-import", fault=point)[0], -9, "it is killed")
        if temporary():
            break
    code, answer = private.snapshots.ask("forget")
    equal((code, temporary()), (0, []), "exit status, and what is left", answer)


@needs("git")
def test_kill_9_at_any_point_of_the_first_import_and_then_another_commit(t):
    for number in range(1, 40):
        repo = Repository(t, os.path.join(t.home, f"repo{number}")).filled()
        private = Private(t, repo)
        private.folder = os.path.join(t.outside, f"loop{number}")
        private.path = os.path.join(private.folder, "git")
        os.makedirs(private.folder)
        private.open()
        private.commit("one")
        code, _ = private.ask("git-import", fault=number)
        tip = private.commit("two", "two.txt")
        private.bring()
        equal(repo.refs("refs/heads/ringfence"), {private.branch: tip}, f"the branch after fault {number}")
        packs = os.listdir(os.path.join(repo.folder, "objects/pack"))
        equal(len([name for name in packs if name.endswith(".pack")]), len([name for name in packs if name.endswith(".idx")]),
              "packs and indexes")
        if code == 0:
            repo.fsck()
            return
    expect(False, "it ends")


@needs("git")
def test_kill_9_while_the_private_directory_is_made_leaves_nothing_half_done(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    for number in range(1, 10):
        private = Private(t, repo)
        private.folder = os.path.join(t.outside, f"loop{number}")
        private.path = os.path.join(private.folder, "git")
        os.makedirs(private.folder)
        code, _ = private.ask("git-open", fault=number)
        equal(private.open()["mode"], "private", "the mode")
        equal(private.git("status", "--short"), "", "git status in it")
        equal(sorted(os.listdir(private.folder)), ["git", "git-own"], "what is there")
        if code == 0:
            return
    expect(False, "it ends")


@needs("git")
@each_identity
def test_commits_outlive_a_killed_supervisor(t):
    loop = Loop(t, scripts={"1": f"[ -f first ] || {{ edit first x; {COMMIT} edit there x; meet never; }}; "
                                 f"git log -1 --format=%s > seen; edit second x; {COMMIT} edit done yes"})
    repo = Repository(t, loop.project).filled()
    loop.detach()
    loop.there("there")
    kill(loop.supervisor())
    loop.ended("completed")
    equal(repo.git("log", "--format=%s", branch(loop)).split("\n"), ["by the agent", "by the agent", "the second", "the first"],
          "the history")
    equal(loop.tree()["seen"], "by the agent\n", "what the second try found")


@needs("git")
def test_a_rollback_leaves_commits_where_they_are(t):
    loop, repo = begin(t, f"edit new x; {COMMIT} true")
    tip = repo.git("rev-parse", branch(loop))
    equal(loop.ringfence("rollback", "--yes").code, 0, "exit status of rollback")
    expect(not os.path.exists(loop.path("new")), "the project is as before")
    equal(repo.git("rev-parse", branch(loop)), tip, "the branch")
    equal(repo.git("status", "--short"), "", "the work tree matches the user's branch")


@needs("git")
def test_a_rollback_after_an_apply_says_that_the_branch_is_ahead(t):
    loop, repo = begin(t, f"edit new x; {COMMIT} true")
    equal(loop.ringfence("apply").code, 0, "exit status of apply")
    result = loop.ringfence("rollback", "--yes")
    contains(result.out, "\nHEAD is ahead of these files: your branch keeps the loop's commits", "what is said")
    equal(repo.git("status", "--short"), " D new", "what git says")
    equal(json.loads(loop.ringfence("rollback", "--yes", "--json").out)["applied"], "commits", "as JSON")


@needs("git")
def test_a_person_who_names_git_outweighs_the_private_one(t):
    loop, repo = begin(t, f"edit new x; {COMMIT} true", "--read", ".git")
    equal(loop.result.code, 0, "exit status", loop.result)
    equal(list(repo.refs()), ["refs/heads/main"], "the refs")


@needs("git")
def test_what_was_committed_before_an_abort_comes_in(t):
    loop = Loop(t, scripts={"1": f"edit one 1; {COMMIT} edit there x; meet never"})
    repo = Repository(t, loop.project).filled()
    loop.detach()
    loop.there("there")
    equal(loop.ringfence("abort", "--now").code, 0, "exit status of abort")
    loop.ended("aborted")
    equal(repo.git("log", "-1", "--format=%s", branch(loop)), "by the agent", "the commit")


@needs("git")
def test_a_larger_repository_with_a_submodule_and_a_work_tree_holds(t):
    repo = Repository(t, os.path.join(t.home, "large"))
    inner = Repository(t, os.path.join(t.home, "inner")).filled()
    stream = b""
    for commit in range(100):
        stream += f"commit refs/heads/main\ncommitter A <a@example.org> {1600000000 + commit} +0000\ndata 1\nx\n".encode()
        for number in range(2000) if commit == 0 else range(commit, 2000, 400):
            stream += f"M 100644 inline d{number // 100}/f{number}\ndata 8\n{commit:07}\n\n".encode()
    with open(os.path.join(t.outside, "stream"), "wb") as file:
        file.write(stream)
    repo.git("-c", "core.pager=cat", "config", "gc.auto", "0")
    equal(t.run(["sh", "-c", f"git fast-import --quiet < {t.outside}/stream && git reset -q --hard"], cwd=repo.path).code, 0,
          "git fast-import")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "sub")
    repo.commit("with a submodule")
    tree = os.path.join(t.home, "tree")
    repo.git("worktree", "add", "-q", "-b", "topic", tree)
    loop = Loop(t, "tree", scripts={"1": f"git mv d1 moved; git rm -q -r d2; edit d0/f1 changed; {COMMIT} git gc -q; edit done yes"})
    before = repo.state()
    result = loop.run("--checkpoints=false")
    equal(result.code, 0, "exit status", result)
    equal(repo.state(), before, "the git directory")
    equal(repo.git("diff", "--shortstat", "topic", branch(loop)).split(",")[0].strip(), "203 files changed", "the difference")
    repo.fsck()


LOCKS = (".git/index.lock", ".git/HEAD.lock", ".git/config.lock", ".git/packed-refs.lock", ".git/shallow.lock",
         ".git/refs/heads/main.lock", ".git/objects/info/commit-graph.lock", ".git/worktrees/other/index.lock")


@needs("git")
@cases("crash", "exit 0", "hang")
@each_identity
def test_locks_of_a_killed_git_do_not_block_the_next_iteration(t, end):
    touch = " ".join(LOCKS)
    elsewhere = t.write(os.path.join(t.outside, "kept.lock"), "mine")
    scripts = {"1": f"mkdir -p .git/worktrees/other; touch {touch}; ln -s {elsewhere} .git/a.lock; ln -s {t.outside} .git/away; {end}",
               "2": f"edit new.txt hello; {COMMIT} edit done yes"}
    loop, repo = begin(t, "", "--timeout", "10s" if end == "hang" else "5m", scripts=scripts)
    equal(loop.result.code, 0, "exit status of run", loop.result)
    equal(repo.git("show", f"{branch(loop)}:new.txt"), "hello", "what was committed")
    equal(t.read(elsewhere), "mine", "a file elsewhere")
    contains(loop.result.out, "lock files that a killed git left", "what is said")


@needs("git")
@cases("", "--worktree")
@each_identity
def test_hidden_files_that_are_tracked_do_not_keep_the_agent_from_committing(t, how):
    """They stay in the commits as they are. So do those that are hidden by a rule, or in a hidden folder."""
    texts = {".env.example": "NAME=value\n", ".env": "PASSWORD=hunter2hunter2\n", ".npmrc": "//example.org/:_authToken=hunter2\n",
             "secrets/a b": "hunter2\n", "by-rule": "hunter2\n"}
    loop = Loop(t, scripts={"1": "cat .env.example > seen; cat .env > denied; git status --porcelain > status; edit new x; "
                                 "git add -A && git diff --cached --name-only > /dev/null && git commit -q -m one && "
                                 "echo two > new && git commit -q -am two && git diff --exit-code && edit done yes"})
    repo = Repository(t, loop.project).filled()
    os.mkdir(loop.path("secrets"))
    for name, text in texts.items():
        loop.write(name, text)
    repo.git("add", "-Af")
    repo.git("commit", "-qm", "with secrets")
    result = loop.run(*how.split(), "--hide", "by-rule")
    equal(result.code, 0, "exit status of run", result)
    contains(repo.git("log", "--format=%s", branch(loop)), "two\none\nwith secrets", "the commits")
    changed = repo.git("diff", "--name-only", "HEAD", f"{branch(loop)}").split("\n")
    equal([name for name in texts if name in changed], [], "hidden files that the commits change")
    equal(repo.git("show", f"{branch(loop)}:seen"), "NAME=value", "what is read of a file without a credential")
    equal(repo.git("show", f"{branch(loop)}:denied"), "", "what is read of a secret")
    lacks(repo.git("show", f"{branch(loop)}:status"), ".npmrc", "git status inside")
    equal({name: loop.tree()[name] for name in texts}, texts, "the user's files")


@needs("git")
def test_hidden_files_that_are_not_tracked_do_not_keep_the_agent_from_committing(t):
    loop = Loop(t, scripts={"1": "edit new x; git add -A && git commit -q -m one && edit done yes"})
    repo = Repository(t, loop.project).filled()
    for name in (".env", "#odd [name]*\\ .key", "!x.key"):
        loop.write(name, "hunter2\n")
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    contains(repo.git("diff", "--name-only", "HEAD", branch(loop)).split("\n"), "new", "the commit")
    lacks(repo.git("diff", "--name-only", "HEAD", branch(loop)), "key", "the commit")


REFUSED = r"printf '[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=y\n' > .gitmodules; git add -A; git commit -q -m bad; "


def prompt(loop, iteration):
    with open(os.path.join(loop.folder, f"iterations/{iteration}/prompt.md"), encoding="utf-8") as file:
        return file.read()


@needs("git")
def test_commits_that_cannot_be_imported_are_named_until_they_can(t):
    scripts = {"1": f"edit a x; {REFUSED}", "2": "git rm -qf .gitmodules; git commit -q --amend -m good; edit done yes"}
    loop, repo = begin(t, "", scripts=scripts)
    equal(loop.result.code, 0, "exit status of run", loop.result)
    contains(loop.result.out, "not imported: HEAD: ", "what the loop says")
    contains(prompt(loop, 2), "not imported: HEAD: ", "the next prompt")
    lacks(prompt(loop, 1), "not imported", "the first prompt")
    history = loop.history()
    contains(history[0]["git"][0], "not imported: HEAD: ", "history, in JSON")
    expect("git" not in history[1], "the second iteration has no trouble with git")
    contains(loop.ringfence("history").out, "not imported: HEAD: ", "history")
    equal(repo.git("log", "-1", "--format=%s", branch(loop)), "good", "the commit")
    lacks(loop.ringfence("status").out, "not imported", "status, in the end")
    equal(loop.status()["git"]["trouble"], [], "status, in JSON")


FAILED = {
    "identity": ("edit a x; git add a; git -c user.useConfigOnly=true -c user.name= -c user.email= commit -q -m x",
                 "1 file is staged but not committed: 'a'"),
    "hook": (r"printf '#!/bin/sh\nexit 1\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; edit a x; edit b y; "
             "git add a b; git commit -q -m x", "2 files are staged but not committed, such as 'a'"),
    "lock": ("edit a x; git add a; touch .git/index.lock; git commit -q -m x", "1 file is staged but not committed: 'a'"),
    "index": ("edit a x; git add a; echo garbage > .git/index; git commit -q -m x", "the index in .git is damaged"),
    "merge": ("git checkout -q -b side; edit file.txt side; git commit -qam side; git checkout -q main; edit file.txt ours; "
              "git commit -qam ours; git merge side", "a merge is not finished"),
}


@needs("git")
@cases(*FAILED)
def test_a_commit_that_failed_is_named(t, kind):
    script, words = FAILED[kind]
    loop = Loop(t, scripts={"1": f"{script} || true", "2": "true"})
    Repository(t, loop.project).filled()
    result = loop.run("-m", "2")
    equal(result.code, 2, "exit status of run", result)
    contains(result.out, words, "what the loop says")
    contains(prompt(loop, 2), words, "the next prompt")
    contains(loop.history()[0]["git"][0], words, "history")
    contains(loop.ringfence("status").out, words, "status")


@needs("git")
def test_files_that_the_user_had_staged_are_not_called_trouble(t):
    loop = Loop(t, scripts={"1": "edit a x; git add a; git commit -q -m x a; edit done yes"})
    repo = Repository(t, loop.project).filled()
    repo.write("staged", "by the user\n")
    repo.git("add", "staged")
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    contains(repo.git("log", "-1", "--format=%s", branch(loop)), "x", "the commit")
    equal(loop.status()["git"]["trouble"], [], "trouble")


@needs("git")
def test_a_lock_that_nothing_has_removed_is_named(t):
    private = Private(t, Repository(t, t.path("repo")).filled())
    private.open()
    private.write("index.lock", "")
    equal(private.bring()["trouble"], ["index.lock was left by a git that was killed"], "trouble")


HIDDEN = {".env.test": "PASSWORD=hunter2hunter2\n", "keys/a.pem": "hunter2\n", "secrets/a b": "hunter2\n", "by-rule": "hunter2\n"}
ACTS = {
    "add": "edit file.txt x; git add -A && git commit -q -m one",
    "commit": "edit file.txt x; git commit -q -am one",
    "add path": "edit file.txt x; git add . && git add -u && git commit -q -m one",
    "stash": "edit file.txt x; git stash -q && git stash pop -q && git commit -q -am one",
    "stash all": "edit file.txt x; edit more y; git stash -q -u && git stash pop -q && git add -A && git commit -q -m one",
    "rebase": "git checkout -q -b side HEAD~1; edit other x; git add -A && git commit -q -m one && git rebase -q main && git checkout -q main "
              "&& git merge -q --ff-only side",
    "merge": "git checkout -q -b side; edit other x; git add -A && git commit -q -m side && git checkout -q main && edit file.txt x && "
             "git commit -q -am main && git merge -q -m one side",
    "reset": "edit file.txt x; git reset -q --hard; edit file.txt y; git commit -q -am one",
    "checkout": "git checkout -q -b side HEAD~1; git checkout -q main; edit file.txt x; git add -A && git commit -q -m one",
    "diff": "edit file.txt x; git diff > /dev/null && git diff HEAD > /tmp/diff && ! grep -q hunter2 /tmp/diff && git commit -q -am one",
    "restore": "edit file.txt x; git restore file.txt; edit file.txt y; git commit -q -am one",
}


def hide(loop, repo):
    for name, text in HIDDEN.items():
        repo.write(name, text)
    repo.git("add", "-Af")
    repo.git("commit", "-qm", "with secrets")
    repo.write("later.txt")
    repo.commit("the last")


@needs("git")
@cases(*ACTS)
def test_git_inside_leaves_hidden_files_as_they_are(t, act):
    loop = Loop(t, scripts={"1": f"{ACTS[act]} && git status --porcelain --untracked-files=no > /tmp/s && cp /tmp/s status && edit done yes"})
    repo = Repository(t, loop.project).filled()
    hide(loop, repo)
    result = loop.run("--hide", "by-rule", "-m", "1")
    equal(result.code, 0, "exit status of run", result)
    contains(repo.git("log", "--format=%s", f"main..{branch(loop)}").split("\n"), "one", "the commits")
    changed = repo.git("log", "--name-only", "--format=", f"main..{branch(loop)}").split("\n")
    equal([name for name in HIDDEN if name in changed], [], "hidden files that a commit changes")
    equal(loop.tree()["status"], "", "git status inside")
    equal(loop.status()["git"]["trouble"], [], "trouble")
    equal({name: loop.tree()[name] for name in HIDDEN}, HIDDEN, "the user's files")


@needs("git")
@cases("deleted", "emptied", "changed", "folder")
def test_a_commit_that_loses_a_hidden_file_is_refused(t, how):
    """As when the agent made the index again, without the marks on hidden files."""
    repo = Repository(t, t.path("repo")).filled()
    hide(None, repo)
    private = Private(t, repo)
    private.ask("git-open", hidden="secrets") if how == "folder" else private.ask("git-open", hidden=".env.test")
    blob = private.git("hash-object", "-w", "--stdin", input=b"" if how == "emptied" else b"other\n")
    lose = {"deleted": ["--force-remove", ".env.test"], "folder": ["--force-remove", "secrets/a b"]}
    private.git("update-index", *lose.get(how, ["--cacheinfo", f"100644,{blob},.env.test"]))
    private.git("commit", "-q", "-m", "lost")
    answer = private.bring()
    name = "secrets/a b" if how == "folder" else ".env.test"
    word = "changed" if how in ("emptied", "changed") else "deleted"
    contains(answer["refused"][0], f"'{name}': a file that the fence hides was {word}", "the refusal")
    equal(repo.refs("refs/heads/ringfence"), {}, "refs")
    # Another file can be deleted, and what is hidden can come back.
    private.git("reset", "-q", "HEAD~1")
    private.git("update-index", "--force-remove", "later.txt")
    private.git("commit", "-q", "-m", "harmless")
    equal(private.bring()["refused"], [], "refusals of another change")


def test_a_commit_in_exec_says_where_one_is_possible(t):
    Repository(t, t.project).commit()
    result = t.fence("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty")
    expect(result.code not in (0, 125), "it fails", result)
    contains(result.err, "exec cannot commit: .git is read-only", "why")
    contains(result.err, 'ringfence run "OBJECTIVE" --agent-command', "where it is possible")
    lacks(t.fence("git", "status").err, "exec cannot commit", "a command that only reads")
