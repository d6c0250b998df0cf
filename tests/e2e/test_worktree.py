"""run --worktree: a loop in a work tree of its own, so that several can work on one repository, and none touches the user's files."""

import json
import os
import shutil

from harness import cases, contains, each_identity, equal, expect, lacks, needs, timeout
from harness.loop import LoopInPlace as Loop
from harness.repository import WHO, Repository
from harness.snapshots import Snapshots

ANY_IDENTITY = "What is in a work tree and its commit depends on the repository."

AGENT = {"1": "edit done yes; edit new one; rm gone; chmod 755 old; ln -s old link; mkdir -p a/b; edit a/b/c deep"}


def begin(t, scripts=None, **files):
    """A project in a repository, with everything committed."""
    loop = Loop(t, scripts=scripts or AGENT)
    for name, content in {"old": "old\n", "gone": "gone\n", ".gitignore": "*.o\n", **files}.items():
        loop.write(name, content)
    repo = Repository(t, loop.project)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "the first")
    t.at_home(".gitconfig", "[user]\n\tname = At Home\n\temail = home@example.org\n")
    return loop, repo


def users(repo):
    """Everything that belongs to the user: all except the branches and work trees of loops."""
    return {path: value for path, value in repo.state().items()
            if b"/.git/worktrees" not in path and b"/ringfence" not in path}


def trees(t):
    try:
        return sorted(name for name in os.listdir(t.state + "-worktrees") if not name.startswith("."))
    except FileNotFoundError:
        return []


def nothing_left(t, repo, before):
    equal(trees(t), [], "work trees")
    equal(repo.state(), before, "the repository")
    equal(os.listdir(os.path.join(t.state, "loops")) if os.path.exists(t.state) else [], [".start"] if os.path.exists(
        os.path.join(t.state, "loops", ".start")) else [], "loops")


@needs("git")
@each_identity
def test_a_loop_works_beside_the_users_files_and_its_branch_is_the_result(t):
    loop, repo = begin(t)
    repo.write("old", "put aside\n")
    repo.git("stash", "-q")
    repo.write("mine", "not committed\n")
    before, head = users(repo), repo.head()
    result = loop.run("--worktree")
    equal(result.code, 0, "exit status", result)
    equal(users(repo), before, "the user's files, index, branch and logs")
    status = loop.status()
    branch, tree = f"ringfence/{status['id']}", status["worktree"]
    equal(status["project"], loop.project, "whose loop it is")
    expect(tree.startswith(t.state + "-worktrees/"), "where it works", tree)
    equal(repo.git("log", "--format=%P|%an|%s", "-1", branch),
          f"{head}|Ringfence|Ringfence {status['id']}: make it", "the commit of what was left")
    equal(repo.git("diff", "--name-status", "main", branch).split(),
          "A a/b/c A done D gone A link A new M old".split(), "the result")
    equal(repo.git("status", "--porcelain", cwd=tree), "", "git status in the work tree")
    equal(repo.git("ls-tree", branch, "link", "old", "--format=%(objectmode)"), "120000\n100755", "modes")
    contains(loop.ringfence("status").out, f"work tree {tree}, branch {branch}", "status")
    contains(loop.ringfence("diff", "--stat").out, "new", "diff")
    contains(loop.ringfence("checkpoints").out, "start", "checkpoints")
    contains(loop.ringfence("history").out, "every rule holds", "history")
    contains(repo.git("worktree", "list"), branch, "git worktree list")
    result = loop.ringfence("apply")
    equal(result.code, 0, "exit status of apply", result)
    equal(repo.status(), "?? mine", "git status")
    equal(repo.read("new"), b"one\n", "what came")


@needs("git")
@each_identity
def test_two_loops_work_on_one_repository_at_once(t):
    loop, repo = begin(t, {"all": "edit $(cat name) here; edit here x; meet go; edit done yes"}, name="unnamed\n")
    found = []
    for name in ("one", "two"):
        repo.write("name", f"{name}\n")
        repo.git("commit", "-qam", f"name {name}")
        found.append(loop.detach("--worktree"))
    stats = [json.loads(loop.ringfence("status", ident, "--json").out)["loops"][0] for ident in found]
    for status in stats:
        loop.there(os.path.join(status["worktree"], "here"))
    expect(all(json.loads(loop.ringfence("status", ident, "--json").out)["loops"][0]["status"] == "running"
               for ident in found), "both run")
    result = loop.ringfence("apply", found[0], "--dry-run")
    contains(result.err, "is still running: applying what it has committed so far", "stderr of apply")
    equal(loop.run("--detach").code, 0, "a third one, in the project itself")
    loop.there("here")
    result = loop.ringfence("apply", found[0])
    equal(result.code, 125, "exit status of apply beside a loop in the project", result)
    loop.write("go")
    loop.ended("completed")
    for status in stats:
        with open(os.path.join(status["worktree"], "go"), "w", encoding="utf-8"):
            pass
    for ident in found:
        loop.ident = ident
        loop.ended("completed")
    repo.git("clean", "-qfd")
    for ident, kind in zip(found, ("merge", "merge")):
        answer = json.loads(loop.ringfence("apply", ident, "--json").out)
        equal(answer["kind"], kind, "the kind", answer)
    equal(sorted(name for name in ("one", "two") if os.path.exists(repo.path(name))), ["one", "two"], "both results")
    equal(repo.status(), "", "git status")


