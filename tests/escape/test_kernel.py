"""Items 35 to 39, 43, 48, 50 and 51: interfaces of the kernel."""

import os
import subprocess

from harness import (Skip, cases, contains, denied_inside_allowed_outside, equal, expect,
                     killed_inside, lacks, not_possible_inside, refused_before_start, refused_by_rule,
                     root_only, snapshot)
from harness import kernel
from harness.control import attack_outside
from harness.world import BWRAP

OUTSIDE_FOR_ROOT = {"root": "outside", "user": None}
NAMESPACES = ("user", "mount", "net", "pid", "ipc", "uts", "cgroup", "time", "user+mount", "user+net",
              "user+pid")


def test_35_the_chain_of_nested_namespace_pivot_detach_and_rename_fails(t):
    t.write(".git/config", "before")
    before = snapshot(t.path(".git"))
    not_possible_inside(t, "detach-rename", t.project, ".git")
    equal(snapshot(t.path(".git")), before, ".git")
    expect(not t.exists(".git.away"), "nothing was moved")
    # The same fence by hand, without what stops the chain: a read-only bind in a writable one.
    control = t.run([BWRAP, "--dev-bind", "/", "/", "--unshare-user", "--tmpfs", "/tmp",
                     "--bind", t.project, t.project, "--ro-bind", t.path(".git"), t.path(".git"),
                     t.attack, "detach-rename", t.project, ".git"])
    equal(control.code, 0, "the control", control)
    expect(t.exists(".git.away"), "the control really escapes the read-only bind")


@cases(*NAMESPACES)
def test_36_unshare_is_denied(t, names):
    denied_inside_allowed_outside(t, "unshare", names, errno="EPERM", control="bwrap")


@cases("user", "user+mount", "user+net", "mount", "pid")
def test_36_clone_with_a_namespace_is_denied(t, names):
    denied_inside_allowed_outside(t, "clone", names, errno="EPERM", control="bwrap")


@cases("user", "user+mount")
def test_36_clone3_with_a_namespace_is_denied(t, names):
    denied_inside_allowed_outside(t, "clone3", names, errno="ENOSYS")


@cases("net", "mnt", "pid")
def test_36_setns_is_denied(t, name):
    denied_inside_allowed_outside(t, "setns", name, errno="EPERM", control="bwrap")


MOUNT_ACTS = (("mount-tmpfs", "d"), ("mount-bind", "d", "e"), ("remount-rw", "e"),
              ("mount-proc", "d"), ("fsopen", "tmpfs"), ("fspick", "e"), ("open-tree", "d"),
              ("move-mount", "e", "d"), ("mount-setattr", "e"), ("umount", "e"),
              ("pivot-root", "e", "e"))


@cases(*MOUNT_ACTS)
def test_37_a_call_that_changes_mounts_is_denied(t, *act):
    d, e = t.path("d"), t.path("e")
    os.mkdir(d)
    os.mkdir(e)
    args = [{"d": d, "e": e}.get(word, word) for word in act]
    denied_inside_allowed_outside(t, *args, errno="EPERM", control="bwrap",
                                  binds=("--tmpfs", e, "--bind", d, e))


@cases(".git", ".env")
def test_37_the_mount_that_protects_a_path_cannot_be_taken_off(t, name):
    path = t.write(f"{name}/config" if name == ".git" else name, "x")
    target = t.path(name)
    for act in (("umount", target), ("remount-rw", target), ("move-mount", target, t.path("d"))):
        os.makedirs(t.path("d"), exist_ok=True)
        not_possible_inside(t, *act, errno="EPERM")
    equal(t.read(path), "x", "the file")
    bind = ("--ro-bind", target, target)
    control = t.run(t.bwrap_argv(t.attack, "umount", target, binds=bind))
    equal(control.code, 0, "the control", control)


def test_37_chroot_is_denied(t):
    denied_inside_allowed_outside(t, "chroot", t.project, errno="EPERM", control="bwrap")


def test_38_io_uring_is_denied(t):
    denied_inside_allowed_outside(t, "io-uring", errno="EPERM")


def test_39_an_i386_system_call_kills(t):
    killed_inside(t, "int80")


def test_39_an_x32_system_call_kills(t):
    killed_inside(t, "x32")


@cases(("key-add", "ringfence-test"), ("key-session",))
def test_43_the_session_keyring_is_out_of_reach(t, *act):
    kernel.own_session_keyring()
    denied_inside_allowed_outside(t, *act, errno="EPERM")


@cases("key-find", "key-request")
def test_43_a_key_of_the_user_is_not_found(t, act):
    name = f"ringfence-test-{os.getpid()}"
    kernel.own_session_keyring()
    # request-key(2) looks from the session's keyring on, so the user's is linked below it.
    kernel.syscall(250, 8, -4, -3)
    key = kernel.add_user_key(name, "the secret")
    t.cleanups.append(lambda: kernel.revoke_key(key))
    denied_inside_allowed_outside(t, act, name, errno="EPERM")


@cases("perf", "userfaultfd")
def test_48_a_dangerous_call_is_denied(t, name):
    denied_inside_allowed_outside(t, name, errno="EPERM")


def test_48_bpf_is_denied(t):
    denied_inside_allowed_outside(t, "bpf", errno="EPERM", control=OUTSIDE_FOR_ROOT)


@cases("kexec", "init-module", "finit-module", "delete-module")
def test_48_a_call_that_loads_code_into_the_kernel_is_denied(t, name):
    refused_by_rule(t, name, errno="EPERM")


