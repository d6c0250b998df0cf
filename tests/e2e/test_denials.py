"""Denials are explained: what was denied, by which rule, to which process, how often."""

import os
import signal
import socket
import subprocess

from harness import cases, contains, equal, expect, lacks, needs, root_only, timeout
from harness import kernel
from harness.control import attack_inside

LINE = "[ringfence] denied "


def denials(t, *command, opts=(), **options):
    """Runs inside; returns (result, the denials of the report)."""
    result, report = t.report(*command, opts=opts, **options)
    return result, report["denials"]


def shown(found):
    return [(d["kind"], d["target"], d["rule"], d["origin"]) for d in found]


def lines(result):
    return [line for line in result.err.splitlines() if line.startswith(LINE)]


def test_a_denied_write_is_one_exact_line(t):
    result = t.sh("echo x > /etc/passwd")
    equal(lines(result), ["[ringfence] denied write /etc/passwd (rule: system, built-in) by sh[2]"],
          "stderr", result)


def test_the_report_has_every_field_of_a_denial(t):
    script = "for i in 1 2 3; do (echo x > /etc/passwd); done; exit 4"
    result, report = t.report("sh", "-c", script)
    found = report["denials"]
    equal(len(found), 1, "denials", report)
    pid = found[0].pop("pid")
    expect(pid > 2, "the pid inside, of a subshell", pid)
    expect(0 < found[0].pop("last_ms") <= report["duration_ms"], "the time of the last attempt", report)
    equal(found[0], {"kind": "write", "target": "/etc/passwd", "rule": "system", "origin": "built-in",
                     "argv": ["sh", "-c", script], "count": 3}, "the denial")
    equal(report["exit"], {"kind": "denied", "code": 4, "limit": None, "why": ""}, "exit")
    equal(report["denials_unlisted"], 0, "unlisted")
    equal(len(lines(result)), 1, "repeats are told once", result)


def test_a_command_that_succeeds_all_the_same_ends_ok(t):
    result, report = t.report("sh", "-c", "(echo x > /etc/passwd); exit 0")
    equal((result.code, report["exit"]["kind"]), (0, "ok"), "exit", result)


def test_a_failure_without_a_denial_is_the_commands(t):
    result, report = t.report("sh", "-c", "cat missing; (echo x > missing/y); rm none; mkdir .; exit 3")
    equal((report["exit"]["kind"], report["denials"]), ("command", []), "exit", result)


WRITES = (
    ("echo x > {p}/.git/config", "write", "{p}/.git/config"),
    ("echo x > {p}/.git/hooks/new", "create", "{p}/.git/hooks/new"),
    ("echo x > {p}/.env", "write", "{p}/.env"),
    ("echo x > {p}/link", "write", "/etc/passwd"),
    ("echo x > {p}/dangling", "create", "/etc/ringfence-none"),
    ("cd /usr; echo x > bin/../new", "create", "/usr/new"),
    ("echo x > /proc/self/root/etc/passwd", "write", "/etc/passwd"),
    ("cd /etc; echo x > /proc/self/cwd/passwd", "write", "/etc/passwd"),
    ("mkdir /usr/lib/new", "create", "/usr/lib/new"),
    ("mkdir /new", "create", "/new"),
    ("rm {p}/.git/config", "remove", "{p}/.git/config"),
    ("mv {p}/file {p}/.git/file", "create", "{p}/.git/file"),
    ("rmdir {p}/.git/hooks", "remove", "{p}/.git/hooks"),
    ("ln -s x /etc/link", "create", "/etc/link"),
    ("ln {p}/.git/config alias", "link", "{p}/.git/config"),
    ("chmod 600 /etc/passwd", "write", "/etc/passwd"),
    ("truncate -s 0 -c {p}/.git/config", "write", "{p}/.git/config"),
    ("mkfifo /dev/new", "create", "/dev/new"),
    ("touch {o}/file", "write", "{o}/file"),
    ("touch {o}/new", "create", "{o}/new"),
)


