"""Folders of a draft can be renamed, although overlayfs refuses to rename what comes from the project."""

import json
import os
import shutil
import signal
import stat
import subprocess

from harness import cases, contains, equal, expect, lacks
from harness.edits import difference, listing
from harness.loop import until

PLACE = ".ringfence-rename"


def drafts_of(t):
    result = t.run([t.ringfence, "drafts", "--json"])
    equal(result.code, 0, "exit status of drafts", result)
    return json.loads(result.out)["drafts"]


def draft_of(t):
    return drafts_of(t)[-1]["id"]


def python(t, script, *opts, code=0):
    result = t.fence("python3", "-c", RENAME2 + script, opts=opts or ("--draft",))
    equal(result.code, code, "exit status", result)
    return result


# Prints the errno of a rename, or "renamed".
RENAME2 = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def rename(a, b, flags=0, at=-100):
    done = libc.renameat2(at, a.encode(), at, b.encode(), flags)
    return "renamed" if done == 0 else errno.errorcode[ctypes.get_errno()]
NOREPLACE, EXCHANGE = 1, 2
"""


def tree(t, name="folder"):
    """A folder with all kinds of entries."""
    for path in ("one", "inner/two", "inner/deep/three", "locked/four"):
        t.write(f"{name}/{path}", path + "\n")
    t.write(f"{name}/run", "#!/bin/sh\n", mode=0o755)
    os.symlink("one", t.path(f"{name}/link"))
    os.symlink("missing", t.path(f"{name}/inner/dangling"))
    os.link(t.path(f"{name}/one"), t.path(f"{name}/inner/hard"))
    os.mkfifo(t.path(f"{name}/pipe"))
    os.mkdir(t.path(f"{name}/empty"))
    os.chmod(t.path(f"{name}/locked"), 0o500)
    os.chmod(t.path(f"{name}/inner/deep"), 0o750)
    os.utime(t.path(f"{name}/inner"), (1000000000, 1000000000.5))


# Prints all that a program can see of a folder, except for inode numbers.
LOOK = """
def look(root):
    for folder, folders, files in sorted(os.walk(root)):
        for name in sorted(folders + files) + ["."]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            text = os.readlink(path) if os.path.islink(path) else open(path).read() if os.path.isfile(path) else ""
            yield os.path.relpath(path, root), oct(status.st_mode), status.st_uid, status.st_gid, status.st_mtime_ns, text, os.listxattr(
                path, follow_symlinks=False)
"""


def test_git_moves_a_folder_in_a_draft(t):
    tree(t)
    t.run(["git", "init", "-q"])
    t.run(["git", "add", "."])
    result = t.sh("git mv folder moved && git status --short", opts=("--draft",))
    equal(result.code, 0, "exit status", result)
    contains(result.out, "A  moved/inner/two", "what git says")
    lacks(result.out, "folder/", "what git says")
    lacks(result.out, PLACE, "what git says")


def test_a_renamed_folder_is_the_same_in_all_that_can_be_seen(t):
    tree(t)
    os.setxattr(t.path("folder/inner"), "user.note", b"mine")
    result = python(t, LOOK + """
