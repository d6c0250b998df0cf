"""The caller's terminal: a command's output is shown, and cannot command the terminal."""

import os
import re
import select
import termios

from harness import cases, contains, equal, expect, lacks, timeout
from harness.loop import LoopInPlace as Loop

ESC = b"\x1b"
ST = b"\x1b\\"

# The name says what the bytes would do. Each contains MARK, which must not be shown.
MARK = b"bWFyaw"
HARMFUL = {
    "the clipboard": b"\x1b]52;c;" + MARK + b"\x07",
    "the clipboard, ended by ST": b"\x1b]52;c;" + MARK + ST,
    "the clipboard, ended by a byte": b"\x1b]52;c;" + MARK + b"\x9c",
    "the clipboard, introduced by a byte": b"\x9d52;c;" + MARK + b"\x07",
    "the clipboard, introduced by a byte and ended by one": b"\x9d52;c;" + MARK + b"\x9c",
    "the clipboard, introduced in UTF-8": b"\xc2\x9d52;c;" + MARK + b"\xc2\x9c",
    "the clipboard, after a broken sequence": b"\x1b[12\x1b]52;c;" + MARK + b"\x07",
    "the clipboard, after two ESC": b"\x1b\x1b]52;c;" + MARK + b"\x07",
    "the clipboard, in another string": b"\x1b]0;a\x1b]52;c;" + MARK + b"\x07",
    "the clipboard, after an incomplete character": b"\xe2\x82\x1b]52;c;" + MARK + b"\x07",
    "the clipboard, through tmux": b"\x1bPtmux;\x1b\x1b]52;c;" + MARK + b"\x07" + ST,
    "the clipboard, through screen": b"\x1bP\x1b]52;c;" + MARK + b"\x07" + ST,
    "the clipboard, with controls between": b"\x1b\r]52\n;c;" + MARK + b"\x07",
    "the title": b"\x1b]0;" + MARK + b"\x07",
    "the icon": b"\x1b]1;" + MARK + b"\x07",
    "the title of screen": b"\x1bk" + MARK + ST,
    "the colours": b"\x1b]4;1;rgb:ff/" + MARK + b"\x07",
    "a link": b"\x1b]8;;http://" + MARK + b"\x07",
    "a notification": b"\x1b]9;" + MARK + b"\x07\x1b]777;notify;" + MARK + b"\x07",
    "a file of iTerm2": b"\x1b]1337;File=name=a;inline=1:" + MARK + b"\x07",
    "an image of kitty": b"\x1b_Gf=24;" + MARK + ST,
    "an image of sixels": b"\x1bPq#" + MARK + ST,
    "keys": b"\x1bP1;1|17/" + MARK + ST,
    "a private message": b"\x1b^" + MARK + ST + b"\x1bX" + MARK + ST,
    "a long string": b"\x1b]52;c;" + MARK * 20000 + b"\x07",
}

# Questions, and what must not be left of them.
QUESTIONS = {
    "device attributes": b"\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1bZ\x9b0c\xc2\x9b0c\x9a\xc2\x9a",
    "the status": b"\x1b[5n\x1b[?6n\x1b[?15n\x1b[?25n\x1b[?26n",
    "settings": b"\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1b[?25$p\x1b[4$p",
    "colours": b"\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]12;?\x07",
    "the title": b"\x1b[21t\x1b[20t\x1b[>2t",
    "the window": b"\x1b[14t\x1b[18t\x1b[8;1;1t\x1b[3;0;0t\x1b[22;0t\x1b[>q",
    "the keyboard": b"\x1b[?u\x1b[>1u\x1b[=5u\x1b[>4;2m\x1b[?4m",
    "checksums of the screen": b"\x1b[1;1;1;1;1;1*y\x1b[1$w\x1b[x",
    "the answerback": b"\x05",
    "printing": b"\x1b[5i\x1b[?5i\x1b[0i",
    "another protocol": b"\x1b[?2l\x1b%@\x1b F\x1b[62\"p\x1b G",
}

