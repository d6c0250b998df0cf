"""Repositories of git on the host, for tests."""

import functools
import hashlib
import os
import zlib

from .expect import equal
from .repository import Clock
from .snapshots import Snapshots


class Repository:
    """A repository with a work tree, used by git on the host as its user would do."""

    def __init__(self, t, path, *words):
        self.t, self.path, self.clock = t, path, Clock()
        os.makedirs(path, exist_ok=True)
        if not os.path.exists(os.path.join(path, ".git")):
            equal(t.run(["git", "init", "-q", "-b", "main", "--template=", *words, path]).code, 0, "git init")
        self.git("config", "user.name", "A User")
        self.git("config", "user.email", "user@example.org")

    def run(self, *words):
        return self.t.run(["git", *words], cwd=self.path, env=self.t.env(**self.clock.env()))

    def git(self, *words):
        result = self.run(*words)
        equal(result.code, 0, f"exit status of git {' '.join(words)}", result)
        return result.out.rstrip("\n")

    def write(self, name, text="x\n"):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def commit(self, message="a commit"):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def filled(self):
        self.write("file.txt", "one\n")
        self.commit("the first")
        self.write("file.txt", "two\n")
        self.commit("the second")
        return self

    @functools.cached_property
    def folder(self):
        return os.path.join(self.path, self.git("rev-parse", "--git-common-dir"))

    def state(self):
        """Everything in the git directory except objects and our own refs: path, mode, content."""
        found = {}
        for base, folders, files in os.walk(self.folder):
            inner = os.path.relpath(base, self.folder)
            if inner.split(os.sep)[0] == "objects":
                folders.clear()
                continue
            for file in files:
                path = os.path.join(base, file)
                name = os.path.normpath(os.path.join(inner, file))
                if not name.startswith(("refs/heads/ringfence/", "refs/ringfence/")):
                    with open(path, "rb") as stream:
                        found[name] = (os.lstat(path).st_mode, hashlib.sha256(stream.read()).hexdigest())
        return found

    def refs(self, *below):
        """Names and ids."""
        text = self.git("for-each-ref", "--format=%(refname) %(objectname)", *below)
        return dict(line.split(" ") for line in text.splitlines())

    def fsck(self):
        # git 2.47 adds advice about a sparse index, which is not a finding.
        result = self.run("-c", "advice.sparseIndexExpanded=false", "fsck", "--full", "--strict", "--no-dangling")
        equal((result.code, result.err.replace("notice: HEAD points to an unborn branch (main)\n", "")), (0, ""),
              "git fsck", result)


class Private:
    """The private git directory of a loop, without a loop: tests do in it what an agent could do."""

    def __init__(self, t, repository, project=None):
        self.t, self.repository = t, repository
        self.project = project or repository.path
        self.folder = os.path.join(t.outside, "loop")
        self.path = os.path.join(self.folder, "git")
        os.makedirs(self.folder, exist_ok=True)
        self.snapshots = Snapshots(os.path.join(t.build, "ringfence-snapshot"), t.outside, self.project,
                                   env=t.env())

    def ask(self, work, **words):
        given = {"folder": self.folder, "most_bytes": 1 << 30}
        given.update(words)
        return self.snapshots.ask(work, **given)

    def open(self):
        code, answer = self.ask("git-open")
        assert code == 0, (code, answer, self.snapshots.err)
        return answer

    def bring(self, **words):
        """Imports; returns the answer."""
        code, answer = self.ask("git-import", **words)
        assert code == 0, (code, answer, self.snapshots.err)
        return answer

    def run(self, *words, **options):
        """Runs git in it, as inside the fence: here, the alternates do not find the user's objects."""
        env = self.t.env(GIT_ALTERNATE_OBJECT_DIRECTORIES=os.path.join(self.repository.folder, "objects"),
                         GIT_DIR=self.path, GIT_WORK_TREE=self.project, GIT_INDEX_FILE=f"{self.path}/index",
                         **self.repository.clock.env())
        return self.t.run(["git", *words], cwd=self.project, env=env, **options)

    def git(self, *words, **options):
        result = self.run(*words, **options)
        equal(result.code, 0, f"exit status of git {' '.join(words)}", result)
        return result.out.rstrip("\n")

    def write(self, name, text):
        """A file of the git directory."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def commit(self, message="by the agent", name="new.txt"):
        """A commit with one file more, on what is checked out."""
        with open(os.path.join(self.project, name), "w", encoding="utf-8") as file:
            file.write(f"{message}\n")
        self.git("add", name)
        self.git("commit", "-q", "-m", message)
        os.unlink(os.path.join(self.project, name))
        return self.git("rev-parse", "HEAD")

    def put(self, kind, data):
        """A loose object, whatever is in it; returns its id."""
        raw = f"{kind} {len(data)}".encode() + b"\0" + data
        ident = hashlib.sha1(raw).hexdigest()
        self.put_as(ident, raw)
        return ident

    def put_as(self, ident, raw):
        self.write(f"objects/{ident[:2]}/{ident[2:]}", zlib.compress(raw))

    def tree(self, *entries):
        """Makes a tree of (mode, name, id), in the given order."""
        return self.put("tree", b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(ident)
                                         for mode, name, ident in entries))

    def commit_of(self, tree, *parents, more=b""):
        person = b"A <a@example.org> 1700000000 +0000\n"
        return self.put("commit", b"tree " + tree.encode() + b"\n"
                        + b"".join(b"parent " + parent.encode() + b"\n" for parent in parents)
                        + b"author " + person + b"committer " + person + more + b"\nx\n")

    def head(self, ident):
        """Points HEAD there."""
        self.write("HEAD", f"{ident}\n")

    def detached(self):
        """Detaches HEAD: then only HEAD is imported."""
        self.head(self.git("rev-parse", "HEAD"))
        return self

    @property
    def branch(self):
        return "refs/heads/ringfence/loop"
