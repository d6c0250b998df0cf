"""Random edits of a folder, and what is in it afterwards: for the tests that undo them."""

import hashlib
import os
import random
import stat

NAMES = ["a", "b", "B", "main.c", "README", "x y", "ü", "-rf", "new\nline", "tab\t", "back\\slash",
         'quo"te', "esc\x1b[31m", "ringfence%x", "ringfence#y", ".gitignore", ".gitattributes", "a.txt",
         "a-b", "a0", "CON", "trailing ", ".hidden", "n" * 200]
ODD = [b"\xff\xfe", b"\x80"]
TEXTS = [b"", b"one\ntwo\nthree\n", b"one\r\ntwo\r\n", b"\0binary\0", b"no end", b"$Id$\n", b"\xff" * 100]
MODES = [0o644, 0o600, 0o755, 0o700, 0o444, 0o400, 0o664, 0o777, 0o000]
FOLDER_MODES = [0o755, 0o700, 0o555, 0o775, 0o500, 0o000]
GIT = [b".git", b".GIT", b"git~1", b".git "]


def content(path, mode):
    """The bytes of a file, also of one that may not be read. In overlayfs, a name may open by an older mode than it shows, if
    another name of the file was used to change the mode."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except PermissionError:
        os.chmod(path, 0o600)
        with open(path, "rb") as file:
            text = file.read()
        os.chmod(path, mode)
        return text


def listing(root, skip=(b".git",)):
    """Everything below a folder: kind, mode, content, and which names are links to one file."""
    found, inodes = {}, {}
    root = os.fsencode(root)

    def look(path, name):
        info = os.lstat(path)
        kind = stat.S_IFMT(info.st_mode)
        mode = stat.S_IMODE(info.st_mode)
        if kind == stat.S_IFDIR:
            found[name] = ("folder", mode)
            if mode & 0o700 != 0o700:
                os.chmod(path, 0o700)
            for inner in sorted(os.listdir(path)):
                if name or inner not in skip:
                    look(os.path.join(path, inner), os.path.join(name, inner))
            if mode & 0o700 != 0o700:
                os.chmod(path, mode)
        elif kind == stat.S_IFLNK:
            found[name] = ("link", os.readlink(path))
        elif kind == stat.S_IFREG:
            text = content(path, mode)
            inodes.setdefault(info.st_ino, []).append(name)
            found[name] = ("file", mode, text if len(text) < 1 << 16 else (len(text), hashlib.sha256(text).hexdigest()))
        else:
            found[name] = ("other", kind, mode)

    look(root, b"")
    found["links"] = sorted(names for names in inodes.values() if len(names) > 1)
    return found


def difference(before, after):
    """The first few differences between two listings, as text."""
    lines = [f"{key!r}: {before.get(key)!r:.200} -> {after.get(key)!r:.200}"
             for key in sorted(set(before) | set(after), key=repr) if before.get(key) != after.get(key)]
    return "\n".join(lines[:10])


class Editor:
    """Changes a folder at random; the seed reproduces every sequence."""

    def __init__(self, root, seed):
        self.root = os.fsencode(root)
        self.random = random.Random(seed)

    def name(self):
        if self.random.random() < 0.06:
            return self.random.choice(ODD)
        if self.random.random() < 0.03:
            return self.random.choice(GIT)
        return os.fsencode(self.random.choice(NAMES))

    def entries(self, kind=None):
        found = []

        def walk(folder):
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if path == os.path.join(self.root, b".git"):
                    continue
                mode = os.lstat(path).st_mode
                if kind is None or kind(mode):
                    found.append(path)
                if stat.S_ISDIR(mode) and os.access(path, os.R_OK | os.X_OK):
                    walk(path)
        walk(self.root)
        return found

    def folder(self):
        return self.random.choice([self.root] + [path for path in self.entries(stat.S_ISDIR)
                                                 if os.access(path, os.R_OK | os.W_OK | os.X_OK)])

    def new_path(self):
        path = os.path.join(self.folder(), self.name())
        return os.path.join(self.root, b"top") if path == os.path.join(self.root, b".git") else path

    def pick(self, kind=None):
        found = self.entries(kind)
        return self.random.choice(found) if found else None

    def text(self):
        if self.random.random() < 0.5:
            return self.random.choice(TEXTS)
        return self.random.randbytes(self.random.randrange(2000))

    def write(self, path, text):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(path, flags, 0o644), "wb") as file:
            file.write(text)

    def create(self):
        self.write(self.new_path(), self.text())

    def change(self):
        path = self.pick(stat.S_ISREG)
        if path:
            with open(path, "r+b") as file:
                file.seek(0, os.SEEK_END if self.random.random() < 0.5 else os.SEEK_SET)
                file.write(self.text() or b"x")

    def remove(self):
        path = self.pick()
        if path:
            self.delete(path)

    def delete(self, path):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            for name in sorted(os.listdir(path)):
                self.delete(os.path.join(path, name))
            os.rmdir(path)
        else:
            os.unlink(path)

    def rename(self):
        path, target = self.pick(), self.new_path()
        if path and not (target + b"/").startswith(path + b"/"):
            os.rename(path, target)

    def chmod(self):
        path = self.pick(lambda mode: not stat.S_ISLNK(mode))
        if path:
            folder = stat.S_ISDIR(os.lstat(path).st_mode)
            os.chmod(path, self.random.choice(FOLDER_MODES if folder else MODES))

    def link(self):
        os.symlink(self.random.choice([b"a", b"../a", b"/etc/passwd", b"nowhere", b"x" * 300]),
                   self.new_path())

    def hard_link(self):
        path = self.pick(stat.S_ISREG)
        if path:
            os.link(path, self.new_path())

    def empty_folder(self):
        os.mkdir(self.new_path())

    def repository(self):
        path = self.new_path()
        os.makedirs(os.path.join(path, b".git", b"hooks"))
        self.write(os.path.join(path, b".git", b"HEAD"), b"ref: refs/heads/main\n")
        self.write(os.path.join(path, b"inner"), self.text())

    def change_case(self):
        path = self.pick()
        if path:
            os.rename(path, os.path.join(os.path.dirname(path), os.path.basename(path).swapcase()))

    def swap_kind(self):
        path = self.pick()
        if path:
            folder = stat.S_ISDIR(os.lstat(path).st_mode)
            self.delete(path)
            if folder:
                self.write(path, self.text())
            else:
                os.mkdir(path)
                self.write(os.path.join(path, b"inside"), self.text())

    def large(self):
        path = self.new_path()
        self.write(path, b"")
        with open(path, "r+b") as file:
            file.truncate(self.random.choice([4 << 20, (4 << 20) + 1, 50 << 20]))
            file.seek(self.random.randrange(40 << 20))
            file.write(self.text())

    def pipe(self):
        os.mkfifo(self.new_path())

    def edit(self, count):
        acts = ([self.create] * 6 + [self.change] * 5 + [self.remove] * 3 + [self.rename] * 3
                + [self.chmod] * 3 + [self.link, self.hard_link, self.empty_folder, self.repository,
                                      self.change_case, self.swap_kind, self.pipe])
        for _ in range(count):
            act = self.large if self.random.random() < 0.01 else self.random.choice(acts)
            try:
                act()
            except OSError:
                pass  # closed folders and existing entries cannot be changed this way
