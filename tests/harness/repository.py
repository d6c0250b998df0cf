"""A git repository for tests: commits are made from a table, without a work tree."""

import os

from .expect import equal

FIRST = 1700000000
WHO = {"GIT_AUTHOR_NAME": "A User", "GIT_AUTHOR_EMAIL": "user@example.org", "GIT_COMMITTER_NAME": "A User",
       "GIT_COMMITTER_EMAIL": "user@example.org", "GIT_CONFIG_NOSYSTEM": "1"}


class Clock:
    """Gives git a clock that advances by a minute per call, so that commit ids are the same in each run."""

    def __init__(self):
        self.time = FIRST

    def next(self):
        self.time += 60
        return self.time

    def env(self):
        now = f"{self.next()} +0000"
        return {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}


class Repository:
    """In a folder, with the branch main checked out."""

    def __init__(self, t, folder, files=None, **config):
        self.t, self.folder, self.clock = t, os.fspath(folder), Clock()
        os.makedirs(self.folder, exist_ok=True)
        self.git("init", "-q", "-b", "main", "--template=")
        for key, value in config.items():
            self.git("config", key.replace("_", "."), value)
        if files is not None:
            self.commit("main", files, base=None)
            self.git("reset", "-q", "--hard")

    def path(self, name):
        return os.path.join(os.fsencode(self.folder), os.fsencode(name))

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def try_git(self, *words, **options):
        options.setdefault("cwd", self.folder)
        return self.t.run(["git", *words], env=self.t.env(**WHO, **self.clock.env()), **options)

    def git(self, *words, **options):
        result = self.try_git(*words, **options)
        equal(result.code, 0, f"exit status of git {words[0]}", result)
        return result.out.rstrip("\n")

    def commit(self, branch, changes, base="main", message="a change"):
        """changes: {path: content, (mode, content), or None to delete it}; base: a branch, or None.
        Returns the commit."""
        now = self.clock.next()
        text = message.encode()
        stream = [b"commit refs/heads/%s\n" % branch.encode(),
                  b"author An Author <author@example.org> %d +0000\n" % now,
                  b"committer An Author <author@example.org> %d +0000\n" % now,
                  b"data %d\n%s\n" % (len(text), text)]
        if base:
            stream.append(b"from %s\n" % self.git("rev-parse", base).encode())
        for path, change in changes.items():
            name = b'"%s"' % os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
            if change is None:
                stream.append(b"D %s\n" % name)
                continue
            mode, content = change if isinstance(change, tuple) else ("100644", change)
            if mode == "160000":
                stream.append(b"M 160000 %s %s\n" % (content.encode(), name))
                continue
            content = content.encode() if isinstance(content, str) else content
            stream.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), name, len(content), content))
        self.git("fast-import", "--quiet", "--force", input=b"".join(stream))
        return self.git("rev-parse", branch)

    def head(self):
        return self.git("rev-parse", "HEAD")

    def status(self):
        return self.git("status", "--porcelain")

    def state(self):
        """Everything that belongs to the user: files, index, refs, logs, stash; not objects, which may be added without harm."""
        found = {}
        for base, folders, files in os.walk(os.fsencode(self.folder)):
            if base == self.path(".git"):
                folders[:] = [name for name in folders if name != b"objects"]
            for name in files + [name for name in folders if os.path.islink(os.path.join(base, name))]:
                path = os.path.join(base, name)
                status = os.lstat(path)
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                else:
                    with open(path, "rb") as file:
                        found[path] = (status.st_mode, file.read())
            found[base] = None
        return found
