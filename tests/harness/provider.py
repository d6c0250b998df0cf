"""A provider of models that does what a test says, over TLS with a certificate of the test's own; and a gateway before it."""

import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import threading
import time

from .patience import Patience

NANO = 10 ** 9


class Request:
    """A request, as the provider received it."""

    def __init__(self, line, headers, body, head=""):
        self.head = head  # all of its lines, including duplicates
        self.method, self.path, _ = line.split(" ", 2)
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


def make_certificate(folder, name="localhost", address="127.0.0.1"):
    """A certificate for a name and an address, its own authority: (certificate, key)."""
    certificate, key = os.path.join(folder, "provider.pem"), os.path.join(folder, "provider.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName=DNS:{name},IP:{address}"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.chmod(certificate, 0o644)
    return certificate, key


class Provider:
    """Answers each request by answer(request, connection), which may return bytes or send them itself."""

    def __init__(self, answer, certificate=None):
        self.answer = answer
        self.requests = []
        self.connections = 0
        self.open = []
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def url(self):
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            self.open.append(connection)
            reader = connection.makefile("rb")
            while self.take(connection, reader):
                pass
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def take(self, connection, reader):
        line = reader.readline().decode().strip()
        if not line:
            return False
        headers = {}
        head = line + "\n"
        for raw in iter(reader.readline, b"\r\n"):
            head += raw.decode()
            name, value = raw.decode().split(":", 1)
            headers[name.strip().lower()] = value.strip()
        request = Request(line, headers, reader.read(int(headers.get("content-length", 0))), head)
        self.requests.append(request)
        answer = self.answer(request, connection)
        if isinstance(answer, bytes):
            connection.sendall(answer)
        return answer is not None

    def close(self):
        """Ends all connections. Closing is not enough: the reader of a connection keeps it open."""
        for each in (self.socket, *self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(OSError):
                each.close()


def respond(body, status="200 OK", kind="application/json", *lines):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(data, name=None):
    head = f"event: {name}\n" if name else ""
    return (head + f"data: {json.dumps(data)}\n\n").encode()


def message(model="claude-opus-5-5", text="hello", input=10, output=5, **usage):
    """A whole answer of Anthropic's."""
    return respond({"type": "message", "model": model, "content": [{"type": "text", "text": text}],
                    "usage": {"input_tokens": input, "output_tokens": output, **usage}})


def message_events(text="hello", input=10, output=5, **usage):
    """The events of a streamed one."""
    return [event({"type": "message_start", "message": {"model": "claude-opus-5-5", "content": [], "usage": {
                "input_tokens": input, "output_tokens": 1, **usage}}}, "message_start"),
            event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
                  "content_block_delta"),
            event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}},
                  "message_delta"),
            event({"type": "message_stop"}, "message_stop")]


def stream(events):
    return STREAM + b"".join(map(chunk, events)) + b"0\r\n\r\n"


def opus(input=0, output=0, read=0, write_5m=0, write_1h=0):
    """The price of claude-opus-5-5, in nano-dollars."""
    return 4000 * input + 20000 * output + 200 * read + 5000 * write_5m + 8000 * write_1h


class Models:
    """`ringfence gateway` in front of a provider; caps: of the gateway, which then has a different owner that can set them."""

    KEY = "sk-test-0123456789abcdef0123456789"

    def __init__(self, t, answer, *options, tls=True, names=("anthropic", "openai", "gemini"), env=None, local=False,
                 caps=None):
        self.t = t
        certificate = make_certificate(t.outside) if tls else None
        self.provider = Provider(answer, certificate)
        t.cleanups.append(self.provider.close)
        if caps:
            self.start_capped(caps)
            return
        settings = []
        for name in names:
            settings += ["--upstream", f"{name}={'local:' if local else ''}{self.provider.url}"]
            if not local:
                settings += ["--model-key", f"{name}=env:TEST_KEY"]
        if tls:
            settings += ["--upstream-ca", certificate[0]]
        self.argv = [t.ringfence, "gateway", "--port", "0", *settings, *options]
        self.process = t.start(self.argv, env=t.env(TEST_KEY=self.KEY, **(env or {})),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.variables = {}
        while len(self.variables) < 6:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("the gateway did not start: " + self.process.stderr.read().decode())
            name, value = line.decode().removeprefix("export ").strip().split("=", 1)
            self.variables[name] = value
        self.token = self.variables["ANTHROPIC_API_KEY"]
        self.port = int(self.variables["ANTHROPIC_BASE_URL"].rsplit(":", 1)[1])

    def start_capped(self, caps):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        folder = os.path.join(self.t.state, "gateway")
        os.makedirs(folder, exist_ok=True)
        argv = [os.path.join(self.t.build, "gateway_owner"), os.path.join(self.t.build, "ringfence-gateway"), str(os.getuid()),
                str(listener.fileno()), *(f"{name}={value}" for name, value in caps.items()),
                f"upstream=anthropic={self.provider.url}", f"key=anthropic={self.KEY}", f"ledger={folder}"]
        self.process = self.t.start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(listener.fileno(),))
        listener.close()
        word, *rest = self.process.stdout.readline().decode().rstrip("\n").split("\t")
        if word != "ready":
            raise AssertionError(f"the gateway did not start: {word} {rest}")
        self.token = rest[1]

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path="/v1/messages", body=None, method="POST", headers=None, connection=None, token=None):
        """One request, whole: (status, headers, body)."""
        own = connection or self.connect()
        if body is None and method == "POST":
            body = {"model": "claude-opus-5-5", "max_tokens": 100, "messages": []}
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        own.request(method, path, data, {"x-api-key": token or self.token, "content-type": "application/json", **(headers or {})})
        response = own.getresponse()
        result = response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        if not connection:
            own.close()
        return result

    def raw(self, data, timeout=60):
        """Sends bytes, and returns everything received."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            connection.sendall(data)
            answer = b""
            while part := connection.recv(65536):
                answer += part
            return answer

    @property
    def pid(self):
        """Of ringfence-gateway."""
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat") as file:
                        stat = file.read()
                except OSError:
                    continue
                if "(ringfence-gatew)" in stat and int(stat.rsplit(")", 1)[1].split()[1]) == self.process.pid:
                    return int(name)
        return None

    def stop(self):
        self.process.terminate()
        return self.t.finish(self.process)

    def ledger(self, wait=0, timeout=60):
        """The lines so far; wait: until there are this many."""
        path = os.path.join(self.t.state, "gateway/ledger.jsonl")
        limit = Patience(timeout)
        while True:
            try:
                with open(path) as file:
                    lines = [json.loads(line) for line in file if line.endswith("\n")]
            except FileNotFoundError:
                lines = []
            if len(lines) >= wait or limit.left() <= 0:
                return lines
            time.sleep(0.01)

    def spent(self):
        return sum(line["cost_nusd"] for line in self.ledger())
