"""Files that the host would later execute are quarantined, never lost, and always reported."""

import json
import os
import stat

from harness import cases, contains, equal, expect, lacks, needs, snapshot, timeout


def kept(t, name):
    found = t.quarantined(name)
    equal(len(found), 1, f"files kept as {name}")
    return found[0]


def test_a_new_file_is_moved_with_its_content_and_mode(t):
    result = t.sh("mkdir -p .husky; printf 'evil\\0text' > .husky/pre-commit; chmod 751 .husky/pre-commit")
    expect(not t.exists(".husky/pre-commit"), "it must not stay", result)
    path = kept(t, ".husky/pre-commit")
    equal(t.read(path), "evil\0text", "content")
    equal(stat.S_IMODE(os.stat(path).st_mode) & 0o777, 0o751, "mode")


def test_the_notice_says_what_and_where(t):
    result = t.sh("echo x > .envrc")
    contains(result.err, "[ringfence] ", "the notice")
    contains(result.err, ".envrc", "the notice")
    contains(result.err, os.path.dirname(kept(t, ".envrc")), "the notice")


def test_the_notice_names_files_as_in_the_project_and_how_to_keep_one(t):
    result = t.sh("mkdir 'a b'; echo x >'a b/.envrc'")
    path = kept(t, "a b/.envrc")
    equal(result.err.splitlines(), [f"[ringfence] quarantined a b/.envrc (new; direnv) -> {path}",
                                    f"[ringfence] to keep one, bring it back: ringfence quarantine restore '{t.path('a b/.envrc')}'"], "stderr")


def test_many_files_are_named_in_one_line_by_tool(t):
    result = t.sh("for i in 1 2 3 4 5; do mkdir -p $i/.vscode; echo x >$i/.vscode/tasks.json; done; echo x >.envrc")
    first = result.err.splitlines()[0]
    contains(first, "[ringfence] quarantined 6 new files or folders: ", "the notice")
    contains(first, "direnv: .envrc", "one tool")
    contains(first, "/.vscode and 4 more", "another tool")
    contains(first, f" -> {os.path.dirname(kept(t, '.envrc'))}", "where they are")
    equal(len(result.err.splitlines()), 2, "lines", result)


def test_the_command_and_its_status_are_not_touched_by_it(t):
    result = t.sh("echo x > .envrc; echo out; exit 6")
    equal((result.code, result.out), (6, "out\n"), "the command", result)


def test_new_files_stay_where_write_names_their_folder_and_a_notice_says_so(t):
    t.write(".husky/pre-push", "x")
    script = "mkdir .husky/.vscode; echo x >.husky/.vscode/tasks.json; echo x >.husky/.envrc; echo x >.envrc"
    denied = t.sh(script)
    expect(not t.exists(".husky/.envrc"), "as a control, without the option", denied)
    result = t.sh(script, opts=("--write", ".", "--write", ".husky"))
    equal((t.exists(".husky/.envrc"), t.exists(".husky/.vscode/tasks.json"), t.exists(".envrc")), (True, True, False), "what stays")
    contains(result.err, f"{t.path('.husky')} is writable (--write); the host will execute what the command puts there (husky)", "the notice")
    lacks(denied.err, "is writable", "the notice of the control")


def test_existing_files_are_not_touched(t):
    for name in (".vscode/settings.json", ".claude/settings.json", ".envrc", "sub/.git/config",
                 ".idea/workspace.xml", ".husky/pre-commit", "ringfence.yml"):
        t.write(name, f"# mine: {name}", 0o640)
    before = snapshot(t.project)
    result = t.fence("true")
    equal((result.code, result.err), (0, ""), "a run", result)
    equal(snapshot(t.project), before, "the project")
    equal(t.quarantined(), [], "the quarantine")