@needs("git")
@cases("repository", "commit")
def test_without_a_repository_or_a_commit_it_says_what_helps(t, missing):
    loop = Loop(t, scripts=AGENT)
    if missing == "commit":
        Repository(t, loop.project)
    result = loop.run("--worktree")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "(create one with: git init)" if missing == "repository" else "has no commit yet", "stderr")
    equal(trees(t), [], "work trees")
    contains(loop.ringfence("status").out, "this project has no loops", "status")


@needs("git")
def test_what_is_refused_leaves_nothing_behind(t):
    loop, repo = begin(t)
    loop.ringfence("status")
    before = repo.state()
    result = loop.run("--worktree", "--tasks", "missing.md")
    equal(result.code, 125, "exit status", result)
    nothing_left(t, repo, before)


@needs("git")
def test_what_is_not_in_the_commit_is_named(t):
    loop, repo = begin(t)
    repo.commit("main", {"sub": ("160000", "1" * 40)})
    repo.git("reset", "-q", "--hard")
    loop.write("old", "changed\n")
    loop.write("staged", "x\n")
    repo.git("add", "staged")
    loop.write("untracked", "x\n")
    result = loop.run("--worktree")
    equal(result.code, 0, "exit status", result)
    contains(result.err, "are not in the loop's work tree: old, staged\n", "stderr")
    contains(result.err, "submodules are empty folders in the loop's work tree: sub\n", "stderr")
    tree = loop.status()["worktree"]
    expect(os.path.isdir(os.path.join(tree, "sub")) and not os.path.exists(os.path.join(tree, "untracked")), "the work tree")
    equal(repo.git("ls-tree", f"ringfence/{loop.status()['id']}", "sub").split()[0], "160000", "the submodule in the result")


@needs("git")
def test_settings_and_paths_are_those_of_the_users_project(t):
    loop, repo = begin(t, {"1": "cat secret.txt; edit src/x yes; edit done no; edit src/done yes"},
                       **{"secret.txt": "s3cret\n"})
    os.mkdir(loop.path("src"))
    loop.write("src/keep", "")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "src")
    loop.write("ringfence.yml", "hide: [secret.txt]\nwrite: [src]\n")  # not committed
    result = loop.run("--worktree", check="test -f src/done")
    equal(result.code, 0, "exit status", result)
    logs = loop.ringfence("logs").out
    lacks(logs, "s3cret", "what the agent saw")
    equal(repo.git("diff", "--name-only", "main", f"ringfence/{loop.status()['id']}"), "src/done\nsrc/x", "the result")


@needs("git")
def test_a_folder_of_a_repository_is_a_project_there(t):
    loop, repo = begin(t)
    inner = loop.path("inner")
    shutil.copytree(loop.path("script"), os.path.join(inner, "script"))
    shutil.copy(loop.path("agent.sh"), inner)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "inner")
    result = loop.run("--worktree", cwd=inner)
    equal(result.code, 0, "exit status", result)
    status = json.loads(loop.ringfence("status", "--json", cwd=inner).out)["loops"][0]
    equal(status["project"], inner, "whose loop it is")
    contains(repo.git("diff", "--name-only", "main", f"ringfence/{status['id']}"), "inner/new", "the result")
    equal(loop.ringfence("apply", cwd=inner).code, 0, "exit status of apply")
    equal(repo.read("inner/new"), b"one\n", "what came")


@needs("git")
@each_identity
def test_no_filter_or_hook_is_run_and_files_are_as_they_are_stored(t):
    mark = os.path.join(t.outside, "mark")
    loop, repo = begin(t, {"1": "edit done yes; edit big.bin data"},
                       **{".gitattributes": "*.bin filter=evil\n*.txt text eol=crlf\n", "a.bin": "stored\n", "t.txt": "x\n"})
    for key in ("smudge", "clean", "process"):
        repo.git("config", f"filter.evil.{key}", f"touch {mark}; cat")
    for hook in ("post-checkout", "post-commit", "reference-transaction", "post-index-change"):
        repo.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {mark}\n")
        os.chmod(repo.path(f".git/hooks/{hook}"), 0o755)
    result = loop.run("--worktree")
    equal(result.code, 0, "exit status", result)
    expect(not os.path.exists(mark), "nothing was executed")
    status = loop.status()
    with open(os.path.join(status["worktree"], "t.txt"), "rb") as file:
        equal(file.read(), b"x\n", "a text file")
    for line in repo.git("diff", "--name-only", "main", f"ringfence/{status['id']}").split():
        expect(line in ("done", "big.bin"), "only what the agent did is in the result", line)
    repo.try_git("checkout", "-q", f"ringfence/{status['id']}~1")
    repo.try_git("status")
    expect(os.path.exists(mark), "the control: git itself runs hooks")


