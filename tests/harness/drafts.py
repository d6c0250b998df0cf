"""Runs the tests of drafts with both kinds: an overlay, as usual, and a copy."""

import functools
import os

from . import kernel


def use_copies(t):
    t.at_home(".config/ringfence/config.yml", "draft-kind: copy\n", 0o600)


def on_overlay(t, place):
    """Makes a folder that is on an overlay, on which no other overlay can be. Needs own_mounts(). Returns its path."""
    t.tmpfs(place, size="64m")
    for name in ("upper", "work", "lower", "merged"):
        os.mkdir(os.path.join(place, name))
    merged = os.path.join(place, "merged")
    kernel.mount("overlay", merged, "overlay", 0, f"userxattr,lowerdir={place}/lower,upperdir={place}/upper,workdir={place}/work")
    os.chmod(merged, 0o700)
    return merged


def _in_a_copy(function):
    @functools.wraps(function)
    def run(t, *args):
        use_copies(t)
        function(t, *args)
    run.__name__ = f"{function.__name__}_in_a_copy"
    return run


def in_copies(tests, *overlay_only):
    """Returns the test functions of a module once more, each with drafts that are copies."""
    made = [_in_a_copy(function) for name, function in tests.items()
            if name.startswith("test_") and function not in overlay_only]
    return {function.__name__: function for function in made}
