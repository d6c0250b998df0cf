"""Repositories of git on the host, for tests."""

import hashlib
import os

from .expect import equal


class Repository:
    """One with a work tree, used by git on the host, as its user would."""

    def __init__(self, t, path, *words):
        self.t, self.path = t, path
        os.makedirs(path, exist_ok=True)
        if not os.path.exists(os.path.join(path, ".git")):
            equal(t.run(["git", "init", "-q", "-b", "main", *words, path]).code, 0, "git init")
        self.git("config", "user.name", "A User")
        self.git("config", "user.email", "user@example.org")

    def run(self, *words):
        return self.t.run(["git", *words], cwd=self.path)

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

    @property
    def folder(self):
        return os.path.join(self.path, self.git("rev-parse", "--git-common-dir"))

    def state(self):
        """Everything of the git directory but objects and our own refs: path, mode, content."""
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
        result = self.run("fsck", "--full", "--strict", "--no-dangling")
        equal((result.code, result.err.replace("notice: HEAD points to an unborn branch (main)\n", "")), (0, ""),
              "git fsck", result)
