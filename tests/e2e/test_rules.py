"""Rules that a person sets: --read, --write, --hide, --read-only, --env; and which rule wins."""

import os

from harness import (cases, contains, denied_inside_allowed_outside, equal, expect, lacks,
                     refused_before_start, snapshot)
from harness.control import attack_inside


def write_in(t, name, *opts):
    """Returns whether a file can be created there inside the fence."""
    folder = t.path(name)
    path = os.path.join(folder, f"made-{len(os.listdir(folder))}")
    result = attack_inside(t, "create", path, opts=opts)
    expect(result.code in (0, 1), "the attempt", result)
    return os.path.exists(path)


def readable(t, name, *opts):
    result = attack_inside(t, "read", t.path(name), opts=opts)
    expect(result.code in (0, 1), "the attempt", result)
    return result.code == 0


def folders(t, *names):
    for name in names:
        t.write(f"{name}/file", "text")


def test_the_project_is_writable_by_default(t):
    folders(t, "src")
    expect(write_in(t, "src"), "the project can be written")


def test_read_only_makes_the_project_read_only(t):
    folders(t, "src")
    expect(not write_in(t, "src", "--read-only"), "the project cannot be written")
    expect(readable(t, "src/file", "--read-only"), "it can be read")


def test_read_only_with_a_writable_path_narrows_what_is_writable_to_it(t):
    folders(t, "src", "doc")
    opts = ("--read-only", "--write", "src")
    denied_inside_allowed_outside(t, "create", "doc/new", opts=opts, errno="EROFS")
    expect(write_in(t, "src", *opts), "src can be written")


def test_naming_a_writable_path_narrows_what_is_writable_to_it(t):
    folders(t, "src", "doc")
    opts = ("--write", "src")
    expect(write_in(t, "src", *opts), "src can be written")
    expect(not write_in(t, "doc", *opts), "doc cannot")
    expect(not write_in(t, ".", *opts), "the project's top cannot")
    expect(readable(t, "doc/file", *opts), "doc can be read")


def test_several_writable_paths_are_all_writable(t):
    folders(t, "src", "doc", "lib")
    opts = ("--write", "src", "--write", t.path("doc"))
    equal([write_in(t, name, *opts) for name in ("src", "doc", "lib")], [True, True, False],
          "src, doc, lib")


def test_a_single_file_can_be_writable(t):
    t.write("a", "before")
    t.write("b", "before")
    t.sh("echo x >> a; echo x >> b", opts=("--write", "a"))
    equal((t.read("a"), t.read("b")), ("beforex\n", "before"), "a and b")


def test_a_folder_outside_the_project_can_be_named_writable(t):
    cache = os.path.join(t.outside, "cache")
    os.mkdir(cache)
    t.works("sh", "-c", f"echo x > {cache}/file", opts=("--write", cache))
    equal(t.read(os.path.join(cache, "file")), "x\n", "the file")


def test_a_folder_below_home_can_be_named_writable(t):
    cache = os.path.join(t.home, ".cache/tool")
    os.makedirs(cache)
    t.works("sh", "-c", f"echo x > {cache}/file", opts=("--write", cache))
    equal(t.read(os.path.join(cache, "file")), "x\n", "the file")


def test_read_shows_a_folder_outside_the_project(t):
    path = t.write(os.path.join(t.outside, "lib/file"), "text", 0o644)
    expect(not readable(t, path), "not by default")
    expect(readable(t, path, "--read", os.path.join(t.outside, "lib")), "with --read")
    denied_inside_allowed_outside(t, "write", path, opts=("--read", os.path.join(t.outside, "lib")),
                                  unchanged=[path])


def test_read_shows_a_single_file(t):
    path = t.write(os.path.join(t.outside, "file"), "text", 0o644)
    other = t.write(os.path.join(t.outside, "other"), "text", 0o644)
    expect(readable(t, path, "--read", path), "the named file")
    expect(not readable(t, other, "--read", path), "not its neighbour")


