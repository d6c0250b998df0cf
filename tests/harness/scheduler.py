"""Runs cases, a few at a time, each in a process of its own that adopts every orphan below it.

So a process that ringfence leaves behind, whatever it did to its session or its name, is found at the
end of the very test that made it.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback

from . import kernel
from .case import Failure, Skip
from .world import World

LEFTOVER_GRACE_S = 20
TOLD_GRACE_S = 20  # for a test that is out of time, to say where it was


def remove_tree(path):
    """By rm, which copes with any depth; modes that a test has left are opened first if need be."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    subprocess.run(["rm", "-rf", "--", path], **quiet)
    if os.path.lexists(path):
        subprocess.run(["chmod", "-R", "u+rwx", "--", path], **quiet)
        subprocess.run(["rm", "-rf", "--", path], **quiet)


def _wait_for_orphans():
    """Every process below this one must end by itself; returns those that do not, and ends them."""
    left = kernel.wait_for_children(LEFTOVER_GRACE_S)
    for pid, _ in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return left


def _where(error):
    """The lines of the test itself that led to it."""
    return [f"at {os.path.basename(frame.filename)}:{frame.lineno}: {frame.line}"
            for frame in traceback.extract_tb(error.__traceback__)
            if os.path.basename(frame.filename).startswith("test_")]


def _perform(case, world):
    try:
        case.function(world, *case.args)
        return "passed", ""
    except Skip as skip:
        return "skipped", str(skip)
    except Failure as failure:
        text = "\n".join([str(failure), *_where(failure)])
    except Exception:
        text = traceback.format_exc()
    return "failed", "\n".join([text, *world.account(text)])


def _out_of_time(case):
    def tell(*_):
        raise Failure(f"timed out after {case.timeout_s} s")
    return tell


def _child(case, index, config, report):
    """Never returns."""
    kernel.become_subreaper()
    kernel.die_with_parent(signal.SIGKILL)
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    folder = os.path.join(config["folder"], str(index))
    outcome, text = "failed", "the test did not start"
    try:
        case.check_needs()
        world = World(folder, config["identity"], config["build"], config["attack"])
        signal.signal(signal.SIGTERM, _out_of_time(case))
        os.chdir(world.project)
        outcome, text = _perform(case, world)
        complaints = world.end()
        orphans = _wait_for_orphans()
        complaints += [f"process {pid} was left: {command}" for pid, command in orphans]
        if complaints:
            outcome, text = "failed", "\n".join([text] * bool(text) + complaints)
    except Skip as skip:
        outcome, text = "skipped", str(skip)
    except Exception:
        outcome, text = "failed", traceback.format_exc()
    os.write(report, json.dumps({"outcome": outcome, "text": text}).encode())
    os._exit(0)


class _Running:
    def __init__(self, case, index, config):
        self.case = case
        self.folder = os.path.join(config["folder"], str(index))
        self.began = time.monotonic()
        self.deadline = self.began + case.timeout_s
        self.told = False
        self.answer = b""
        self.report, write_end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.report)
            _child(case, index, config, write_end)
        os.close(write_end)

    def result(self, config, outcome=None, text=None):
        if outcome is None:
            try:
                answer = json.loads(self.answer)
                outcome, text = answer["outcome"], answer["text"]
            except ValueError:
                outcome, text = "failed", "the test's process died"
        return {"name": f"{self.case.name} as {config['identity']}", "sentence": self.case.sentence,
                "outcome": outcome, "text": text,
                "seconds": round(time.monotonic() - self.began, 2)}


def _end_strays(running):
    """Orphans of a test that was killed come here, as this process adopts them."""
    known = {r.pid for r in running}
    strays = [pid for pid, _ in kernel.children_of(os.getpid()) if pid not in known]
    while strays:
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        strays = [pid for pid, _ in kernel.children_of(os.getpid()) if pid not in known]


def _settle(done, running, config, outcome=None, text=None):
    running.remove(done)
    if outcome:
        os.kill(done.pid, signal.SIGKILL)
    os.close(done.report)
    os.waitpid(done.pid, 0)
    _end_strays(running)
    result = done.result(config, outcome, text)
    if os.path.lexists(done.folder):
        remove_tree(done.folder)
        if os.path.lexists(done.folder):
            result.update(outcome="failed", text=f"{result['text']}\ncannot remove {done.folder}")
    return result


def run(cases, config, workers):
    """Yields one result for each case. config: identity, folder, build, attack."""
    kernel.become_subreaper()
    waiting = sorted(enumerate(cases), key=lambda pair: -pair[1].timeout_s)
    waiting.reverse()
    running = []
    while waiting or running:
        while waiting and len(running) < workers:
            index, case = waiting.pop()
            running.append(_Running(case, index, config))
        first_deadline = min(r.deadline for r in running)
        patience = max(0.0, first_deadline - time.monotonic())
        ready, _, _ = select.select([r.report for r in running], [], [], patience)
        for one in list(running):
            if one.report in ready:
                data = os.read(one.report, 65536)
                one.answer += data
                if not data:
                    yield _settle(one, running, config)
            elif time.monotonic() > one.deadline and not one.told:
                os.kill(one.pid, signal.SIGTERM)
                one.told = True
                one.deadline += TOLD_GRACE_S
            elif time.monotonic() > one.deadline:
                yield _settle(one, running, config, "failed",
                              f"timed out after {one.case.timeout_s} s")


def serve(cases, config, workers):
    """Results as lines of JSON on stdout, for the run that started this process."""
    kernel.die_with_parent(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if os.getuid() == 0:
        # Should a fence fail, what an attack mounts stays in here and ends with this process.
        kernel.own_mounts()
    for result in run(cases, config, workers):
        print(json.dumps(result), flush=True)
