"""Everything that is shown of a loop: status, history, logs, progress, and the agent's prompt."""

import json
import os
import re
import shutil

from harness import cases, contains, equal, expect, lacks
from harness.loop import LoopInPlace as Loop


def test_status_tells_the_objective_and_what_it_does(t):
    loop = Loop(t, scripts={"1": "edit here-1 x; meet go", "2": "edit done yes"})
    ident = loop.detach()
    loop.there("here-1")
    out = loop.ringfence("status").out
    contains(out, "just now\n    make it\n    the agent is working\n", "while it works")
    expect(re.search(r"  iteration 1 of 20  (\d+m)?\d+s  just now\n", out), "the time that it has worked", out)
    loop.ringfence("pause")
    contains(loop.ringfence("status", ident).out, "    will pause after this iteration\n", "when a pause was asked for")
    equal(loop.status()["asked"], "pause", "as JSON")
    loop.write("go")
    loop.ended("paused")
    loop.ringfence("abort")


def test_status_shows_the_newest_first_and_not_all(t):
    loop = Loop(t)
    loop.write("done")
    equal(loop.run().code, 0, "exit status")
    first = loop.folder
    for number in range(10):
        shutil.copytree(first, first[:-4] + f"zz{number:02}")
    idents = [entry["id"] for entry in json.loads(loop.ringfence("status", "--json").out)["loops"]]
    equal(len(idents), 11, "all are there as JSON")
    lines = loop.ringfence("status").out.splitlines()
    equal([line.split()[0] for line in lines if line.startswith("2")], idents[:0:-1], "the newest ten")
    equal(lines[-1], "1 older not shown (--limit N, --all, or --json)", "the rest")
    lines = loop.ringfence("status", "--limit", "2").out.splitlines()
    equal([line.split()[0] for line in lines if line.startswith("2")], idents[:-3:-1], "the newest two")
    equal(lines[-1], "9 older not shown (--limit N, --all, or --json)", "the rest of two")
    shown = json.loads(loop.ringfence("status", "--all", "--json", "--limit", "3").out)
    equal(([entry["id"] for entry in shown["loops"]], shown["not_shown"]), (idents[-3:], 8), "the newest three as JSON")
    wrong = loop.ringfence("status", "--limit", "few")
    equal(wrong.code, 125, "exit status of a wrong limit", wrong)
    contains(wrong.err, "--limit needs a number of loops", "the reason")


def test_history_is_a_table(t):
    loop = Loop(t, scripts={"1": "true", "2": "say x; touch /usr/x 2>/dev/null; exit 3", "3": "edit done yes"})
    result = loop.run()
    contains(result.out, "  the agent changed nothing and printed nothing\n", "the progress")
    lines = loop.ringfence("history").out.splitlines()
    equal(lines[0].split(), ["verdict", "agent", "checks", "time", "denied", "US$", "why"], "the heads")
    equal([line.replace("go on", "go-on").split()[:5] for line in lines[1:]],
          [["1", "go-on", "exit", "0", "0/1"], ["2", "go-on", "exit", "3", "0/1"], ["3", "done", "exit", "0", "1/1"]],
          "the lines")
    equal([line.replace("go on", "go-on").split()[6:8] for line in lines[1:]], [["0", "-"], ["1", "-"], ["0", "-"]],
          "denials and cost")
    contains(lines[1], "the agent changed nothing and printed nothing", "the reason")


def test_logs_on_a_terminal_mark_iterations_and_the_end(t):
    loop = Loop(t, scripts={"1": "say one; edit here x; meet go", "2": "say two; edit done yes"})
    loop.detach()
    loop.there("here")
    terminal = t.tty([t.ringfence, "logs", "-f"], cwd=loop.project)
    terminal.expect("-- iteration 1\r\none")
    loop.write("go")
    terminal.expect("-- iteration 2\r\ntwo\r\n-- completed: every rule holds")
    equal(terminal.wait(), 0, "exit status of logs")


