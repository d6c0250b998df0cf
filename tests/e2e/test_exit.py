"""How a run ends, and what ringfence prints: exit statuses, signals, time limits, help, errors, reports."""

import os
import re
import signal
import subprocess
import time

from harness import (cases, contains, equal, expect, lacks, needs, refused_before_start, root_only,
                     user_only)
from harness.patience import in_time


@cases(0, 1, 7, 42, 124, 125, 126, 127, 255)
def test_the_exit_status_is_the_commands_own(t, code):
    equal(t.sh(f"exit {code}").code, code, "exit status")


@cases("HUP", "INT", "TERM", "KILL", "SEGV", "ABRT")
def test_a_command_killed_by_a_signal_gives_128_and_its_number(t, name):
    number = getattr(signal, f"SIG{name}")
    equal(t.sh(f"kill -{name} $$").code, 128 + number, "exit status")


@cases(("TERM", 143), ("INT", 130), ("HUP", 129), ("QUIT", 131), ("USR1", 138))
def test_a_signal_to_ringfence_reaches_the_command(t, name, code):
    process = t.fence_start("sh", "-c", f"trap 'echo got; exit 9' {name}; echo ready;"
                            " while :; do sleep 0.05; done")
    equal(process.stdout.readline(), b"ready\n", "the command")
    process.send_signal(getattr(signal, f"SIG{name}"))
    result = t.finish(process)
    equal((result.code, result.out), (9, "got\n"), "a command that handles it", result)
    process = t.fence_start("sh", "-c", "echo ready; exec sleep 600")
    equal(process.stdout.readline(), b"ready\n", "the command")
    process.send_signal(getattr(signal, f"SIG{name}"))
    result = t.finish(process)
    equal(result.code, code, "a command that does not", result)


def test_a_time_limit_ends_the_command(t):
    began = time.monotonic()
    result = t.fence("sleep", "600", opts=("--timeout", "1s"))
    took = time.monotonic() - began
    equal(result.code, 124, "exit status", result)
    expect(took >= 1, "not before a second has passed", took)
    contains(result.err, "[ringfence] the command ran into its limit: time (1s)", "the notice")


def limited(t, script, said, *opts):
    """Runs a script with a time limit that is enough for it to set its traps; returns (the result, the seconds after the limit)."""
    def attempt(seconds):
        began = time.monotonic()
        result = t.sh(script, opts=("--timeout", f"{seconds}s", *opts))
        return result, time.monotonic() - began - seconds
    return in_time(attempt, lambda ended: said in ended[0].out)


def test_a_command_that_ignores_term_is_killed_after_the_time_limit(t):
    result, later = limited(t, "trap 'echo term' TERM; while :; do sleep 0.05; done", "term")
    equal(result.code, 124, "exit status", result)
    contains(result.out, "term\n", "what the command prints")
    # A delay makes the run longer, never shorter.
    expect(later >= 5, "KILL comes 5 s after TERM, and it comes", later)


def test_a_command_may_clean_up_when_its_time_is_over(t):
    result, _ = limited(t, "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done", "bye")
    equal((result.code, result.out), (124, "bye\n"), "the end", result)


@user_only
def test_without_a_fence_a_command_and_its_children_may_clean_up_as_well(t):
    """Init is not process 1 there, and signals the group."""
    result, _ = limited(t, "(trap 'echo child; exit 0' TERM; while :; do sleep 0.05; done) & "
                        "trap 'wait; echo bye; exit 0' TERM; while :; do sleep 0.05; done", "child\nbye", "--i-accept-no-fence")
    equal((result.code, result.out), (124, "child\nbye\n"), "the end", result)


@cases("1h", "10m", "30s", "2", "1h30m")
def test_a_duration_can_be_written_in_several_ways(t, text):
    t.works("true", opts=("--timeout", text))


