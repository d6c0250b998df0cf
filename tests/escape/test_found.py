"""Ways around the fence that were found by attacking it, and must stay closed."""

import os
import socket
import tempfile
import time

from harness import (Skip, cases, contains, equal, expect, refused_before_start, root_only,
                     user_only)
from harness import kernel
from harness.loop import until
from harness.patience import in_time


def test_a_report_does_not_follow_a_symlink_that_an_earlier_run_planted(t):
    victim = t.write(os.path.join(t.outside, "victim"), "before")
    t.works("ln", "-s", victim, "report.json")
    result = t.fence("true", opts=("--report", "report.json"))
    equal(result.code, 125, "exit status", result)
    equal(t.read(victim), "before", "the victim")


def test_a_report_stays_in_the_folder_that_was_named(t):
    os.mkdir(t.path("out"))
    result = t.sh(f"mv out away; ln -s {t.outside} out", opts=("--report", "out/r.json"))
    equal(result.code, 0, "exit status", result)
    expect(not os.path.exists(os.path.join(t.outside, "r.json")), "nothing may be written outside")
    expect(t.exists("away/r.json"), "the report is where it was to be", result)


def test_a_repository_split_by_commondir_loses_its_head(t):
    t.works("sh", "-c", "mkdir -p wt data/objects data/refs; echo ref: refs/heads/main > wt/HEAD; "
            "echo ../data > wt/commondir; printf '[core]\\nfsmonitor = evil' > data/config")
    expect(not t.exists("wt/HEAD"), "git on the host must not take it for a repository")


@cases("hooksPath", "hooks", "config")
def test_what_git_takes_from_the_project_is_protected(t, how):
    t.run(["git", "init", "-q", "."])
    if how == "hooksPath":
        t.run(["git", "config", "core.hooksPath", "scripts/hooks"])
        target = t.write("scripts/hooks/pre-commit", "mine")
    elif how == "hooks":
        t.run(["rm", "-r", t.path(".git/hooks")])
        os.symlink("../scripts", t.path(".git/hooks"))
        target = t.write("scripts/pre-commit", "mine")
    else:
        os.rename(t.path(".git/config"), t.path("gitconfig"))
        os.symlink("../gitconfig", t.path(".git/config"))
        target = t.path("gitconfig")
    before = t.read(target)
    result = t.sh(f"echo evil >> {target}")
    equal(t.read(target), before, "what git obeys")
    expect(result.code != 0, "it is denied", result)


def test_a_hooks_path_that_does_not_exist_yet_is_watched(t):
    t.run(["git", "init", "-q", "."])
    t.run(["git", "config", "core.hooksPath", "scripts/hooks"])
    result = t.sh("mkdir -p scripts/hooks; echo evil > scripts/hooks/pre-commit")
    expect(not t.exists("scripts/hooks/pre-commit"), "it must not stay", result)
    contains(result.err, "quarantined", "stderr")


def test_a_project_that_is_a_bare_repository_keeps_its_hooks(t):
    t.run(["git", "init", "-q", "--bare", "."])
    for script in ("echo evil > hooks/pre-receive", "echo evil >> config"):
        result = t.sh(script)
        expect(result.code != 0, "it is denied", result)
    t.works("sh", "-c", "echo fine > other")


@cases(0o600, 0o400, 0o000)
def test_a_secret_in_a_folder_without_rights_is_hidden(t, mode):
    t.write("private/.env", "the secret")
    os.chmod(t.path("private"), mode)
    result = t.sh("echo ran; chmod 700 private; cat private/.env")
    os.chmod(t.path("private"), 0o700)
    equal(result.out, "ran\n", "what was read", result)
    equal(t.read("private/.env"), "the secret", "the control")


@cases("400", "600", "000")
def test_a_folder_without_rights_hides_nothing_from_the_sweep(t, mode):
    result = t.sh(f"mkdir -p d/.vscode; echo evil > d/.vscode/tasks.json; chmod {mode} d")
    t.run(["chmod", "-R", "u+rwX", t.project])
    expect(not t.exists("d/.vscode/tasks.json"), "it must not stay", result)


def test_a_protected_file_as_stdin_is_refused(t):
    t.write(".mcp.json", "{}")
    with open(t.path(".mcp.json"), encoding="utf-8") as file:
        result = t.sh("echo evil > /proc/self/fd/0", stdin=file)
    equal((result.code, t.read(".mcp.json")), (125, "{}"), "the file", result)