def test_logs_show_what_the_checks_printed(t):
    loop = Loop(t, scripts={"1": "edit a 1", "2": "edit done yes"})
    equal(loop.run("--check", "echo never >&2", check="echo round $(ls a done 2>/dev/null | wc -l); test -f done").code,
          0, "exit status")
    def said(number, name):
        return (f"-- {name}: echo round $(ls a done 2>/dev/null | wc -l); test -f done\nround {number}\n"
                f"-- {name}: echo never >&2\nnever\n")
    equal(loop.ringfence("logs", "--checks").out, said(2, "iteration 2"), "of the last one")
    equal(loop.ringfence("logs", "--checks", "--iteration", "1").out, said(1, "iteration 1"), "of iteration 1")
    equal(loop.ringfence("logs", "--checks", "--iteration", "0").out, said(0, "before the first iteration"),
          "of the baseline")
    lines = loop.ringfence("logs", "--checks", "--json").out.splitlines()
    equal(json.loads(lines[0]), {"iteration": 2, "stream": "check-1.stdout", "text": "round 2"}, "as JSON")
    equal(loop.ringfence("logs", "--iteration", "0").code, 125, "exit status for an agent that never was")


def test_resume_follow_looks_on_at_a_loop_that_runs(t):
    loop = Loop(t, scripts={"1": "edit here x; meet go", "2": "edit done yes"})
    loop.detach()
    loop.there("here")
    process = t.start([t.ringfence, "resume", "--follow"], cwd=loop.project, stdout=-1, stderr=-1)
    contains(process.stdout.readline().decode(), "is running: iteration 1", "the first line")
    loop.write("go")
    result = t.finish(process)
    equal(result.code, 0, "exit status", result)
    contains(result.out, "completed: every rule holds", "the last line")


def test_what_the_fence_denied_and_put_aside_is_told_by_name(t):
    loop = Loop(t, scripts={"all": "mkdir .vscode; echo {} >.vscode/tasks.json; mkdir .git; for i in 1 2 3 4; do "
                                   "touch /usr/there-$i 2>/dev/null; done; edit done yes"})
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    contains(result.out, "  blocked: 4 writes outside the project (names: ringfence logs --denials; "
             "to allow them: ringfence suggest)\n", "the denials")
    lacks(result.out, "/usr/there-", "the denials")
    contains(loop.ringfence("logs", "--denials").out, "-- iteration 1, agent\ncreate /usr/there-1 (system) by touch\n",
             "the names")
    contains(result.out, "quarantined because the host would execute it: ", "the quarantine")
    entry = loop.history()[0]
    equal((entry["denials"], len(entry["denied"])), (4, 3), "the denials in the history")
    expect(any(".vscode" in kept["path"] for kept in entry["put_aside"]), "it is in the history", entry)
    for kept in entry["put_aside"]:
        expect(kept["kept"].startswith(t.state) and os.path.lexists(kept["kept"]), "it is kept", kept)
        contains(result.out, kept["kept"], "the progress")


def test_the_prompt_tells_what_the_fence_forbids(t):
    loop = Loop(t)
    os.mkdir(loop.path(".git"))
    own = loop.run("--dry-run").out
    for part in (".git is read-only", "There is no network", "secrets"):
        contains(own, part, "the prompt")
    given = loop.run("--dry-run", "--write", ".git", "--allow", "example.org").out
    contains(given, "only these hosts can be reached: example.org.", "the prompt with a host")
    lacks(given, ".git is read-only", "the prompt with .git")
    lacks(loop.run("--dry-run", "--net", "open").out, "There is no network", "the prompt with the network")


def test_what_an_agent_does_is_told_as_it_does_it(t):
    events = ('{"type": "text", "text": "\\n  I look first.\\nThen more."}', '{"type": "tool", "name": "read", "target": "a.c"}',
              '{"type": "tool_result", "ok": false, "text": "no such file"}', '{"type": "tool_result", "ok": true}',
              '{"type": "tool", "name": "shell", "target": "' + "é" * 120 + '\\nls"}')
    loop = Loop(t)
    loop.write("lines", "".join(line + "\n" for line in events))
    loop.write("act", "cat lines; touch done; printf '%s' '{\"type\": \"tool\", \"name\": \"last\"}'")
    result = loop.ringfence("run", "x", "--agent-command", "sh act", "--agent-format", "events", "--check", "test -f done")
    contains(result.out, "running the agent\n  \"I look first. ...\"\n  - read a.c\n    failed: no such file\n"
             f"  - shell {'é' * 96} ...\n  - last \n  the agent exited", "what is told")
    lacks(loop.ringfence("run", "x", "--agent-command", "sh act", "--check", "test -f done").out, "read a.c",
          "what is told of plain output")


