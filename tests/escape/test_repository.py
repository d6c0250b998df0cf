"""A hostile repository: its configuration does not widen the fence, and nothing hangs."""

import os
import socket

from harness import cases, contains, denied_inside_allowed_outside, equal, expect, lacks
from harness.control import attack_inside, attack_outside

HOSTILE = """net: open
read: [.env, /etc/shadow, ~/.ssh, ../../..]
write: [.git/hooks, .vscode, .claude, ..]
env: [TOKEN, LD_PRELOAD=./evil.so]
listen: ["127.0.0.1:8080=/run/docker.sock"]
accept-weaker: [landlock, abstract-sockets, memory]
denials: false
check: ["touch /tmp/owned"]
"""


def trusted(t):
    result = t.run([t.ringfence, "trust", "--yes"])
    equal(result.code, 0, "trust", result)


def test_a_hostile_file_shows_no_secret(t):
    t.write(".env", "A=1")
    t.write("ringfence.yml", "read: [.env]\n")
    denied_inside_allowed_outside(t, "read", t.path(".env"))
    trusted(t)
    equal(attack_inside(t, "read", t.path(".env")).code, 0, "the control: after trust")


@cases(".git/hooks", ".git", ".vscode", "deep/.claude")
def test_a_hostile_file_makes_nothing_writable_that_the_host_runs(t, folder):
    t.write(f"{folder}/file", "mine")
    t.write("src/file", "mine")
    t.write("ringfence.yml", f"write: [{folder}, src]\n")
    denied_inside_allowed_outside(t, "create", t.path(f"{folder}/evil"), unchanged=[t.path(folder)])
    equal(attack_inside(t, "create", t.path("src/new")).code, 0, "the control: an ordinary folder")


def test_a_hostile_file_does_not_open_a_hooks_folder_that_git_is_told_of(t):
    t.write("myhooks/pre-commit", "mine")
    t.write(".git/config", "[core]\n\thooksPath = myhooks\n")
    t.write(".git/HEAD", "ref: refs/heads/main\n")
    t.write("ringfence.yml", "write: [myhooks]\n")
    denied_inside_allowed_outside(t, "write", t.path("myhooks/pre-commit"))


def test_a_hostile_file_as_a_whole_widens_nothing(t):
    t.write(".env", "A=1")
    for name in (".git/hooks/x", ".vscode/x", ".claude/x"):
        t.write(name)
    t.write("ringfence.yml", HOSTILE)
    result = t.fence("sh", "-c", "cat .env; env; ls -d /proc/net/tcp; cat ../../../*", env=t.env(TOKEN="secret"))
    contains(result.out, "RINGFENCE=1", "the environment")
    for word in ("A=1", "secret", "LD_PRELOAD"):
        lacks(result.out, word, "the output")
    contains(result.err, "widens the fence (net, read, write, env, listen, accept-weaker, denials), which is "
             "inactive until you run: ringfence trust", "the notice")
    equal(attack_inside(t, "tcp", "127.0.0.1", "8080").code, 1, "a connection")
    expect(not os.path.exists("/tmp/owned"), "the check must not run")


def test_a_hostile_file_does_not_raise_limits_of_the_user(t):
    t.at_home(".config/ringfence/config.yml", "timeout: 1s\nread-only: true\n")
    t.write("src/file")
    t.write("ringfence.yml", "timeout: none\nread-only: false\nwrite: [src]\n")
    equal(t.fence("sleep", "20").code, 124, "the user's time holds")
    equal(attack_inside(t, "create", t.path("src/new")).code, 1, "the user's read-only holds")
    os.unlink(os.path.join(t.home, ".config/ringfence/config.yml"))
    equal(attack_inside(t, "create", t.path("src/new")).code, 0, "the control: without the user's file")


@cases("ringfence.yml", ".ringfenceignore", ".claudeignore")
def test_a_symlinked_file_is_refused(t, name):
    target = t.write(os.path.join(t.outside, "target"), "# nothing\n")
    os.symlink(target, t.path(name))
    for words in (["config"], ["exec", "--", "touch", "ran"], ["trust", "--yes"]):
        result = t.run([t.ringfence, *words])
        equal((result.code, result.out), (125, ""), "the refusal", result)
        contains(result.err, "symlink", "the reason")
    expect(not t.exists("ran"), "nothing may run")
    os.unlink(t.path(name))
    equal(t.fence("true").code, 0, "the control")


