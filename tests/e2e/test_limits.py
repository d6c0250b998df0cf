"""Limits: what enforces them, what is read back, what happens when one is reached, and what a run used."""

import os
import re
import signal
import subprocess

from harness import (Skip, cases, contains, equal, expect, lacks, refused_before_start, root_only,
                     timeout, user_only)

MEGA = 1 << 20
GROUPS = ("cgroup v1", "cgroup v2")
PYTHON = "/usr/bin/python3"
# In steps with a pause after each, so that the watch gets its turn even on a busy machine.
TAKE_MEMORY = "import time; x = [(bytearray(10 << 20), time.sleep(0.02)) for i in range({0} // 10)]; print('took it')"


def without_groups(t):
    """From now on, no control group can be made."""
    t.own_mounts()
    t.tmpfs("/sys/fs/cgroup")


def ran_into(result, report, limit, value, code=123):
    equal((result.code, report["exit"]["kind"], report["exit"]["code"], report["exit"]["limit"]),
          (code, "limit", code, limit), "the end", result)
    contains(result.err, f"[ringfence] the command ran into its limit: {limit} ({value})", "the notice")


ALL = ("--memory", "256M", "--cpus", "1", "--processes", "50", "--open-files", "64", "--file-size",
       "10M", "--tmp-size", "4M", "--disk", "50M", "--timeout", "1m")


@cases("with groups", "without")
def test_the_report_says_what_keeps_each_limit(t, groups):
    if groups == "without":
        without_groups(t)
    result, report = t.report("true", opts=ALL)
    equal((result.code, result.err), (0, ""), "the run", result)
    limits = report["limits"]
    equal({name: limit["value"] for name, limit in limits.items()},
          {"memory": 256 * MEGA, "cpus": 1000, "processes": 50, "open-files": 64,
           "file-size": 10 * MEGA, "tmp-size": 4 * MEGA, "disk": 50 * MEGA, "time": 60000}, "values")
    how = {name: limit["how"] for name, limit in limits.items()}
    for name, other in (("memory", "watched"), ("cpus", "affinity"), ("processes", "rlimit")):
        expect(how[name] == other or (groups != "without" and how[name] in GROUPS), name, how)
    equal([how[n] for n in ("open-files", "file-size", "tmp-size", "disk", "time")],
          ["rlimit", "rlimit", "tmpfs", "watched", "timer"], "how")
    equal((report["exit"]["limit"], report["weaker"]), (None, []), "nothing was run into", report)


@root_only
def test_root_gets_control_groups(t):
    """Also on a machine without systemd."""
    if not os.access("/sys/fs/cgroup/memory", os.W_OK):
        raise Skip("no hierarchy of version 1 that root may write")
    result, report = t.report("true", opts=("--memory", "64M", "--cpus", "0.5", "--processes", "9"))
    equal(result.code, 0, "exit status", result)
    equal({limit["how"] for limit in report["limits"].values()}, {"cgroup v1"}, "how", report)


def test_without_limits_the_report_has_none_and_says_what_was_used(t):
    result, report = t.report("sh", "-c", "dd if=/dev/zero of=x bs=1M count=3 conv=fsync; "
                              f"{PYTHON} -c 'x = bytearray(40 << 20)\nfor i in range(3000000): pass'")
    equal(result.code, 0, "exit status", result)
    equal(report["limits"], {}, "limits")
    use = report["use"]
    equal(sorted(use), ["cpu_ms", "disk_written", "memory_peak", "processes_peak"], "fields of use")
    expect(20 <= use["cpu_ms"] < 20000, "CPU", use)
    expect(40 * MEGA <= use["memory_peak"] < 400 * MEGA, "memory of the largest process", use)
    expect(use["disk_written"] == 0 or 3 * MEGA <= use["disk_written"] < 30 * MEGA, "disk", use)
    expect(2 <= use["processes_peak"] < 20, "processes", use)


@cases("with groups", "without")
@timeout(240)
def test_memory_is_limited(t, groups):
    if groups == "without":
        without_groups(t)
    script = TAKE_MEMORY.format(400)
    result, report = t.report(PYTHON, "-c", script, opts=("--memory", "64M"))
    ran_into(result, report, "memory", "64M")
    lacks(result.out, "took it", "stdout")
    expect(32 * MEGA < report["use"]["memory_peak"] < 400 * MEGA, "the peak", report)
    contains(t.works(PYTHON, "-c", script, opts=("--memory", "1G")), "took it", "the control")