@cases(*WRITES)
def test_every_way_to_write_is_told(t, script, kind, target):
    for name in (".git/config", ".git/hooks/x", ".env", "file", os.path.join(t.outside, "file")):
        t.write(name, "before")
    os.unlink(t.path(".git/hooks/x"))
    os.symlink("/etc/passwd", t.path("link"))
    os.symlink("/etc/ringfence-none", t.path("dangling"))
    fill = lambda text: text.format(p=t.project, o=t.outside)  # noqa: E731
    result, found = denials(t, "sh", "-c", f"({fill(script)}); exit 1")
    contains([(d["kind"], d["target"]) for d in found], (kind, fill(target)), "the denials")
    expect(all(d["count"] >= 1 and d["argv"] and d["pid"] for d in found), "fields", found)


@cases("rm d/a d/b && rmdir d && ln -s /etc d", "mv d e && ln -s /etc d", "mv d e && mv link d",
       "rm s && ln -s /etc s", "mv -T link s", "ln -sfn /etc s")
def test_a_folder_that_comes_to_lead_elsewhere_is_looked_up_again(t, change):
    os.symlink("/etc", t.path("link"))
    script = (f"mkdir d && ln -s d s && touch d/a s/b || exit 3; {change} || exit 4; "
              "touch d/ringfence-none; touch s/ringfence-none; exit 1")
    result, found = denials(t, "sh", "-c", script)
    equal(result.code, 1, "the script", result)
    contains([(d["kind"], d["target"]) for d in found], ("create", "/etc/ringfence-none"), "the denials")


ORDINARY = (
    "echo x > file; echo x > /tmp/x; echo x > ~/x; echo x > /dev/shm/x; echo x > /dev/null",
    "mkdir -p a/b; mv a c; ln -s b c/l; rm -r c; touch f; chmod 700 f; ln f g",
    "mkdir -p /usr/bin /tmp/a; rm -f /usr/none /none; rmdir none; chmod 600 none; : < /etc/passwd",
    "rm -f none; mkdir /no/such/folder; (echo x > /no/such/file); cat /etc/none",
    "echo 5 > /proc/self/oom_score_adj; ls -la / /proc/self/ > ls; test -w /usr; test -e .env",
    "/usr/bin/python3 -c 'import json, socket, asyncio'",
    "cd $(mktemp -d) && rmdir $PWD && (echo x > y); ls . ..",
)


@cases(*ORDINARY)
def test_what_the_fence_does_not_refuse_is_not_told(t, script):
    t.write(".env", "secret")
    result, found = denials(t, "sh", "-c", script)
    equal((found, lines(result)), ([], []), "denials", result)


@cases(("touch ~/.there/x; {mkdir}; touch ~/.there/x; exit 1", []),
       ("echo x > ~/.there/x; {mkdir}; echo y > ~/.there/x; touch /usr/none; exit 1", ["/usr/none"]),
       ("touch ~/.there/x; {mkdir}; exit 1", ["{home}/.there/x"]))
def test_what_can_be_created_in_the_home_after_all_is_not_told(t, script, wanted):
    """The folder is there on the host, and missing in the private home until the command makes it."""
    os.mkdir(os.path.join(t.home, ".there"))
    result, found = denials(t, "sh", "-c", script.format(mkdir="mkdir -p ~/.there"))
    equal(result.code, 1, "exit status", result)
    equal([d["target"] for d in found], [target.format(home=t.home) for target in wanted], "denials")


@needs("git")
def test_what_git_tries_and_does_without_is_counted_but_not_told(t):
    subprocess.run(["git", "init", "-q", t.project], env=t.env(), check=True)
    t.write("file", "1")
    subprocess.run(["git", "-C", t.project, "add", "file"], env=t.env(), check=True)
    os.utime(t.path("file"), (1, 1))  # the index is to be refreshed
    env = t.env(GIT_OPTIONAL_LOCKS="1")
    script = "export GIT_OPTIONAL_LOCKS=1; git status >/dev/null; exit 3"
    result, report = t.report("sh", "-c", script, env=env)
    equal((lines(result), report["exit"]["kind"]), ([], "command"), "what is told", result)
    (denial,) = report["denials"]
    equal((denial["target"], denial["harmless"]), (t.path(".git/index.lock"), "git refreshes its index"), "the report")
    result, found = denials(t, "sh", "-c", "git add . 2>/dev/null; exit 3")
    equal(len(lines(result)), 1, "what git wanted to do is told", result)
    lacks(found[0], "harmless", "the denial")


