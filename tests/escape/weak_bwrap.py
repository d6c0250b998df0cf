#!/usr/bin/python3
"""A bwrap that is not what it seems: runs the real one with one thing dropped or weakened.

The tests make a program of this file by adding a last line, weaken(NAME, PROJECT, HOME, …). It stands
alone, as it runs under a uid that may read nothing else of the tests.
"""

import os
import sys

BWRAP = "/usr/bin/bwrap"
# How many words follow an option of bwrap.
TWO = ("--bind", "--ro-bind", "--dev-bind", "--bind-try", "--ro-bind-try", "--dev-bind-try", "--symlink",
       "--file", "--bind-data", "--ro-bind-data", "--setenv", "--chmod", "--bind-fd", "--ro-bind-fd")
NONE = ("--new-session", "--as-pid-1", "--disable-userns", "--clearenv",
        "--assert-userns-disabled")


def options_of(argv):
    """The words of a command line, including those from --args, as a list of options, then the command."""
    words = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--args":
            with open(int(rest.pop(0)), "rb", closefd=False) as file:
                rest = file.read().decode(errors="surrogateescape").split("\0")[:-1] + rest
        else:
            words.append(word)
    options = []
    while words and words[0].startswith("--") and words[0] != "--":
        name = words[0]
        count = 2 if name in TWO else 0 if name in NONE or name.startswith("--unshare") else 1
        options.append(words[:count + 1])
        words = words[count + 1:]
    return options, [word for word in words if word != "--"]


def run(options, command):
    words = [word for option in options for word in option]
    data = b"".join(os.fsencode(word) + b"\0" for word in words)
    fd = os.memfd_create("args", 0)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    os.execv(BWRAP, [BWRAP, "--args", str(fd), *command])


def changed(options, matches, change):
    """Replaces every option that matches with the result of change(); at least one must match."""
    result = []
    count = 0
    for option in options:
        if matches(option):
            count += 1
            # Permissions belong to the option after them.
            if result and result[-1][0] == "--perms":
                result.pop()
            result.extend(change(option))
        else:
            result.append(option)
    if not count:
        sys.exit("weak bwrap: there was nothing to weaken")
    return result


def drop(*names):
    return lambda options, world: changed(options, lambda o: o[0] in names, lambda o: [])


def tree_of(options):
    """The file tree that ringfence has built for the fence."""
    return next(o[1] for o in options if o[0] == "--dev-bind" and o[2] == "/")


def first(*extra):
    """Other options before all that ringfence asks for."""
    return lambda options, world: [*extra, *options]


def last(*extra):
    """Other mounts after all that ringfence asks for, so that they win."""
    return lambda options, world: [*options, *([word.format(**world) for word in option]
                                               for option in extra)]


def host(path, how="--bind"):
    """A place as it is on the host, over what is there."""
    return last([how, path, path])


def in_pieces(options, _):
    """The same tree, but on a root that bwrap makes: that one is writable."""
    tree = tree_of(options)
    pieces = []
    for name in os.listdir(tree):
        inside = f"{tree}/{name}"
        pieces.append(["--symlink", os.readlink(inside), f"/{name}"] if os.path.islink(inside)
                      else ["--dev-bind", inside, f"/{name}"])
    return changed(options, lambda o: o[0] == "--dev-bind", lambda o: pieces)


def both(one, other):
    return lambda options, world: other(one(options, world), world)


