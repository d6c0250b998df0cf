"""Tests that cannot hold with a mechanism, each with its reason.

A row is (mechanism, test, reason). The mechanism is that of `tests/run.py --fence`, with `/root` or `/user` for one of
the identities. The test is the name of its function, with `: PATTERN` for some of its cases (fnmatch). Such a test is
tried all the same. It counts as weaker, not as failed; if it passes, it fails, and the row has to go. The table in
docs/containers.md has every row (scripts/check-containers).
"""

WEAKER = (
)

# Tests whose own means do not work with a mechanism, so that they say nothing about it; with the reason. They are
# skipped. The rows are like those above.
_OWNER = "the owner of that project has no range of ids of its own"
UNTRIED = (
    ("podman/root", "test_root_rehearses_and_applies_as_the_owner_of_the_project", _OWNER),
    ("podman/root", "test_root_rehearses_and_applies_as_the_owner_of_the_project_in_a_copy", _OWNER),
    ("podman/root", "test_the_owner_of_a_draft_that_root_rehearses_cannot_look_into_ringfence", _OWNER),
    ("podman/root", "test_the_owner_of_a_draft_that_root_rehearses_cannot_look_into_ringfence_in_a_copy", _OWNER),
    ("podman/root", "test_51_root_with_a_project_of_another_becomes_that_user", _OWNER),
    ("podman/root", "test_51_the_user_that_root_becomes_cannot_look_into_ringfence", _OWNER),
    ("podman/root", "test_the_state_of_another_users_project_is_that_users", _OWNER),
)
