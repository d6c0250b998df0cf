"""Many loops at once: each goes its way, and none is left. make bench has a hundred."""

import json
import os

from harness import equal, user_only
from harness.loop import Loop, until

COUNT = 20
ONCE = {"all": "edit done yes"}


@user_only
def test_twenty_loops_at_once_all_finish(t):
    loops = [Loop(t, f"project-{number}", scripts=ONCE) for number in range(COUNT)]
    starting = [t.start([t.ringfence, *loop.run_words("--detach")], cwd=loop.project, stdout=-1, stderr=-1)
                for loop in loops]
    idents = set()
    for process in starting:
        result = t.finish(process, timeout=60)
        equal(result.code, 0, "exit status of run --detach", result)
        idents.add(result.out.splitlines()[-1])
    equal(len(idents), COUNT, "ids")

    def statuses():
        out = loops[0].ringfence("status", "--all", "--json").out
        return {entry["id"]: (entry["status"], entry["used"]) for entry in json.loads(out)["loops"]}

    until("the end of all", lambda: set(statuses().values()) == {("completed", 1)}, 60)
    equal(set(statuses()), idents, "the loops")
    t.all_gone()
    equal([os.path.exists(loop.path("done")) for loop in loops], [True] * COUNT, "what they did")