WEAKER = {
    "without --unshare-user": drop("--unshare-user", "--disable-userns"),
    "without --unshare-pid": drop("--unshare-pid", "--as-pid-1"),
    "without --unshare-ipc": drop("--unshare-ipc"),
    "without --unshare-uts": drop("--unshare-uts", "--hostname"),
    "without --unshare-cgroup": drop("--unshare-cgroup"),
    "without --unshare-net": drop("--unshare-net"),
    "without --disable-userns": drop("--disable-userns"),
    "without --new-session": drop("--new-session"),
    "without --as-pid-1": drop("--as-pid-1"),
    "with all capabilities": both(drop("--cap-drop"), first(["--cap-add", "ALL"])),
    "as uid 0": lambda options, _: changed(options, lambda o: o[0] == "--uid",
                                           lambda o: [["--uid", "0"]]),
    "as gid 0": lambda options, _: changed(options, lambda o: o[0] == "--gid",
                                           lambda o: [["--gid", "0"]]),
    ".git writable": host("{project}/.git"),
    "a nested .git writable": host("{project}/sub/.git"),
    ".env shown": host("{project}/.env"),
    ".env bound from another file": last(["--bind", "{project}/.env.copy", "{project}/.env"]),
    "a hidden folder shown": host("{project}/secrets"),
    "the project from another folder": last(["--bind", "{other}", "{project}"]),
    "the real home": host("{home}"),
    "a tmpfs of the host as the home": last(["--bind", "{tmpfs}", "{home}"]),
    "the real /tmp": host("/tmp", "--dev-bind"),
    "/usr writable": host("/usr"),
    "the real /proc": lambda options, _: changed(options, lambda o: o[0] == "--proc",
                                                 lambda o: [["--dev-bind", "/proc", "/proc"]]),
    "the real /dev": host("/dev", "--dev-bind"),
    "the real /etc": host("/etc", "--ro-bind"),
    "the host's root below": lambda options, _: changed(
        options, lambda o: o[0] == "--dev-bind",
        lambda o: [["--dev-bind", "/", "/"], ["--dev-bind", f"{o[1]}/run", "/run"]]),
    "the host's root on top": lambda options, _: [
        *options, ["--dev-bind", "/", "/"], ["--dev-bind", f"{tree_of(options)}/run", "/run"]],
    "the root writable": in_pieces,
}

# Calls of init that seem to succeed without doing anything (`attack lie`). A canary inside tries what
# init's own walls forbid, so options of bwrap alone cannot weaken exactly that.
LIES = ("open-for-writing", "readlink-root", "connect-unix", "connect-internet", "unshare", "mount",
        "keyctl", "no-new-privileges", "landlock", "set-limits", "close")
SETTING = "/proc/sys/kernel/core_pattern"


def lie(options, command, world, name):
    run(options, [f"{world['project']}/attack", "lie", name, *command])


def writable_setting(world):
    """A file of the user's in the place of a kernel setting, and no Landlock to refuse it."""
    options, command = options_of(sys.argv[1:])
    lie([*options, ["--bind", f"{world['project']}/plain", SETTING]], command, world, "landlock")


# Places of the host, on top of folders that the fence shows. bwrap cannot make folders in it: its
# root can only be read.
EXTRA = {
    "/usr/local": last(["--bind", "{other}", "/usr/local"]),
    "/usr/local/bin": last(["--bind", "/run", "/usr/local/bin"]),
    "/usr/sbin": last(["--bind", "/sys", "/usr/sbin"]),
    "/usr/share": last(["--bind", "/", "/usr/share"]),
    "/usr/local/lib": last(["--bind", "/var/log", "/usr/local/lib"]),
    "{project}/below": last(["--bind", "{other}", "{project}/below"]),
}


def init_of(options):
    return f"{tree_of(options)}/run/ringfence/init"


def nothing_at_all(world):
    """No sandbox: runs init just so."""
    options, _ = options_of(sys.argv[1:])
    os.execv(init_of(options), ["init"])


def only_a_process_namespace(world):
    """A pid namespace, and everything else is the host's."""
    options, _ = options_of(sys.argv[1:])
    os.execv(BWRAP, [BWRAP, "--dev-bind", "/", "/", "--unshare-user", "--unshare-pid", "--as-pid-1",
                     "--proc", "/proc", init_of(options)])


def says_that_all_is_well(world):
    print("all is well")
    sys.exit(0)


def runs_a_shell_instead(world):
    os.execv("/bin/sh", ["sh", "-c", f"touch {world['project']}/ran; exit 0"])


def hangs_up(world):
    os.closerange(0, 256)
    sys.exit(0)


SHAMS = {
    "a kernel setting writable": writable_setting,
    "no sandbox at all": nothing_at_all,
    "only a process namespace": only_a_process_namespace,
    "a program that says all is well": says_that_all_is_well,
    "a shell instead": runs_a_shell_instead,
    "a program that closes everything": hangs_up,
}


def weaken(name, **world):
    if name in SHAMS:
        SHAMS[name](world)
    options, command = options_of(sys.argv[1:])
    if name in LIES:
        lie(options, command, world, name)
    if name != "nothing":
        options = {**WEAKER, **EXTRA}[name](options, world)
    run(options, command)
