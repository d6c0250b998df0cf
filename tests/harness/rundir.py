"""The folder of one test run: copies of the built tree, and the check that nothing is left."""

import contextlib
import fcntl
import glob
import itertools
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile

from . import kernel

# A uid that no passwd file knows. Containers have such users, so nothing may depend on a name.
PLAIN_UID = 12321
TABLES = ("src/fence/plan/names.txt", "docs/fence.md")
PROGRAMS = ("ringfence", "ringfence-init", "ringfence-snapshot", "ringfence-gateway",
            "ringfence-agent", "ringfence-https", "ringfence-serve", "tests/gateway_owner", "tests/https_caller", "tests/changes_reader")
FOLDERS = ("tests", "scripts", "packaging")
PREFIX = "rft."
LEFTOVER_GRACE_S = 20
DISK_BYTES = 4 << 30  # sparse
ADMIN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


def make():
    """Makes a new folder. Its name is not random, because a test may search for a word that random letters could spell."""
    for number in itertools.count(1):
        with contextlib.suppress(FileExistsError):
            folder = os.path.join(tempfile.gettempdir(), f"{PREFIX}{os.getpid()}.{number}")
            os.mkdir(folder, 0o755)  # bwrap 0.12 opens each folder above a mount for reading
            return folder


def _available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))


def mount_disk(folder):
    """Mounts a disk of the run's own there, if root has enough memory for it: an ext4 image, which is in memory.

    Most files of a test live for less than a second, and a quarter of the suite's time went to the machine's own disk.
    The mounts are seen by this process and what it starts, and end with them.
    """
    if os.getuid() != 0 or _available_bytes() < 2 * DISK_BYTES:
        return
    try:
        kernel.own_mounts()
        kernel.mount("tmpfs", folder, "tmpfs", 0, f"mode=755,size={DISK_BYTES}")
        image = os.path.join(folder, "disk")
        with open(image, "wb") as file:
            file.truncate(DISK_BYTES)
        # Two projects of a hundred thousand files, and a copy of one, have more than the usual number of inodes.
        for argv in (["mkfs.ext4", "-q", "-F", "-m0", "-i", "4096", "-E", "lazy_itable_init=1,nodiscard", image],
                     ["mount", "-o", "loop,discard,noinit_itable", image, folder]):
            subprocess.run(argv, env=ADMIN, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=True)
        os.chmod(folder, 0o755)
        os.rmdir(os.path.join(folder, "lost+found"))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"-- the tests use the machine's own disk: {error}", flush=True)
        _unmount_disk(folder)


def _unmount_disk(folder):
    while os.path.ismount(folder):
        kernel.unmount(folder)


def remove_stale():
    """Removes the folders of runs that were killed."""
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), f"{PREFIX}*.*")):
        pid = os.path.basename(folder).split(".")[1]
        with contextlib.suppress(OSError):
            if (pid.isdigit() and not os.path.exists(f"/proc/{pid}")
                    and os.lstat(folder).st_uid == os.getuid()):
                remove_tree(folder)


