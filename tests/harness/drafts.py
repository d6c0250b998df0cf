"""Runs the tests of drafts with both kinds: an overlay, as usual, and a copy."""

import functools


def use_copies(t):
    t.at_home(".config/ringfence/config.yml", "draft-kind: copy\n", 0o600)


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
