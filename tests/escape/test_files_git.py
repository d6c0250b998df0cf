"""Items 14 to 19 and 21: files planted inside that the host's git or editor would run later."""

import os
import time

from harness import cases, contains, equal, expect, needs

NAME = ("-c", "user.name=a", "-c", "user.email=a@example.org")
HOOK = "printf '#!/bin/sh\\ntouch {mark}\\n' > {0}; chmod +x {0}"
COMMIT = ("commit", "-q", "--allow-empty", "-m", "x")
STATUS = ("status",)

# The act inside, the folder in which the host then uses git, and the git command.
PLANTS = {
    "14 a hook in a new repository":
        ("git init -q . && " + HOOK.replace("{0}", ".git/hooks/pre-commit"), ".", COMMIT),
    "15 a hook of a nested repository at depth 6":
        ("mkdir -p a/b/c/d/e/f && git init -q a/b/c/d/e/f && "
         + HOOK.replace("{0}", "a/b/c/d/e/f/.git/hooks/pre-commit"), "a/b/c/d/e/f", COMMIT),
    "16 a bare repository with a monitor":
        ("git init -q --bare b && git -C b config core.bare false && git -C b config core.worktree . "
         "&& git -C b config core.fsmonitor 'touch {mark}; :'", "b", STATUS),
    "17 a repository whose folder is elsewhere":
        ("git init -q --separate-git-dir store work && "
         "git -C work config core.fsmonitor 'touch {mark}; :'", "work", STATUS),
    "17 a file that leads to a planted repository":
        ("git init -q x && mv x/.git store && git -C store config core.fsmonitor 'touch {mark}; :' && "
         "mkdir work && echo gitdir: ../store > work/.git", "work", STATUS),
    "17 a repository that borrows its configuration":
        ("git init -q x && mv x/.git common && git init -q work && echo ../../common > "
         "work/.git/commondir && git -C common config core.fsmonitor 'touch {mark}; :'", "work", STATUS),
    "17 a git directory with its configuration elsewhere":
        ("mkdir -p docs lib/objects lib/refs && echo ref: refs/heads/main > docs/HEAD && echo ../lib > docs/commondir && "
         "git config -f docs/config.worktree core.bare false && git config -f docs/config.worktree core.worktree $PWD/docs && "
         "git config -f lib/config core.repositoryformatversion 1 && git config -f lib/config extensions.worktreeConfig true && "
         "git config -f lib/config core.fsmonitor 'touch {mark}; false'", "docs", STATUS),
    "17 a git directory of programs and links":
        ("mkdir docs && ln -s refs/heads/main docs/HEAD && echo > docs/objects && chmod +x docs/objects && ln -s .. docs/refs && "
         "git config -f docs/config core.repositoryformatversion 0 && git config -f docs/config core.bare false && "
         "git config -f docs/config core.worktree $PWD/docs && "
         "git config -f docs/config core.fsmonitor 'touch {mark}; false'", "docs", STATUS),
}


def used_by_git(t, folder, name, args):
    """Uses git on the host, and returns whether it ran the planted program."""
    mark = os.path.join(t.outside, "mark")
    target = os.path.join(folder, name)
    if os.path.isdir(target):
        env = t.env(GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
        t.run(["git", *NAME, *args], cwd=target, env=env)
    ran = os.path.exists(mark)
    if ran:
        os.unlink(mark)
    return ran


@needs("git")
@cases(*PLANTS)
def test_what_is_planted_for_git_is_not_run_on_the_host(t, plant):
    script, name, args = PLANTS[plant]
    script = script.format(mark=os.path.join(t.outside, "mark"))
    equal(t.sh(script).code, 0, "planting it")
    expect(not used_by_git(t, t.project, name, args), "git on the host runs nothing of it")
    control = os.path.join(t.outside, "control")
    os.mkdir(control)
    equal(t.run(["sh", "-c", script], cwd=control).code, 0, "planting it outside")
    expect(used_by_git(t, control, name, args), "as a control, git would have run it")


@needs("git")
def test_18_the_main_repository_of_a_worktree_is_out_of_reach(t):
    main = os.path.join(t.outside, "main")
    tree = t.path("tree")
    for args in (("init", "-q", main), ("-C", main, *NAME, *COMMIT),
                 ("-C", main, "worktree", "add", "-q", tree)):
        equal(t.run(["git", *args]).code, 0, "git outside")
    hook = os.path.join(main, ".git/hooks/pre-commit")
    plant = HOOK.replace("{0}", hook).format(mark=os.path.join(t.outside, "mark"))
    result, report = t.report("sh", "-c", plant, opts=("--project", tree))
    expect(not os.path.exists(hook), "no hook", result)
    contains([(d["kind"], d["target"]) for d in report["denials"]], ("create", hook), "denials")
    equal(t.run(["sh", "-c", plant]).code, 0, "the control")
    expect(used_by_git(t, t.project, "tree", COMMIT), "as a control, git would have run it")


@needs("git")
def test_19_a_filter_of_gitattributes_has_no_command(t):
    script = ("echo '* filter=x' > .gitattributes; git config filter.x.clean "
              f"'touch {t.outside}/mark; cat'; echo x > new")
    for folder in (t.project, os.path.join(t.outside, "control")):
        os.makedirs(folder, exist_ok=True)
        equal(t.run(["git", "init", "-q", folder]).code, 0, "git outside")
    result, report = t.report("sh", "-c", script)
    contains([d["target"] for d in report["denials"]], t.path(".git/config.lock"), "denials")
    expect(not used_by_git(t, t.project, ".", ("add", ".")), "git on the host runs nothing", result)
    control = os.path.join(t.outside, "control")
    t.run(["sh", "-c", script], cwd=control)
    expect(used_by_git(t, control, ".", ("add", ".")), "as a control, git would have run it")


@cases("printf 'home = /tmp\\n' > .venv/pyvenv.cfg", "printf 'echo evil' > .venv/bin/python3",
       "mkdir -p new/bin && echo x > new/pyvenv.cfg && ln -s /tmp/x new/bin/python")
def test_21_a_python_environment_that_was_changed_is_flagged(t, script):
    """It is kept, because the command may need it. But an editor starts it automatically."""
    t.write(".venv/pyvenv.cfg", "home = /usr/bin")
    t.write(".venv/bin/python3", "x", 0o755)
    t.write("pythonic.txt", "x")
    for path in (".venv/pyvenv.cfg", ".venv/bin/python3"):
        os.utime(t.path(path), (1, 1))
    time.sleep(1.1)  # the start of a run is known to the second
    _, before = t.report("sh", "-c", "echo x > other; echo y > python.txt")
    equal(before["flagged"], [], "the control")
    result, report = t.report("sh", "-c", script)
    expect(len(report["flagged"]) >= 1, "what is flagged", report["flagged"])
    contains(result.err, "tools run or obey when they start: Python: ", "stderr")
