"""Nothing that a command does in a draft reaches the project, at any moment."""

import ctypes
import json
import os
import select
import signal
import struct
import subprocess
import threading

from harness import cases, contains, equal, expect, kernel, lacks, root_only
from harness.drafts import in_copies
from harness.edits import difference, listing
from harness.loop import Loop
from harness.nametable import CLASSES, planted

# Drafts need mounts, so the fence landlock refuses them (e2e/test_landlock.py).
MECHANISMS = ("bwrap", "podman", "docker")

IN_CHANGES = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800  # writes, modes, names, deletions

# Names that tools of the host execute or obey, and some that no table lists.
PLANTS = [".vscode/tasks.json", ".idea/workspace.xml", ".envrc", ".husky/pre-commit", ".git/hooks/pre-commit",
          ".git/config", ".claude/settings.json", ".mcp.json", ".npmrc", ".cargo/config.toml", "conftest.py",
          "package.json", "Makefile", ".bashrc", ".profile", ".gitattributes", ".pre-commit-config.yaml",
          ".github/workflows/ci.yml", "AGENTS.md", "bare/HEAD", "bare/config", "bare/refs/x", "bare/objects/x",
          ".new-tool-of-tomorrow", ".tool/hooks/run", "build.zig", "x.code-workspace", ".dir-locals.el", ".exrc"]


class Watch:
    """Records every change in a folder and below, as another process sees it."""

    def __init__(self, root):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_CLOEXEC)
        self.stop, self.wake = os.pipe()
        self.events = []
        for folder, _, _ in os.walk(root):
            expect(libc.inotify_add_watch(self.fd, os.fsencode(folder), IN_CHANGES) >= 0, "inotify watches the folder", folder)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while True:
            ready, _, _ = select.select([self.fd, self.stop], [], [])
            if self.fd in ready:
                data = os.read(self.fd, 65536)
                while data:
                    _, mask, _, size = struct.unpack_from("iIII", data)
                    self.events.append((hex(mask), data[16:16 + size].rstrip(b"\0").decode(errors="replace")))
                    data = data[16 + size:]
            elif self.stop in ready:
                return

    def end(self):
        os.write(self.wake, b"x")
        self.thread.join()
        return self.events


def plant(names):
    return "; ".join(f"mkdir -p {os.path.dirname(name) or '.'}; echo planted >{name}" for name in names)


def draft_of(t):
    return json.loads(t.run([t.ringfence, "drafts", "--json"]).out)["drafts"][-1]["id"]


def test_no_plant_is_in_the_project_while_the_command_runs_or_after(t):
    t.write(".vscode/settings.json", "{}\n")
    t.write("src/main.c", "int main;\n")
    t.run(["git", "init", "-q"])
    before = listing(t.project, skip=())
    watch = Watch(t.project)
    result = t.sh(plant(PLANTS) + "; rm -r src; chmod 700 .; touch .; mv .vscode/settings.json x; "
                  "truncate -s 0 .git/HEAD; ln -f Makefile y; cat .envrc", opts=("--draft",))
    equal((result.code, result.out), (0, "planted\n"), "the command in the draft", result)
    equal(watch.end(), [], "changes that another process saw")
    equal(difference(before, listing(t.project, skip=())), "", "the project afterwards")
    expect(not t.quarantined(), "there is nothing to quarantine", t.quarantined())


# Writes every path of a list, links and moves files of the project to names that tools obey, and removes half of the plants again.
PLANT_ALL = """
import os
paths = open('list').read().split()
for path in paths:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as file:
        file.write('planted')
os.link('tool', '.bashrc')
os.rename('known/.mcp.json', '.mcp.json')
with open('known/.vimrc', 'a') as file:
    file.write('planted')
print(sum(os.path.exists(path) for path in paths))
for path in paths[::2]:
    os.unlink(path)
"""

UNLISTED = [f"u{number}/{name}" for number, name in enumerate(
    [f".tool-of-tomorrow-{i}" for i in range(25)] + [f"tomorrow{i}.config" for i in range(15)] + [f".hooks-{i}/run" for i in range(10)])]


def fill_with_known(t):
    """A project with files that the host trusts. Returns how many plants its list has."""
    paths = planted(*CLASSES) + UNLISTED
    t.write("list", "\n".join(paths))
    t.write("tool", "mine\n")
    t.write("known/.mcp.json", "{}\n")
    t.write("known/.vimrc", "mine\n")
    t.write("plant.py", PLANT_ALL)
    return len(paths)


