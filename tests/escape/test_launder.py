"""Plants that pretend to be the user's own: what a command could write is never taken for known."""

import fcntl
import os
import shutil
import subprocess

from harness import cases, contains, equal, expect, kernel, lacks, needs, timeout
from harness.gitrepo import Repository
from harness.loop import Loop

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"


class Agent:
    """A shell inside a fence that is told what to do, line by line."""

    def __init__(self, t, *opts, **options):
        self.t = t
        before = set(t.runs())
        self.process = t.fence_start("sh", opts=opts, stdin=subprocess.PIPE, **options)
        self.do("true")
        self.records = set(t.runs()) - before

    def do(self, script):
        self.process.stdin.write(f"{{ {script}\n}} >/dev/null; echo $?\n".encode())
        line = self.process.stdout.readline()
        expect(line == b"0\n", f"inside: {script}", (line, line or self.process.stderr.read()))

    def end(self):
        return self.t.finish(self.process)

    def kill(self):
        """Kills ringfence, and waits until all that was inside is gone."""
        self.t.kill(self.process)
        for record in self.records:
            with open(os.path.join(self.t.state, "runs", record), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)


TARGETS = {
    ".envrc": "mv {0} .envrc",
    ".mcp.json": "mv {0} .mcp.json",
    "ringfence.yml": "mv {0} ringfence.yml",
    "a/.vimrc": "mkdir a; mv {0} a/.vimrc",
    "sub/HEAD": "mkdir -p sub/objects sub/refs; mv {0} sub/HEAD",
    "w.code-workspace": "ln {0} w.code-workspace",
}


@cases(*TARGETS)
def test_a_certificate_that_a_run_wrote_is_not_known_to_the_next(t, target):
    t.works("sh", "-c", f"printf '%s' '{CERTIFICATE}' > 1.pem")
    result = t.sh(f"echo evil > 1.pem; {TARGETS[target].format('1.pem')}")
    equal(result.code, 0, "the attack inside", result)
    expect(not t.exists(target), "it must not stay", result)
    contains(result.err, target, "the notice")


@cases("a certificate", "a secret opened by name", "an ignored file opened by name", "a key opened by name")
def test_a_file_that_is_writable_inside_is_not_known(t, how):
    name, opts = {"a certificate": ("ca.pem", ()),
                  "a secret opened by name": (".env.local", ("--write", ".", "--write", ".env.local")),
                  "an ignored file opened by name": ("notes", ("--write", ".", "--write", "notes")),
                  "a key opened by name": ("k.pem", ("--write", ".", "--write", "k.pem"))}[how]
    t.write(".ringfenceignore", "notes\n")
    t.write(name, CERTIFICATE)
    result = t.sh(f"echo evil > {name}; ln {name} .envrc || mv {name} .envrc || cp {name} .envrc", opts=opts)
    expect(not t.exists(".envrc"), "it must not stay", result)


def test_an_inode_number_that_is_used_again_is_not_known(t):
    """The host removes a protected file, and its inode number goes to a plant."""
    t.write(".vimrc", "mine")
    agent = Agent(t)
    number = os.stat(t.path(".vimrc")).st_ino
    os.unlink(t.path(".vimrc"))
    agent.do("i=0; while [ $i -lt 40 ]; do echo evil > f$i; i=$((i+1)); done")
    names = [name for name in os.listdir(t.project) if os.stat(t.path(name)).st_ino == number]
    plant = names[0] if names else "f0"  # not every file system uses a number again
    agent.do(f"mv {plant} .envrc")
    result = agent.end()
    expect(not t.exists(".envrc"), "it must not stay", result)


@needs("git")
def test_a_folder_gets_no_trust_from_the_inode_number_of_a_certificate(t):
    t.write("ca.pem", CERTIFICATE)
    result = t.sh("rm ca.pem; mkdir .git .vscode; echo evil > .vscode/tasks.json")
    expect(not t.exists(".git") and not t.exists(".vscode"), "they must not stay", result)


