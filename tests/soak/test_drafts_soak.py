"""Drafts with random edits: all of them cross, and come back, whatever the user does meanwhile."""

import os

from harness import cases, equal, timeout
from harness.drafts import cross_and_come_back, fill, merge_with_the_users, run

DRAFTS = int(os.environ.get("RINGFENCE_TEST_DRAFTS") or 100)
SEED = int(os.environ.get("RINGFENCE_TEST_SEED") or 1)
BATCH = 10  # drafts of one test


def make_empty(t):
    result = t.run(["sh", "-c", "chmod -R u+rwx . && find . -mindepth 1 -delete"])
    equal(result.code, 0, "exit status of the removal", result)


@timeout(900)
@cases(*range(0, DRAFTS, BATCH))
def test_drafts_with_random_edits(t, first):
    for number in range(first, min(first + BATCH, DRAFTS)):
        seed = SEED * 1000000 + 10 * number
        print(f"seed {seed}")
        make_empty(t)
        fill(t, seed)
        draft = (merge_with_the_users if number % 2 else cross_and_come_back)(t, seed + 1)
        run(t, "discard", draft)
    equal(os.listdir(os.path.join(t.state, "drafts")), [], "the drafts that are left")
