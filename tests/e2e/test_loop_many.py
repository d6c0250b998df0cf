"""Many loops at once: each works independently, and none is left over."""

import json
import os

from harness import equal, timeout, user_only
from harness.loop import Loop, until

COUNT = 100
AT_ONCE = 10  # starts; the machine is shared with other tests


@user_only
@timeout(300)
def test_a_hundred_loops_at_once_all_finish(t):
    """They wait for each other, so that all run at the same time."""
    gate = os.path.join(t.home, "gate")
    os.mkdir(gate)
    loops = [Loop(t, f"project-{number}", scripts={"all": f"until [ -e {gate}/open ]; do sleep 1; done; edit done yes"})
             for number in range(COUNT)]
    idents = set()
    for first in range(0, COUNT, AT_ONCE):
        starting = [t.start([t.ringfence, *loop.run_words("--detach", "--read", gate)], cwd=loop.project,
                            stdout=-1, stderr=-1) for loop in loops[first:first + AT_ONCE]]
        for process in starting:
            result = t.finish(process, timeout=120)
            equal(result.code, 0, "exit status of run --detach", result)
            idents.add(result.out.splitlines()[-1])
    equal(len(idents), COUNT, "ids")

    def statuses():
        out = loops[0].ringfence("status", "--all", "--json").out
        return {entry["id"]: (entry["status"], entry["used"]) for entry in json.loads(out)["loops"]}

    until("all to run", lambda: set(statuses().values()) == {("running", 0)}, 120)
    with open(os.path.join(gate, "open"), "w", encoding="utf-8"):
        pass
    until("the end of all", lambda: set(statuses().values()) == {("completed", 1)}, 120)
    equal(set(statuses()), idents, "the loops")
    t.all_gone()
    equal([os.path.exists(loop.made("done")) for loop in loops], [True] * COUNT, "what they did")