def test_no_name_whether_in_the_table_or_not_is_in_the_project_at_any_moment(t):
    """With another rehearsal beside it, and then with a loop."""
    count = fill_with_known(t)
    expect(count > 1000, "there are many names", count)
    beside = t.fence_start("sh", "-c", "echo x >.envrc; echo ready; read end; rm .envrc", opts=("--draft",), stdin=subprocess.PIPE)
    equal(beside.stdout.readline(), b"ready\n", "the other command's first line")
    loop = Loop(t, scripts={"1": "python3 plant.py; edit done yes"})
    before = listing(t.project)
    watch = Watch(t.project)
    result = t.fence("python3", "plant.py", opts=("--draft",))
    equal((result.code, result.out), (0, f"{count}\n"), "the command in the draft", result)
    equal(t.finish(beside, b"end\n").code, 0, "exit status of the other command")
    result = loop.run("--workspace", "draft", "--findings", "all=note")
    equal(result.code, 0, "exit status of the loop", result)
    equal(watch.end(), [], "changes that another process saw")
    equal(difference(before, listing(t.project)), "", "the project afterwards")
    contains(loop.ringfence("logs").out, f"{count}", "what the agent printed")
    expect(not t.quarantined(), "there is nothing to quarantine", t.quarantined())


def test_a_full_disk_lets_no_plant_into_the_project(t):
    fill_with_known(t)
    t.own_mounts()
    state = os.path.join(t.outside, "state")
    t.tmpfs(state, size="24m")
    os.chmod(state, 0o700)
    before = listing(t.project)
    watch = Watch(t.project)
    script = "head -c 100000000 /dev/zero >fill; echo filled; python3 plant.py; echo x >.envrc; mkdir .vscode; rm -r known"
    result = t.run([t.ringfence, "exec", "--draft", "--", "sh", "-c", script], env=t.env(RINGFENCE_STATE_DIR=state))
    contains(result.out, "filled", "what the command printed")
    contains(result.err, "No space left on device", "the errors inside")
    equal(watch.end(), [], "changes that another process saw")
    equal(difference(before, listing(t.project)), "", "the project afterwards")


def test_the_watch_sees_a_plant_without_a_draft(t):
    """The control of the test above."""
    watch = Watch(t.project)
    t.sh("echo planted >plant", opts=())
    expect(any(name == "plant" for _, name in watch.end()), "the watch saw the plant")


def test_every_plant_that_crosses_is_named_first(t):
    unlisted = {"Makefile", "package.json", ".gitattributes", "build.zig", ".new-tool-of-tomorrow", ".tool/hooks/run"}
    never = {".git/hooks/pre-commit", ".git/config"}  # the project's own .git does not cross
    named = [name for name in PLANTS if name not in unlisted | never]
    t.sh(plant(PLANTS), opts=("--draft",))
    draft = draft_of(t)
    result = t.run([t.ringfence, "apply", draft])
    equal(result.code, 125, "exit status of apply without a yes", result)
    for name in named:
        contains(result.err, f"{name}: ", "what apply names")
    equal([name for name in PLANTS if t.exists(name)], [], "plants in the project")


@cases("user.overlay.opaque", "user.overlay.redirect", "user.overlay.whiteout", "user.overlay.metacopy", "trusted.overlay.redirect")
def test_a_forged_mark_of_overlayfs_has_no_effect(t, name):
    """A mark that the next view obeys could show a hidden file, or hide the project's files."""
    t.write("secrets/.env", "very-secret\n")
    t.write("secrets/other", "other\n")
    t.write("folder/file", "file\n")
    script = ("import os\nos.mkdir('plain')\n"
              "for path in ('plain', 'folder'):\n"
              f"    for value in (b'y', b'secrets', b'/secrets'):\n        try:\n            os.setxattr(path, {name!r}, value)\n"
              "        except OSError:\n            pass\n"
              "print('tried')\n")
    result = t.fence("python3", "-c", script, opts=("--draft",))
    equal(result.out, "tried\n", "the attempt", result)
    result = t.sh("ls -A plain folder; cat plain/.env plain/other secrets/.env; cat folder/file", opts=("--in", draft_of(t)))
    equal(result.out, "folder:\nfile\n\nplain:\nfile\n", "what the next view shows", result)


