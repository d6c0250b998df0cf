"""Making the folders of a draft movable gives a command nothing that it does not have already."""

import json
import os
import signal
import subprocess

from harness import cases, contains, equal, expect, kernel, lacks, timeout, user_only
from harness.edits import difference, listing

# Drafts need mounts, so the fence landlock refuses them (e2e/test_landlock.py).
MECHANISMS = ("bwrap", "podman", "docker")

PLACE = ".ringfence-rename"
NEVER = 10**9
KILLS = 12

RENAME = """
import errno, os
def rename(a, b):
    try:
        os.rename(a, b)
        return "renamed"
    except OSError as error:
        return errno.errorcode[error.errno]
"""


def drafts_of(t):
    return json.loads(t.run([t.ringfence, "drafts", "--json"]).out)["drafts"]


def draft_of(t):
    return drafts_of(t)[-1]["id"]


def killed_with_note(t, note, script, *opts):
    """Kills a command that has made the place of a rename itself."""
    first = f"mkdir {PLACE} {PLACE}/keep {PLACE}/new; ln -s '{note}' {PLACE}/note; {script.replace('{place}', PLACE)}"
    process = t.fence_start("sh", "-c", f"{first}; echo ready; read end", opts=opts or ("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    process.send_signal(signal.SIGKILL)
    t.leftover_runs = True
    t.all_gone()
    process.communicate()  # not before: the end of its input would let the command end by itself


def python(t, script, *opts):
    result = t.fence("python3", "-c", RENAME + script, opts=opts or ("--draft",))
    equal(result.code, 0, "exit status", result)
    return result.out


def folder_outside(t):
    """A folder that the command may write, as a symlink may name it."""
    folder = os.path.join(t.home, "data")
    os.makedirs(os.path.join(folder, "inner"))
    t.write(os.path.join(folder, "inner/file"), "outside\n")
    os.chmod(os.path.join(folder, "inner"), 0o555)
    return folder


def test_the_project_does_not_change_while_folders_are_renamed(t):
    for number in range(20):
        t.write(f"folder/inner/{number}", str(number))
    before = listing(t.project)
    equal(python(t, "print(rename('folder', 'moved'), len(os.listdir('moved/inner')))"), "renamed 20\n", "the rename")
    equal(difference(before, listing(t.project)), "", "changes in the project")


@cases("file", "folder", "the path of a symlink")
def test_a_folder_with_something_hidden_is_not_made_movable(t, case):
    """A secret would otherwise be at a path that no rule hides; the same folder without it is renamed."""
    secret = {"file": "conf/deep/.env", "folder": "conf/deep/secrets/key", "the path of a symlink": "conf/deep/real"}[case]
    opts = ("--hide", t.path("conf/deep/secrets")) if case == "folder" else ()
    t.write(secret, "-----BEGIN PRIVATE KEY-----\nvery-secret\n")
    t.write("conf/other", "x\n")
    t.write("plain/deep/file", "x\n")
    if case == "the path of a symlink":
        os.symlink("conf/deep/real", t.path("server.pem"))
    out = python(t, """
print(rename("plain", "moved"), rename("conf", "conf2"), rename("conf/deep", "deep"))
for folder, _, files in os.walk("."):
    for name in files:
        try:
            print(open(os.path.join(folder, name), errors="replace").read(4000))
        except OSError as error:
            print(error)
""", "--draft", *opts)
    contains(out, "renamed EXDEV EXDEV\n", "the renames")
    lacks(out, "very-secret", "what the command reads")
    result = t.sh(f"echo ran; cat {secret} */{secret} deep/*; ls -A", opts=("--in", draft_of(t), *opts))
    contains(result.out, "ran\n", "the next command")
    lacks(result.out, "very-secret", "what the next command reads")
    lacks(result.out, PLACE, "what the next command lists")


def test_a_path_outside_is_not_renamed(t):
    folder = folder_outside(t)
    os.makedirs(os.path.join(t.outside, "theirs/inner"))
    t.write("mine/file", "x\n")
    before = listing(t.outside), listing(folder)
    out = python(t, f"""
os.symlink({t.outside!r}, "way")
for path in ({t.outside!r}, "/proc/self/root" + {t.outside!r}, "../../outside", "way", "/proc/1/root" + {t.outside!r}):
    print(rename(path + "/theirs", "got"), os.path.exists("got"))
print(rename("mine", "moved"))
""")
    lines = out.splitlines()
    equal(lines.pop(), "renamed", "the control")
    expect(all(line.endswith(" False") and not line.startswith("renamed") for line in lines), "nothing is renamed", out)
    equal(difference(before[0], listing(t.outside)), "", "changes outside")


NOTES = {
    "a path above": "755 5.000000000 ../data/inner",
    "an absolute path": "755 5.000000000 /{folder}/inner",
    "a symlink": "4777 5.000000000 way/inner",
    "the end of a symlink": "4777 5.000000000 way",
    "no path": "777 5.000000000 ",
    "no note": "nonsense",
    "a long path": "777 5.000000000 " + "x/" * 1900,
    "the project": "777 5.000000000 .",
    "above the project": "777 5.000000000 ..",
}


@cases(*NOTES)
def test_a_forged_note_moves_nothing_outside(t, case):
    """The next command obeys such a note, behind the same walls."""
    folder = folder_outside(t)
    t.write("file", "x\n")
    before = listing(t.home, skip=(b".local", b".cache"))
    modes = os.stat(folder).st_mode, os.stat(os.path.join(folder, "inner")).st_mode, os.stat(t.project).st_mode
    note = NOTES[case].replace("{folder}", folder)
    opts = ("--write", folder)
    t.sh(f"ln -s {folder} way", opts=("--draft", *opts))
    killed_with_note(t, note, f"ln -s {folder} {PLACE}/new/link", "--in", draft_of(t), *opts)
    t.sh("true", opts=("--in", draft_of(t), *opts))
    equal((os.stat(folder).st_mode, os.stat(os.path.join(folder, "inner")).st_mode, os.stat(t.project).st_mode), modes, "modes outside")
    equal(difference(before, listing(t.home, skip=(b".local", b".cache"))), "", "changes outside")


@timeout(120)
def test_symlinks_swapped_during_a_rename_lead_nowhere(t):
    """A thread exchanges folders with symlinks to a writable folder outside, as fast as it can."""
    folder = folder_outside(t)
    for number in range(60):
        t.write(f"folder/inner{number % 6}/{number}", str(number))
    before = listing(folder)
    out = python(t, f"""
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("traps")
for n in range(6):
    os.symlink({folder!r} + "/inner", f"traps/{{n}}")
ended, swaps = threading.Event(), 0
def swap():
    global swaps
    while not ended.is_set():
        for n in range(6):
            for place in ("folder", "moved"):
                swaps += libc.renameat2(-100, f"traps/{{n}}".encode(), -100, f"{{place}}/inner{{n}}".encode(), 2) == 0
thread = threading.Thread(target=swap)
thread.start()
for n in range(10):
    rename("folder", "moved")
    rename("moved", "folder")
ended.set()
thread.join()
print("swapped" if swaps else "never")
""", "--draft", "--write", folder)
    equal(out, "swapped\n", "the attempt")
    equal(difference(before, listing(folder)), "", "changes outside")
    equal(os.stat(os.path.join(folder, "inner")).st_mode & 0o777, 0o555, "the mode outside")


@timeout(180)
def test_a_bomb_of_renames_ends(t):
    """Many processes rename folders at once, and some are killed meanwhile. The rest is answered."""
    for number in range(30):
        t.write(f"folder{number}/inner/file", str(number))
    out = python(t, """
import signal
pids = []
for n in range(30):
    pid = os.fork()
    if pid == 0:
        for way in range(5):
            rename(f"folder{n}", f"moved{n}")
            rename(f"moved{n}", f"folder{n}")
        os._exit(0)
    pids.append(pid)
for pid in pids[::3]:
    os.kill(pid, signal.SIGKILL)
for pid in pids:
    os.waitpid(pid, 0)
names = [name for name in os.listdir(".") if name.startswith(("folder", "moved"))]
print(len(names), sorted(int(open(f"{name}/inner/file").read()) for name in names) == list(range(30)))
print(rename(names[0], "last"))
""")
    equal(out, "30 True\nrenamed\n", "the folders afterwards")


@user_only
def test_a_command_without_a_fence_obeys_no_note(t):
    """It would act with all rights of the user."""
    t.write("folder/file", "x\n")
    killed_with_note(t, "755 5.000000000 folder", "mv folder/file {place}/new")
    result = t.sh("echo ran", opts=("--in", draft_of(t), "--i-accept-no-fence"))
    equal((result.code, result.out), (125, ""), "the next command", result)
    contains(result.err, "only a command in a fence can finish", "the error")
    equal(t.sh("cat folder/file", opts=("--in", draft_of(t))).out, "x\n", "what a command in a fence finds")


def stepped(t, step, *command):
    argv = [t.attack_source, "pause-at", str(step), *t.fence_argv(*command, opts=("--draft",))]
    return t.start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def steps_of(t, *command):
    result = t.finish(stepped(t, NEVER, *command))
    equal(result.code, 0, "exit status of a run that goes on", result)
    return int(result.err.rpartition("steps: ")[2])


@timeout(300)
def test_killed_at_any_step_nothing_is_lost(t):
    """Most steps are those of the renames; before and after, the draft begins, and the command waits."""
    for number in range(4):
        for name in ("file", "inner/file", "inner/deep/file"):
            t.write(f"folder{number}/{name}", str(number))
    before = listing(t.project)
    script = "for n in 0 1 2 3; do mv -T folder$n moved$n; done; echo over"
    steps = steps_of(t, "sh", "-c", script)
    t.leftover_runs = True
    found = set()
    for number in range(KILLS):
        known = len(drafts_of(t))
        process = stepped(t, number * steps // KILLS, "sh", "-c", script + "; exec sleep 600")
        contains("paused\nover\n", process.stdout.readline().decode(), "where it stops")
        os.kill(kernel.descendants_of(process.pid)[0][0], signal.SIGKILL)
        t.communicate(process, b"\n")
        t.all_gone()
        if len(drafts_of(t)) == known:
            continue
        if not drafts_of(t)[-1]["kind"]:  # killed before the draft was complete, so no command ran
            equal(t.run([t.ringfence, "discard", draft_of(t)]).code, 0, "exit status of discard")
            equal(len(drafts_of(t)), known, "the drafts")
            continue
        result = t.sh("ls -A | tr '\\n' ' '; cat [fm]*/* [fm]*/*/* [fm]*/*/*/* 2>/dev/null", opts=("--in", draft_of(t)))
        *names, text = result.out.split()
        equal("".join(sorted(text)), "000111222333", "the files", result)
        equal((names[0], sorted(name[-1] for name in names[1:])), ("attack", list("0123")), "each folder has one name, and nothing is left", result)
        found.add(sum(name.startswith("moved") for name in names))
    expect(0 in found and len(found) > 2, "renames were killed at different moments", found)
    equal(difference(before, listing(t.project)), "", "changes in the project")
