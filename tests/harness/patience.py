"""Limits for hangs, which a busy machine does not reach.

The time of a limit passes more slowly where more processes want to run than there are CPUs: at a
load of 8 on 2 CPUs, a limit of 60 s is one of 240 s.
"""

import os
import time


def crowding():
    """How many processes share a CPU; at least 1."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


class Patience:
    def __init__(self, seconds):
        self.seconds = seconds
        self.last = time.monotonic()

    def left(self):
        """The seconds that are left, at the present load; 0 or less if none are."""
        now = time.monotonic()
        self.seconds -= (now - self.last) / crowding()
        self.last = now
        return self.seconds


def in_time(attempt, enough):
    """Attempts something with a time limit of 2, 8, 32 and 128 s, until the limit was enough for what must come before its
    end, which takes longer on a busy machine. attempt: called with the seconds; returns its last result."""
    for seconds in (2, 8, 32, 128):
        result = attempt(seconds)
        if enough(result):
            break
    return result