@cases("", "x", "-1", "10x", "s", "1e9", "1.5h", "99999999999999999999", "1 s", "0x10")
def test_a_bad_duration_is_refused(t, text):
    refused_before_start(t, "--timeout", text)


@cases(("--hde", "--hide"), ("--wirte", "--write"), ("--timout", "--timeout"), ("--readonly", "--read-only"),
       ("--lisen", "--listen"))
def test_an_unknown_option_names_the_nearest_valid_one(t, wrong, right):
    refused_before_start(t, wrong, "x", says=(wrong, right))


@cases(["--hide"], ["--net", "some"], ["--net"], ["--env", ""], ["--env", "=x"], ["--listen", "8080"],
       ["--listen", "0.0.0.0:80"], ["--listen", "127.0.0.1:0"], ["--listen", "127.0.0.1:99999"],
       ["--listen", "example.org:80"], ["--accept-weaker", "everything"], ["--project", "/nonexistent"],
       ["--project", "/etc/passwd"], ["--cwd", "missing"], ["--read", "missing-thing"],
       ["--report", "/nonexistent/folder/report"])
def test_a_bad_argument_is_refused(t, *_):
    words = list(_)
    result = t.run([t.ringfence, "exec", *words, *(() if len(words) == 1 else ("--", "echo", "ran"))])
    equal((result.code, result.out), (125, ""), "the refusal", result)
    expect(result.err.startswith("ringfence: "), "with a reason", result)
    equal(len(result.err.splitlines()), 1, "lines of the reason", result)


@cases(["frobnicate"], ["exec"], ["exec", "--"], ["exce", "--", "true"], ["--frob"])
def test_a_command_line_that_is_wrong_says_what_is_right(t, *words):
    result = t.run([t.ringfence, *words])
    equal(result.code, 125, "exit status", result)
    expect("ringfence" in result.err, "stderr says what to do", result)
    equal(result.out, "", "stdout")


def test_without_a_command_the_everyday_ones_are_listed_by_task(t):
    result = t.run([t.ringfence])
    equal((result.code, result.err), (1, ""), "status and stderr, as of git", result)
    contains(result.out, "\nlet an agent work\n  run      ", "a task with its first command")
    contains(result.out, "\nringfence help --all ", "where the others are")
    lacks(result.out, "untrust", "the list")
    expect(len(result.out.splitlines()) <= 50, "lines", len(result.out.splitlines()))


def test_help_lists_all_commands(t):
    result = t.run([t.ringfence, "help", "--all"])
    equal((result.code, result.err), (0, ""), "status and stderr", result)
    names = [line.split()[0] for line in result.out.splitlines() if line.startswith("  ") and line[2] != " "]
    everyday = [line.split()[0] for line in t.run([t.ringfence, "--help"]).out.splitlines() if line[:2] == "  "]
    expect(set(everyday) < set(names), "the everyday commands are among them", set(everyday) - set(names))
    expect("untrust" in names, "the others as well", names)


COMMANDS = ("exec", "init", "policy", "suggest", "config", "trust", "untrust", "doctor", "completions", "help")


@cases(["--help"], ["help"], ["-h"], *([name, "--help"] for name in COMMANDS), *(["help", name] for name in COMMANDS))
def test_help_is_on_stdout_and_fits_a_screen(t, *words):
    result = t.run([t.ringfence, *words])
    equal((result.code, result.err), (0, ""), "help", result)
    contains(result.out, "usage: ringfence ", "help")
    expect(len(result.out.splitlines()) <= 60, "lines", len(result.out.splitlines()))
    equal([line for line in result.out.splitlines() if len(line) > 80], [], "lines that are too long")


def test_help_names_every_option(t):
    out = t.run([t.ringfence, "exec", "--help"]).out
    for option in ("--project", "--cwd", "--write", "--read", "--hide", "--read-only", "--env", "--net",
                   "--listen", "--timeout", "--accept-weaker", "--i-accept-no-fence", "--fence",
                   "--report", "--memory", "--cpus", "--processes", "--open-files", "--file-size",
                   "--tmp-size", "--disk"):
        contains(out, option, "help")