@cases(80, 120)
def test_lines_are_no_wider_than_the_terminal(t, columns):
    loop = Loop(t, scripts={"1": "touch /usr/there 2>/dev/null; event tool '\"name\": \"shell\", \"target\": \"" + "make it so " * 20 + "\"'",
                            "2": "event cost '\"usd\": 1.5'; event text '\"text\": \"" + "many words " * 20 + "\"'; edit done yes"})
    def wide(*words, code=0):
        terminal = t.tty([t.ringfence, *words], cwd=loop.project, cols=columns)
        equal(terminal.wait(), code, f"exit status of {words[0]}")
        lines = [re.sub("\x1b\\[[0-9]*[mAJ]", "", line) for line in terminal.text().replace("\r", "").split("\n")]
        # A path that is wider itself stands alone.
        equal([line for line in lines if len(line) > columns and " " in line.strip()], [], f"lines of {words[0]} that are too long")
        return lines
    lines = wide("run", "make it " * 12, "--agent-command", "sh agent.sh", "--agent-format", "events", "--check", "test -f done",
                 "--promise", "many words " * 19 + "many words")
    expect(max(map(len, lines)) > columns - 12, "lines are as long as they can be", lines)
    for command in ("status", "history", "checkpoints", "policy", "doctor", "logs", "agents"):
        wide(command)
    wrong = [line for line in wide("run", "x", "--agent", "x" * 70, code=125) if line]
    expect(len(wrong) > 1 and wrong[0].startswith("ringfence: there is no agent"), "what went wrong takes more than a line", wrong)
    contains(loop.ringfence("status").out, f"    {'make it ' * 12}\n", "a line that goes into a pipe")


def test_what_was_printed_last_is_told_where_something_fails(t):
    loop = Loop(t, scripts={"1": "echo 'first' >&2; echo 'no such model' >&2; exit 3", "2": "edit done yes"})
    loop.write("check.sh", "echo one; printf '\\033[31mthe bridge is broken\\n\\n' >&2; test -f done")
    result = loop.run(check="sh check.sh")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "fails (status 1)\n    the bridge is broken\n    (full output: ringfence logs --checks)\n", "the first check")
    contains(result.out, "fails (status 1)\n    the bridge is broken\n  continuing", "the second check, without the hint")
    contains(result.out, "  | first\n  | no such model\n  the agent exited with status 3", "the agent")
    equal((result.out.count("the bridge"), result.out.count("no such model")), (2, 1), "how often it is told")
    contains(loop.ringfence("logs", "--checks", "--iteration", "1").out, "the bridge", "what the hint names")
    contains(loop.ringfence("logs", "--iteration", "1").out, "first", "what the other hint names")


def test_what_was_printed_last_is_one_line_of_the_terminal(t):
    loop = Loop(t, scripts={"all": "edit done yes"})
    loop.write("check.sh", f"echo {'very bad ' * 25}; test -f done")
    terminal = t.tty([t.ringfence, "run", "x", "--agent-command", "sh agent.sh", "--check", "sh check.sh"], cwd=loop.project, cols=60)
    equal(terminal.wait(), 0, "exit status")
    equal([line for line in terminal.text().replace("\r", "").split("\n") if "very bad" in line], ["    " + ("very bad " * 25)[:56]],
          "the line")


def test_what_is_said_to_be_wrong_is_escaped_once(t):
    for words in (("a\\b",), ("exec", "-a\\b"), ("exec", "--a\\b"), ("prices", "a\\b"), ("clean", "--yes", "a\\b"),
                  ("run", "x", "--agent", "a\\b"), ("run", "x", "--agent-command", "true", "--agent-format", "a\\b"),
                  ("run", "x", "--agent-command", "true", "--check", "true", "--tasks", "a\\b")):
        contains(t.run([t.ringfence, *words], cwd=t.project).err, r"a\\b", f"stderr of {words}")


def commands(t):
    names = [line.split()[0] for line in t.run([t.ringfence, "--help"]).out.splitlines() if re.match("  [a-z]", line)]
    expect(len(names) > 20, "the commands are found", names)
    return names


