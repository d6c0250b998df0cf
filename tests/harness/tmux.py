"""A terminal as a person sees it: a shell in tmux, whose screen is captured after all escape sequences."""

import os
import re
import shlex
import subprocess

from .case import Failure
from .loop import until

PROMPT = "$ "


class Tmux:
    """A shell in the project. The server is a child of the test, and ends with it."""

    def __init__(self, t, cwd, cols=80, rows=24, **variables):
        self.socket = os.path.join(t.outside, "tmux")
        self.env = t.env(LC_ALL="C.UTF-8", PS1=PROMPT, HISTFILE="", **variables)
        t.start(["tmux", "-f", "/dev/null", "-S", self.socket, "-D"], env=self.env,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until("the socket of tmux", lambda: os.path.exists(self.socket))
        self._tmux("new-session", "-d", "-s", "x", "-x", str(cols), "-y", str(rows), "-c", cwd,
                   "bash", "--norc", "--noprofile")
        self.wait_for(r"\A\$\s*\Z")

    def _tmux(self, *words):
        result = subprocess.run(["tmux", "-u", "-S", self.socket, *words], env=self.env, capture_output=True,
                                encoding="utf-8", check=False)
        if result.returncode:
            raise Failure(f"tmux {words}: {result.stderr}")
        return result.stdout

    def screen(self):
        """The lines on the screen, without empty ones at its end."""
        return self._tmux("capture-pane", "-p", "-t", "x").rstrip("\n")

    def cursor(self):
        """Column and visibility of the cursor."""
        return tuple(self._tmux("display-message", "-p", "-t", "x", "#{cursor_x} #{cursor_flag}").split())

    def wait_for(self, pattern):
        """Waits until the screen shows a pattern; returns the screen."""
        try:
            until(f"{pattern!r} on the screen", lambda: re.search(pattern, self.screen(), re.M))
        except Failure as failure:
            raise Failure(f"{failure}; the screen is\n{self.screen()}") from None
        return self.screen()

    def type(self, *words):
        """Types a command and Enter."""
        self._tmux("send-keys", "-t", "x", "-l", shlex.join(words))
        self.press("Enter")

    def press(self, *keys):
        self._tmux("send-keys", "-t", "x", *keys)

    def resize(self, cols, rows=24):
        self._tmux("resize-window", "-t", "x", "-x", str(cols), "-y", str(rows))

    def children(self):
        """The processes that the shell has started."""
        shell = self._tmux("display-message", "-p", "-t", "x", "#{pane_pid}").strip()
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