@cases(".mcp.json", ".vscode/tasks.json", ".git/hooks/pre-commit", "a/.claude/settings.json")
def test_a_protected_file_that_was_changed_by_another_name_is_moved(t, name):
    t.write(name, "mine")
    os.link(t.path(name), t.path("other"))
    equal(t.works("cat", "other"), "mine", "it can be reached by the other name")
    expect(t.exists(name), "an unchanged one stays")
    result = t.sh("echo evil > other")
    expect(not t.exists(name), "it must not stay", result)
    contains(result.err, os.path.basename(name), "the notice")


def test_a_folder_that_moves_with_a_second_name_inside_is_moved(t):
    t.write("a/.claude/settings.json", "mine")
    os.link(t.path("a/.claude/settings.json"), t.path("other"))
    result = t.sh("echo evil > other; mv a b")
    expect(not t.exists("b/.claude/settings.json"), "it must not stay", result)


def test_a_second_name_does_not_become_another_protected_file(t):
    t.write(".vimrc", "mine")
    os.link(t.path(".vimrc"), t.path("other"))
    result = t.sh("mv other .envrc")
    expect(not t.exists(".envrc"), "it must not stay", result)
    equal(t.read(".vimrc"), "mine", "the user's own")


@cases("file", "folder", "bare repository", "target of a link")
def test_a_path_that_the_user_opened_by_name_stays(t, kind):
    name = {"file": ".mcp.json", "folder": ".vscode/tasks.json", "bare repository": "bare/HEAD",
            "target of a link": "config/settings.json"}[kind]
    t.write(name, "mine\n")
    for folder in ("objects", "refs") * (kind == "bare repository"):
        os.mkdir(t.path(f"bare/{folder}"))
    if kind == "target of a link":
        os.symlink("config", t.path(".claude"))
    opened = name if kind == "file" else os.path.dirname(name)
    result = t.sh(f"echo more >> {name}; echo x > {opened}/x", opts=("--write", ".", "--write", opened))
    # Of a git directory, what git obeys stays read-only.
    equal(t.read(name), "mine\n" if kind == "bare repository" else "mine\nmore\n", "the file", result)
    equal(t.exists(f"{opened}/x"), kind != "file", "a new file in the folder", result)


# Two fences and more on one project

@cases("file", "symlink")
def test_a_plant_of_another_run_is_not_known(t, kind):
    first = Agent(t)
    if kind == "file":
        first.do("echo harmless > .envrc")
    else:
        first.do("mkdir evil; ln -s evil .claude")
    second = Agent(t)
    if kind == "file":
        first.do("ln .envrc x; rm .envrc")
        equal(first.end().err, "", "the first run ends clean")
        second.do("echo evil > x; mv x .envrc")
    else:
        first.do("rm .claude")
        first.end()
        second.do("ln -s evil .claude || true")
    result = second.end()
    expect(not t.exists(".envrc") and not t.exists(".claude"), "it must not stay", result)


def test_a_third_run_does_not_know_it_either(t):
    first = Agent(t)
    first.do("echo harmless > .envrc")
    second = Agent(t)
    third = Agent(t)
    first.do("ln .envrc x; rm .envrc")
    first.end()
    second.do("echo evil > x; mv x y")
    equal(second.end().err, "", "the second run ends clean")
    third.do("mv y .envrc")
    result = third.end()
    expect(not t.exists(".envrc"), "it must not stay", result)


def test_a_file_of_the_users_is_known_to_all_of_them(t):
    for name in (".envrc", ".vscode/tasks.json", "secrets/.git/config", "mine/.git/config"):
        t.write(name, "mine")
    os.symlink("missing", t.path(".claude"))
    first, second, third = Agent(t), Agent(t, "--hide", "mine"), Agent(t, "--write", ".", "--write", "secrets")
    for agent in (first, second, third):
        agent.do("echo x > file")
    for agent in (second, first, third):
        equal(agent.end().err, "", "a run ends clean")
    for name in (".envrc", ".vscode/tasks.json", "secrets/.git/config", "mine/.git/config"):
        equal(t.read(name), "mine", name)
    expect(os.path.islink(t.path(".claude")), "the link stays")


