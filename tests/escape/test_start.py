"""Items 7, 8 and 32 to 34: races with the start, kills at any instant, two at once, thousands of rules."""

import os
import signal
import subprocess

from harness import (cases, contains, denied_inside_allowed_outside, equal, expect, lacks,
                     refused_before_start, snapshot, timeout)
from harness import kernel
from harness.control import attack_outside

STARTS = 40
KILLS = 30
EVIL = "attacked"


NEVER = 10**9


def stepped(t, a, b, first, second, argv):
    """Runs argv, and exchanges two names of the project at two of its system calls.

    Returns (result, the number of calls that were counted). In the end the names are as before.
    """
    result = t.run([t.attack_source, "swap-at", t.path(a), t.path(b), str(first), str(second), *argv])
    rest, _, steps = result.err.rpartition("steps: ")
    expect(steps.strip().isdigit(), "the calls are counted", result)
    lacks(rest, "exchange: ", "what went wrong with the exchange")
    return result, int(steps)


def swapped_starts(t, a, b, argv):
    """Starts of a command that prints `ran` first, with two names exchanged at moments from the first to the last call.

    Every other time they are exchanged back soon, so that the start can succeed on another try. Some must run.
    """
    control, steps = stepped(t, a, b, NEVER, NEVER, argv)
    contains(control.out, "ran\n", "the output without an exchange")
    results = []
    for number in range(STARTS):
        first = number * steps // STARTS
        second = first + steps // 12 if number % 2 else "never"
        results.append(stepped(t, a, b, first, second, argv)[0])
        yield results[-1]
    ran = [result for result in results if result.out.startswith("ran\n")]
    expect(len(ran) >= STARTS // 10, "some of the commands run", results[0])
    for result in results:
        expect(result in ran or result.code == 125, "the others are refused", result)


def shell_argv(t, script, *opts):
    return t.fence_argv("sh", "-c", f"echo ran; {script}", opts=opts)


@timeout(200)
def test_07_a_write_rule_that_is_swapped_for_a_symlink_never_reaches_its_target(t):
    target = os.path.join(t.outside, "target")
    os.mkdir(target)
    os.mkdir(t.path("dir"))
    os.symlink(target, t.path("link"))
    argv = shell_argv(t, f"echo {EVIL} > dir/x; echo {EVIL} > link/x; echo {EVIL} > {target}/x; true",
                      "--write", "dir")
    for result in swapped_starts(t, "dir", "link", argv):
        equal(os.listdir(target), [], "files in the target", result)
    t.run(["sh", "-c", f"echo {EVIL} > link/x; echo {EVIL} > dir/x"])
    equal(os.listdir(target), ["x"], "the control")


@timeout(200)
def test_07_a_hide_rule_that_is_swapped_for_a_symlink_never_shows_its_file(t):
    t.write("dir/secret.txt", "the secret")
    t.write("elsewhere/secret.txt", "nothing")
    os.symlink("elsewhere", t.path("other"))
    argv = shell_argv(t, "cat dir/secret.txt other/secret.txt",
                      "--hide", "dir/secret.txt")
    for result in swapped_starts(t, "dir", "other", argv):
        lacks(result.out, "the secret", "what was read inside")
    contains(t.run(["sh", "-c", "cat dir/secret.txt other/secret.txt"]).out, "the secret",
             "the control")


@timeout(200)
def test_07_a_secret_whose_folder_is_swapped_never_shows_and_stays_whole(t):
    """The built-in rules hold under the same race, and nothing is created or emptied in it."""
    t.write("dir/.env", "the secret")
    os.mkdir(t.path("elsewhere"))
    os.symlink("elsewhere", t.path("other"))
    argv = shell_argv(t, "cat dir/.env other/.env")
    for result in swapped_starts(t, "dir", "other", argv):
        lacks(result.out, "the secret", "what was read inside")
    equal(t.run(["sh", "-c", "cat dir/.env other/.env"]).out, "the secret", "the control")
    equal(os.listdir(t.path("elsewhere")), [], "files in the other folder")


@timeout(200)
def test_07_a_project_that_is_swapped_for_another_folder_shows_no_secret(t):
    """The folder that was searched is the one that is mounted."""
    t.write("one/plain", "x")
    t.write("two/.env", "the secret")
    argv = shell_argv(t, "cat .env", "--project", "one")
    for result in swapped_starts(t, "one", "two", argv):
        lacks(result.out, "the secret", "what was read inside")
    contains(t.run(["sh", "-c", "cat one/.env two/.env"]).out, "the secret", "the control")


def both_configs(t):
    return "".join(t.read(path) for path in ("dir/.git/config", "other/.git/config")
                   if os.path.exists(t.path(path)))


@timeout(200)
def test_07_a_protected_folder_whose_parent_is_swapped_is_never_written(t):
    t.write("dir/.git/config", "before")
    os.mkdir(t.path("elsewhere"))
    os.symlink("elsewhere", t.path("other"))
    argv = shell_argv(t, f"echo {EVIL} >> dir/.git/config; echo {EVIL} >> other/.git/config; true")
    for _ in swapped_starts(t, "dir", "other", argv):
        lacks(both_configs(t), EVIL, "the protected file")
    t.run(["sh", "-c", f"echo {EVIL} >> dir/.git/config; echo {EVIL} >> other/.git/config"])
    contains(both_configs(t), EVIL, "the control")


@cases("link/secret", "link", "a/link/secret", "link/sub/secret")
def test_08_a_deny_path_that_passes_a_writable_symlink_is_refused(t, path):
    t.write("real/secret", "x")
    t.write("real/sub/secret", "x")
    os.mkdir(t.path("a"))
    os.symlink("real", t.path("link"))
    os.symlink("../real", t.path("a/link"))
    refused_before_start(t, "--hide", path, says="symlink")
    denied_inside_allowed_outside(t, "read", "real/secret", opts=("--hide", "real/secret"),
                                  errno="EACCES")


@cases("link/dir", "link")
def test_08_a_write_path_that_passes_a_writable_symlink_is_refused(t, path):
    os.makedirs(os.path.join(t.outside, "dir"))
    os.symlink(t.outside, t.path("link"))
    refused_before_start(t, "--write", path)
    equal(os.listdir(os.path.join(t.outside, "dir")), [], "files in the target")


def paused_at(t, step, *command, opts=()):
    """A start that stops at a step and prints `paused`, unless the command prints a line before."""
    argv = [t.attack_source, "pause-at", str(step), *t.fence_argv(*command, opts=opts)]
    return t.start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def victims(process, who):
    """The pids to kill: ringfence itself, or the bwrap that it has started, if it has."""
    below = kernel.descendants_of(process.pid)
    return [pid for pid, command in below if "bwrap" in command and who == "bwrap"] or [below[0][0]]


def steps_of(t, *command, opts=()):
    """How many steps a start takes, and the command."""
    result = t.finish(paused_at(t, NEVER, *command, opts=opts))
    equal(result.code, 0, "exit status of a start that goes on", result)
    return int(result.err.rpartition("steps: ")[2])


@timeout(300)
@cases("ringfence", "bwrap")
def test_32_killed_at_any_instant_nothing_is_left(t, who):
    t.write(".git/config", "x")
    t.write(".env", "x")
    opts = ("--hide", "missing/secret", "--hide", ".env")
    steps = steps_of(t, "sh", "-c", "echo running", opts=opts)
    before = snapshot(t.project)
    t.leftover_runs = True
    moments = set()
    for number in range(KILLS):
        process = paused_at(t, number * steps // KILLS, "sh", "-c", "echo running; exec sleep 600", opts=opts)
        moments.add(process.stdout.readline())
        for pid in victims(process, who):
            os.kill(pid, signal.SIGKILL)
        t.communicate(process, b"\n")
        t.all_gone()
        equal(snapshot(t.project), before, "the project")
    equal(moments, {b"paused\n", b"running\n"}, "before the command, and while it runs")
    result = t.fence("true")
    equal(result.code, 0, "the next start", result)
    equal(t.runs(), [], "folders of runs after the next start")


@cases("TERM", "INT", "HUP", "QUIT")
def test_32_ended_by_a_signal_nothing_is_left(t, name):
    before = snapshot(t.project)
    process = t.fence_start("sh", "-c", "echo ready; exec sleep 600")
    equal(process.stdout.readline(), b"ready\n", "the command")
    os.kill(process.pid, getattr(signal, f"SIG{name}"))
    t.communicate(process)
    expect(process.returncode != 0, "it does not claim success", process.returncode)
    t.all_gone()
    equal(snapshot(t.project), before, "the project")


def killed_after_planting(t, script="mkdir .claude; echo evil > .claude/settings.json"):
    process = t.fence_start("sh", "-c", f"{script}; echo planted; sleep 600")
    equal(process.stdout.readline(), b"planted\n", "the command")
    os.kill(process.pid, signal.SIGKILL)
    t.communicate(process)
    t.all_gone()


def test_32_what_was_planted_before_a_kill_is_moved_away_at_the_next_start(t):
    killed_after_planting(t)
    result = t.fence("sh", "-c", "ls -A .claude")
    expect(not t.exists(".claude/settings.json"), "the planted file must not stay", result)
    equal(len(t.quarantined(".claude/settings.json")), 1, "files kept in quarantine", result)
    contains(result.err, ".claude", "the notice")
    lacks(result.out, "settings.json", "what the next command sees")


def test_32_what_was_there_before_a_kill_stays(t):
    t.write(".vscode/settings.json", "mine")
    killed_after_planting(t)
    t.works("true")
    equal(t.read(".vscode/settings.json"), "mine", "the user's own file")


def test_32_a_start_in_another_project_sweeps_too(t):
    killed_after_planting(t)
    other = os.path.join(t.home, "other")
    os.mkdir(other)
    equal(t.fence("true", cwd=other).code, 0, "exit status")
    expect(not t.exists(".claude/settings.json"), "the planted file must not stay")


def test_32_a_run_that_is_alive_is_not_swept_by_another_start(t):
    process = t.fence_start("sh", "-c", "mkdir .claude; echo x > .claude/a; echo ready; read line; "
                            "cat .claude/a", stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the command")
    equal(t.fence("true").code, 0, "the other start")
    out, err = t.communicate(process, b"go\n")
    equal((process.returncode, out), (0, b"x\n"), "the run that was alive", err)
    expect(not t.exists(".claude/a"), "what it planted does not stay")


def test_33_two_runs_with_the_same_missing_deny_path_leave_nothing(t):
    before = snapshot(t.project)
    for _ in range(5):
        opts = ("--hide", "missing/secret", "--hide", "missing2")
        pair = [t.fence_start("true", opts=opts) for _ in range(2)]
        for process in pair:
            result = t.finish(process)
            equal(result.code, 0, "exit status", result)
        equal(snapshot(t.project), before, "the project")


def test_33_a_missing_deny_path_that_the_command_makes_is_kept(t):
    result = t.sh("mkdir -p missing; echo mine > missing/secret; cat missing/secret",
                  opts=("--hide", "missing/secret"))
    equal((result.code, result.out), (0, "mine\n"), "inside", result)
    contains(result.err, "missing/secret: no such file", "the notice")
    equal(t.read("missing/secret"), "mine\n", "the file after the run")


def test_33_hiding_a_missing_path_leaves_no_stub(t):
    before = snapshot(t.project)
    result = t.fence("ls", "-A", opts=("--hide", "missing/a/b", "--hide", "missing.txt"))
    equal((result.code, result.out), (0, "attack\n"), "names seen inside", result)
    equal(snapshot(t.project), before, "the project")


RULES = 5000


def too_many_rules(t, *opts):
    """Refused, and in little time."""
    before = t.spent()
    result = refused_before_start(t, *opts, says="rules exceed the fence's limit of")
    took = t.spent() - before
    expect(took < 10, f"answers within 10 s of CPU time, not {took:.1f} s", result.err[:500])


@timeout(320)
def test_34_thousands_of_rules_in_one_folder_are_refused(t):
    for i in range(RULES):
        t.write(f"dir/{i}", "the secret")
    too_many_rules(t, *[word for i in range(RULES) for word in ("--hide", f"dir/{i}")])


@timeout(320)
def test_34_hundreds_of_rules_in_one_folder_work(t):
    for i in range(RULES // 10):
        t.write(f"dir/{i}", "the secret")
    opts = [word for i in range(RULES // 10) for word in ("--hide", f"dir/{i}")]
    result = t.sh("cat dir/0 dir/250 dir/499", opts=opts)
    equal((result.code, result.out, result.err.count("Permission denied")), (1, "", 3), "what was read inside", result)
    equal(attack_outside(t, "read", "dir/0").code, 0, "the control")


@timeout(320)
def test_34_thousands_of_nested_rules_collapse(t):
    opts = ["--hide", "dir"]
    for i in range(RULES):
        t.write(f"dir/{i % 50}/{i}", "the secret")
        opts += ["--hide", f"dir/{i % 50}/{i}"]
    before = t.spent()
    result = t.sh("cat dir/0/0 dir/49/4999", opts=opts)
    expect(t.spent() - before < 10, "answers within 10 s of CPU time")
    equal((result.code, result.out, result.err.count("Permission denied")), (1, "", 2), "what was read inside", result.err[:500])


@timeout(320)
def test_34_thousands_of_secrets_in_the_project_are_refused(t):
    for i in range(RULES):
        t.write(f"p/{i}/.env", "the secret")
    too_many_rules(t)
