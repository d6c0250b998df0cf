"""The account of the soaks finds every line that is wrong, however small the difference of the sums."""

from harness import cases, equal
from harness.case import Failure
from harness.provider import opus
from harness.soak import MOST, account


class Served:
    def __init__(self, *requests):
        self.requests = [{"input": 80, "output": output, "most": most, "whole": whole} for output, most, whole in requests]


WHOLE, CUT = (300, 300, True), (20, 300, False)


def line(ident, output, estimated=False):
    return {"id": ident, "cost_nusd": opus(80, output), "estimated": estimated} if ident else {
        "cost_nusd": opus(80, output), "estimated": estimated}


def judge(lines, served, kills, spent=None):
    """Returns how many requests were lost on their way, or None if something is wrong."""
    try:
        return account(sum(line["cost_nusd"] for line in lines) if spent is None else spent, lines, Served(*served), kills)
    except Failure:
        return None


RIGHT = {
    "seen to its end": ([line(1, 300)], [WHOLE], 0, 0),
    "cut off, with what was sent": ([line(1, 20, True)], [CUT], 1, 0),
    "cut off, with what it could cost": ([line(1, 300, True)], [CUT], 1, 0),
    "lost on its way": ([line(1, 300), line(2, MOST, True)], [WHOLE], 1, 1),
    "the same id in two ledgers": ([line(1, 300), {**line(1, 300), "loop": "other"}], [WHOLE, WHOLE], 0, 0),
    "not sent, and free": ([line(1, 300), {"cost_nusd": 0, "estimated": False}], [WHOLE], 0, 0),
    "the cheap line is for the cheap request": ([line(1, 150, True), line(2, 300, True)], [(20, 300, False), (20, 200, False)], 2, 0),
}

WRONG = {
    "charged twice": ([line(1, 300), line(1, 300, True)], [WHOLE], 1),
    "more requests lost than killed": ([line(1, 300), line(2, 300, True)], [WHOLE], 0),
    "the whole grant": ([line(1, 300), line(None, 4000, True)], [WHOLE], 1),
    "the whole grant, as a request": ([line(1, 300), line(2, 4000, True)], [WHOLE], 1),
    "served, and not charged": ([], [WHOLE], 1),
    "less than was sent": ([line(1, 19, True)], [CUT], 1),
    "more than it could cost": ([line(1, 301, True)], [CUT], 0),
    "an exact line of a request that was not served": ([line(1, 300), line(2, 200)], [WHOLE], 1),
    "two wrong lines whose sum is right": ([line(1, 310), line(2, 290)], [WHOLE, WHOLE], 0),
    "two estimates whose sum is right": ([line(1, 301, True), line(2, 299, True)], [WHOLE, WHOLE], 0),
}


@cases(*RIGHT)
def test_a_ledger_that_is_right_passes(t, what):
    lines, served, kills, lost = RIGHT[what]
    equal(judge(lines, served, kills), lost, "requests that were lost on their way")


@cases(*WRONG)
def test_a_ledger_that_is_wrong_fails(t, what):
    lines, served, kills = WRONG[what]
    equal(judge(lines, served, kills), None, "the verdict")


def test_status_has_the_sum_of_the_ledger(t):
    equal(judge([line(1, 300)], [WHOLE], 0, spent=opus(80, 300) + 1), None, "the verdict")