def test_a_run_leaves_alone_what_another_one_still_uses(t):
    first = Agent(t)
    first.do("mkdir .claude; echo x > .claude/a; ln -s .claude .codex")
    second, third = Agent(t), Agent(t)
    for agent in (second, third):
        equal(agent.end().err, "", "a run ends clean")
        first.do("cat .claude/a .codex/a")
    result = first.end()
    expect(not t.exists(".claude") and not t.exists(".codex"), "they must not stay", result)


def test_what_one_run_may_write_by_name_is_left_alone_by_the_other(t):
    t.write(".envrc", "mine")
    first = Agent(t, "--write", ".", "--write", ".envrc")
    second = Agent(t)
    equal(second.end().err, "", "the second run ends clean")
    equal(t.read(".envrc"), "mine", "the file")
    first.end()


def test_a_run_that_ends_during_the_scan_of_another_is_still_heard(t):
    """The record of a run stays for as long as somebody scans."""
    t.works("true")
    first = Agent(t)
    first.do("echo x > file")
    with open(os.path.join(t.state, "scan.lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        first.end()
        equal(len(t.runs()), 1, "records of runs")
        t.write(".envrc", "made by the user after the run")
        result = t.fence("true")
        equal((result.code, result.err), (0, ""), "a run that starts after it", result)
        expect(t.exists(".envrc"), "the run that ended does not count any more")
    result = t.fence("true")
    equal((result.code, result.err, t.runs()), (0, "", []), "the next run", result)
    expect(t.exists(".envrc"), "a run that was swept is not swept again")


def test_the_record_of_an_older_version_is_refused(t):
    t.works("true")
    t.leftover_runs = True
    old = b"".join(tag.to_bytes(4, "little") + len(text).to_bytes(4, "little") + text
                   for tag, text in ((4, t.project.encode() + b"\0"), (13, t.project.encode() + b"\0"),
                                     (18, bytes(8)), (14, bytes(16))))
    path = os.path.join(t.state, "runs", "20260101-000000-00000000")
    with open(path, "wb") as file:
        file.write(old)
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "another version", "stderr")
    contains(result.err, path, "stderr")
    other = os.path.join(t.outside, "other")
    os.mkdir(other)
    equal(t.fence("true", opts=("--project", other)).code, 0, "another project")
    os.unlink(path)
    t.works("true")


# A fence in a folder of another fence's project

PLANT = "echo evil > .envrc; mkdir .vscode; mkdir -p x/objects x/refs; echo evil > x/HEAD"
PLANTS = (".envrc", ".vscode", "x/HEAD")
DECOYS = {
    "a folder": "mv sub other; mkdir sub",
    "a symlink": "mv sub other; ln -s /nowhere sub",
    "a file": "mv sub other; echo x > sub",
    "nothing": "mv sub other",
    "a folder far away": "mkdir -p a/b; mv sub a/b/other; mkdir sub",
}


def moved_to(decoy):
    return "a/b/other" if "far away" in decoy else "other"


@cases(*((decoy, planted) for decoy in DECOYS for planted in ("before", "after")))
def test_the_sweep_follows_a_root_that_another_fence_moves(t, decoy, planted):
    os.mkdir(t.path("sub"))
    inner = Agent(t, "--project", t.path("sub"))
    if planted == "before":
        inner.do(PLANT)
    outer = Agent(t)
    outer.do(DECOYS[decoy])
    if planted == "after":
        equal(outer.end().code, 0, "the outer run")
        inner.do(PLANT)
    result = inner.end()
    if planted == "before":
        equal(outer.end().code, 0, "the outer run")
    equal(result.code, 0, "the inner run", result)
    contains(result.err, "moved", "the notice")
    for name in PLANTS:
        expect(not t.exists(f"{moved_to(decoy)}/{name}"), f"{name} must not stay", result)
    equal((t.fence("true").code, t.runs()), (0, []), "the next run")


@cases(*DECOYS)
def test_a_killed_run_is_swept_where_its_root_is_now(t, decoy):
    os.mkdir(t.path("sub"))
    inner = Agent(t, "--project", t.path("sub"))
    outer = Agent(t)
    outer.do(DECOYS[decoy])
    equal(outer.end().code, 0, "the outer run")
    inner.do(PLANT)
    inner.kill()
    result = t.fence("true")
    equal((result.code, t.runs()), (0, []), "the next run", result)
    for name in PLANTS:
        expect(not t.exists(f"{moved_to(decoy)}/{name}"), f"{name} must not stay", result)


def test_a_root_that_cannot_be_found_is_refused(t):
    os.mkdir(t.path("sub"))
    inner = Agent(t, "--project", t.path("sub"))
    inner.do(PLANT)
    inner.kill()
    os.rename(t.path("sub"), os.path.join(t.outside, "elsewhere"))
    os.mkdir(t.path("sub"))
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, t.path("sub"), "stderr")
    os.rmdir(t.path("sub"))
    os.rename(os.path.join(t.outside, "elsewhere"), t.path("sub"))
    equal((t.fence("true").code, t.runs()), (0, []), "when it is back")
    expect(not t.exists("sub/.envrc"), "it must not stay")