@needs("cc", "make")
def test_a_build_has_no_denials(t):
    t.write("Makefile", "all: a b\n%: %.c\n\t$(CC) -o $@ $<\n")
    for name in "ab":
        t.write(f"{name}.c", "int main(void) { return 0; }\n")
    result, found = denials(t, "make", "-j2")
    equal((result.code, found), (0, []), "the build", result)


def test_a_rule_of_an_option_is_named(t):
    t.write("data/x", "1")
    t.write("docs/x", "1")
    result, found = denials(t, "sh", "-c", "(echo > data/x); (echo > docs/x); exit 1",
                            opts=("--hide", "data", "--read", "docs"))
    equal([(d["kind"], d["rule"]) for d in found], [("write", "hide data"), ("write", "read docs")],
          "denials", result)
    lacks([d["origin"] for d in found], "built-in", "origins")


@cases(("--read-only",), ("--write", "src"))
def test_a_project_that_is_read_only_says_why(t, *opts):
    os.mkdir(t.path("src"))
    _, found = denials(t, "sh", "-c", "echo x > new", opts=opts)
    equal(shown(found), [("create", t.path("new"), "project", opts[0])], "denials")


@cases(("mount-tmpfs /tmp", "mount"), ("unshare user", "unshare"), ("clone user", "clone"),
       ("setns net", "setns"), ("bpf", "bpf"), ("perf", "perf_event_open"), ("kexec", "kexec_load"),
       ("userfaultfd", "userfaultfd"), ("key-session", "keyctl"), ("init-module", "init_module"),
       ("fsopen tmpfs", "fsopen"), ("chroot /tmp", "chroot"))
def test_a_forbidden_call_is_told(t, act, name):
    result, found = denials(t, t.attack, *act.split())
    equal((result.code, result.out.strip().rpartition("\n")[2]), (1, "denied: EPERM"), "the act",
          result)
    contains(shown(found), ("syscall", name, f"syscall {name}", "built-in"), "denials")


@cases("io-uring", "clone3 user")
def test_a_call_that_programs_try_to_learn_what_there_is_is_not_told(t, act):
    result, found = denials(t, t.attack, *act.split())
    equal((result.code, found), (1, []), "denials", result)


@cases(("AF_PACKET", 17), ("AF_ALG", 38), ("AF_VSOCK", 40), ("AF_63", 63), ("AF_1000", 1000))
def test_a_socket_of_a_refused_family_is_told(t, name, family):
    script = f"import socket\ntry: socket.socket({family}, 1)\nexcept OSError as e: print(e.errno)\n"
    result, found = denials(t, "/usr/bin/python3", "-c", script)
    equal(result.out, "97\n", "EAFNOSUPPORT", result)
    equal(shown(found), [("socket", name, "syscall socket", "built-in")], "denials")


CONNECT = ("import socket, sys\ns = socket.socket({family}, {kind})\n"
           "try: s.connect({address!r})\nexcept OSError as e: print('no')\nelse: print('yes')\n")


@cases((socket.AF_INET, ("192.0.2.1", 80), "192.0.2.1:80"),
       (socket.AF_INET6, ("2001:db8::1", 443), "[2001:db8::1]:443"),
       (socket.AF_INET6, ("::ffff:192.0.2.1", 443), "[::ffff:192.0.2.1]:443"),
       (socket.AF_INET, ("127.0.0.1", 53), "127.0.0.1:53"))
def test_a_connection_without_a_network_is_told(t, family, address, target):
    script = CONNECT.format(family=int(family), kind=1, address=address)
    result, found = denials(t, "/usr/bin/python3", "-c", script)
    equal(result.out, "no\n", "the connection", result)
    equal(shown(found), [("connect", target, "net none", "built-in")], "denials")


