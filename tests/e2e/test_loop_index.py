"""Commands that look for loops read few of them, and give the same answers with any index or none."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess

from harness import cases, contains, each_identity, equal, expect, lacks, timeout, user_only
from harness.case import Failure
from harness.loop import LoopInPlace as Loop
from harness.loop import until

ANY_IDENTITY = "The index of loops is a file with numbers; its reader does not ask who reads."

MANY = 40
INDEXES = (".index", ".costs", ".reopened")
ANSWERS = (("status",), ("status", "--json"), ("status", "--all"), ("history",), ("logs",), ("cost",), ("cost", "--by", "loop", "--json"),
           ("cost", "--by", "day"), ("cost", "--by", "iteration"), ("cost", "--by", "agent", "--csv"))
LEDGER = {"at_ms": 1790000000000, "iteration": 1, "agent": "claude", "route": "messages", "model": "m-1", "input": 10,
          "output": 5, "write_5m": 0, "write_1h": 0, "read": 0, "cost_nusd": 1000}


def newest(number):
    """An id that sorts after those of real loops; of loops with the same age, the last is the newest."""
    return f"29990101-000000-{number:04}"


def many_loops(t, count=MANY):
    """A completed loop and as many copies, each with a ledger."""
    loop = Loop(t)
    loop.write("done")
    equal(loop.run().code, 0, "exit status of run")
    first = loop.folder
    for number in range(count):
        copy = os.path.join(t.state, "loops", newest(number))
        shutil.copytree(first, copy)
        with open(os.path.join(copy, "ledger.jsonl"), "w", encoding="utf-8") as file:
            for line in range(3):
                file.write(json.dumps(dict(LEDGER, iteration=line + 1, at_ms=LEDGER["at_ms"] + line * 86400000 * (number % 2),
                                           model=f"m-{number % 3}", cost_nusd=1000 + number)) + "\n")
    loop.ident = newest(count - 1)
    return loop


class Opened:
    """Counts how often files with a name are opened in the folders of loops."""

    IN_OPEN = 0x20

    def __init__(self, t, name):
        self.name = name.encode()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        loops = os.path.join(t.state, "loops")
        for ident in os.listdir(loops):
            if not ident.startswith("."):
                self.libc.inotify_add_watch(self.fd, os.path.join(loops, ident).encode(), self.IN_OPEN)

    def __enter__(self):
        self.count = 0
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.fd, 1 << 20):
                while chunk:
                    size = struct.unpack_from("iIII", chunk)[3]
                    self.count += chunk[16:16 + size].rstrip(b"\0") == self.name
                    chunk = chunk[16 + size:]
        os.close(self.fd)


@each_identity
def test_loops_are_in_the_order_of_their_age_whatever_their_ids_say(t):
    loop = Loop(t)
    loop.write("done")
    older, newer = newest(2), newest(1)
    for ident in (older, newer):
        equal(loop.run().code, 0, "exit status of run")
        made = next(name for name in os.listdir(index_path(t, ".")) if not name.startswith((".", "2999")))
        os.rename(index_path(t, made), index_path(t, ident))
    for index in ("no index yet", "an index"):
        shown = json.loads(loop.ringfence("status", "--json").out)["loops"]
        equal([each["id"] for each in shown], [older, newer], f"loops, oldest first, with {index}")


@cases(("status", 10), ("history", 2), ("logs", 3), ("cost", 0), ("cost --by agent", 0), ("pause", 3), ("resume --all", 0), ("diff", 3))
def test_journals_opened_do_not_grow_with_loops_that_ended(t, words, most):
    loop = many_loops(t)
    loop.ringfence("cost")
    with Opened(t, "journal.db") as opened:
        loop.ringfence(*words.split())
    expect(opened.count <= most, f"'{words}' opens at most {most} of {MANY + 1} journals", opened.count)


def index_path(t, name):
    return os.path.join(t.state, "loops", name)


def remove(path):
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def answer(loop, words):
    """Runs a command; returns its output without the age of loops, which passes."""
    result = loop.ringfence(*words)
    return result.code, re.sub(r"just now|\d+ (min|h) ago", "AGE", result.out), result.err


def answers_without(loop):
    """The answers to all commands, each without an index."""
    found = {}
    for words in ANSWERS:
        for name in INDEXES:
            remove(index_path(loop.t, name))
        found[words] = answer(loop, words)
        equal(found[words][0], 0, f"exit status of {words} without an index", found[words])
    return found


def same_answers(loop, wanted, damage):
    for words in ANSWERS:
        damage(loop.t)
        equal(answer(loop, words), wanted[words], f"the answer to {' '.join(words)}")


def rewrite(change):
    """Changes the bytes of both indexes."""
    def damage(t):
        for name in INDEXES[:2]:
            with open(index_path(t, name), "rb") as file:
                data = file.read()
            with open(index_path(t, name), "wb") as file:
                file.write(change(data))
    return damage


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def swap(t):
    """Puts each index in the place of the other."""
    first, second = (index_path(t, name) for name in INDEXES[:2])
    os.rename(first, first + "x")
    os.rename(second, first)
    os.rename(first + "x", second)


def to_folder(t):
    for name in INDEXES:
        shutil.rmtree(index_path(t, name), ignore_errors=True)
        remove(index_path(t, name))
        os.mkdir(index_path(t, name))


def to_pipe(t):
    for name in INDEXES:
        remove(index_path(t, name))
        os.mkfifo(index_path(t, name))


def to_symlink(t):
    for name in INDEXES:
        remove(index_path(t, name))
        os.symlink("/etc/passwd", index_path(t, name))


DAMAGES = {
    "none": lambda t: None,
    "empty": rewrite(lambda data: b""),
    "torn": rewrite(lambda data: data[:len(data) // 2]),
    "torn after a line": rewrite(lambda data: data[:data.rindex(b"\n", 0, len(data) - 1) + 1]),
    "zeros": rewrite(lambda data: bytes(len(data))),
    "random": rewrite(lambda data: bytes(byte * 167 % 256 for byte in range(len(data)))),
    "longer": rewrite(lambda data: data + b"29990101-000000-9999 1 /nowhere %\n"),
    "a line twice": rewrite(lambda data: data + data[data.rindex(b"\n", 0, len(data) - 1) + 1:]),
    "no newline": rewrite(lambda data: data[:-1]),
    "bit of the hash": rewrite(lambda data: flip(data, 3)),
    "bit of the head": rewrite(lambda data: flip(data, 40)),
    "bit of a line": rewrite(lambda data: flip(data, len(data) - 12)),
    "newer version": rewrite(lambda data: data.replace(b"ringfence-index 1", b"ringfence-index 2")),
    "swapped": swap,
    "folder": to_folder,
    "pipe": to_pipe,
    "symlink": to_symlink,
    "list removed": lambda t: remove(index_path(t, ".reopened")),
    "list of garbage": lambda t: open(index_path(t, ".reopened"), "wb").write(b"\0\xff garbage"),
}


@timeout(300)
def test_a_damaged_index_gives_the_same_answers_as_none(t):
    loop = many_loops(t, 14)
    wanted = answers_without(loop)
    for name, damage in DAMAGES.items():
        for path in (index_path(t, name) for name in INDEXES):
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else remove(path)
        loop.ringfence("cost")
        try:
            # Once: the next command makes it again.
            damage(t)
            same_answers(loop, wanted, lambda t: None)
        except Failure as why:
            raise Failure(f"damage: {name}: {why}") from why


def test_an_old_index_gives_the_same_answers_as_none(t):
    loop = many_loops(t, 14)
    loop.ringfence("cost")
    old = {name: t.read(index_path(t, name)) for name in INDEXES[:2]}

    def restore(t):
        for name, text in old.items():
            with open(index_path(t, name), "w", encoding="utf-8") as file:
                file.write(text)

    shutil.copytree(loop.folder, index_path(t, newest(50)))
    shutil.rmtree(index_path(t, newest(3)))
    with open(os.path.join(index_path(t, newest(50)), "ledger.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(dict(LEDGER, cost_nusd=77)) + "\n")
    wanted = answers_without(loop)
    same_answers(loop, wanted, restore)


def reopened(t):
    """A loop that has ended at a limit, twelve newer ones, an index of all, and its copy from then."""
    loop = Loop(t, scripts={"1": "true", "2": "edit here x; meet go", "3": "edit done yes"})
    equal(loop.run("-m", "1").code, 2, "exit status of run")
    loop.ident = loop.status()["id"]
    for number in range(12):
        shutil.copytree(loop.folder, index_path(t, newest(number)))
    loop.ringfence("cost")
    lacks(loop.ringfence("status").out, loop.ident, "the loops that are shown")
    return loop, t.read(index_path(t, ".index"))


def test_a_loop_that_continues_after_its_end_is_shown_and_keeps_its_folder(t):
    loop, old = reopened(t)
    equal(loop.ringfence("resume", "-m", "2", loop.ident).code, 0, "exit status of resume")
    loop.there("here")
    for stale in (False, True):
        if stale:
            with open(index_path(t, ".index"), "w", encoding="utf-8") as file:
                file.write(old)
        contains(loop.ringfence("status").out, f"{loop.ident}  running", "with " + ("an old" if stale else "its") + " index")
        contains(loop.run().err, f"the loop {loop.ident} is already running", "a second loop here")
    loop.write("go")
    until("the end", lambda: loop.said()["status"] == "limit")
    until("the end of its supervisor", lambda: not json.loads(loop.ringfence("status", "--json", loop.ident).out)["loops"][0]["supervisor_pid"])
    lacks(loop.ringfence("status").out, loop.ident, "the loops that are shown after its end")


def test_a_loop_that_continues_after_its_end_has_its_new_cost(t):
    loop, _ = reopened(t)
    old = t.read(index_path(t, ".costs"))
    loop.write("go")
    equal(loop.ringfence("resume", "--follow", "-m", "2", loop.ident).code, 2, "exit status of resume")
    with open(os.path.join(loop.folder, "ledger.jsonl"), "w", encoding="utf-8") as file:
        file.write(json.dumps(LEDGER) + "\n")
    with open(index_path(t, ".costs"), "w", encoding="utf-8") as file:
        file.write(old)
    for number in range(2):
        equal(json.loads(loop.ringfence("cost", "--json").out)["total"]["cost_nusd"], 1000, f"the cost, look {number + 1}")


def test_a_journal_that_is_edited_later_is_reported_as_without_an_index(t):
    loop = many_loops(t, 7)
    loop.ringfence("cost")
    with contextlib.closing(sqlite3.connect(os.path.join(loop.folder, "journal.db"))) as store:
        store.execute("UPDATE event SET data = '{}' WHERE seq = 1")
        store.commit()
    seen = answer(loop, ("status",)), answer(loop, ("history",))
    contains(seen[0][1], "damaged at event 1", "the status")
    for name in INDEXES:
        remove(index_path(t, name))
    equal(seen, (answer(loop, ("status",)), answer(loop, ("history",))), "the answers without an index")


@user_only
def test_a_folder_that_cannot_be_written_gives_the_same_answers(t):
    loop = many_loops(t, 12)
    wanted = answers_without(loop)
    for name in INDEXES:
        remove(index_path(t, name))
    os.chmod(os.path.join(t.state, "loops"), 0o500)
    same_answers(loop, wanted, lambda t: None)
    expect(not os.path.exists(index_path(t, ".index")), "no index is written", os.listdir(os.path.join(t.state, "loops")))
    os.chmod(os.path.join(t.state, "loops"), 0o700)


@each_identity
def test_commands_at_the_same_time_leave_a_good_index(t):
    loop = many_loops(t)
    wanted = answer(loop, ("cost", "--json"))
    for _ in range(3):
        for name in INDEXES:
            remove(index_path(t, name))
        running = [t.start([t.ringfence, "cost", "--json"], cwd=loop.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for _ in range(8)]
        for process in running:
            equal(t.finish(process).out, wanted[1], "the answer of each")
    with Opened(t, "journal.db") as opened:
        loop.ringfence("cost")
    equal(opened.count, 0, "journals that are opened afterwards")