@needs("git")
def test_what_is_ignored_or_of_a_nested_repository_is_not_in_the_result(t):
    slow = "*a" * 300 + "b"  # years of work for a matcher that tries everything
    loop, repo = begin(t, {"1": f"edit done yes; edit x.o ignored; mkdir -p nested; edit nested/file x; mkfifo pipe; "
                                f"echo '{slow}' >nested/.gitignore; edit nested/{'a' * 200} x; edit nested/.git x"})
    equal(loop.run("--worktree").code, 0, "exit status")
    equal(repo.git("diff", "--name-only", "main", f"ringfence/{loop.status()['id']}"), f"done\nnested/.gitignore\nnested/{'a' * 200}\nnested/file", "the result")


@needs("git")
@each_identity
def test_a_rollback_in_a_work_tree_leaves_nothing_to_apply(t):
    loop, repo = begin(t)
    head = repo.head()
    equal(loop.run("--worktree").code, 0, "exit status")
    before, status = users(repo), loop.status()
    result = loop.ringfence("rollback", "--yes")
    equal(result.code, 0, "exit status of rollback", result)
    contains(result.out, f"the loop's work tree '{status['worktree']}' is back at checkpoint 0: ", "what was rolled back")
    contains(result.out, "\nyour project is unchanged\n", "what was not")
    equal(users(repo), before, "the user's files")
    equal(loop.ringfence("apply").code, 0, "exit status of apply")
    equal(repo.git("diff", "--name-only", head, "main"), "", "what came")
    equal(repo.git("log", "-1", "--format=%B", "main").split("\n"),
          [f"Ringfence {status['id']}: roll back to checkpoint 0", "", "You restored files from this checkpoint after the loop."],
          "the message of the commit that holds the rollback")


@needs("git")
def test_a_rollback_in_a_work_tree_asks_about_the_work_tree_and_names_it_in_json(t):
    loop, _ = begin(t)
    equal(loop.run("--worktree").code, 0, "exit status")
    tree = loop.status()["worktree"]
    terminal = t.tty([t.ringfence, "rollback"], cwd=loop.project)
    terminal.expect(r"\[y/N\]")
    contains(terminal.text(), f"Roll back the loop's work tree '{tree}' to checkpoint 0 of loop ", "the question")
    contains(terminal.text(), "Your project stays unchanged.", "the question")
    terminal.send("n\n")
    terminal.process.wait(600)
    equal(json.loads(loop.ringfence("rollback", "--yes", "--json").out)["worktree"], tree, "the work tree in JSON")


@needs("git")
def test_the_commit_of_what_is_left_says_that_quarantined_files_were_removed(t):
    loop, repo = begin(t, {"1": "edit done yes; mkdir .vscode; edit .vscode/tasks.json x; git add .; git commit -qm mine"})
    result = loop.run("--worktree")
    equal(result.code, 0, "exit status", result)
    branch = f"ringfence/{loop.status()['id']}"
    equal(repo.git("diff", "--name-status", f"{branch}~1", branch), "D\t.vscode/tasks.json", "the last commit")
    contains(repo.git("log", "-1", "--format=%b", branch), "and the removal of files that Ringfence quarantined.", "its message")


@needs("git")
@each_identity
def test_clean_removes_a_work_tree_and_a_branch_that_is_merged(t):
    loop, repo = begin(t)
    before = repo.git("branch", "--list", "--format=%(refname)")
    for force in (False, True):
        equal(loop.run("--worktree").code, 0, "exit status")
        ident = loop.status()["id"]
        result = loop.ringfence("clean", ident, "--yes", *(["--branches"] if force else []))
        equal(result.code, 0, "exit status of clean", result)
        contains(result.out, "1 loop removed", "stdout")
        equal((trees(t), repo.git("worktree", "list").count("\n")), ([], 0), "work trees")
        if force:
            equal(repo.try_git("rev-parse", "-q", "--verify", f"ringfence/{ident}").code, 1, "the branch")
        else:
            contains(result.err, f"kept the branch ringfence/{ident}: no other branch has its commits", "stderr")
            repo.git("branch", "-D", f"ringfence/{ident}")
        equal(os.listdir(os.path.join(t.state, "snapshots")), [], "checkpoints")
    equal(loop.run("--worktree").code, 0, "exit status")
    equal(loop.ringfence("apply").code, 0, "exit status of apply")
    equal(loop.ringfence("clean", loop.status()["id"], "--yes").code, 0, "exit status of clean")
    equal(repo.git("branch", "--list", "--format=%(refname)"), before, "branches")
    expect(not os.path.exists(repo.path(".git/worktrees")), "nothing is left in the repository")


