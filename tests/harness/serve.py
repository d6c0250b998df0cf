"""The server of the web page, and a client that is as careful or as careless as a test wants."""

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess

from .expect import equal, expect
from .patience import Patience

LINK = re.compile(r"http://(\S+?):(\d+)(/login\?token=\S+)")
PATIENCE_S = 60  # meant for hangs


class Server:
    """`ringfence serve` of a state folder. Its port is held, so that it can be started again on the same one."""

    def __init__(self, t, *words, host="127.0.0.1", **options):
        self.t = t
        self.words = words
        self.held = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind((host, 0))
        self.port = self.held.getsockname()[1]
        self.options = {"cwd": t.home, **options}
        self.process = self.host = self.login = None
        self.start()

    def start(self):
        self.process = self.t.start([self.t.ringfence, "serve", "--port", str(self.port), *self.words],
                                    stdout=subprocess.PIPE, **self.options)
        for line in iter(self.process.stdout.readline, b""):
            if found := LINK.search(line.decode()):
                self.host, self.port, self.login = found.group(1), int(found.group(2)), found.group(3)
                return
        expect(False, "ringfence serve prints a link", self.process.wait())

    def stop(self, how=signal.SIGTERM):
        """Returns its exit status."""
        self.process.send_signal(how)
        self.process.stdout.close()
        return self.process.wait(PATIENCE_S)

    def link(self):
        """The path of a new link."""
        result = self.t.run([self.t.ringfence, "serve", "--link"], **self.options)
        equal(result.code, 0, "exit status of serve --link", result)
        return LINK.search(result.out).group(3)

    def client(self):
        """A client that has logged in."""
        client = Client(self)
        client.log_in(self.link())
        return client

    def connect(self):
        return socket.create_connection((self.host.strip("[]"), self.port), PATIENCE_S)


class Answer:
    def __init__(self, response):
        self.code = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]["status"]

    def __str__(self):
        return f"{self.code} {dict(self.headers)}\n{self.body[:2000]!r}"


class Client:
    def __init__(self, server):
        self.server = server
        self.cookie = self.csrf = None

    def ask(self, path, method="GET", body=None, **headers):
        """Sends a request; a header that is None is not sent. Underscores in names stand for dashes."""
        connection = http.client.HTTPConnection(self.server.host.strip("[]"), self.server.port, timeout=PATIENCE_S)
        sent = {"Host": f"{self.server.host}:{self.server.port}", "Cookie": self.cookie, "X-Ringfence-Token": self.csrf}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            # A body that is refused need not be sent to its end: the answer is there.
            with contextlib.suppress(ConnectionError):
                connection.endheaders(body)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def log_in(self, link):
        answer = self.ask(link)
        equal(answer.code, 303, "the answer to a new link", answer)
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        self.csrf = answer.headers["Location"].removeprefix("/#key=")

    def get(self, path):
        answer = self.ask(path)
        equal(answer.code, 200, f"the answer to {path}", answer)
        return answer.json

    def post(self, path, value, **headers):
        headers = {"Content_Type": "application/json"} | headers
        return self.ask(path, "POST", json.dumps(value).encode(), **headers)

    def act(self, loop, name, **value):
        """Runs an action of a loop, and says yes if it asks."""
        path = f"/api/loops/{loop}/actions/{name}"
        answer = self.post(path, value)
        if answer.code == 200 and answer.json["result"] == "asks":
            answer = self.post(path, {**value, "token": answer.json["question"]["token"]})
        return answer

    def stream(self, query="", **headers):
        return Stream(self, query, headers)


class Stream:
    """Server-sent events, one by one."""

    def __init__(self, client, query="", headers=None):
        self.connection = http.client.HTTPConnection(client.server.host.strip("[]"), client.server.port, timeout=PATIENCE_S)
        sent = {"Cookie": client.cookie, "X-Ringfence-Token": client.csrf, **{name.replace("_", "-"): value for name, value in (headers or {}).items()}}
        sent = {name: value for name, value in sent.items() if value is not None}
        self.connection.request("GET", f"/api/events{query}", headers=sent)
        self.response = self.connection.getresponse()
        equal((self.response.status, self.response.headers["Content-Type"]), (200, "text/event-stream"), "the answer to a stream")
        self.last = None

    def next(self):
        """Returns (event, data) of the next event, or None at the end of the stream."""
        fields = {}
        while line := self.response.readline():
            line = line.decode().rstrip("\n")
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value
            elif line == "" and "event" in fields:
                self.last = fields.get("id", self.last)
                return fields["event"], json.loads(fields["data"])
        return None

    def until(self, wanted, condition=lambda data: True):
        """Reads on to an event for which a condition holds; returns its data, and keeps the others in `passed`."""
        self.passed = []
        limit = Patience(PATIENCE_S)
        while event := self.next():
            if event[0] == wanted and condition(event[1]):
                return event[1]
            self.passed.append(event)
            expect(limit.left() > 0, f"an event {wanted} comes", self.passed)
        expect(False, f"an event {wanted} comes before the end of the stream", self.passed)
        return None

    def close(self):
        self.connection.close()
        self.response.close()
