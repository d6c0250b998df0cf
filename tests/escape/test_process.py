"""Items 40 to 42, 44 to 47 and 49: terminals, other processes, shared memory, descriptors, survivors."""

import os
import re
import signal
import socket
import subprocess

from harness import (cases, contains, denied_inside_allowed_outside, equal, expect, lacks,
                     refused_before_start)
from harness import kernel
from harness.control import attack_inside, attack_outside
from harness.world import GREETING

TIOCSTI, TIOCLINUX = 0x5412, 0x541C


@cases(("TIOCSTI", hex(TIOCSTI)), ("TIOCSTI-high", hex(TIOCSTI | 1 << 32)),
       ("TIOCSTI-top", hex(TIOCSTI | 0xFFFFFFFF << 32)))
def test_40_input_cannot_be_pushed_into_the_terminal(t, _, request):
    inside = t.tty(t.fence_argv(t.attack, "ioctl", request))
    inside.expect("denied: EPERM")
    equal(inside.wait(), 1, "exit status inside")
    outside = t.tty([t.attack, "ioctl", request])
    outside.expect("succeeded")
    equal(outside.wait(), 0, "exit status outside")


@cases(("TIOCLINUX", hex(TIOCLINUX)), ("TIOCLINUX-high", hex(TIOCLINUX | 1 << 32)))
def test_40_the_console_cannot_be_steered(t, _, request):
    """Outside, the kernel reports that this is not a console; inside, the rule refuses it first."""
    inside = t.tty(t.fence_argv(t.attack, "ioctl", request))
    inside.expect("denied: EPERM")
    outside = t.tty([t.attack, "ioctl", request])
    outside.expect("denied: ENOTTY")
    inside.wait()
    outside.wait()


def test_40_the_terminal_of_the_caller_is_not_the_one_inside(t):
    """Its file system is a different one, without descriptors or names of the caller's."""
    inside = t.tty(t.fence_argv("sh", "-c", "for i in 0 1 2; do stat -Lc dev=%d /proc/self/fd/$i; done"))
    inside.wait()
    seen = [int(n) for n in re.findall(r"dev=(\d+)", inside.text())]
    equal(len(seen), 3, "streams", inside.text())
    expect(os.fstat(inside.slave).st_dev not in seen, "none of them is the caller's", seen)


def test_40_without_a_terminal_there_is_none_inside(t):
    """A caller's controlling terminal cannot be opened by /dev/tty."""
    inside = t.tty(["sh", "-c", f"{t.ringfence} exec -- {t.attack} read /dev/tty </dev/null >o 2>&1"])
    inside.wait()
    contains(t.read("o"), "denied: ENXIO", "inside")
    outside = t.tty(["sh", "-c", f"{t.attack} read /dev/tty </dev/null >o 2>&1"])
    outside.wait()
    lacks(t.read("o"), "ENXIO", "the control")


@cases(("ptrace", "attach"), ("ptrace", "seize"), ("vm-write",), ("proc-mem",))
def test_41_the_init_of_the_fence_cannot_be_touched(t, *act):
    denied_inside_allowed_outside(t, *act, "1", control_args=(*act, str(t.sleeper().pid)))


def test_41_no_descriptor_can_be_stolen_from_the_init_of_the_fence(t):
    denied_inside_allowed_outside(t, "pidfd-getfd", "1", "0",
                                  control_args=("pidfd-getfd", str(t.sleeper().pid), "0"))


@cases("fd", "environ", "maps", "exe", "cwd", "root", "ns/user")
def test_41_the_files_of_the_init_of_the_fence_are_closed(t, name):
    inside = t.sh(f"cat /proc/1/{name} || ls /proc/1/{name}/ || readlink /proc/1/{name}")
    equal((inside.code, inside.out), (1, ""), f"/proc/1/{name} must not open", inside)
    contains(inside.err, "Permission denied", "the reason")
    pid = t.sleeper().pid
    outside = t.run(["sh", "-c", f"cat /proc/{pid}/{name} || ls /proc/{pid}/{name}/"
                     f" || readlink /proc/{pid}/{name}"])
    expect(outside.code == 0 and outside.out, "the control", outside)


def test_41_no_process_but_the_commands_own_and_init_is_seen(t):
    """There is no helper inside to attack."""
    pids = t.works("sh", "-c", "cd /proc; echo [0-9]*; exec true").split()
    expect(len(pids) <= 3 and "1" in pids, "pid 1 and the shell", pids)


@cases("kill", "pidfd")
def test_42_a_process_of_the_host_cannot_be_signalled(t, act):
    denied_inside_allowed_outside(t, act, t.sleeper().pid, errno="ESRCH")


def test_42_a_signal_to_everyone_finds_nobody(t):
    """Signal 0 only tests, so that a fence with a hole does not end processes of the machine."""
    denied_inside_allowed_outside(t, "kill", "-1", "0", errno="ESRCH")


@cases("TERM", "KILL", "STOP", "INT", "HUP", "USR1")
def test_42_the_init_of_the_fence_cannot_be_ended_by_a_signal(t, name):
    """Sent only to ringfence-init, so that no other init is hit if the fence fails."""
    out = t.works("sh", "-c", f"grep -q ringfence-init /proc/1/comm && {{ kill -{name} 1; "
                  "grep -q ringfence-init /proc/1/comm && echo alive; }")
    contains(out, "alive", "the command")


def test_44_a_shared_memory_segment_of_the_host_is_not_visible(t):
    segment = kernel.shm_new("the secret")
    t.cleanups.append(lambda: kernel.shm_remove(segment))
    denied_inside_allowed_outside(t, "shm", segment)
    lacks(t.works("cat", "/proc/sysvipc/shm"), f" {segment} ", "segments inside")


