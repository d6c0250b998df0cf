"""The screen of ringfence watch and attach, as a person sees it in a terminal."""

import contextlib
import difflib
import fcntl
import os
import re
import shutil
import signal
import struct
import subprocess
import termios

from harness import cases, contains, equal, expect, kernel, lacks, needs
from harness.batch import Batch
from harness.case import Failure
from harness.loop import Loop, is_stopped, keepers, kill, until
from harness.tmux import Tmux

ANY_IDENTITY = "The screen reads what the state folder has, and acts by operations that are tested as both."

PATIENCE_S = 60  # meant for hangs
GOLDENS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "watch")
EVENTS = ("--agent-format", "events")
TALK = """
event text '"text": "I look at the tests first."'
event thinking '"text": "why do they fail"'
event tool '"name": "Bash", "target": "make test"'
event tool_result '"ok": false, "text": "2 failed, see the needle"'
event tool '"name": "Edit", "target": "src/app.py"'
event file '"target": "src/app.py"'
event tool_result '"ok": true, "text": "saved"'
i=0; while [ $i -lt 60 ]; do i=$((i+1)); event text "\\"text\\": \\"step $i\\""; done
edit new.txt hello
touch /etc/denied 2>/dev/null
"""
WAITS = "event text '\"text\": \"at work\"'; meet go\n"