def remove_tree(path):
    """Calls rm if need be, which copes with any depth, and opens the modes that a test may have closed."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    subprocess.run(["rm", "-rf", "--", path], **quiet)
    if os.path.lexists(path):
        subprocess.run(["chmod", "-R", "u+rwx", "--", path], **quiet)
        subprocess.run(["rm", "-rf", "--", path], **quiet)


def spread(folder):
    """Lets ext4 put each subfolder into another group of inodes.

    Where thousands of files come and go, ext4 searches all inodes that were freed lately before it
    takes one, which was half of the suite's time. Other file systems ignore this.
    """
    get_flags, set_flags, top_of_hierarchies = 0x80086601, 0x40086602, 0x20000
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            flags = struct.unpack("L", fcntl.ioctl(fd, get_flags, bytes(8)))[0]
            fcntl.ioctl(fd, set_flags, struct.pack("L", flags | top_of_hierarchies))
        finally:
            os.close(fd)


def uid_of(identity):
    return PLAIN_UID if identity == "user" and os.getuid() == 0 else os.getuid()


def copy_tree(root, build, folder, uid):
    """Copies programs, tests, source checks and packaging, owned by uid: a later build does not disturb."""
    target = os.path.join(folder, "build")
    os.makedirs(target)
    for program in PROGRAMS:
        shutil.copy(os.path.join(build, program), target)
    shutil.copytree(os.path.join(build, "demo"), os.path.join(target, "demo"),
                    ignore=shutil.ignore_patterns("*.p"))
    for name in FOLDERS:
        shutil.copytree(os.path.join(root, name), os.path.join(folder, name),
                        ignore=shutil.ignore_patterns("__pycache__", "fuzz"))
    for name in TABLES:
        os.makedirs(os.path.dirname(os.path.join(folder, name)))
        shutil.copy(os.path.join(root, name), os.path.join(folder, name))
    for base, folders, files in os.walk(folder):
        for name in [base, *(os.path.join(base, n) for n in folders + files)]:
            os.chown(name, uid, uid, follow_symlinks=False)


def expect_reports(tree):
    """Sanitized programs of any user append to this file, see tests/sanitizer.c."""
    path = os.path.join(tree, "build/sanitizer.log")
    with open(path, "w", encoding="ascii"):
        os.chmod(path, 0o666)


def reports(trees):
    """The texts of the sanitizers' reports, without warnings about stacks of our own (clone)."""
    noise = re.compile(r".*ignoring requested __asan_handle_no_return.*\n.*\n.*\n")
    for tree in trees:
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(tree, "build/sanitizer.log"), errors="replace") as file:
                text = noise.sub("", file.read())
            if text:
                yield text


def make_home(temp, identity):
    """The folder below which each test of this identity gets its own."""
    return _make_spread(temp, identity[0], uid_of(identity))


def make_units(temp):
    """The folder below which each unit test gets its own."""
    return _make_spread(temp, "unit", os.getuid())


def _make_spread(temp, name, uid):
    folder = os.path.join(temp, name)
    os.makedirs(folder)
    spread(folder)
    os.chown(folder, uid, uid)
    return folder


def _musl():
    """Options for a small program (meson.build has the same); without musl, glibc is used."""
    machine = os.uname().machine
    specs = f"/usr/lib/{machine}-linux-musl/musl-gcc.specs"
    if not os.path.exists(specs):
        return []
    return [f"-specs={specs}", "-idirafter", "/usr/include", "-idirafter", f"/usr/include/{machine}-linux-gnu"]


def compile_attack(tests, folder):
    program = os.path.join(folder, "attack")
    sources = sorted(glob.glob(os.path.join(tests, "escape/attack*.c")))
    subprocess.run(["cc", *_musl(), "-static", "-s", "-O1", "-std=gnu17", "-Wall", "-Wextra", "-Werror",
                    "-o", program, *sources], check=True)
    os.chmod(program, 0o755)
    return program


def _marked_processes(mark):
    """Processes with the run's mark in their command line, environment or working directory."""
    found = []
    needle = mark.encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
                if needle in file.read():
                    found.append((int(pid), kernel.command_line(int(pid))))
                    break
        else:
            with contextlib.suppress(OSError):
                if mark in os.readlink(f"/proc/{pid}/cwd"):
                    found.append((int(pid), kernel.command_line(int(pid))))
    return found


def _end_children():
    """Ends everything that is still below this process, and returns what there was."""
    seen = {}
    left = kernel.wait_for_children(LEFTOVER_GRACE_S)
    while left:
        seen.update(left)
        for pid, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # This process adopts the children of the dead, and finds them in the next round.
        left = kernel.wait_for_children(1)
    return list(seen.items())


def leftovers(temp):
    """Removes the folder; yields (claim, evidence) for everything that the run left behind."""
    mark = os.path.basename(temp)
    for pid, command in _end_children() + _marked_processes(mark):
        yield "no process is left", f"{pid}: {command}"
    _unmount_disk(temp)
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if mark in line:
                yield "no mount is left", line
    remove_tree(temp)
    if os.path.lexists(temp):
        yield "no file is left", temp
