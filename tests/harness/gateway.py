"""An internet of a test's own: a gateway's network, a fence's, and one in which servers are.

    fence (127.0.0.1)  ->  gateway (45.0.0.1)  ->  servers (45.0.0.2 ..., 2a00:45::2, names by a server at 45.0.0.53)

A socket stays in the network it was made in, whoever uses it. So one thread for each network makes the sockets, and
everything else happens in the test's own process. There is no way out of any of the three.
"""

import os
import queue
import socket
import struct
import subprocess
import threading

from . import kernel, names
from .case import Failure, Skip

ADDRESSES = ("45.0.0.2", "45.0.0.3", "10.0.0.9", "169.254.169.254", "192.168.7.7")


def run_ip(*lines):
    """Each line is a command of ip; all of them in one process, because a test must be cheap."""
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Skip(f"ip: {done.stdout.strip()}")


class Place(threading.Thread):
    """A network namespace with a thread in it that does what it is asked to."""

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
            self.tid = threading.get_native_id()
            self.ready.put(None)
        except OSError as error:
            self.ready.put(error)
            return
        while True:
            function, answers = self.tasks.get()
            try:
                answers.put((function(), None))
            except BaseException as error:  # handed to whoever asked
                answers.put((None, error))

    def do(self, function):
        answers = queue.Queue()
        self.tasks.put((function, answers))
        result, error = answers.get(timeout=60)
        if error:
            raise error
        return result

    def ip(self, *lines):
        self.do(lambda: run_ip(*lines))

    def listen(self, address, port, backlog=128):
        def make():
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            server = socket.socket(family)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((address, port))
            server.listen(backlog)
            return server
        return self.do(make)

    def connect(self, address, port, timeout=60, source=None):
        return self.do(lambda: socket.create_connection((address, port), timeout, source))


class Internet:
    """Made once in a test; everything ends with the test's process."""

    def __init__(self, t):
        self.t = t
        try:
            if os.getuid() == 0:
                kernel.unshare(kernel.NEWNET | kernel.NEWNS)
            else:
                kernel.become_root_of_nothing(kernel.NEWNET | kernel.NEWNS)
            kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        except OSError as error:
            raise Skip(f"no network for the test: {error}") from None
        self.servers = Place()
        self.fence = Place()
        self.names = {}
        self.asked = []
        self.wire()
        self.write_etc()
        self.serve_names()

    def wire(self):
        there = f"/proc/{os.getpid()}/task/{self.servers.tid}/ns/net"
        self.fence.ip("link set lo up")
        run_ip("link set lo up", f"link add out type veth peer name in netns {there}",
               "addr add 45.0.0.1/24 dev out", "addr add 2a00:45::1/64 dev out nodad",
               "link set out up", "route add 10.0.0.0/24 dev out", "route add 169.254.169.0/24 dev out",
               "route add 192.168.7.0/24 dev out")
        self.servers.ip("link set lo up", "link set in up",
                        *(f"addr add {address}/24 dev in" for address in (*ADDRESSES, "45.0.0.53")),
                        "addr add 2a00:45::2/64 dev in nodad")

    def write_etc(self):
        for name, text in (("resolv.conf", "nameserver 45.0.0.53\noptions timeout:20\n"),
                           ("hosts", "127.0.0.1 localhost\n"), ("nsswitch.conf", "hosts: files dns\n")):
            path = os.path.join(self.t.folder, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, 0o644)
            target = os.path.join("/etc", name)
            if os.path.exists(target):
                kernel.mount(path, target, None, kernel.MS_BIND)

    # Names

    def serve_names(self):
        def make():
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind(("45.0.0.53", 53))
            return server
        server = self.servers.do(make)
        threading.Thread(target=self.answer_names, args=(server,), daemon=True).start()

    def answer_names(self, server):
        while True:
            packet, peer = server.recvfrom(2048)
            server.sendto(self.answer_to(packet, "udp"), peer)

    def serve_long_names(self):
        """By TCP, where answers go that are too long for a datagram."""
        def answer(connection):
            size, = struct.unpack("!H", receive(connection, 2))
            answer = self.answer_to(receive(connection, size), "tcp")
            connection.sendall(struct.pack("!H", len(answer)) + answer)
        self.serve(53, answer, "45.0.0.53")

    def answer_to(self, packet, by):
        name, kind = names.question(packet)
        self.asked.append((name, kind))
        found = self.names.get(name)
        if callable(found):
            found = found(kind)
        return names.answer(packet, [found] if isinstance(found, str) else found, 480 if by == "udp" else None)

    # Servers

    def serve(self, port, handle, address="45.0.0.2", backlog=128):
        server = self.servers.listen(address, port, backlog)

        def accept():
            while True:
                connection, _ = server.accept()
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

        def talk(connection):
            with connection:
                try:
                    handle(connection)
                except OSError:
                    pass
        threading.Thread(target=accept, daemon=True).start()
        return server

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

    def line(self, timeout=60):
        try:
            return self.lines.get(timeout=timeout)
        except queue.Empty:
            raise Failure("the owner says nothing") from None

    def next(self, word, timeout=60):
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

    def connect(self, timeout=60, source=None):
        if self.own:
            return socket.create_connection(("127.0.0.1", self.port), timeout)
        return self.net.fence.connect("127.0.0.1", self.port, timeout, source)

    def ask(self, request, end=True):
        """Sends bytes; returns all that comes back until the end."""
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


def receive(connection, size):
    data = b""
    while len(data) < size and (more := connection.recv(size - len(data))):
        data += more
    return data


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