# A screen full of what interactive programs send.
USUAL = (b"\x1b[?1049h\x1b[22;0;0t\x1b[?1h\x1b=\x1b[?2004h\x1b[?1000;1006h\x1b[1;24r\x1b[H\x1b[2J\x1b[3J"
         b"\x1b[38;5;12mblue\x1b[48;2;1;2;3m\x1b[4:3mcurly\x1b[0m\x1b[K\x1b[2;5Hthere\x1b[10A\x1b[3B\x1b[2C\x1b[D"
         b"\x1b(0lqk\x1b(B\x1b7\x1b8\x1bM\x1bD\x1b[2L\x1b[M\x1b[3P\x1b[4X\x1b[2@\x1b[S\x1b[2T\x1b[5b\x1b[?25l"
         b"\x1b[?12;25h\x1b[2 q\x1b[s\x1b[u\x1b[!p\x1b[4h\x1b[4l\r\x1b[2K50 %\b\t\x07\x0e\x0f\xe2\x94\x80\xf0\x9f\x98\x80")


def data_file(t, name, data):
    return t.write(name, data.decode(errors="surrogateescape"))


def shown(t, name, data, opts=(), command=("cat",)):
    """Returns what the terminal gets from these bytes, between two words of its own."""
    path = data_file(t, name, b"begin|" + data + b"|end\n")
    terminal = t.tty(t.fence_argv(*command, path, opts=opts) if command else ["cat", path])
    equal(terminal.wait(), 0, "exit status", terminal.text())
    return terminal.seen


def between(seen):
    found = re.search(rb"begin\|(.*)\|end", seen, re.S)
    expect(found, "the text around it is shown", seen[-500:])
    return found.group(1)


@cases(*HARMFUL)
def test_output_cannot_change_more_than_the_screen(t, name):
    contains(shown(t, "control", HARMFUL[name], command=()), MARK, "outside of the fence")
    lacks(between(shown(t, "data", HARMFUL[name])), MARK, f"on the terminal: {name}")


@cases(*QUESTIONS)
def test_output_cannot_ask_the_terminal(t, name):
    equal(between(shown(t, "control", QUESTIONS[name], command=())), QUESTIONS[name], "outside of the fence")
    seen = between(shown(t, "data", QUESTIONS[name]))
    left = re.sub(rb"\^\[\[[?\d]*[cn]", b"", seen)  # the echo of our own answers to the command
    equal(left.replace(b"\xef\xbf\xbd", b""), b"", f"on the terminal: {name}")


def test_an_endless_string_shows_nothing_and_harms_nothing(t):
    path = data_file(t, "data", b"begin|\x1b]52;c;" + MARK * 200000)
    terminal = t.tty(t.fence_argv("cat", path))
    equal(terminal.wait(), 0, "exit status")
    equal(terminal.seen, b"begin|", "on the terminal")


def test_a_sequence_in_several_writes_is_still_one(t):
    seen = shown(t, "data", b"".join(HARMFUL.values()), command=("sh", "-c", 'dd bs=1 if="$1" 2>/dev/null', "sh"))
    lacks(between(seen), MARK, "on the terminal")


def test_interactive_programs_send_what_they_need(t):
    seen = between(shown(t, "data", USUAL))
    equal(seen, USUAL.replace(b"\x1b[22;0;0t", b""), "on the terminal")


def test_raw_terminal_keeps_everything(t):
    data = b"".join(HARMFUL.values()) + b"".join(QUESTIONS.values())
    equal(between(shown(t, "data", data, opts=("--raw-terminal",))), data.replace(b"\n", b"\r\n"), "on the terminal")


def test_without_a_terminal_every_byte_is_kept(t):
    data = b"".join(HARMFUL.values()) + bytes(range(256))
    path = data_file(t, "data", data)
    process = t.fence_start("cat", path)
    equal(process.stdout.read(), data, "through a pipe")
    equal(process.wait(600), 0, "exit status")