def test_secrets_below_a_read_rule_stay_hidden(t):
    t.write(os.path.join(t.outside, "lib/.env"), "the secret", 0o644)
    denied_inside_allowed_outside(t, "read", os.path.join(t.outside, "lib/.env"),
                                  opts=("--read", os.path.join(t.outside, "lib")))


@cases("file", "folder")
def test_hide_hides(t, kind):
    folders(t, "private")
    name = "private/file" if kind == "file" else "private"
    denied_inside_allowed_outside(t, "read", "private/file", opts=("--hide", name), errno="EACCES")


def test_what_is_hidden_cannot_be_created_over_moved_or_removed(t):
    folders(t, "private")
    opts = ("--hide", "private/file")
    for act in (("unlink", "private/file"), ("rename", "private/file", "x"), ("write", "private/file"),
                ("rename", "attack", "private/file")):
        result = attack_inside(t, *act, opts=opts)
        equal(result.code, 1, "exit status", result)
    equal(t.read("private/file"), "text", "the hidden file")


def test_the_most_specific_rule_wins(t):
    folders(t, "a", "a/b", "a/b/c", "a/b/c/d")
    opts = ("--hide", "a/b", "--read", "a/b/c", "--write", "a/b/c/d")
    equal((readable(t, "a/file", *opts), write_in(t, "a", *opts)), (True, False), "a is read-only")
    equal(readable(t, "a/b/file", *opts), False, "a/b is hidden")
    equal((readable(t, "a/b/c/file", *opts), write_in(t, "a/b/c", *opts)), (True, False),
          "a/b/c is read-only")
    equal((readable(t, "a/b/c/d/file", *opts), write_in(t, "a/b/c/d", *opts)), (True, True),
          "a/b/c/d is writable")


@cases(("--write", "--read"), ("--read", "--write"))
def test_at_the_same_path_read_only_beats_writable(t, first, second):
    folders(t, "a")
    equal(write_in(t, "a", first, "a", second, "a"), False, "a can be written")


@cases(("--hide", "--write"), ("--write", "--hide"), ("--hide", "--read"), ("--read", "--hide"))
def test_at_the_same_path_hidden_beats_all(t, first, second):
    folders(t, "a")
    equal(readable(t, "a/file", first, "a", second, "a"), False, "a can be read")


def test_the_same_path_in_another_spelling_is_the_same_path(t):
    folders(t, "a/b")
    for spelling in ("a/b", "./a/b", "a//b/", "a/../a/b", "a/b/.", t.path("a/b")):
        equal(readable(t, "a/b/file", "--write", "a/b", "--hide", spelling), False, spelling)


def test_a_path_that_is_hidden_and_readable_stays_hidden(t):
    folders(t, "a", "b")
    opts = ("--hide", "b", "--read", "b")
    expect(readable(t, "a/file", *opts), "another can be read")
    expect(not readable(t, "b/file", *opts), "this one cannot")
    expect(readable(t, "b/file"), "without the rules it can")


def test_a_person_can_open_a_secret_by_name(t):
    """The rule that names the very path is the more specific one."""
    t.write(".env", "A=1")
    result = attack_inside(t, "read", ".env", opts=("--read", ".env"))
    equal((result.code, result.out), (0, "got: A=1\nsucceeded\n"), "with the rule", result)
    expect(not readable(t, ".env"), "without it, it stays closed")


def test_a_missing_path_to_write_is_refused_and_not_made(t):
    refused_before_start(t, "--write", "missing/dir")
    expect(not t.exists("missing"), "nothing was made")


def test_a_missing_path_to_read_is_refused(t):
    refused_before_start(t, "--read", "missing")


@cases("/etc", "/usr/bin", "/proc", "/sys", "/dev", "/run", "/usr/lib", "/bin")
def test_a_system_folder_cannot_be_named_writable(t, path):
    refused_before_start(t, "--write", path)


@cases(".ssh", ".aws", ".gnupg", ".bashrc", ".config/git", ".local/state/ringfence")
def test_what_the_host_trusts_in_the_home_cannot_be_named_writable(t, name):
    file = t.at_home(name if name == ".bashrc" else f"{name}/file", "before")
    path = os.path.join(t.home, name)
    before = snapshot(path)
    refused_before_start(t, "--write", path, says=(path, "is refused"),
                         command=("sh", "-c", f"echo ran; echo evil >> {file}; echo evil > {path}/evil"))
    equal((snapshot(path), t.read(file)), (before, "before"), "the file at home")


