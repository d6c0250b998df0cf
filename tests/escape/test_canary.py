"""Items 77, 78 and 80: no fence, no command; a fence that is not what it seems; exit statuses."""

import importlib.util
import os
import re
import subprocess
import time

from harness import (Skip, bwrap_only, cases, contains, equal, expect, lacks,
                     refused_before_start, user_only)
from harness import kernel
from harness.control import attack_inside

OWN_PROGRAM = "it puts another program in the place of bwrap"
_here = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("weak_bwrap", os.path.join(_here, "weak_bwrap.py"))
weak_bwrap = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(weak_bwrap)


def with_bwrap(t, path):
    return t.env(RINGFENCE_BWRAP=path)


def weak(t, name):
    """Installs a program in place of bwrap; what it needs for weakening is in the project."""
    for file in (".git/config", "sub/.git/config", ".env", ".env.copy", "secrets/x", "plain"):
        t.write(file, "x")
    os.chmod(t.path("plain"), 0o666)
    other, tmpfs = os.path.join(t.outside, "other"), os.path.join(t.outside, "tmpfs")
    os.makedirs(other, exist_ok=True)
    os.chmod(other, 0o777)
    os.makedirs(t.path("below"))
    if "a tmpfs of the host" in name:
        t.own_mounts()
        t.tmpfs(tmpfs)
        os.mkdir(os.path.join(tmpfs, "project"))
        t.write(os.path.join(tmpfs, "secret"), "x", 0o644)
    t.works("true")
    with open(os.path.join(_here, "weak_bwrap.py"), encoding="utf-8") as file:
        source = file.read()
    world = {"project": t.project, "home": t.home, "other": other, "tmpfs": tmpfs}
    return t.script("bwrap", f"{source}\n\nweaken({name!r}, **{world!r})\n")


def refused_quickly(t, *opts, **options):
    """In little CPU time; that it answers at all is the limit for hangs."""
    before = sum(os.times()[2:4])
    result = refused_before_start(t, *opts, **options)
    expect(t.sanitized or sum(os.times()[2:4]) - before < 2, "CPU time in s", result)
    return result


@bwrap_only(OWN_PROGRAM)
@cases("/nonexistent/bwrap", "/etc/passwd", "/")
def test_77_without_bwrap_nothing_runs_and_the_remedy_is_named(t, path):
    refused_quickly(t, env=with_bwrap(t, path), says="bubblewrap")
    t.works("true")


@bwrap_only(OWN_PROGRAM)
def test_77_the_remedy_for_a_missing_bwrap_is_a_command_of_this_machine(t):
    manager = next((m for m in ("apt-get", "dnf", "zypper", "pacman")
                    if os.path.exists(f"/usr/bin/{m}")), None)
    if not manager:
        raise Skip("no package manager that the test knows")
    refused_before_start(t, env=with_bwrap(t, "/nonexistent/bwrap"), says=(manager, "bubblewrap"))


@bwrap_only(OWN_PROGRAM)
def test_77_a_relative_path_of_bwrap_is_not_taken(t):
    """It could be one that the agent has planted in the project."""
    mark = t.path("planted-ran")
    t.write("bwrap", f"#!/bin/sh\ntouch {mark}\n", 0o755)
    result = t.fence("true", env=with_bwrap(t, "./bwrap"))
    equal(result.code, 0, "the usual one is taken", result)
    expect(not os.path.exists(mark), "the planted one must not run", result)


def test_77_where_user_namespaces_are_forbidden_nothing_runs_and_the_remedy_is_named(t):
    t.works("true")
    kernel.forbid_user_namespaces()
    refused_quickly(t, says=("namespaces", "max_user_namespaces"))


@user_only
def test_77_where_user_namespaces_are_forbidden_the_ugly_flag_still_works(t):
    kernel.forbid_user_namespaces()
    result = t.fence("echo", "hello", opts=("--i-accept-no-fence",))
    equal((result.code, result.out), (0, "hello\n"), "without a fence", result)
    contains(result.err.lower(), "without a fence", "stderr")


@bwrap_only(OWN_PROGRAM)
def test_77_a_bwrap_that_hangs_does_not_hang_for_ever(t):
    path = t.script("bwrap", "#!/bin/sh\nexec sleep 600\n")
    process = t.fence_start("true", env=with_bwrap(t, path))
    result = t.finish(process)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "ringfence: ", "the reason")
    t.all_gone()


