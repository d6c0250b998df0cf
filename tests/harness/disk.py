"""A disk whose power can be cut: an ext4 image, mounted as the home of a test.

The image has what the kernel has written to the disk so far, and nothing of the page cache. A copy
shows what a power cut leaves; mounting the copy replays the journal, as a boot does.
"""

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import uuid

from . import kernel
from .case import Failure, Skip
from .loop import until

SIZE = 2 << 30  # sparse; free space is a limit of loops
INODES = 16384
ADMIN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


def _admin(*argv):
    done = subprocess.run(argv, env=ADMIN, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(argv)}: {done.stdout.decode(errors='replace').strip()}")


def _contents(path):
    """The parts of a sparse file that have data, by offset."""
    parts = {}
    fd = os.open(path, os.O_RDONLY)
    try:
        at, end = 0, os.fstat(fd).st_size
        while at < end:
            try:
                at = os.lseek(fd, at, os.SEEK_DATA)
            except OSError:  # nothing but a hole up to the end
                break
            hole = os.lseek(fd, at, os.SEEK_HOLE)
            parts[at] = os.pread(fd, hole - at, at)
            at = hole
    finally:
        os.close(fd)
    return parts


def _write(path, parts):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.truncate(fd, SIZE)
        for at, data in parts.items():
            os.pwrite(fd, data, at)
    finally:
        os.close(fd)


def _signal_all(number):
    for pid, _ in kernel.descendants_of(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Disk:
    """The home of a test, with its project and its state, on a disk of its own."""

    def __init__(self, t):
        self.t = t
        self.cuts = 0
        self.images = os.path.join(t.folder, "disk")
        t.tmpfs(self.images, "1g")  # its own syncs cost nothing there
        image = os.path.join(self.images, "0")
        with open(image, "wb") as file:
            file.truncate(SIZE)
        _admin("mkfs.ext4", "-q", "-F", "-N", str(INODES), "-J", "size=8", "-E",
               "lazy_itable_init=0,lazy_journal_init=0", image)
        try:
            self._mount(image)
        except OSError as error:
            raise Skip(f"no disk to cut the power of: {error}") from None
        os.chmod(t.home, 0o755)
        os.makedirs(t.project)
        shutil.copy(t.attack_source, t.attack)
        self.sync()
        t.cleanups.append(lambda: os.chdir("/"))

    def _mount(self, image):
        _admin("mount", "-t", "ext4", "-o", "loop,data=ordered", image, self.t.home)

    def _boot(self):
        """A boot has an id of its own. This machine keeps its id, so the recorded one changes."""
        for path in glob.glob(os.path.join(self.t.state, "snapshots/*.git/boot")):
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{uuid.UUID(int=self.cuts)}\n")
        for path in glob.glob(os.path.join(self.t.state, "snapshots/*.git/cache")):
            os.unlink(path)  # one of another boot does not count

    def sync(self):
        """Everything so far is on disk."""
        _admin("sync", "-f", self.t.home)

    def commit(self):
        """Some program syncs a file of its own. Then names and sizes are on disk, but not the data of other files."""
        path = os.path.join(self.t.home, ".other")
        with open(path, "w", encoding="ascii") as file:
            file.write("x")
            file.flush()
            os.fsync(file.fileno())
        os.unlink(path)

    def _capture(self, image):
        """Two equal readings: nothing was written in between, so both are the disk at one moment."""
        def settled():
            first = _contents(image)
            return first if first == _contents(image) else None
        return until("a moment without a write", settled)

    def cut(self):
        """Cuts the power, and boots again."""
        old = os.path.join(self.images, str(self.cuts))
        _signal_all(signal.SIGSTOP)
        parts = self._capture(old)
        self._stop_everything()
        os.chdir("/")
        until("the end of the old mount", self._unmount)
        os.unlink(old)
        self.cuts += 1
        new = os.path.join(self.images, str(self.cuts))
        _write(new, parts)
        self._mount(new)
        self._boot()
        os.chdir(self.t.project)

    def _unmount(self):
        with contextlib.suppress(OSError):
            _admin("umount", self.t.home)
            return True
        return False

    def _stop_everything(self):
        while kernel.descendants_of(os.getpid()):
            _signal_all(signal.SIGKILL)
            if kernel.wait_for_children(20):
                raise Failure("a process survives SIGKILL")
