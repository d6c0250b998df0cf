"""Unusual names, folders and environments: it works or says why not, and never leaves a silent hole."""

import contextlib
import json
import os
import pwd
import subprocess

from harness import (cases, contains, denied_inside_allowed_outside, equal, expect, lacks,
                     refused_before_start, root_only, user_only)
from harness import kernel

ODD_NAMES = ("with space", "quote'", 'double"quote', "new\nline", "esc\x1b[31m", "ünïcödé ☃", "-dash",
             "--hide", "$HOME", "`id`", "a;b", "back\\slash", "tab\there", "star*", "invalid-\udcff-utf8",
             "trailing ", " leading", "'; rm -rf x; '", "%s%n", "=", "a=b", ":", "#")


def move_project(t, name):
    target = os.path.join(t.home, name)
    os.rename(t.project, target)
    t.project = target
    t.attack = os.path.join(target, "attack")


@cases(*ODD_NAMES)
def test_a_project_with_an_odd_name_works_and_is_protected(t, name):
    move_project(t, name)
    t.write(".git/config", "before")
    t.write(".env", "the secret")
    out = t.works("sh", "-c", "pwd; echo new > file; cat file")
    equal(out, f"{t.project}\nnew\n", "what the command sees")
    equal(t.read("file"), "new\n", "the file outside")
    denied_inside_allowed_outside(t, "read", ".env", errno="EACCES")
    denied_inside_allowed_outside(t, "write", ".git/config", unchanged=[t.path(".git/config")])


@cases(*ODD_NAMES)
def test_a_file_with_an_odd_name_can_be_hidden(t, name):
    t.write(f"dir/{name}", "the secret")
    denied_inside_allowed_outside(t, "read", f"dir/{name}", opts=("--hide", f"dir/{name}"),
                                  errno="EACCES")


@cases(*ODD_NAMES)
def test_a_secret_below_a_folder_with_an_odd_name_is_hidden(t, name):
    t.write(f"{name}/.env", "the secret")
    denied_inside_allowed_outside(t, "read", f"./{name}/.env", errno="EACCES")


@cases(*ODD_NAMES)
def test_arguments_arrive_as_they_are(t, name):
    equal(t.works("printf", "%s", name), name, "the argument")


def test_an_empty_argument_arrives(t):
    equal(t.works("printf", "[%s]", "", "x", ""), "[][x][]", "the arguments")


def test_a_large_argument_arrives(t):
    text = "x" * 100_000
    equal(t.works("printf", "%s", text), text, "the argument")


def test_many_arguments_arrive(t):
    words = [str(i) for i in range(20_000)]
    equal(t.works("sh", "-c", "echo $#", "sh", *words).strip(), "20000", "their number")


def test_a_project_reached_through_a_symlink_has_its_real_path(t):
    link = os.path.join(t.home, "link")
    os.symlink(t.project, link)
    equal(t.works("pwd", cwd=link).strip(), t.project, "the working folder")
    equal(t.works("pwd", opts=("--project", link), cwd="/").strip(), t.project, "the working folder")


def test_a_folder_of_the_project_is_the_working_folder_when_called_from_there(t):
    os.makedirs(t.path("a/b"))
    out = t.works("pwd", opts=("--project", t.project), cwd=t.path("a/b"))
    equal(out.strip(), t.path("a/b"), "the working folder")


def test_a_caller_outside_the_project_starts_in_the_project(t):
    equal(t.works("pwd", opts=("--project", t.project), cwd="/usr").strip(), t.project,
          "the working folder")


def test_a_deleted_working_folder_is_refused(t):
    gone = t.path("gone")
    os.mkdir(gone)
    result = t.run(["sh", "-c", f"cd {gone} && rmdir {gone} && exec {t.ringfence} exec -- echo ran"])
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, "ringfence: ", "the reason")


def test_a_deleted_working_folder_does_not_matter_with_a_project(t):
    gone = t.path("gone")
    os.mkdir(gone)
    result = t.run(["sh", "-c", f"cd {gone} && rmdir {gone} && "
                    f"exec {t.ringfence} exec --project {t.project} -- pwd"])
    equal((result.code, result.out), (0, f"{t.project}\n"), "the project is what counts", result)