def test_77_another_mechanism_than_the_ones_there_are_is_refused(t):
    refused_before_start(t, "--fence", "moat", says="moat")


LANDLOCK_CALLS = 444, 446


def test_77_without_landlock_nothing_runs_unless_the_user_accepts_it(t):
    """As on an old kernel: the calls do not exist."""
    _, before = t.report("true")
    equal(before["weaker"], [], "the control")
    kernel.forbid_calls(*LANDLOCK_CALLS)
    refused_before_start(t, says=("Landlock", "--accept-weaker"))
    result, report = t.report("echo", "ran", opts=("--accept-weaker", "landlock"))
    equal((result.code, result.out), (0, "ran\n"), "when it is accepted", result)
    contains(str(report["weaker"]), "landlock", "what the report calls weaker")


def test_77_accepting_a_weaker_fence_where_nothing_is_missing_weakens_nothing(t):
    _, before = t.report("true")
    _, report = t.report("true", opts=("--accept-weaker", "landlock"))
    equal((report["weaker"], report["canaries"]), ([], before["canaries"]), "the report")


@bwrap_only(OWN_PROGRAM)
def test_78_the_control_an_unchanged_bwrap_works(t):
    result = t.fence("echo", "ran", env=with_bwrap(t, weak(t, "nothing")))
    equal((result.code, result.out), (0, "ran\n"), "the control", result)


# The folders of a run may be a file system of their own in /tmp, which is then seen first.
with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
    HAS_MOUNTS = any(line.split()[4].startswith("/tmp/") for line in mounts)

# Each weakness, and the canary that watches exactly that.
CAUGHT_BY = {
    "without --unshare-user": "nested-namespace",
    "without --unshare-pid": "process-namespace",
    "without --unshare-ipc": "namespaces",
    "without --unshare-uts": "namespaces",
    "without --unshare-cgroup": "namespaces",
    "without --unshare-net": "namespaces",
    "without --disable-userns": "nested-namespace",
    "without --new-session": "session",
    "without --as-pid-1": "process-namespace",
    "with all capabilities": "capabilities",
    "as uid 0": "root",
    "as gid 0": "root",
    ".git writable": "rules",
    "a nested .git writable": "rules",
    ".env shown": "rules",
    ".env bound from another file": "rules",
    "a hidden folder shown": "rules",
    "the project from another folder": "rules",
    "the real home": "home",
    "a tmpfs of the host as the home": "home",
    "the real /tmp": "mounts" if HAS_MOUNTS else "home",
    "/usr writable": "rules",
    "the real /proc": "process-namespace",
    "the real /dev": "file-systems",
    "the real /etc": "rules",
    "the host's root below": "system",
    "the host's root on top": "process-namespace",
    "the root writable": "system",
    "{project}/below": "mounts",
    "open-for-writing": "host-file",
    "connect-unix": "abstract-socket",
    "connect-internet": "route",
    "unshare": "unshare",
    "mount": "mount",
    "keyctl": "seccomp",
    "no-new-privileges": "no-new-privileges",
    "a kernel setting writable": "kernel-settings",
    "readlink-root": "init",
    "landlock": "landlock",
    "set-limits": "limits",
    "close": "descriptors",
}


@bwrap_only(OWN_PROGRAM)
@cases(*CAUGHT_BY)
def test_78_a_weaker_fence_is_caught_before_the_command_runs(t, name):
    """By the canary that watches what is weaker, and by no other."""
    path = weak(t, name)
    result = refused_before_start(t, env=with_bwrap(t, path), says="canary")
    lacks(result.err, "nothing to weaken", "stderr")
    equal(re.findall(r"canary '([\w-]+)' got through", result.err), [CAUGHT_BY[name]], "the canary", result)


def test_78_every_weakness_has_its_canary_and_every_canary_a_weakness(t):
    expect(set(weak_bwrap.WEAKER) | set(weak_bwrap.LIES) <= set(CAUGHT_BY), "weaknesses without a canary")
    _, report = t.report("true")
    equal(report["canaries"]["total"], len(set(CAUGHT_BY.values())), "canaries of a run")


