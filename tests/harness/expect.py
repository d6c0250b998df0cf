"""Assertions that say what they saw."""

from .case import Failure


def shorten(value, limit=2000):
    text = str(value)
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text)} characters)"


def expect(condition, claim, seen=None):
    if not condition:
        raise Failure(claim if seen is None else f"{claim}\n{shorten(seen)}")


def equal(seen, wanted, what="value", of=None):
    if seen != wanted:
        tail = "" if of is None else f"\n{shorten(of)}"
        raise Failure(f"{what}: wanted {shorten(repr(wanted))}, saw {shorten(repr(seen))}{tail}")


def contains(text, part, what="text"):
    if part not in text:
        raise Failure(f"{what} should contain {part!r}:\n{shorten(text)}")


def lacks(text, part, what="text"):
    if part in text:
        raise Failure(f"{what} should not contain {part!r}:\n{shorten(text)}")