def test_every_command_has_a_man_page(t):
    for name in commands(t):
        page = t.run([t.ringfence, "help", "--man", *([] if name == "ringfence" else [name])])
        equal((page.code, page.err), (0, ""), f"the man page of {name}", page)
        contains(page.out, ".SH SYNOPSIS", f"the man page of {name}")


def test_every_help_fits_into_80_columns(t):
    names = commands(t)
    for name in names:
        result = t.run([t.ringfence, *([] if name == "ringfence" else [name]), "--help"])
        equal((result.code, result.err), (0, ""), f"{name} --help", result)
        lines = result.out.splitlines()
        equal([line for line in lines if len(line) > 80], [], f"lines of {name} --help that are too long")


SAID = ('{"type": "text", "text": "I look first.\\n\\nThen more."}', 'no event', '{"type": "tool", "name": "read", "target": "a.c"}',
        '{"type": "new"}', '{"type": "tool_result", "ok": false, "text": "no such file"}', '{"type": "auth", "text": "the key is old"}',
        '{"type": "final", "text": "Done \\u001b[31m."}')
TOLD = ('  "I look first.\n\n   Then more."\nno event\n  - read a.c\n{"type": "new"}\n    failed: no such file\n'
        '  error (auth): the key is old\n  "Done \\x1b[31m."\n{"type": "te')


def test_logs_tell_what_an_agent_did_and_show_what_is_no_event_as_it_is(t):
    loop = Loop(t)
    torn = "".join(line + "\n" for line in SAID) + '{"type": "te'
    loop.write("lines", torn)
    equal(loop.ringfence("run", "x", "--agent-command", "cat lines; echo oops >&2; touch done", "--agent-format", "events",
                         "--check", "test -f done").code, 0, "exit status")
    equal(loop.ringfence("logs").out, TOLD + "oops\n", "what is told")
    equal(loop.ringfence("logs", "--raw").out, torn + "oops\n", "the bytes")
    equal(json.loads(loop.ringfence("logs", "--json").out.splitlines()[1]), {"iteration": 1, "stream": "stdout", "text": "no event"},
          "as JSON")
    contains(loop.ringfence("logs", "--raw", "--json").err, "cannot be used together", "both")
    terminal = t.tty([t.ringfence, "logs"], cwd=loop.project)
    terminal.expect("I look first.")
    terminal.expect(r"\x1b\[2m  - read a.c\x1b\[m")


def test_logs_follow_what_an_agent_does(t):
    loop = Loop(t, scripts={"1": "event text '\"text\": \"one\"'; printf '{\"type\": \"tool\", \"na'; edit here x; meet go; "
                                 "echo 'me\": \"read\"}'", "2": "event text '\"text\": \"two\"'; edit done yes"})
    loop.detach("--agent-format", "events")
    loop.there("here")
    process = t.start([t.ringfence, "logs", "-f"], cwd=loop.project, stdout=-1, stderr=-1)
    equal(process.stdout.readline(), b'  "one"\n', "what it said")
    loop.write("go")
    equal(t.finish(process).out, '  - read \n  "two"\n', "the rest, and the next iteration")


def test_a_line_that_is_no_event_is_shown_however_long_it_is(t):
    loop = Loop(t)
    loop.write("lines", "x" * (3 << 20) + "\n" + '{"type": "text", "text": "after it"}\n')
    loop.ringfence("run", "x", "--agent-command", "cat lines; touch done", "--agent-format", "events", "--check", "test -f done")
    equal(loop.ringfence("logs").out, "x" * (3 << 20) + '\n  "after it"\n', "what is told")


@cases(({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False))
def test_colours_are_for_those_who_want_them(t, variables, wanted):
    loop = Loop(t, scripts={"all": "edit done yes"})
    result = loop.run(env=t.env(**variables))
    equal(("\x1b[32m  check 'test -f done' passes\x1b[m\n" in result.out, "\x1b" in result.out), (wanted, wanted),
          "colours", result)


def test_failed_tests_are_named(t):
    loop = Loop(t, scripts={"all": "edit a $N"})
    check = "for i in 1 2 3 4 5 6 7; do echo \"not ok $i - tax $i\"; done; echo '# fail 7'; false"
    result = loop.run("-m", "1", check=check)
    contains(result.out, "    failing: tax 1, tax 2, tax 3, tax 4, tax 5 and 2 more\n", "the progress")
    lacks(result.out, "    # fail 7", "the progress")
