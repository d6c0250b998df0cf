"""Items 4 to 6, 9 to 13, 20 and 22: what must not be written, and what the host would later execute."""

import os
import shutil

from harness import (cases, contains, denied_inside_allowed_outside, equal, expect, lacks, needs,
                     not_possible_inside, refused_before_start, snapshot)
from harness.control import attack_inside, attack_outside
from harness.world import BWRAP

EVIL = "attacked"


@cases("/etc", "/usr/local/bin", "/usr/bin", "/usr/lib", "/opt", "/usr/share")
def test_04_nothing_can_be_created_in_a_system_folder(t, folder):
    target = t.unmade(folder)
    denied_inside_allowed_outside(t, "create", target, control="bwrap", binds=("--tmpfs", folder),
                                  unchanged=[target])


@cases(("home", "new"), ("home", ".bashrc"), ("home", "other-project/planted"))
def test_04_what_is_written_to_the_home_never_reaches_it(t, _, name):
    path = t.at_home(name, "# before") if name == ".bashrc" else os.path.join(t.home, name)
    os.makedirs(os.path.join(t.home, "other-project"))
    before = snapshot(t.home)
    script = f"mkdir -p {os.path.dirname(path)}; echo {EVIL} >> {path}"
    t.sh(script)
    after = snapshot(t.home)
    # Ringfence itself keeps its state there.
    for view in (before, after):
        view[2].pop(".local", None)
    equal(after, before, "the home")
    t.run(["sh", "-c", script])
    contains(t.read(path), EVIL, "the control")


