"""Drafts: how long it takes to begin one, and what a build in one costs. run.py calls this."""

import os
import shutil
import statistics
import subprocess
import time


def fill(root, files):
    """Folders of 50 small files."""
    for number in range(files // 50):
        folder = os.path.join(root, f"d{number // 100}", f"m{number}")
        os.makedirs(folder)
        for index in range(50):
            with open(os.path.join(folder, f"file{index}.c"), "w", encoding="ascii") as file:
                file.write(f"int f{number}_{index}(void);\n" * 20)


def forget(place):
    """Removes all drafts, so that they do not add up on the disk."""
    shutil.rmtree(os.path.join(place.home, ".local/state/ringfence/drafts"), ignore_errors=True)


def goal(text, value_ms, most_ms):
    print(f"  {text}: {value_ms:.0f} ms   goal: at most {most_ms:.0f} ms   {'met' if value_ms <= most_ms else 'missed'}")


def measure_start(bench, place, files, rounds):
    """The time of `true` in a new draft, against the same in place."""
    project = place.project(f"draft{files}")
    fill(project, files)
    os.chdir(project)
    true = bench.tool("true")
    copy = os.path.join(place.home, "copy")
    began = time.monotonic()
    bench.must_run(place.fenced(project, true, opts=("--draft",)), place.env)
    print(f"{files} files: the first draft, which also saves all of them as its base: {(time.monotonic() - began) * 1000:.0f} ms")

    def clean():
        shutil.rmtree(copy, ignore_errors=True)
        forget(place)

    times = bench.in_turns({
        "exec -- true": place.fenced(project, true),
        "exec --draft -- true": place.fenced(project, true, opts=("--draft",)),
        "exec --draft, copy": place.fenced(project, true, opts=("--draft", "--draft-kind", "copy")),
        "cp -a --reflink=auto": [bench.tool("cp"), "-a", "--reflink=auto", project, copy],
    }, rounds, place.env, before=clean)
    bench.show(times)
    median = {name: statistics.median(values) for name, values in times.items()}
    goal("a draft adds", median["exec --draft -- true"] - median["exec -- true"], 50)
    goal("a copy adds", median["exec --draft, copy"] - median["exec -- true"], median["cp -a --reflink=auto"])
    clean()
    shutil.rmtree(project)


def measure_build(bench, place, rounds):
    print(f"A real build in a draft, {rounds} rounds")
    project = bench.build_project(place)
    os.chdir(project)
    build = (bench.tool("make"), "-s", "-j2")

    def clean():
        subprocess.run([bench.tool("make"), "-s", "clean"], env=place.env, check=True)
        forget(place)

    times = bench.in_turns({"in a draft": place.fenced(project, *build, opts=("--draft",)), "outside": [*build]},
                           rounds, place.env, before=clean)
    bench.show(times)
    value = bench.ratio(times, "in a draft", "outside")
    bench.show_ratio("in a draft / outside", value, "at most 1.05x", value <= 1.05)


def measure(bench, place, size):
    for files in size["drafts"]:
        measure_start(bench, place, files, size["draft_rounds"])
    measure_build(bench, place, size["build"])
