"""A real browser (Debian's Chromium, driven by playwright-core) and the server of the web page.

Everything that a test reads, it waits for in the page. At the end of a test, no page may have complained, and no request
may have gone anywhere but to the server.
"""

import json
import os
import re
import subprocess

from .case import Failure, Skip
from .expect import equal, expect

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = os.path.join(HERE, "../web/browser.mjs")
PACKAGES = os.environ.get("RINGFENCE_TEST_WEB", "")
CHROMIUM = "/usr/bin/chromium"
DESKTOP = (1180, 900)
PHONE = (320, 700)
# A browser reports each failed request, which is what happens while the server is away.
AWAY = re.compile(r"^Failed to load resource: net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|CONNECTION_RESET)")


class Server:
    """`ringfence serve`, of the test's own state folder."""

    def __init__(self, t):
        self.t = t
        self.port = 0
        self.process = None
        self.link = None
        self.start()

    def start(self):
        """Starts it, again on the same port; returns a link that signs in."""
        self.process = self.t.start([self.t.ringfence, "serve", "--port", str(self.port)],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.t.home)
        shown = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/\S+", shown)):
            line = self.process.stdout.readline().decode()
            if not line:
                raise Failure(f"ringfence serve ended:\n{shown}")
            shown += line
        self.port = int(found.group(1))
        self.link = found.group(0)
        return self.link

    def stop(self):
        self.t.kill(self.process)

    def new_link(self):
        result = self.t.run([self.t.ringfence, "serve", "--link"], cwd=self.t.home)
        equal(result.code, 0, "exit status of serve --link", result)
        return re.search(r"http://\S+", result.out).group(0)

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"


class Browser:
    """A page that is signed in. As a context, it is checked and closed at the end; when a test fails, it is only closed."""

    def __init__(self, t, size=DESKTOP, dark=False):
        if not PACKAGES:
            raise Skip("playwright-core is not installed (tests/web/run)")
        if not os.path.exists(CHROMIUM):
            raise Skip("Chromium is not installed")
        self.t = t
        self.away = False  # the server was away for a while
        self.process = t.start(["/usr/bin/env", "node", DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=t.env(RINGFENCE_TEST_WEB=PACKAGES))
        self.answers = os.fdopen(os.dup(self.process.stdout.fileno()), "rb")
        self.server = Server(t)
        self.window(size, dark, self.server.link)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.t.kill(self.process)
        else:
            self.end()
        self.answers.close()
        self.server.stop()

    def ask(self, what, **of):
        self.process.stdin.write(json.dumps({"do": what, **of}).encode() + b"\n")
        answer = json.loads(self.answers.readline() or b'{"error": "the browser ended"}')
        if "error" in answer:
            raise Failure(f"{what} {of}: {answer['error']}\n{self.shown()}")
        return answer["value"]

    def shown(self):
        """What is on the page, for the message of a failure."""
        self.process.stdin.write(json.dumps({"do": "text", "selector": "body"}).encode() + b"\n")
        told = json.loads(self.answers.readline() or b"{}")
        return str(told.get("value", told))[:3000]

    def window(self, size=DESKTOP, dark=False, link=None):
        """A new window, signed in by a link that works once."""
        self.ask("open", width=size[0], height=size[1], dark=dark, reduced=True)
        self.ask("goto", url=link or self.server.new_link())
        self.see("main .page")

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

    def end(self):
        """Closes it, and checks what must hold of every page."""
        requests = self.ask("requests")
        faults = [fault for fault in self.ask("faults") if not (self.away and AWAY.match(fault))]
        self.ask("close")
        self.process.wait()
        equal(faults, [], "what the pages complained of")
        expect(len(requests) > 5, "the browser has made requests", requests)
        foreign = [each for each in requests if not each.startswith((self.server.origin + "/", "data:"))]
        equal(foreign, [], "requests to other places than the server")
