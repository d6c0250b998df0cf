"""Commands that look for loops read few of them, and give the same answers with any index or none."""

import contextlib
import ctypes
import json
import os
import shutil
import struct

from harness import cases, contains, equal, expect
from harness.loop import Loop

MANY = 40
INDEXES = (".index", ".costs", ".reopened")
ANSWERS = (("status",), ("status", "--json"), ("status", "--all"), ("history",), ("logs",), ("cost",), ("cost", "--by", "loop", "--json"),
           ("cost", "--by", "day"), ("cost", "--by", "iteration"), ("cost", "--by", "agent", "--csv"))
LEDGER = {"at_ms": 1790000000000, "iteration": 1, "agent": "claude", "route": "messages", "model": "m-1", "input": 10,
          "output": 5, "write_5m": 0, "write_1h": 0, "read": 0, "cost_nusd": 1000}


def many_loops(t, count=MANY):
    """A completed loop and as many copies, each with a ledger."""
    loop = Loop(t)
    loop.write("done")
    equal(loop.run().code, 0, "exit status of run")
    first = loop.folder
    for number in range(count):
        copy = first[:-4] + f"zz{number:02}"
        shutil.copytree(first, copy)
        with open(os.path.join(copy, "ledger.jsonl"), "w", encoding="utf-8") as file:
            for line in range(3):
                file.write(json.dumps(dict(LEDGER, iteration=line + 1, at_ms=LEDGER["at_ms"] + line * 86400000 * (number % 2),
                                           model=f"m-{number % 3}", cost_nusd=1000 + number)) + "\n")
    loop.ident = os.path.basename(first)[:-4] + f"zz{count - 1:02}"
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


@cases(("status", 10), ("history", 2), ("logs", 3), ("cost", 0), ("cost --by agent", 0), ("pause", 3), ("resume --all", 0), ("diff", 3))
def test_journals_opened_do_not_grow_with_loops_that_ended(t, words, most):
    loop = many_loops(t)
    loop.ringfence("cost")
    with Opened(t, "journal.db") as opened:
        loop.ringfence(*words.split())
    expect(opened.count <= most, f"'{words}' opens at most {most} of {MANY + 1} journals", opened.count)


def answers(loop):
    """Runs all commands that look for loops; returns their output."""
    results = [loop.ringfence(*words) for words in ANSWERS]
    return [(words, result.code, result.out, result.err) for words, result in zip(ANSWERS, results)]