@cases("with groups", "without")
def test_files_in_memory_do_not_get_around_the_limit_of_memory(t, groups):
    if groups == "without":
        without_groups(t)
    script = "for f in /tmp/x /dev/shm/x ~/x; do dd if=/dev/zero of=$f bs=1M count=40; done; true"
    result = t.sh(script, opts=("--memory", "32M"))
    equal(result.code, 0, "the last command's status", result)
    expect("No space left" in result.err or "limit: memory" in result.err, "they end somewhere", result)
    control = t.sh(script)
    equal(control.err.count("40+0 records out"), 3, "the control", control)
    lacks(control.err, "No space", "the control")


def burn(t, *opts):
    """The share of a CPU that two busy processes get, in percent; on a busy machine they run for longer than a second."""
    _, report = t.report("sh", "-c", "while :; do :; done & while :; do :; done",
                         opts=("--timeout", "1s", *opts))
    return report["use"]["cpu_ms"] * 100 // report["duration_ms"]


@root_only
def test_a_part_of_a_cpu_is_kept_by_a_group(t):
    _, report = t.report("true", opts=("--cpus", "0.2"))
    expect(report["limits"]["cpus"]["how"] in GROUPS, "how", report)
    spent, control = burn(t, "--cpus", "0.2"), burn(t)
    expect(spent < 45, "what 0.2 CPUs are, in hundredths", spent)
    if control < 60:
        raise Skip(f"the machine is busy: without a limit {control} hundredths of a CPU, so no control")


def test_whole_cpus_are_kept_without_a_group(t):
    without_groups(t)
    result = t.sh("nproc; taskset -pc 0-63 $$ >/dev/null && echo other CPUs; nproc", opts=("--cpus", "1"))
    equal(result.out, "1\n1\n", "CPUs inside", result)
    contains(result.err, "not permitted", "choosing others")
    result = t.sh("taskset -pc 0-63 $$ >/dev/null && echo other CPUs")
    equal(result.out, "other CPUs\n", "the control", result)


def test_a_part_of_a_cpu_is_refused_without_a_group_unless_the_user_accepts_it(t):
    without_groups(t)
    refused_before_start(t, "--cpus", "0.5", says=("cpus (0.5)", "--accept-weaker cpus"))
    result, report = t.report("echo", "ran", opts=("--cpus", "0.5", "--accept-weaker", "cpus"))
    equal((result.code, result.out), (0, "ran\n"), "when it is accepted", result)
    equal((report["weaker"], report["limits"]["cpus"]["how"]), (["cpus"], "affinity"), "the report")
    contains(result.err, "cpus (0.5) is not enforced", "the notice")


def test_accepting_that_a_limit_is_missing_keeps_it_where_it_can_be_had(t):
    _, report = t.report("true", opts=("--open-files", "64", "--accept-weaker", "open-files"))
    equal((report["weaker"], report["limits"]["open-files"]["how"]), ([], "rlimit"), "the report")


@user_only
@cases(("processes", "9"), ("tmp-size", "1M"), ("cpus", "1"))
def test_without_a_fence_some_limits_are_refused(t, name, value):
    result = t.fence("echo", "ran", opts=("--i-accept-no-fence", f"--{name}", value))
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, f"--accept-weaker {name}", "the reason")
    result, report = t.report("echo", "ran", opts=("--i-accept-no-fence", f"--{name}", value,
                                                   "--accept-weaker", name))
    equal((result.code, result.out), (0, "ran\n"), "when it is accepted", result)
    equal((report["weaker"], report["limits"][name]["how"]), (["no fence", name], "none"), "the report")


@user_only
def test_without_a_fence_memory_is_still_limited(t):
    opts = ("--i-accept-no-fence", "--memory", "64M")
    result, report = t.report(PYTHON, "-c", TAKE_MEMORY.format(600), opts=opts)
    ran_into(result, report, "memory", "64M")


SLEEPERS = "i=0; while [ $i -lt {0} ]; do sleep {1} & i=$((i+1)); done; echo there; wait"


@cases("with groups", "without")
def test_processes_are_limited(t, groups):
    if groups == "without":
        without_groups(t)
    result, report = t.report("sh", "-c", SLEEPERS.format(40, 60), opts=("--processes", "20"))
    ran_into(result, report, "processes", "20")
    expect(10 <= report["use"]["processes_peak"] <= 20, "the peak", report)
    equal(t.sh(SLEEPERS.format(40, 0.5), opts=("--processes", "60")).code, 0, "the control")