before = list(look("folder"))
print(rename("folder", "moved"))
print(list(look("moved")) == before, len(before), os.path.exists("folder"), os.getxattr("moved/inner", "user.note"))
print(sorted(os.listdir(".")))
""")
    out = result.out.splitlines()
    equal(out[0], "renamed", "the rename", result)
    equal(out[1], "True 18 False b'mine'", "the renamed folder", result)
    lacks(out[2], PLACE, "the project inside")
    expect(t.exists("folder/inner/two") and not t.exists("moved"), "the project outside is as it was")


def test_what_is_applied_equals_what_a_plain_rename_makes(t):
    tree(t)
    t.write("other/file", "x\n")
    t.run(["git", "init", "-q"])
    t.write(".gitignore", "*.o\n")
    t.write("folder/made.o", "ignored\n")
    copy = os.path.join(t.folder, "copy")
    shutil.copytree(t.project, copy, symlinks=True, ignore=lambda folder, names: [n for n in names if n == "pipe"])
    os.mkfifo(os.path.join(copy, "folder/pipe"))
    os.unlink(os.path.join(copy, "folder/made.o"))
    os.rename(os.path.join(copy, "folder"), os.path.join(copy, "other/moved"))
    result = t.sh("mv -T folder other/moved && cat other/moved/made.o", opts=("--draft",))
    equal(result.out, "ignored\n", "an ignored file moves inside", result)
    result = t.run([t.ringfence, "apply", draft_of(t)])
    equal(result.code, 0, "exit status of apply", result)
    if t.exists("folder/made.o"):  # an ignored file never crosses, and its folder stays
        shutil.rmtree(t.path("folder"))
    equal(difference(listing(copy), listing(t.project)), "", "the project compared with a plain rename")


RENAMES = {
    "to another folder": ("rename('folder', 'other/moved')", "renamed", "other/moved/inner/two"),
    "to an empty folder": ("os.mkdir('new') or rename('folder', 'new')", "renamed", "new/inner/two"),
    "to a folder that was emptied": ("os.unlink('other/file') or rename('folder', 'other')", "renamed", "other/inner/two"),
    "with a slash": ("rename('folder/', 'moved/')", "renamed", "moved/inner/two"),
    "by a descriptor": ("rename('inner', 'moved', 0, os.open('folder', os.O_RDONLY))", "renamed", "folder/moved/two"),
    "through /proc/self/root": ("rename('/proc/self/root' + os.getcwd() + '/folder', 'moved')", "renamed", "moved/inner/two"),
    "through /proc/self/cwd": ("rename('/proc/self/cwd/folder', 'moved')", "renamed", "moved/inner/two"),
    "through a symlink": ("os.symlink('folder', 'way') or rename('way/inner', 'moved')", "renamed", "moved/two"),
    "exchanged with a folder": ("rename('folder', 'other', EXCHANGE)", "renamed", "other/inner/two"),
    "exchanged with a file": ("rename('file', 'folder', EXCHANGE)", "renamed", "file/inner/two"),
    "to a new name only": ("rename('folder', 'moved', NOREPLACE)", "renamed", "moved/inner/two"),
    "to a name that exists only": ("rename('folder', 'other', NOREPLACE)", "EEXIST", "folder/inner/two"),
    "to a folder with files": ("rename('folder', 'other')", "ENOTEMPTY", "folder/inner/two"),
    "to a file": ("rename('folder', 'file')", "ENOTDIR", "folder/inner/two"),
    "into itself": ("rename('folder', 'folder/inner/more')", "EINVAL", "folder/inner/two"),
    "to a missing folder": ("rename('folder', 'none/moved')", "ENOENT", "folder/inner/two"),
    "to another file system": ("rename('folder', '/tmp/moved')", "EXDEV", "folder/inner/two"),
    "twice": ("rename('folder', 'a') + rename('a', 'b') + rename('b/inner', 'c')", "renamed" * 3, "c/two"),
}


@cases(*RENAMES)
def test_a_rename_means_what_it_means_elsewhere(t, case):
    act, outcome, found = RENAMES[case]
    tree(t)
    t.write("other/file", "x\n")
    t.write("file", "x\n")
    result = python(t, f"print({act}); print(open({found!r}).read(), end=''); print(sorted(os.listdir('.')))")
    out = result.out.splitlines()
    equal(out[:2], [outcome, "inner/two"], "the rename, and a file at its new place", result)
    lacks(out[2], PLACE, "the project inside")


@cases("the project and the folder", "only the project", "only the folder")
def test_a_folder_of_a_group_keeps_its_bits(t, case):
    """A new folder inherits such a bit, and the fence lets nobody set it: then the rename fails as before."""
    t.write("folder/inner/file", "x\n")
    for path in (t.path("folder/inner"), t.path("folder")):
        os.chmod(path, 0o755 if case == "only the project" else 0o2755)
    os.chmod(t.project, 0o755 if case == "only the folder" else 0o2755)
    result = python(t, "print(rename('folder', 'moved')); print([oct(os.stat(n).st_mode) for n in ('folder', 'folder/inner', 'moved', 'moved/inner')"
                    " if os.path.exists(n)], os.path.exists('.ringfence-rename'))")
    mode = "0o40755" if case == "only the project" else "0o42755"
    equal(result.out, f"{'EXDEV' if case == 'only the folder' else 'renamed'}\n['{mode}', '{mode}'] False\n", "the rename, and the modes", result)


def test_a_folder_is_renamed_without_reports_of_denials(t):
    tree(t)
    result = t.fence("python3", "-c", "import os; os.rename('folder', 'moved'); print(os.listdir('moved/inner/deep'))",
                     opts=("--draft", "--denials=false"))
    equal(result.out, "['three']\n", "the renamed folder", result)


def test_a_folder_changed_in_the_draft_before_is_renamed(t):
    tree(t)
    result = t.sh("echo changed >folder/one; rm folder/run folder/inner/two; rmdir folder/empty; mkdir folder/new; echo n >folder/new/n;"
                  "mv -T folder moved && cat moved/one moved/new/n && ls moved moved/inner", opts=("--draft",))
    equal(result.out, "changed\nn\nmoved:\ninner\nlink\nlocked\nnew\none\npipe\n\nmoved/inner:\ndangling\ndeep\nhard\n", "the folder", result)
    result = t.sh("mv -T moved/inner inner && ls inner; mv -T inner folder && ls folder", opts=("--in", draft_of(t)))
    equal(result.out, "dangling\ndeep\nhard\n" * 2, "the next command's renames", result)


def test_what_cannot_be_read_or_is_too_large_is_left_to_the_kernel(t):
    """The error stays as it was, and so does the folder."""
    tree(t, "closed")
    os.chmod(t.path("closed/inner/deep"), 0)
    os.makedirs(t.path("/".join(["far"] + ["x"] * 80)))
    t.write("huge/file")
    os.truncate(t.path("huge/file"), 2 << 30)
    result = python(t, """
