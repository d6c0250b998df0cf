"""Items 24 to 30: handles, setuid, devices, folding, odd names, and policies that would open all."""

import os
import shutil

from harness import (Skip, cases, contains, denied_inside_allowed_outside, equal, expect, lacks,
                     not_possible_inside, refused_before_start, root_only)
from harness.control import attack_inside, attack_outside

OUTSIDE_FOR_ROOT = {"root": "outside", "user": None}
PLAIN = ["setpriv", "--reuid", "12322", "--regid", "12322", "--clear-groups", "--"]


def test_24_a_file_cannot_be_opened_by_its_handle(t):
    t.write("plain", "x")
    denied_inside_allowed_outside(t, "handle", t.project, t.path("plain"),
                                  control=OUTSIDE_FOR_ROOT)


@cases("chmod", "fchmod", "fchmodat", "fchmodat2")
def test_25_a_setuid_bit_cannot_be_set(t, how):
    for mode in ("4755", "2755", "6777"):
        path = t.write(f"file-{mode}", "x", 0o755)
        denied_inside_allowed_outside(t, "chmod", how, mode, path, unchanged=[path])


@cases("chmod", "fchmod", "fchmodat")
def test_25_other_modes_can_be_set(t, how):
    path = t.write("file", "x", 0o644)
    result = attack_inside(t, "chmod", how, "750", path)
    equal(result.code, 0, "exit status", result)
    equal(os.stat(path).st_mode & 0o7777, 0o750, "the mode")


@cases("open", "openat", "openat2", "creat", "mknod", "mknodat", "tmpfile")
def test_25_a_file_cannot_be_born_with_a_setuid_bit(t, how):
    path = t.project if how == "tmpfile" else t.path("born")
    if how == "tmpfile" and attack_outside(t, "create-mode", how, "4755", path).code:
        raise Skip("the file system has no O_TMPFILE")
    denied_inside_allowed_outside(t, "create-mode", how, "4755", path)


def test_25_a_setuid_program_of_the_host_gains_nothing(t):
    program = next((p for p in ("/usr/bin/passwd", "/usr/bin/su", "/usr/bin/newgrp", "/usr/bin/mount")
                    if os.path.exists(p) and os.stat(p).st_mode & 0o4000), None)
    if not program:
        raise Skip("no setuid program is installed")
    not_possible_inside(t, "suid-gain", program)
    plain = PLAIN if t.identity == "root" else []
    copy = os.path.join(t.outside, "attack")
    shutil.copy(t.attack, copy)
    control = t.run([*plain, copy, "suid-gain", program])
    contains(control.out, "euid: 0", "the control")


@root_only
def test_25_a_setuid_root_file_in_the_project_gains_nothing(t):
    program = t.path("gain")
    shutil.copy(t.attack, program)
    os.chmod(program, 0o4755)
    not_possible_inside(t, "suid-gain", program, "list-fds")
    copy = os.path.join(t.outside, "gain")
    shutil.copy(t.attack, copy)
    os.chmod(copy, 0o4755)
    control = t.run([*PLAIN, os.path.join(t.outside, "gain"), "list-fds"])
    equal(control.out, "denied: EBADF\n", "the control runs", control)
    shutil.copy(t.attack, os.path.join(t.outside, "attack"))
    control = t.run([*PLAIN, os.path.join(t.outside, "attack"), "suid-gain", copy, "list-fds"])
    contains(control.out, "euid: 0", "the control")


def test_25_file_capabilities_cannot_be_set(t):
    denied_inside_allowed_outside(t, "setcap", t.attack, control="bwrap")


def test_26_a_device_cannot_be_made(t):
    for kind, major, minor in (("c", 1, 3), ("c", 5, 1), ("b", 7, 0)):
        path = t.path(f"device-{kind}{major}")
        denied_inside_allowed_outside(t, "mknod", kind, major, minor, path,
                                      control=OUTSIDE_FOR_ROOT, unchanged=[path])


DEVICES = ("mem", "kmem", "port", "kmsg", "vda", "sda", "nvme0n1", "loop0", "loop-control", "fuse",
           "kvm", "vsock", "net/tun", "tty1", "userfaultfd", "hwrng", "console", "input/event0", "vhost-net",
           "snapshot", "btrfs-control", "autofs", "cpu_dma_latency", "rtc0", "dri/card0", "nvidia0")


def test_26_no_device_of_the_host_can_be_opened(t):
    there = [f"/dev/{name}" for name in DEVICES if os.path.exists(f"/dev/{name}")]
    mine = [path for path in there if os.access(path, os.R_OK | os.W_OK)]
    if not mine:
        raise Skip("this user can open none of them outside, so there is no control")
    inside = t.sh("".join(f"./attack open-write {path};" for path in there))
    equal(inside.out, "denied: ENOENT\n" * len(there), "inside", inside)


@cases("null", "zero", "full", "random", "urandom", "tty", "ptmx", "stdin", "fd", "shm", "pts")
def test_26_the_devices_that_every_program_needs_are_there(t, name):
    t.works("test", "-e", f"/dev/{name}", "-o", "-L", f"/dev/{name}")


def test_26_nothing_else_is_in_dev(t):
    names = set(t.works("ls", "-A", "/dev").split())
    usual = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "stdin",
             "stdout", "stderr", "core", "console", "mqueue"}
    equal(sorted(names - usual), [], "unusual names in /dev")