def test_help_and_man_page_say_how_a_switch_is_turned_off(t):
    contains(t.run([t.ringfence, "exec", "--help"]).out, "--denials=false       do not report denials", "help")
    page = t.run([t.ringfence, "help", "--man", "exec"]).out
    expect(page.startswith(".TH RINGFENCE\\-EXEC 1 "), "the title", page[:80])
    contains(page, ".B \\-\\-denials=false\ndo not report denials\n", "the man page")


@cases(([], "ringfence\\-run (1)", True), (["run"], "ringfence\\-work (1)", True),
       (["status"], "ringfence\\-logs (1)", False), (["completions"], "ringfence (1)", False))
def test_a_man_page_names_variables_and_other_pages(t, words, other, models):
    page = t.run([t.ringfence, "help", "--man", *words]).out
    for part in (".SH ENVIRONMENT\n", ".B RINGFENCE_STATE_DIR\n", ".SH SEE ALSO\n"):
        contains(page, part, "the page")
    also = page.partition(".SH SEE ALSO\n")[2]
    contains(also, other, "other pages")
    equal("ANTHROPIC_API_KEY" in page, models, "whether the key of a provider is named")


@needs("groff")
def test_man_pages_have_no_warnings(t):
    commands = [line.split()[0] for line in t.run([t.ringfence, "--help"]).out.splitlines() if line.startswith("  ") and line[2] != " "]
    expect("run" in commands, "the commands", commands)
    pages = "".join(t.run([t.ringfence, "help", "--man", *words]).out for words in [[], *([name] for name in commands if name != "ringfence")])
    result = t.run(["groff", "-man", "-Tutf8", "-ww", t.write("pages.1", pages)])
    equal((result.code, result.err), (0, ""), "status and warnings of groff")
    contains(re.sub(".\\x08", "", result.out), "SEE ALSO", "what groff prints")


@cases(["init", "x"], ["doctor", "x"], ["trust", "x"], ["untrust", "x"], ["config", "net", "x"], ["policy", "a", "x"],
       ["suggest", "a", "x"], ["completions", "bash", "x"], ["help", "exec", "x"])
def test_a_superfluous_argument_is_named(t, *words):
    result = t.run([t.ringfence, *words])
    equal((result.code, result.out), (125, ""), "the refusal", result)
    equal(result.err, f"ringfence: {words[0]} does not take the argument 'x' (ringfence {words[0]} --help)\n", "stderr")


@cases(["config"], ["help", "--man", "exec"], ["config", "--reference"], ["completions", "zsh"], ["--version"])
def test_a_reader_that_has_gone_is_no_news(t, *words):
    reading, writing = os.pipe()
    os.close(reading)
    result = t.run([t.ringfence, *words], stdout=writing)
    os.close(writing)
    equal((result.code, result.err), (141, ""), "the end", result)


def test_a_file_that_is_not_executable_comes_with_what_to_do(t):
    t.write("tool", "echo ran\n", 0o644)
    result = t.fence("./tool")
    equal(result.code, 126, "exit status", result)
    contains(result.err, "(chmod +x ./tool, or: sh ./tool)", "stderr")
    equal(t.works("sh", "./tool"), "ran\n", "the second way")


def test_a_command_that_only_the_host_has_comes_with_where_it_is(t):
    tool = t.script("mytool", "#!/bin/sh\necho ran\n", os.path.join(t.outside, "bin"))
    env = t.env(PATH=f"{t.outside}/bin:" + t.env()["PATH"])
    folder = os.path.join(t.outside, "bin")
    result = t.fence("mytool", env=env)
    equal(result.code, 127, "exit status", result)
    contains(result.err, f"(it is at {folder}/mytool on the host, which is not visible in the fence: --read {folder})", "stderr")
    result = t.fence("mytool", opts=("--read", folder), env=env)
    equal((result.code, result.out), (0, "ran\n"), "with that option", result)
    lacks(t.fence("no-such-command", env=env).err, "the host", "what nobody has")