@cases("with groups", "without")
def test_the_limit_of_processes_is_exact(t, groups):
    """The command's own are counted, and nothing else."""
    if groups == "without":
        without_groups(t)
    equal(t.works("echo", "one", opts=("--processes", "1")), "one\n", "one process")
    equal(t.sh("/bin/true; exit 0", opts=("--processes", "2")).code, 0, "two")
    result, report = t.report("echo", "one", opts=("--processes", "1"))
    equal((result.err, report["exit"]["limit"]), ("", None), "all in use, and none refused", result)
    result = t.sh("/bin/true; exit 0", opts=("--processes", "1"))
    contains(result.err, "fork", "one that wants another")


def test_the_limit_of_processes_is_the_fences_own(t):
    """Other processes of the same user do not count, whatever enforces the limit."""
    without_groups(t)
    for _ in range(12):
        t.sleeper()
    other = t.fence_start("sh", "-c", SLEEPERS.format(12, 600))
    equal(other.stdout.readline(), b"there\n", "the others")
    equal(t.sh(SLEEPERS.format(8, 0.5), opts=("--processes", "10")).code, 0, "eight of ten")
    other.terminate()
    t.communicate(other)


def test_open_files_are_limited(t):
    script = ("import time\nl = []\ntry:\n  while len(l) < 500: l.append(open('/dev/null'))\n"
              "except OSError as e: print(e.errno, flush=True); time.sleep({})\nraise SystemExit(len(l) < 500)")
    for seconds in (0.6, 3, 15, 60):  # until the watch has looked, which takes longer on a busy machine
        result, report = t.report(PYTHON, "-c", script.format(seconds), opts=("--open-files", "64"))
        if report["exit"]["limit"]:
            break
    equal(result.out, "24\n", "EMFILE", result)
    ran_into(result, report, "open-files", "64")
    equal(t.fence(PYTHON, "-c", script).code, 0, "the control")


def test_the_size_of_files_is_limited(t):
    script = "dd if=/dev/zero of=x bs=64K count=64"
    result, report = t.report("sh", "-c", script, opts=("--file-size", "1M"))
    ran_into(result, report, "file-size", "1M")
    equal(os.path.getsize(t.path("x")), MEGA, "what was written")
    equal(t.sh(script).code, 0, "the control")


@cases("/tmp", "/dev/shm", "$HOME")
def test_the_size_of_tmp_is_limited(t, place):
    script = f"dd if=/dev/zero of={place}/x bs=64K count=64"
    result, report = t.report("sh", "-c", script, opts=("--tmp-size", "1M"))
    ran_into(result, report, "tmp-size", "1M")
    contains(result.err, "No space left on device", "what dd says")
    equal(t.sh(script).code, 0, "the control")


def test_the_number_of_files_in_tmp_is_limited(t):
    script = "mkdir /tmp/d; i=0; while [ $i -lt 1500 ]; do : > /tmp/d/$i || exit 1; i=$((i+1)); done"
    result, report = t.report("sh", "-c", script, opts=("--tmp-size", "1M"))
    ran_into(result, report, "tmp-size", "1M")
    equal(t.sh(script).code, 0, "the control")


# A megabyte and a pause, again and again: a watch that looks four times a second is in time even on a busy machine.
FILL = "i=0; while [ $i -lt {0} ]; do dd if=/dev/zero of=x bs=1M count=1 conv=fsync 2>/dev/null; sleep 0.03; i=$((i+1)); done"
ORPHANS = "i=0; while [ $i -lt {0} ]; do (dd if=/dev/zero of=x$i bs=1M count=1 conv=fsync 2>/dev/null &); sleep 0.03; i=$((i+1)); done"
ALONE = PYTHON + """ -c '
import os, time
for i in range({0}):
    os.write(1, bytes(1 << 20))
    os.fsync(1)
    time.sleep(0.03)
' >x"""


def test_what_is_written_to_disk_is_limited(t):
    """Whether by one process, by many that have ended, or by orphans."""
    t.needs_counted_writes()
    for script in (ALONE, FILL, ORPHANS):
        result, report = t.report("sh", "-c", script.format(200), opts=("--disk", "20M"))
        ran_into(result, report, "disk", "20M")
        expect(20 * MEGA <= report["use"]["disk_written"] < 180 * MEGA, "what was written, of 200 MB", report)
    equal(t.sh(FILL.format(8), opts=("--disk", "20M")).code, 0, "the control")


