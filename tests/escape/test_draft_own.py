"""A file that a command of a draft makes is shown to the next one, whatever its name is; a secret of the user is not."""

import os
import subprocess

from harness import cases, contains, equal, expect, lacks
from harness.drafts import drafts, in_copies

# Drafts need mounts, so the fence landlock refuses them (e2e/test_landlock.py).
MECHANISMS = ("bwrap", "podman", "docker")

KEY = "-----BEGIN PRIVATE KEY-----\nvery-secret\n"
TOKEN = "TOKEN=ghp_Zx81Qp42Lm93Vb77Yt55Wq10Zz31Gh28Kd40"
# One name for each reason to hide: the name itself, its folder, a key, a credential, more than certificates.
NAMES = ("server.key", ".env.test", "certs/tls/server.pem", ".ssh/config", ".aws/credentials", "fixtures/secrets/one", "keys.txt", "prod.env", ".netrc")


def make(t, script, *opts):
    """Runs a script in a new draft, and returns the options for the next command in it."""
    result = t.sh(f"set -e; {script}; echo made", opts=("--draft", *opts))
    equal(result.out, "made\n", "the first command", result)
    return "--in", drafts(t)[-1]["id"]


def read(t, opts, *names):
    """Returns what the next command reads."""
    result = t.fence("sh", "-c", 'echo ran; for f; do cat "$f"; done', "sh", *names, opts=opts)
    contains(result.out, "ran\n", "the next command")
    return result.out[4:]


def test_the_next_command_reads_what_the_last_one_made(t):
    """So do those that follow, and they can write to it; the project's own secrets stay hidden beside it."""
    t.write(".env", "very-secret\n")
    t.write("certs/real.key", "very-secret\n")
    t.write("fixtures/old", "old\n")
    opts = make(t, "; ".join(f"mkdir -p $(dirname {name}); echo {TOKEN}{i} >{name}" for i, name in enumerate(NAMES)))
    for last in ("", "more\n"):
        equal(read(t, opts, *NAMES), "".join(f"{TOKEN}{i}\n{last}" for i in range(len(NAMES))), "what the next command reads")
        t.works("sh", "-c", 'for f; do echo more >>"$f"; done', "sh", *NAMES, opts=opts)
    result = t.sh("cat .env certs/real.key; ls -A fixtures", opts=opts)
    equal(result.out, "old\nsecrets\n", "what it reads of the project", result)


def test_its_symlink_hides_nothing_of_its_own(t):
    opts = make(t, "mkdir certs; echo generated >certs/2026; ln -s 2026 certs/current.key; mkdir store; echo inner >store/x; ln -s ../store certs/secrets")
    equal(read(t, opts, "certs/current.key", "certs/2026", "certs/secrets/x"), "generated\ngenerated\ninner\n", "what the next command reads")


@cases("the same", "new")
def test_a_folder_that_was_renamed_with_its_files_is_still_its_own(t, place):
    opts = make(t, "mkdir a; echo generated >a/server.key; mv a b")
    name = "b" if place == "the same" else "c"
    if place == "new":
        equal(t.sh("mv b c; cat c/server.key", opts=opts).out, "generated\n", "the command that renames it")
    equal(read(t, opts, f"{name}/server.key"), "generated\n", "what the next command reads")


@cases("in place", "a new file")
def test_a_template_that_a_command_fills_in_stays_readable_until_the_project_hides_it(t, how):
    t.write(".env.example", "TOKEN=\n")
    put = ">.env.example" if how == "in place" else ">new; mv new .env.example"
    opts = make(t, f"echo {TOKEN} {put}")
    equal(read(t, opts, ".env.example"), TOKEN + "\n", "what the next command reads")
    t.write(".env.example", TOKEN + "-of-the-user\n")
    equal(read(t, opts, ".env.example"), "", "what is read after the user has put a credential there")


MOVES = {
    "renamed": "mv .env moved.key",
    "linked": "ln .env moved.key",
    "in a new folder": "mkdir new; mv .env new/moved.key; mv new newer; mv newer/moved.key moved.key",
    "replaced": "touch moved.key; mv -f .env moved.key",
    "changed and renamed": "chmod 600 .env; echo more >>.env; mv .env moved.key",
}


@cases(*MOVES)
def test_a_secret_that_one_command_was_shown_is_hidden_from_the_next_under_a_new_name(t, how):
    t.write(".env", "very-secret\n")
    opts = make(t, MOVES[how], "--write", t.project, "--write", t.path(".env"))
    lacks(read(t, opts, "moved.key", ".env"), "very-secret", "what the next command reads")
    equal(t.read(".env"), "very-secret\n", "the secret outside")