def test_the_users_own_repository_in_a_hidden_folder_stays(t):
    for folder in ("secrets", ".env.d", "mine"):
        os.makedirs(t.path(folder))
        t.run(["git", "init", "-q", t.path(folder)])
    result = t.fence("true", opts=("--hide", "mine"))
    for folder in ("secrets", ".env.d", "mine"):
        expect(t.exists(f"{folder}/.git/config"), f"{folder}/.git is the user's", result)


def test_a_symlink_behind_a_protected_symlink_is_followed(t):
    os.makedirs(t.path("conf"))
    t.write("src/settings.json", "{}")
    os.symlink("conf", t.path(".claude"))
    os.symlink("../src/settings.json", t.path("conf/settings.json"))
    result = t.sh("echo evil > src/settings.json")
    equal(t.read("src/settings.json"), "{}", "what the agent reads", result)


def test_a_socket_in_the_project_cannot_be_listened_for(t):
    path = t.path("app.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        result = t.fence("true", opts=("--listen", f"127.0.0.1:8080={path}"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "replace", "stderr")


def test_a_log_that_begins_while_the_fence_starts_is_no_reason_to_refuse(t):
    codes = [t.run(["sh", "-c", f"{t.ringfence} exec -- true 2>&1 | tee log{i}; exit $?"]).out
             for i in range(6)]
    equal(codes, [""] * 6, "what is said")


def test_a_signal_does_not_end_the_sweep_half_way(t):
    process = t.fence_start("sh", "-c", "i=0; while [ $i -lt 300 ]; do mkdir -p d$i/.vscode; "
                            "i=$((i+1)); done; echo done")
    process.stdout.readline()
    while process.poll() is None:
        process.terminate()
    process.communicate()
    left = [i for i in range(300) if t.exists(f"d{i}/.vscode")]
    equal(left, [], "what stayed")


def test_later_options_do_not_bring_an_earlier_symlink_into_reach(t):
    folder = os.path.join(t.outside, "d")
    target = os.path.join(t.outside, "target")
    os.mkdir(folder)
    os.mkdir(target)
    os.symlink(target, os.path.join(folder, "link"))
    result = t.fence("true", opts=("--write", os.path.join(folder, "link"), "--write", folder))
    equal(result.code, 125, "exit status", result)


@cases("--read", "--hide")
def test_a_file_of_etc_that_is_not_there_otherwise_can_be_named(t, option):
    result = t.sh("head -c 1 /etc/fstab >/dev/null && echo read", opts=(option, "/etc/fstab"))
    if not os.path.exists("/etc/fstab"):
        raise Skip("there is no /etc/fstab here")
    equal((result.code, result.out), (0, "read\n") if option == "--read" else (1, ""), "what came out", result)


def test_a_project_in_var_tmp_works(t):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        t.write(os.path.join(folder, "file"), "x")
        t.write(os.path.join(folder, ".env"), "the secret")
        result = t.run([t.ringfence, "exec", "--project", folder, "--", "sh", "-c",
                        "cat file; echo y > new; cat .env; touch /var/tmp/other && echo scratch"])
        equal((result.out, os.path.exists(os.path.join(folder, "new"))), ("xscratch\n", True), "it works",
              result)
        expect(not os.path.exists("/var/tmp/other"), "the rest of it is private")


def test_a_caller_that_ignores_its_children_does_not_make_it_hang(t):
    code = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    result = t.run(["/usr/bin/python3", "-c", code, *t.fence_argv("sh", "-c", "true; echo ran; exit 3")])
    equal((result.code, result.out), (3, "ran\n"), "the end", result)


@cases("processes: 100000", "tmp-size: 900T")
def test_a_repository_does_not_raise_what_is_bounded_anyway(t, line):
    t.write("ringfence.yml", f"{line}\n")
    result = t.fence("bash", "-c", "ulimit -u; df -B1 --output=size /tmp | tail -1")
    contains(result.err, "inactive until you run", "stderr")
    processes, size = map(int, result.out.split())
    expect(processes <= 2048 and size < 1 << 44, "the bounds hold", result)


def test_a_limit_of_memory_never_makes_tmp_larger(t):
    t.write("ringfence.yml", "memory: 900T\n")
    before = int(t.works("sh", "-c", "df -B1 --output=size /tmp | tail -1", opts=("--memory", "none")))
    size = int(t.works("sh", "-c", "df -B1 --output=size /tmp | tail -1"))
    expect(size <= before, "the size of /tmp", (size, before))


def own_settings_in(t, project):
    os.makedirs(t.path(f"{project}/config/other"))
    os.symlink(t.path(f"{project}/config"), os.path.join(t.home, ".config"))
    return ("--project", t.path(project))


@cases("mkdir -p config/ringfence; echo 'net: open' > config/ringfence/config.yml",
       "mkdir -p config/autostart; echo x > config/autostart/x.desktop")
def test_settings_at_home_that_lead_into_the_project_stay_closed(t, script):
    where = own_settings_in(t, "dotfiles")
    result = t.run([t.ringfence, "exec", *where, "--", "sh", "-c", f"{script}; touch file"])
    equal(t.exists("dotfiles/file"), True, "the project can be written", result)
    equal(os.listdir(t.path("dotfiles/config")), ["other"], "what is in the settings", result)


def test_the_own_settings_cannot_be_opened_by_an_option(t):
    folder = os.path.join(t.outside, "xdg")
    os.makedirs(f"{folder}/ringfence")
    for path in (f"{folder}/ringfence", folder):
        refused_before_start(t, "--write", path, env=t.env(XDG_CONFIG_HOME=folder), says="protected")


def test_settings_with_a_second_name_are_refused(t):
    path = t.at_home(".config/ringfence/config.yml", "net: none\n")
    t.works("true")
    os.link(path, t.path("innocent"))
    refused_before_start(t, says="hard link")


def test_a_full_stderr_does_not_stop_the_clock(t):
    fill = ("import fcntl, os; fcntl.fcntl(2, fcntl.F_SETPIPE_SZ, 4096); os.set_blocking(2, False)\n"
            "try:\n    while True: os.write(2, b'x' * 512)\nexcept BlockingIOError: pass\n"
            "os.set_blocking(2, True)\n"
            "for i in range(30):\n    try: open(f'/etc/x{i}', 'w')\n    except OSError: pass\n"
            "import time; time.sleep(600)")

    def attempt(seconds):
        process = t.fence_start("/usr/bin/python3", "-c", fill, opts=("--timeout", f"{seconds}s"))

        def runs():
            return any(command.startswith("/usr/bin/python3") for _, command in kernel.descendants_of(process.pid))
        until("the command runs", runs)
        until("the command ends, though nobody reads", lambda: not runs())
        _, err = t.communicate(process)
        return err.decode(errors="replace")
    contains(in_time(attempt, lambda err: "denied" in err), "denied create /etc/x0", "what is told when it is over")


def test_patterns_that_take_too_long_are_named(t):
    t.write(".ringfenceignore", "".join(f"*[{'b' * 400}a][{'b' * 400}a]{i}\n" for i in range(900)))
    for i in range(60):
        t.write("a" * 240 + str(i), "x")
    before = t.spent()
    result = t.fence("true")
    expect(t.spent() - before < 20, "an answer in time", result.err[:300])
    equal(result.code, 0, "exit status", result.err[:300])


def test_space_that_is_reserved_counts_as_written(t):
    t.needs_counted_writes()
    result = t.fence("/usr/bin/python3", "-c", "import os; f = open('big', 'wb'); "
                     "os.posix_fallocate(f.fileno(), 0, 60 << 20); os.fsync(f.fileno())",
                     opts=("--disk", "4M"))
    equal(result.code, 123, "exit status", result)
    contains(result.err, "disk", "the limit")


@root_only
def test_a_group_of_somebody_else_is_left_alone(t):
    base = "/sys/fs/cgroup/pids"
    if not os.path.isdir(base) or not os.access(base, os.W_OK):
        raise Skip("there are no control groups of version 1 here")
    own = next((line.split(":")[2] for line in open("/proc/self/cgroup", encoding="utf-8").read().splitlines()
                if line.split(":")[1] == "pids"), "/")
    group = f"{base}{own.rstrip('/')}/ringfence-mine-{os.getpid()}"
    os.mkdir(group)
    sleeper = t.start(["sleep", "600"])
    try:
        t.write(f"{group}/cgroup.procs", f"{sleeper.pid}\n")
        t.works("true", opts=("--processes", "64"))
        equal(sleeper.poll(), None, "the process in it")
        expect(os.path.isdir(group), "the group")
    finally:
        sleeper.kill()
        sleeper.wait()
        os.rmdir(group)


@user_only
def test_a_fence_leaves_watches_to_others(t):
    code = ("import ctypes\nlibc = ctypes.CDLL(None)\nn = 0\n"
            "while n < 10000 and libc.inotify_init() >= 0: n += 1\nprint(n)")
    most = int(open("/proc/sys/fs/inotify/max_user_instances", encoding="utf-8").read())
    inside = int(t.works("/usr/bin/python3", "-c", code))
    expect(0 < inside <= most // 4, f"a fence gets a quarter of {most}, not {inside}")
