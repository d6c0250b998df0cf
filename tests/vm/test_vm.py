"""A whole machine: systemd is process 1, control groups are version 2, people log in.

Runs in a virtual machine that tests/vm/run starts (make test-vm), as root, who logs in as others.
"""

import json
import os
import re
import shlex
import tempfile

from harness import Skip, cases, contains, equal, expect, root_only, timeout

USER = "tester"  # has a passwd entry, a home and, when logged in, a user manager
HOMES = {"root": "/root", USER: f"/home/{USER}"}
# The user who logs in, and the owner of the project.
LOGINS = (("root", "root"), ("root", USER), (USER, USER))
SLOW_S = 300  # an emulated processor takes its time
PART = "1.5"  # of the machine's two CPUs; with less, an emulated processor may start a fence too late


def login(t, user, command, folder):
    """Runs a shell command in a new session of the user, as after a login."""
    if not os.path.exists("/run/systemd/system"):
        raise Skip("systemd is not process 1 here (make test-vm)")
    script = f"cd {shlex.quote(folder)} && {command}"
    # A test has mounts of its own, in which the folder of a new session is missing.
    return t.run(["nsenter", "-t", "1", "-m", "su", "-l", user, "-c", script], timeout=SLOW_S)


def project_of(owner):
    """A fresh project of that user."""
    folder = tempfile.mkdtemp(prefix="project-", dir=HOMES[owner])
    entry = os.stat(HOMES[owner])
    os.chown(folder, entry.st_uid, entry.st_gid)
    return folder


def exec_report(t, user, owner, command, *options):
    """Runs a command in the fence after a login; returns (result, report)."""
    folder = project_of(owner)
    file = f"/tmp/report-{os.getpid()}"
    argv = [t.ringfence, "exec", "--report", file, *options, "--", "sh", "-c", command]
    result = login(t, user, shlex.join(argv), folder)
    with open(file, encoding="utf-8") as stream:
        report = json.load(stream)
    os.unlink(file)
    return result, report


def scopes(t):
    out = t.run(["systemctl", "list-units", "--no-legend", "--plain", "run-*.scope"]).out
    return out.split()


@root_only
@timeout(SLOW_S)
def test_the_machine_is_one_with_systemd_and_control_groups_of_version_2(t):
    equal(t.run(["cat", "/proc/1/comm"]).out, "systemd\n", "process 1")
    equal(t.run(["stat", "-f", "-c", "%T", "/sys/fs/cgroup"]).out, "cgroup2fs\n", "control groups")
    session = login(t, USER, "cat /proc/self/cgroup; echo $XDG_RUNTIME_DIR", "/")
    expect(re.search(r"^0::/user.slice/user-\d+.slice/session-\w+.scope$", session.out, re.M),
           "a login has a session", session)
    contains(session.out, "/run/user/", "a login has a user manager")


@root_only
@timeout(SLOW_S)
@cases(*LOGINS)
def test_limits_are_kept_by_groups_that_systemd_makes(t, user, owner):
    result, report = exec_report(t, user, owner, "id -u", "--memory", "100M", "--cpus", PART,
                                 "--processes", "50")
    equal((result.code, result.err), (0, ""), "the run", result)
    equal({name: limit["how"] for name, limit in report["limits"].items()},
          {"memory": "cgroup v2", "cpus": "cgroup v2", "processes": "cgroup v2"}, "how")
    equal(report["weaker"], [], "what is weaker")
    if owner == USER:
        equal(int(result.out), os.stat(HOMES[USER]).st_uid, "the user of the command")
    equal(scopes(t), [], "scopes that are left")


@root_only
@timeout(SLOW_S)
@cases(*LOGINS)
def test_the_kernel_enforces_the_limits(t, user, owner):
    script = "/usr/bin/python3 -c \"x = bytearray({0} << 20); print('took it')\""
    result, report = exec_report(t, user, owner, script.format(150), "--memory", "64M")
    equal((result.code, report["exit"]["kind"], report["exit"]["limit"]), (123, "limit", "memory"),
          "too much memory", result)
    result, report = exec_report(t, user, owner, script.format(30), "--memory", "64M")
    equal((result.code, result.out), (0, "took it\n"), "the control", result)
    equal(scopes(t), [], "scopes that are left")


def share_of(report):
    """The CPU time that a run used, in hundredths of a CPU."""
    return report["use"]["cpu_ms"] * 100 // report["duration_ms"]


@root_only
@timeout(SLOW_S)
@cases(*LOGINS)
def test_a_part_of_a_cpu_is_kept(t, user, owner):
    busy = "while :; do :; done & while :; do :; done"
    _, report = exec_report(t, user, owner, busy, "--cpus", "0.5", "--timeout", "5s")
    expect(share_of(report) < 80, "what 0.5 CPUs are, in hundredths", report)
    _, control = exec_report(t, user, owner, busy, "--timeout", "5s")
    if share_of(control) < 100:
        raise Skip(f"the machine is busy: without a limit {share_of(control)} hundredths of a CPU")


@root_only
@timeout(SLOW_S)
@cases(*LOGINS)
def test_a_loop_has_its_limits(t, user, owner):
    folder = project_of(owner)
    argv = [t.ringfence, "run", "make the file", "--agent-command", "touch made", "--check",
            "test -e made", "--apply", "--cpus", PART, "--memory", "100M", "--max-iterations", "2"]
    result = login(t, user, shlex.join(argv), folder)
    equal(result.code, 0, "exit status", result)
    expect(os.path.exists(os.path.join(folder, "made")), "the agent ran", result)
    equal(scopes(t), [], "scopes that are left")


@root_only
@timeout(SLOW_S)
@cases(*LOGINS)
def test_doctor_finds_a_working_fence_and_control_groups(t, user, owner):
    result = login(t, user, shlex.join([t.ringfence, "doctor"]), project_of(owner))
    equal(result.code, 0, "exit status", result)
    held = re.search(r"(\d+) of (\d+) canaries held", result.out)
    expect(held and held.group(1) == held.group(2), "the canaries", result)
    contains(result.out, "cgroup v2: memory, cpus, processes", "limits")