@cases("/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "/")
def test_04_what_is_written_to_a_shared_folder_never_reaches_it(t, folder):
    name = t.unmade(folder)
    t.sh(f"echo {EVIL} > {name}")
    expect(not os.path.lexists(name), f"{name} must not exist on the host")
    control = t.run([BWRAP, "--dev-bind", "/", "/", "--tmpfs", t.outside, "sh", "-c",
                     f"echo {EVIL} > {t.outside}/x && cat {t.outside}/x"])
    contains(control.out, EVIL, "the control")


def git_project(t):
    t.write("main.c", "int main(void) { return 0; }\n")
    for args in (["init", "-q", "-b", "main"], ["add", "main.c"],
                 ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        result = t.run(["git", *args])
        equal(result.code, 0, "git", result)


@cases("link-write", "link-fd")
def test_05_a_hard_link_to_a_protected_file_cannot_be_made(t, act):
    git_project(t)
    path = t.path(".git/config")
    denied_inside_allowed_outside(t, act, path, "alias", unchanged=[path, t.path("alias")])


@cases("link-write", "link-fd")
def test_05_a_hard_link_to_a_hidden_file_cannot_be_made(t, act):
    path = t.write(".env", "A=1")
    denied_inside_allowed_outside(t, act, path, "alias", unchanged=[path, t.path("alias")])


@cases(".git", ".vscode", "sub/.vscode", "sub/.git")
def test_06_a_protected_folder_cannot_be_moved_away_and_replaced(t, name):
    t.write(f"{name}/config", "# before")
    denied_inside_allowed_outside(t, "rename-recreate", name, "tasks.json",
                                  unchanged=[t.path(name)])


@cases((".vscode", "tasks.json"), (".git", "config"), (".claude", "settings.json"))
def test_06_a_parent_that_is_moved_away_and_replaced_does_not_plant_anything(t, name, file):
    t.write(f"sub/dir/{name}/{file}", "# before")
    result = t.sh(f"./attack rename-recreate sub keep && mkdir -p sub/dir/{name}"
                  f" && echo {EVIL} > sub/dir/{name}/{file}")
    for place in ("sub", "sub.away"):
        path = t.path(f"{place}/dir/{name}/{file}")
        if os.path.lexists(path):
            equal(t.read(path), "# before", f"{path}", result)
    control = t.run(["sh", "-c", f"./attack rename-recreate sub keep2; mkdir -p sub/dir/{name};"
                     f" echo {EVIL} > sub/dir/{name}/{file}"])
    contains(t.read(f"sub/dir/{name}/{file}"), EVIL, f"the control {control}")


@cases(".mcp.json", ".envrc", ".claude/settings.json", ".vscode/tasks.json")
def test_09_a_dangling_symlink_at_a_protected_name_brings_nothing_in(t, name):
    os.makedirs(os.path.dirname(t.path(name)), exist_ok=True)
    os.symlink(t.path("planted"), t.path(name))
    result = t.sh(f"echo ran; echo {EVIL} > planted")
    equal((result.out, os.path.exists(t.path(name))), ("ran\n", False), f"what the host reads from {name}", result)
    t.run(["sh", "-c", f"ln -sfn {t.path('planted2')} {name}; echo {EVIL} > planted2"])
    contains(t.read(name), EVIL, "the control")


def test_09_a_dangling_symlink_that_is_hidden_brings_nothing_in(t):
    target = os.path.join(t.outside, "target")
    os.symlink(target, t.path("door"))
    result = t.sh(f"echo {EVIL} > door; echo {EVIL} > {target}", opts=("--hide", "door"))
    expect(not os.path.lexists(target), "the target must not be made", result)
    t.run(["sh", "-c", f"echo {EVIL} > door"])
    contains(t.read(target), EVIL, "the control")


@cases(".claude/settings.json", ".claude/hooks/a/b", ".vscode/tasks.json", ".mcp.json", ".envrc",
       "deep/down/.codex/config.toml", "sub/.husky/pre-commit", ".GIT/hooks/x")
def test_10_a_missing_protected_file_is_not_there_after_the_run(t, name):
    result = t.sh(f"mkdir -p {os.path.dirname(name) or '.'} && echo {EVIL} > {name}")
    if name == ".GIT/hooks/x" and t.exists(name):
        # Only a case-insensitive file system treats it as .git.
        return
    expect(not t.exists(name), f"{name} must not be in the project", result)
    equal(result.code, 0, "the command", result)
    kept = t.quarantined(name)
    equal(len(kept), 1, "files kept in quarantine", result)
    contains(t.read(kept[0]), EVIL, "the kept file")
    part = next(p for p in name.split("/") if p.startswith("."))
    contains(result.err, name[:name.index(part) + len(part)], "the notice")
    t.run(["sh", "-c", f"mkdir -p {os.path.dirname(name) or '.'} && echo {EVIL} > {name}"])
    expect(t.exists(name), "as a control, outside it stays")


@cases("pre-commit", "post-checkout", "fsmonitor-watchman")
def test_11_a_git_hook_cannot_be_created(t, hook):
    git_project(t)
    path = t.path(f".git/hooks/{hook}")
    denied_inside_allowed_outside(t, "create", path, unchanged=[t.path(".git")])


@cases(".git/hooks/pre-commit.sample", ".git/config", ".git/HEAD", ".git/index",
       ".git/info/exclude")
def test_11_a_file_of_git_cannot_be_written(t, name):
    git_project(t)
    path = t.path(name)
    if not os.path.exists(path):
        t.write(name, "x")
    denied_inside_allowed_outside(t, "write", path, unchanged=[t.path(".git")])


def test_11_a_hook_of_a_nested_repository_cannot_be_created(t):
    t.write("vendor/lib/.git/hooks/sample", "x")
    t.write("vendor/lib/.git/HEAD", "ref: refs/heads/main")
    denied_inside_allowed_outside(t, "create", t.path("vendor/lib/.git/hooks/post-checkout"),
                                  unchanged=[t.path("vendor/lib/.git")])


def test_11_the_git_directory_behind_a_gitdir_file_is_protected(t):
    """A gitdir: file of a worktree or submodule cannot be redirected."""
    t.write("wt/.git", "gitdir: ../store/worktrees/wt\n")
    denied_inside_allowed_outside(t, "write", t.path("wt/.git"), unchanged=[t.path("wt/.git")])


@needs("git")
@cases("core.fsmonitor", "core.hooksPath", "core.sshCommand", "filter.x.clean", "alias.st",
       "core.pager", "credential.helper", "diff.external")
def test_12_git_config_cannot_be_changed(t, key):
    git_project(t)
    before = t.read(".git/config")
    inside = t.fence("git", "config", key, "./evil")
    expect(inside.code != 0, "git config should fail inside", inside)
    equal(t.read(".git/config"), before, ".git/config")
    equal(t.run(["git", "config", key, "./evil"]).code, 0, "the control")


@needs("git")
def test_13_an_include_of_a_workspace_file_cannot_be_added(t):
    git_project(t)
    before = t.read(".git/config")
    inside = t.fence("git", "config", "include.path", "../evil.gitconfig")
    expect(inside.code != 0, "git config should fail inside", inside)
    equal(t.read(".git/config"), before, ".git/config")
    equal(t.run(["git", "config", "include.path", "../evil.gitconfig"]).code, 0, "the control")


@needs("git")
def test_13_a_gitconfig_that_is_included_already_cannot_be_changed(t):
    git_project(t)
    t.write(".gitconfig", "[core]\n\teditor = vi\n")
    t.run(["git", "config", "include.path", "../.gitconfig"])
    denied_inside_allowed_outside(t, "write", t.path(".gitconfig"), unchanged=[t.path(".gitconfig")])


@needs("git")
@cases(("core.hooksPath", ".githooks", ".githooks/pre-commit"),
       ("core.hooksPath", "{project}/tools/hooks", "tools/hooks/pre-commit"),
       ("core.hooksPath", "hooks#1", "hooks#1/pre-commit"),
       ("include.path", "../team.gitconfig", "team.gitconfig"),
       ("include.path", "{project}/conf/git", "conf/git"),
       ("includeIf.gitdir:{project}/.path", "../team.gitconfig", "team.gitconfig"))
def test_13_a_workspace_file_that_gits_configuration_names_cannot_be_changed(t, key, value, name):
    """The user's old configuration makes this a file that the host executes."""
    git_project(t)
    t.write(name, "# before", 0o755)
    result = t.run(["git", "config", key.format(project=t.project), value.format(project=t.project)])
    equal(result.code, 0, "git config outside", result)
    inside = attack_inside(t, "write", name)
    equal(t.read(name), "# before", f"{name} after the run", inside)
    equal(attack_outside(t, "write", name).code, 0, "the control")


INCLUDE, HOOKS = "[include]\n\tpath = ../team\n", "[core]\n\thooksPath = tools\n"
ELSEWHERE = {
    "an include of an include": {"project/.git/config": INCLUDE, "project/team": "[include]\n\tpath = tools/x\n"},
    "hooks by an include": {"project/.git/config": INCLUDE, "project/team": HOOKS},
    "hooks of the user": {"project/.git/config": "", ".gitconfig": HOOKS},
    "a program of the user": {"project/.git/config": "", ".gitconfig": "[core]\n\tfsmonitor = tools/x\n"},
    "a link to a program": {"project/.git/config": "[core]\n\tfsmonitor = ~/own/x\n"},
    "a link to hooks": {"project/.git/config": "[core]\n\thooksPath = ~/own\n"},
    "hooks by an include of the user": {"project/.git/config": "", ".config/git/config": "[include]\n\tpath = ~/own\n",
                                        "own": HOOKS},
    "a linked work tree": {"project/.git": "gitdir: ../other/.git/worktrees/x\n", "other/.git/config": HOOKS,
                           "other/.git/worktrees/x/commondir": "../..\n"},
    "a .git that is a link": {"other/config": HOOKS},
    "a work tree above": {".git/config": "[core]\n\thooksPath = project/tools\n"},
}
LINKS = {"a link to a program": {"own": "project/tools"}, "a link to hooks": {"own": "project/tools"},
         "a .git that is a link": {"project/.git": "../other"}}


@cases(*ELSEWHERE)
def test_13_a_workspace_file_that_a_configuration_elsewhere_names_cannot_be_changed(t, how):
    """Other places than the project's .git from which git reads configuration."""
    t.write("tools/x", "# before", 0o755)
    for name, text in ELSEWHERE[how].items():
        t.at_home(name, text)
    for link, target in LINKS.get(how, {}).items():
        os.symlink(target, os.path.join(t.home, link))
    inside = attack_inside(t, "write", "tools/x")
    equal(t.read("tools/x"), "# before", "the file after the run", inside)
    equal(attack_outside(t, "write", "tools/x").code, 0, "the control")


MODULE = {"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": "", "config": ""}
# Files at home, and links there: {link: target}. The project is ~/project; scripts/x is what a link leads to.
HOOKED = {
    "a hook of a submodule": ({"project/sub/.git": "gitdir: ../.git/modules/sub\n"}, ("project/.git/modules/sub",),
                              {"project/.git/modules/sub/hooks/pre-commit": "~/project/scripts/x"}),
    "a hook of a submodule that is not checked out":
        ({}, ("project/.git", "project/.git/modules/libs/sub"),
         {"project/.git/modules/libs/sub/hooks/pre-commit": "~/project/scripts/x"}),
    "a hook of a submodule of a submodule":
        ({}, ("project/.git", "project/.git/modules/a", "project/.git/modules/a/modules/b"),
         {"project/.git/modules/a/modules/b/hooks/pre-commit": "../../../../../../scripts/x"}),
    "a configuration of a submodule": ({"project/.git/modules/a/config.worktree": "[core]\n\thooksPath = ~/project/scripts\n"},
                                       ("project/.git", "project/.git/modules/a"), {}),
    "a hook of a repository above": ({}, (".git",), {".git/hooks/pre-commit": "../../project/scripts/x"}),
    "a hook of a submodule of a repository above": ({}, (".git", ".git/modules/a"), {".git/modules/a/hooks/pre-commit": "~/project/scripts/x"}),
    "a hook of a git directory above": ({}, ("",), {"hooks/pre-commit": "../project/scripts/x"}),
    "a hook of the main work tree":
        ({"project/.git": "gitdir: ../other/.git/worktrees/x\n", "other/.git/worktrees/x/commondir": "../..\n",
          "other/.git/worktrees/x/HEAD": "ref: refs/heads/x\n"}, ("other/.git",),
         {"other/.git/hooks/pre-commit": "~/project/scripts/x"}),
    "a hook of a submodule in a linked work tree":
        ({"project/.git": "gitdir: ../other/.git/worktrees/x\n", "other/.git/worktrees/x/commondir": "../..\n",
          "other/.git/worktrees/x/HEAD": "ref: refs/heads/x\n"}, ("other/.git", "other/.git/worktrees/x/modules/sub"),
         {"other/.git/worktrees/x/modules/sub/hooks/pre-commit": "~/project/scripts/x"}),
    "a configuration of another work tree":
        ({"project/.git/worktrees/y/commondir": "../..\n", "project/.git/worktrees/y/HEAD": "ref: refs/heads/y\n",
          "project/.git/worktrees/y/config.worktree": "[core]\n\tfsmonitor = ~/project/scripts/x\n"}, ("project/.git",), {}),
    "a program of another work tree, by a relative path":
        ({"project/.git/worktrees/y/commondir": "../..\n", "project/.git/worktrees/y/HEAD": "ref: refs/heads/y\n",
          "project/.git/worktrees/y/gitdir": "{home}/y/.git\n",
          "project/.git/worktrees/y/config.worktree": "[core]\n\tfsmonitor = ../project/scripts/x\n"}, ("project/.git",), {}),
    "a folder of hooks at home": ({".gitconfig": "[core]\n\thooksPath = ~/hooks\n"}, ("project/.git",),
                                  {"hooks/pre-commit": "../project/scripts/x"}),
    "a template at home": ({".gitconfig": "[init]\n\ttemplateDir = ~/template\n"}, ("project/.git",),
                           {"template/hooks/pre-commit": "~/project/scripts/x"}),
    "a link to a link": ({}, ("project/.git",), {"project/.git/hooks/pre-commit": "~/one", "one": "two", "two": "project/scripts/x"}),
    "a link to a folder of links": ({}, ("project/.git",), {"project/.git/hooks": "~/hooks", "hooks/pre-commit": "~/project/scripts/x"}),
    "a link to a folder": ({}, ("project/.git",), {"project/.git/hooks": "../scripts"}),
    "a link to the folder of hooks of a submodule": ({}, ("project/.git", "project/.git/modules/a"), {"project/.git/modules/a/hooks": "~/project/scripts"}),
    "a configuration that is a link": ({"project/two": "[core]\n\tfsmonitor = scripts/x\n"}, (), {"project/.git/config": "../two"}),
}


@cases(*HOOKED)
def test_13_a_script_that_a_hook_leads_to_cannot_be_changed(t, how):
    """In every git directory that the host's git uses for something in the project."""
    files, directories, links = HOOKED[how]
    t.write("scripts/x", "# before", 0o755)
    t.write("free", "# before", 0o755)
    for folder in directories:
        for name, text in MODULE.items():
            t.at_home(os.path.join(folder, name), text)
    for name, text in files.items():
        t.at_home(name, text.replace("{home}", t.home))
    for link, target in links.items():
        os.makedirs(os.path.dirname(os.path.join(t.home, link)), exist_ok=True)
        os.symlink(target.replace("~", t.home), os.path.join(t.home, link))
    inside = attack_inside(t, "write", "scripts/x")
    equal(t.read("scripts/x"), "# before", "the file after the run", inside)
    t.works("./attack", "write", "free")
    equal(attack_outside(t, "write", "scripts/x").code, 0, "the control")


def test_13_the_common_directory_of_a_git_directory_cannot_be_changed(t):
    """One of the user's own, under other names."""
    for name, text in {"docs/HEAD": "ref: refs/heads/main\n", "docs/commondir": "../lib\n", "lib/objects/x": "", "lib/refs/x": "",
                       "lib/config": "# before", "lib/hooks/pre-commit": "# before"}.items():
        t.write(name, text)
    for name in ("lib/config", "lib/hooks/pre-commit"):
        inside = attack_inside(t, "write", name)
        equal(t.read(name), "# before", "the file after the run", inside)
        equal(attack_outside(t, "write", name).code, 0, "the control")


@cases("a common directory", "a hook", "a hook above", "a program at home", "hooks of a git directory that is the project",
       "a common directory of a git directory that is the project")
def test_13_a_missing_file_that_git_would_use_is_watched(t, how):
    """It goes to quarantine when the command has created it. The control: other new files stay."""
    head = "ref: refs/heads/main\n"
    place = {"a common directory": "lib/config", "hooks of a git directory that is the project": "hooks/pre-commit",
             "a common directory of a git directory that is the project": "commondir"}.get(how, "scripts/x")
    files = {"a common directory": {"docs/HEAD": head, "docs/commondir": "../lib\n"}, "a hook": {".git/HEAD": head},
             "a hook above": {"../.git/HEAD": head}, "a program at home": {}}
    for name, text in files.get(how, {"HEAD": head, "objects/x": "", "refs/x": "", "config": ""}).items():
        t.write(name, text)
    link = {"a hook": ".git/hooks/pre-commit", "a hook above": "../.git/hooks/pre-commit", "a program at home": "../.local/bin/x"}.get(how)
    if link:
        os.makedirs(os.path.dirname(t.path(link)), exist_ok=True)
        os.symlink(t.path("scripts/x"), t.path(link))
    result = t.sh(f"mkdir -p $(dirname {place}); echo evil >{place}; echo fine >other")
    expect(not t.exists(place), "it is gone", result)
    expect(t.exists("other"), "the control", result)
    contains(result.err, "quarantined", "stderr")


def test_13_more_git_directories_than_can_be_read_are_refused(t):
    for i in range(40):
        os.makedirs(t.path(f".git/modules/m{i}/modules"))
        for j in range(600):
            os.mkdir(t.path(f".git/modules/m{i}/modules/{j}"))
    result = t.fence("touch", "ran")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "git directories", "stderr")
    expect(not t.exists("ran"), "nothing may be run")


# A link at home, and what the file that it leads to is inside.
DOTFILES = {
    ".config/fish/config.fish": "read-only", ".config/fish/conf.d/x.fish": "read-only", ".config/i3/config": "read-only",
    ".config/sway/config.d/x": "read-only", ".config/hypr/hyprland.conf": "read-only", ".config/starship.toml": "read-only",
    ".config/autostart/x.desktop": "read-only", ".config/systemd/user/x.service": "read-only",
    ".config/systemd/user/default.target.wants/x.service": "read-only", ".config/nvim/lua/plugins/x.lua": "read-only",
    ".config/Code/User/settings.json": "read-only", ".config/zsh/.zshrc": "read-only", ".config/some-new-tool/run.sh": "read-only",
    ".local/bin/tool": "read-only", "bin/tool": "read-only", ".local/share/applications/x.desktop": "read-only",
    ".local/share/dbus-1/services/x.service": "read-only", ".ssh/config": "read-only", ".ssh/config.d/x": "read-only", ".ssh/rc": "read-only",
    ".xinitrc": "read-only", ".xprofile": "read-only", ".p10k.zsh": "read-only", ".oh-my-zsh/custom/x.zsh": "read-only",
    ".vim/plugin/x.vim": "read-only", ".emacs.d/lisp/x.el": "read-only", ".claude/settings.json": "read-only",
    ".ssh/id_ed25519": "hidden", ".aws/credentials": "hidden", ".netrc": "hidden", ".docker/config.json": "hidden",
}


def test_13_a_file_that_a_link_at_home_leads_to_cannot_be_changed(t):
    """As stow and chezmoi leave them, file by file. The control: a file that no link leads to."""
    names = {}
    for number, (link, how) in enumerate(DOTFILES.items()):
        names[f"dot{number}/x"] = (link, how)
        t.write(f"dot{number}/x", "# before", 0o755)
        os.makedirs(os.path.dirname(os.path.join(t.home, link)), exist_ok=True)
        os.symlink(t.path(f"dot{number}/x"), os.path.join(t.home, link))
    t.write("free", "# before", 0o755)
    script = "for f in " + " ".join(["free", *names]) + "; do ./attack write $f; ./attack read $f && echo readable $f; done"
    inside = t.sh(script)
    equal([names[name][0] for name in names if t.read(name) != "# before"], [], "links whose files were changed", inside)
    expect(t.read("free") != "# before", "the control inside", inside)
    equal([names[name][0] for name in names if (f"readable {name}\n" in inside.out) != (names[name][1] == "read-only")], [],
          "links whose files are readable, or not, unlike they should be", inside)
    outside = t.run(["sh", "-c", script])
    equal([name for name in names if t.read(name) == "# before"], [], "the control outside", outside)


@cases("a folder of links", "a link to a link", "a link to a folder, and a link in it", "a home whose .config is elsewhere")
def test_13_links_at_home_are_followed(t, how):
    t.write("dot/x", "# before", 0o755)
    links = {"a folder of links": {".config/i3": "~/elsewhere", "elsewhere/config": "~/project/dot/x"},
             "a link to a link": {".config/i3/config": "~/one", "one": "project/dot/x"},
             "a link to a folder, and a link in it": {".config/i3": "~/project/i3", "project/i3/config": "../dot/x"},
             "a home whose .config is elsewhere": {".config": "~/elsewhere", "elsewhere/i3/config": "~/project/dot/x"}}[how]
    for link, target in links.items():
        os.makedirs(os.path.dirname(os.path.join(t.home, link)), exist_ok=True)
        os.symlink(target.replace("~", t.home), os.path.join(t.home, link))
    inside = attack_inside(t, "write", "dot/x")
    equal(t.read("dot/x"), "# before", "the file after the run", inside)
    equal(attack_outside(t, "write", "dot/x").code, 0, "the control")


def test_13_links_are_followed_where_the_settings_are_instead(t):
    """XDG_CONFIG_HOME replaces ~/.config."""
    t.write("dot/x", "# before", 0o755)
    settings = os.path.join(t.outside, "settings")
    os.makedirs(os.path.join(settings, "i3/config.d"))
    os.symlink(t.path("dot/x"), os.path.join(settings, "i3/config.d/x"))
    act = ("sh", "-c", "echo evil >dot/x")
    inside = t.fence(*act, env=t.env(XDG_CONFIG_HOME=settings))
    equal(t.read("dot/x"), "# before", "the file after the run", inside)
    t.fence(*act)
    equal(t.read("dot/x"), "evil\n", "the control: without the variable, nothing leads there")


def test_13_a_link_at_home_to_the_project_itself_changes_nothing(t):
    """People have short names for the folders that they work in, and keep their caches elsewhere."""
    t.write("dot/cache/x", "# before")
    for link, target in {"work": t.project, ".work": t.project, ".config/work": t.project, "src": t.path("dot"),
                         ".cache": t.path("dot/cache"), ".config/some/deep/er/folder": t.path("dot/cache")}.items():
        os.makedirs(os.path.dirname(os.path.join(t.home, link)), exist_ok=True)
        os.symlink(target, os.path.join(t.home, link))
    t.works("sh", "-c", "echo fine >dot/cache/x; echo fine >new")


@cases("a link at home", "a hook")
def test_13_a_file_that_the_host_uses_can_be_made_writable_by_name(t, how):
    """A person who develops a program may have a link to it."""
    link = os.path.join(t.home, ".local/bin/tool") if how == "a link at home" else t.path(".git/hooks/pre-commit")
    t.write("build/tool", "# before", 0o755)
    os.makedirs(os.path.dirname(link))
    os.symlink(t.path("build/tool"), link)
    replace = ("sh", "-c", "echo after >build/new && mv build/new build/tool")
    denied = t.fence(*replace)
    equal((denied.code != 0, t.read("build/tool")), (True, "# before"), "as a control, without the option", denied)
    result = t.fence("sh", "-c", "echo after >build/tool", opts=("--write", ".", "--write", "build/tool"))
    equal((result.code, t.read("build/tool")), (0, "after\n"), "with it", result)
    contains(result.err, "build/tool is writable (--write); the host will execute", "stderr")


def test_13_a_link_that_passes_through_the_project_leads_where_it_did(t):
    """A link of the project on the way to a file elsewhere cannot be protected by a mount."""
    t.at_home("own/tool", "# before")
    os.makedirs(os.path.join(t.home, ".local/bin"))
    os.symlink("../own", t.path("door"))
    os.symlink(t.path("door/tool"), os.path.join(t.home, ".local/bin/tool"))
    result = t.sh("rm door; mkdir -p door; echo evil >door/tool")
    expect(not t.exists("door/tool"), "what the command put there is gone", result)
    contains(result.err, "quarantined", "stderr")
    t.run(["rm", "-rf", t.path("door")])
    os.symlink("../own", t.path("door"))
    result = t.sh("rm door")
    equal(os.path.islink(t.path("door")) and os.readlink(t.path("door")), "../own", "the link is restored")


def test_13_a_home_with_too_many_folders_is_reported(t):
    for i in range(50):
        for j in range(100):
            os.makedirs(os.path.join(t.home, f".config/nvim/{i}/{j}"))
    before = t.spent()
    result = t.fence("true")
    equal(result.code, 0, "exit status", result)
    contains(result.err, "too many folders to look for links in", "stderr")
    expect(t.spent() - before < 2, "it must not take long", t.spent() - before)


FOLDERS = (".git", ".hg", ".vscode", ".idea", ".claude", ".codex", ".gemini", ".cursor", ".opencode",
           ".husky", ".devcontainer", ".zed", ".windsurf")
FILES = (".mcp.json", ".envrc", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile",
         ".gitconfig", "ringfence.yml", ".ringfenceignore")


def host_executed_names():
    return [f"{folder}/file" for folder in FOLDERS] + list(FILES)


@cases("", "some/where/deep/")
def test_20_existing_files_that_the_host_executes_cannot_be_written(t, prefix):
    names = [prefix + name for name in host_executed_names()]
    for name in names:
        t.write(name, "# before")
    script = "for f in " + " ".join(names) + "; do ./attack write $f; done"
    inside = t.sh(script)
    equal(inside.out.count("denied: "), len(names), "denials", inside)
    for name in names:
        equal(t.read(name), "# before", name)
    equal(t.run(["sh", "-c", script]).out.count("succeeded"), len(names), "the controls")


@cases("", "some/where/deep/")
def test_20_existing_files_that_the_host_executes_cannot_be_removed_or_moved(t, prefix):
    names = [prefix + name for name in host_executed_names()]
    for name in names:
        t.write(name, "# before")
    tops = sorted({name[len(prefix):].split("/")[0] for name in names})
    inside = t.sh("".join(f"./attack rename {prefix}{top} away.{top}; ./attack unlink {name};"
                          for top, name in zip(tops, names)))
    contains(inside.out, "denied: ", "what was tried inside")
    lacks(inside.out, "succeeded", "what was done inside")
    for name in names:
        equal(t.read(name), "# before", name)
    outside = t.run(["sh", "-c", f"./attack rename {prefix}.vscode away"])
    equal(outside.code, 0, "the control", outside)


@cases("", "some/where/deep/")
def test_20_new_files_that_the_host_would_execute_are_moved_away(t, prefix):
    names = [prefix + name for name in host_executed_names()]
    script = "".join(f"mkdir -p {os.path.dirname(name) or '.'}; echo {EVIL} > {name};"
                     for name in names)
    result = t.sh(script)
    left = [name for name in names if t.exists(name)]
    equal(left, [], "names that the host would execute", result)
    for name in names:
        equal(len(t.quarantined(name)) >= 1, True, f"{name} is kept in quarantine", result)
    t.run(["sh", "-c", script])
    equal([name for name in names if not t.exists(name)], [], "the controls")


def test_22_the_state_of_ringfence_cannot_be_written(t):
    t.works("true")
    path = t.write(os.path.join(t.state, "quarantine/note"), "x")
    denied_inside_allowed_outside(t, "write", path, unchanged=[path])


def test_22_a_state_folder_in_the_project_is_refused_or_out_of_reach(t):
    state = t.path("state")
    env = t.env(RINGFENCE_STATE_DIR=state)
    t.write("state/quarantine/1/x", "kept")
    result = t.sh("./attack write state/quarantine/1/x; ./attack create state/planted",
                  env=env)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "state", "the refusal")
    equal(t.read("state/quarantine/1/x"), "kept", "what is in the state")
    equal(attack_outside(t, "write", "state/quarantine/1/x").code, 0, "the control")


