"""A real browser (Debian's Chromium, driven by playwright-core) and the server of the web page.

A test says what it wants to see, and the browser waits for that. At the end of a test, no page may have complained, and
every request must have gone to the server.
"""

import json
import os
import re
import subprocess

from .case import Failure, Skip
from .expect import equal, expect
from .patience import Patience

DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../web/browser.mjs")
PACKAGES = os.environ.get("RINGFENCE_TEST_WEB", "")  # tests/web/run sets it
CHROMIUM = "/usr/bin/chromium"
PATIENCE_S = 60  # meant for hangs, not for slow machines
DESKTOP = (1180, 900)
PHONE = (320, 700)
LINK = re.compile(r"http://[^\s/]+:(\d+)/\S+")
# A browser complains of each request that fails, also where the page expects it: of an action that is refused, of a
# damaged loop, and while the server is away.
REFUSED = re.compile(r"Failed to load resource: the server responded with a status of 4(04|09|22) ")
AWAY = re.compile(r"Failed to load resource: (net::ERR_|the server responded with a status of 401 )")


class Driver:
    """The program that drives Chromium; see tests/web/browser.mjs."""

    def __init__(self, start, packages, **env):
        self.process = start(["/usr/bin/env", "node", DRIVER], env={**env, "RINGFENCE_TEST_WEB": packages},
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # A buffer of our own: the pipe has none.
        self.answers = os.fdopen(os.dup(self.process.stdout.fileno()), "rb")

    def ask(self, what, **of):
        """Returns (value, None) or (None, the reason of a failure)."""
        self.process.stdin.write(json.dumps({"do": what, **of}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.answers.readline() or b'{"error": "the browser has ended"}')
        return answer.get("value"), answer.get("error")

    def close(self):
        self.answers.close()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def wait_for_link(output):
    """Reads what `ringfence serve` prints; returns (its port, a link that signs in), or None if it ended."""
    for line in iter(output.readline, b""):
        if found := LINK.search(line.decode()):
            return int(found.group(1)), found.group(0)
    return None


class Server:
    """`ringfence serve`, of the test's own state folder."""

    def __init__(self, t):
        self.t = t
        self.port = 0
        self.process = self.link = None
        self.start()

    def start(self):
        """Starts it; again on the same port."""
        self.process = self.t.start([self.t.ringfence, "serve", "--port", str(self.port)], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, cwd=self.t.home)
        started = wait_for_link(self.process.stdout)
        expect(started, "ringfence serve prints a link", self.process.args)
        self.port, self.link = started

    def stop(self):
        self.t.kill(self.process)

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}/"


class Browser:
    """A page that is signed in. At the end of the context it is closed, and checked unless the test has failed."""

    def __init__(self, t, size=DESKTOP, dark=False):
        if not PACKAGES:
            raise Skip("playwright-core is not installed (tests/web/run)")
        if not os.path.exists(CHROMIUM):
            raise Skip("Chromium is not installed")
        self.t = t
        self.away = False  # the server was away for a while
        self.driver = Driver(t.start, PACKAGES, **t.env())
        self.server = Server(t)
        self.ask("open", width=size[0], height=size[1], dark=dark, reduced=True)
        self.ask("goto", url=self.server.link)
        self.see("main .page")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.t.kill(self.driver.process)
            self.driver.answers.close()
        else:
            self.end()
        self.server.stop()

    def end(self):
        requests = self.ask("requests")
        faults = [fault for fault in self.ask("faults") if not REFUSED.match(fault)
                  and not (self.away and AWAY.match(fault))]
        self.ask("close")
        self.driver.close()
        equal(faults, [], "what the pages complained of")
        expect(len(requests) > 5, "the browser has made requests", requests)
        foreign = [each for each in requests if not each.startswith((self.server.origin, "data:"))]
        equal(foreign, [], "requests to other places than the server")

    def ask(self, what, **of):
        limit = Patience(PATIENCE_S)
        value, error = self.driver.ask(what, **of)
        while error and "Timeout" in error and limit.left() > 0:
            value, error = self.driver.ask(what, **of)
        if error:
            shown, _ = self.driver.ask("text", selector="body")
            raise Failure(f"{what} {of}: {error}\nthe page shows:\n{(shown or '')[:3000]}\n"
                          f"it complained of: {self.driver.ask('faults')[0]}")
        return value

    def go(self, place):
        """Goes to a place of the page, such as "#/loops/ID"."""
        self.run("place => { location.hash = place; }", place)

    def see(self, selector, text=None):
        self.ask("see", selector=selector, text=text, gone=False)

    def gone(self, selector, text=None):
        self.ask("see", selector=selector, text=text, gone=True)

    def text(self, selector):
        self.see(selector)
        return self.ask("text", selector=selector)

    def count(self, selector):
        return self.ask("count", selector=selector)

    def click(self, selector, text=None):
        self.ask("click", selector=selector, text=text)

    def fill(self, selector, text):
        self.ask("fill", selector=selector, text=text)

    def press(self, *keys):
        self.ask("press", keys=keys)

    def run(self, script, argument=None):
        return self.ask("run", script=script, argument=argument)

    def until(self, script, argument=None):
        """Waits until a function of the page returns something that is true."""
        self.ask("until", script=script, argument=argument)