LEFT_ON = {
    "the mouse": (b"\x1b[?1000h\x1b[?1006h", (b"\x1b[?1000l", b"\x1b[?1006l")),
    "every move of the mouse": (b"\x1b[?1003;1015h", (b"\x1b[?1003l", b"\x1b[?1015l")),
    "the focus": (b"\x1b[?1004h", (b"\x1b[?1004l",)),
    "pasting": (b"\x1b[?2004h", (b"\x1b[?2004l",)),
    "the alternate screen": (b"\x1b[?1049h", (b"\x1b[?1049l",)),
    "colours": (b"\x1b[31m", (b"\x1b[m",)),
    "line drawing": (b"\x1b(0\x0e", (b"\x1b(B", b"\x0f")),
    "no cursor": (b"\x1b[?25l", (b"\x1b[?25h",)),
    "no wrapping": (b"\x1b[?7l", (b"\x1b[?7h",)),
    "the keypad": (b"\x1b=\x1b[?1h", (b"\x1b>", b"\x1b[?1l")),
    "a part of the screen": (b"\x1b[3;5r", (b"\x1b[r",)),
    "the cursor's form": (b"\x1b[4 q", (b"\x1b[0 q",)),
    "inserting": (b"\x1b[4h", (b"\x1b[4l",)),
}


@cases(*LEFT_ON)
def test_nothing_stays_on_after_the_run(t, name):
    on, off = LEFT_ON[name]
    path = data_file(t, "data", on + b"|end\n")
    control = t.tty(["cat", path])
    control.wait()
    equal(control.seen, on + b"|end\r\n", "outside of the fence")
    for command in (("cat", path), ("sh", "-c", f"cat {path}; kill -9 $$")):
        terminal = t.tty(t.fence_argv(*command))
        terminal.wait()
        after = terminal.seen.partition(b"|end")[2]
        for part in off:
            contains(after, part, f"after the command: {name}")


def test_what_was_turned_off_is_not_touched(t):
    off = b"\x1b[?1000h\x1b[?1000l\x1b[31mred\x1b[0m\x1b[?25l\x1b[?25h\x1b(0\x1b(B"
    seen = shown(t, "data", off)
    equal(seen, b"begin|" + off + b"|end\r\n", "on the terminal")


def test_a_stopped_command_leaves_a_usual_terminal(t):
    script = r"printf '\033[?1003h\033[?1049hready'; read line; printf 'got=%s' $line"
    terminal = t.tty(["sh", "-c", "set -m; \"$@\"; echo status=$?; fg", "sh", *t.fence_argv("sh", "-c", script)])
    terminal.expect("ready")
    terminal.send(b"\x1a")
    terminal.expect("status=")
    before, _, _ = terminal.seen.partition(b"status=")
    contains(before, b"\x1b[?1003l", "before the shell's prompt")
    contains(before, b"\x1b[?1049l", "before the shell's prompt")
    terminal.expect(r"\[\?1049h(?s:.*)\[\?1049h")
    terminal.send(b"one\r")
    terminal.expect("got=one")
    terminal.wait()


def test_a_command_learns_where_the_cursor_is(t):
    script = r"stty raw -echo; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; echo end"
    terminal = t.tty(t.fence_argv("sh", "-c", script))
    terminal.expect(r"\x1b\[6n")
    terminal.send(b"\x1b[7;9R")
    terminal.expect(r"033\s+\[\s+7\s+;\s+9\s+R")
    equal(terminal.wait(), 0, "exit status")


@cases((r"\033[c", r"033\s+\[\s+\?\s+6\s+c", 5), (r"\033[5n", r"033\s+\[\s+0\s+n", 4))
def test_usual_questions_are_answered_without_the_terminal(t, question, answer, size):
    script = f"stty raw -echo; printf '{question}'; dd bs=1 count={size} 2>/dev/null | od -An -c; echo end"
    terminal = t.tty(t.fence_argv("sh", "-c", script))
    terminal.expect(answer)
    equal(terminal.wait(), 0, "exit status")
    lacks(terminal.seen, question.encode().replace(rb"\033", ESC), "the terminal")