def test_44_a_message_queue_of_the_host_is_not_visible(t):
    name = f"/ringfence-test-{os.getpid()}"
    kernel.mqueue_new(name)
    t.cleanups.append(lambda: kernel.mqueue_remove(name))
    denied_inside_allowed_outside(t, "mqueue", name, errno="ENOENT")


def test_44_a_file_of_the_hosts_dev_shm_is_not_visible(t):
    path = f"/dev/shm/ringfence-test-{os.getpid()}"
    t.write(path, "the secret", 0o644)
    t.cleanups.append(lambda: os.unlink(path))
    denied_inside_allowed_outside(t, "read", path, errno="ENOENT")


def inherited(t, count=5):
    path = t.write(os.path.join(t.outside, "secret"), "the secret")
    return [os.open(path, os.O_RDWR) for _ in range(count)]


def test_45_no_inherited_descriptor_is_open_inside(t):
    denied_inside_allowed_outside(t, "list-fds", pass_fds=inherited(t))


def test_45_a_descriptor_with_a_high_number_is_closed_too(t):
    fd = inherited(t, 1)[0]
    for high in (100, 255, 1000):
        os.dup2(fd, high, inheritable=True)
    denied_inside_allowed_outside(t, "list-fds", pass_fds=(100, 255, 1000))


def test_45_descriptors_of_ringfence_itself_are_not_open_inside(t):
    result = attack_inside(t, "list-fds", opts=("--listen", "127.0.0.1:8080"))
    equal((result.code, result.out), (1, "denied: EBADF\n"), "descriptors inside", result)


@cases("openat", "fchdir")
def test_46_an_inherited_folder_is_closed(t, act):
    t.write(os.path.join(t.outside, "secret"), "the secret")
    fd = os.open(t.outside, os.O_RDONLY | os.O_DIRECTORY)
    denied_inside_allowed_outside(t, act, fd, "secret", errno="EBADF", pass_fds=(fd,))


@cases("0", "1", "2")
def test_46_a_folder_as_a_standard_stream_is_refused(t, number):
    t.write(os.path.join(t.outside, "secret"), "the secret")
    fd = os.open(t.outside, os.O_RDONLY | os.O_DIRECTORY)
    stream = ("stdin", "stdout", "stderr")[int(number)]
    act = ("openat", number, "secret")
    marks = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: fd}
    inside = attack_inside(t, *act, **marks)
    equal(inside.code, 125, "exit status", inside)
    lacks(inside.out + inside.err, "the secret", "what was read")
    outside = attack_outside(t, *act, **marks)
    equal(outside.code, 0, "the control", outside)


def test_47_a_descriptor_sent_over_the_listening_socket_does_not_arrive(t):
    secret = os.open(t.write(os.path.join(t.outside, "secret"), "the secret"), os.O_RDONLY)

    def send(connection):
        socket.send_fds(connection, [b"hello"], [secret])

    path = os.path.join(t.outside, "s")
    t.serve(path, handle=send)
    client = ("import socket, os, array\n"
              "s = socket.create_connection(('127.0.0.1', 8080))\n"
              "data, fds, flags, _ = socket.recv_fds(s, 100, 10)\n"
              "print(data, fds, sorted(os.listdir('/proc/self/fd'))[:-1])\n")
    out = t.works("python3", "-c", client, opts=("--listen", f"127.0.0.1:8080={path}"))
    contains(out, "b'hello' []", "what arrived inside")
    direct = socket.socket(socket.AF_UNIX)
    direct.connect(path)
    equal(len(socket.recv_fds(direct, 100, 10)[1]), 1, "the control")


@cases("{project}/s", "{project}/dir/s")
def test_47_a_listening_socket_in_the_project_cannot_be_turned_to_another_of_the_host(t, pattern):
    """The command could put a symlink there, and ringfence would follow it with the user's rights."""
    secret = os.path.join(t.outside, "secret")
    path = pattern.format(project=t.project)
    t.serve(secret)
    t.serve(path, handle=lambda c: c.sendall(b"the right one"))
    refused_before_start(t, "--listen", f"127.0.0.1:8080={path}", says="the command could replace the socket")
    t.run(["sh", "-c", f"rm -rf dir; mkdir -p {os.path.dirname(path)}; ln -sfn {secret} {path}"])
    contains(attack_outside(t, "unix", path).out, GREETING.decode(), "the control")


def test_49_a_survivor_in_its_own_session_is_gone_when_the_command_ends(t):
    result = attack_inside(t, "survive")
    equal(result.code, 0, "exit status", result)
    t.all_gone()
    process = t.start([t.attack, "survive"])
    process.wait(600)
    left = kernel.descendants_of(os.getpid())
    expect(any("survive" in command for _, command in left), "the control survives", left)
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)


def test_49_a_survivor_is_gone_when_ringfence_is_killed(t):
    t.leftover_runs = True
    process = t.fence_start("sh", "-c", "./attack survive; echo ready; sleep 600")
    contains(process.stdout.readline().decode(), "succeeded", "the survivor")
    equal(process.stdout.readline(), b"ready\n", "the command")
    process.kill()
    process.wait(600)
    t.all_gone()


def test_49_a_survivor_is_gone_after_a_timeout(t):
    result = t.sh("./attack survive; sleep 600", opts=("--timeout", "1s"))
    equal(result.code, 124, "exit status", result)
    t.all_gone()


def test_49_many_survivors_are_gone_when_the_command_ends(t):
    t.works("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do ./attack survive & done; wait")
    t.all_gone()