def test_an_unrelated_file_stays(t):
    t.works("sh", "-c", "mkdir -p src .cache; echo x > src/a; echo x > .cache/b; echo x > .gitignore")
    equal([t.exists(n) for n in ("src/a", ".cache/b", ".gitignore")], [True] * 3, "files")
    equal(t.quarantined(), [], "the quarantine")


@cases(1, 3, 6, 12)
def test_the_hook_of_a_nested_repository_is_moved(t, depth):
    folder = "/".join(["d"] * depth)
    result = t.sh(f"mkdir -p {folder}/.git/hooks; echo evil > {folder}/.git/hooks/post-checkout; "
                  f"echo 'ref: refs/heads/main' > {folder}/.git/HEAD")
    expect(not t.exists(f"{folder}/.git/hooks/post-checkout"), "it must not stay", result)
    kept(t, f"{folder}/.git/hooks/post-checkout")


@needs("git")
def test_git_init_inside_leaves_no_repository_that_the_host_would_run(t):
    result = t.sh("git init -q nested 2>/dev/null; cd nested && printf '#!/bin/sh\\ntouch evil' > "
                  ".git/hooks/post-checkout && chmod +x .git/hooks/post-checkout; "
                  "git config core.fsmonitor ./evil.sh")
    expect(not t.exists("nested/.git/hooks/post-checkout"), "no hook", result)
    expect(not t.exists("nested/.git/config"), "no config", result)


@needs("git")
def test_a_bare_repository_is_moved(t):
    """git takes a folder with HEAD, objects and refs for a repository, whatever its name."""
    script = "git init -q --bare dir/thing; git -C dir/thing config core.fsmonitor ./evil.sh"
    result = t.sh(script)
    equal(result.code, 0, "the command", result)
    read = ["git", "-C", "dir/thing", "config", "--local", "core.fsmonitor"]
    outside = t.run(read)
    lacks(outside.out, "evil", f"what git reads on the host\n{result}")
    contains(result.err, "dir/thing", "the notice")
    t.run(["sh", "-c", f"rm -rf dir; {script}"])
    contains(t.run(read).out, "evil", "the control")


@needs("git")
def test_a_folder_that_becomes_a_bare_repository_is_noticed(t):
    t.write("dir/HEAD", "ref: refs/heads/main\n")
    os.makedirs(t.path("dir/objects"))
    os.makedirs(t.path("dir/refs"))
    script = "printf '[core]\\n\\tbare = true\\n\\tfsmonitor = ./evil\\n' > dir/config"
    read = ["git", "-C", "dir", "config", "core.fsmonitor"]
    contains(t.sh(script).err, f"denied create {t.path('dir/config')}", "the notice")
    equal((t.run(read).out, t.exists("dir/config")), ("", False), "what git finds")
    t.run(["sh", "-c", script])
    equal(t.run(read).out, "./evil\n", "the control")


def test_a_git_file_that_redirects_is_moved(t):
    result = t.sh("mkdir sub; echo 'gitdir: /elsewhere' > sub/.git")
    expect(not t.exists("sub/.git"), "it must not stay", result)


def test_the_tasks_of_an_editor_are_moved(t):
    result = t.sh("mkdir .vscode; echo '{}' > .vscode/tasks.json; echo '{}' > .vscode/launch.json")
    expect(not t.exists(".vscode/tasks.json") and not t.exists(".vscode/launch.json"),
           "they must not stay", result)
    kept(t, ".vscode/tasks.json")


def test_a_new_file_in_an_existing_folder_of_this_kind_is_denied(t):
    t.write(".vscode/settings.json", "mine")
    result = t.sh("echo evil > .vscode/tasks.json")
    expect(not t.exists(".vscode/tasks.json"), "it must not be there", result)
    equal(t.read(".vscode/settings.json"), "mine", "the user's file")


def test_a_new_symlink_with_such_a_name_is_moved(t):
    t.write("config/settings.json", "x")
    result = t.sh("ln -s config .claude; ln -s config/settings.json .mcp.json")
    expect(not t.exists(".claude") and not t.exists(".mcp.json"), "they must not stay", result)
    contains(result.err, ".claude", "the notice")


