"""Loops for tests: a project with the scripted agent, and ways to start, see and kill them."""

import contextlib
import glob
import json
import os
import shutil
import signal
import sqlite3
import stat
import time

from . import kernel
from .case import Failure
from .expect import equal, expect
from .patience import Patience

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent.sh")
WORKSPACES = ("in-place", "draft")
PATIENCE_S = 60  # meant for hangs, not for slow machines
PAUSE_S, PAUSE_MAX_S = 0.01, 0.25
PAUSES = 4  # a pause is this much longer than what came before it
ENDED = ("completed", "limit", "failed", "aborted", "paused")


def until(what, condition, patience=PATIENCE_S):
    """Waits until the condition holds, which it must; returns its result.

    A condition that runs a command is asked less often: while a test waits, others need the CPU.
    """
    limit = Patience(patience)
    while True:
        began = time.monotonic()
        value = condition()
        if value:
            return value
        if limit.left() <= 0:
            raise Failure(f"{what}: did not happen within {patience} s")
        time.sleep(min(max(PAUSE_S, PAUSES * (time.monotonic() - began)), PAUSE_MAX_S))


class Loop:
    """A project with the scripted agent, and the newest loop in it."""

    def __init__(self, t, name="project", scripts=None, workspace="draft", **files):
        self.t = t
        self.workspace = workspace
        self.ident = None
        self.looks = 0
        self.project = os.path.join(t.home, name)
        os.makedirs(os.path.join(self.project, "script"), exist_ok=True)
        shutil.copy(AGENT, os.path.join(self.project, "agent.sh"))
        for number, text in (scripts or {}).items():
            self.write(f"script/{number}", text)
        for file, text in files.items():
            self.write(file, text)

    def path(self, name):
        return os.path.join(self.project, name)

    def write(self, name, text=""):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def ringfence(self, *words, **options):
        options.setdefault("cwd", self.project)
        return self.t.run([self.t.ringfence, *words], **options)

    def run_words(self, *words, check="test -f done"):
        checks = ["--check", check] if check else []
        place = ["--workspace", self.workspace] if self.workspace != "draft" else []  # a draft is the default
        return ["run", "make it", *place, "--agent-command", "sh agent.sh", *checks, *words]

    def run(self, *words, check="test -f done", **options):
        """In the foreground, to its end."""
        return self.ringfence(*self.run_words(*words, check=check), **options)

    def detach(self, *words, check="test -f done", **options):
        """In the background; returns the id."""
        result = self.run("--detach", *words, check=check, **options)
        equal(result.code, 0, "exit status of run --detach", result)
        self.ident = result.out.splitlines()[-1]
        return self.ident

    def status(self):
        result = self.ringfence("status", "--json")
        equal(result.code, 0, "exit status of status", result)
        return json.loads(result.out)["loops"][-1]

    def history(self):
        return json.loads(self.ringfence("history", "--json").out)["iterations"]

    def only(self):
        """The id of the loop if there is no other one, which is cheaper than ringfence status."""
        with contextlib.suppress(FileNotFoundError):
            found = [name for name in os.listdir(os.path.join(self.t.state, "loops")) if not name.startswith(".")]
            return found[0] if len(found) == 1 else None
        return None

    @property
    def folder(self):
        return os.path.join(self.t.state, "loops", self.ident or self.only() or self.status()["id"])

    def said(self):
        """Reads the state file, which is cheaper than ringfence status."""
        try:
            with open(os.path.join(self.folder, "state.json"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {"status": "starting", "step": "new"}

    def there(self, name):
        """Waits until the agent, or a check in its view, has made a file."""
        seen = os.path.join(self.t.state, "loops/*/view/pinned/upper", name)
        return until(f"the file {name}", lambda: os.path.exists(self.made(name)) or glob.glob(seen))

    def made(self, name):
        """Where a file is that the agent has made or changed."""
        return os.path.join(self.folder, "draft/upper", name) if self.workspace == "draft" else self.path(name)

    def outcome(self, name):
        """Returns the text of a file that the agent has made or changed."""
        with open(self.made(name), encoding="utf-8") as file:
            return file.read()

    def transcript(self):
        """Returns what the agent has printed in the first iteration, as far as it has been written down."""
        with contextlib.suppress(FileNotFoundError), open(os.path.join(self.folder, "iterations/1/stdout.log"), encoding="utf-8") as file:
            return file.read()
        return ""

    def heard(self, text):
        """Waits until the transcript of the first iteration has a text, which is written some time after it was said."""
        return until(f"'{text}' in the transcript", lambda: text in self.transcript())

    def ended(self, *wanted):
        """Waits until the loop has ended or paused and its supervisor is gone; returns its status."""
        def look():
            status = self.status()
            return status if status["status"] in ENDED and not status["supervisor_pid"] else None
        def told():
            # A supervisor that is killed after it has recorded the end does not update its file.
            self.looks += 1
            return self.said()["status"] in ENDED or (self.looks % 100 == 0 and look())
        until("the end of the loop", told)
        status = until("the end of its supervisor", look)
        if wanted:
            expect(status["status"] in wanted, f"the loop is {' or '.join(wanted)}", status)
        return status

    def waiting(self):
        """Waits until the loop waits for a stated time; returns its status."""
        until("a wait", lambda: self.said()["status"] == "waiting")
        return self.status()

    def supervisor(self):
        return until("a supervisor", lambda: self.status()["supervisor_pid"])

    def runner(self):
        """The process that holds the fence; others that a supervisor starts have other names."""
        return until("a runner", lambda: [pid for pid, _ in kernel.children_of(self.supervisor())
                                          if name_of(pid) == "ringfence-loop"])[0]

    def events(self):
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "journal.db"))) as store:
            return store.execute("SELECT kind, data FROM event ORDER BY seq").fetchall()

    def times(self, kind):
        """When events of a kind were written down, in ms."""
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "journal.db"))) as store:
            return [at for at, in store.execute("SELECT at_ms FROM event WHERE kind = ? ORDER BY seq", (kind,))]

    def tree(self):
        """The files of the project with their contents, and over them those that the agent made or changed."""
        found = {}
        for top in dict.fromkeys((self.project, self.made(""))):
            for base, _, files in os.walk(top):
                for file in files:
                    path = os.path.join(base, file)
                    if stat.S_ISCHR(os.lstat(path).st_mode):  # overlayfs marks a deleted file in this way
                        found.pop(os.path.relpath(path, top), None)
                        continue
                    with open(path, encoding="utf-8", errors="replace") as stream:
                        found[os.path.relpath(path, top)] = stream.read()
        return found


class LoopInPlace(Loop):
    """A loop that writes straight into the project: for tests of what happens there."""

    def __init__(self, t, *args, workspace="in-place", **options):
        super().__init__(t, *args, workspace=workspace, **options)


PF_EXITING = 4


def name_of(pid):
    """The name of a live process; zombies and processes that are about to exit have none."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8",
                                            errors="replace") as file:
        name, _, rest = file.read().partition("(")[2].rpartition(")")
        fields = rest.split()
        return "" if fields[0] == "Z" or int(fields[6]) & PF_EXITING else name
    return ""


def is_stopped(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"
    return False


def at_work():
    """The names of this test's live descendants, except keepers, which end after their supervisors."""
    return [name for pid, _ in kernel.descendants_of(os.getpid()) if (name := name_of(pid)) not in ("", "ringfence-keep")]


def keepers():
    """The keepers below this test, which adopts them."""
    return [pid for pid, _ in kernel.descendants_of(os.getpid()) if name_of(pid) == "ringfence-keep"]


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