def test_the_environment_is_scrubbed(t):
    env = t.env(SECRET_TOKEN="x", AWS_SECRET_ACCESS_KEY="x", LD_PRELOAD="", GITHUB_TOKEN="x", EDITOR="vi",
                BASH_ENV="/x", PYTHONPATH="/x", NODE_OPTIONS="-x", GIT_DIR="/x", LC_ALL="C", TZ="UTC",
                COLORTERM="truecolor", NO_COLOR="1")
    names = {line.split("=")[0] for line in t.works("env", env=env).splitlines()}
    allowed = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "LANG", "LANGUAGE",
               "LC_ALL", "TZ", "NO_COLOR", "TMPDIR", "RINGFENCE", "PWD", "FORCE_COLOR", "CI", "_",
               "SHLVL", "OLDPWD", "SOURCE_DATE_EPOCH", "npm_config_update_notifier", "NO_UPDATE_NOTIFIER",
               "PIP_DISABLE_PIP_VERSION_CHECK", "GIT_OPTIONAL_LOCKS"}
    equal(sorted(names - allowed), [], "names that should not be there")
    for name in ("PATH", "HOME", "USER", "LC_ALL", "TZ", "COLORTERM", "NO_COLOR", "TMPDIR", "RINGFENCE"):
        expect(name in names, f"{name} should be there", names)


def test_the_environment_has_its_fixed_values(t):
    out = t.works("env").splitlines()
    for line in (f"HOME={t.home}", "TMPDIR=/tmp", "RINGFENCE=1"):
        expect(line in out, f"{line} should be there", out)


def test_env_passes_a_variable_on(t):
    out = t.works("env", opts=("--env", "TOKEN"), env=t.env(TOKEN="a b=c\nd"))
    contains(out, "TOKEN=a b=c\nd\n", "the environment")


def test_env_sets_a_variable(t):
    out = t.works("env", opts=("--env", "A=1", "--env", "B=", "--env", "C=x=y"))
    for line in ("A=1", "B=", "C=x=y"):
        expect(line in out.splitlines(), line, out)


def test_env_can_change_what_ringfence_sets(t):
    contains(t.works("env", opts=("--env", "TERM=vt100")), "TERM=vt100\n", "the environment")


def test_env_of_a_missing_variable_is_refused(t):
    refused_before_start(t, "--env", "NO_SUCH_VARIABLE", says="NO_SUCH_VARIABLE")


def test_the_home_inside_is_writable_private_and_forgotten(t):
    t.works("sh", "-c", 'echo x > "$HOME/.cache-file"; cat "$HOME/.cache-file"')
    expect(not os.path.exists(os.path.join(t.home, ".cache-file")), "not on the host")
    result = t.sh('cat "$HOME/.cache-file"')
    expect(result.code != 0, "nor in the next run", result)


def test_tmp_inside_is_writable_and_private(t):
    t.works("sh", "-c", "echo x > /tmp/f; test -k /tmp; cat /tmp/f; echo x > /var/tmp/f")
    lacks(t.works("ls", "/tmp").splitlines(), "f", "/tmp of the next run")


@cases("/usr/bin/env", "/bin/sh", "/usr/lib", "/etc/passwd", "/etc/hosts", "/etc/ssl")
def test_what_commands_need_of_the_system_is_there(t, path):
    if os.path.exists(path):
        t.works("test", "-r", path)


def test_the_user_has_a_name_inside(t):
    out = t.works("sh", "-c", "id -un; whoami; echo $USER; getent passwd $(id -u) | cut -d: -f6")
    names = out.split()
    expect(len(set(names[:3])) == 1, "one name", out)
    equal(names[3], t.home, "the home in /etc/passwd")


def test_no_other_user_of_the_host_is_named_inside(t):
    users = t.works("cut", "-d:", "-f1", "/etc/passwd").split()
    expect(len(users) <= 4, "root, nobody and the user", users)
