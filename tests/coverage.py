#!/usr/bin/python3
"""Measures which lines and branches of src/ the tests reach, and prints a table by room.

The counters are memory that is mapped from a file before main() (clang's continuous mode). So they
also count what runs after a program has confined itself, has called _exit(), or was killed; gcov
writes at the end of main(), which would miss the gateway and most children. Programs inside a fence
cannot map that file: ringfence-init and ringfence-agent count where a test runs them outside.
"""

import collections
import datetime
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build-cov")
PROFILES = os.path.join(BUILD, "profile")
FLAGS = (f"-fprofile-instr-generate={PROFILES}/%c%m.profraw -fcoverage-mapping "
         "-mllvm -runtime-counter-relocation")
SUITES = ("tests/unit", "tests/escape", "tests/e2e")
KINDS = ("lines", "branches")


def tool(name):
    """LLVM's tools must be of the compiler's version."""
    text = subprocess.run(["clang", "-dumpversion"], capture_output=True, text=True, check=True)
    return f"{name}-{text.stdout.split('.')[0]}"


def build():
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, "-Dbuildtype=debug", "-Dwerror=false",
                        f"-Dc_args={FLAGS}", "-Dc_link_args=-fprofile-instr-generate"],
                       cwd=ROOT, env={**os.environ, "CC": "clang"}, stdout=subprocess.DEVNULL,
                       check=True)
    subprocess.run(["ninja", "-C", BUILD, "--quiet", "all", "unit-tests"], check=True)


def run_tests():
    """Runs the tests as the user who starts this; a second user could not write to the same files."""
    os.makedirs(PROFILES, exist_ok=True)
    for file in glob.glob(f"{PROFILES}/*.profraw"):
        os.unlink(file)
    who = "--root-only" if os.getuid() == 0 else "--user-only"
    argv = ["tests/run.py", "--build", "build-cov", who, "-k", "not asan", *SUITES, *sys.argv[1:]]
    return subprocess.run(argv, cwd=ROOT, check=False).returncode


def programs():
    found = glob.glob(f"{BUILD}/ringfence*") + glob.glob(f"{BUILD}/tests/unit_*")
    return [p for p in sorted(found) if os.path.isfile(p) and os.access(p, os.X_OK)]


def measure():
    """The summary of each file of src/, over all programs that contain it."""
    merged = os.path.join(BUILD, "merged.profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", merged,
                    *glob.glob(f"{PROFILES}/*.profraw")], check=True)
    first, *others = programs()
    argv = [tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={merged}", first]
    argv += [word for program in others for word in ("-object", program)]
    text = subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(text)["data"][0]["files"]


def by_room(files):
    rooms = collections.defaultdict(lambda: dict.fromkeys(KINDS, (0, 0)))
    for file in files:
        path = os.path.relpath(file["filename"], ROOT)
        if not path.startswith("src/"):
            continue
        for room in (os.path.dirname(path) + "/", "all"):
            for kind in KINDS:
                summary, (covered, count) = file["summary"][kind], rooms[room][kind]
                rooms[room][kind] = covered + summary["covered"], count + summary["count"]
    return rooms


def print_table(rooms):
    print(f"| {datetime.date.today()} | lines | branches |\n| --- | ---: | ---: |")
    for room in sorted(rooms, key=lambda name: (name == "all", name)):
        cells = [f"{100 * covered / count:.1f} % of {count}" if count else "-"
                 for covered, count in rooms[room].values()]
        print(f"| {room} | {' | '.join(cells)} |")


def main():
    build()
    status = run_tests()
    print_table(by_room(measure()))
    return status


if __name__ == "__main__":
    sys.exit(main())