def test_a_secret_stays_hidden_whatever_is_moved(t):
    t.write("conf/.env", "very-secret\n")
    t.write("conf/other", "x\n")
    seen = []
    moves = ["mv conf conf2; cat conf2/.env", "cp -a conf conf3; cat conf3/.env", "ln conf/.env plain; cat plain",
             "python3 -c \"import os; os.rename('conf', 'conf4')\"; cat conf4/.env", "cat conf*/.env .env plain", "rm -rf conf; ls -A conf; cat conf/.env"]
    t.sh("true", opts=("--draft",))
    for script in moves:
        seen.append(t.sh("echo ran; " + script, opts=("--in", draft_of(t))).out)
    contains("".join(seen), "ran\n", "what the commands print")
    lacks("".join(seen), "very-secret", "what the commands read")
    equal(t.read("conf/.env"), "very-secret\n", "the secret outside")


@cases("overlay", "copy")
def test_the_layers_cannot_be_reached_from_inside(t, kind):
    part = {"overlay": "upper", "copy": "files"}[kind]
    t.sh("true", opts=("--draft", "--draft-kind", kind))
    layers = os.path.join(t.state, "drafts", draft_of(t), "layers")
    expect(os.path.isdir(os.path.join(layers, part)), "the layers exist outside")
    before = sorted(os.listdir(os.path.join(layers, part)))
    result = t.sh(f"echo ran; ls {layers}; echo x >{layers}/{part}/x; ls /proc/self/fd; cat /proc/self/mountinfo", opts=("--in", draft_of(t)))
    contains(result.out, "ran\n", "what the command prints")
    lacks(result.out, f"{part}\n", "what the command lists")
    # The mount of a copy names its source, as those of other folders do, but nothing leads there.
    equal([line.split()[4] for line in result.out.splitlines() if f"/drafts/{draft_of(t)}/layers" in line], [t.project] if kind == "copy" else [],
          "the mounts that name the layers")
    equal(sorted(os.listdir(os.path.join(layers, part))), before, "the layer")


def test_the_layers_follow_no_redirects_whatever_the_kernel_defaults_to(t):
    """A renamed folder would take a secret to a path that no pattern hides, and the gate would not find it."""
    result = t.sh("grep ' overlay ' /proc/self/mountinfo", opts=("--draft",))
    contains(result.out, "redirect_dir=nofollow", "the overlay's options")
    lacks(result.out, "metacopy=on", "the overlay's options")


def test_a_secret_that_only_its_path_hides_stays_hidden_when_its_folder_is_moved(t):
    """A copy could be renamed as a whole, with the secret in it, and the next command would see it at another path."""
    t.write("conf/real", "-----BEGIN PRIVATE KEY-----\nvery-secret\n")
    t.write("conf/private/key", "very-secret\n")
    t.write("conf/shown", "shown\n")
    os.symlink("conf/real", t.path("server.pem"))
    t.sh("mv conf moved", opts=("--draft", "--hide", "conf/private"))
    result = t.sh("cat moved/shown moved/real moved/private/key; grep -r very . ",
                  opts=("--in", draft_of(t), "--hide", "conf/private"))
    contains(result.out, "shown\n", "what the command read")
    lacks(result.out, "very-secret", "what the command read")
    equal(t.read("conf/private/key"), "very-secret\n", "the secret outside")


def test_a_secret_that_is_moved_with_its_folder_keeps_its_content_when_the_draft_is_applied(t):
    """The command could not read it, and did not change it."""
    t.write("conf/real", "-----BEGIN PRIVATE KEY-----\nvery-secret\n")
    t.write("conf/private/key", "very-secret\n")
    t.write("conf/shown", "shown\n")
    os.symlink("conf/real", t.path("server.pem"))
    t.works("python3", "-c", "import os; os.rename('conf', 'moved')", opts=("--draft", "--draft-kind", "copy", "--hide", "conf/private"))
    equal(t.run([t.ringfence, "apply", draft_of(t), "--yes"]).code, 0, "exit status of apply")
    folder = "moved"
    equal((t.read(f"{folder}/real"), t.read(f"{folder}/private/key"), t.read(f"{folder}/shown")),
          ("-----BEGIN PRIVATE KEY-----\nvery-secret\n", "very-secret\n", "shown\n"), "the files")
    equal(t.exists("conf"), False, "the old folder")


def test_two_drafts_do_not_see_each_other(t):
    t.sh("echo one >one", opts=("--draft",))
    first = draft_of(t)
    result = t.sh("echo ran; ls -A; cat one", opts=("--draft",))
    contains(result.out, "ran\n", "what the second command prints")
    lacks(result.out, "one", "what the second draft shows")
    equal(t.sh("cat one", opts=("--in", first)).out, "one\n", "what the first draft shows")


# Outside the draft, everything is protected as always

