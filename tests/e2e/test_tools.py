"""The tools that developers and agents use work inside."""

import os
import re
import shutil

from harness import Skip, cases, contains, equal, expect, lacks, needs, timeout, unsanitized


def gcc(t, source, name, *flags):
    t.write(f"{name}.c", source)
    t.works("cc", "-g", f"{name}.c", "-o", name, *flags)


@needs("node")
def test_node_works(t):
    script = ("const os = require('os'); const {Worker} = require('worker_threads');"
              "os.networkInterfaces(); os.cpus();"
              "require('child_process').execSync('echo child');"
              "require('fs').writeFileSync('f', 'x');"
              "new Worker('require(\"worker_threads\").parentPort.postMessage(42)', {eval: true})"
              ".on('message', m => console.log('worker', m));")
    contains(t.works("node", "-e", script), "worker 42", "node")


@needs("node")
def test_a_node_server_and_client_meet_on_loopback(t):
    script = ("const http = require('http'); const s = http.createServer((q, r) => r.end('hi'));"
              "s.listen(0, '127.0.0.1', () => http.get({port: s.address().port}, r => "
              "{ r.on('data', d => console.log('got ' + d)); r.on('end', () => s.close()); }));")
    contains(t.works("node", "-e", script), "got hi", "node")


def test_python_threads_and_processes_work(t):
    script = ("import threading, subprocess, multiprocessing, tempfile, socket, ssl, asyncio\n"
              "l = []\nts = [threading.Thread(target=l.append, args=(i,)) for i in range(20)]\n"
              "[x.start() for x in ts]; [x.join() for x in ts]\n"
              "assert len(l) == 20\n"
              "assert subprocess.check_output(['echo', 'x']) == b'x\\n'\n"
              "with multiprocessing.Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]\n"
              "tempfile.NamedTemporaryFile().write(b'x')\nasyncio.run(asyncio.sleep(0))\nprint('fine')\n")
    contains(t.works("/usr/bin/python3", "-c", script), "fine", "python")


@needs("go")
@timeout(240)
def test_go_builds_and_runs(t):
    t.write("hello.go", 'package main\nimport "fmt"\nfunc main() { fmt.Println("hello from go") }\n')
    contains(t.works("sh", "-c", "go build -o hello hello.go && ./hello", timeout=100), "hello from go",
             "go")


@needs("gdb", "cc")
@timeout(180)
def test_gdb_breaks_and_prints(t):
    gcc(t, "int twice(int x) { return 2 * x; }\nint main(void) { return twice(21) - 42; }\n", "small",
        "-O0")
    out = t.works("gdb", "-batch", "-nx", "-ex", "break twice", "-ex", "run", "-ex", "print x", "-ex",
                  "continue", "./small", timeout=60)
    contains(out, "$1 = 21", "gdb")
    contains(out, "exited normally", "gdb")


ASAN_BUG = "#include <stdlib.h>\nint main(void) { char *p = malloc(4); return p[8]; }\n"
LEAK = "#include <stdlib.h>\nvolatile char *p;\nint main(void) { p = malloc(77); p = 0; return 0; }\n"


def has_sanitizers(t):
    t.write("probe.c", "int main(void) { return 0; }\n")
    if t.run(["cc", "-fsanitize=address", "probe.c", "-o", "probe"]).code:
        raise Skip("cc has no AddressSanitizer here")


@needs("cc")
@unsanitized("its own report would count as one of ours")
def test_address_sanitizer_finds_a_bug(t):
    has_sanitizers(t)
    gcc(t, ASAN_BUG, "bug", "-fsanitize=address")
    result = t.fence("./bug")
    expect(result.code != 0, "it ends with an error", result)
    contains(result.err, "heap-buffer-overflow", "the sanitizer")


@needs("cc")
def test_leak_sanitizer_finds_a_leak(t):
    has_sanitizers(t)
    gcc(t, LEAK, "leak", "-fsanitize=address")
    result = t.fence("./leak")
    contains(result.err, "77 byte(s) leaked", "the sanitizer")
    lacks(result.err, "has encountered a fatal error", "the sanitizer")


@needs("cc")
def test_a_clean_program_passes_the_sanitizers(t):
    has_sanitizers(t)
    gcc(t, "int main(void) { return 0; }\n", "clean", "-fsanitize=address,undefined")
    t.works("./clean")


