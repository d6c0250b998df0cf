"""Several loops on drafts of one folder: every edit of each is there afterwards, or named."""

import json
import os

from harness import cases, contains, equal, expect
from harness.edits import difference, listing
from harness.loop import Loop

LINES = [f"line {number}" for number in range(1, 31)]


def text(**changes):
    """Thirty lines, some of them changed: l3="x"."""
    return "".join(changes.get(f"l{number}", line) + "\n" for number, line in enumerate(LINES, 1))


# Each loop changes lines of its own, a file of its own, and something that another one also changes.
SCRIPTS = {
    "first": "sed -i 's/^line 3$/first/' shared; edit first 1; edit same equal; edit fight first; rm gone",
    "second": "sed -i 's/^line 15$/second/' shared; edit second 2; edit same equal; edit gone second; mkdir place; edit place/in 2",
    "third": "sed -i 's/^line 27$/third/' shared; edit third 3; edit same equal; edit fight third; rm gone; edit place 3",
}

# The first one that is applied comes as a whole, so the others are in conflict with that one alone.
CLASHES = {frozenset(("first", "second")): ["gone"], frozenset(("first", "third")): ["fight"], frozenset(("second", "third")): ["gone", "place"]}


def begin(t):
    """Three loops that are at work at the same moment, and have ended on their own drafts."""
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    meet = f"touch {outside}/$NAME; meet {outside}/first; meet {outside}/second; meet {outside}/third"
    loop = Loop(t, scripts={"all": "\n".join([meet, "case $NAME in"] + [f"{name}) {words};;" for name, words in SCRIPTS.items()]
                                             + ["esac; edit done yes"])})
    for name, content in (("shared", text()), ("fight", "before\n"), ("gone", "before\n")):
        loop.write(name, content)
    before = listing(loop.project)
    loops = {}
    for name in SCRIPTS:
        loops[name] = loop.detach("--workspace", "draft", "--write", outside, "--env", f"NAME={name}")
    for ident in loops.values():
        loop.ident = ident
        loop.ended("completed")
    equal(difference(before, listing(loop.project)), "", "changes in the project")
    return loop, loops


def apply(loop, ident, *paths):
    result = loop.ringfence("apply", "--json", ident, *(("--", *paths) if paths else ()))
    answer = json.loads(result.out)
    return result.code, answer


@cases("first second third", "third second first", "second third first")
def test_three_loops_are_applied_one_after_another_and_every_edit_is_there_or_named(t, order):
    loop, loops = begin(t)
    names = order.split()
    code, _ = apply(loop, loops[names[0]])
    equal(code, 0, "exit status of the first apply")
    for name in names[1:]:
        before = listing(loop.project)
        code, answer = apply(loop, loops[name])
        equal(code, 1, "exit status with conflicts", answer)
        equal(difference(before, listing(loop.project)), "", "changes in spite of the conflicts")
        words = "\n".join(answer["conflicts"])
        wanted = CLASHES[frozenset((names[0], name))]
        equal([path for path in ("fight", "gone", "place") if path in words], wanted, f"the conflicts of {name}", words)
        rest = ["shared", name, "same", "done"]
        code, answer = apply(loop, loops[name], *rest)
        equal(code, 0, f"exit status of the apply of the rest of {name}", answer)
    equal(t.read(loop.path("shared")), text(l3="first", l15="second", l27="third"), "the lines of all three")
    equal([t.read(loop.path(name)) for name in ("first", "second", "third", "same")], ["1\n", "2\n", "3\n", "equal\n"], "the files of all three")
    contains(loop.ringfence("drafts").out, "applied", "the list")
    for name in reversed(names):
        equal(loop.ringfence("apply", "--undo", loops[name]).code, 0, f"exit status of the undo of {name}")
    equal(t.read(loop.path("shared")), text(), "the file after all are undone")
    expect(not any(os.path.exists(loop.path(name)) for name in ("first", "second", "third", "same", "done", "place")), "nothing is left")
    equal([t.read(loop.path(name)) for name in ("fight", "gone")], ["before\n"] * 2, "the files that two have changed")


def test_a_loop_that_another_one_completes_says_so(t):
    """The check passes by a file that the user applied from another loop meanwhile; status and history name it."""
    loop = Loop(t, scripts={"1": "edit one 1"})
    equal(loop.run("--workspace", "draft", "-m", "1").code, 2, "exit status of the first loop")
    first = loop.status()["id"]
    loop.write("script/1", "edit done yes")
    equal(loop.run("--workspace", "draft").code, 0, "exit status of the second loop")
    equal(loop.ringfence("apply", loop.status()["id"]).code, 0, "exit status of apply")
    loop.write("script/2", "edit two 2")
    equal(loop.ringfence("resume", first, "-m", "2").code, 0, "exit status of resume")
    loop.ident = first
    loop.ended("completed")
    for words in (("status", first), ("history", first)):
        result = loop.ringfence(*words)
        contains(result.out, "you changed in the project meanwhile: done, script/1, script/2; checks may have seen that, and the draft does not have it", words[0])