@cases("ringfence", "ringfence-init")
def test_22_our_programs_cannot_be_replaced_when_they_are_in_the_project(t, name):
    shutil.copytree(t.build, t.path("build"), ignore=lambda d, n: set(n) - {
        "ringfence", "ringfence-init"})
    t.ringfence = t.path("build/ringfence")
    path = t.path(f"build/{name}")
    before = snapshot(path)
    for act in (("rename", path, path + ".away"), ("unlink", path), ("truncate", path)):
        not_possible_inside(t, *act)
        equal(snapshot(path), before, path)
    equal(attack_outside(t, "rename", path, path + ".away").code, 0, "the control")


def test_22_bwrap_cannot_be_replaced(t):
    """Opening it for writing changes nothing, so a fence with a hole does no harm."""
    denied_inside_allowed_outside(t, "open-write", BWRAP, control="bwrap",
                                  binds=("--tmpfs", "/usr/bin", "--ro-bind", BWRAP, "/usr/bin/x"),
                                  control_args=("create", "/usr/bin/planted"))


def test_22_the_init_of_the_fence_cannot_be_written_through_proc(t):
    inside = attack_inside(t, "open-write", "/proc/1/exe")
    equal(inside.code, 1, "exit status", inside)
    copy = os.path.join(t.outside, "program")
    shutil.copy(t.attack, copy)
    equal(attack_outside(t, "open-write", copy).code, 0, "the control")


