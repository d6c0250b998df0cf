"""--fence landlock: a fence without namespaces and mounts, for machines that forbid them."""

import os
import signal
import socket
import stat
import subprocess

from harness import cases, contains, equal, expect, refused_before_start, root_only, user_only
from harness import kernel
from harness.control import attack_outside

LANDLOCK = ("--fence", "landlock")
WEAKER = ["names", "processes", "network", "lifetime"]


def works(t, script, *opts, **options):
    return t.works("sh", "-c", script, opts=(*LANDLOCK, *opts), **options)


def python(t, script, *opts, **options):
    return t.fence("python3", "-c", script, opts=(*LANDLOCK, *opts), **options)


def homes(t):
    folder = os.path.join(t.state, "homes")
    return sorted(os.listdir(folder)) if os.path.exists(folder) else []


@user_only
def test_a_command_runs_where_user_namespaces_are_forbidden(t):
    kernel.forbid_user_namespaces()
    refused_before_start(t, says=("namespaces", "--fence landlock"))
    equal(works(t, "echo ran; echo x > new; cat new"), "ran\nx\n", "the output")
    equal(t.read("new"), "x\n", "the new file")


@user_only
def test_auto_does_not_choose_it(t):
    equal(t.report("true")[1]["mechanism"], "bwrap", "the mechanism")
    kernel.forbid_user_namespaces()
    refused_before_start(t, says="namespaces")


@user_only
def test_the_report_names_what_is_weaker(t):
    report = t.report("true", opts=LANDLOCK)[1]
    equal((report["mechanism"], report["weaker"]), ("landlock", WEAKER), "the report")
    expect(report["canaries"]["total"] == report["canaries"]["passed"] > 10, "canaries", report)


@user_only
def test_the_doctor_names_what_is_weaker(t):
    out = t.run([t.ringfence, "doctor"]).out
    for name in WEAKER:
        contains(out, name, "the doctor")


@root_only
def test_files_of_root_cannot_be_lent(t):
    refused_before_start(t, *LANDLOCK, says="switch to a regular user")


@user_only
@cases(("--draft",), ("--listen", "127.0.0.1:8080"))
def test_what_needs_namespaces_is_refused(t, *opts):
    result = t.fence("true", opts=(*LANDLOCK, *opts))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "fence landlock", "the reason")


# Files

CREATED = """
echo one > file; echo two >> file; cat file
mkdir -p folder/inner; echo x > folder/inner/x; mv folder renamed; cat renamed/inner/x
ln file second; ln -s file link; cat link
mv file moved; cp /bin/true program; ./program && echo executed
chmod 600 moved; stat -c %a moved; touch -d @1000 moved; stat -c %Y moved
truncate -s 3 moved; cat moved; echo
mkfifo pipe; (echo piped > pipe &); cat pipe
rm -r renamed moved second link program pipe; ls *file* *moved* *pipe* 2>/dev/null
"""


@user_only
@cases("nothing", "something protected", "something hidden", "both")
def test_new_entries_can_be_made_beside(t, what):
    """Landlock has no exceptions: what it cannot allow in such a folder is done outside."""
    if what in ("something protected", "both"):
        os.mkdir(t.path(".vscode"))
        t.write(".vscode/tasks.json", "mine\n")
    if what in ("something hidden", "both"):
        t.write(".env", "the secret\n")
    script = CREATED if what in ("nothing", "something protected") else CREATED.replace("./program", "true")
    out = t.sh(script, opts=LANDLOCK).out
    equal(out, "one\ntwo\nx\none\ntwo\nexecuted\n600\n1000\none\npiped\n", "the output")


@user_only
def test_a_program_that_was_just_written_can_be_executed(t):
    """Nobody else has it open any more when the call that opened it returns."""
    os.mkdir(t.path(".vscode"))
    works(t, "for i in $(seq 200); do cp /bin/true program && ./program && rm program || exit 1; done")


