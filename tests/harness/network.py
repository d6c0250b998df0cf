"""A small internet for one test: this machine on one side, servers on the other, and no way out.

Two network namespaces with a cable between them. The test's own process moves to the machine's side; the
servers' sockets are made on the other side, by a helper that hands them over. Names are answered by a name
server of the test's.
"""

import array
import contextlib
import os
import signal
import socket
import struct
import subprocess
import threading

from . import kernel, names
from .case import Skip

MACHINE, MACHINE6 = "45.0.0.1", "2a00:45::1"
PUBLIC, OTHER, NAMES, PUBLIC6 = "45.0.0.2", "45.0.0.3", "45.0.0.53", "2a00:45::2"
INTERNAL, METADATA = "10.0.0.9", "169.254.169.254"
INWARDS = (INTERNAL, METADATA, "192.168.7.7")

_SERVERS = ["link set lo up", "link set in up", f"addr add {PUBLIC6}/64 dev in nodad",
            *(f"addr add {address}/24 dev in" for address in (PUBLIC, OTHER, NAMES, *INWARDS))]
_MACHINE = ["link set lo up", "link set out up", f"addr add {MACHINE}/24 dev out", f"addr add {MACHINE6}/64 dev out nodad",
            *(f"route add {address}/32 dev out" for address in INWARDS)]


def ip(*lines):
    """Each line is a command of ip; all of them in one process, because a test must be cheap."""
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip: {done.stdout.strip()}")


def _hand_over(channel, sock):
    channel.sendmsg([b"s"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sock.fileno()]))])


def _make_sockets(channel):
    """In the servers' namespace: makes the requested sockets until the requests end."""
    while request := channel.recv(200):
        family, kind, host, port = request.decode().split()
        try:
            with socket.socket(int(family), int(kind)) as made:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if int(family) == socket.AF_INET6:
                    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                made.bind((host, int(port)))
                if int(kind) == socket.SOCK_STREAM:
                    made.listen(256)
                _hand_over(channel, made)
        except OSError as error:
            channel.send(str(error).encode())


class Network:
    """Made once in a test; everything ends with the test's process. root: a plain user stays root of nothing."""

    def __init__(self, t, root=False):
        self.t = t
        self.names = {}
        self.asked = []
        self.etc = {name: t.write(os.path.join(t.folder, name), text, 0o644) for name, text in (
            ("resolv.conf", f"nameserver {NAMES}\noptions timeout:20 attempts:2\n"),
            ("hosts", "127.0.0.1 localhost\n::1 localhost\n"), ("nsswitch.conf", "hosts: files dns\n"))}
        try:
            self._build(root)
        except OSError as error:
            raise Skip(f"no network namespace for the test: {error}") from None
        server = self.socket(NAMES, 53, socket.SOCK_DGRAM)
        threading.Thread(target=self._answer_names, args=(server,), daemon=True).start()

    # The two sides

    def _build(self, root):
        uid, gid = os.getuid(), os.getgid()
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ready, done = os.pipe()
        if uid:
            kernel.become_root_of_nothing(kernel.NEWNS | kernel.NEWNET)
        else:
            kernel.unshare(kernel.NEWNS | kernel.NEWNET)
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        for name, path in self.etc.items():
            if os.path.exists(target := os.path.realpath(f"/etc/{name}")):
                kernel.mount(path, target, None, kernel.MS_BIND)
        self.helper = os.fork()
        if self.helper == 0:
            try:
                self.channel.close()
                kernel.die_with_parent(signal.SIGKILL)
                kernel.unshare(kernel.NEWNET)
                os.write(done, b"x")
                theirs.recv(1)
                ip(*_SERVERS)
                theirs.send(b"ready")
                _make_sockets(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self.t.cleanups.append(self.end)
        os.read(ready, 1)
        os.close(ready)
        os.close(done)
        ip(f"link add name out type veth peer name in netns {self.helper}", *_MACHINE)
        self.channel.send(b"x")
        if self.channel.recv(100) != b"ready":
            raise OSError("the servers' side could not be made")
        if uid and not root:
            kernel.become_user_again(uid, gid)

    def end(self):
        """Stops making sockets; existing ones stay."""
        if self.helper:
            self.channel.close()
            os.waitpid(self.helper, 0)
            self.helper = None

    def socket(self, host, port, kind=socket.SOCK_STREAM):
        """A bound (and listening) socket on the servers' side."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.channel.send(f"{int(family)} {int(kind)} {host} {port}".encode())
        data, ancillary, _, _ = self.channel.recvmsg(200, socket.CMSG_SPACE(4))
        if not ancillary:
            raise OSError(f"{host} port {port}: {data.decode()}")
        made = socket.socket(fileno=struct.unpack("i", ancillary[0][2][:4])[0])
        self.t.servers.append(made)
        return made

    def serve(self, port, handle, host=PUBLIC):
        """A server in threads of this process; handle(connection) for each client."""
        server = self.socket(host, port)
        self.t.answer(server, handle)
        return server

    # Names

    def _answer_names(self, server):
        while True:
            try:
                query, peer = server.recvfrom(4096)
                server.sendto(self._answer(query, 480), peer)
            except OSError:
                return

    def serve_long_names(self):
        """Answers over TCP, for answers that are too long for a datagram."""
        def answer(connection):
            size, = struct.unpack("!H", receive(connection, 2))
            text = self._answer(receive(connection, size), None)
            connection.sendall(struct.pack("!H", len(text)) + text)
        self.serve(53, answer, NAMES)

    def _answer(self, query, most):
        name, kind = names.question(query)
        self.asked.append((name, kind))
        found = self.names.get(name)
        if callable(found):
            found = found(kind)
        return names.answer(query, [found] if isinstance(found, str) else found, most)


def receive(connection, size):
    data = b""
    while len(data) < size and (more := connection.recv(size - len(data))):
        data += more
    return data