def make_odd(t, kind, path):
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "socket":
        os.chdir(os.path.dirname(path))
        socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
    elif kind == "huge":
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    elif kind == "loop":
        os.symlink(os.path.basename(path), path)
    else:
        os.symlink("/dev/zero", path)


@cases(*[(name, kind) for name in ("ringfence.yml", ".ringfenceignore")
         for kind in ("fifo", "folder", "socket", "huge", "loop", "device")])
def test_what_is_no_file_is_refused_and_nothing_hangs(t, name, kind):
    make_odd(t, kind, t.path(name))
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, name, "the reason")


@cases(*[(text, 125) for text in ("[" * 100000, "{a: " * 100000, "hide: [" + "x," * 500000 + "]", "a: " + "x" * 900000,
                                  "- " * 300000, "? " * 300000, "'" * 999999, "# " + "x" * 1000000 + "\nnet: [",
                                  "&a " * 300000)], ("\n" * 1000000, 0))
def test_a_file_made_to_be_slow_is_refused_or_read_with_little_cpu_time(t, text, code):
    t.write("ringfence.yml", text)
    before = t.spent()
    result = t.run([t.ringfence, "config"])
    equal(result.code, code, "exit status", result)
    expect(t.spent() - before < 1, "CPU time in s", t.spent() - before)


def test_patterns_made_to_be_slow_take_little_cpu_time(t):
    t.write(".ringfenceignore", "\n".join("*a" * 300 + str(i) for i in range(500)) + "\n")
    t.write("a" * 200, "x")
    t.write("a" * 199 + "1", "x")
    before = t.spent()
    equal(t.fence("true").code, 0, "a run")
    expect(t.spent() - before < 1, "CPU time in s", t.spent() - before)


def test_a_file_that_is_swapped_between_runs_is_inactive_again(t):
    t.write("ringfence.yml", "env: [HARMLESS]\n")
    trusted(t)
    t.write("ringfence.yml", "env: [TOKEN]\n")
    result = t.fence("env", env=t.env(TOKEN="secret", HARMLESS="x"))
    contains(result.out, "RINGFENCE=1", "the environment")
    lacks(result.out, "TOKEN", "the environment")
    lacks(result.out, "HARMLESS", "the environment")
    contains(result.err, "has changed since you trusted it", "the notice")
    t.write("ringfence.yml", "env: [HARMLESS]\n")
    contains(t.works("env", env=t.env(HARMLESS="x")), "HARMLESS=x", "the control")


def test_the_command_cannot_trust_its_own_project(t):
    t.write("ringfence.yml", "env: [TOKEN]\n")
    result = t.fence(t.ringfence, "trust", "--yes", opts=("--read", t.ringfence))
    equal(result.code, 125, "exit status inside", result)
    lacks(t.works("env", env=t.env(TOKEN="secret")), "TOKEN", "the environment of the next run")
    trusted(t)
    contains(t.works("env", env=t.env(TOKEN="secret")), "TOKEN=secret", "the control")


def test_a_configuration_that_the_command_plants_is_not_there_for_the_next_run(t):
    t.sh("printf 'net: open\\n' > ringfence.yml; printf '*\\n' > .claudeignore")
    expect(not t.exists("ringfence.yml") and not t.exists(".claudeignore"), "both are in quarantine")
    equal(t.fence("true").err, "", "the next run")


@cases(0o666, 0o606, 0o602)
def test_a_file_of_the_user_that_others_can_write_is_refused(t, mode):
    path = t.at_home(".config/ringfence/config.yml", "net: open\n", mode)
    result = t.run([t.ringfence, "config"])
    equal(result.code, 125, "exit status", result)
    contains(result.err, "others can write to", "the reason")
    os.chmod(path, 0o644)
    equal(t.run([t.ringfence, "config"]).code, 0, "the control")


def test_a_file_of_the_user_in_the_project_is_refused(t):
    t.write("ringfence/config.yml", "net: open\n", 0o600)
    result = t.run([t.ringfence, "config"], env=t.env(XDG_CONFIG_HOME=t.project))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is in the project '", "the reason")


def test_a_file_of_the_user_that_leads_into_the_project_is_refused(t):
    target = t.write("mine.yml", "net: open\n", 0o600)
    os.makedirs(os.path.join(t.home, ".config/ringfence"))
    os.symlink(target, os.path.join(t.home, ".config/ringfence/config.yml"))
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is in the project '", "the reason")
    equal(attack_outside(t, "read", target).code, 0, "the control")
