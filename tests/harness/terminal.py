"""A terminal with a program on it, as a person would have."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from .case import Failure
from .patience import Patience


class Terminal:
    def __init__(self, argv, env, cwd, rows=24, cols=80):
        self.master, slave = pty.openpty()
        self.slave = slave
        self.name = os.ttyname(slave)
        self.seen = b""
        self.resize(rows, cols)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            argv, env=env, cwd=cwd, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def send(self, data):
        os.write(self.master, data.encode() if isinstance(data, str) else data)

    def _pump(self, limit):
        """Reads what is available; returns False at the end."""
        left = limit.left()
        if left <= 0:
            raise Failure(f"the terminal did not show it in time; seen: {self.text()!r}")
        ended = self.process.poll() is not None
        ready, _, _ = select.select([self.master], [], [], 0 if ended else min(left, 0.2))
        if not ready:
            return not ended
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def expect(self, pattern, timeout=60):
        """Waits until the pattern has been shown; returns the match."""
        limit = Patience(timeout)
        while True:
            match = re.search(pattern, self.text())
            if match:
                return match
            if not self._pump(limit):
                raise Failure(f"the program ended before {pattern!r}; seen: {self.text()!r}")

    def text(self):
        return self.seen.decode(errors="replace")

    def wait(self, timeout=60):
        """The exit status, as a shell reports it."""
        limit = Patience(timeout)
        while self._pump(limit):
            pass
        try:
            code = self.process.wait(max(10, limit.left()))
        except subprocess.TimeoutExpired:
            raise Failure(f"did not end; seen: {self.text()!r}") from None
        return 128 - code if code < 0 else code