def beside(t, script, then):
    """Runs a command in a new draft; the user does something between its two lines. Returns the options for the next one."""
    process = t.fence_start("sh", "-c", f"echo ready; read line; {script}; echo done", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    then()
    out = process.communicate(b"\n", timeout=60)[0]
    contains(out.decode(), "done\n", "the command's last line")
    return "--in", drafts(t)[-1]["id"]


@cases("mv .env moved.key", "ln .env moved.key", "chmod 644 .env; mv .env moved.key")
def test_a_secret_that_the_user_makes_meanwhile_is_hidden_from_the_next_command_wherever_it_was_moved(t, move):
    """It appears in the draft of a command that began before. It was not read, but moved."""
    opts = beside(t, move, lambda: t.write(".env", "very-secret\n"))
    for name in (".env", "moved.key"):
        lacks(read(t, opts, name), "very-secret", f"what the next command reads as {name}")
    os.unlink(t.path(".env"))
    lacks(read(t, opts, "moved.key"), "very-secret", "what is read after the user has removed it")


def test_a_folder_of_secrets_that_the_user_makes_where_a_command_has_one_stays_hidden(t):
    """Overlayfs shows the entries of both folders together."""
    opts = make(t, "mkdir secrets; echo mine >secrets/mine")
    equal(read(t, opts, "secrets/mine"), "mine\n", "what the command made")
    t.write("secrets/users", "very-secret\n")
    equal(read(t, opts, "secrets/mine", "secrets/users"), "", "what the next command reads")
    expect(t.exists("secrets/users"), "the user's file is there")


@cases("after", "instead")
def test_a_folder_of_secrets_that_the_user_makes_meanwhile_is_hidden_where_it_was_moved(t, when):
    """The files in it have ordinary names: only the folder tells, and a command has made that."""
    move = ("import os; os.makedirs('conf/secrets/own'); os.rename('secrets/plain', 'conf/secrets/plain'); "
            "os.rename('secrets/folder', 'conf/secrets/folder'); open('conf/secrets/own/x', 'w').write('mine\\n')")
    if when == "instead":
        move = "import os; os.mkdir('conf'); os.rename('secrets', 'conf/secrets'); os.mkdir('conf/secrets/own'); open('conf/secrets/own/x', 'w').write('mine\\n')"

    def put():
        t.write("secrets/plain", "very-secret\n")
        t.write("secrets/folder/plain", "very-secret\n")

    opts = beside(t, f'python3 -c "{move}"', put)
    t.run(["rm", "-r", t.path("secrets")])
    equal(read(t, opts, "conf/secrets/plain", "conf/secrets/folder/plain"), "", "what the next command reads")
    equal(read(t, opts, "conf/secrets/own/x"), "mine\n", "what it reads of its own")


@cases("server.key", "conf/real")
def test_a_secret_of_the_user_at_the_same_path_hides_the_one_of_the_command(t, name):
    """The user's tools would read it there, and so a check would, if it were shown."""
    opts = make(t, f"mkdir conf; echo generated >{name}")
    equal(read(t, opts, name), "generated\n", "what the command made")
    t.write(name, KEY)
    if name == "conf/real":
        os.symlink("conf/real", t.path("server.pem"))
    equal(read(t, opts, name), "", "what the next command reads")


@cases("--hide", ".ringfenceignore")
def test_what_the_user_hides_is_hidden_whoever_made_it(t, how):
    opts = make(t, "echo generated >made.key; echo generated >made.txt")
    if how == "--hide":
        opts += ("--hide", t.path("made.key"), "--hide", t.path("made.txt"))
    else:
        t.write(".ringfenceignore", "made.*\n")
    equal(read(t, opts, "made.key", "made.txt"), "", "what the next command reads")


@cases("user.overlay.origin", "trusted.overlay.origin", "user.overlay.opaque", "trusted.overlay.opaque")
def test_a_command_cannot_forge_whose_file_it_is(t, name):
    script = ("import os, sys\nfor path in ('moved.key', 'secrets'):\n"
              f"    for change in (lambda: os.removexattr(path, {name!r}), lambda: os.setxattr(path, {name!r}, b'y')):\n"
              "        try:\n            change()\n        except OSError:\n            pass\n")
    t.write("script.py", script)
    moved = beside(t, "mkdir secrets; mv .env moved.key; python3 script.py", lambda: t.write(".env", "very-secret\n"))
    t.write("secrets/users", "very-secret\n")
    equal(read(t, moved, "moved.key", "secrets/users"), "", "what the next command reads")


globals().update(in_copies({name: function for name, function in globals().items() if name.startswith("test_")},
                           test_a_secret_that_the_user_makes_meanwhile_is_hidden_from_the_next_command_wherever_it_was_moved,
                           test_a_folder_of_secrets_that_the_user_makes_meanwhile_is_hidden_where_it_was_moved,
                           test_a_folder_of_secrets_that_the_user_makes_where_a_command_has_one_stays_hidden,
                           test_a_command_cannot_forge_whose_file_it_is))