for name in ("closed", "far", "huge"):
    print(rename(name, "moved"), os.path.exists("moved"))
print(sorted(os.listdir("closed")), sorted(os.listdir(".")))
""")
    os.chmod(t.path("closed/inner/deep"), 0o700)
    out = result.out.splitlines()
    equal(out[:3], ["EXDEV False"] * 3, "the renames", result)
    equal(out[3], "['empty', 'inner', 'link', 'locked', 'one', 'pipe', 'run'] ['attack', 'closed', 'far', 'huge']", "what is left", result)


def test_many_files_are_renamed_with_their_folder(t):
    for number in range(300):
        t.write(f"folder/{number % 7}/{number}", str(number))
    result = python(t, """
print(rename("folder", "moved"))
print(all(open(f"moved/{n % 7}/{n}").read() == str(n) for n in range(300)))
""")
    equal(result.out, "renamed\nTrue\n", "the rename", result)


def test_others_work_while_folders_are_renamed(t):
    """Threads that rename, read and write at once all get what they ask for."""
    for folder in range(4):
        for number in range(20):
            t.write(f"folder{folder}/sub/{number}", str(number))
    t.write("calm/file", "calm\n")
    result = python(t, """
import threading
problems, ended = [], threading.Event()
def move(n):
    for way in (("folder", "moved"), ("moved", "folder"), ("folder", "moved")):
        outcome = rename(f"{way[0]}{n}", f"{way[1]}{n}")
        if outcome != "renamed":
            problems.append(outcome)