KERNEL_FILES = ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/modprobe",
                "/proc/sys/vm/overcommit_memory", "/proc/1/oom_score_adj",
                "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper",
                "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/cpu/release_agent",
                "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/tasks",
                "/sys/fs/cgroup/unified/cgroup.procs", "/sys/power/state")


def test_50_a_file_by_which_the_kernel_is_steered_cannot_be_written(t):
    mine = [path for path in KERNEL_FILES if os.access(path, os.W_OK)]
    if not mine:
        raise Skip("this user can open none of them outside either, so there is no control")
    for path in mine:
        # In /proc/1, the permissions of the fence's own first process refuse it.
        denied_inside_allowed_outside(t, "open-write", path, told=not path.startswith("/proc/1/"))


def test_50_there_is_no_sys_and_no_cgroup_inside(t):
    lacks(t.works("cat", "/proc/self/mounts"), "cgroup", "mounts inside")
    not_possible_inside(t, "read", "/sys/fs/cgroup")
    equal(attack_outside(t, "read", "/sys").code, 0, "the control")


def identity(text):
    return dict(word.split("=") for word in text.split())


ID_SCRIPT = "echo uid=$(id -u) gid=$(id -g); ./attack capabilities"


def test_51_the_command_is_not_root_and_has_no_capability(t):
    out = t.sh(ID_SCRIPT).out
    seen = identity(out.splitlines()[0])
    expect("0" not in (seen["uid"], seen["gid"]), "neither uid nor gid 0", out)
    contains(out, "denied: ", "the list of capabilities")
    control = t.run(t.bwrap_argv("sh", "-c", ID_SCRIPT)).out
    contains(control, "CapEff", "the control")
    if t.identity == "user":
        equal(int(seen["uid"]), os.getuid(), "the uid inside")


@root_only
def test_51_root_with_a_project_of_another_becomes_that_user(t):
    for base, folders, files in os.walk(t.project):
        for name in [base, *(os.path.join(base, n) for n in folders + files)]:
            os.chown(name, 12321, 12321)
    state = os.path.join(t.outside, "state")
    os.mkdir(state)
    os.chown(state, 12321, 12321)
    out = t.works("sh", "-c", "id -u; echo x > new", env=t.env(RINGFENCE_STATE_DIR=state))
    equal(out.strip(), "12321", "the uid inside")
    equal(os.stat(t.path("new")).st_uid, 12321, "the owner of a new file")


@root_only
def test_51_the_user_that_root_becomes_cannot_look_into_ringfence(t):
    """It has root's terminal and descriptors."""
    os.chown(t.project, 12321, 12321)
    state = os.path.join(t.outside, "state")
    os.mkdir(state)
    os.chown(state, 12321, 12321)
    process = t.fence_start("sh", "-c", "echo $PASSED; read line", opts=("--env", "PASSED"),
                            stdin=subprocess.PIPE,
                            env=t.env(RINGFENCE_STATE_DIR=state, ROOTS_OWN="the secret", PASSED="yes"))
    equal(process.stdout.readline(), b"yes\n", "the command")
    looks = ["setpriv", "--reuid", "12321", "--regid", "12321", "--clear-groups",
             "cat", f"/proc/{process.pid}/environ"]
    contains(t.run(looks[6:]).out, "the secret", "the control")
    contains(t.run(looks).err, "Permission denied", "what that user sees")
    for pid, command in kernel.descendants_of(process.pid):
        lacks(t.run(["cat", f"/proc/{pid}/environ"]).out, "the secret", f"the environment of {command}")
    t.communicate(process, b"\n")


@root_only
def test_51_a_new_file_in_roots_project_belongs_to_root(t):
    out = t.works("sh", "-c", "id -u; echo x > new; mkdir dir; stat -c %u .")
    expect(out.split()[0] not in ("0", "12321"), "a dedicated uid", out)
    equal(out.split()[1], out.split()[0], "the project inside belongs to the command")
    equal(os.stat(t.path("new")).st_uid, 0, "the owner of a new file")
    equal(os.stat(t.path("dir")).st_uid, 0, "the owner of a new folder")


@root_only
@cases("/etc/shadow", "/etc/gshadow")
def test_51_what_only_root_reads_stays_closed(t, path):
    denied_inside_allowed_outside(t, "read", path)


@root_only
def test_51_addresses_of_the_kernel_stay_hidden(t):
    script = "grep -v '^0000000000000000' /proc/kallsyms | head -3"
    if not t.run(["sh", "-c", script]).out:
        raise Skip("root sees no addresses outside either")
    equal(t.sh(script).out, "", "addresses inside")


@root_only
def test_51_a_read_rule_does_not_open_what_only_root_reads(t):
    refused_before_start(t, "--read", "/etc", says="name only the files below it")
    not_possible_inside(t, "read", "/etc/shadow", opts=("--read", "/etc/shadow"))
    equal(attack_outside(t, "read", "/etc/shadow").code, 0, "the control")


def test_51_nobody_can_become_root_inside(t):
    denied_inside_allowed_outside(t, "become", "0", control="bwrap")


def test_51_no_new_privileges_is_set(t):
    contains(t.works("grep", "NoNewPrivs", "/proc/self/status"), "1", "inside")
    contains(t.run(["grep", "NoNewPrivs", "/proc/self/status"]).out, "0", "the control")
