"""Random edits in a draft, and of the user beside it, and tests with both kinds of drafts."""

import ast
import functools
import json
import os

from . import kernel
from .expect import equal, expect
from .edits import Editor, difference, listing

# Tests with drafts that are copies; see the modules of the same tests with overlays.
MECHANISMS = ("bwrap", "podman", "docker")

EDIT = """
import sys
sys.path.insert(0, sys.argv[1])
from harness.edits import Editor, listing
Editor('.', int(sys.argv[2])).edit(int(sys.argv[3]))
print(listing('.'))
"""


def drafts(t, *words):
    result = t.run([t.ringfence, "drafts", "--json", *words])
    equal(result.code, 0, "exit status of drafts", result)
    return json.loads(result.out)["drafts"]


def edit_in_draft(t, seed, count):
    """Edits in a new draft. Returns its id and what is in it."""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    result = t.fence("python3", "-c", EDIT, tests, str(seed), str(count), opts=("--draft", "--read", tests))
    equal(result.code, 0, "exit status of the edits", result)
    return drafts(t)[-1]["id"], ast.literal_eval(result.out)


def fill(t, seed):
    """Makes a project. A folder that the fence cannot scan is hidden in it, so all can be read."""
    if os.path.exists(t.attack):
        os.unlink(t.attack)
    editor = Editor(t.project, seed)
    editor.chmod = editor.create
    editor.edit(40)


def run(t, *words, code=0):
    result = t.run([t.ringfence, *words])
    equal(result.code, code, f"exit status of {words}", result)
    return result


def cross_and_come_back(t, seed):
    """Everything that a draft changes crosses, and --undo brings the project back."""
    before = listing(t.project)
    draft, wanted = edit_in_draft(t, seed, 40)
    equal(difference(before, listing(t.project)), "", f"seed {seed}: changes before apply")
    run(t, "apply", draft, "--yes")
    now = listing(t.project)
    wanted["links"] = now["links"]  # an overlay does not always show, or keep, which names are links to one file
    equal(difference(wanted, now), "", f"seed {seed}: the project against the draft")
    run(t, "apply", "--undo", draft, "--yes")
    now = listing(t.project)
    before["links"] = now["links"]
    equal(difference(before, now), "", f"seed {seed}: the project after --undo")
    return draft


def merge_with_the_users(t, seed):
    """Each edit of either side is in the project afterwards, or named as a conflict."""
    base = listing(t.project)
    draft, theirs = edit_in_draft(t, seed, 6)
    Editor(t.project, seed + 1).edit(6)
    ours = listing(t.project)
    result = t.run([t.ringfence, "apply", draft, "--yes", "--json"])
    now = listing(t.project)
    if result.code == 1:
        expect(json.loads(result.out)["conflicts"], f"seed {seed}: the conflicts are named", result)
        equal(difference(ours, now), "", f"seed {seed}: changes with a conflict")
        return draft
    equal(result.code, 0, f"seed {seed}: exit status of apply", result)
    merged = json.loads(result.out)["merged"]
    for path in (set(base) | set(theirs) | set(ours)) - {"links", b""}:
        was, draft_has, user_has, is_now = (side.get(path) for side in (base, theirs, ours, now))
        if was == draft_has:
            equal(is_now, user_has, f"seed {seed}: {path}, which only the user changed")
        elif user_has in (was, draft_has):
            equal(is_now, draft_has, f"seed {seed}: {path}, which only the draft changed, or both in the same way")
        elif user_has[0] == draft_has[0] == "file" and was[2] not in (user_has[2], draft_has[2]):
            expect(path.decode(errors="replace") in merged, f"seed {seed}: {path}, which both changed, is called merged", merged)
        else:
            expect(is_now[0] == user_has[0] == draft_has[0], f"seed {seed}: {path}: one side changed its content, the other its mode")
    return draft


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