def work(n):
    count = 0
    while not ended.is_set() or not count:
        count += 1
        if open("calm/file").read() != "calm\\n":
            problems.append("read")
        with open(f"calm/{n}.tmp", "w") as file:
            file.write("x")
        os.rename(f"calm/{n}.tmp", f"calm/{n}")
movers = [threading.Thread(target=move, args=(n,)) for n in range(4)]
workers = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for thread in movers + workers:
    thread.start()
for thread in movers:
    thread.join()
ended.set()
for thread in workers:
    thread.join()
print(problems, [len(os.listdir(f"moved{n}/sub")) for n in range(4)], sorted(os.listdir("calm")))
""")
    equal(result.out, "[] [20, 20, 20, 20] ['0', '1', '2', 'file']\n", "what the threads found", result)


def test_files_that_others_add_meanwhile_move_as_well(t):
    for number in range(40):
        t.write(f"folder/{number}", str(number))
    result = python(t, """
import threading
made, ended = [], threading.Event()
def add():
    while not ended.is_set():
        for name in ("folder", "moved"):
            try:
                with open(f"{name}/new{len(made)}", "x"):
                    made.append(f"new{len(made)}")
            except OSError:
                pass
thread = threading.Thread(target=add)
thread.start()
while not made:
    pass
print(rename("folder", "moved"))
ended.set()
thread.join()
print(set(os.listdir("moved")) == set(made) | {str(n) for n in range(40)})
""")
    equal(result.out, "renamed\nTrue\n", "the rename", result)


# Interruptions

def interrupted(t, script="true"):
    """A draft as a kill in the middle of a rename leaves it: some entries of a folder are in another place."""
    tree(t)
    process = t.fence_start("sh", "-c", f"mkdir {PLACE} {PLACE}/keep {PLACE}/new; ln -s '755 1000000000.500000000 folder' {PLACE}/note;"
                            f"mv folder/one folder/link {PLACE}/new; {script}; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    process.send_signal(signal.SIGKILL)
    t.leftover_runs = True
    t.all_gone()
    process.communicate()  # not before: the end of its input would let the command end by itself
    return draft_of(t)


def test_a_killed_rename_is_finished_by_the_next_command(t):
    draft = interrupted(t)
    result = t.run([t.ringfence, "apply", draft])
    equal(result.code, 125, "exit status of apply", result)
    mask = os.umask(0)
    os.umask(mask)
    result = t.fence("python3", "-c", f"import os; print(os.path.exists({PLACE!r}), len(os.listdir('folder')), os.stat('folder').st_mtime, os.umask(0) == {mask})",
                     opts=("--in", draft))
    equal(result.out, "False 7 1000000000.5 True\n", "what the next command finds", result)
    contains(t.run([t.ringfence, "apply", draft]).out, "nothing to do", "the result")


@cases("folder/inner/0", f"{PLACE}/note", "moved")
def test_nothing_is_lost_by_a_kill(t, case):
    """Kills everything as soon as this path appears in the draft, or one that comes later."""
    for number in range(200):
        t.write(f"folder/inner/{number}", str(number))
    process = t.fence_start("sh", "-c", "mv -T folder moved; read end", opts=("--draft",), stdin=subprocess.PIPE)
    t.leftover_runs = True
    until("a draft", lambda: drafts_of(t))
    upper = os.path.join(t.state, "drafts", draft_of(t), "layers/upper")
    until("the rename", lambda: any(os.path.lexists(os.path.join(upper, path)) for path in (case, "moved")))
    process.send_signal(signal.SIGKILL)
    t.all_gone()
    process.communicate()  # not before: the end of its input would let the command end by itself
    result = t.sh("ls -A; cat folder/inner/* moved/inner/* 2>/dev/null | wc -c", opts=("--in", draft_of(t)))
    contains(result.out, "\n490\n", "the size of all files, after what the next command finds")
    lacks(result.out, PLACE, "what the next command finds")
    expect(("folder" in result.out) != ("moved" in result.out), "the folder has one name", result)


@cases(*range(1, 8))
def test_a_rename_killed_at_each_step_is_finished(t, case):
    """Steps of one conversion, in the order in which they happen."""
    steps = ["mkdir P P/keep", "mkdir P/new", "ln -s '700 5.000000000 f' P/note", "mv f/a P/new", "mv f/b P/new",
             "mv -T P/new f", "chmod 700 f"]
    t.write("f/a", "a")
    t.write("f/b", "b")
    os.chmod(t.path("f"), 0o700)
    script = "; ".join(steps[:case]).replace("P", PLACE)
    process = t.fence_start("sh", "-c", f"set -e; {script}; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    process.send_signal(signal.SIGKILL)
    t.leftover_runs = True
    t.all_gone()
    process.communicate()  # not before: the end of its input would let the command end by itself
    result = t.sh("cat f/a f/b; ls -A; stat -c %a f", opts=("--in", draft_of(t)))
    equal(result.out, "abattack\nf\n700\n", "what the next command finds", result)


def test_a_folder_that_was_locked_is_locked_again(t):
    draft = interrupted(t, f"ln -s '500 locked' {PLACE}/locked; chmod 700 folder/locked; mv folder/locked {PLACE}/new")
    result = t.sh("stat -c '%a %n' folder/locked; cat folder/locked/four; ls -A", opts=("--in", draft))
    equal(result.out, "500 folder/locked\nlocked/four\nattack\nfolder\n", "what the next command finds", result)


def test_an_unfinished_rename_is_no_result(t):
    """A command that leaves such a folder itself can remove it."""
    t.write("file", "x\n")
    result = t.sh(f"mkdir -p {PLACE}/mine; echo mine >{PLACE}/mine/file", opts=("--draft",))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the rename of a folder was interrupted", "the error")
    draft = draft_of(t)
    result = t.run([t.ringfence, "apply", draft])
    equal(result.code, 125, "exit status of apply", result)
    result = t.sh(f"cat {PLACE}/mine/file; rm -r {PLACE}; echo y >file", opts=("--in", draft))
    equal((result.code, result.out), (0, "mine\n"), "the next command", result)
    equal(t.run([t.ringfence, "apply", draft]).code, 0, "exit status of apply")
    equal(t.read("file"), "y\n", "the project")


def test_a_rename_that_cannot_be_finished_refuses_the_next_command(t):
    draft = interrupted(t, "rm folder/run; rm -rf folder/inner folder/empty folder/pipe; chmod 700 folder/locked; rm -r folder; echo x >folder")
    result = t.sh("echo ran", opts=("--in", draft))
    equal((result.code, result.out), (125, ""), "the next command", result)
    contains(result.err, "finish the interrupted rename of a folder", "the error")
    expect(stat.S_ISDIR(os.lstat(t.path("folder")).st_mode), "the project is as it was")


@cases("rm -r folder", "rm -r folder; echo x >folder", "rm -r folder; ln -s / folder")
def test_a_rename_whose_folder_is_gone_refuses_one_command_and_loses_nothing(t, case):
    """Nobody is shut out of a draft: the next command can take the files back, and the draft has a result again."""
    draft = interrupted(t, f"chmod -R u+rwx folder; {case}")
    result = t.sh("echo ran", opts=("--in", draft))
    equal((result.code, result.out), (125, ""), "the next command", result)
    contains(result.err, f"{PLACE}/new", "the error")
    result = t.sh(f"cat {PLACE}/new/one; mv {PLACE}/new/one saved; rm -r {PLACE}", opts=("--in", draft))
    equal((result.code, result.out), (0, "one\n"), "the command after that", result)
    equal(t.run([t.ringfence, "apply", draft, "--", "saved"]).code, 0, "exit status of apply")
    equal(t.read("saved"), "one\n", "the file in the project")
