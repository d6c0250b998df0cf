"""The tools that the tests in escape/ and e2e/ use.

A test is a function `test_...(t)`; its docstring is the sentence it proves. `t` is a World: a home, a
project in it and the means to run things inside and outside of the fence.
"""

from .case import (Failure, Skip, bwrap_only, cases, each_identity, mechanisms, needs, root_only, timeout, unsanitized,
                   user_only)
from .control import (denied_inside_allowed_outside, killed_inside, not_possible_inside,
                      refused_by_rule, refused_before_start, snapshot)
from .expect import contains, equal, expect, lacks
from .world import Result, World

__all__ = [
    "Failure", "Result", "Skip", "World", "bwrap_only", "cases", "contains", "denied_inside_allowed_outside",
    "each_identity", "equal", "expect", "killed_inside", "lacks", "mechanisms", "needs", "not_possible_inside",
    "refused_before_start", "refused_by_rule", "root_only", "snapshot", "timeout", "unsanitized",
    "user_only",
]
