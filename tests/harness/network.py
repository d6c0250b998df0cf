"""A small internet for one test: this machine on one side, servers on the other, and no way out of it.

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
from .gateway import receive

MACHINE, NAMES = "45.0.0.2", "45.0.0.53"
MACHINE6 = "2a0e:1:2:3::2"
PUBLIC, OTHER, PUBLIC6 = "45.0.0.1", "45.0.0.7", "2a0e:1:2:3::1"
INTERNAL, METADATA, INTERNAL6 = "10.9.9.9", "169.254.169.254", "fd00:9::9"

_SERVERS = "\n".join(
    ["link set lo up", "link set away up"]
    + [f"addr add {a}/24 dev away" for a in (PUBLIC, OTHER, NAMES)]
    + [f"addr add {a}/32 dev away" for a in (INTERNAL, METADATA)]
    + [f"addr add {PUBLIC6}/64 dev away nodad", f"addr add {INTERNAL6}/128 dev away nodad"])
_MACHINE = "\n".join(
    ["link set lo up", "link set home up", f"addr add {MACHINE}/24 dev home",
     f"addr add {MACHINE6}/64 dev home nodad", f"route add default via {PUBLIC}",
     f"route add default via {PUBLIC6} dev home"])


def _ip(batch):
    done = subprocess.run(["ip", "-batch", "-"], input=batch.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise OSError(f"ip: {done.stdout.decode(errors='replace')}")



def _hand_over(channel, sock):
    channel.sendmsg([b"s"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sock.fileno()]))])


def _make_sockets(channel):
    """In the servers' namespace: makes what is asked for, until nobody asks any more."""
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
    def __init__(self, t):
        self.t = t
        self.names = {}
        self.asked = []
        self.resolver = os.path.join(t.folder, "resolv.conf")
        self.hosts = os.path.join(t.folder, "hosts")
        t.write(self.resolver, f"nameserver {NAMES}\noptions timeout:20 attempts:2\n", 0o644)
        t.write(self.hosts, "127.0.0.1 localhost\n::1 localhost\n", 0o644)
        try:
            self._build()
        except OSError as error:
            raise Skip(f"no network namespace for the test: {error}") from None
        self._answer_names()

    # The two sides

    def _build(self):
        uid, gid = os.getuid(), os.getgid()
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ready, done = os.pipe()
        if uid:
            kernel.unshare(kernel.NEWUSER)
            for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)
        kernel.unshare(kernel.NEWNS | kernel.NEWNET)
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        self._mount_files()
        helper = os.fork()
        if helper == 0:
            try:
                self.channel.close()
                kernel.die_with_parent(signal.SIGKILL)
                kernel.unshare(kernel.NEWNET)
                os.write(done, b"x")
                theirs.recv(1)
                _ip(_SERVERS)
                theirs.send(b"ready")
                _make_sockets(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self.t.cleanups.append(lambda: (self.channel.close(), os.waitpid(helper, 0)))
        os.read(ready, 1)
        os.close(ready)
        os.close(done)
        _ip(f"link add name home type veth peer name away netns {helper}\n{_MACHINE}")
        self.channel.send(b"x")
        if self.channel.recv(100) != b"ready":
            raise OSError("the servers' side could not be made")
        if uid: # as who we were, with nothing but that user's rights
            kernel.unshare(kernel.NEWUSER)
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} 0 1"), ("gid_map", f"{gid} 0 1")):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)

    def _mount_files(self):
        for source, target in ((self.resolver, "/etc/resolv.conf"), (self.hosts, "/etc/hosts")):
            kernel.mount(source, os.path.realpath(target), None, kernel.MS_BIND)

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

    def serve(self, host, port, handle):
        """A server in threads of this process; handle(connection) for each client."""
        server = self.socket(host, port)
        self.t.answer(server, handle)
        return server

    # Names

    def _answer_names(self):
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            sock = self.socket(NAMES, 53, kind)
            target = self._datagrams if kind == socket.SOCK_DGRAM else self._streams
            threading.Thread(target=target, args=(sock,), daemon=True).start()

    def _datagrams(self, sock):
        while True:
            try:
                query, peer = sock.recvfrom(4096)
                sock.sendto(self._answer(query), peer)
            except OSError:
                return

    def _streams(self, sock):
        while True:
            try:
                connection, _ = sock.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                size = receive(connection, 2)
                query = receive(connection, *struct.unpack("!H", size)) if len(size) == 2 else b""
                if query:
                    answer = self._answer(query)
                    connection.sendall(struct.pack("!H", len(answer)) + answer)

    def _answer(self, query):
        name, kind = names.question(query)
        self.asked.append(name)
        known = self.names.get(name)
        return names.answer(query, known() if callable(known) and kind == 1 else [] if callable(known) else known)