def test_a_protected_symlink_that_was_removed_is_restored(t):
    t.write("config/settings.json", "mine")
    os.symlink("config", t.path(".claude"))
    result = t.sh("rm .claude; mkdir .claude; echo evil > .claude/settings.json")
    expect(os.path.islink(t.path(".claude")), "it is a symlink again", result)
    equal(os.readlink(t.path(".claude")), "config", "its target")
    equal(t.read("config/settings.json"), "mine", "what it points to")


def test_what_a_protected_symlink_points_to_in_the_project_cannot_bring_anything_in(t):
    t.write("config/settings.json", "mine")
    os.symlink("config", t.path(".claude"))
    script = ("echo evil > config/settings.json; echo evil > config/new; "
              "mv config config2; mkdir config; echo evil > config/settings.json")
    before = snapshot(t.path("config"))
    result = t.sh(script)
    contains(result.err, "denied", "the notices")
    equal(snapshot(t.path(".claude/")), before, "what the host reads through .claude", result)
    t.run(["sh", "-c", script])
    equal(t.read(".claude/settings.json"), "evil\n", "the control")


def test_a_renamed_folder_that_becomes_such_a_name_is_moved(t):
    t.write("harmless/tasks.json", "evil")
    result = t.sh("mv harmless .vscode")
    expect(not t.exists(".vscode/tasks.json"), "it must not stay", result)


def test_a_hard_link_with_such_a_name_is_moved(t):
    t.write("harmless", "evil")
    result = t.sh("ln harmless .envrc")
    expect(not t.exists(".envrc"), "it must not stay", result)
    equal(t.read("harmless"), "evil", "the other name")


@cases("chmod 000 .claude", "chmod 000 .claude/*", "chmod 555 .claude", "chmod 000 .")
def test_modes_do_not_protect_it_from_being_moved(t, script):
    result = t.sh(f"mkdir .claude; echo evil > .claude/settings.json; {script}")
    os.chmod(t.project, 0o755)
    if t.exists(".claude"):
        os.chmod(t.path(".claude"), 0o755)
    expect(not t.exists(".claude/settings.json"), "it must not stay", result)


def test_a_fifo_with_such_a_name_does_not_hang_the_sweep(t):
    result = t.fence("mkfifo", ".envrc")
    expect(not t.exists(".envrc"), "it must not stay", result)


def test_a_folder_as_deep_as_can_be_does_not_hide_it(t):
    script = ("import os\nfor i in range(1500):\n    os.mkdir('d'); os.chdir('d')\n"
              "os.mkdir('.claude'); open('.claude/settings.json', 'w').write('evil')\n")
    result = t.fence("python3", "-c", script)
    names = t.run(["find", t.project, "-name", ".claude"]).out
    t.run(["rm", "-rf", t.path("d")])
    equal(names, "", "what is left", result.err[-300:])
    contains(result.err, "[ringfence] ", "the notice")


@timeout(180)
def test_thousands_of_such_files_are_moved_and_the_notice_stays_short(t):
    result = t.sh("i=0; while [ $i -lt 1000 ]; do mkdir -p d$i/.vscode; : > d$i/.vscode/tasks.json; "
                  "i=$((i+1)); done", timeout=60)
    left = [i for i in range(1000) if t.exists(f"d{i}/.vscode/tasks.json")]
    equal(left, [], "files that stayed", result)
    expect(len(result.err) < 20_000, "the notice is not endless", len(result.err))


def test_what_is_kept_cannot_be_overwritten_by_the_next_run(t):
    t.sh("echo first > .envrc")
    t.sh("echo second > .envrc")
    texts = sorted(t.read(path) for path in t.quarantined(".envrc"))
    equal(texts, ["first\n", "second\n"], "both are kept")