def test_a_connection_inside_is_not_told(t):
    script = ("import socket\nfor f, a in ((2, '127.0.0.1'), (10, '::1')):\n"
              "  s = socket.socket(f); s.bind((a, 0)); s.listen()\n"
              "  socket.socket(f).connect(s.getsockname())\n"
              "s = socket.socket(1); s.bind('sock'); s.listen(); socket.socket(1).connect('sock')\n"
              "s = socket.socket(1); s.bind('\\0name'); s.listen(); socket.socket(1).connect('\\0name')\n"
              "try: socket.socket(1).connect('none')\nexcept OSError: print('fine')\n")
    result, found = denials(t, "/usr/bin/python3", "-c", script)
    equal((result.out, found), ("fine\n", []), "denials", result)


@cases("outside", "project", "abstract")
def test_a_socket_of_the_host_that_is_not_there_is_told(t, where):
    address = {"outside": os.path.join(t.outside, "s"), "project": t.path("s"),
               "abstract": f"\0ringfence-test-{os.getpid()}-{t.identity}"}[where]
    t.serve(address.encode() if where == "abstract" else address)
    script = CONNECT.format(family=1, kind=1, address=address)
    result, found = denials(t, "/usr/bin/python3", "-c", script)
    equal(result.out, "no\n", "the connection", result)
    rule = {"outside": "private /tmp", "project": "socket", "abstract": "net none"}[where]
    equal(shown(found), [("connect", address.replace("\0", "@"), rule, "built-in")], "denials")
    equal(t.run(["/usr/bin/python3", "-c", script]).out, "yes\n", "as a control, outside it is there")


def test_reads_are_told_only_when_they_are_traced(t):
    t.write(".env", "secret")
    t.at_home("notes", "private")
    script = f"cat .env; cat {t.home}/notes; cat /etc/shadow; cat none; cat /etc/passwd; ls -la; exit 1"
    result, found = denials(t, "sh", "-c", script)
    equal(found, [], "without --trace-reads", result)
    result, found = denials(t, "sh", "-c", script, opts=("--trace-reads",))
    wanted = [("read", t.path(".env"), "secret", "built-in"),
              ("read", f"{t.home}/notes", "private home", "built-in"),
              ("read", "/etc/shadow", "system", "built-in")]
    equal(shown([d for d in found if d["argv"][0] == "cat"]), wanted, "with it", result)


@needs("cc")
def test_a_build_works_while_reads_are_traced(t):
    t.write("a.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n")
    equal(t.works("sh", "-c", "cc -o a a.c && ./a", opts=("--trace-reads",)), "built\n", "the program")


def test_denials_can_be_switched_off(t):
    result, report = t.report("sh", "-c", "echo x > /etc/passwd; exit 1", opts=("--denials=false",))
    equal((lines(result), report["denials"], report["exit"]["kind"]), ([], [], "command"), "off", result)
    result = attack_inside(t, "unshare", "user", opts=("--denials=false",))
    equal(result.out, "denied: EPERM\n", "the filter decides alone", result)
    result = t.fence("true", opts=("--denials=maybe",))
    equal(result.code, 125, "neither true nor false", result)


@cases("new\nline", "esc\x1b[31m", "\udcff\udcfe", "back\\slash", "bidi\u202e", "quote\"")
def test_names_are_escaped(t, name):
    os.mkdir(t.path("docs"))
    target = os.path.join(t.project, "docs", name)
    result, found = denials(t, "/usr/bin/python3", "-c", "import sys; open(sys.argv[1], 'w')", target,
                            opts=("--read", "docs"))
    equal(len(lines(result)), 1, "one line", result)
    expect(lines(result)[0].isprintable(), "of printable characters", lines(result))
    equal(found[0]["target"], target.replace("\udcff", "\ufffd").replace("\udcfe", "\ufffd"), "target")


def test_twenty_lines_are_told_and_a_thousand_listed(t):
    result, report = t.report(t.attack, "storm", "1100")
    equal(result.code, 0, "the storm", result)
    equal(len(lines(result)), 20, "lines", result)
    contains(result.err, "[ringfence] there are more denials; --report lists them all\n", "stderr")
    equal((len(report["denials"]), report["denials_unlisted"]), (1000, 100), "the report")


