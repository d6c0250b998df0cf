#!/usr/bin/python3
"""The section `containers`: a fence made by Podman against plain Podman, and a build inside against outside.

  bench/containers.py [--quick]

The plain container has the same flags as the one that Ringfence starts, and a static program that does nothing in place
of ringfence-init. Both use storage of their own in a temporary folder.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import run

ROUNDS, BUILDS, QUICK_ROUNDS, QUICK_BUILDS = 40, 5, 8, 2
GOAL, BUILD_GOAL = 1.15, 1.05


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def make_nothing(folder):
    """Returns a static program that does nothing."""
    program = os.path.join(folder, "nothing")
    source = write(program + ".c", "int main(void)\n{\n\treturn 0;\n}\n")
    subprocess.run([run.tool("cc"), "-O1", "-static", "-o", program, source], check=True)
    return program


def storage(folder):
    """Returns the variables that keep Podman in a folder."""
    conf = write(os.path.join(folder, "storage.conf"), "\n".join((
        "[storage]", 'driver = "overlay"', f'graphroot = "{folder}/storage"', f'runroot = "{folder}/run"', "")))
    return {"CONTAINERS_STORAGE_CONF": conf}


def flags_of(place, project, podman):
    """Returns the command line by which Ringfence starts a container."""
    record = os.path.join(place.base, "flags")
    spy = write(os.path.join(place.base, "spy"),
                f'#!/bin/sh\n[ "$1" = run ] && printf "%s\\0" "$@" >{record}\nexec {podman} "$@"\n', 0o755)
    run.must_run(place.fenced(project, "true", opts=("--fence", "podman")), place.env | {"RINGFENCE_PODMAN": spy})
    with open(record, encoding="utf-8") as file:
        return file.read().split("\0")[:-1]


def plain(words, podman, nothing):
    """The same container without Ringfence: its name, its socket and its program are gone."""
    kept = []
    for word in words:
        if word.startswith("--name=") or "target=/run/ringfence/handover" in word:
            if word.startswith("type="):
                kept.pop()  # --mount
        elif "target=/run/ringfence/init" in word:
            kept.append(f"type=bind,source={nothing},target=/run/ringfence/init,readonly")
        else:
            kept.append(word)
    return [podman, *kept]


def measure_start(place, rounds):
    print(f"A command that does nothing, {rounds} rounds")
    podman = run.tool("podman")
    project = place.project("start")
    words = plain(flags_of(place, project, podman), podman, make_nothing(place.base))
    os.chdir(project)
    times = run.in_turns({"ringfence exec --fence podman": place.fenced(project, "true", opts=("--fence", "podman")),
                          "podman run, same flags": words,
                          "ringfence exec --fence bwrap": place.fenced(project, "true", opts=("--fence", "bwrap"))}, rounds, place.env)
    run.show(times)
    value = run.ratio(times, "ringfence exec --fence podman", "podman run, same flags")
    run.show_ratio("ringfence / podman", value, f"at most {GOAL}x", value <= GOAL)


def measure_build(place, rounds):
    print(f"A real build in Podman: 60 C files, make -j2, {rounds} rounds")
    times = run.builds_in_turns(place, rounds, lambda project, build: {
        "inside": place.fenced(project, *build, opts=("--fence", "podman")),
        "outside": [*build],
    })
    value = run.ratio(times, "inside", "outside")
    run.show_ratio("inside / outside", value, f"at most {BUILD_GOAL}x", value <= BUILD_GOAL)


def main():
    parser = argparse.ArgumentParser(description="Measure fences that are containers.")
    parser.add_argument("--quick", action="store_true", help="a short, rough run")
    args = parser.parse_args()
    base = os.path.realpath(tempfile.mkdtemp(prefix="ringfence-bench-"))
    try:
        place = run.Place(base)
        run.prepare(place, [])
        place.env |= storage(base)
        run.section(measure_start, place, QUICK_ROUNDS if args.quick else ROUNDS)
        run.section(measure_build, place, QUICK_BUILDS if args.quick else BUILDS)
    finally:
        os.chdir("/")
        shutil.rmtree(base, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
