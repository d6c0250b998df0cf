"""The same tests with another mechanism (tests/run.py --fence NAME): the words for ringfence, and what is weaker there."""

import fnmatch

from .weaker import UNTRIED, WEAKER

# The mechanism of tests that are run without --fence.
USUAL = "bwrap"
# The commands that start a fence of the mechanism that is asked for.
STARTS = ("exec", "shell", "run", "work")
# Mechanisms that need setuid programs and a range of ids as a user.
SETUID = ("podman",)
# A user may not enter the namespaces of a container that a daemon has started, so Docker's fence needs root. Landlock
# cannot lend files of root to the user that root becomes.
ONLY_AS = {"docker": ("root",), "landlock": ("user",)}


def argv_with(argv, ringfence, mechanism):
    """The same start of ringfence, with the mechanism; also as a part of a line for a shell, or of another program's words."""
    if not mechanism or not isinstance(argv, (list, tuple)) or "--fence" in argv:
        return argv
    wanted = ["--fence", mechanism]
    words = []
    for before, word in zip([None, *argv], argv):
        words += [_line_with(word, ringfence, wanted) if isinstance(word, str) else word]
        if before == ringfence and word in STARTS:
            words += wanted
    return words


def _line_with(line, ringfence, wanted):
    for start in STARTS:
        line = line.replace(f"{ringfence} {start} ", " ".join([ringfence, start, *wanted, ""]))
    return line


def _fits(row, mechanism, identity, name, label):
    wanted, _, who = row[0].partition("/")
    test, _, pattern = row[1].partition(": ")
    return (wanted == mechanism and who in ("", identity) and test == name
            and (not pattern or fnmatch.fnmatchcase(label, pattern)))


def _reason(table, *which):
    return next((row[2] for row in table if _fits(row, *which)), None)


def weaker(mechanism, identity, name, label):
    """The reason why a test cannot hold with the mechanism, or None."""
    return _reason(WEAKER, mechanism, identity, name, label)


def untried(mechanism, identity, name, label):
    """The reason why a test cannot be tried with the mechanism, or None."""
    return _reason(UNTRIED, mechanism, identity, name, label)