def test_the_quarantine_is_closed_to_others(t):
    t.sh("echo x > .envrc")
    folder = os.path.join(t.state, "quarantine")
    equal(stat.S_IMODE(os.stat(folder).st_mode) & 0o077, 0, "rights of others")


def test_a_setuid_bit_does_not_survive_in_the_quarantine(t):
    t.sh("cp /bin/true .envrc; chmod 755 .envrc")
    equal(os.stat(kept(t, ".envrc")).st_mode & 0o7000, 0, "special bits")


def test_a_symlink_in_the_way_of_the_quarantine_is_not_followed(t):
    """The moved thing may itself be a folder of symlinks."""
    victim = t.write(os.path.join(t.outside, "victim"), "before", 0o600)
    t.sh(f"mkdir .claude; ln -s {victim} .claude/settings.json; ln -s {t.outside} .claude/dir")
    equal((t.read(victim), stat.S_IMODE(os.stat(victim).st_mode)), ("before", 0o600), "the victim")
    expect(not t.exists(".claude/settings.json"), "the links are gone too")


def test_a_quarantine_on_another_file_system_works(t):
    """Moved there or, because a rename cannot cross file systems, to a closed folder beside it."""
    t.own_mounts()
    other = os.path.join(t.outside, "other")
    t.tmpfs(other, "8m")
    result, report = t.report("sh", "-c", "mkdir -p .claude/x; echo evil > .claude/x/y; "
                              "ln -s y .claude/x/z; chmod 750 .claude/x",
                              env=t.env(RINGFENCE_STATE_DIR=os.path.join(other, "state")))
    expect(not t.exists(".claude"), "it must not stay", result)
    where = report["quarantined"][0]["kept"]
    contains(result.err, where, "the notice")
    folder = os.path.dirname(where)
    equal(stat.S_IMODE(os.stat(folder).st_mode) & 0o077, 0, "rights of others")
    os.chmod(folder, 0o700)
    equal(t.read(os.path.join(where, "x/y")), "evil\n", "content")
    equal(os.readlink(os.path.join(where, "x/z")), "y", "the link")


def test_a_writable_folder_outside_the_project_is_swept_too(t):
    other = os.path.join(t.outside, "repo")
    os.mkdir(other)
    result = t.sh(f"mkdir {other}/.vscode; echo evil > {other}/.vscode/tasks.json",
                  opts=("--write", other))
    expect(not os.path.exists(f"{other}/.vscode/tasks.json"), "it must not stay", result)


def test_nothing_is_swept_without_a_change_in_a_read_only_run(t):
    t.write("a", "x")
    result = t.sh("mkdir .claude", opts=("--read-only",))
    expect(result.code != 0 and not t.exists(".claude"), "denied at once", result)


# Bringing files back

def quarantine(t, *words, code=0, **options):
    result = t.run([t.ringfence, "quarantine", *words], **options)
    equal(result.code, code, f"exit status of quarantine {' '.join(words)}", result)
    return result


def test_what_is_in_quarantine_is_listed_and_comes_back(t):
    contains(quarantine(t).out, "nothing of this project is in quarantine", "the list at first")
    t.sh("mkdir -p a/.vscode; echo one >a/.vscode/tasks.json; printf x >'.envrc'; chmod 640 .envrc")
    listed = quarantine(t)
    contains(listed.out, f".envrc  (direnv, just now)\n    {kept(t, '.envrc')}\na/.vscode  (VS Code, just now)\n", "the list")
    items = json.loads(quarantine(t, "--json").out)["quarantined"]
    equal([(item["path"], item["reason"]) for item in items], [(t.path(".envrc"), "direnv"), (t.path("a/.vscode"), "VS Code")], "as JSON")
    equal(quarantine(t, "restore", "a/../.envrc", "./a/.vscode").out, "restored .envrc\nrestored a/.vscode\n", "what is told")
    equal((t.read(".envrc"), t.read("a/.vscode/tasks.json"), stat.S_IMODE(os.stat(t.path(".envrc")).st_mode)), ("x", "one\n", 0o640), "the files")
    equal((t.quarantined(), os.listdir(os.path.join(t.state, "quarantine")), os.listdir(os.path.join(t.state, "quarantined"))), ([], [], []), "what is left")
    t.sh("true")
    expect(t.exists(".envrc") and not t.quarantined(), "a later run leaves the file there")