@cases(False, True)
def test_a_virtual_environment_comes_with_where_its_interpreter_is(t, with_link):
    """With a link: `python` leads to the interpreter through another folder of links."""
    tool = t.script("python9", "#!/bin/sh\necho ran\n", os.path.join(t.outside, "py", "bin"))
    target = tool
    if with_link:
        os.makedirs(os.path.join(t.outside, "links"))
        target = os.path.join(t.outside, "links", "python9")
        os.symlink(tool, target)
    os.makedirs(t.path(".venv/bin"))
    os.symlink(target, t.path(".venv/bin/python"))
    os.symlink("python", t.path(".venv/bin/python9"))
    result = t.fence(".venv/bin/python9")
    equal(result.code, 127, "exit status", result)
    folders = [os.path.join(t.outside, name) for name in (["links"] if with_link else []) + ["py"]]
    reads = " ".join(f"--read {folder}" for folder in folders)
    contains(result.err, f"(it is at {tool} on the host, which is not visible in the fence: {reads})", "stderr")
    equal(t.works(".venv/bin/python9", opts=tuple(reads.split())), "ran\n", "with that option")


def test_a_report_names_a_symlink_only_where_there_is_one(t):
    missing = t.fence("true", opts=("--report", "nosuch/report.json"))
    equal(missing.code, 125, "exit status", missing)
    contains(missing.err, "there is no folder 'nosuch/'", "stderr")
    lacks(missing.err, "symlink", "stderr")
    os.symlink(t.outside, t.path("link"))
    contains(t.fence("true", opts=("--report", "link/report.json")).err, "symlink", "stderr")


@cases(["exec", "--project", "nosuch", "--", "true"], ["policy", "--project", "nosuch"],
       ["config", "--project", "nosuch"], ["untrust", "--project", "nosuch"])
def test_a_project_that_is_not_there_is_no_folder(t, *words):
    result = t.run([t.ringfence, *words])
    equal((result.code, result.err), (125, "ringfence: --project 'nosuch': there is no such folder\n"), "stderr")


@cases("--version", "-V")
def test_version_is_a_line(t, word):
    result = t.run([t.ringfence, word])
    equal((result.code, len(result.out.splitlines())), (0, 1), "version", result)


def test_help_to_a_full_device_fails(t):
    with open("/dev/full", "wb") as full:
        result = t.run([t.ringfence, "--help"], stdout=full)
    expect(result.code != 0, "a write that failed is not hidden", result)


def test_a_quiet_run_says_nothing(t):
    result = t.fence("true")
    equal((result.out, result.err), ("", ""), "what was said")


def test_the_options_of_the_command_stay_its_own(t):
    equal(t.works("echo", "--hide", "x", "--", "--help"), "--hide x -- --help\n", "what echo shows")
    result = t.run([t.ringfence, "exec", "echo", "--hide", "x"])
    equal((result.code, result.out), (0, "--hide x\n"), "without --", result)


@root_only
def test_running_without_a_fence_is_refused_to_root(t):
    result = t.fence("touch", "ran", opts=("--i-accept-no-fence",))
    equal(result.code, 125, "exit status", result)
    expect(not t.exists("ran"), "nothing ran")


@user_only
def test_running_without_a_fence_is_said_at_the_start_and_at_the_end(t):
    result, report = t.report("sh", "-c", "echo command >&2; exit 3", opts=("--i-accept-no-fence",))
    equal(result.code, 3, "exit status", result)
    before, _, after = result.err.partition("command\n")
    for part in (before, after):
        contains(part.lower(), "without a fence", "what is said before and after")
    expect(report["weaker"], "the report says it", report)
    lacks(report["mechanism"], "bwrap", "the mechanism")