@cases("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", ">&- 2>&-")
def test_closed_standard_streams_are_no_hole(t, streams):
    """The first file that is opened must not become the command's stdin, stdout or stderr."""
    script = "echo out; echo err >&2; ls -l /proc/self/fd > fds 2>&1; exit 3"
    result = t.run(["sh", "-c", f"exec {t.ringfence} exec -- sh -c '{script}' {streams}"])
    equal(result.code, 3, "exit status", result)
    contains(t.read("fds"), "1 -> ", "open files inside")
    lacks(t.read("fds"), t.state, "open files inside")
    lacks(t.read("fds"), "socket", "open files inside")
    lacks(t.read("fds"), "memfd", "open files inside")


def test_a_closed_stdin_reads_as_empty_or_fails(t):
    result = t.run(["sh", "-c", f"exec {t.ringfence} exec -- sh -c 'cat; echo end' <&-"])
    contains(result.out, "end", "the command goes on")


@cases("0", "1", "2")
def test_a_folder_as_a_standard_stream_is_refused(t, number):
    redirect = {"0": "</", "1": "1</", "2": "2</"}[number]
    result = t.run(["sh", "-c", f"exec {t.ringfence} exec -- touch ran {redirect}"])
    equal(result.code, 125, "exit status", result)
    expect(not t.exists("ran"), "nothing may run")


@cases("state", "home")
def test_a_full_disk_is_said(t, what):
    t.own_mounts()
    folder = os.path.join(t.outside, "small")
    t.tmpfs(folder, "64k")
    if t.identity == "root":
        os.chmod(folder, 0o700)
    filler = os.open(os.path.join(folder, "filler"), os.O_CREAT | os.O_WRONLY)
    with contextlib.suppress(OSError):
        while True:
            os.write(filler, b"x" * 4096)
    env = t.env(RINGFENCE_STATE_DIR=folder) if what == "state" else t.env(HOME=folder)
    result = t.fence("sh", "-c", "echo ran", env=env)
    equal((result.code, result.out), (125, ""), "nothing ran", result)
    contains(result.err, "No space left on device", "the reason")


def test_a_disk_that_is_full_when_something_must_be_quarantined_is_said(t):
    t.own_mounts()
    folder = os.path.join(t.outside, "small")
    t.tmpfs(folder, "256k")
    result = t.fence("sh", "-c", "mkdir .claude; head -c 2000000 /dev/zero > .claude/settings.json",
                     env=t.env(RINGFENCE_STATE_DIR=folder))
    expect(not t.exists(".claude/settings.json") or ".claude" in result.err,
           "it is moved away, or the notice says that it is still there", result)


def test_a_state_folder_that_cannot_be_written_is_said(t):
    result = refused_before_start(t, env=t.env(RINGFENCE_STATE_DIR="/proc/nowhere"))
    contains(result.err, "/proc/nowhere", "the reason")


def test_without_proc_nothing_runs_and_the_reason_is_named(t):
    t.own_mounts()
    kernel.mount("tmpfs", "/proc", "tmpfs")
    began = t.fence_start("sh", "-c", "echo ran; ./attack read /proc/1/environ")
    out, err = t.communicate(began)
    equal((began.returncode, out), (125, b""), "nothing ran", err)
    contains(err.decode(), "/proc", "the reason")


def test_a_home_that_does_not_exist_is_refused_without_another_folder_for_the_state(t):
    env = t.env(HOME="/nonexistent")
    refused_before_start(t, env=env, says=("has no home folder", "RINGFENCE_STATE_DIR"))
    env["RINGFENCE_STATE_DIR"] = os.path.join(t.outside, "state")
    equal(t.works("echo", "ran", env=env), "ran\n", "with a folder for the state")


def test_without_the_variable_the_home_is_that_of_the_users_entry(t):
    """The plain user of these tests has no entry, and so no home."""
    env = t.env(HOME=None, RINGFENCE_STATE_DIR=os.path.join(t.outside, "state"))
    homes = {"root": pwd.getpwuid(0).pw_dir, "user": "/home/user"}
    equal(t.works("sh", "-c", 'echo "$HOME"', env=env), f"{homes[t.identity]}\n", "the home inside")


def test_without_any_environment_it_works(t):
    result = t.run([t.ringfence, "exec", "--", "sh", "-c", "echo ran"],
                   env={"RINGFENCE_STATE_DIR": os.path.join(t.outside, "state")})
    equal((result.code, result.out), (0, "ran\n"), "without an environment", result)


def test_a_project_without_write_permission_stays_unwritten(t):
    """Root's command is not root inside."""
    os.chmod(t.project, 0o555)
    result = t.sh("echo x > new || echo refused")
    os.chmod(t.project, 0o755)
    equal((result.code, result.out), (0, "refused\n"), "inside", result)
    equal(t.works("sh", "-c", "echo x > new || echo refused"), "", "the control")