def typed_to_the_shell(terminal):
    """Returns what the next reader of the terminal would get."""
    settings = termios.tcgetattr(terminal.slave)
    settings[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal.slave, termios.TCSANOW, settings)
    ready, _, _ = select.select([terminal.slave], [], [], 0)
    return os.read(terminal.slave, 4096) if ready else b""


def test_an_answer_after_the_command_reaches_nobody(t):
    for argv, wanted in ((["printf", r"\033[6n"], b"\x1b[7;9R"), (t.fence_argv("printf", r"\033[6n"), b"")):
        terminal = t.tty(argv)
        terminal.expect(r"\x1b\[6n")
        terminal.send(b"\x1b[7;9R")
        equal(terminal.wait(), 0, "exit status")
        equal(typed_to_the_shell(terminal), wanted, f"what a shell reads after {argv[0]}")


def test_without_a_reader_the_position_is_not_asked_for(t):
    terminal = t.tty(["sh", "-c", '"$@" </dev/null', "sh", *t.fence_argv("printf", r"\033[6nend")])
    equal(terminal.wait(), 0, "exit status")
    equal(terminal.seen, b"end", "on the terminal")


def test_only_the_user_can_ask_for_a_raw_terminal(t):
    t.write("ringfence.yml", "raw-terminal: true\n")
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "raw-terminal", "what is said")
    contains(result.err, "your own config.yml", "what is said")
    os.unlink(os.path.join(t.project, "ringfence.yml"))
    t.write(os.path.join(t.home, ".config/ringfence/config.yml"), "raw-terminal: true\n")
    contains(shown(t, "data", HARMFUL["the title"]), HARMFUL["the title"], "with the user's own file")


@timeout(240)
def test_what_an_agent_says_does_not_reach_the_terminal_as_it_is(t):
    """Its text, the output of a check, names of files and commits: in run, and in everything that shows a loop."""
    evil = r"\033]52;c;bWFyaw\007\033[21t\302\2350;bWFyaw\302\234"
    script = (f"printf '{evil}\\n'; event message '\"text\": \"\\u001b]52;c;bWFyaw\\u0007\"'; printf '{evil}\\n' >&2;"
              f" mkdir .vscode; echo x > \"$(printf '.vscode/{evil}')\" ; echo x > \"$(printf '{evil}')\";"
              f" cat \"$(printf '/etc/{evil}')\"; echo x > \"$(printf '/etc/{evil}')\"")
    for options in ((), ("--agent-format", "events")):
        loop = Loop(t, name=f"project{len(options)}", scripts={"1": script, "2": script + "; edit done yes"})
        check = f"printf '{evil}\\n'; printf '{evil}\\n' >&2; test -f done"
        for words in (loop.run_words("--trace-reads", *options, check=check), ("status",), ("history",), ("logs",), ("logs", "--raw"),
                      ("logs", "--checks"), ("diff",), ("diff", "--stat"), ("checkpoints",), ("show", "1", "."), ("suggest",)):
            terminal = t.tty([t.ringfence, *words], cwd=loop.project)
            terminal.wait()
            expect(terminal.seen, f"{words[0]} shows something")
            for part in (b"\x1b]", b"\xc2\x9d", b"\x9d", b"\x1b[21t", b"\x07"):
                lacks(terminal.seen, part, f"the terminal of {words[0]}")


def test_names_in_notices_do_not_reach_the_terminal_as_they_are(t):
    evil = "\x1b]52;c;bWFyaw\x07"
    t.write(f"{evil}/ringfence.yml", f"read: \"/nowhere\"\nenv: [\"{'A'}\"]\n")
    for opts in ((), ("--hide", evil), ("--write", f"/{evil}"), ("--project", os.path.join(t.project, evil))):
        terminal = t.tty([t.ringfence, "exec", *opts, "--", "sh", "-c", 'mkdir .vscode; echo x > ".vscode/$1"; echo x > "/etc/$1"', "sh", evil])
        terminal.wait()
        contains(terminal.seen, b"]52;c;bWFyaw", f"the terminal with {opts}")
        lacks(terminal.seen, b"\x1b]", f"the terminal with {opts}")
