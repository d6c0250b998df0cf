#!/usr/bin/python3
"""Git for the agent on a large repository: what a private git directory costs, compared with a read-only one.

The repository is made by git fast-import: 50,000 files, 2,000 commits, a submodule and a linked work tree. Never pass or fail.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = HERE if os.access(os.path.join(HERE, "ringfence"), os.X_OK) else os.path.join(os.path.dirname(HERE), "build")
RINGFENCE, SNAPSHOT = (os.path.join(PROGRAMS, name) for name in ("ringfence", "ringfence-snapshot"))
LIMITS = ["--max-same-error", "none", "--max-errors", "none", "--max-no-progress", "none", "--checkpoints=false"]
AGENT = """#!/bin/bash
s=$EPOCHREALTIME
cat >/dev/null
echo "$s $EPOCHREALTIME" >>times
"""
TOUCHED = """cat >/dev/null
find d* -type f -exec touch {} +
echo >>d0/s0/m0/file0.c
s=$EPOCHREALTIME
git commit -qam touched
e=$EPOCHREALTIME
echo $((${e/./} - ${s/./})) $(git count-objects) >times
touch done
"""


def stream(files, commits):
    """For git fast-import: all files in the first commit, then some changes in each."""
    person = "A User <user@example.org>"
    path = lambda number: f"d{number // 5000}/s{number // 500 % 10}/m{number // 50}/file{number % 50}.c"
    yield b"feature done\n"
    for commit in range(commits):
        head = f"commit refs/heads/main\ncommitter {person} {1600000000 + commit * 3600} +0000\ndata 7\nchange\n"
        yield head.encode()
        for number in range(files) if commit == 0 else [(commit * 7919 + i * 101) % files for i in range(5)]:
            text = f"int value_{number} = {commit};\n" * (1 + number % 40)
            yield f"M 100644 inline {path(number)}\ndata {len(text)}\n{text}\n".encode()
    yield b"done\n"


class Large:
    def __init__(self, base, files, commits):
        self.base, self.path = base, os.path.join(base, "project")
        self.env = {"PATH": os.environ["PATH"], "HOME": os.path.join(base, "home"), "GIT_CONFIG_NOSYSTEM": "1",
                    "RINGFENCE_STATE_DIR": os.path.join(base, "state"), "LC_ALL": "C"}
        os.makedirs(self.env["HOME"])
        inner = os.path.join(base, "inner")
        for folder in (inner, self.path):
            self.run("git", "init", "-q", "-b", "main", folder, cwd=base)
            self.run("git", "config", "user.name", "A User", cwd=folder)
            self.run("git", "config", "user.email", "user@example.org", cwd=folder)
        self.run("git", "commit", "-q", "--allow-empty", "-m", "inner", cwd=inner)
        with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=self.path, env=self.env,
                              stdin=subprocess.PIPE) as process:
            for part in stream(files, commits):
                process.stdin.write(part)
            process.stdin.close()
        self.run("git", "reset", "-q", "--hard", "main")
        self.run("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
        self.write("agent", AGENT)
        os.chmod(os.path.join(self.path, "agent"), 0o755)
        self.write(".gitignore", "times\n")
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "-m", "with a submodule")
        self.tree = os.path.join(base, "tree")
        self.run("git", "worktree", "add", "-q", "-b", "topic", self.tree)
        self.run("git", "status", "--short")

    def write(self, name, text, folder=None):
        with open(os.path.join(folder or self.path, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, *argv, cwd=None, codes=(0,)):
        done = subprocess.run(argv, cwd=cwd or self.path, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode not in codes:
            raise RuntimeError(f"{' '.join(argv[:4])} ... exited {done.returncode}: {done.stdout[-1000:]}")
        return done.stdout

    def loop(self, agent, *words, cwd=None, codes=(0, 2)):
        self.run(RINGFENCE, "run", "x", "--workspace", "in-place", "--agent-command", agent, "--check", "test -f done", *LIMITS, *words,
                 cwd=cwd, codes=codes)
        out = self.run(RINGFENCE, "status", "--json", cwd=cwd)
        return json.loads(out)["loops"][-1]

    def gaps(self):
        with open(os.path.join(self.path, "times"), encoding="utf-8") as file:
            times = [[float(word) for word in line.split()] for line in file]
        os.unlink(os.path.join(self.path, "times"))
        return [(after[0] - before[1]) * 1000 for before, after in zip(times, times[1:])]

    def ask(self, work, loop, folder):
        words = f'exec "{SNAPSHOT}" {work} store=/nonexistent "project={self.path}" loop={loop} "folder={folder}" most_bytes=1073741824'
        began = time.monotonic()
        self.run("/bin/sh", "-c", words + " 3>/dev/null")
        return (time.monotonic() - began) * 1000


def show(times):
    print(f"  {'':36}{'min':>9}{'median':>9}   ms")
    for name, values in times.items():
        print(f"  {name:36}{min(values):9.1f}{statistics.median(values):9.1f}")


def between(large, rounds, count):
    print(f"Between two agents, with a check that does nothing, {rounds} rounds of {count}")
    times = {"private": [], "read-only": []}
    for number in range(rounds):
        for mode in list(times)[:: 1 if number % 2 == 0 else -1]:
            large.loop("./agent", "--git", mode, "-m", str(count))
            times[mode] += large.gaps()
    show(times)
    more = statistics.median(times["private"]) - statistics.median(times["read-only"])
    print(f"  private - read-only: {more:.1f} ms for two fences   goal: under 10 ms more   {'met' if more < 10 else 'missed'}\n",
          flush=True)


def once(large, rounds):
    print(f"Once in a loop, and after an iteration that committed, {rounds} rounds")
    times = {"making the private directory": [], "importing a commit of one file": []}
    for number in range(rounds):
        folder = os.path.join(large.base, f"loop{number}")
        os.makedirs(folder)
        times["making the private directory"].append(large.ask("git-open", f"l{number}", folder))
        git = ["git", f"--git-dir={folder}/git", f"--work-tree={large.path}"]
        large.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.path.join(large.path, ".git", "objects")
        large.write("new.txt", f"{number}\n")
        large.run(*git, "add", "new.txt")
        large.run(*git, "commit", "-q", "-m", "new")
        os.unlink(os.path.join(large.path, "new.txt"))
        del large.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"]
        times["importing a commit of one file"].append(large.ask("git-import", f"l{number}", folder))
    show(times)
    print(flush=True)


def touched(large, rounds):
    """`git commit -a` when no entry of the index is fresh: git reads all files, and has all of them already."""
    print(f"git commit -a after every file was touched, timed by the agent itself, {rounds} rounds")
    copy = os.path.join(large.base, "copy")
    large.run("cp", "-a", large.path, copy)
    times, objects = {"inside": [], "outside": []}, 0
    for number in range(rounds):
        for name in list(times)[:: 1 if number % 2 == 0 else -1]:
            folder = large.path if name == "inside" else copy
            large.write("work", TOUCHED, folder)
            if name == "inside":
                large.loop("bash work")
            else:
                large.run("bash", "work", cwd=folder)
            with open(os.path.join(folder, "times"), encoding="utf-8") as file:
                took, count = file.read().split()[:2]
            times[name].append(int(took) / 1000)
            objects = max(objects, int(count)) if name == "inside" else objects
            for left in ("done", "times", "work"):
                os.unlink(os.path.join(folder, left))
            large.run("git", "reset", "-q", "--hard", "HEAD" if name == "inside" else "HEAD~1", cwd=folder)
    show(times)
    value = statistics.median(times["inside"]) / statistics.median(times["outside"])
    print(f"  inside / outside: {value:.3f}x   goal: at most 1.5x   {'met' if value <= 1.5 else 'missed'}")
    print(f"  loose objects that one commit inside wrote: {objects} at most\n", flush=True)


def whole(large):
    """A loop in the project and one in the linked work tree: do all checks pass?"""
    script = ("cat >/dev/null; git status --short | grep -v ' sub$' | head -3; for i in $(seq 200); do echo $i >> d0/s0/m0/file0.c; "
              "git commit -qam $i; done; git mv d1 moved; git commit -qm moved; git gc -q; touch done")
    for name, folder in (("the project", large.path), ("a linked work tree", large.tree)):
        large.write("work", script, folder)
        before = large.run("git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/heads/topic")
        began = time.monotonic()
        status = large.loop("bash work", cwd=folder)
        took = time.monotonic() - began
        branch = f"ringfence/{status['id']}"
        count = large.run("git", "rev-list", "--count", f"HEAD..{branch}", cwd=folder).strip()
        large.run("git", "fsck", "--strict", "--no-dangling", cwd=folder)
        same = before == large.run("git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/heads/topic")
        print(f"  in {name}: {count} commits, 5,000 files moved, git gc inside; {took:.1f} s in all; git fsck agrees; "
              f"the user's branches are {'as before' if same else 'CHANGED'}", flush=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, "done"))
        large.run("git", "reset", "-q", "--hard", cwd=folder)
        large.run("git", "clean", "-qfd", cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a short, rough run")
    args = parser.parse_args()
    if not os.access(SNAPSHOT, os.X_OK) or not shutil.which("git"):
        print("not measured: ringfence-snapshot or git is not there")
        return 0
    files, commits, rounds, count = (5000, 200, 2, 6) if args.quick else (50000, 2000, 5, 20)
    with tempfile.TemporaryDirectory(prefix="ringfence-bench-") as base:
        small = Large(os.path.join(os.path.realpath(base), "small"), 100, 10)
        print("A repository of 100 files and 10 commits, with a submodule\n", flush=True)
        between(small, 2 * rounds, count)
        large = Large(os.path.realpath(base), files, commits)
        print(f"A repository of {files:,} files and {commits:,} commits, with a submodule and a linked work tree\n", flush=True)
        between(large, rounds, count)
        once(large, rounds)
        touched(large, rounds)
        whole(large)
    return 0


if __name__ == "__main__":
    sys.exit(main())