def test_a_root_that_is_deleted_needs_no_sweep(t):
    os.mkdir(t.path("sub"))
    inner = Agent(t, "--project", t.path("sub"))
    outer = Agent(t)
    outer.do("rmdir sub")
    equal((inner.end().code, outer.end().code, t.runs()), (0, 0, []), "both runs")


def test_what_a_moved_root_holds_is_not_known_to_a_run_that_starts(t):
    os.mkdir(t.path("sub"))
    inner = Agent(t, "--project", t.path("sub"))
    inner.do("echo harmless > .envrc")
    os.rename(t.path("sub"), t.path("other"))
    third = Agent(t)
    inner.do("ln .envrc x; rm .envrc")
    inner.end()
    third.do("echo evil > other/x; mv other/x .envrc")
    result = third.end()
    expect(not t.exists(".envrc"), "it must not stay", result)


def test_the_end_of_a_run_sweeps_what_a_killed_one_left(t):
    first = Agent(t)
    first.do("echo evil > .envrc")
    second = Agent(t)
    first.kill()
    result = second.end()
    expect(not t.exists(".envrc"), "it must not stay", result)
    contains(result.err, ".envrc", "the notice")
    equal((t.fence("true").code, t.runs()), (0, []), "the next run")


def test_a_secret_with_a_second_name_gets_a_notice(t):
    t.write(".env", "secret")
    result = t.fence("cat", ".env")
    contains(result.err, "Permission denied", "a secret with one name")
    lacks(result.err, "hard links", "a secret with one name")
    os.link(t.path(".env"), t.path("plain.txt"))
    contains(t.fence("true").err, ".env has 2 hard links", "the notice")


# A full disk

def full(t, state_beside):
    """A project on a small file system without room for another inode."""
    t.own_mounts()
    disk = os.path.join(t.outside, "disk")
    os.makedirs(disk)
    kernel.mount("tmpfs", disk, "tmpfs", 0, "mode=755,size=64m,nr_inodes=2000")
    project = os.path.join(disk, "p")
    os.mkdir(project)
    state = os.path.join(disk, "state") if state_beside else os.path.join(t.outside, "state")
    return project, t.env(RINGFENCE_STATE_DIR=state)


FILL = "i=0; while : > f$i; do i=$((i+1)); done 2>/dev/null"


@cases(True, False)
def test_a_full_disk_does_not_keep_a_plant_in_place(t, state_beside):
    project, env = full(t, state_beside)
    result, report = t.report("sh", "-c", f"mkdir -p a/.vscode; echo evil > a/.vscode/tasks.json; echo evil > .envrc; {FILL}",
                              opts=("--project", project), env=env)
    expect(not os.path.exists(f"{project}/.envrc") and not os.path.exists(f"{project}/a/.vscode"), "it must not stay", result)
    equal(len(report["quarantined"]), 2, "entries in the report")
    for item in report["quarantined"]:
        expect(os.path.lexists(item["kept"]), "it is where the report says", (item, result))
        contains(result.err, os.path.dirname(item["kept"]), "the notice")
    t.run(["sh", "-c", f"rm -f {project}/f*"])
    again = t.fence("true", opts=("--project", project), env=env)
    equal(again.code, 0, "the next run", again)