@user_only
@cases("echo evil > .git/config", "echo evil > .git/hooks/pre-commit", "chmod 777 .git/config",
       "touch -d @1 .git/config", "rm -r .git", "mv .git other", "mv .git/config .git/x",
       "ln .git/config x && echo evil > x", "truncate -s 0 .git/config", "cat .env", "cp .env x",
       "ln .env x && cat x", "mv .env x", "ln -s .env x && cat x", "chmod 777 .env",
       "cat /proc/self/cwd/.env", "exec 3<.env")
def test_what_is_protected_or_hidden_stays_so(t, script):
    subprocess.run(["git", "init", "-q", "--template=", "."], cwd=t.project, check=True)
    os.mkdir(t.path(".git/hooks"))
    t.write(".git/config", "mine\n", 0o644)
    t.write(".env", "the secret\n", 0o644)
    before = os.lstat(t.path(".git/config"))
    result = t.sh(f"({script}) && echo done; echo over", opts=LANDLOCK)
    equal(result.out, "over\n", "the output", result)
    after = os.lstat(t.path(".git/config"))
    equal((t.read(".git/config"), t.read(".env"), before.st_mode, before.st_mtime_ns),
          ("mine\n", "the secret\n", after.st_mode, after.st_mtime_ns), "the files", result)
    equal(os.listdir(t.path(".git/hooks")), [], "the hooks", result)


@user_only
def test_only_the_named_folder_is_writable(t):
    os.mkdir(t.path("sub"))
    os.mkdir(t.path("sub/.vscode"))
    out = works(t, "echo x > sub/new; cat sub/new; echo y > other || echo denied", "--write", "sub")
    equal(out, "x\ndenied\n", "the output")


