"""A test as data: where it is, what it says, with which arguments, for whom, for how long."""

import os
import shutil

from . import fences

DEFAULT_TIMEOUT_S = 120
SANITIZED_SLOWER = 3  # time limits are this much longer with sanitizers


class Failure(Exception):
    """The claim of the test does not hold."""


class Skip(Exception):
    """The claim cannot be tried on this machine; the message is the reason."""


def _mark(name, value):
    def decorate(function):
        setattr(function, name, value)
        return function
    return decorate


def cases(*values):
    """One test for each value; a tuple gives several arguments."""
    return _mark("cases", values)


def timeout(seconds):
    return _mark("timeout_s", seconds)


def needs(*programs):
    """Skipped where one of the programs is not installed."""
    return _mark("programs", programs)


def unsanitized(reason):
    """Skipped with programs that were built with sanitizers."""
    return _mark("unsanitized", reason)


def bwrap_only(reason):
    """For tests of bwrap itself: not tried with another mechanism (tests/run.py --fence)."""
    return _mark("bwrap_only", reason)


def mechanisms(*names):
    """For tests that concern only some of the mechanisms of their module."""
    return _mark("mechanisms", names)


# For tests that concern only one of the two identities.
root_only = _mark("only", "root")
user_only = _mark("only", "user")
# For the tests of a module with ANY_IDENTITY that depend on the identity after all.
each_identity = _mark("each", True)


class Case:
    def __init__(self, function, args, label):
        self.function = function
        self.args = args
        self.label = label
        doc = (function.__doc__ or function.__name__[5:].replace("_", " ")).strip()
        self.sentence = doc.split("\n")[0] + (f" [{label}]" if label else "")
        self.timeout_s = getattr(function, "timeout_s", DEFAULT_TIMEOUT_S)
        # Attacks meet no filter but the fence's own, and a power cut keeps only what was synced.
        self.syncs = os.path.basename(os.path.dirname(function.__code__.co_filename)) != "e2e"

    def identities(self, present):
        """Those of the present ones that run it. A module whose tests do not depend on the identity gives the reason
        as ANY_IDENTITY: then they run once, as the user if there is one."""
        concerned = [who for who in present if getattr(self.function, "only", who) == who]
        if "ANY_IDENTITY" in self.function.__globals__ and not hasattr(self.function, "each"):
            return ["user"] if "user" in concerned else concerned
        return concerned

    @property
    def name(self):
        return self.function.__name__ + (f"[{self.label}]" if self.label else "")

    def mechanisms(self, wanted):
        """Those of the wanted ones with which it runs. A module about some of them names these as MECHANISMS."""
        own = getattr(self.function, "mechanisms", self.function.__globals__.get("MECHANISMS", wanted))
        return [name for name in wanted if name in own or (name or fences.USUAL) in own]

    def check_needs(self):
        for program in getattr(self.function, "programs", ()):
            if not shutil.which(program, path=os.defpath + ":/usr/local/bin:/usr/sbin:/sbin"):
                raise Skip(f"{program} is not installed")

    def check_build(self, sanitized):
        if sanitized and hasattr(self.function, "unsanitized"):
            raise Skip(f"not with sanitizers: {self.function.unsanitized}")

    def check_mechanism(self, mechanism, identity):
        if mechanism != fences.USUAL and hasattr(self.function, "bwrap_only"):
            raise Skip(f"only with bwrap: {self.function.bwrap_only}")
        reason = fences.untried(mechanism, identity, self.function.__name__, self.label)
        if reason:
            raise Skip(f"not with {mechanism}: {reason}")

    def weaker(self, mechanism, identity):
        """The reason why it cannot hold with the mechanism, or None."""
        return fences.weaker(mechanism, identity, self.function.__name__, self.label)


def _printable(value):
    text = " ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return text.encode("unicode_escape").decode()[:60]


def cases_of(function):
    """Every case of a test function, each with a label of its own."""
    values = getattr(function, "cases", None)
    if values is None:
        yield Case(function, (), "")
        return
    seen = set()
    for number, value in enumerate(values):
        args = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        label = _printable(value)
        label = f"{label} #{number}" if label in seen or not label else label
        seen.add(label)
        yield Case(function, args, label)
