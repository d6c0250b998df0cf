"""The proof of a denial: the act fails inside, and the very same act succeeds without the fence."""

import os
import stat

from .case import Skip
from .expect import contains, equal, expect

SIGSYS = 31

# Acts whose denial is explained on the terminal; others are not reported.
TOLD = {"create", "write", "open-write", "link-write", "rename-recreate", "unshare", "clone", "setns",
        "mount-tmpfs", "mount-bind", "mount-proc", "remount-rw", "fsopen", "fspick", "open-tree",
        "move-mount", "mount-setattr", "umount", "pivot-root", "chroot", "key-add", "key-find",
        "key-request", "key-session", "bpf", "perf", "userfaultfd", "kexec", "init-module",
        "finit-module", "delete-module", "unix", "tcp", "socket", "truncate", "mkdir", "unlink", "rename",
        "handle"}


def snapshot(path):
    """The state of a path: mode and content, for a folder with everything in it; None if it does not exist."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(info.st_mode):
        return ("link", os.readlink(path))
    if not os.access(path, os.R_OK):
        return ("closed", info.st_mode)
    if stat.S_ISDIR(info.st_mode):
        return ("folder", info.st_mode,
                {name: snapshot(os.path.join(path, name)) for name in sorted(os.listdir(path))})
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            return ("file", info.st_mode, file.read())
    return ("other", info.st_mode)


def attack_outside(t, *args, **options):
    return t.run([t.attack, *map(str, args)], **options)


def attack_in_bwrap(t, *args, binds=(), **options):
    return t.run(t.bwrap_argv(t.attack, *map(str, args), binds=binds), **options)


def attack_inside(t, *args, opts=(), **options):
    return t.fence(t.attack, *map(str, args), opts=opts, **options)


def _told(result, act, told):
    if act in TOLD if told is None else told:
        contains(result.err, "[ringfence] denied ", "what is denied is told; stderr")


def _denied(result, errno, act, told=None):
    expect(result.code == 1 and result.out.rstrip().rpartition("\n")[2].startswith("denied: "),
           "the act should be denied inside", result)
    if errno:
        names = (errno,) if isinstance(errno, str) else errno
        expect(result.out.rstrip().rpartition(": ")[2] in names,
               f"the errno should be one of {names}", result)
    _told(result, act, told)


def _succeeds(result, where):
    expect(result.code == 0 and result.out.rstrip().endswith("succeeded"),
           f"as a control, the act should succeed {where}", result)


def denied_inside_allowed_outside(t, *attack, opts=(), errno=None, control="outside", binds=(),
                                  control_args=None, unchanged=(), told=None, **options):
    """The one line of most security tests.

    control: where the act must succeed: "outside"; "bwrap" (with every capability over namespaces of
    its own, `binds` added); or {"root": …, "user": …}, in which None means that there is no control.
    unchanged: paths that the run inside must leave as they were.
    told: whether the denial is explained on stderr, if this differs from the usual for the act (TOLD).
    """
    where = control[t.identity] if isinstance(control, dict) else control
    if where is None:
        raise Skip("this cannot be done outside either, so there is no control")
    before = [snapshot(path) for path in unchanged]
    _denied(attack_inside(t, *attack, opts=opts, **options), errno, attack[0], told)
    for path, was in zip(unchanged, before):
        equal(snapshot(path), was, f"{path} after the run")
    args = attack if control_args is None else control_args
    if where == "outside":
        _succeeds(attack_outside(t, *args, **options), "outside")
    else:
        _succeeds(attack_in_bwrap(t, *args, binds=binds, **options), "in plain bwrap")


def not_possible_inside(t, *attack, opts=(), errno=None, **options):
    """The denial alone; the test brings a control of its own."""
    _denied(attack_inside(t, *attack, opts=opts, **options), errno, attack[0])


def refused_by_rule(t, *attack, errno, opts=()):
    """For things that this kernel lacks: outside, the kernel says so; inside, the rule refuses first."""
    outside = attack_outside(t, *attack)
    inside = attack_inside(t, *attack, opts=opts)
    _denied(inside, errno, attack[0])
    if outside.code == 0:
        return
    if outside.out == inside.out:
        raise Skip(f"outside gives the same {outside.out.strip().rpartition(' ')[2]}: no control")


def killed_inside(t, *attack, opts=()):
    """The fence kills the process for it; outside, the process survives."""
    inside = attack_inside(t, *attack, opts=opts)
    equal(inside.code, 128 + SIGSYS, "exit status inside", inside)
    outside = attack_outside(t, *attack)
    if outside.code not in (0, 1):
        raise Skip(f"outside the process dies too (exit status {outside.code}): no control")


def refused_before_start(t, *opts, says=(), env=None, command=None, **options):
    """Exit status 125, a reason, and nothing of the command ran."""
    mark = os.path.join(t.project, "ran")
    argv = command or ("sh", "-c", "echo ran; touch ran")
    result = t.fence(*argv, opts=opts, env=env, **options)
    equal(result.code, 125, "exit status", result)
    expect(result.out == "" and not os.path.lexists(mark), "nothing may run", result)
    expect(any(line.startswith("ringfence: ") for line in result.err.splitlines()),
           "stderr should give the reason in a line that starts with 'ringfence: '", result)
    for word in (says,) if isinstance(says, str) else says:
        contains(result.err, word, "stderr")
    return result
