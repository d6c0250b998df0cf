"""Drafts that are copies of the project: what they keep, when they are made, and when they are refused."""

import json
import os
import signal
import socket
import subprocess

from harness import cases, contains, equal, expect, lacks, root_only, user_only
from harness.drafts import on_overlay, use_copies
from harness.edits import difference, listing


def drafts(t):
    result = t.run([t.ringfence, "drafts", "--json"])
    equal(result.code, 0, "exit status of drafts", result)
    return json.loads(result.out)["drafts"]


def rehearse(t, script, *opts, code=0, **options):
    result = t.sh(script, opts=("--draft", *opts), **options)
    equal(result.code, code, "exit status of exec --draft", result)
    return result


def copy_of(t):
    return os.path.join(t.state, "drafts", drafts(t)[-1]["id"], "layers", "files")


def tree(root):
    """Everything that a copy keeps of a tree, and that listing() does not tell."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [".", *folders, *files]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            found[os.path.relpath(path, root)] = (
                status.st_mode, status.st_mtime_ns, os.readlink(path) if os.path.islink(path) else None,
                {key: os.getxattr(path, key) for key in os.listxattr(path, follow_symlinks=False)} if os.path.isfile(path) else {})
    return found


def fill(t):
    t.write("file", "text\n", mode=0o640)
    t.write("folder/run", "#!/bin/sh\n", mode=0o755)
    os.link(t.path("file"), t.path("folder/link"))
    os.symlink("../file", t.path("folder/symlink"))
    os.symlink("nowhere", t.path("dangling"))
    os.mkfifo(t.path("pipe"), 0o600)
    os.mkdir(t.path("empty"))
    os.chmod(t.path("empty"), 0o711)
    os.setxattr(t.path("file"), "user.kept", b"value")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(t.path("socket"))
    with open(t.path("sparse"), "wb") as file:
        file.seek(64 << 20)
        file.write(b"end")
    for name in ("file", "folder/run", "folder", "empty", "sparse"):
        os.utime(t.path(name), ns=(10 ** 18, 10 ** 18 + 123456789))


def test_a_copy_is_like_the_project(t):
    fill(t)
    use_copies(t)
    before = listing(t.project)
    rehearse(t, "true")
    copy = copy_of(t)
    equal(difference(before, listing(copy)), "", "the copy")
    expect(tree(copy) == tree(t.project), "modes, times and attributes", (tree(copy), tree(t.project)))
    equal(os.lstat(os.path.join(copy, "file")).st_nlink, 2, "the hard links")
    expect(os.stat(os.path.join(copy, "sparse")).st_blocks < 2048, "a sparse file stays sparse")
    equal(difference(before, listing(t.project)), "", "changes in the project")


def test_nothing_counts_as_changed_but_what_the_command_changes(t):
    fill(t)
    use_copies(t)
    contains(rehearse(t, "cat file; ls -R").err, "nothing changed", "notices")
    result = rehearse(t, "touch -d @0 file; echo x >>folder/run; mv empty full; rm dangling")
    for line in ("M folder/run", "D dangling"):
        contains(result.err, line, "notices")
    lacks(result.err, "symlink", "notices")
    lacks(result.err, "sparse", "notices")


def test_a_folder_can_be_renamed_in_a_copy(t):
    """As git mv does; an overlay refuses it."""
    t.write("old/inner/file", "1\n")
    t.write("other/inner/file", "2\n")
    use_copies(t)
    script = "import os; os.rename('old', 'new'); os.rename('other/inner', 'new/second'); os.rename('new/inner', 'other/inner')"
    result = t.fence("python3", "-c", script, opts=("--draft",))
    equal(result.code, 0, "exit status", result)
    draft = drafts(t)[-1]["id"]
    equal(t.run([t.ringfence, "apply", draft]).code, 0, "exit status of apply")
    equal((t.read("other/inner/file"), t.read("new/second/file"), t.exists("old")), ("1\n", "2\n", False), "the project")


def test_a_shared_mapping_changes_a_file_of_a_copy(t):
    t.write("file", "a" * 8192)
    use_copies(t)
    script = "import mmap, os; fd = os.open('file', os.O_RDWR); m = mmap.mmap(fd, 8192); m[0:1] = b'b'"
    result = t.fence("python3", "-c", script, opts=("--draft",))
    contains(result.err, "M file", "notices")


def test_a_file_that_cannot_be_read_is_empty_and_is_told(t):
    use_copies(t)
    t.write("mine", "x\n", mode=0)
    result = rehearse(t, "ls -l mine")
    contains(result.out, "----------", "its mode")
    lacks(result.err, "M mine", "the notices")
    if os.geteuid() != 0:
        contains(result.err, "1 file of the project cannot be read", "the notices")


@user_only
def test_where_an_overlay_does_not_work_the_draft_is_a_copy_and_the_reason_is_told(t):
    """The control: it is an overlay before."""
    rehearse(t, "true")
    equal(drafts(t)[-1]["kind"], "overlay", "the control")
    t.write("file", "1\n")
    t.own_mounts()
    env = t.env(RINGFENCE_STATE_DIR=on_overlay(t, os.path.join(t.outside, "place")))
    result = t.run([t.ringfence, "exec", "--draft", "--", "sh", "-c", "cat file; echo 2 >file"], env=env)
    equal((result.code, result.out), (0, "1\n"), "exit status and output", result)
    contains(result.err, "the draft is a copy of the project, because an overlay does not work: ", "the notices")
    contains(result.err, "M file", "the notices")
    entry = json.loads(t.run([t.ringfence, "drafts", "--json"], env=env).out)["drafts"][-1]
    equal(entry["kind"], "copy", "the kind")
    equal(t.read("file"), "1\n", "the project")
    equal(t.run([t.ringfence, "apply", entry["id"]], env=env).code, 0, "exit status of apply")
    equal(t.read("file"), "2\n", "the project after apply")


@root_only
@cases("overlay", "auto")
def test_a_folder_of_another_group_can_be_changed_in_a_draft(t, kind):
    """An overlay cannot change such files: its namespace has one group only."""
    t.write("file", "1\n")
    for path in (t.project, t.path("file")):
        os.chown(path, 0, 12345)
    result = t.sh("echo 2 >>file; chmod 600 file", opts=("--draft", "--draft-kind", kind))
    if kind == "overlay":
        equal(result.code, 125, "exit status", result)
        contains(result.err, "of another user or group", "the error")
        return
    equal(result.code, 0, "exit status", result)
    contains(result.err, "M file", "the notices")
    equal(drafts(t)[-1]["kind"], "copy", "the kind")


def test_an_overlay_that_is_asked_for_is_not_replaced_by_a_copy(t):
    t.own_mounts()
    t.tmpfs(t.path("data"))
    result = rehearse(t, "true", "--draft-kind", "overlay", code=125)
    contains(result.err, "is mounted inside the project", "the error")
    equal(drafts(t), [], "the drafts")


def test_a_copy_that_is_too_large_is_refused_before_it_is_made(t):
    t.write("big", "x" * 300000)
    use_copies(t)
    result = rehearse(t, "true", "--draft-size", "100K", code=125)
    contains(result.err, "the limit is 100 KiB", "the error")
    equal((drafts(t), os.listdir(os.path.join(t.state, "drafts"))), ([], []), "what is left of it")
    rehearse(t, "true", "--draft-size", "10M")


def test_a_copy_for_which_there_is_no_space_is_refused_before_it_is_made(t):
    t.write("big", "x" * 30000000)
    use_copies(t)
    t.own_mounts()
    state = os.path.join(t.outside, "state")
    t.tmpfs(state, size="24m")
    os.chmod(state, 0o700)
    env = t.env(RINGFENCE_STATE_DIR=state)
    result = t.run([t.ringfence, "exec", "--draft", "--", "true"], env=env)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "has only ", "the error")
    equal(os.listdir(os.path.join(state, "drafts")), [], "what is left of it")


def test_a_draft_whose_creation_was_interrupted_can_only_be_discarded(t):
    use_copies(t)
    rehearse(t, "true")
    draft = drafts(t)[-1]["id"]
    layers = os.path.dirname(copy_of(t))
    os.rename(os.path.join(layers, "files"), os.path.join(layers, "files.partial"))
    equal(drafts(t)[-1]["kind"], None, "the kind")
    result = t.sh("true", opts=("--in", draft))
    equal(result.code, 125, "exit status of exec --in", result)
    contains(result.err, "its creation was interrupted", "the error")
    equal(t.run([t.ringfence, "discard", draft]).code, 0, "exit status of discard")
    equal(drafts(t), [], "the drafts")


@cases(0, 1, 100)
def test_a_damaged_record_of_a_copy_is_an_error(t, size):
    use_copies(t)
    rehearse(t, "true")
    with open(os.path.join(os.path.dirname(copy_of(t)), "copied"), "r+b") as file:
        file.truncate(size)
    result = t.sh("true", opts=("--in", drafts(t)[-1]["id"]))
    equal(result.code, 125, "exit status of exec --in", result)
    contains(result.err, "the record of the draft's copy is damaged", "the error")


def test_a_killed_command_leaves_its_changes_in_the_copy(t):
    use_copies(t)
    t.leftover_runs = True
    process = t.fence_start("sh", "-c", "echo x >x; echo ready; read end", opts=("--draft",), stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    process.send_signal(signal.SIGKILL)
    process.wait()
    t.all_gone()
    draft = drafts(t)[-1]["id"]
    equal(t.works("cat", "x", opts=("--in", draft)), "x\n", "what the draft has")
