"""Drafts: what an iteration, a checkpoint, a first draft and a build cost in one. run.py calls this."""

import os
import shutil
import statistics
import subprocess
import time

import loop


def fill(root, files):
    """Folders of 50 small files. A hundred of the folders differ, so that a first checkpoint is quick."""
    for number in range(files // 50):
        folder = os.path.join(root, f"d{number // 100}", f"m{number}")
        os.makedirs(folder)
        for index in range(50):
            with open(os.path.join(folder, f"file{index}.c"), "w", encoding="ascii") as file:
                file.write(f"int f{number % 100}_{index}(void);\n" * 20)


def forget(place):
    """Removes all drafts, so that they do not add up on the disk."""
    shutil.rmtree(os.path.join(place.home, ".local/state/ringfence/drafts"), ignore_errors=True)


def goal(text, value_ms, most_ms):
    print(f"  {text}: {value_ms:.0f} ms   goal: at most {most_ms:.0f} ms   {'met' if value_ms <= most_ms else 'missed'}", flush=True)


# ---------------------------------------------------------------- loops

class Loops:
    """A project of this size, and loops on it."""

    def __init__(self, place, files):
        self.files, self.place = files, place
        self.project = loop.Project(place, f"draft{files}")
        fill(self.project.folder, files)

    def run(self, kit, workspace, count, *words):
        """Returns the times between two agents, and the folder of the loop."""
        self.project.run(kit, self.project.loop("-m", str(count), "--workspace", workspace, *words), (2,))
        loops = os.path.join(self.place.home, ".local/state/ringfence/loops")
        # Several loops may begin in one second, and then their names do not tell the last one.
        folder = max((os.path.join(loops, name) for name in os.listdir(loops) if not name.startswith(".")), key=lambda path: os.stat(path).st_mtime_ns)
        if workspace == "draft":  # the agent's file is in the draft
            shutil.move(os.path.join(folder, "draft/upper/times"), self.project.path("times"))
        return self.project.gaps(), folder

    def remove(self):
        shutil.rmtree(self.project.folder)


def measure_iterations(bench, all_loops, rounds, count):
    print(f"Between two agents on projects of several sizes, {rounds} rounds of {count}", flush=True)
    times = {f"{workspace}, {loops.files} files": [] for loops in all_loops for workspace in ("draft", "in-place")}
    for _ in range(rounds):
        for loops in all_loops:
            for workspace in ("draft", "in-place"):
                times[f"{workspace}, {loops.files} files"] += loops.run(bench, workspace, count)[0]
    bench.show(times)
    first = statistics.median(times[f"draft, {all_loops[0].files} files"])
    for loops in all_loops[1:]:
        goal(f"more than with {all_loops[0].files} files, with {loops.files}",
             statistics.median(times[f"draft, {loops.files} files"]) - first, 15)


def measure_views(bench, all_loops, rounds, count):
    print(f"The view that a check runs in, between two agents, {rounds} rounds of {count}", flush=True)
    times = {f"{kind}, {loops.files} files": [] for loops in all_loops for kind in ("view", "no view")}
    for _ in range(rounds):
        for loops in all_loops:
            times[f"view, {loops.files} files"] += loops.run(bench, "draft", count)[0]
            times[f"no view, {loops.files} files"] += loops.run(bench, "draft", count, "--check-view=false")[0]
    bench.show(times)
    for loops in all_loops:
        medians = [statistics.median(times[f"{kind}, {loops.files} files"]) for kind in ("view", "no view")]
        goal(f"a view adds, with {loops.files} files", medians[0] - medians[1], 15)


def change(root, number):
    """Changes five files, in a project or in the changes of a draft."""
    folder = os.path.join(root, "d0", "m7")
    os.makedirs(folder, exist_ok=True)
    for index in range(5):
        with open(os.path.join(folder, f"file{index}.c"), "w", encoding="ascii") as file:
            file.write(f"int changed_{number};\n")


def measure_checkpoint(bench, loops, rounds):
    print(f"A checkpoint after a change of five files, with {loops.files} files, {rounds} rounds", flush=True)
    project, place = loops.project.folder, loops.place
    _, folder = loops.run(bench, "draft", 2)
    stores = os.path.join(place.home, ".local/state/ringfence/snapshots")
    newest = max((os.path.join(stores, name) for name in os.listdir(stores)), key=os.path.getmtime)
    git = [bench.tool("git"), "-C", project]
    # Unpacked and uncompressed: the first one is not measured.
    for words in (["init", "-q"], ["config", "core.looseCompression", "0"], ["add", "-A"]):
        bench.must_run([*git, *words], place.env)
    save = (f'exec "{os.path.join(place.base, "bin", "ringfence-snapshot")}" save kind=after "store={newest}" '
            f'"project={project}" "loop={os.path.basename(folder)}" "draft={folder}/draft" 3>/dev/null')
    numbers = iter(range(1 << 30))

    def edit():
        number = next(numbers)
        change(project, number)
        change(os.path.join(folder, "draft/upper"), number)

    times = bench.in_turns({"ringfence checkpoint": [bench.tool("sh"), "-c", save], "git add -A": [*git, "add", "-A"]},
                           rounds, place.env, before=edit)
    bench.show(times)
    value = bench.ratio(times, "git add -A", "ringfence checkpoint")
    bench.show_ratio("git / checkpoint", value, "at least 10x", value >= 10)


# ---------------------------------------------------------------- commands

def measure_first(bench, place, files, rounds):
    """The time of `true` in a new draft, against the same in place."""
    print(f"`true` in a new draft of {files} files, {rounds} rounds", flush=True)
    project = place.project(f"first{files}")
    fill(project, files)
    os.chdir(project)
    true = bench.tool("true")
    copy = os.path.join(place.home, "copy")
    began = time.monotonic()
    bench.must_run(place.fenced(project, true, opts=("--draft",)), place.env)
    print(f"  the very first one, which also saves all files as its base: {(time.monotonic() - began) * 1000:.0f} ms")

    def clean():
        shutil.rmtree(copy, ignore_errors=True)
        forget(place)

    # Copies fill the caches with other files, so they come later.
    times = bench.in_turns({
        "exec -- true": place.fenced(project, true),
        "exec --draft -- true": place.fenced(project, true, opts=("--draft",)),
    }, 4 * rounds, place.env, before=clean)
    copies = bench.in_turns({
        "exec --draft, copy": place.fenced(project, true, opts=("--draft", "--draft-kind", "copy")),
        "cp -a --reflink=auto": [bench.tool("cp"), "-a", "--reflink=auto", project, copy],
    }, rounds, place.env, before=clean)
    times.update(copies)
    bench.show(times)
    median = {name: statistics.median(values) for name, values in times.items()}
    goal("a draft adds", median["exec --draft -- true"] - median["exec -- true"], 50)
    goal("a copy adds", median["exec --draft, copy"] - median["exec -- true"], median["cp -a --reflink=auto"])
    clean()
    os.chdir(place.home)
    shutil.rmtree(project)


def measure_build(bench, place, rounds):
    print(f"A real build in a draft, {rounds} rounds", flush=True)
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
    rounds, count = size["draft_loops"]
    all_loops = [Loops(place, files) for files in size["drafts"]]
    measure_iterations(bench, all_loops, rounds, count)
    measure_views(bench, all_loops, rounds, count)
    print()
    measure_checkpoint(bench, all_loops[-1], size["draft_rounds"])
    print()
    for loops in all_loops:
        loops.remove()
    measure_first(bench, place, size["first_draft"], size["draft_rounds"])
    print()
    measure_build(bench, place, size["build"])
