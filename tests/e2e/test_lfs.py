"""Git LFS: the agent commits pointers, and their content is in the user's LFS store."""

import hashlib
import os
import shutil

from harness import cases, contains, each_identity, equal, expect, lacks, needs
from harness.gitrepo import Private, Repository
from harness.loop import LoopInPlace as Loop

ANY_IDENTITY = "Pointers and contents are judged by their bytes."

CHANGES = ("printf 'a new picture' > old.bin; printf 'another one' > sub/new.bin; git rm -q gone.bin; "
           "git mv moved.bin 'to a place.bin'; printf text > plain.txt; git add -A; git commit -q -m 'by the agent'; "
           "git status --porcelain > /tmp/seen; cp /tmp/seen seen; ")


def content(name):
    return f"the content of {name}\n" * 1000


def repository(t, path, *patterns):
    """A repository whose files *.bin are in LFS, as git-lfs makes it."""
    repo = Repository(t, path).filled()
    repo.git("lfs", "install")
    repo.git("lfs", "track", "*.bin", *patterns)
    for name in ("old.bin", "gone.bin", "moved.bin", "kept.bin", "sub/deep.bin"):
        repo.write(name, content(name))
    repo.commit("files in LFS")
    return repo


def branch(loop):
    return f"ringfence/{loop.status()['id']}"


def pointer(text):
    data = text.encode()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(data).hexdigest()}\nsize {len(data)}"


def check(repo, ref="HEAD"):
    result = repo.run("lfs", "fsck", ref)
    equal((result.code, result.out.strip()), (0, "Git LFS fsck OK"), "git lfs fsck", result)
    repo.fsck()


def read(repo, name):
    with open(os.path.join(repo.path, name), encoding="utf-8") as file:
        return file.read()


@needs("git", "git-lfs")
@cases("own folder", "work tree")
@each_identity
def test_what_the_agent_commits_is_a_pointer_and_its_object_is_in_the_store(t, where):
    loop = Loop(t, scripts={"1": f"{CHANGES} edit done yes"})
    repo = repository(t, loop.project)
    result = loop.run(*(["--worktree"] if where == "work tree" else []))
    equal(result.code, 0, "exit status of run", result)
    name = branch(loop)
    if where == "own folder":
        equal(read(repo, "seen"), "", "git status inside, after the commit")
    equal(repo.git("show", f"{name}:old.bin"), pointer("a new picture"), "the changed file")
    equal(repo.git("show", f"{name}:sub/new.bin"), pointer("another one"), "the new file")
    equal(repo.git("show", f"{name}:to a place.bin"), pointer(content("moved.bin")), "the renamed file")
    equal(repo.git("show", f"{name}:kept.bin"), pointer(content("kept.bin")), "the untouched file")
    equal(repo.git("show", f"{name}:plain.txt"), "text", "a file that is not in LFS")
    check(repo, name)


@needs("git", "git-lfs")
@cases("own folder", "work tree")
def test_apply_writes_the_content_and_git_calls_everything_unchanged(t, where):
    loop = Loop(t, scripts={"1": f"{CHANGES} edit done yes"})
    repo = repository(t, loop.project)
    result = loop.run(*(["--worktree"] if where == "work tree" else []))
    equal(result.code, 0, "exit status of run", result)
    result = loop.ringfence("apply", "--yes")
    equal(result.code, 0, "exit status of apply", result)
    expected = {"old.bin": "a new picture", "sub/new.bin": "another one", "to a place.bin": content("moved.bin"),
                "kept.bin": content("kept.bin"), "sub/deep.bin": content("sub/deep.bin"), "plain.txt": "text"}
    equal({name: read(repo, name) for name in expected}, expected, "files")
    expect(not os.path.exists(os.path.join(repo.path, "gone.bin")), "the deleted file is gone")
    tracked = [line for line in repo.git("status", "--porcelain").splitlines() if not line.startswith("??")]
    equal(tracked, [], "git status")
    # git reads every file again, through git-lfs.
    repo.run("update-index", "--refresh", "--really-refresh")
    tracked = [line for line in repo.git("status", "--porcelain").splitlines() if not line.startswith("??")]
    equal(tracked, [], "git status after all files were read again")
    check(repo)
    lacks(result.out + result.err, "written as stored", "what apply says")


