"""A loop in the foreground: the live region on a terminal, plain lines elsewhere."""

import os
import re
import signal

from harness import cases, contains, equal, expect, lacks, needs
from harness.loop import LoopInPlace as Loop
from harness.tmux import Tmux

REGION = r"^\S the agent: .*\n  iteration 1/20 .*  US\$ 0\.00/25 .*$"
WORK = {"1": "say 'I read \u65e5\u672c\u8a9e'; edit here x; meet go; edit done yes"}


def begin(t, *words, cols=80, scripts=None):
    """A loop on a terminal, whose agent waits for the file `go`."""
    loop = Loop(t, scripts=scripts or WORK)
    screen = Tmux(t, loop.project, cols=cols)
    screen.type(t.ringfence, *loop.run_words(*words))
    return loop, screen


@needs("tmux")
def test_a_live_region_tells_what_happens_and_leaves_a_clean_screen(t):
    loop, screen = begin(t)
    shown = screen.wait_for(r"^\S the agent: I read")
    contains(shown, "\n  | I read \u65e5\u672c\u8a9e\n", "the agent's output, as it comes")
    expect(re.search(r"the agent: I read \u65e5\u672c\u8a9e +\S+s\n  iteration 1/20 \u2501\u2500+  time \S+/8h ", shown),
           "what happens now, and the limits", shown)
    equal(screen.cursor(), ("0", "1"), "the cursor is below, and visible")
    before = re.search(r"time (\S+)/8h", shown).group(1)
    screen.wait_for(f"time (?!{before}/)")
    loop.write("go")
    shown = screen.wait_for(r"^completed: every rule holds$")
    shown = screen.wait_for(r"rollback undoes it\n\$")
    lacks(shown, "0/25", "the screen afterwards")
    lacks(shown, "\u2501", "the screen afterwards")
    expect(shown.endswith("\n$"), "the prompt comes next", shown)


@needs("tmux")
def test_the_live_region_follows_the_size_of_the_terminal(t):
    loop, screen = begin(t)
    screen.wait_for(REGION)
    screen.resize(40)
    shown = screen.wait_for(r"^  iteration 1/20 \S+\n  time \S+/8h +\S+\n  US\$ 0\.00/25 +\S+$")
    equal(shown.count("1/20"), 1, "no old region is left")
    screen.resize(120)
    shown = screen.wait_for(r"^  iteration 1/20 .* US\$ 0\.00/25 \S+$")
    equal(shown.count("1/20"), 1, "no old region is left")
    screen.press("Enter", "Enter")
    screen.resize(100)
    shown = screen.wait_for(r"^\S the agent: .{70,} \S+s\n  iteration 1/20 .*$")
    equal(shown.count("1/20"), 1, "no old region is left where Enter was pressed")
    loop.write("go")
    screen.wait_for(r"^completed: ")


@needs("tmux")
def test_what_the_agent_says_while_ctrl_c_asks_does_not_follow_a_detach(t):
    loop, screen = begin(t, scripts={"1": "say first; meet go; say second; meet end; edit done yes"})
    screen.wait_for(r"^\S the agent: first")
    screen.press("C-c")
    screen.wait_for(r"\[D/p/a\]$")
    loop.write("go")
    loop.heard("second")
    screen.press("Enter")
    shown = screen.wait_for(r"continues in the background \(ringfence logs[^$]*\n\$")
    contains(shown, "  | first\n", "what came before")
    lacks(shown, "second", "what came while it asked")
    loop.write("end")
    loop.ended("completed")


@needs("tmux")
def test_ctrl_c_asks_and_the_region_comes_back(t):
    loop, screen = begin(t)
    screen.wait_for(REGION)
    screen.press("C-c")
    shown = screen.wait_for(r"^Detach \(the loop continues in the background\), pause or abort\? \[D/p/a\]")
    contains(shown, "iteration 1 of 20", "the story")
    lacks(shown, "1/20", "the screen while it asks")
    screen.press("x", "Enter")
    screen.wait_for(REGION)
    screen.press("C-c")
    screen.wait_for(r"\[D/p/a\]$")
    screen.press("p", "Enter")
    screen.wait_for(r"^\S pausing after this iteration; the agent: ")
    screen.press("C-c")
    screen.wait_for(r"\[D/p/a\]$")
    screen.press("Enter")
    shown = screen.wait_for(r"continues in the background \(ringfence logs")
    shown = screen.wait_for(r"\n\$\Z")
    lacks(shown, "US$ 0.00/25", "the screen afterwards")
    loop.write("go")
    loop.ended("paused", "completed")


@needs("tmux")
def test_ctrl_z_stops_it_with_a_clean_screen_and_fg_continues(t):
    loop, screen = begin(t)
    screen.wait_for(REGION)
    screen.press("C-z")
    shown = screen.wait_for(r"Stopped .*(\n.*)*\n\$\Z")
    contains(shown, "iteration 1 of 20", "the story")
    lacks(shown, "US$ 0.00/25", "the screen while it is stopped")
    screen.type("fg")
    screen.wait_for(REGION)
    loop.write("go")
    screen.wait_for(r"^completed: ")


