"""A loop on a draft reads the project itself once, and again only if somebody changes it."""

import contextlib
import ctypes
import json
import os
import shutil
import struct

from harness import cases, contains, equal, expect, lacks, user_only
from harness.loop import Loop, until

IN_OPEN = 0x20


class Opened:
    """Counts how often somebody opens a folder."""

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        expect(self.libc.inotify_add_watch(self.fd, os.fsencode(folder), IN_OPEN) >= 0, "the folder is watched")

    def count(self):
        """Returns how often since the last call. Equal events in a row would become one, but a scan opens each folder once."""
        count = 0
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.fd, 1 << 20):
                while chunk:
                    size = struct.unpack_from("iIII", chunk)[3]
                    count += size == 0
                    chunk = chunk[16 + size:]
        return count


class Meeting:
    """A loop whose agent waits in each iteration, so that the test can change the project meanwhile."""

    def __init__(self, t, scripts, name="project"):
        self.t = t
        self.folder = os.path.join(t.outside, "meeting")
        os.mkdir(self.folder)
        meet = f"touch {self.folder}/at-$N; meet {self.folder}/go-$N; "
        self.loop = Loop(t, name, scripts={number: script + "; " + meet for number, script in scripts.items()})
        os.makedirs(self.loop.path("deep/inner"))
        self.loop.write("deep/inner/file", "file\n")
        self.opened = Opened(self.loop.path("deep/inner"))

    def start(self):
        self.loop.detach("--workspace", "draft", "--write", self.folder)

    def at(self, number):
        until(f"iteration {number}", lambda: os.path.exists(os.path.join(self.folder, f"at-{number}")))

    def go_on(self, number):
        self.t.write(os.path.join(self.folder, f"go-{number}"), "")

    def edits(self):
        """Returns what was told about the user's edits, by iteration."""
        saved = [json.loads(data) for kind, data in self.loop.events() if kind == "checkpointed"]
        return [(data["iteration"], data["edited"]) for data in saved if "edited" in data]


def test_a_project_that_nobody_changes_is_not_read_again(t):
    meeting = Meeting(t, {"1": "edit one 1", "2": "edit two 2", "3": "edit three 3", "4": "edit done yes"})
    meeting.start()
    counts = []
    for number in range(1, 5):
        meeting.at(number)
        counts.append(meeting.opened.count())
        meeting.go_on(number)
    meeting.loop.ended("completed")
    expect(counts[0] > 0, "the first iteration reads the project", counts)
    # After the first iteration, the user's edits are looked for once.
    equal(counts[2:], [0, 0], "how often a folder was opened between iterations")
    equal(meeting.edits(), [], "edits")


SECRET = "PASSWORD=abc123\n"
LOOK = "cat deep/*/.env.local .env; cat deep/inner/file"


def change_twice(t, first, name="project"):
    """Changes the project in iteration 1, in the given way, and in iteration 2; then no agent has seen a secret."""
    meeting = Meeting(t, {"1": "say ready", "2": LOOK, "3": LOOK, "4": "edit done yes"}, name)
    loop = meeting.loop
    change = first(loop)
    meeting.start()
    meeting.at(1)
    change()
    meeting.go_on(1)
    meeting.at(2)
    loop.write(".env", SECRET)
    loop.write("deep/inner/file", "changed\n")
    for number in (2, 3, 4):
        meeting.at(number)
        meeting.go_on(number)
    loop.ended("completed")
    for number, seen in (("2", "file"), ("3", "changed")):
        out = loop.ringfence("logs", "--iteration", number).out
        contains(out, seen, f"what iteration {number} saw of the project")
        lacks(out, "PASSWORD", f"what iteration {number} saw of the secret")
    told = meeting.edits()
    equal([iteration for iteration, _ in told][-1:], [2], "the iteration after which the last edit was told")
    contains(told[-1][1], "deep/inner/file", "what was told")


@cases("a new file", "a new folder", "a moved folder", "a link")
def test_a_secret_that_appears_in_the_project_meanwhile_is_hidden(t, how):
    elsewhere = os.path.join(t.outside, "moved")
    t.write(os.path.join(elsewhere, ".env.local"), SECRET)

    def first(loop):
        def change():
            if how == "a new file":
                loop.write("deep/inner/.env.local", SECRET)
            elif how == "a new folder":
                os.mkdir(loop.path("deep/new"))
                loop.write("deep/new/.env.local", SECRET)
            elif how == "a moved folder":
                os.rename(elsewhere, loop.path("deep/moved"))
            else:
                os.link(os.path.join(elsewhere, ".env.local"), loop.path("deep/inner/.env.local"))
        return change
    change_twice(t, first)


def test_a_secret_in_a_project_that_replaces_this_one_is_hidden(t):
    """Somebody moves a folder above the project, which causes no event, and puts another one in its place."""
    above, aside = (os.path.join(t.home, name) for name in ("above", "aside"))

    def first(loop):
        def change():
            os.rename(above, aside)
            shutil.copytree(aside, above)
            loop.write("deep/inner/.env.local", SECRET)
        return change
    change_twice(t, first, "above/project")


@user_only
def test_a_secret_in_a_folder_that_becomes_readable_is_hidden(t):
    """Root can read every folder."""
    def first(loop):
        os.mkdir(loop.path("deep/closed"))
        loop.write("deep/closed/.env.local", SECRET)
        os.chmod(loop.path("deep/closed"), 0)
        return lambda: os.chmod(loop.path("deep/closed"), 0o755)
    change_twice(t, first)