@root_only
def test_27_case_variants_of_protected_names_on_a_folding_file_system(t):
    image = os.path.join(t.outside, "image")
    with open(image, "wb") as file:
        file.truncate(32 << 20)
    with open("/proc/filesystems", encoding="ascii") as file:
        if "vfat" not in file.read().split():
            raise Skip("this kernel has no file system that folds case (neither vfat nor casefold)")
    if not shutil.which("mkfs.vfat") or t.run(["mkfs.vfat", image]).code:
        raise Skip("mkfs.vfat is not installed")
    t.own_mounts()
    if t.run(["mount", "-o", "loop,umask=0", image, t.project]).code:
        raise Skip("vfat cannot be mounted here")
    shutil.copy(t.attack_source, t.attack)
    for name in (".git/config", ".vscode/tasks.json", ".env"):
        t.write(name, "before")
    inside = t.sh("for f in .GIT/config .VSCode/TASKS.json .ENV; do ./attack write $f; done")
    equal(inside.out.count("denied: "), 3, "denials", inside)
    outside = t.run(["sh", "-c", "./attack write .GIT/config"])
    equal(outside.code, 0, "the control", outside)


ODD = "evil\n\x1b[31mname"
PLANT = 'mkdir -p "$1/.vscode" && : > "$1/.vscode/tasks.json"'


def test_28_control_characters_in_names_are_escaped_in_notices(t):
    result = t.fence("sh", "-c", PLANT, "sh", ODD)
    equal(result.code, 0, "exit status", result)
    expect(not t.exists(f"{ODD}/.vscode/tasks.json"), "the file must not stay", result)
    equal(len(t.quarantined(f"{ODD}/.vscode/tasks.json")), 1, "files kept under their name", result)
    lacks(result.err, "\x1b", "the notice")
    lacks(result.err, "evil\n", "the notice")
    contains(result.err, "\\x1b", "the notice")
    contains(result.err, "\\x0a", "the notice")


def test_28_control_characters_in_arguments_are_escaped_in_errors(t):
    for opts in (("--write", f"{ODD}/x"), ("--cwd", ODD), ("--project", ODD), (f"--{ODD}",),
                 ("--net", ODD), ("--timeout", ODD), ("--listen", ODD), ("--env", ODD)):
        result = refused_before_start(t, *opts)
        lacks(result.err, "\x1b", "the error")
        equal(len(result.err.strip().splitlines()), 1, "lines of the error", result)


def test_28_control_characters_in_a_commands_name_are_escaped(t):
    result = t.fence(ODD)
    equal(result.code, 127, "exit status", result)
    lacks(result.err, "\x1b", "the error")


def test_28_control_characters_are_escaped_in_the_report(t):
    result, report = t.report("sh", "-c", PLANT, "sh", ODD)
    names = [entry["path"] for entry in report["quarantined"]]
    expect(any("evil" in name for name in names), "the report names the file", report)
    lacks(result.err, "\x1b", "the notice")
    with open(os.path.join(t.outside, "report.json"), "rb") as file:
        lacks(file.read(), b"\x1b", "the report")


@cases("--hide", "--read", "--write", "--project", "--cwd")
def test_29_an_overlong_path_is_refused(t, option):
    for path in ("a/" * 5000, "b" * 300, "c" * 10000, f"{t.project}/{'d' * 256}/x"):
        refused_before_start(t, option, path)


def test_29_the_longest_path_that_the_kernel_takes_can_be_hidden(t):
    name = "/".join(["x" * 200] * 15)
    path = t.write(name, "secret")
    expect(len(path) < 4096, "the path is legal", len(path))
    denied_inside_allowed_outside(t, "read", path, opts=("--hide", name))


def spellings(t):
    os.symlink("/", t.path("to-root"))
    os.symlink(t.home, t.path("to-home"))
    os.symlink("to-home", t.path("to-to-home"))
    os.symlink(t.folder, t.path("to-above"))
    return ["/", "//", "/.", "/../..", "~", "~/", t.home, f"{t.home}/", f"{t.home}/.", "..", "./..",
            f"{t.project}/..", f"{t.project}/../../home", f"{t.home}/project/../", "to-root",
            "to-root/", "to-home", "to-home/.", "to-to-home", f"to-root{t.home}", t.folder,
            "to-above", "/proc/self/root", "/proc/self/cwd/..", "/home/..", "$HOME"]


def test_30_a_policy_that_makes_root_or_home_writable_is_refused(t):
    for path in spellings(t):
        before = sorted(os.listdir(t.home))
        result = t.sh(f"echo ran; echo x > {t.home}/planted; echo x > {t.folder}/planted",
                      opts=("--write", path))
        expect(result.code == 125 and not result.out, f"--write {path!r} should be refused", result)
        expect(result.err.startswith("ringfence: "), "with a reason", result)
        equal([n for n in sorted(os.listdir(t.home)) if n != ".local"],
              [n for n in before if n != ".local"], "names in the home")
    os.mkdir(t.path("sub"))
    t.works("sh", "-c", "echo x > sub/file", opts=("--write", "sub"))


def test_30_a_project_that_is_root_or_home_is_refused(t):
    for path in spellings(t):
        refused_before_start(t, "--project", path)
    t.works("true", opts=("--project", t.project))


@cases(("HOME", 125), ("XDG_STATE_HOME", 0), ("RINGFENCE_STATE_DIR", 125))
def test_30_a_relative_folder_in_the_environment_is_not_taken(t, name, code):
    """It could be a folder that the agent has planted in the project."""
    os.mkdir(t.path("planted"))
    result = t.fence("true", env=t.env(**{name: "planted"}))
    equal(result.code, code, "exit status", result)
    equal(os.listdir(t.path("planted")), [], "what was put there")