@user_only
def test_a_process_that_hides_what_it_writes_cannot_get_around_the_limit_of_disk(t):
    script = ("import ctypes, time\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\ntime.sleep(20)")
    result, report = t.report(PYTHON, "-c", script, opts=("--disk", "20M"))
    ran_into(result, report, "disk", "20M")
    contains(result.err, "did not show what it wrote", "the notice")
    equal(t.fence(PYTHON, "-c", script.replace("20)", "0.2)")).code, 0, "the control")


def test_a_limit_that_was_met_is_named_also_if_the_command_succeeds(t):
    result, report = t.report("sh", "-c", "dd if=/dev/zero of=/tmp/x bs=64K count=64; true",
                              opts=("--tmp-size", "1M"))
    equal((result.code, report["exit"]["kind"], report["exit"]["limit"]), (0, "ok", "tmp-size"),
          "the end", result)
    contains(result.err, "ran into its limit: tmp-size (1M)", "the notice")


def test_a_failure_without_a_limit_being_met_stays_the_commands_own(t):
    result, report = t.report("sh", "-c", "exit 3", opts=ALL)
    equal((result.code, report["exit"]["kind"], report["exit"]["limit"]), (3, "command", None), "the end")


@cases(("--memory", "lots"), ("--memory", "1K"), ("--memory", "-1"), ("--cpus", "0"), ("--cpus", "1,5"),
       ("--processes", "0"), ("--processes", "1K"), ("--open-files", "2"), ("--file-size", "0"),
       ("--tmp-size", "1"), ("--disk", ""), ("--disk", "99999999999999999999"),
       ("--accept-weaker", "time-and-space"))
def test_a_bad_limit_is_refused(t, option, value):
    refused_before_start(t, option, value, says=value)


def version_2_folder():
    """Where the hierarchy of version 2 is mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file if " - cgroup2 " in line]
    if not mounts:
        raise Skip("no hierarchy of version 2 is mounted")
    return mounts[0][4]


@user_only
def test_where_the_groups_are_systemds_it_is_asked_for_one(t):
    """By becoming systemd-run with this very command line, once."""
    version_2_folder()
    log = os.path.join(t.outside, "log")
    fake = t.script("systemd-run", f"#!/bin/sh\necho \"$@\" >>{log}\n"
                    "while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")
    run = os.path.join(t.outside, "run")
    t.serve(os.path.join(run, "systemd/private"))
    env = t.env(RINGFENCE_SYSTEMD_RUN=fake, XDG_RUNTIME_DIR=run)
    result = t.fence("echo", "a  b", "", "--", opts=("--memory", "64M"), env=env)
    equal((result.code, result.out), (0, "a  b  --\n"), "the command", result)
    lines = t.read(log).splitlines()
    equal(len(lines), 1, "times that it was asked", lines)
    for word in ("--user", "--scope", "Delegate=yes"):
        contains(lines[0], word, "what it was asked for")
    t.fence("true", env=env)
    equal(len(t.read(log).splitlines()), 1, "without a limit it is not asked")


OTHER = 12321
JOIN = """#!/bin/sh
echo "$@" >>{log}
mkdir -p {group} && echo $$ >{group}/cgroup.procs || exit 1
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


@root_only
@cases("with a limit", "without")
def test_root_asks_systemd_for_a_group_that_the_owner_of_the_project_gets(t, limit):
    """Root has become the owner by the time it knows the limits, and the owner may have no manager."""
    group = os.path.join(version_2_folder(), f"ringfence-test-{os.getpid()}")
    log = os.path.join(t.outside, "log")
    fake = t.script("systemd-run", JOIN.format(log=log, group=group))
    outside = os.path.join(group, "ringfence-outside")
    t.cleanups.append(lambda: [os.rmdir(path) for path in (outside, group) if os.path.isdir(path)])
    os.chown(t.project, OTHER, OTHER)
    state = os.path.join(t.outside, "state")
    os.mkdir(state)
    os.chown(state, OTHER, OTHER)
    t.own_mounts()
    t.tmpfs("/run")
    t.serve("/run/systemd/private")
    process = t.fence_start("sh", "-c", "echo ready; read line", stdin=subprocess.PIPE,
                            opts=("--memory", "64M") if limit == "with a limit" else (),
                            env=t.env(RINGFENCE_SYSTEMD_RUN=fake, RINGFENCE_STATE_DIR=state))
    equal(process.stdout.readline(), b"ready\n", "the command")
    if limit == "without":
        expect(not os.path.exists(log), "without a limit it is not asked", log)
    else:
        lines = t.read(log).splitlines()
        equal(len(lines), 1, "times that it was asked", lines)
        for word in ("--scope", "Delegate=yes"):
            contains(lines[0], word, "what it was asked for")
        lacks(lines[0], "--user", "the manager is the system's")
        with open(f"/proc/{process.pid}/cgroup", encoding="utf-8") as file:
            contains(file.read(), f"0::/{os.path.basename(group)}/ringfence-outside\n",
                     "the group of ringfence")
        for name in ("", "cgroup.procs", "cgroup.subtree_control"):
            equal(os.stat(os.path.join(group, name)).st_uid, OTHER, f"the owner of '{name}'")
        equal(os.stat(os.path.join(group, "cgroup.max.depth")).st_uid, 0, "the owner of all else")
    equal(t.finish(process, b"\n").code, 0, "exit status")


