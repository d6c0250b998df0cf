#!/usr/bin/python3
"""Compares what agents print with the fixtures: which keys of which lines are new, and which are gone.

  tests/agents/compare.py FOLDER    a folder of transcripts, as RINGFENCE_TEST_CAPTURE makes it
"""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAMED = ("type", "subtype")  # their values say what a line is


def keys_of(value, path=""):
    """The paths of all keys in a value; entries of lists count as one."""
    if isinstance(value, list):
        return set().union(*(keys_of(entry, path + "[]") for entry in value))
    if not isinstance(value, dict):
        return {path}
    return set().union(*(keys_of(entry, f"{path}.{key}") for key, entry in value.items()))


def shape_of(path):
    """The kinds of lines and their keys: "system init .session_id"; a line that is not JSON is "text"."""
    found = set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            if not isinstance(value, dict):
                found.add("text")
                continue
            name = " ".join(str(value[key]) for key in NAMED if key in value)
            found |= {f"{name} {key}" for key in keys_of(value)}
    return found


def shapes(folder, agent):
    return set().union(*map(shape_of, glob.glob(f"{folder}/{agent}-*.jsonl")))


def compare(folder, agent):
    """Lines for people; none where both are alike."""
    names = {os.path.basename(path) for path in glob.glob(f"{folder}/{agent}-*.jsonl")}
    if not names:
        return ["  no transcript was made"]
    known = set().union(*(shape_of(f"{HERE}/fixtures/{name}") for name in names
                          if os.path.exists(f"{HERE}/fixtures/{name}")))
    seen = shapes(folder, agent)
    return [f"  new:  {key}" for key in sorted(seen - known)] + [f"  gone: {key}" for key in sorted(known - seen)]


def versions(*options):
    text = subprocess.run([f"{HERE}/install", *options, "--list"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {name: version for name, version, _ in map(str.split, text.splitlines())}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pinned = versions()
    for line in os.environ.get("RINGFENCE_TEST_AGENTS", "").splitlines():
        name, version, _ = line.split()
        print(f"{name} {version}, pinned: {pinned[name]}")
        print("\n".join(compare(sys.argv[1], name) or ["  prints what the fixtures have"]))


if __name__ == "__main__":
    main()