# Very many secrets

MANY = {
    "keys": (21000, "open(f'{i}.key', 'w').close()"),
    "environments": (5100, "os.mkdir(f'd{i}'); open(f'd{i}/.env', 'w').close()"),
    "symlinks": (5100, "open(f'{i}', 'w').close(); os.symlink(f'{i}', f'{i}.key')"),
    "sockets": (5100, "socket.socket(socket.AF_UNIX).bind(f'{i}')"),
    "ignored files": (5100, "open(f'{i}.log', 'w').close()"),
    "names of the quarantine": (5100, "os.mkdir(f'ringfence-quarantine-{i}')"),
    "files with a token": (5100, "os.mkdir(f'd{i}'); open(f'd{i}/.npmrc', 'w').write('_authToken=abcdef')"),
    "symlinks to a token": (5100, "open('t', 'w').write('_authToken=abcdef'); os.symlink('t', f'{i}.tfvars')"),
    "more than is looked at": (5500, "open(f'{i}.tfvars', 'w').truncate(250_000)"),
    "a long path": (1, "[(os.mkdir('x' * 250), os.chdir('x' * 250)) for _ in range(17)]; open('1.key', 'w').close()"),
}


@timeout(300)
@cases(*MANY)
def test_secrets_that_a_run_made_do_not_stop_the_next(t, kind):
    """However many: a loop would end."""
    count, act = MANY[kind]
    t.write(".ringfenceignore", "*.log\n")
    for name in ("mine.key", "mine.log"):
        t.write(name, "the secret")
    first = t.fence("/usr/bin/python3", "-c", f"import os, socket\nfor i in range({count}): {act}", timeout=120)
    equal(first.code, 0, "the first run", first)
    contains(first.err, "quarantined", "the notice")
    expect(len(first.err) < 30_000, "the notice is not endless", len(first.err))
    result = t.sh("cat mine.key mine.log; echo works > file", timeout=120)
    equal((result.code, result.out, t.exists("file")), (0, "", True), "the next run", result)
    equal([t.read("mine.key"), t.read("mine.log")], ["the secret"] * 2, "the user's own stay")
    shutil.rmtree(os.path.join(t.state, "quarantine"))


@timeout(300)
def test_thousands_of_files_that_hold_no_secret_stay_where_they_are(t):
    result = t.fence("/usr/bin/python3", "-c", "import os\nfor i in range(5100): open(f'{i}.tfvars', 'w').write('a = 1'); "
                     "os.symlink(f'{i}.tfvars', f'l{i}.tfvars')", timeout=120)
    equal(result.code, 0, "exit status", result)
    lacks(result.err, "quarantined", "the notice")
    equal(sum(name.endswith(".tfvars") for name in os.listdir(t.project)), 2 * 5100, "files that stay")


@timeout(300)
@needs("git")
def test_a_branch_with_the_name_of_a_secret_survives_very_many_secrets(t):
    repository = Repository(t, t.project).filled()
    repository.git("branch", "secrets/id_rsa")
    result = t.fence("/usr/bin/python3", "-c", "for i in range(5100): open(f'{i}.key', 'w').close()", timeout=120)
    contains(result.err, "quarantined", "the notice")
    contains(repository.git("branch"), "secrets/id_rsa", "branches")


def test_a_few_new_secrets_stay_where_they_are(t):
    result = t.sh("for i in 1 2 3; do echo x > $i.key; done")
    equal((result.err, [t.exists(f"{i}.key") for i in (1, 2, 3)]), ("", [True] * 3), "the files", result)


@timeout(300)
def test_a_loop_survives_secrets_that_its_agent_made(t):
    loop = Loop(t, workspace="in-place", scripts={"1": "i=0; while [ $i -lt 5100 ]; do : > $i.key; i=$((i+1)); done",
                            "2": "edit done yes"})
    ended = loop.run(timeout=200)
    equal(ended.code, 0, "exit status", ended)
    equal(loop.status()["iteration"], 2, "iterations", ended)
