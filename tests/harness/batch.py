"""Work lists for tests: a project, an agent that does what a task says, and ways to run and see a batch."""

import contextlib
import glob
import json
import os
import sqlite3

from . import kernel
from .expect import equal
from .loop import Loop, kill, name_of, until

# Runs the shell code between !( and )! of its task; $P is the prompt.
AGENT = """P=/tmp/prompt; export P; cat >$P; code=$(sed -n 's/.*!(\\(.*\\))!.*/\\1/p' $P | head -n 1)
sh -c "$code" && echo '<promise>COMPLETE</promise>'"""

LOOKS = 50  # one of so many looks at state files asks ringfence
STOPPED = ("completed", "failed", "aborted", "paused")


class Batch:
    """A project with a work list, and the newest batch in it."""

    def __init__(self, t, tasks="", name="TASKS.md", **files):
        self.t = t
        self.loop = Loop(t)
        self.project = self.loop.project
        self.name = name
        self.looks = 0
        self.write(name, tasks)
        for file, text in files.items():
            self.write(file, text)

    def path(self, name):
        return os.path.join(self.project, name)

    def write(self, name, text):
        self.loop.write(name, text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def work(self, *words, **options):
        return self.loop.ringfence("work", *words, **options)

    def run(self, *words, check="true", agent=AGENT, code=0, **options):
        """In the foreground, to its end."""
        result = self.work(self.name, "--check", check, "--agent-command", agent, "--max-iterations", "3", *words, **options)
        equal(result.code, code, "exit status of work", result)
        return result

    def detach(self, *words, **options):
        return self.run("--detach", *words, **options).out.splitlines()[-1]

    def show(self):
        result = self.work("--show", "--json")
        equal(result.code, 0, "exit status of work --show", result)
        return json.loads(result.out)

    def tasks(self):
        return {task["id"]: task for task in self.show()["tasks"]}

    def steps(self):
        return {name: task["step"] for name, task in self.tasks().items()}

    def said(self):
        """The status in the state file that was written last, which is cheaper to read than to ask for."""
        with contextlib.suppress(OSError, ValueError):
            newest = max(glob.glob(os.path.join(self.t.state, "batches/*/state.json")), key=os.path.getmtime)
            with open(newest, encoding="utf-8") as file:
                return json.load(file)["status"]
        return None

    def ended(self, *wanted):
        """Waits until the batch has stopped; returns it."""
        def told():
            # A supervisor that is killed after it has recorded the end does not update its file.
            self.looks += 1
            return self.said() in STOPPED or self.looks % LOOKS == 0
        found = until("the end of the batch", lambda: told() and (seen := self.show())["status"] in STOPPED and seen)
        if wanted:
            equal(found["status"] in wanted, True, f"the batch is {' or '.join(wanted)}", found)
        return found

    def kill_all(self):
        """Kills everything that the test has started, also what begins meanwhile; returns whether there was anything."""
        struck = False
        while (there := [pid for pid, _ in kernel.descendants_of(os.getpid()) if name_of(pid)]) or self.show()["status"] == "running":
            for pid in there:
                kill(pid)
            struck = True
        return struck

    @property
    def folder(self):
        return os.path.join(self.t.state, "batches", self.show()["id"])

    def events(self, *kinds):
        """The data of the events of these kinds, or all kinds."""
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "journal.db"))) as store:
            found = store.execute("SELECT kind, data FROM event ORDER BY seq").fetchall()
        return [(kind, json.loads(data)) for kind, data in found if not kinds or kind in kinds]

    def shown(self, loop, *words):
        """The output of a command in the draft of a loop."""
        result = self.loop.ringfence("exec", "--in", loop, "--", *words)
        equal(result.code, 0, "exit status of exec --in", result)
        return result.out

    def apply(self, *words, code=0):
        result = self.work("--apply", *words)
        equal(result.code, code, "exit status of work --apply", result)
        return result


def task(name, code, note=""):
    return f"- [ ] {name}: do it{note} !({code})!\n"