@needs("git", "git-lfs")
@each_identity
def test_later_iterations_stash_and_check_out_files_in_lfs(t):
    scripts = {
        "1": "printf 'version 2' > old.bin; git commit -q -am two; printf 'version 3' > old.bin; git stash -q; cat old.bin > one; "
             "git checkout -q -b side HEAD~1; cat old.bin kept.bin > both; git checkout -q main",
        "2": "git stash pop -q; cat old.bin > two; git commit -q -am three; git rebase -q -f HEAD~2; rm kept.bin; "
             "git checkout -q -- kept.bin; git status --porcelain --untracked-files=no > status; edit done yes",
    }
    loop = Loop(t, scripts=scripts)
    repo = repository(t, loop.project)
    result = loop.run()
    equal(result.code, 0, "exit status of run", result)
    equal({name: read(repo, name) for name in ("one", "both", "two", "status")},
          {"one": "version 2", "both": content("old.bin") + content("kept.bin"), "two": "version 3", "status": ""},
          "what was checked out")
    equal(repo.git("log", "--format=%s", f"main..{branch(loop)}").split("\n"), ["three", "two"], "the commits")
    equal(read(repo, "kept.bin"), content("kept.bin"), "the file that was restored")
    check(repo, branch(loop))


@needs("git", "git-lfs")
def test_uncommitted_files_in_lfs_are_committed_as_pointers(t):
    loop = Loop(t, scripts={"1": "printf changed > old.bin; printf new > sub/new.bin; rm gone.bin; : > empty.bin; edit done yes"})
    repo = repository(t, loop.project)
    result = loop.run("--worktree")
    equal(result.code, 0, "exit status of run", result)
    name = branch(loop)
    equal(repo.git("show", f"{name}:old.bin"), pointer("changed"), "the changed file")
    equal(repo.git("show", f"{name}:sub/new.bin"), pointer("new"), "the new file")
    equal(repo.git("show", f"{name}:empty.bin"), "", "an empty file, which git-lfs stores as it is")
    contains(repo.git("diff", "--name-only", "main", name).split("\n"), "old.bin", "what changed")
    lacks(repo.git("diff", "--name-only", "main", name).split("\n"), "kept.bin", "what changed")
    check(repo, name)


@needs("git", "git-lfs")
@cases("own folder", "work tree")
def test_a_file_whose_content_was_never_fetched_stays_a_pointer(t, where):
    loop = Loop(t, scripts={"1": "cat kept.bin > seen; edit new x; git add -A; git commit -q -m 'by the agent'; "
                                 "git mv kept.bin moved-again.bin; git commit -q -m moved; edit done yes"})
    repo = repository(t, loop.project)
    for name in repo.git("lfs", "ls-files", "-n").splitlines():
        repo.write(name, repo.git("show", f"HEAD:{name}") + "\n")
    repo.git("add", "-A")
    equal(repo.git("status", "--porcelain"), "", "git status before")
    shutil.rmtree(os.path.join(repo.path, ".git/lfs/objects"))
    result = loop.run(*(["--worktree"] if where == "work tree" else []))
    equal(result.code, 0, "exit status of run", result)
    name = branch(loop)
    equal(repo.git("show", f"{name}:seen"), pointer(content("kept.bin")), "what the agent sees")
    equal(repo.git("show", f"{name}:moved-again.bin"), pointer(content("kept.bin")), "the renamed file")
    lacks(repo.git("diff", "--name-only", "main", name).split("\n"), "old.bin", "what changed")


@needs("git", "git-lfs")
def test_patterns_with_spaces_in_folders_and_of_the_user_are_lfs_too(t):
    files = {"a name.dat": "1", "deep/er/x.big": "2", "deep/x.raw": "3", "mine": "4", "macro.m": "5"}
    script = "".join(f"printf {text} > '{name}'; " for name, text in files.items())
    loop = Loop(t, scripts={"1": f"mkdir -p deep/er; {script} git add -A; git commit -q -m 'by the agent'; edit done yes"})
    repo = repository(t, loop.project, "a name.dat")
    repo.write("deep/.gitattributes", "*.big filter=lfs\n*.raw filter=lfs\nx.raw -filter\n*.m viamacro\n")
    repo.write(".gitattributes", read(repo, ".gitattributes") + "[attr]viamacro filter=lfs\n\"macro.m\" viamacro\n")
    repo.write(".git/info/attributes", "mine filter=lfs\n")
    repo.commit("attributes")
    result = loop.run("--worktree")
    equal(result.code, 0, "exit status of run", result)
    stored = {name: repo.git("show", f"{branch(loop)}:{name}") for name in files}
    expected = {name: pointer(text) for name, text in files.items()}
    expected["deep/x.raw"] = "3"
    equal(stored, expected, "what is committed")