@user_only
def test_a_protected_folder_stays_so_when_others_move_what_it_is_in(t):
    """Landlock knows files, and the rules of the plan know paths."""
    t.write("dir/.vscode/tasks.json", "mine\n")
    process = t.fence_start("sh", "-c", "echo ready; read line; echo evil > moved/.vscode/tasks.json; "
                            "echo evil > moved/.vscode/new; echo over", opts=LANDLOCK, stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command")
    os.rename(t.path("dir"), t.path("moved"))
    result = t.finish(process, input=b"\n")
    contains(result.out, "over", "the output")
    equal((t.read("moved/.vscode/tasks.json"), t.exists("moved/.vscode/new")), ("mine\n", False), "the files")


@user_only
def test_a_denied_write_is_reported(t):
    os.mkdir(t.path(".vscode"))
    t.write(".vscode/tasks.json", "mine\n")
    report = t.report("sh", "-c", "echo evil > .vscode/tasks.json; true", opts=LANDLOCK)[1]
    equal([(d["kind"], d["target"]) for d in report["denials"]],
          [("write", t.path(".vscode/tasks.json"))], "denials")


@user_only
@cases("os.chmod(path, 0o777)", "os.utime(path, (1, 1))",
       "os.chmod(f'/proc/self/fd/{os.open(path, os.O_PATH)}', 0o777)", "os.truncate(path, 0)",
       "os.setxattr(path, 'user.mark', b'x')", "os.symlink(path, 'link'); os.chmod('link', 0o777)",
       "os.chmod(os.path.dirname(path), 0o777)")
def test_metadata_outside_cannot_be_set(t, act):
    """Landlock does not govern most metadata."""
    path = os.path.join(t.outside, "folder", "file")
    os.mkdir(os.path.dirname(path), 0o700)
    with open(path, "w", encoding="ascii") as file:
        file.write("text")
    os.chmod(path, 0o600)
    script = f"import os\npath = {path!r}\n{act}\nprint('done')"

    def looks():
        folder, at = os.stat(os.path.dirname(path)), os.stat(path)
        return [stat.S_IMODE(folder.st_mode), stat.S_IMODE(at.st_mode), at.st_mtime_ns, at.st_size, os.listxattr(path)]

    before = looks()
    result = python(t, script)
    expect(result.code != 0 and "done" not in result.out, "denied inside", result)
    equal(looks(), before, "the file", result)
    for left in ("link",) if t.exists("link") else ():
        os.unlink(t.path(left))
    control = t.run(["python3", "-c", script])
    expect("done" in control.out or "user.mark" in act, "the control", control)


@user_only
def test_home_and_temporary_folder_are_made_for_the_run(t):
    t.at_home(".netrc")
    out = works(t, 'ls -A "$HOME" "$TMPDIR"; echo x > "$HOME/x"; echo y > "$TMPDIR/y"; cat "$HOME/x" "$TMPDIR/y"; '
                   f'cat {t.home}/.netrc || echo hidden; echo z > /tmp/ringfence-z || echo denied')
    equal(out.split("\n", 3)[3], "x\ny\nhidden\ndenied\n", "the output")
    equal(homes(t), [], "folders after the run")


@user_only
def test_the_home_of_a_killed_run_is_removed_by_the_next(t):
    process = t.fence_start("sh", "-c", "echo x > $HOME/x; echo ready; exec sleep 600", opts=LANDLOCK)
    equal(process.stdout.readline(), b"ready\n", "the command")
    beside = t.fence_start("sh", "-c", "echo ready; read line; cat $HOME/../home/y; exit 0", opts=LANDLOCK,
                           stdin=subprocess.PIPE)
    equal(beside.stdout.readline(), b"ready\n", "the other command")
    t.kill(process)
    works(t, "true")
    equal(len(homes(t)), 1, "the folder of the run that goes on")
    t.finish(beside, input=b"\n")
    works(t, "true")
    equal(homes(t), [], "folders after all runs")


@user_only
def test_too_many_entries_are_refused_before_anything_runs(t):
    os.mkdir(t.path(".vscode"))
    for i in range(20001):
        os.close(os.open(t.path(f"f{i}"), os.O_CREAT | os.O_WRONLY, 0o600))
    refused_before_start(t, *LANDLOCK, says=("20000", "Landlock rule"))


# Sockets

CONNECT = "import socket; s = socket.socket(socket.AF_UNIX); s.connect({!r}); print(s.recv(99))"


@user_only
@cases("path", "symlink", "relative")
def test_a_unix_socket_of_the_host_cannot_be_reached(t, kind):
    path = os.path.join(t.outside, "s")
    t.serve(path)
    if kind == "symlink":
        os.symlink(path, t.path("link"))
    name = {"symlink": "link", "relative": os.path.relpath(path, t.project)}.get(kind, path)
    result = python(t, CONNECT.format(name))
    equal(result.code, 1, "exit status", result)
    contains(t.run(["python3", "-c", CONNECT.format(name)], cwd=t.project).out, "b'", "the control")


SERVED = """
import os, socket
server = socket.{new}
{more}
client = socket.socket(server.family)
client.connect({to})
print(server.accept() and 'met')
"""


@user_only
@cases(("in the project", "socket(socket.AF_UNIX)", "server.bind('s'); server.listen()", "'s'"),
       ("in its temporary folder", "socket(socket.AF_UNIX)",
        "server.bind(os.environ['TMPDIR'] + '/s'); server.listen()", "os.environ['TMPDIR'] + '/s'"),
       ("on a loopback port", "create_server(('127.0.0.1', 0))", "", "server.getsockname()"),
       ("on every address", "create_server(('', 0))", "", "('127.0.0.1', server.getsockname()[1])"),
       ("by IPv6", "create_server(('::1', 0), family=socket.AF_INET6)", "", "server.getsockname()"))
def test_a_server_of_the_command_itself_can_be_reached(t, _, new, more, to):
    os.mkdir(t.path(".vscode"))
    result = python(t, SERVED.format(new=new, more=more, to=to))
    equal(result.out, "met\n", "the output", result)


@user_only
@cases("127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1")
def test_a_server_of_the_host_cannot_be_reached(t, host):
    family = socket.AF_INET6 if host == "::1" else socket.AF_INET
    server = t.serve(("::1" if host == "::1" else "0.0.0.0", 0), family=family)
    port = server.getsockname()[1]
    script = f"import socket; print(socket.create_connection(({host!r}, {port})).recv(99))"
    result = python(t, script)
    contains(result.err, "ConnectionRefusedError", "inside")
    contains(t.run(["python3", "-c", script]).out, "b'", "the control")


@user_only
@cases("s.bind(('0.0.0.0', 0)); s.listen(); assert s.getsockname()[0] != '127.0.0.1'",
       "s.listen()", "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1); s.bind(('127.0.0.1', 0))",
       "s.bind((socket.gethostbyname(socket.gethostname()) if 0 else '192.0.2.1', 0))",
       "s.sendto(b'x', 0x20000000, ('127.0.0.1', 9))",
       "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
       "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)", "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)")
def test_no_other_way_leads_to_the_network(t, act):
    result = python(t, f"import socket\ns = socket.socket()\n{act}\nprint('open')")
    expect(result.code != 0 and "open" not in result.out, "denied inside", result)


@user_only
def test_only_the_gateway_answers_and_it_knows_its_clients(t):
    ask = ("import urllib.request as u\ntry: u.urlopen('http://evil.example/', timeout=60)\n"
           "except Exception as e: print(e)")
    result = python(t, ask, "--allow", "allowed.example")
    contains(result.out, "403", "the answer")
    contains(result.err, "denied connect evil.example:80", "the denial")
    contains(result.err, "by python3", "the denial")


# Processes

@user_only
@cases(("kill", "0"), ("ptrace", "attach"), ("proc-mem",))
def test_another_process_of_the_user_cannot_be_touched(t, *act):
    pid = str(t.sleeper().pid)
    words = (act[0], pid, *act[1:]) if act[0] == "kill" else (*act, pid)
    result = t.fence(t.attack, *words, opts=LANDLOCK)
    contains(result.out, "denied: ", "inside")
    contains(attack_outside(t, *words).out, "succeeded", "the control")


@user_only
@cases("resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))", "os.setpriority(os.PRIO_PROCESS, pid, 19)",
       "os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))})", "open(f'/proc/{pid}/oom_score_adj', 'w').write('900')")
def test_another_process_of_the_user_cannot_be_slowed_down(t, act):
    script = f"import os, resource\npid = {t.sleeper().pid}\n{act}\nprint('done')"
    result = python(t, script)
    expect(result.code != 0 and "done" not in result.out, "denied inside", result)
    contains(t.run(["python3", "-c", script]).out, "done", "the control")


@user_only
@cases("ringfence", "ringfence-init")
def test_nothing_survives_when_one_of_ours_is_killed(t, who):
    """There is no pid namespace that would end with its first process."""
    process = t.fence_start("sh", "-c", "setsid sh -c 'setsid sleep 600 & exec sleep 600' & echo ready; sleep 600",
                            opts=LANDLOCK)
    equal(process.stdout.readline(), b"ready\n", "the command")
    inits = [pid for pid, command in kernel.descendants_of(process.pid) if command == "ringfence-init"]
    equal(len(inits), 1, "init", kernel.descendants_of(process.pid))
    os.kill(process.pid if who == "ringfence" else inits[0], signal.SIGKILL)
    t.communicate(process)
    t.all_gone()
    t.leftover_runs = True


@user_only
def test_a_command_on_a_terminal_ends_as_usual(t):
    """Init leads the session of the terminal, and must not end with it."""
    inside = t.tty(t.fence_argv("sh", "-c", "tty; echo ready > /dev/tty; exit 3", opts=LANDLOCK))
    inside.expect("/dev/pts/")
    inside.expect("ready")
    equal(inside.wait(), 3, "exit status", inside.text())


@user_only
def test_a_loop_in_place_completes(t):
    t.write("agent.sh", "echo x > done\n")
    result = t.run([t.ringfence, "run", *LANDLOCK, "make it", "--workspace", "in-place",
                    "--agent-command", "sh agent.sh", "--check", "test -f done"])
    equal(result.code, 0, "exit status", result)
    contains(result.out, "completed", "the output")
