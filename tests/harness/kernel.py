"""The few system calls that Python does not offer: namespaces, mounts, sub-reaping, keys."""

import contextlib
import ctypes
import errno
import fcntl
import math
import os
import signal
import socket
import struct

from .case import Skip
from .patience import crowding

NEWNS, NEWUSER, NEWNET = 0x20000, 0x10000000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE, MS_SHARED = 1, 32, 4096, 8192, 16384, 1 << 18, 1 << 20
MNT_DETACH = 2
IFF_UP, SIOCSIFFLAGS = 1, 0x8914
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _bytes(value):
    return None if value is None else os.fsencode(value)


def unshare(flags):
    _check(_libc.unshare(flags), "unshare")


def mount(source, target, fstype=None, flags=0, data=None):
    _check(_libc.mount(_bytes(source), _bytes(target), _bytes(fstype), ctypes.c_ulong(flags),
                       _bytes(data)), f"mount {target}")


def unmount(target):
    """At once for everyone, and for good when the last user has left."""
    _check(_libc.umount2(_bytes(target), MNT_DETACH), f"unmount {target}")


def become_subreaper():
    _check(_libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def die_with_parent(signal_number):
    _check(_libc.prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0), "prctl")


def become_plain_user(uid):
    """Gives up root for good. Without an exec the kernel would keep /proc/self for root."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _check(_libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def syscall(number, *args):
    _libc.syscall.restype = ctypes.c_long
    fixed = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _check(_libc.syscall(ctypes.c_long(number), *fixed), f"syscall {number}")


def shm_new(text):
    """A System V segment that holds the text; returns its id."""
    _libc.shmat.restype = ctypes.c_void_p
    segment = _check(_libc.shmget(0, ctypes.c_size_t(4096), 0o1666), "shmget")
    at = _libc.shmat(segment, None, 0)
    ctypes.memmove(at, text.encode() + b"\0", len(text) + 1)
    return segment


def shm_remove(segment):
    _libc.shmctl(segment, 0, None)


def mqueue_new(name):
    _check(_libc.syscall(ctypes.c_long(240), name[1:].encode(), os.O_CREAT | os.O_EXCL | os.O_RDWR,
                         0o666, None), "mq_open")


def mqueue_remove(name):
    _libc.syscall(ctypes.c_long(241), name[1:].encode())


def own_session_keyring():
    """Keys that are added from now on end with this process."""
    syscall(250, 1, 0)


def add_user_key(name, text):
    """Adds a key to the user's keyring, which expires after a minute."""
    key = syscall(248, b"user", name.encode(), text.encode(), len(text), -4)
    syscall(250, 15, key, 60)
    return key


def revoke_key(key):
    with contextlib.suppress(OSError):
        syscall(250, 3, key)


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


# A reason why a test cannot have a user namespace with one id, or a filter that takes away setuid.
ids_needed = None


def _keep_ids():
    if ids_needed:
        raise Skip(ids_needed)


def _own_user_namespace(extra):
    _keep_ids()
    uid, gid = os.getuid(), os.getgid()
    if uid != 0:
        unshare(NEWUSER | extra)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
        return
    # Root keeps every id, which only a process outside of the new namespace may grant.
    ready, go = os.pipe()
    target = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.close(go)
        os.read(ready, 1)
        for kind in ("uid", "gid"):
            _write(f"/proc/{target}/{kind}_map", "0 0 4294967294")
        os._exit(0)
    os.close(ready)
    unshare(NEWUSER | extra)
    os.close(go)
    os.waitpid(helper, 0)


def own_mounts():
    """This process, and what it starts from now on, has mounts of its own."""
    if os.getuid() == 0:
        unshare(NEWNS)
    else:
        _own_user_namespace(NEWNS)
    mount(None, "/", None, MS_REC | MS_PRIVATE)


def own_network():
    """This process, and what it starts from now on, has a network of its own: a loopback that is up."""
    if os.getuid() == 0:
        unshare(NEWNET)
    else:
        _own_user_namespace(NEWNET)
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


def become_root_of_nothing(extra):
    """Root in a user namespace of this process's own, in which nobody else exists."""
    _keep_ids()
    uid, gid = os.getuid(), os.getgid()
    unshare(NEWUSER | extra)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"0 {uid} 1")
    _write("/proc/self/gid_map", f"0 {gid} 1")