@needs("strace")
def test_strace_traces_its_own_child(t):
    result = t.fence("strace", "-f", "-e", "trace=execve", "sh", "-c", "/bin/true")
    equal(result.code, 0, "exit status", result)
    contains(result.err, 'execve("/bin/true"', "the trace")


def git(t, *args):
    result = t.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *args])
    equal(result.code, 0, "git outside", result)


def repository(t):
    t.write("main.c", "int main(void) { return 0; }\n")
    git(t, "init", "-q", "-b", "main")
    git(t, "add", "main.c")
    git(t, "commit", "-qm", "the first commit")


@needs("git")
def test_git_reads_inside(t):
    repository(t)
    t.write("new", "x")
    contains(t.works("git", "log", "--oneline"), "the first commit", "git log")
    status = t.works("git", "status", "--short")
    equal(status, "?? attack\n?? new\n", "git status")
    t.works("git", "diff", "HEAD")
    contains(t.works("git", "show", "HEAD:main.c"), "int main", "git show")


@needs("git")
def test_git_does_not_commit_inside(t):
    repository(t)
    result = t.sh("echo x >> main.c; git -c user.name=a -c user.email=a@b commit -qam evil")
    expect(result.code != 0, "the repository is read-only", result)
    lacks(t.run(["git", "log", "--oneline"]).out, "evil", "git log outside")


@needs("cc", "make")
def test_make_builds_inside(t):
    t.write("Makefile", "all: a b c d\n%: %.c\n\t$(CC) -o $@ $<\n")
    for name in "abcd":
        t.write(f"{name}.c", "int main(void) { return 0; }\n")
    t.works("make", "-j4")
    t.works("./a")


@cases("ps aux", "df .", "free", "uname -a", "nproc", "hostname", "id", "ls -la /proc/self/", "mount")
def test_ordinary_commands_work(t, command):
    if not shutil.which(command.split()[0]):
        raise Skip(f"{command.split()[0]} is not installed")
    t.works("sh", "-c", f"{command} > /dev/null")


def test_signals_and_limits_of_the_command_are_ordinary(t):
    """Nothing that ringfence blocked or ignored is inherited."""
    status = t.works("cat", "/proc/self/status")
    contains(status, "SigBlk:\t0000000000000000", "the status")
    # Some versions of make pass on 32 and 33, which belong to the C library, as ignored.
    ignored = int(re.search(r"SigIgn:\t(\w+)", status).group(1), 16) & ~(3 << 31)
    equal(ignored, 0, "ignored signals")
    number = int(t.works("sh", "-c", "ulimit -n").strip())
    expect(number >= 256, "open files", number)


def test_a_thousand_processes_can_be_started_one_after_another(t):
    out = t.works("sh", "-c", "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done; echo $i")
    equal(out.strip(), "1000", "processes")


def test_zombies_are_reaped(t):
    dead = "cat /proc/[0-9]*/status 2>/dev/null | grep -q 'State:.Z'"
    out = t.works("sh", "-c", "for i in 1 2 3 4 5; do (setsid sh -c 'true & : >ran'$i &); done; "
                  "until [ -e ran1 -a -e ran2 -a -e ran3 -a -e ran4 -a -e ran5 ]; do sleep 0.01; done; "
                  f"i=0; while {dead} && [ $i -lt 1000 ]; do sleep 0.01; i=$((i+1)); done; {dead} || echo none")
    equal(out, "none\n", "zombies")


def test_core_sockets_and_shared_memory_work(t):
    script = ("from multiprocessing import shared_memory, Queue\n"
              "import socket, os, mmap\n"
              "m = shared_memory.SharedMemory(create=True, size=100); m.buf[0] = 1; m.close(); m.unlink()\n"
              "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'\n"
              "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n"
              "c = socket.create_connection(s.getsockname()); print('fine')\n")
    contains(t.works("/usr/bin/python3", "-c", script), "fine", "python")


def test_file_work_in_the_project_is_ordinary(t):
    t.works("sh", "-c", "mkdir -p a/b; echo x > a/b/c; mv a/b a/d; ln a/d/c a/e; ln -s e a/f; "
            "chmod 600 a/e; touch -d '2020-01-01' a/e; rm a/f; cp -a a g; rm -r g; test -x attack")
    equal(t.read("a/e"), "x\n", "the file")
    equal(os.stat(t.path("a/e")).st_uid, os.getuid(), "its owner")


def test_a_script_in_the_project_runs(t):
    t.write("run.sh", "#!/bin/sh\necho ran $1\n", 0o755)
    equal(t.works("./run.sh", "x"), "ran x\n", "the script")