@user_only
def test_a_folder_that_cannot_be_read_is_hidden(t):
    """A folder that cannot be searched for secrets cannot be shown either."""
    t.write("closed/.env", "the secret")
    os.chmod(t.path("closed"), 0o300)
    result = t.sh("echo ran; chmod 700 closed; cat closed/.env")
    os.chmod(t.path("closed"), 0o700)
    equal(result.out, "ran\n", "what was read inside", result)
    contains(result.err, "hidden because it cannot be scanned", "the notice")
    equal(t.read("closed/.env"), "the secret", "the control")


@root_only
@cases(*((opts, mode) for opts in ((), ("--draft",), ("--draft", "--draft-kind", "copy")) for mode in ("000", "400", "644")))
def test_root_hides_a_folder_that_the_command_cannot_enter_if_something_in_it_is_protected(t, opts, mode):
    """Root can look into it, and the command could open it: it owns what root lends."""
    t.write("outer/closed/.env", "the secret")
    t.write("outer/closed/inner/.env", "the secret")
    t.write("outer/shown", "shown\n")
    t.write("plain/file", "plain\n")
    os.chmod(t.path("outer/closed"), int(mode, 8))
    os.chmod(t.path("plain"), int(mode, 8))
    result = t.sh("chmod 700 outer/closed plain; cat outer/closed/.env outer/closed/inner/.env outer/shown plain/file", opts=opts)
    equal(result.out, "shown\nplain\n", "what was read inside", result)
    if "copy" not in opts:  # a copy of the folder is empty
        contains(result.err, f"hidden because the command cannot enter it, and it contains protected files: {t.path('outer/closed')}\n", "the notice")
    equal(t.read("outer/closed/.env"), "the secret", "the control")


@root_only
def test_root_shows_what_is_named_in_a_folder_that_the_command_cannot_enter(t):
    t.write("closed/.env", "the secret")
    t.write("closed/shown", "shown\n")
    os.chmod(t.path("closed"), 0)
    result = t.sh("cat closed/shown; cat closed/.env", opts=("--read", t.path("closed/shown")))
    equal(result.out, "shown\n", "what was read inside", result)


@root_only
def test_a_command_that_closes_a_folder_of_its_draft_does_not_stop_the_next_one(t):
    t.write("conf/.env", "the secret")
    t.write("conf/other", "other\n")
    equal(t.sh("chmod 000 conf; echo closed", opts=("--draft",)).out, "closed\n", "the first command")
    draft = json.loads(t.run([t.ringfence, "drafts", "--json"]).out)["drafts"][-1]["id"]
    result = t.sh("echo ran; chmod 700 conf; cat conf/.env", opts=("--in", draft))
    equal(result.out, "ran\n", "the next command", result)


def test_a_deep_tree_works(t):
    path = t.project
    fd = os.open(path, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("deep-folder", dir_fd=fd)
        fd, old = os.open("deep-folder", os.O_RDONLY, dir_fd=fd), fd
        os.close(old)
    os.close(os.open(".env", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    result = t.fence("echo", "ran")
    equal((result.code, result.out), (0, "ran\n"), "the run", result)
    contains(result.err, "hidden because it cannot be scanned", "the notice of what is too deep")
    t.run(["rm", "-rf", t.path("deep-folder")])


def test_a_large_tree_takes_little_cpu_time_at_the_start(t):
    for i in range(60):
        os.makedirs(t.path(f"d{i}"))
        for j in range(50):
            open(t.path(f"d{i}/f{j}"), "wb").close()
    before = t.spent()
    t.works("true")
    expect(t.spent() - before < 1, "CPU time in s", t.spent() - before)


def test_special_files_in_the_project_do_no_harm(t):
    os.mkfifo(t.path("pipe"))
    os.mkfifo(t.path("server.key"))
    os.mkfifo(t.path(".mcp.json"))
    t.serve(t.path("service.pem"))
    process = t.fence_start("sh", "-c", "echo ran; exit 0", stdin=subprocess.DEVNULL)
    result = t.finish(process)
    equal((result.code, result.out), (0, "ran\n"), "the run", result)


def test_a_symlink_loop_in_the_project_does_no_harm(t):
    os.symlink("loop", t.path("loop"))
    os.symlink(".", t.path("self"))
    os.symlink("..", t.path("up"))
    equal(t.works("echo", "ran"), "ran\n", "with loops")