class Screen(Tmux):
    """A terminal in which ringfence watch runs."""

    def __init__(self, loop, *words, cols=80, rows=24, **variables):
        variables.setdefault("TERM", "screen-256color")
        super().__init__(loop.t, loop.project, cols, rows)
        self.loop = loop
        self.words = [*(f"{name}={value}" for name, value in variables.items()), loop.t.ringfence, *(words or ("watch",))]
        self.type("env", *self.words)

    def watch(self):
        """The process that waits for the screen, and the screen."""
        return until("the screen's processes", lambda: next(
            ((parent, kids[0][0]) for parent in self.children() if (kids := kernel.children_of(parent))), None))

    def literal(self, text):
        self._tmux("send-keys", "-t", "x", "-l", text)

    def wait_gone(self, pattern):
        """Waits until the screen no longer shows a pattern."""
        until(f"no {pattern!r} on the screen", lambda: not re.search(pattern, self.screen(), re.M))

    def modes(self):
        """Is the alternate screen on, and does a program want the mouse?"""
        return self._tmux("display-message", "-p", "-t", "x", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").split()


def watched(t, scripts=None, name="work", words=(), **options):
    """A loop whose agent waits for the file `go`."""
    loop = Loop(t, scripts=scripts or {"1": TALK + WAITS + "edit done yes"}, workspace="in-place", **options)
    loop.detach(*EVENTS, "--name", name, *words)
    loop.heard("at work")
    return loop


def finish(loop):
    loop.write("go")
    loop.ended("completed")


def ended(t, scripts=None, name="work", words=()):
    loop = Loop(t, scripts=scripts or {"1": TALK + "edit done yes"}, workspace="in-place")
    loop.detach(*EVENTS, "--name", name, *words)
    loop.ended()
    return loop


def copies(loop, count):
    """Copies of a loop that has ended; the last one is the newest."""
    for number in range(count):
        shutil.copytree(loop.folder, os.path.join(loop.t.state, "loops", f"29990101-000000-{number:04}"))


def normal(text):
    """A screen without what differs each time."""
    text = re.sub(r"\d{8}-\d{6}-\w{4}", "20260102-030405-abcd", text)
    text = re.sub(r"\d\d:\d\d:\d\d", "03:04:05", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-01-02 03:04", text)
    text = re.sub(r"(US\$ 25\.00  )/.*", r"\1/srv/project", text)
    text = re.sub(r"( *)\b(\d+s|\d+m\d\ds)(?=[/ ,]|$)", lambda m: " " * (len(m[0]) - 2) + "9s", text, flags=re.M)
    text = re.sub(r"at most [\d.]+ MiB of memory", "at most 9 MiB of memory", text)
    return text


def golden(name, screen):
    shown = normal(screen.screen()) + "\n"
    path = os.path.join(GOLDENS, name + ".txt")
    if os.environ.get("RINGFENCE_TEST_GOLDENS"):
        with open(os.path.join(os.environ["RINGFENCE_TEST_GOLDENS"], name + ".txt"), "w", encoding="utf-8") as file:
            file.write(shown)
        return
    with open(path, encoding="utf-8") as file:
        wanted = file.read()
    if shown != wanted:
        raise Failure("the screen differs from " + path + "\n" + "\n".join(
            difflib.unified_diff(wanted.splitlines(), shown.splitlines(), "wanted", "seen", lineterm="")))


# ---- keys ----

# In a list of 30 loops: the key for tmux, and what the screen shows then.
LIST_KEYS = (
    ("j", "j", r"000000-0028  began"),
    ("Down", "Down", r"000000-0027  began"),
    ("Ctrl-n", "C-n", r"000000-0026  began"),
    ("k", "k", r"000000-0027  began"),
    ("Up", "Up", r"000000-0028  began"),
    ("Ctrl-p", "C-p", r"000000-0029  began"),
    ("PgDn", "NPage", r"000000-0014  began"),
    ("Space", "Space", r"^ (?!2999)\d{8}-\d{6}-\w{4}  began"),
    ("PgUp", "PPage", r"000000-0014  began"),
    ("Ctrl-b", "C-b", r"000000-0029  began"),
    ("Ctrl-f", "C-f", r"000000-0014  began"),
    ("Ctrl-u", "C-u", r"000000-0029  began"),
    ("Ctrl-d", "C-d", r"000000-0014  began"),
    ("G", "G", r"^ (?!2999)\d{8}-\d{6}-\w{4}  began"),
    ("g", "g", r"000000-0029  began"),
    ("End", "End", r"^ (?!2999)\d{8}-\d{6}-\w{4}  began"),
    ("Home", "Home", r"000000-0029  began"),
    ("Tab", "Tab", r"^   none$"),
    ("]", "]", r"^   none$"),
    ("Shift-Tab", "BTab", r"^   none$"),
    ("[", "[", r"000000-0029  began"),
    ("1 ... 8", "4", r"000000-0029  began"),
    ("/", "/", r"^ /$"),
)

LOOP_KEYS = (
    ("Enter", "Enter", r"^ 1 Log  ?2 Iterations"),
    ("Esc", "Escape", r"^ 1 All"),
    ("l", "l", r"^ 1 Log"),
    ("h", "h", r"^ 1 All"),
    ("Right", "Right", r"^ 1 Log"),
    ("Left", "Left", r"^ 1 All"),
    ("Enter", "Enter", r"^ 1 Log"),
    ("Backspace", "BSpace", r"^ 1 All"),
    ("Enter", "Enter", r"iteration 1, following"),
    ("<", "<", r"there is no such iteration"),
    (",", ",", r"there is no such iteration"),
    (">", ">", r"there is no such iteration"),
    (".", ".", r"there is no such iteration"),
    ("g", "g", r"I look at the tests first"),
    ("F", "F", r"following"),
    ("g", "g", r"^ ▸ Bash make test  ✗ .*\n ▸ Edit src/app.py  ✓ 5 B\n   changed src/app.py\n"),
    ("o", "o", r"^ ▾ Bash make test  ✗.*\n    2 failed, see the needle"),
    ("n", "n", r"nothing to search for"),
    ("N", "N", r"nothing to search for"),
    ("Ctrl-l", "C-l", r"I look at the tests first"),
    ("?", "?", r"─ Keys ─"),
)


def names_of(text):
    """The names of all keys in the tables of `ringfence watch --keys`."""
    rows = re.findall(r"^\| `(.*?)` \| ", text, re.M)
    return {name for row in rows for name in ([row] if row == "1 ... 8" else row.split())}


def test_each_key_of_the_table_has_a_test(t):
    loop = Loop(t)
    tables = loop.ringfence("watch", "--keys").out.split("on a loop")
    tested = {name for name, _, _ in LIST_KEYS + LOOP_KEYS} | {"q", "Q", "Ctrl-c", "Ctrl-z"}
    equal(names_of(tables[0]), tested, "the keys of the screen")
    equal(names_of(tables[1]), set("prafxtbyd"), "the keys of actions")


@needs("tmux")
def test_the_keys_of_a_list_move_in_it_and_choose_what_it_shows(t):
    loop = ended(t)
    copies(loop, 30)
    screen = Screen(loop)
    screen.wait_for(r"000000-0029  began")
    for _, key, wanted in LIST_KEYS:
        screen.press(key)
        screen.wait_for(wanted)
    screen.literal("0012")
    screen.press("Enter")
    screen.wait_for(r"/0012\n.*\n ✓ work .*\n(\n)+─")
    screen.wait_for(r"000000-0012  began")
    screen.press("Escape", "k")
    screen.wait_for(r"000000-0013  began")


@needs("tmux")
def test_the_keys_of_a_loop_open_its_log_and_move_in_it(t):
    loop = watched(t)
    screen = Screen(loop)
    screen.wait_for(r"^ ● work .* running")
    for _, key, wanted in LOOP_KEYS:
        screen.press(key)
        screen.wait_for(wanted)
    screen.press("q")
    screen.wait_gone(r"─ Keys ─")
    screen.press("/")
    screen.wait_for(r"^ /$")
    screen.literal("step 42")
    screen.press("Enter")
    screen.wait_for(r"step 42$")
    screen.press("N")
    screen.wait_for(r"not found")
    finish(loop)


@needs("tmux")
@cases("q", "Q", "C-c")
def test_quitting_stops_no_loop_and_says_so(t, key):
    loop = watched(t)
    screen = Screen(loop)
    screen.wait_for(r"^ ● work .* running")
    screen.press(key)
    screen.wait_for(r"^1 loop goes on: ringfence watch shows it again$")
    equal(screen.modes(), ["0", "0", "1"], "the terminal is as before")
    equal(loop.status()["status"], "running", "the status of the loop")
    finish(loop)


# ---- what is shown ----

TABS = ("log", "iterations", "checks", "findings", "changes", "denials", "cost", "prompt")


def settle(screen, tab):
    """Waits until the tab has what it shows."""
    screen.wait_for({"findings": "no sign", "changes": r"files? changed"}.get(tab, r"^ 1 Log"))


@needs("tmux")
@cases((80, 24), (200, 60))
def test_the_screens_of_a_loop_that_has_ended_are_as_they_should_be(t, cols, rows):
    loop = ended(t)
    screen = Screen(loop, cols=cols, rows=rows)
    screen.wait_for(r"^ ✓ work")
    golden(f"list-{cols}x{rows}", screen)
    screen.press("Enter")
    for number, tab in enumerate(TABS, 1):
        screen.wait_for(r"^ 1 Log")
        screen.press(str(number))
        settle(screen, tab)
        if tab == "prompt":
            screen.wait_for(r"The next prompt")
            continue
        screen.wait_for({"log": "iteration 1", "iterations": "DECISION", "checks": "test -f done", "denials": "Denied in",
                         "cost": "Machine"}.get(tab, "."))
        golden(f"{tab}-{cols}x{rows}", screen)
    screen.press("1", "?")
    screen.wait_for("Keys")
    golden(f"help-{cols}x{rows}", screen)


@needs("tmux")
def test_a_diff_is_opened_and_closed(t):
    screen = Screen(ended(t), "attach")
    screen.wait_for(r"^ 1 Log")
    screen.press("5")
    screen.wait_for(r"new\.txt")
    screen.press("Down", "Enter")
    screen.wait_for(r"^\+hello$")
    screen.press("Escape")
    screen.wait_for(r"files changed")


@needs("tmux")
def test_a_comparison_takes_the_place_of_one_that_is_under_way(t):
    """Going through the tabs quickly ends with what the last one shows."""
    screen = Screen(ended(t), "attach")
    screen.wait_for(r"^ 1 Log")
    screen.literal("45")
    screen.wait_for(r"files changed")
    screen.literal("j\r4")
    screen.wait_for(r"no sign that")
    screen.press("5")
    screen.wait_for(r"^\+hello$")


@needs("tmux")
def test_a_hostile_transcript_cannot_move_the_cursor_or_hide_text(t):
    hostile = "event text '\"text\": \"before\\u001b[2J\\u001b[1;1Hafter \\u202edlrow\\u0007\\u0301 \\u65e5\\u672c end\"'\n"
    loop = watched(t, {"1": hostile + WAITS + "edit done yes"})
    screen = Screen(loop, "attach")
    shown = screen.wait_for(r"before\\x1b\[2J\\x1b\[1;1Hafter \\xe2\\x80\\xaedlrow\\x07")
    contains(shown, "日本 end", "the rest of the line")
    expect(re.search(r"\A ● work", shown), "the head is still there", shown)
    finish(loop)


@needs("tmux")
def test_a_log_is_followed_while_it_grows(t):
    loop = watched(t, {"1": WAITS + "event text '\"text\": \"a new line\"'; edit done yes"})
    screen = Screen(loop, "attach")
    screen.wait_for(r"at work")
    loop.write("go")
    screen.wait_for(r"a new line")
    screen.wait_for(r"^ ✓ work  completed")


@needs("tmux")
def test_a_loop_whose_processes_are_killed_needs_a_person(t):
    loop = watched(t)
    screen = Screen(loop)
    screen.wait_for(r"all is well")
    (keeper,) = keepers()
    os.kill(keeper, signal.SIGSTOP)  # neither starts the other one again
    until("a stop", lambda: is_stopped(keeper))
    kill(loop.supervisor())
    kill(keeper)
    screen.wait_for(r"1 needs you")
    screen.wait_for(r"^ ! work +interrupted")
    loop.write("go")


@needs("tmux")
def test_a_loop_that_is_removed_while_it_is_open_says_so(t):
    loop = ended(t)
    screen = Screen(loop)
    screen.wait_for(r"^ ✓ work")
    screen.press("Enter")
    screen.wait_for(r"^ 1 Log")
    equal(loop.ringfence("clean", "--yes", loop.ident).code, 0, "exit status of clean")
    screen.wait_for(r"this loop was removed")
    screen.press("Escape")
    screen.wait_for(r"no loops yet")


# ---- the terminal ----

@needs("tmux")
def test_the_screen_follows_the_size_of_the_terminal(t):
    screen = Screen(ended(t))
    screen.wait_for(r"^ ✓ work")
    screen.resize(60, 15)
    screen.wait_for(r"\A ringfence.*\n(.*\n){13}.*q quit\Z")
    screen.resize(50, 10)
    screen.wait_for(r"50x10, at least 60x15")
    screen.resize(120, 40)
    screen.wait_for(r"\A ringfence.*\n(.*\n){38}.*q quit\Z")


@needs("tmux")
@cases(signal.SIGKILL, signal.SIGSYS, signal.SIGABRT)
def test_the_terminal_is_restored_when_the_screen_dies(t, number):
    loop = watched(t)
    screen = Screen(loop)
    screen.wait_for(r"^ ● work")
    os.kill(screen.watch()[1], number)
    screen.wait_for(r"the screen died")
    screen.wait_for(r"^\$\Z")
    equal(screen.modes(), ["0", "0", "1"], "the terminal is as before")
    screen.type("echo", "typed")
    screen.wait_for(r"^\$ echo typed\ntyped\n\$\Z")
    finish(loop)


@needs("tmux")
@cases("parent", "child")
def test_the_terminal_is_restored_when_the_screen_is_ended(t, which):
    screen = Screen(ended(t))
    screen.wait_for(r"^ ✓ work")
    os.kill(screen.watch()[which == "child"], signal.SIGTERM)
    screen.wait_for(r"^no loop is running\n\$\Z")
    equal(screen.modes(), ["0", "0", "1"], "the terminal is as before")


def test_a_terminal_that_goes_away_without_a_signal_ends_the_screen(t):
    """It is not the controlling one: only poll() tells that it is gone."""
    outside, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    process = t.start([t.ringfence, "watch"], t.env(TERM="xterm-256color"), stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL)
    os.close(terminal)
    drawn = b""
    while b"quit" not in drawn:
        drawn += os.read(outside, 65536)
    os.close(outside)
    process.wait(PATIENCE_S)


@needs("tmux")
def test_the_screen_is_suspended_and_continues(t):
    screen = Screen(ended(t))
    screen.wait_for(r"^ ✓ work")
    screen.press("C-z")
    screen.wait_for(r"Stopped")
    equal(screen.modes(), ["0", "0", "1"], "the terminal is as before")
    screen.type("fg")
    screen.wait_for(r"^ ✓ work")
    screen.press("Enter")
    screen.wait_for(r"^ 1 Log")


def new_mouse(button, col, row):
    return f"\033[<{button};{col};{row}M" + (f"\033[<{button};{col};{row}m" if button == 0 else "")


def old_mouse(button, col, row):
    return "".join(f"\033[M{chr(32 + code)}{chr(32 + col)}{chr(32 + row)}" for code in ((0, 3) if button == 0 else (button,)))


@needs("tmux")
@cases("xterm-256color", "screen-256color")
def test_the_mouse_selects_opens_and_scrolls(t, kind):
    mouse = new_mouse if kind.startswith("xterm") else old_mouse  # what the terminal is asked for
    left, up, down = 0, 64, 65
    loop = ended(t)
    copies(loop, 30)
    screen = Screen(loop, TERM=kind)
    screen.wait_for(r"000000-0029  began")
    screen.literal(mouse(left, 5, 6))
    screen.wait_for(r"000000-0027  began")
    screen.literal(mouse(down, 5, 6))
    screen.wait_for(r"000000-0026  began")
    screen.literal(mouse(up, 5, 6))
    screen.literal(mouse(left, 5, 8))
    screen.wait_for(r"000000-0025  began")
    screen.literal(mouse(left, 5, 8))
    screen.wait_for(r"^ 1 Log")
    screen.literal(mouse(left, 10, 4))
    screen.wait_for(r"DECISION")
    screen.press("Escape")
    screen.wait_for(r"^ 1 All")
    screen.literal(mouse(left, 14, 2))
    screen.wait_for(r"^   none$")


@needs("tmux")
@cases("vt100", "screen", "xterm-256color")
def test_terminals_of_any_kind_show_the_same_text(t, kind):
    screen = Screen(ended(t), TERM=kind, NO_COLOR="1" if kind == "screen" else "")
    screen.wait_for(r"^ ✓ work +completed")
    screen.press("Enter")
    screen.wait_for(r"^ 1 Log")
    screen.press("q")
    screen.wait_for(r"^no loop is running$")


@needs("tmux")
def test_a_terminal_without_utf_8_shows_ascii(t):
    screen = Screen(ended(t), LC_ALL="C")
    shown = screen.wait_for(r"^ \+ work +completed")
    lacks(shown, "─", "the screen")
    contains(shown, "----", "the rule")


@cases("watch", "attach")
def test_the_screen_needs_a_terminal(t, command):
    result = ended(t).ringfence(command)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the screen needs a terminal", "the message")


@needs("tmux")
@cases(("dumb", 80, 24, "cannot show a screen"), ("nonsense", 80, 24, "'nonsense' is unknown"),
       ("screen", 59, 24, "the screen needs 60"), ("screen", 80, 14, "and 15"))
def test_a_terminal_that_cannot_be_used_is_refused(t, kind, cols, rows, message):
    loop = Loop(t)
    screen = Screen(loop, TERM=kind, cols=cols, rows=rows)
    shown = screen.wait_for(r"ringfence: (.*\n)+\$\Z")
    contains(" ".join(shown.split()), message, "the message")
    equal(screen.modes(), ["0", "0", "1"], "the terminal is as before")


# ---- actions ----

@needs("tmux")
def test_a_loop_is_paused_and_continued_each_with_one_yes(t):
    loop = watched(t, {"1": WAITS, "2": "edit done yes"})
    screen = Screen(loop)
    screen.wait_for(r"^ ● work .* running")
    screen.press("p")
    screen.wait_for(r"Pause loop .* after its current iteration\?")
    screen.press("n")
    screen.wait_gone(r"─ Pause ─")
    lacks([kind for kind, _ in loop.events()], "asked", "the events")
    screen.press("p")
    screen.wait_for(r"after its current iteration\?")
    screen.press("y")
    screen.wait_for(r"will pause after its current iteration")
    loop.write("go")
    loop.ended("paused")
    screen.wait_for(r"work +paused")
    screen.press("r")
    screen.wait_for(r"Continue loop .* where it stopped\?")
    screen.press("y")
    screen.wait_for(r"work +completed")


@needs("tmux")
def test_an_agent_is_told_something_that_was_typed_and_pasted(t):
    loop = watched(t)
    screen = Screen(loop, "attach")
    screen.wait_for(r"at work")
    screen.press("t")
    screen.wait_for(r"─ Tell ─")
    screen.literal("use größe\u65e5")
    screen.press("C-o")
    screen.literal("\033[200~pasted\rlines: q y\033[201~")
    screen.wait_for(r"lines: q y")
    screen.press("Enter")
    screen.wait_for(r"gets the message with its next prompt")
    told = [data for kind, data in loop.events() if kind == "told"]
    equal(len(told), 1, "messages")
    contains(told[0], "größe\u65e5\\npasted\\nlines: q y", "the message")
    finish(loop)


@needs("tmux")
def test_a_loop_is_aborted_after_a_yes(t):
    loop = watched(t)
    screen = Screen(loop)
    screen.wait_for(r"^ ● work")
    screen.press("x")
    screen.wait_for(r"Abort loop ")
    screen.press("y")
    screen.wait_for(r"work +aborted")
    loop.ended("aborted")


@needs("tmux")
def test_files_are_rolled_back_to_a_checkpoint_that_is_chosen(t):
    loop = ended(t)
    screen = Screen(loop, "attach")
    screen.wait_for(r"^ 1 Log")
    screen.press("b")
    screen.wait_for(r" 0  .* start")
    screen.press("g", "Enter")
    screen.wait_for(r"y yes")
    screen.press("y")
    screen.wait_for(r"rolled back")
    expect(not os.path.exists(loop.path("new.txt")), "the agent's file is gone")


@needs("tmux")
def test_a_draft_is_applied_and_the_loop_removed(t):
    loop = Loop(t, scripts={"1": "edit new.txt hello; edit done yes"})
    loop.detach("--name", "work")
    loop.ended("completed")
    screen = Screen(loop, "attach")
    screen.wait_for(r"^ 1 Log")
    screen.press("y")
    screen.wait_for(r"y yes")
    screen.press("y")
    screen.wait_for(r"applied")
    with open(loop.path("new.txt"), encoding="utf-8") as file:
        equal(file.read(), "hello\n", "the file in the project")
    screen.press("d")
    screen.wait_for(r"y yes")
    screen.press("y")
    screen.wait_for(r"this loop was removed")
    with contextlib.suppress(FileNotFoundError):
        lacks("".join(os.listdir(os.path.join(t.state, "loops"))), loop.ident, "the loops")


@needs("tmux")
def test_a_group_of_files_is_left_out_of_an_apply(t):
    loop = Loop(t, scripts={"1": "edit new.txt hello; mkdir -p tests; edit tests/test_new.py x; edit done yes"})
    loop.detach("--name", "work")
    loop.ended("completed")
    screen = Screen(loop, "attach")
    screen.wait_for(r"^ 1 Log")
    screen.press("y")
    screen.wait_for(r"1 \[x\] tests ")
    screen.press("1")
    screen.wait_for(r"1 \[ \] tests ")
    screen.press("y")
    screen.wait_for(r"applied")
    expect(os.path.exists(loop.path("new.txt")), "the other files are in the project")
    expect(not os.path.exists(loop.path("tests/test_new.py")), "the test is not")


@needs("tmux")
def test_a_reason_that_is_longer_than_its_line_is_whole_at_the_end_of_the_log(t):
    loop = Loop(t, scripts={"1": "say '<blocked>" + "please open the port and " * 6 + "restart the server</blocked>'"})
    loop.detach("--name", "work")
    loop.ended("paused")
    screen = Screen(loop, "attach", "work")
    screen.wait_for(r"^ ! please open the port.*\n(.*\n)*   .*restart the server$")


@needs("tmux")
def test_an_agent_that_is_blocked_is_answered(t):
    loop = Loop(t, scripts={"1": "case $prompt in *'port 80'*) edit done yes ;; *) say '<blocked>which port?</blocked>' ;; esac"},
                workspace="in-place")
    loop.detach("--name", "work")
    loop.ended("paused")
    screen = Screen(loop)
    screen.wait_for(r"1 needs you")
    screen.wait_for(r"which port\?")
    screen.press("a")
    screen.wait_for(r"─ Answer ─")
    screen.literal("port 80")
    screen.press("Enter")
    screen.wait_for(r"work +completed")


@needs("tmux")
def test_an_action_that_makes_no_sense_is_not_begun(t):
    screen = Screen(ended(t))
    screen.wait_for(r"^ ✓ work")
    screen.press("p")
    screen.wait_for(r"Pause: not for a loop that is completed")


@needs("tmux")
def test_a_denial_shows_the_rule_that_would_allow_it_and_changes_nothing(t):
    outside = os.path.join(t.home, "outside")
    os.mkdir(outside)
    screen = Screen(ended(t, {"1": f"touch {outside}/file; edit done yes"}), "attach")
    screen.wait_for(r"^ 1 Log")
    screen.press("6")
    screen.wait_for(r"outside/file")
    screen.press("Enter")
    shown = screen.wait_for(r"─ Allow ─")
    contains(shown, f'write: ["{outside}', "the rule")
    contains(shown, "ringfence suggest ", "how to add it")
    expect(not os.path.exists(os.path.join(t.home, ".config/ringfence/config.yml")), "the configuration stays as it is")


@needs("tmux")
def test_a_work_list_is_opened_and_then_the_loop_of_a_task(t):
    batch = Batch(t, "- [ ] first !(echo 1 >one)!\n- [ ] second !(echo 2 >two)!\n")
    batch.run("--jobs", "1")
    screen = Screen(batch.loop)
    screen.wait_for(r"^ • .*2/2")
    screen.press("Enter")
    shown = screen.wait_for(r"^ TASK ")
    contains(shown, "first", "the tasks")
    contains(shown, "landed", "the tasks")
    screen.press("Enter")
    screen.wait_for(r"^ 1 Log")
    screen.press("Escape")
    screen.wait_for(r"^ TASK ")
    screen.press("Escape")
    screen.wait_for(r"^ 1 All")