def test_on_a_terminal_denials_are_told_after_the_command(t):
    terminal = t.tty(t.fence_argv("sh", "-c", "(echo x > /etc/passwd); (echo x > /etc/passwd);"
                                  " sleep 0.2; echo the end"))
    equal(terminal.wait(), 0, "exit status")
    text = terminal.text()
    expect(0 < text.find("the end") < text.find(LINE), "the order", text)
    contains(text, "by sh[3], 2 times\r\n", "the line")


@root_only
def test_root_explains_denials_to_the_owner_of_a_project(t):
    for base, folders, files in os.walk(t.home):
        for name in [base, *(os.path.join(base, n) for n in folders + files)]:
            os.chown(name, 12321, 12321)
    result = t.sh("echo x > /etc/passwd",
                  env=t.env(RINGFENCE_STATE_DIR=os.path.join(t.home, "state")))
    contains(result.err, f"{LINE}write /etc/passwd (rule: system, built-in) by sh[2]\n", "stderr")


@cases((), ("--trace-reads",), ("--denials=false",))
def test_setting_a_time_to_now_works_in_the_project_and_nowhere_else(t, *opts):
    t.write("file", "x")
    t.write("docs/file", "x")
    for name in ("file", "docs/file"):
        os.utime(t.path(name), (1, 1))
    script = ("import os, sys\nfor path in sys.argv[1:]:\n  try: os.utime(path)\n"
              "  except OSError as error: print(error.errno)\n  else: print(int(os.stat(path).st_mtime) > 1)\n")
    words = ["/usr/bin/python3", "-c", script, "file", t.path("file"), "docs/file", "/etc/passwd", "none"]
    result, found = denials(t, *words, opts=(*opts, "--read", "docs"))
    equal(result.out.split(), ["True", "True", "30", "30", "2"], "what a program gets", result)
    equal(os.stat(t.path("docs/file")).st_mtime, 1, "the time of a protected file")
    equal([d for d in found if d["kind"] != "read"], [], "denials")


# A command that attacks its observer.

@cases(("bad-paths",), ("race-path", "file"), ("die-asking", "300"), ("own-filter",),
       ("open-under-signals", "file"))
@timeout(180)
def test_a_strange_process_is_answered_like_any_other(t, *act):
    t.write("file", "x")
    for opts in ((), ("--trace-reads",), ("--denials=false",)):
        result = attack_inside(t, *act, opts=opts, timeout=60)
        equal((result.code, result.out), (0, "succeeded\n"), f"with {opts}", result)


def test_a_process_that_nobody_may_look_into_is_explained(t):
    _, found = denials(t, t.attack, "write-undumpable", "/etc/passwd")
    equal(shown(found), [("write", "/etc/passwd", "system", "built-in")], "denials")


def test_a_second_listener_is_refused_by_the_kernel(t):
    equal(attack_inside(t, "own-filter", "listener").out, "denied: EBUSY\n", "with denials")
    equal(attack_inside(t, "own-filter", "listener", opts=("--denials=false",)).code, 0, "without")


def test_without_a_listener_the_fence_holds_and_says_what_is_missing(t):
    kernel.take_the_listener()
    result, report = t.report("sh", "-c", "(echo x > /etc/passwd); ./attack unshare user; exit 2")
    equal((result.code, result.out), (2, "denied: EPERM\n"), "the fence", result)
    equal((report["denials"], report["exit"]["kind"]), ([], "command"), "the report")
    contains(result.err, "[ringfence] denials are not explained: ", "stderr")


def test_a_command_that_asks_without_end_runs_out_of_time(t):
    result = t.fence(t.attack, "storm", "1000000000", opts=("--timeout", "1s"))
    equal(result.code, 124, "exit status", result)
    t.all_gone()


def test_many_arguments_are_cut(t):
    script = "import os; os.execv('./attack', ['./attack', 'storm', '1', *[''] * 4000])"
    result, found = denials(t, "/usr/bin/python3", "-c", script)
    equal(found[0]["argv"][:3], ["./attack", "storm", "1"], "argv", result)
    equal(len(found[0]["argv"]), 256, "how many")


