"""Runs one case as one identity, in a process of its own that adopts every orphan below it.

So a process that ringfence leaves behind is found at the end of the very test that made it, even if
it changed its session or its name.
"""

import json
import os
import select
import signal
import traceback

from . import fences, kernel, rundir
from .case import SANITIZED_SLOWER, Failure, Skip
from .patience import Patience
from .world import World

TOLD_GRACE_S = 20  # time for a test that timed out to print where it was
BROKEN_OFF = ("failed", "weaker")  # outcomes of tests that did not reach their end


def _wait_for_orphans(grace_s):
    """Every process below this one must end by itself; returns those that do not, and ends them."""
    left = kernel.wait_for_children(grace_s)
    for pid, _ in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return left


def _where(error):
    """The lines of the test itself that led to the error."""
    return [f"at {os.path.basename(frame.filename)}:{frame.lineno}: {frame.line}"
            for frame in traceback.extract_tb(error.__traceback__)
            if os.path.basename(frame.filename).startswith("test_")]


def _perform(case, world, told):
    """told: what ran is also told of a test that passes. The outcome "refuted" is that of a claim that does not hold."""
    outcome = "failed"
    try:
        case.function(world, *case.args)
        return "passed", "\n".join(world.account("")) if told else ""
    except Skip as skip:
        return "skipped", str(skip)
    except Failure as failure:
        outcome = "failed" if isinstance(failure, _OutOfTime) else "refuted"
        text = "\n".join([str(failure), *_where(failure)])
    except Exception:
        text = traceback.format_exc()
    return outcome, "\n".join([text, *world.account(text)])


class _OutOfTime(Failure):
    pass


def _out_of_time(*_):
    raise _OutOfTime("timed out")


def _weigh(case, world, outcome, text):
    """A claim that is declared as weaker must not hold with this mechanism."""
    reason = case.weaker(world.mechanism, world.identity)
    if reason and outcome == "passed":
        return "failed", f"it holds with {world.mechanism}, and tests/harness/weaker.py says that it cannot: {reason}"
    if reason and outcome == "refuted":
        return "weaker", reason
    return "failed" if outcome == "refuted" else outcome, text


def _become(identity, home):
    """Turns this process into the identity; returns with nothing of the test runner at hand."""
    if rundir.uid_of(identity) != os.getuid():
        kernel.become_plain_user(rundir.uid_of(identity))
    elif os.getuid() == 0:
        # If a fence fails, an attack's mounts stay in this namespace and end with this process.
        kernel.own_mounts()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.environ["HOME"] = home
    kernel.become_subreaper()
    kernel.die_with_parent(signal.SIGKILL)
    os.setpgid(0, 0)


def _close_descriptors(report):
    """Nothing that the test runner has open is open in a test, except the pipe for its report."""
    os.dup2(report, 3, inheritable=False)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    return 3


def _try(case, identity, mechanism, folder, run):
    try:
        case.check_needs()
        world = World(folder, identity, run["builds"][identity], run["attack"], mechanism,
                      run["engines"].get(identity, {}))
        case.check_build(world.sanitized)
        case.check_mechanism(mechanism or fences.USUAL, identity)
        if os.getuid() != 0 and mechanism in fences.SETUID:
            kernel.ids_needed = f"{mechanism} needs setuid programs and a range of ids, which the test's own namespace or filter lacks"
        signal.signal(signal.SIGTERM, _out_of_time)
        os.chdir(world.project)
        outcome, text = _weigh(case, world, *_perform(case, world, run["again"]))
        complaints = world.end()
        # A test that failed has left what it would have ended: nothing of that would end by itself.
        orphans = _wait_for_orphans(1 if outcome in BROKEN_OFF else rundir.LEFTOVER_GRACE_S)
        complaints += [f"process {pid} was left: {command}" for pid, command in orphans if outcome not in BROKEN_OFF]
        if complaints and outcome != "weaker":
            return "failed", "\n".join([text] * bool(text) + complaints)
        return outcome, text
    except Skip as skip:
        return "skipped", str(skip)
    except Exception:
        return "failed", traceback.format_exc()


def _child(case, identity, mechanism, folder, run, report):
    """Never returns."""
    answer = "failed", traceback.format_exc()
    try:
        report = _close_descriptors(report)
        if os.getuid() == 0 and not case.syncs:
            kernel.skip_syncs()
        _become(identity, os.path.dirname(folder))
        answer = _try(case, identity, mechanism, folder, run)
    except BaseException:
        answer = "failed", traceback.format_exc()
    finally:
        os.write(report, json.dumps(answer).encode())
        os._exit(0)


def _read_until(fd, limit):
    """Everything up to the end of file; None if the limit comes first."""
    data = b""
    while (left := limit.left()) > 0:
        if select.select([fd], [], [], left)[0]:
            part = os.read(fd, 65536)
            if not part:
                return data
            data += part
    return None


def _end_strays():
    """Ends the orphans of a test that was killed: this process has adopted them."""
    strays = kernel.children_of(os.getpid())
    while strays:
        for pid, _ in strays:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        strays = kernel.children_of(os.getpid())


def _await_answer(pid, report, timeout_s):
    """Returns the child's answer; a child that times out gets a signal first, and is then killed."""
    data = _read_until(report, Patience(timeout_s))
    if data is None:
        os.kill(pid, signal.SIGTERM)
        data = _read_until(report, Patience(TOLD_GRACE_S))
    if data is None:
        os.kill(pid, signal.SIGKILL)
        return "failed", f"timed out after {timeout_s} s"
    try:
        return json.loads(data)
    except ValueError:
        return "failed", "the test's process died"


def run_case(case, identity, mechanism, index, run):
    """Returns (outcome, text). `run` describes the test run, see tests/run.py."""
    folder = os.path.join(run["homes"][identity], str(index))
    kernel.become_subreaper()
    report, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(case, identity, mechanism, folder, run, write_end)
    os.close(write_end)
    timeout_s = case.timeout_s * (SANITIZED_SLOWER if run["sanitized"] else 1)
    outcome, text = _await_answer(pid, report, timeout_s)
    os.close(report)
    os.waitpid(pid, 0)
    _end_strays()
    if os.path.lexists(folder):
        rundir.remove_tree(folder)
    if os.path.lexists(folder):
        return "failed", f"{text}\ncannot remove {folder}"
    return outcome, text