def folder_outside(t):
    """A folder that the command may write, with a file that nothing leads to."""
    folder = os.path.join(t.home, "data")
    os.makedirs(os.path.join(folder, "inner"))
    for name in ("target", "inner/file", "plain"):
        t.write(os.path.join(folder, name), "[user]\n")
    return folder


def git_config(t, key, value, cwd=None):
    t.run(["git", "init", "-q"], cwd=cwd or t.project)
    equal(t.run(["git", "config", key, value], cwd=cwd or t.project).code, 0, "git config")


def link(t, target, name):
    os.makedirs(os.path.dirname(t.path(name)), exist_ok=True)
    os.symlink(target, t.path(name))


LEADS = {
    "the hooks of the repository": ("inner/file", lambda t, folder: git_config(t, "core.hooksPath", folder + "/inner")),
    "a file that the git configuration includes": ("target", lambda t, folder: git_config(t, "include.path", folder + "/target")),
    "the hooks of a repository above": ("inner/file", lambda t, folder: git_config(t, "core.hooksPath", folder + "/inner", cwd=t.home)),
    "the hooks of a repository below": (
        "inner/file", lambda t, folder: (os.mkdir(t.path("sub")), git_config(t, "core.hooksPath", folder + "/inner", cwd=t.path("sub")))),
    "a symlink to a folder": ("inner/file", lambda t, folder: link(t, folder + "/inner", ".vscode")),
    "a symlink in a folder": ("target", lambda t, folder: link(t, folder + "/target", ".vscode/tasks.json")),
    "a symlink to a file": ("target", lambda t, folder: link(t, folder + "/target", ".husky/pre-commit")),
}


@cases(*LEADS)
def test_what_the_project_makes_the_host_execute_elsewhere_is_read_only(t, case):
    """The draft holds back what changes in the project. A folder outside changes at once."""
    folder = folder_outside(t)
    name, lead = LEADS[case]
    lead(t, folder)
    t.sh(f"echo evil >>{folder}/{name}; echo new >>{folder}/plain", opts=("--draft", "--write", folder))
    equal(t.read(os.path.join(folder, name)), "[user]\n", "what the host executes")
    contains(t.read(os.path.join(folder, "plain")), "new", "a file that nothing leads to")


@cases(*LEADS)
def test_it_stays_read_only_after_the_draft_lost_what_leads_there(t, case):
    """The host still obeys the project itself."""
    folder = folder_outside(t)
    name, lead = LEADS[case]
    lead(t, folder)
    t.sh("rm -rf .git sub .vscode .husky; git init -q", opts=("--draft",))
    t.sh(f"echo evil >>{folder}/{name}; echo new >>{folder}/plain", opts=("--in", draft_of(t), "--write", folder))
    equal(t.read(os.path.join(folder, name)), "[user]\n", "what the host executes")
    contains(t.read(os.path.join(folder, "plain")), "new", "a file that nothing leads to")


def test_a_new_hook_outside_is_swept_after_the_draft_lost_what_leads_there(t):
    folder = folder_outside(t)
    git_config(t, "core.hooksPath", folder + "/missing")
    t.sh("git config --unset core.hooksPath", opts=("--draft",))
    hook = os.path.join(folder, "missing/pre-commit")
    result = t.sh(f"mkdir {folder}/missing; echo evil >{hook}; cat {hook}", opts=("--in", draft_of(t), "--write", folder))
    equal(result.out, "evil\n", "what the command did", result)
    expect(not os.path.exists(hook), "the hook must not stay", result)


def test_a_secret_stays_hidden_after_the_draft_lost_its_symlink(t):
    t.write("conf/real", "very-secret\n")
    t.write("conf/other", "other\n")
    os.symlink("conf/real", t.path(".env"))
    t.sh("rm .env", opts=("--draft",))
    result = t.sh("ls -A; cat conf/real; cat conf/other", opts=("--in", draft_of(t)))
    contains(result.out, "other", "what the command may read")
    lacks(result.out, ".env", "what the draft has")
    lacks(result.out, "very-secret", "what the command read")


def test_a_refused_option_leaves_no_draft(t):
    equal(t.sh("true", opts=("--draft", "--write", t.home)).code, 125, "exit status")
    equal(json.loads(t.run([t.ringfence, "drafts", "--json"]).out)["drafts"], [], "the drafts")


