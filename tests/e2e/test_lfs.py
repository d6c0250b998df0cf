"""Git LFS: the agent commits pointers, and their content is in the user's LFS store."""

import hashlib
import os

from harness import cases, contains, equal, expect, lacks, needs, timeout
from harness.gitrepo import Private, Repository
from harness.loop import Loop

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