def test_odd_targets_do_not_hold_anybody_up(t):
    t.write(".git/config", "x")
    os.mkfifo(t.path(".git/fifo"))
    os.symlink("loop", t.path("loop"))
    script = ("(echo x > loop); (echo x > loop/x); mkfifo f; "
              "/usr/bin/python3 -c \"import os; os.open('f', os.O_WRONLY | os.O_NONBLOCK)\"; "
              "/usr/bin/python3 -c \"import os; os.open('.git/fifo', os.O_WRONLY | os.O_NONBLOCK)\"; "
              "(echo x > /proc/self/fd/99/x); (echo x > /proc/999999/root/x); echo the end")
    result, found = denials(t, "sh", "-c", script)
    contains(result.out, "the end", "stdout")
    lacks([d["target"] for d in found], t.path("loop"), "targets")


def test_killing_ringfence_ends_whoever_waits_for_an_answer(t):
    t.leftover_runs = True
    process = t.fence_start("sh", "-c", "echo ready; while :; do (echo x > /etc/passwd); done")
    equal(process.stdout.readline(), b"ready\n", "the command")
    process.send_signal(signal.SIGSTOP)
    process.kill()
    process.wait()
    t.all_gone()


def test_a_ringfence_that_is_stopped_goes_on_where_it_was(t):
    process = t.fence_start("sh", "-c", "echo ready; read x; echo y > file; (echo y > /etc/passwd); "
                            "echo the end", stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command")
    process.send_signal(signal.SIGSTOP)
    process.stdin.write(b"go\n")
    process.stdin.flush()
    process.send_signal(signal.SIGCONT)
    result = t.finish(process)
    equal((result.code, result.out), (0, "the end\n"), "the command", result)
    equal(len(lines(result)), 1, "denials", result)


def test_a_reader_of_stderr_that_does_not_read_holds_nobody_up(t):
    script = ("i=0; while [ $i -lt 100 ]; do (echo x > /etc/passwd-$i) 2> /dev/null; i=$((i + 1)); done; "
              "echo the end")
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    process = t.fence_start("sh", "-c", script, stderr=writing)
    os.close(writing)
    equal(process.stdout.readline(), b"the end\n", "the command ends though nobody reads")
    while os.read(reading, 1 << 16):
        pass
    os.close(reading)
    equal(process.wait(600), 0, "exit status")


# Tools that try what nobody asked for

def denied(t, *command, opts=()):
    """Returns what was denied in a run in which the command succeeds."""
    result, found = denials(t, *command, opts=opts)
    equal(result.code, 0, "the command", result)
    return sorted({(d["kind"], d["target"]) for d in found})


@needs("npm")
def test_npm_does_not_look_for_a_newer_npm(t):
    t.write("package.json", '{"name": "x", "version": "1.0.0", "scripts": {"test": "true"}}')
    equal(denied(t, "npm", "test"), [], "denials")
    control = denied(t, "npm", "test", opts=("--env", "npm_config_update_notifier=true"))
    equal([kind for kind, _ in control], ["connect"], "denials with the notifier")


@needs("git")
def test_git_status_does_not_try_to_write_an_index_that_is_read_only(t):
    t.run(["git", "init", "-q"])
    t.write("a", "x")
    t.run(["git", "add", "a"])
    os.utime(os.path.join(t.project, "a"), (1, 1))
    equal(denied(t, "git", "status"), [], "denials")
    control = denied(t, "git", "status", opts=("--env", "GIT_OPTIONAL_LOCKS=1"))
    equal(control, [("create", os.path.join(t.project, ".git/index.lock"))], "denials with locks")


def test_what_is_made_in_the_private_home_is_no_denial(t):
    t.at_home(".npm/_logs/old", "x")
    script = "mkdir -p ~/.npm/_logs && echo x > ~/.npm/_logs/new && mv ~/.npm/_logs/new ~/.npm/a && rm ~/.npm/a"
    equal(denied(t, "sh", "-c", script), [], "denials")
    contains(denied(t, "sh", "-c", "echo x > ~/.npm/_logs/old || true"), ("write", f"{t.home}/.npm/_logs/old"),
             "denials where the folder was not made")
