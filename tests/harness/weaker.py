"""Tests that cannot hold with a mechanism, each with its reason.

A row is (mechanism, test, reason). The mechanism is that of `tests/run.py --fence`, with `/root` or `/user` for one of
the identities. The test is the name of its function, with `: PATTERN` for some of its cases (fnmatch). Such a test is
tried all the same. It counts as weaker, not as failed; if it passes, it fails, and the row has to go. The table in
docs/containers.md has every row (scripts/check-containers).
"""

WEAKER = (
)
