"""Pipes and terminals: bytes pass through unchanged."""

import hashlib
import os
import subprocess
import termios
import threading

from harness import cases, contains, equal, expect, lacks, timeout

MEGABYTE = 1 << 20


def test_stdin_reaches_the_command_and_stdout_the_caller(t):
    equal(t.works("tr", "a-z", "A-Z", input="hello\n"), "HELLO\n", "what came back")


def test_stderr_stays_apart_from_stdout(t):
    result = t.sh("echo out; echo err >&2")
    equal((result.out, result.err), ("out\n", "err\n"), "the streams")


@timeout(240)
def test_a_hundred_megabytes_pass_through_pipes_intact(t):
    block = os.urandom(MEGABYTE)
    wanted = hashlib.sha256(block * 100).hexdigest()
    process = t.fence_start("cat", stdin=subprocess.PIPE)

    def feed():
        for _ in range(100):
            process.stdin.write(block)
        process.stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    digest = hashlib.sha256()
    while True:
        data = process.stdout.read(MEGABYTE)
        if not data:
            break
        digest.update(data)
    feeder.join()
    process.stdin = None
    equal(process.wait(600), 0, "exit status")
    equal(digest.hexdigest(), wanted, "the hash of what came back")


def test_a_file_as_stdin_and_stdout_works(t):
    source = t.write(os.path.join(t.outside, "in"), "text\n")
    target = os.path.join(t.outside, "out")
    with open(source, "rb") as stdin, open(target, "wb") as stdout:
        t.run(t.fence_argv("cat"), stdin=stdin, stdout=stdout)
    equal(t.read(target), "text\n", "the file")


def test_a_reader_that_goes_away_ends_the_command(t):
    result = t.run(["sh", "-c", f"{t.ringfence} exec -- yes | head -n 2"])
    equal(result.out, "y\ny\n", "what head saw")
    t.all_gone()


def test_output_before_the_end_is_not_lost(t):
    result = t.sh("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; kill -9 $$")
    equal((result.code, len(result.out.splitlines())), (137, 5000), "lines")


def test_without_a_terminal_the_command_has_none(t):
    result = t.sh("test -t 0 || test -t 1 || test -t 2 || echo none; tty")
    contains(result.out, "none", "inside")


def test_on_a_terminal_the_command_has_one(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo all three; "
                                  "tty; test -c $(tty) && echo it is there; echo x > /dev/tty; exit 5"))
    terminal.expect("all three")
    terminal.expect(r"/dev/pts/\d+")
    terminal.expect("it is there")
    equal(terminal.wait(), 5, "exit status")


def test_the_window_has_its_size_inside(t):
    terminal = t.tty(t.fence_argv("stty", "size"), rows=33, cols=111)
    terminal.expect("33 111")
    equal(terminal.wait(), 0, "exit status")


def test_a_change_of_the_window_reaches_the_command(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "trap 'stty size; exit 0' WINCH; echo ready; "
                                  "while :; do sleep 0.05; done"))
    terminal.expect("ready")
    terminal.resize(44, 99)
    terminal.expect("44 99")
    equal(terminal.wait(), 0, "exit status")


def test_typing_reaches_the_command(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "read a; echo got=$a; read b; echo got=$b"))
    terminal.send("one\n")
    terminal.expect("got=one")
    terminal.send("two\n")
    terminal.expect("got=two")
    equal(terminal.wait(), 0, "exit status")


def test_what_is_typed_is_echoed_once(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "echo ready; read a; echo end"))
    terminal.expect("ready")
    terminal.send("typed\n")
    terminal.expect("end")
    terminal.wait()
    equal(terminal.text().count("typed"), 1, "echoes")


def test_control_c_ends_the_command(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "echo ready; exec sleep 600"))
    terminal.expect("ready")
    terminal.send(b"\x03")
    equal(terminal.wait(), 130, "exit status")
    t.all_gone()


def test_control_c_can_be_handled_by_the_command(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "trap 'echo caught; exit 7' INT; echo ready; "
                                  "while :; do sleep 0.05; done"))
    terminal.expect("ready")
    terminal.send(b"\x03")
    terminal.expect("caught")
    equal(terminal.wait(), 7, "exit status")


def test_control_d_ends_the_input(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "echo ready; cat; echo end of input"))
    terminal.expect("ready")
    terminal.send("typed\n")
    terminal.expect("typed\r\ntyped")
    terminal.send(b"\x04")
    terminal.expect("end of input")
    equal(terminal.wait(), 0, "exit status")


@cases("true", "stty raw -echo", "kill -9 $$", "exit 3")
def test_the_terminal_is_as_before_afterwards(t, script):
    terminal = t.tty(t.fence_argv("sh", "-c", script))
    terminal.wait()
    equal(termios.tcgetattr(terminal.slave), terminal.before, "the settings of the terminal")


def test_the_terminal_is_as_before_after_a_refusal(t):
    terminal = t.tty([t.ringfence, "exec", "--write", "/", "--", "true"])
    equal(terminal.wait(), 125, "exit status")
    equal(termios.tcgetattr(terminal.slave), terminal.before, "the settings of the terminal")


def test_the_terminal_is_as_before_after_a_signal(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "echo ready; exec sleep 600"))
    terminal.expect("ready")
    terminal.process.terminate()
    terminal.wait()
    equal(termios.tcgetattr(terminal.slave), terminal.before, "the settings of the terminal")


def test_job_control_works_in_a_shell_inside(t):
    terminal = t.tty(t.fence_argv("bash", "--norc", "-i"))
    terminal.expect(r"\$ ")
    terminal.send("sh -c 'echo sl''eeping; exec sleep 600'\n")
    terminal.expect("sleeping")
    terminal.send(b"\x1a")
    terminal.expect("Stopped")
    # Not with wait, which does not wait for a job that bash considers stopped.
    terminal.send("kill -9 %1; while [ -n \"$(jobs -s)\" ]; do sleep 0.05; done; echo al''ive\n")
    terminal.expect("alive")
    lacks(terminal.text(), "no job control", "what bash says")
    lacks(terminal.text(), "cannot set terminal process group", "what bash says")
    terminal.send("exit 4\n")
    equal(terminal.wait(), 4, "exit status")


def test_a_mixed_terminal_and_pipe_works(t):
    terminal = t.tty(["sh", "-c", f"{t.ringfence} exec -- sh -c 'test -t 0 && echo in; test -t 1 || "
                      "echo piped; test -t 2 && echo err >&2' | cat; echo done"])
    terminal.expect("in")
    terminal.expect("piped")
    terminal.expect("err")
    terminal.expect("done")
    terminal.wait()


def test_much_output_on_a_terminal_is_complete(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "seq 1 20000; echo the end"))
    terminal.expect("the end")
    terminal.wait()
    lines = terminal.text().replace("\r", "").splitlines()
    equal([line for line in lines if line.isdigit()], [str(i) for i in range(1, 20001)], "lines")
    expect("the end" in lines, "the end")


def test_a_terminal_that_does_not_block_loses_nothing(t):
    """Its settings are shared with everyone else who has it open."""
    code = ("import fcntl, os, sys; fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK);"
            "os.execv(sys.argv[1], sys.argv[1:])")
    terminal = t.tty(["/usr/bin/python3", "-c", code, *t.fence_argv("sh", "-c", "seq 1 20000; echo the end")])
    terminal.expect("the end")
    terminal.wait()
    lines = terminal.text().replace("\r", "").splitlines()
    equal([line for line in lines if line.isdigit()], [str(i) for i in range(1, 20001)], "lines")