def become_user_again(uid, gid):
    """After become_root_of_nothing(): becomes the original user again, with only that user's rights."""
    unshare(NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} 0 1")
    _write("/proc/self/gid_map", f"{gid} 0 1")


def alone():
    """Is this process in a user namespace with one user?"""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        return file.read().split()[2] == "1"


def forbid_user_namespaces():
    """From now on no user namespace can be made below this process, as on a hardened machine."""
    _own_user_namespace(0)
    _write("/proc/sys/user/max_user_namespaces", "0")


def _filter_calls(*lines, privileged=False):
    """A seccomp filter over this process and what it starts; without privilege it takes away setuid."""
    program = b"".join(struct.pack("HBBI", *line) for line in lines)
    kept = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept)))
    if not privileged:
        _keep_ids()
        _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _check(_libc.prctl(PR_SET_SECCOMP, 2, header, 0, 0), "seccomp")


def skip_syncs():
    """Makes fsync(), fdatasync(), sync() and syncfs() succeed at once, for root and what it starts.

    They took most of the time of e2e: syncfs() waits for the files of all tests.
    """
    load, jump_eq, give, x86_64 = 0x20, 0x15, 0x06, 0xC000003E
    fsync, fdatasync, sync, syncfs = 74, 75, 162, 306
    with contextlib.suppress(OSError):
        _filter_calls((load, 0, 0, 4), (jump_eq, 0, 6, x86_64), (load, 0, 0, 0), (jump_eq, 3, 0, fsync),
                      (jump_eq, 2, 0, fdatasync), (jump_eq, 1, 0, sync), (jump_eq, 0, 1, syncfs),
                      (give, 0, 0, 0x00050000), (give, 0, 0, 0x7FFF0000), privileged=True)


def forbid_calls(first, last):
    """System calls of these numbers do not exist any more for this process and what it starts."""
    load, jump_ge, jump_gt, give = 0x20, 0x35, 0x25, 0x06
    _filter_calls((load, 0, 0, 0), (jump_ge, 0, 2, first), (jump_gt, 1, 0, last), (give, 0, 0, 0x00050000 | errno.ENOSYS),
                  (give, 0, 0, 0x7FFF0000))


def forbid_exchange():
    """Two names cannot be exchanged any more, as on a file system that does not know how to."""
    load, jump_eq, give = 0x20, 0x15, 0x06
    renameat2, flags, exchange = 316, 16 + 4 * 8, 2
    _filter_calls((load, 0, 0, 0), (jump_eq, 0, 3, renameat2), (load, 0, 0, flags), (jump_eq, 0, 1, exchange),
                  (give, 0, 0, 0x00050000 | errno.EINVAL), (give, 0, 0, 0x7FFF0000))


def forbid_links():
    """No file gets a second name any more, as on a file system without hard links."""
    load, jump_eq, give = 0x20, 0x15, 0x06
    linkat, link = 265, 86
    _filter_calls((load, 0, 0, 0), (jump_eq, 1, 0, linkat), (jump_eq, 0, 1, link),
                  (give, 0, 0, 0x00050000 | errno.EPERM), (give, 0, 0, 0x7FFF0000))


def take_the_listener():
    """A seccomp listener over this process and what it starts: the kernel allows no second one.

    The listener is never used: the filter allows everything.
    """
    line = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(line)))
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _libc.syscall.restype = ctypes.c_long
    _check(_libc.syscall(ctypes.c_long(317), 1, 8, header), "seccomp")


def _children_by_thread(pid):
    """As the kernel lists them; it is built without that list where there is no such file."""
    found = []
    with contextlib.suppress(ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def children_of(pid):
    """The direct children, as (pid, command line)."""
    with contextlib.suppress(FileNotFoundError):
        return [(child, command_line(child)) for child in _children_by_thread(pid)]
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found.append((int(entry), command_line(int(entry))))
    return found


def descendants_of(pid):
    found = []
    for child, command in children_of(pid):
        found.append((child, command))
        found.extend(descendants_of(child))
    return found


class _Alarm(Exception):
    pass


def wait_for_children(timeout_s):
    """Reaps until nothing is left below this process, which adopts orphans; returns what is."""
    def ring(*_):
        raise _Alarm
    signal.signal(signal.SIGALRM, ring)
    signal.alarm(math.ceil(timeout_s * crowding()))
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return []
    except _Alarm:
        return descendants_of(os.getpid())
    finally:
        signal.alarm(0)


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()[:200] or "?"
    except OSError as error:
        return errno.errorcode.get(error.errno, "?")