@bwrap_only(OWN_PROGRAM)
@cases(*weak_bwrap.EXTRA)
def test_78_a_place_of_the_host_that_is_added_is_caught(t, place):
    path = weak(t, place)
    t.write(os.path.join(t.outside, "other/file"), "x", 0o644)
    where = place.format(project=t.project)
    result = attack_inside(t, "read", where, env=with_bwrap(t, path))
    equal((result.code, result.out), (125, ""), "nothing ran", result)
    contains(result.err, f"canary 'mounts' got through: unexpected mount at '{where}'", "the reason")


@bwrap_only(OWN_PROGRAM)
@cases(*weak_bwrap.SHAMS)
def test_78_a_fence_that_does_nothing_is_caught_before_the_command_runs(t, name):
    path = weak(t, name)
    mark = t.path("ran-by-the-command")
    result = t.fence("sh", "-c", f"touch {mark}", env=with_bwrap(t, path))
    equal(result.code, 125, "exit status", result)
    expect(not os.path.exists(mark), "nothing may run", result)
    contains(result.err, "ringfence: ", "stderr")


@bwrap_only(OWN_PROGRAM)
def test_78_the_failed_canary_is_named_in_the_report(t):
    path = weak(t, ".git writable")
    result, report = t.report("true", env=with_bwrap(t, path))
    equal(result.code, 125, "exit status", result)
    equal(report["exit"]["kind"], "setup", "kind of the exit")
    equal(report["exit"]["code"], 125, "code of the exit")


def test_78_canaries_of_a_good_run_are_counted(t):
    _, report = t.report("true")
    canaries = report["canaries"]
    equal((canaries["passed"], canaries["total"]), (23, 23), "canaries that held, and all", report)


@bwrap_only(OWN_PROGRAM)
@user_only
def test_78_a_fence_whose_owner_is_killed_while_bwrap_waits_leaves_nothing(t):
    """Bwrap's child waits for eight bytes of its parent. A parent that dies before it writes them,
    as --die-with-parent would have it, leaves a child that waits for ever."""
    path = t.script("bwrap", f'#!/bin/sh\nexec {t.attack_source} hold-write 8 /usr/bin/bwrap "$@"\n')
    t.leftover_runs = True
    process = t.fence_start("true", env=with_bwrap(t, path), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"paused\n", "bwrap")
    process.kill()
    process.wait()
    process.stdin.write(b"\n")
    process.stdin.close()
    t.all_gone()


@cases(("true", 0, "ok"), ("exit 1", 1, "command"), ("exit 125", 125, "command"),
       ("exit 124", 124, "command"), ("kill -9 $$", 137, "signal"), ("kill -TERM $$", 143, "signal"),
       ("cat .env", 1, "command"))
def test_80_the_report_tells_the_end_of_the_command(t, script, code, kind):
    t.write(".env", "x")
    result, report = t.report("sh", "-c", script)
    equal(result.code, code, "exit status", result)
    equal((report["exit"]["kind"], report["exit"]["code"]), (kind, code), "the report")


def test_80_a_refusal_and_a_timeout_are_told_from_a_failure(t):
    result, report = t.report("true", opts=("--write", "/"))
    equal((result.code, report["exit"]["kind"]), (125, "setup"), "a refusal")
    result, report = t.report("sleep", "600", opts=("--timeout", "1s"))
    equal((result.code, report["exit"]["kind"], report["exit"]["limit"]), (124, "limit", "time"),
          "a timeout")


def test_80_a_denial_inside_is_the_commands_own_failure(t):
    """125 means that nothing ran; a denied command ends with its own status."""
    result = t.fence("sh", "-c", f"touch {t.unmade('/etc')} || exit 42")
    equal(result.code, 42, "exit status", result)
    lacks(result.err, "ringfence: ", "stderr")


@cases(("/nonexistent", 127), ("no-such-command", 127), ("./plain", 126), ("/etc", 126),
       ("./dir", 126), ("", 127))
def test_80_a_command_that_cannot_start_says_so(t, command, code):
    t.write("plain", "x", 0o644)
    os.mkdir(t.path("dir"))
    result = t.fence(command)
    equal(result.code, code, "exit status", result)
    contains(result.err, "ringfence: ", "stderr")