@user_only
def test_without_a_fence_the_command_still_dies_with_ringfence(t):
    t.leftover_runs = True
    process = t.fence_start("sh", "-c", "echo ready; sleep 600", opts=("--i-accept-no-fence",))
    equal(process.stdout.readline(), b"ready\n", "the command")
    process.kill()
    t.communicate(process)
    t.all_gone()


def test_the_report_has_every_field(t):
    result, report = t.report("sh", "-c", "mkdir .vscode; echo x > .vscode/tasks.json; exit 5")
    equal(result.code, 5, "exit status", result)
    equal(sorted(report), ["canaries", "denials", "denials_unlisted", "duration_ms", "exit", "flagged", "hosts",
                           "image", "limits", "mechanism", "net", "project", "quarantined", "quarantined_total", "use", "weaker"],
          "fields")
    equal(sorted(report["exit"]), ["code", "kind", "limit", "why"], "fields of the exit")
    equal(report["mechanism"], t.mechanism, "mechanism")
    equal(report["weaker"], [], "weaker")
    equal((report["exit"]["kind"], report["exit"]["code"]), ("command", 5), "exit")
    expect(0 < report["duration_ms"] < 30000, "duration", report)
    found = report["quarantined"]
    equal(len(found), 1, "quarantined", report)
    equal(sorted(found[0]), ["kept", "path", "reason"], "fields of a find")
    expect(os.path.exists(found[0]["kept"]), "it is where the report says", report)


def test_the_report_is_not_followed_through_a_symlink_of_the_project(t):
    """The command could have planted it there."""
    victim = t.write(os.path.join(t.outside, "victim"), "before")
    result = t.sh(f"rm -f report; ln -s {victim} report", opts=("--report", "report"))
    equal(t.read(victim), "before", "the victim", result)


def test_nothing_of_the_fence_is_left_in_tmp(t):
    before = set(os.listdir("/tmp"))
    t.works("sh", "-c", "echo x > /tmp/ringfence-test-file")
    lacks(set(os.listdir("/tmp")) - before, "ringfence-test-file", "new names in /tmp")


def test_two_runs_at_once_do_not_see_each_other(t):
    first = t.fence_start("sh", "-c", "echo $$ > /tmp/mine; echo ready; read line",
                          stdin=subprocess.PIPE)
    equal(first.stdout.readline(), b"ready\n", "the first")
    result = t.sh("ls /tmp; ls -d /proc/[0-9]*")
    lacks(result.out.splitlines(), "mine", "files of the other run")
    t.communicate(first, b"\n")
    equal(first.returncode, 0, "the first")


@cases("-", "/dev/stdout")
def test_a_report_on_stdout_has_its_place_in_a_file(t, name):
    out = os.path.join(t.outside, "out")
    t.run(["sh", "-c", f"{{ echo before; {t.ringfence} exec --report {name} -- echo hi; echo after; }} > {out}"])
    lines = open(out, encoding="utf-8").read().splitlines()
    equal((lines[0], lines[1], lines[2], lines[-1]), ("before", "hi", "{", "after"), "lines")


@cases(12, 22, 63)
def test_too_few_open_files_are_a_refusal_that_says_so(t, limit):
    for words in ("exec -- true", "run x --agent-command true --check true", "status"):
        result = t.run(["bash", "-c", f"ulimit -n {limit}; exec {t.ringfence} {words}"], timeout=30)
        equal(result.code, 125, f"exit status of {words}", result)
        contains(result.err, f"the limit of open files is {limit}", "what is said")
        contains(result.err, "ulimit -n 1024", "what to do")


def test_a_few_open_files_are_enough(t):
    for words in ("exec -- true", "exec --allow localhost:9 -- true",
                  "run x --agent-command 'touch done' --check 'test -f done'"):
        result = t.run(["bash", "-c", f"ulimit -n 64; exec {t.ringfence} {words}"])
        equal(result.code, 0, f"exit status of {words}", result)
