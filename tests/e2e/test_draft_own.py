"""A loop works with keys and settings that its agent made; the user's stay hidden."""

import os

from harness import contains, equal, expect, lacks
from harness.drafts import in_copies
from harness.edits import difference, listing
from harness.loop import Loop

MAKE = "mkdir -p certs; echo generated >certs/server.key; echo generated >.env.test; ln -s server.key certs/current.key"
READ = 'for f in certs/server.key .env.test certs/current.key; do grep -q generated "$f" || exit 1; done'


def begin(t, scripts):
    loop = Loop(t, scripts=scripts)
    loop.write(".env", "very-secret\n")
    return loop


def run(loop, *words, code=0, **options):
    result = loop.run("--workspace", "draft", *words, **options)
    equal(result.code, code, "exit status of run", result)
    return loop.status()["id"]


def inside(loop, script):
    result = loop.ringfence("exec", "--in", loop.status()["id"], "--", "sh", "-c", f"echo ran; {script}")
    contains(result.out, "ran\n", "the command in the draft")
    return result.out[4:]


def test_later_iterations_and_checks_read_what_the_agent_made(t):
    """A check is in a view of its own, and so is what the checks before it made."""
    loop = begin(t, {"1": MAKE, "2": f"({READ}) && ! cat .env && edit done yes"})
    run(loop, "--check", f"({READ}) && ! cat .env && echo generated >check.key", "--check", "grep -q generated check.key && ! test -r .env", "--check", "test -f done", check=None)
    loop.ended("completed")


def test_a_rollback_brings_back_what_the_agent_made_and_it_stays_readable(t):
    loop = begin(t, {"1": MAKE, "2": "rm -r certs .env.test; edit done yes"})
    run(loop)
    os.rename(loop.path(".env"), loop.path(".env.old"))
    equal(loop.ringfence("rollback", "1", "--yes").code, 0, "exit status of rollback")
    equal(inside(loop, f"({READ}) && echo all; cat .env .env.old"), "all\n", "what a command in the draft reads")


def test_a_loop_that_begins_with_another_one_reads_what_that_made(t):
    loop = begin(t, {"1": f"[ -e certs ] || {{ {MAKE}; }}; ({READ}) && ! cat .env && edit done yes"})
    first = run(loop)
    loop.ident = None
    run(loop, "--from", first, "--check", f"({READ}) && ! cat .env")
    equal(inside(loop, f"({READ}) && echo all; cat .env"), "all\n", "what a command in the draft reads")


def test_what_is_applied_is_the_users_and_hidden(t):
    """It is shown as what it may be."""
    loop = begin(t, {"1": f"{MAKE}; edit plain 1; edit done yes"})
    ident = run(loop)
    before = listing(loop.project)
    shown = loop.ringfence("apply", "--dry-run").out
    for line in ("A .env.test, +1 -0: run or obeyed when its tool starts (loaders of .env files)", "names of secrets: 2 paths, +2 -0",
                 "A certs/current.key, +1 -0: keys", "A certs/server.key, +1 -0: keys"):
        contains(shown, line, "the preview")
    equal(loop.ringfence("apply", "--yes-executed").code, 0, "exit status of apply")
    contains("\n".join(difference(before, listing(loop.project)).split("\n")), "server.key", "what was applied")
    equal(inside(loop, "cat plain certs/server.key .env.test .env"), "1\n", "what is read afterwards")
    lacks(loop.ringfence("diff", ident).err, "rror", "the diff")


def test_the_fence_has_no_limit_for_them(t):
    """A fence holds 5,000 hidden paths."""
    loop = begin(t, {"1": "mkdir many; cd many; seq 5100 | sed 's/$/.key/' | xargs touch; cd ..", "2": "edit done yes"})
    run(loop, "--check", "test -r many/5100.key && ! test -r .env")
    equal(loop.status()["used"], 2, "the iterations")


def test_run_apply_takes_over_keys_without_a_yes(t):
    loop = begin(t, {"1": "edit server.key generated; edit done yes"})
    run(loop, "--apply")
    expect(os.path.exists(loop.path("server.key")), "the key is in the project")


globals().update(in_copies(dict(globals())))