def started(pid):
    """When a process started, as /proc tells it: with its number, this names one process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[19]


@root_only
@cases("itself", "another with its number", "a crowd")
def test_a_scope_adopts_only_the_process_that_asked(t, member):
    """The owner of the project can kill the process that asks, and have its number given to another."""
    group = os.path.join(version_2_folder(), f"ringfence-test-{os.getpid()}")
    os.mkdir(group)
    asks = t.start(["sh", "-c", "read line"], stdin=subprocess.PIPE)
    beside = t.start(["sh", "-c", "read line"], stdin=subprocess.PIPE)
    t.cleanups.append(lambda: (t.kill(asks), t.kill(beside), os.rmdir(group)))
    if member == "a crowd":
        t.write(os.path.join(group, "cgroup.procs"), str(beside.pid))
    birth = "1" if member == "another with its number" else started(asks.pid)
    script = f"echo $$ >{group}/cgroup.procs && exec {t.ringfence} adopt {asks.pid} {birth}"
    result = t.run(["sh", "-c", script])
    with open(f"/proc/{asks.pid}/cgroup", encoding="utf-8") as file:
        moved = f"0::/{os.path.basename(group)}\n" in file.read()
    equal((result.code == 0, moved), (member == "itself",) * 2, "it was adopted", result)
    if member != "itself":
        contains(result.err, {"a crowd": "is not alone in its cgroup"}.get(
            member, f"process {asks.pid} is another one"), "the reason")
    for process in (asks, beside):
        t.finish(process, b"\n")


@root_only
def test_a_systemd_that_does_not_answer_holds_nobody_up_for_ever(t):
    log = os.path.join(t.outside, "log")
    fake = t.script("systemd-run", f"#!/bin/sh\necho asked >{log}\nexec sleep 1000\n")
    os.chown(t.project, OTHER, OTHER)
    state = os.path.join(t.outside, "state")
    os.mkdir(state)
    os.chown(state, OTHER, OTHER)
    t.own_mounts()
    t.tmpfs("/run")
    t.serve("/run/systemd/private")
    t.fence("true", opts=("--memory", "64M"),
            env=t.env(RINGFENCE_SYSTEMD_RUN=fake, RINGFENCE_STATE_DIR=state))
    equal(t.read(log), "asked\n", "what it was waiting for")


def groups_of(pid):
    """The folders of the run that a process is in."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    mounts = {names: f"/sys/fs/cgroup/{names}" if names else version_2_folder() for _, names, _ in lines}
    return [mounts[names] + path for _, names, path in lines if "/ringfence-" in path]


def members(process):
    out = []
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        out = file.read().split()
    return out


@root_only
@cases(signal.SIGKILL, signal.SIGTERM)
def test_no_group_is_left(t, number):
    """After a kill -9 the next start removes it."""
    t.leftover_runs = True
    process = t.fence_start("sh", "-c", "echo ready; exec sleep 600",
                            opts=("--memory", "64M", "--processes", "9", "--cpus", "1"))
    equal(process.stdout.readline(), b"ready\n", "the command")
    folders = groups_of(members(process)[0])
    if not folders:
        raise Skip("no control group could be made")
    for folder in folders:
        expect(os.path.isdir(folder), "the group of a run that goes on", folder)
    t.works("true", opts=("--memory", "64M"))
    for folder in folders:
        expect(os.path.isdir(folder), "another start leaves it alone", folder)
    process.send_signal(number)
    t.communicate(process)
    t.all_gone()
    if number == signal.SIGKILL:
        t.works("true")
    equal([folder for folder in folders if os.path.exists(folder)], [], "groups that are left")


def test_a_group_cannot_be_seen_from_inside(t):
    out = t.works("sh", "-c", "cat /proc/self/cgroup; ls /sys 2>&1; true", opts=("--memory", "64M"))
    lacks(out, "ringfence-", "what is seen inside")
    expect(not re.search(r":/\w", out), "the path of a group", out)