def start(t, script, *opts):
    """Starts a command that waits for the end of its input after a script."""
    process = t.fence_start("sh", "-c", f"{script}; echo ready; read end", opts=opts, stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command's first line")
    return process


def kill(t, process):
    os.kill(process.pid, signal.SIGKILL)
    t.all_gone()
    process.communicate(timeout=60)  # not before: the end of its input would let the command end by itself


def test_a_rehearsal_sweeps_what_a_killed_run_left_in_the_project_itself(t):
    kill(t, start(t, "echo evil >.envrc"))
    expect(t.exists(".envrc"), "the killed run left its file")
    result = t.sh("ls -A", opts=("--draft",))
    expect(not t.exists(".envrc"), "it must not stay", result)
    equal(len(t.quarantined(".envrc")), 1, "files in quarantine", result)
    contains(result.err, ".envrc", "the notice")
    lacks(result.out, ".envrc", "what the command sees")


def test_the_start_of_a_rehearsal_does_not_sweep_its_own_view_for_a_killed_run(t):
    """A second command in a draft finds the draft as it was."""
    t.sh("mkdir .husky; echo mine >.husky/hook", opts=("--draft",))
    kill(t, start(t, "echo evil >.vscode"))
    equal(t.sh("cat .husky/hook", opts=("--in", draft_of(t))).out, "mine\n", "the draft's file")
    expect(not t.exists(".vscode"), "what the killed run left must not stay")


def test_what_a_run_plants_is_swept_while_a_rehearsal_goes_on(t):
    rehearsal = start(t, "true", "--draft")
    result = t.sh("echo evil >.envrc")
    expect(not t.exists(".envrc"), "it must not stay", result)
    equal(t.finish(rehearsal, b"end\n").code, 0, "exit status of the rehearsal")


def test_what_is_planted_while_a_rehearsal_ends_is_swept(t):
    """The end of a rehearsal must not take a plant for one that was swept."""
    rehearsal = start(t, "true", "--draft")
    planter = start(t, "echo evil >.envrc")
    equal(t.finish(rehearsal, b"end\n").code, 0, "exit status of the rehearsal")
    result = t.finish(planter, b"end\n")
    expect(not t.exists(".envrc"), "it must not stay", result)


# Root with a project of another user

def give_away(t):
    """Gives the project to another user. Returns the environment with a state folder of that user."""
    state = os.path.join(t.outside, "state")
    os.mkdir(state)
    for base, folders, files in os.walk(t.project):
        for name in [base, *(os.path.join(base, n) for n in folders + files)]:
            os.chown(name, 12321, 12321, follow_symlinks=False)
    os.chown(state, 12321, 12321)
    return t.env(RINGFENCE_STATE_DIR=state, ROOTS_OWN="the secret", PASSED="yes")


@root_only
def test_root_rehearses_and_applies_as_the_owner_of_the_project(t):
    t.write("old", "1\n")
    t.write(".env", "very-secret\n")
    env = give_away(t)
    result = t.sh("id -u; echo 2 >old; echo new >new; cat .env", opts=("--draft",), env=env)
    equal(result.out, "12321\n", "what the command wrote", result)
    equal((t.read("old"), t.exists("new")), ("1\n", False), "the project before apply")
    draft = json.loads(t.run([t.ringfence, "drafts", "--json"], env=env).out)["drafts"][-1]["id"]
    result = t.run([t.ringfence, "apply", draft], env=env)
    equal(result.code, 0, "exit status of apply", result)
    equal((t.read("old"), t.read("new")), ("2\n", "new\n"), "the project after apply")
    for name in ("old", "new"):
        equal(os.stat(t.path(name)).st_uid, 12321, f"the owner of {name}")


@root_only
def test_the_owner_of_a_draft_that_root_rehearses_cannot_look_into_ringfence(t):
    """The view is in a user namespace of that user, who has all capabilities over it."""
    env = give_away(t)
    process = t.fence_start("sh", "-c", "echo $PASSED; read line", opts=("--draft", "--env", "PASSED"), stdin=subprocess.PIPE, env=env)
    equal(process.stdout.readline(), b"yes\n", "the command")
    become = ["setpriv", "--reuid", "12321", "--regid", "12321", "--clear-groups"]
    for name in ("environ", "maps", "fd"):
        look = ["ls" if name == "fd" else "cat", f"/proc/{process.pid}/{name}"]
        equal(t.run(look).code, 0, f"root's look at {name}")
        contains(t.run([*become, *look]).err, "Permission denied", f"what that user sees of {name}")
    for pid, command in kernel.descendants_of(process.pid):
        lacks(t.run(["cat", f"/proc/{pid}/environ"]).out, "the secret", f"the environment of {command}")
    process.communicate(b"\n", timeout=60)


globals().update(in_copies(dict(globals()), test_the_layers_cannot_be_reached_from_inside,
                           test_the_layers_follow_no_redirects_whatever_the_kernel_defaults_to))