def planted(t, name):
    """A program in the workspace that tells when it is run."""
    mark = os.path.join(t.outside, f"{name}-ran")
    t.write(f"bin/{name}", f"#!/bin/sh\ntouch {mark}\nexit 0\n", 0o755)
    return mark


@cases("bwrap", "git", "ringfence-init", "newuidmap", "sh", "setpriv")
def test_23_a_program_planted_in_the_workspace_and_path_is_ignored(t, name):
    mark = planted(t, name)
    env = t.env(PATH=f"{t.path('bin')}:bin:.:{t.env()['PATH']}")
    equal(t.fence("/bin/true", env=env).code, 0, "exit status")
    equal(t.fence("/bin/true", env=env, cwd=t.path("bin"), opts=("--project", t.project)).code, 0,
          "exit status in the folder with the program")
    expect(not os.path.exists(mark), f"the planted {name} must not run on the host")
    t.run(["/bin/sh", "-c", f"{name}"], env=env)
    expect(os.path.exists(mark), "as a control, the shell finds it")


def test_23_a_library_planted_in_the_workspace_is_not_loaded(t):
    env = t.env(LD_PRELOAD=t.path("evil.so"), LD_LIBRARY_PATH=t.project)
    out = t.works("env", env=env)
    lacks(out, "LD_", "the environment inside")


def test_79_a_policy_that_is_edited_in_the_run_changes_nothing(t):
    t.write(".env", "A=1")
    t.write(".ringfenceignore", "extra\n")
    t.write("extra", "x")
    script = ("echo 'write: [/]' > ringfence.yml; ./attack write .ringfenceignore; "
              f"./attack read .env; ./attack create {t.unmade('/etc')}")
    for _ in range(2):
        inside = t.sh(script)
        equal(inside.out.count("denied: "), 3, "denials", inside)
        lacks(inside.out, "succeeded", "what was done inside")
        expect(not t.exists("ringfence.yml"), "the planted policy must not stay", inside)
    equal(attack_outside(t, "read", ".env").code, 0, "the control")


def test_31_a_working_folder_outside_the_project_is_refused(t):
    os.symlink("/etc", t.path("link"))
    os.mkdir(t.path("sub"))
    for folder in ("/etc", "..", "sub/../..", t.home, "/", "link", "/nonexistent"):
        refused_before_start(t, "--cwd", folder)
    equal(t.works("pwd", opts=("--cwd", "sub")).strip(), t.path("sub"), "the control")