@needs("tmux")
def test_a_kill_leaves_a_usable_terminal(t):
    loop, screen = begin(t)
    screen.type("stty", "-g")  # is dropped: it would answer the next question
    screen.wait_for(REGION)
    (child,) = screen.children()
    os.kill(child, signal.SIGKILL)
    screen.wait_for(r"^Killed.*\n\$\Z|^\$\Z")
    equal(screen.cursor()[1], "1", "the cursor is visible")
    screen.type("stty", "-a")
    shown = screen.wait_for(r" echo ")
    contains(shown, " icanon ", "the modes of the terminal")
    screen.type(t.ringfence, "resume", "--follow")
    screen.wait_for(REGION)
    loop.write("go")
    screen.wait_for(r"^completed: ")


def test_a_pipe_gets_plain_lines(t):
    loop = Loop(t, scripts={"1": r"printf '\033[31mred\033[m \033]0;title\007 \342\200\256x\n'; say two >&2; edit done yes"})
    result = loop.run(env=t.env(TERM="xterm", LC_ALL="C.UTF-8"))
    equal(result.code, 0, "exit status", result)
    contains(result.out, "\n  | red \\x1b]0;title\\x07 \\xe2\\x80\\xaex\n  | two\n  the agent exited", "the agent's output")
    lacks(result.out + result.err, "\x1b", "the output")
    lacks(result.out, "\r", "the output")
    lacks(result.out, "/25 ", "the output")


def test_a_dumb_terminal_gets_plain_lines(t):
    loop = Loop(t, scripts={"1": "say one; edit done yes"})
    terminal = t.tty([t.ringfence, *loop.run_words()], cwd=loop.project, env=t.env(TERM="dumb"))
    equal(terminal.wait(), 0, "exit status")
    contains(terminal.text(), "  | one\r\n", "the agent's output")
    lacks(terminal.text(), "\x1b", "the output")


def test_where_nobody_looks_a_line_tells_that_the_loop_is_alive(t):
    loop = Loop(t, scripts=WORK)
    process = t.start([t.ringfence, *loop.run_words("--heartbeat", "1s")], cwd=loop.project, stdout=-1, stderr=-1)
    for line in process.stdout:
        if line.startswith(b"  ... ") and b"the agent: I read" in line:  # on a busy machine, others come before
            break
    expect(re.fullmatch(rb"  \.\.\. iteration 1/20, time \S+/8h, US\$ 0\.00/25; the agent: I read .*\n", line), "the line", line)
    loop.write("go")
    result = t.finish(process)
    equal(result.code, 0, "exit status", result)
    wrong = loop.run("--heartbeat", "soon")
    equal(wrong.code, 125, "exit status of a wrong duration", wrong)
    contains(wrong.err, "--heartbeat must be a duration such as 30s, or 0, not 'soon'", "the reason")


@cases(("--heartbeat must be a duration", "--heartbeat", "soon"), ("--quiet and --verbose cannot be used together", "-q", "-v"))
def test_a_loop_is_not_resumed_with_options_that_are_wrong(t, why, *options):
    loop = Loop(t, scripts={"1": "say '<blocked>a key</blocked>'"})
    equal(loop.run().code, 3, "exit status of run")
    for words in (["resume"], ["answer", "here it is"]):
        result = loop.ringfence(*words, "--follow", *options)
        equal(result.code, 125, f"exit status of {words[0]}", result)
        contains(result.err, why, "the reason")
        equal(len(loop.history()), 1, f"iterations after {words[0]}")
    equal(loop.ringfence("answer", "here it is", "--follow").code, 3, "exit status with right options")
    equal(len(loop.history()), 2, "iterations with right options")


def test_quiet_prints_only_how_the_loop_ends(t):
    loop = Loop(t, scripts={"1": "say one; touch /usr/x 2>/dev/null; edit done yes"})
    result = loop.run("--quiet")
    equal((result.code, result.out), (0, "completed: every rule holds\n"), "what is printed", result)
    loop = Loop(t, name="paused", scripts={"1": "say '<blocked>a key</blocked>'"})
    result = loop.run("-q")
    equal(result.code, 3, "exit status", result)
    contains(result.out, "a key", "why it is paused")
    equal(len(result.out.splitlines()), 2, "the reason and how to continue", result)


def test_everything_that_was_denied_is_named_on_request(t):
    loop = Loop(t, scripts={"1": "touch /usr/a /usr/b; cat .env; touch ~/.cache/x; mkdir -p ~/.cache; touch ~/.cache/x; edit done yes"})
    loop.write(".env", "KEY=1")
    os.makedirs(os.path.join(t.home, ".cache"), exist_ok=True)
    result = loop.run("--verbose", "--trace-reads", check="touch /usr/c 2>/dev/null; test -f done")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "\n  denied: read .env (protected)\n  blocked: 2 writes outside the project\n"
             "    create /usr/a (system) by touch\n", "what is told")
    lacks(result.out, ".cache/x (", "what could be created after all")
    contains(result.out, "  blocked: 1 write outside the project\n    create /usr/c (system) by touch\n", "what a check was denied")
    named = loop.ringfence("logs", "--denials", "--json").out
    contains(named, '"run":"check 1"', "as JSON")


def test_the_denials_of_final_checks_are_shown_as_well(t):
    loop = Loop(t, scripts={"1": "edit done yes"})
    result = loop.run("--final-check", "touch /usr/c 2>/dev/null; test -f done")
    equal(result.code, 0, "exit status", result)
    contains(loop.ringfence("logs", "--denials").out, "-- iteration 1, final check 1\ncreate /usr/c (system) by touch\n", "what it was denied")