def test_restoring_replaces_nothing_and_follows_no_symlink(t):
    t.sh("mkdir sub; echo new >.envrc; echo new >sub/.envrc")
    t.write(".envrc", "mine")
    contains(quarantine(t, "restore", ".envrc", code=125).err, f"'{t.path('.envrc')}' exists by now: move it away first", "the refusal")
    equal(t.read(".envrc"), "mine", "the user's file")
    os.rmdir(t.path("sub"))
    os.symlink(t.outside, t.path("sub"))
    contains(quarantine(t, "restore", "sub/.envrc", code=125).err, "is reached by a symlink by now", "the refusal")
    os.unlink(t.path("sub"))
    contains(quarantine(t, "restore", "sub/.envrc", code=125).err, "No such file or directory", "the refusal")
    equal(len(t.quarantined(".envrc")), 2, "both are still there")
    os.mkdir(t.path("sub"))
    quarantine(t, "restore", "sub/.envrc")
    equal(t.read("sub/.envrc"), "new\n", "the file")


def test_what_was_put_beside_the_project_comes_back_too(t):
    """The quarantine is on another file system, so a closed folder in the project has the files."""
    t.own_mounts()
    other = os.path.join(t.outside, "other")
    t.tmpfs(other, "8m")
    env = t.env(RINGFENCE_STATE_DIR=os.path.join(other, "state"))
    result = t.sh("mkdir a .vscode; echo one >.envrc; echo two >a/.envrc; echo x >.vscode/tasks.json", env=env)
    contains(result.err, "/ringfence-quarantine-", "the notice")
    quarantine(t, "restore", "a/.envrc", env=env)
    equal((t.read("a/.envrc"), t.exists(".envrc")), ("two\n", False), "the files")
    (closed,) = (name for name in os.listdir(t.project) if name.startswith("ringfence-quarantine-"))
    equal(stat.S_IMODE(os.stat(t.path(closed)).st_mode), 0, "the permissions of the folder")
    quarantine(t, "restore", ".envrc", ".vscode", env=env)
    equal((t.read(".envrc"), t.read(".vscode/tasks.json")), ("one\n", "x\n"), "the files")
    equal(sorted(os.listdir(t.project)), [".envrc", ".vscode", "a", "attack"], "the project")


def test_the_newest_of_two_with_the_same_path_comes_back(t):
    for text in ("one", "two"):
        t.sh(f"echo {text} >.envrc")
    quarantine(t, "restore", ".envrc")
    equal(t.read(".envrc"), "two\n", "the file")
    equal(len(t.quarantined(".envrc")), 1, "the other one")


@cases(["restore"], ["list", "x"], ["drop"])
def test_a_wrong_use_of_quarantine_is_refused(t, *words):
    contains(quarantine(t, *words, code=125).err, "use: ringfence quarantine list, or ringfence quarantine restore PATH...", "the refusal")


def test_a_file_that_is_not_in_quarantine_is_named(t):
    contains(quarantine(t, "restore", "x", code=125).err, f"'{t.path('x')}' is not in quarantine (what is: ringfence quarantine --all)", "the refusal")


def test_names_in_the_list_are_escaped(t):
    t.sh("mkdir \"$(printf 'a\\033[2J')\"; echo x >\"$(printf 'a\\033[2J')/.envrc\"")
    contains(quarantine(t).out, "a\\x1b[2J/.envrc  (direnv, just now)", "the list")
