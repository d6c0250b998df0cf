"""The calls by which a program changes and syncs files, in their order.

A power cut keeps what was synced. So a test of durability asks for the order of writes, syncs and
renames, which the attack program logs (tests/escape/attack_step.c).
"""

import os
import re

from .expect import equal, expect

NO_FILES = ("/dev/", "/proc/", "/sys/", "/memfd:")


class Syncs:
    """A wrapper for a program; `calls` has the calls of its last run and of everything that it started."""

    def __init__(self, t, program):
        self.log = os.path.join(t.outside, "calls")
        self.argv0 = t.script(f"logged-{os.path.basename(program)}",
                              f'#!/bin/sh\nexec {t.attack_source} log-calls {self.log} {program} "$@"\n')

    @property
    def calls(self):
        """Pairs of a thread and a text such as `rename /a/b /a/c`; several writes to a file in a row are one."""
        with open(self.log, encoding="utf-8", errors="surrogateescape") as file:
            found = [line.rstrip("\n").split("\t") for line in file]
        calls, last = [], {}
        for thread, *words in found:
            call = " ".join(words)
            ours = words[0] in ("link", "rename") or words[1].startswith("/") and not words[1].startswith(NO_FILES)
            if ours and not (words[0] == "write" and last.get(thread) == call):
                calls.append((thread, call))
                last[thread] = call
        return calls

    def where(self, pattern, after=-1):
        """The place of the first call from there on that matches, which must exist."""
        for place, (_, call) in enumerate(self.calls):
            if place > after and re.fullmatch(pattern, call):
                return place
        expect(False, f"there should be a call '{pattern}' after {after}",
               "\n".join(f"{place} {call}" for place, (_, call) in enumerate(self.calls)
                         if not call.startswith("write"))[-4000:])

    def in_order(self, *patterns):
        """Each call is the first of its kind after the one before it."""
        place = -1
        for pattern in patterns:
            place = self.where(pattern, place)

    def at_once(self, *patterns):
        """The thread of the first call makes the others next, with nothing in between."""
        calls = self.calls
        place = self.where(patterns[0])
        own = [call for thread, call in calls[place:] if thread == calls[place][0]]
        for pattern, call in zip(patterns, own):
            expect(re.fullmatch(pattern, call), f"'{pattern}' should follow", own[:len(patterns) + 2])
        equal(len(own) >= len(patterns), True, "calls of this thread", own)
