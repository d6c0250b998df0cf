#!/usr/bin/python3
"""Checkpoints against git itself: `git add -A && git write-tree` with a warm index, side by side in one run.

Both get the same tree of 50,000 files and take turns. For checkpoints, the whole process is measured,
as a loop starts it. Never pass or fail.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(REPO, "build", "ringfence-snapshot")
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def make_tree(root, files):
    """Folders of 50 files with text of a few kilobytes at most."""
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randrange(2, 10))) for _ in range(3000)]
    for number in range(files // 50):
        folder = os.path.join(root, f"d{number // 100}", f"s{number // 10 % 10}", f"m{number}")
        os.makedirs(folder)
        for index in range(50):
            lines = (" ".join(dice.choices(words, k=8)) for _ in range(dice.randrange(2, 50)))
            with open(os.path.join(folder, f"file{index}.c"), "w", encoding="ascii") as file:
                file.write("\n".join(lines))


class Contender:
    def __init__(self, name, *commands):
        self.name, self.commands, self.times = name, commands, []

    def run(self, project):
        began = time.monotonic()
        for command in self.commands:
            subprocess.run(command, cwd=project, env=ENV, stdout=subprocess.DEVNULL, check=True)
        self.times.append((time.monotonic() - began) * 1000)


def contenders(project, store):
    save = f'exec "{PROGRAM}" save kind=after "store={store}" "project={project}" loop=bench 3>/dev/null'
    return (Contender("ringfence checkpoint", ["/bin/sh", "-c", save]),
            Contender("git add -A && git write-tree", ["git", "add", "-A"], ["git", "write-tree"]))


def show(title, pair, goal):
    print(title)
    print(f"  {'':36}{'min':>9}{'median':>9}   ms")
    for one in pair:
        print(f"  {one.name:36}{min(one.times):9.0f}{statistics.median(one.times):9.0f}")
    ratio = statistics.median(pair[0].times) / statistics.median(pair[1].times)
    print(f"  checkpoint / git: {ratio:.2f}x   goal: at most {goal}x   {'met' if ratio <= goal else 'missed'}\n",
          flush=True)


def in_turns(project, store, rounds, before):
    pair = contenders(project, store)
    for number in range(rounds):
        before(number)
        for one in pair if number % 2 else reversed(pair):
            one.run(project)
    return pair


def size_of(folder):
    return sum(os.lstat(os.path.join(base, name)).st_blocks * 512
               for base, _, names in os.walk(folder) for name in names)


def touch(project, number):
    """A small change: five files, and a new one."""
    for index in range(5):
        with open(os.path.join(project, "d0", "s1", "m11", f"file{index}.c"), "a", encoding="ascii") as file:
            file.write(f"\n{number}")
    with open(os.path.join(project, "d0", f"new{number}"), "w", encoding="ascii") as file:
        file.write(str(number))


def first_ones(base, project, rounds):
    pair = contenders(project, os.path.join(base, "store.git"))
    for number in range(rounds):
        for folder in (os.path.join(project, ".git"), os.path.join(base, "store.git")):
            shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "init", "-q"], cwd=project, env=ENV, check=True)
        os.sync()
        for one in pair if number % 2 else reversed(pair):
            one.run(project)
    return pair


def measure(base, files, rounds):
    project, store = os.path.join(base, "project"), os.path.join(base, "store.git")
    make_tree(project, files)
    show(f"The first checkpoint of {files:,} files, {max(rounds // 5, 2)} rounds",
         first_ones(base, project, max(rounds // 5, 2)), 1.2)
    held = size_of(os.path.join(store, "objects"))
    print(f"  on the disk: {held >> 10} KiB, git's own: {size_of(os.path.join(project, '.git', 'objects')) >> 10} KiB\n")
    time.sleep(0.1)  # so that every file is older than the file system's clock tick
    in_turns(project, store, 1, lambda number: None)
    show(f"Nothing has changed, {rounds} rounds", in_turns(project, store, rounds, lambda number: None), 1.0)
    before = size_of(os.path.join(store, "objects"))
    show(f"Five files have changed and one is new, {rounds} rounds",
         in_turns(project, store, rounds, lambda number: touch(project, number)), 1.0)
    print(f"  on the disk for each such checkpoint: {(size_of(os.path.join(store, 'objects')) - before) // rounds >> 10} KiB\n")


def soak(base, sequences, first):
    """Random edits, checkpoints and rollbacks, compared byte by byte and mode by mode. Stops at a difference."""
    sys.path.insert(0, os.path.join(REPO, "tests"))
    from harness.edits import Editor, difference, listing
    from harness.snapshots import Snapshots

    for seed in range(first, first + sequences):
        folder = os.path.join(base, str(seed))
        project = os.path.join(folder, "project")
        os.makedirs(project)
        editor, snapshots, kept = Editor(project, seed), Snapshots(PROGRAM, folder, project), []
        editor.edit(40)
        for _ in range(3):
            kept.append((listing(project), snapshots.save()["number"]))
            editor.edit(25)
        for state, number in random.Random(seed).sample(kept, 3):
            snapshots.rollback(number)
            now = listing(project)
            if now != state:
                print(f"sequence {seed}, checkpoint {number}:\n{difference(state, now)}")
                return 1
            editor.edit(10)
        subprocess.run(["chmod", "-R", "u+rwx", folder], check=True)
        shutil.rmtree(folder)
    print(f"{sequences} sequences of random edits: all {3 * sequences} rollbacks exact")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a short, rough run")
    parser.add_argument("--soak", type=int, metavar="N", help="undo N sequences of random edits instead")
    parser.add_argument("--seed", type=int, default=0, help="the first sequence")
    args = parser.parse_args()
    if args.soak:
        with tempfile.TemporaryDirectory(prefix="ringfence-soak-") as base:
            return soak(os.path.realpath(base), args.soak, args.seed)
    if not os.access(PROGRAM, os.X_OK) or not shutil.which("git"):
        print("not measured: build/ringfence-snapshot or git is not there")
        return 0
    with tempfile.TemporaryDirectory(prefix="ringfence-bench-") as base:
        measure(os.path.realpath(base), 5000 if args.quick else 50000, 5 if args.quick else 15)
    return 0


if __name__ == "__main__":
    sys.exit(main())
