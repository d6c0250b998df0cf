"""The changes of a loop as every view reads them: files, diffs and findings."""

import os

from harness import cases, contains, equal, expect, lacks
from harness.loop import WORKSPACES, Loop

ANY_IDENTITY = "The same comparison as ringfence diff, which is tested as both."


def begin(t, workspace, *words):
    """A loop whose agent waits for the file `go` in the folder `outside`."""
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    loop = Loop(t, scripts={"1": f"edit old.txt more; edit new.txt hello; meet {outside}/go; edit done yes"},
                workspace=workspace, **{"old.txt": "one\n"})
    loop.detach("--write", outside, *words)
    loop.there("new.txt")
    return loop, os.path.join(outside, "go")


def go_on(loop, go):
    with open(go, "w", encoding="utf-8"):
        pass
    loop.ended("completed")


def read(loop, *words, code=0):
    result = loop.t.run([os.path.join(loop.t.build, "changes_reader"), loop.t.state, loop.ident, *words])
    equal(result.code, code, "exit status", result)
    return result.out


@cases(*WORKSPACES)
def test_the_changes_of_a_loop_are_those_of_now_and_later_those_of_its_last_checkpoint(t, workspace):
    loop, go = begin(t, workspace)
    files = read(loop, "files")
    contains(files, "added new.txt - +1 -0 text\n", "a new file, while the agent runs")
    contains(files, "modified old.txt - +1 -1 text\n", "a changed file, while the agent runs")
    contains(files, "in all +2 -1, 0 more\n", "the sum")
    diff = read(loop, "diff", "new.txt")
    contains(diff, "+hello", "the diff of one file")
    lacks(diff, "old.txt", "the diff of one file")
    contains(read(loop, "diff"), "-one", "the diff of all files")
    go_on(loop, go)
    loop.write("later.txt", "by somebody else\n")
    files = read(loop, "files")
    contains(files, "added done - +1 -0 text\n", "what the agent did at last")
    lacks(files, "later.txt", "the changes of a loop that has ended")


def test_a_loop_without_a_checkpoint_has_no_changes(t):
    loop, go = begin(t, "in-place", "--checkpoints=false")
    out = read(loop, "files", code=1)
    expect(out.startswith("failed not found"), "the status tells that there is nothing to compare", out)
    go_on(loop, go)