@needs("git", "git-lfs")
@each_identity
def test_git_lfs_itself_can_be_used_inside(t):
    """It finds content in the user's store, and what it stores is imported as well."""
    loop = Loop(t, scripts={"1": f"git config filter.lfs.process > used; {CHANGES} git lfs track '*.big'; printf big > x.big; git add -A; "
                                 "git commit -q -m two; rm kept.bin; git checkout -q kept.bin; edit done yes"})
    repo = repository(t, loop.project)
    result = loop.run("--read", os.path.join(t.home, ".gitconfig"))
    equal(result.code, 0, "exit status of run", result)
    equal(read(repo, "used"), "git-lfs filter-process\n", "the filter inside")
    equal(read(repo, "kept.bin"), content("kept.bin"), "the file that was restored")
    equal(repo.git("show", f"{branch(loop)}:x.big"), pointer("big"), "the new file")
    check(repo, branch(loop))


def commit_raw(private, name, *words):
    """Commits one file without the filter, as a program does that does not know it."""
    private.git("-c", "filter.lfs.process=", "-c", "filter.lfs.required=false", "add", name)
    private.git("commit", "-q", "-m", "raw", *words)


def begin_private(t):
    repo = repository(t, t.path("repo"))
    private = Private(t, repo)
    private.open()
    return repo, private


@needs("git", "git-lfs")
def test_a_file_in_lfs_that_was_committed_raw_is_refused_until_it_is_a_pointer(t):
    repo, private = begin_private(t)
    repo.write("old.bin", "raw bytes")
    commit_raw(private, "old.bin")
    answer = private.bring()
    contains(answer["refused"][0], "'old.bin': a file in Git LFS was committed without its filter", "the refusal")
    equal(repo.refs("refs/heads/ringfence"), {}, "refs")
    # The agent does it again, with what a filter writes.
    text = pointer("raw bytes") + "\n"
    digest = hashlib.sha256(b"raw bytes").hexdigest()
    private.write(f"lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}", "raw bytes")
    repo.write("old.bin", text)
    commit_raw(private, "old.bin", "--amend")
    answer = private.bring()
    equal(answer["refused"], [], "refusals")
    check(repo, "refs/heads/ringfence/loop")


@needs("git", "git-lfs")
@cases("missing", "damaged", "a link", "too large")
def test_a_pointer_without_its_content_is_refused(t, how):
    repo, private = begin_private(t)
    text = "content" * (2000 if how == "too large" else 1)
    digest = hashlib.sha256(text.encode()).hexdigest()
    place = f"lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}"
    repo.write("old.bin", pointer(text) + "\n")
    commit_raw(private, "old.bin")
    if how == "damaged":
        private.write(place, text.upper())
    elif how != "missing":
        private.write(place, text)
    if how == "a link":
        os.rename(os.path.join(private.path, place), t.path("elsewhere"))
        os.symlink(t.path("elsewhere"), os.path.join(private.path, place))
    answer = private.bring(most_bytes=10000 if how == "too large" else 1 << 30)
    reason = {"damaged": f"the LFS object {digest} is damaged", "too large": "it is larger than --git-size allows"}
    contains(answer["refused"][0], f"'old.bin': {reason.get(how, f'the LFS object {digest} is missing')}", "the refusal")
    expect(not os.path.exists(os.path.join(repo.path, ".git", place)), "there is no such object in the user's store")
    equal(os.listdir(os.path.join(repo.path, ".git/lfs/tmp")), [], "temporary files")
    equal(repo.refs("refs/heads/ringfence"), {}, "refs")


@needs("git", "git-lfs")
def test_text_that_looks_like_a_pointer_needs_no_content_where_lfs_is_not_used(t):
    repo, private = begin_private(t)
    repo.write("sample.txt", pointer("nowhere") + "\n")
    commit_raw(private, "sample.txt")
    equal(private.bring()["refused"], [], "refusals")
    equal(repo.git("show", "ringfence/loop:sample.txt"), pointer("nowhere"), "the text")