@needs("git")
def test_what_the_agent_commits_comes_first_and_a_loop_that_goes_on_builds_on_that(t):
    loop, repo = begin(t, {"1": "edit one x; git add one; git commit -qm first; edit left x",
                           "2": "git add left; git commit -qm second; edit done yes; edit more x"})
    result = loop.run("--worktree", "--max-iterations", "1")
    equal(result.code, 2, "exit status", result)
    branch = f"ringfence/{loop.status()['id']}"
    equal(repo.git("log", "--format=%an", "-3", branch).split("\n")[0], "Ringfence", "who made the last commit")
    equal(repo.git("show", "--format=", "--name-only", branch), "left", "what was left")
    equal(loop.ringfence("apply").code, 0, "exit status of apply")
    result = loop.ringfence("resume", "--follow", "--max-iterations", "3")
    equal(result.code, 0, "exit status of resume", result)
    lines = repo.git("log", "--format=%s", "--name-only", f"{branch}~3..{branch}").replace("\n\n", "\n").split("\n")
    equal([line for line in lines if not line.startswith("Ringfence ")], ["done", "more", "second", "left", "first", "one"],
          "the result")
    equal(json.loads(loop.ringfence("apply", "--json").out)["kind"], "merge", "what had been applied is merged with it")
    equal((repo.status(), repo.read("more")), ("", b"x\n"), "the project")


# Crashes

def own(t, repo):
    return Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, repo.folder, env=t.env(**WHO))


@needs("git")
@timeout(240)
def test_one_whose_making_is_killed_anywhere_is_cleaned_up(t):
    loop, repo = begin(t)
    loop.ringfence("status")
    program, before = own(t, repo), repo.state()
    program.loop = "20200101-000000-aaaa"
    folder = os.path.join(t.state + "-worktrees", program.loop)
    for fault in range(1, 100):
        os.makedirs(folder)
        with open(os.path.join(folder, "origin"), "w", encoding="utf-8") as file:
            file.write(repo.folder)
        code, answer = program.ask("worktree", folder=folder, fault=fault)
        equal(code, 0 if answer else -9, f"killed at {fault}")
        result = loop.ringfence("clean", "--older", "365d", "--yes")
        equal(result.code, 0, "exit status of clean", result)
        nothing_left(t, repo, before)
        if code == 0:
            break
    expect(code == 0 and fault > 10, "there are fault points", fault)
    os.makedirs(folder)
    result = loop.run("--worktree")
    equal((result.code, program.loop in trees(t)), (0, False), "the next run", result)


@needs("git")
@timeout(240)
def test_a_commit_of_what_is_left_that_is_killed_anywhere_is_made_again(t):
    _, repo = begin(t)
    program = own(t, repo)
    os.makedirs(t.path("trees"))
    code, answer = program.ask("worktree", folder=t.path("trees"))
    equal(code, 0, "exit status", answer)
    tree = program.project = answer["work_tree"]
    for fault in range(1, 100):
        with open(os.path.join(tree, "new"), "w", encoding="utf-8") as file:
            file.write(f"{fault}\n")
        before = repo.git("rev-parse", "ringfence/loop")
        code, _ = program.ask("seal", message="left", fault=fault)
        equal(program.ask("seal", message="left")[0], 0, f"the next one at {fault}")
        equal(repo.git("show", "ringfence/loop:new"), f"{fault}", f"the result at {fault}")
        equal(repo.git("rev-parse", "ringfence/loop~1"), before, f"one commit at {fault}")
        equal(repo.git("status", "--porcelain", cwd=tree), "", f"git status at {fault}")
        if code == 0:
            break
    expect(code == 0 and fault > 4, "there are fault points", fault)
    expect(not program.ask("seal", message="left")[1]["made"], "where nothing is left there is no commit")


@needs("git")
def test_a_work_tree_that_the_user_has_removed_is_no_obstacle(t):
    loop, repo = begin(t)
    equal(loop.run("--worktree").code, 0, "exit status of run")
    status = loop.status()
    repo.git("worktree", "remove", "--force", status["worktree"])
    result = loop.ringfence("apply")
    equal(result.code, 0, "exit status of apply", result)
    contains(result.err, "is gone: applying what was committed", "stderr")
    equal(repo.read("new"), b"one\n", "what came")
    result = loop.ringfence("clean", status["id"], "--yes")
    equal(result.code, 0, "exit status of clean", result)
    lacks(repo.git("branch"), "ringfence", "branches")
