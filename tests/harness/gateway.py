"""A gateway of a test's own: a client's network, the gateway's, and one in which servers are (network.py).

    fence (127.0.0.1)  ->  gateway (45.0.0.1)  ->  servers (45.0.0.2 ..., 2a00:45::2, names by a server at 45.0.0.53)

A socket stays in the network it was made in, whichever process uses it. So a thread in the fence's network makes its sockets, and
everything else happens in the test's own process. There is no way out of any of the three.
"""

import os
import queue
import socket
import struct
import subprocess
import threading

from . import kernel
from .case import Failure, Skip
from .network import Network, ip, receive


class Place(threading.Thread):
    """A network namespace with a thread that works in it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.tasks = queue.Queue()
        self.ready = queue.Queue()
        self.start()
        problem = self.ready.get()
        if problem:
            raise Skip(f"no network namespace for the test: {problem}")

    def run(self):
        try:
            kernel.unshare(kernel.NEWNET)
            ip("link set lo up")
            self.ready.put(None)
        except OSError as error:
            self.ready.put(error)
            return
        while True:
            function, answers = self.tasks.get()
            try:
                answers.put((function(), None))
            except BaseException as error:  # handed to the caller
                answers.put((None, error))

    def do(self, function):
        answers = queue.Queue()
        self.tasks.put((function, answers))
        result, error = answers.get(timeout=600)
        if error:
            raise error
        return result

    def listen(self, address, port, backlog=128):
        return self.do(lambda: socket.create_server((address, port), backlog=backlog))

    def connect(self, address, port, timeout=600, source=None):
        return self.do(lambda: socket.create_connection((address, port), timeout, source))


class Internet(Network):
    def __init__(self, t):
        super().__init__(t, root=True)
        self.fence = Place()

    def gateway(self, *rules, own=False, uid=65534, **caps):
        return Gateway(self, rules, caps, own, uid)


class Gateway:
    """The real program with a real owner, and a client's means to talk to it."""

    def __init__(self, net, rules, caps, own, uid):
        self.net = net
        if own:
            listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        else:
            listener = net.fence.listen("127.0.0.1", 0, 1024)
        self.own = own
        self.port = listener.getsockname()[1]
        t = net.t
        argv = [os.path.join(t.build, "gateway_owner"), os.path.join(t.build, "ringfence-gateway"),
                str(uid if os.getuid() == 0 and not kernel.alone() else 0), str(listener.fileno()),
                *(f"{name}={value}" for name, value in caps.items()), "--", *rules]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        pass_fds=(listener.fileno(),), text=True, bufsize=1)
        t.running.append(self.process)
        listener.close()
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        word, *rest = self.line()
        if word != "ready":
            raise Failure(f"the gateway did not start: {word} {rest}")
        self.pid, self.token, self.warnings = int(rest[0]), rest[1], rest[2]

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n").split("\t"))

    def line(self, timeout=600):
        try:
            return self.lines.get(timeout=timeout)
        except queue.Empty:
            raise Failure("the owner says nothing") from None

    def next(self, word, timeout=600):
        """The next line of this kind; others are dropped."""
        while True:
            line = self.line(timeout)
            if line[0] == word:
                return line[1:]

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def hosts(self):
        self.tell("hosts")
        found = {}
        while (line := self.line())[0] != "end":
            if line[0] == "host":
                found[line[1], int(line[2])] = {
                    "connections": int(line[3]), "bytes_in": int(line[4]), "bytes_out": int(line[5]),
                    "refusals": int(line[6]), "verdict": line[7]}
        return found

    # As a client

    def connect(self, timeout=600, source=None):
        if self.own:
            return socket.create_connection(("127.0.0.1", self.port), timeout)
        return self.net.fence.connect("127.0.0.1", self.port, timeout, source)

    def ask(self, request, end=True):
        """Sends bytes; returns everything received until the end."""
        client = self.connect()
        client.sendall(request.encode() if isinstance(request, str) else request)
        if end:
            client.shutdown(socket.SHUT_WR)
        return receive_all(client)

    def get(self, url, *lines):
        host = url.split("/")[2]
        head = "".join(f"{line}\r\n" for line in (f"Host: {host}", "Connection: close", *lines))
        return self.ask(f"GET {url} HTTP/1.1\r\n{head}\r\n", end=False)

    def tunnel(self, where, *lines):
        """CONNECT; returns (the socket, the answer's head)."""
        client = self.connect()
        extra = "".join(f"{line}\r\n" for line in lines)
        client.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{extra}\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = client.recv(1)
            if not byte:
                break
            head += byte
        return client, head.decode()

    def socks(self, host, port, kind=3, command=1):
        """SOCKS5 without a password; returns (the socket, the reply's code)."""
        client = self.connect()
        client.sendall(b"\x05\x01\x00")
        if receive(client, 2) != b"\x05\x00":
            return client, None
        name = host if isinstance(host, bytes) else host.encode()
        address = bytes([len(name)]) + name if kind == 3 else name
        client.sendall(bytes([5, command, 0, kind]) + address + struct.pack("!H", port))
        reply = receive(client, 10)
        return client, reply[1] if len(reply) > 1 else None

    def memory_kib(self):
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1])
        raise Failure("no Pss")


def receive_all(connection):
    data = b""
    with connection:
        try:
            while more := connection.recv(65536):
                data += more
        except ConnectionResetError:
            data += b"<reset>"
    return data.decode(errors="replace")


def client_hello(name, extra=b"", pieces=0):
    """A ClientHello of TLS 1.2; pieces: bytes in each record, 0: one record."""
    extensions = extra
    if name is not None:
        host = name if isinstance(name, bytes) else name.encode()
        entry = b"\0" + struct.pack("!H", len(host)) + host
        listed = struct.pack("!H", len(entry)) + entry
        extensions += struct.pack("!HH", 0, len(listed)) + listed
    body = (b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0"
            + struct.pack("!H", len(extensions)) + extensions)
    message = b"\x01" + struct.pack("!I", len(body))[1:] + body
    step = pieces or len(message)
    return b"".join(b"\x16\x03\x01" + struct.pack("!H", len(part)) + part
                    for part in (message[i:i + step] for i in range(0, len(message), step)))
