"""--listen: a connection made inside is forwarded to a unix socket outside."""

import hashlib
import os
import socket
import threading

from harness import cases, contains, equal, expect, refused_before_start, timeout
from harness.world import GREETING

CLIENT = """
import socket, sys
s = socket.create_connection(("{host}", {port}), timeout=60)
{body}
"""


def client(body, host="127.0.0.1", port=8080):
    return ("python3", "-c", CLIENT.format(host=host, port=port, body=body))


def echo(connection):
    while True:
        data = connection.recv(65536)
        if not data:
            break
        connection.sendall(data)


def served(t, handle=None):
    path = os.path.join(t.outside, "s")
    t.serve(path, handle=handle)
    return path


@cases(("127.0.0.1:8080", "127.0.0.1"), ("127.0.0.2:8080", "127.0.0.2"), ("[::1]:8080", "::1"))
def test_a_client_inside_meets_the_server_outside(t, where, host):
    path = served(t)
    out = t.works(*client("print(s.recv(100))", host), opts=("--listen", f"{where}={path}"))
    contains(out, repr(GREETING), "what the client got")


def test_bytes_go_both_ways(t):
    path = served(t, echo)
    out = t.works(*client("s.sendall(b'ping'); print(s.recv(100))"),
                  opts=("--listen", f"127.0.0.1:8080={path}"))
    contains(out, "b'ping'", "what came back")


def test_several_ports_lead_to_their_own_servers(t):
    one, two = os.path.join(t.outside, "1"), os.path.join(t.outside, "2")
    t.serve(one, handle=lambda c: c.sendall(b"one"))
    t.serve(two, handle=lambda c: c.sendall(b"two"))
    out = t.works(*client("print(s.recv(9)); print(socket.create_connection(('127.0.0.1', 8081)).recv(9))"),
                  opts=("--listen", f"127.0.0.1:8080={one}", "--listen", f"127.0.0.1:8081={two}"))
    equal(out, "b'one'\nb'two'\n", "what the clients got")


def test_a_low_port_is_refused(t):
    path = served(t)
    refused_before_start(t, "--listen", f"127.0.0.1:80={path}", says="use a port above 1023")
    t.works(*client("print(s.recv(100))", port=1024), opts=("--listen", f"127.0.0.1:1024={path}"))


@timeout(180)
def test_a_large_transfer_is_intact(t):
    digest = hashlib.sha256()
    done = threading.Event()

    def take(connection):
        while data := connection.recv(1 << 20):
            digest.update(data)
        done.set()
        connection.sendall(b"thanks")

    path = served(t, take)
    body = ("import hashlib, os\nh = hashlib.sha256(); b = os.urandom(1 << 20)\n"
            "for i in range(50):\n    s.sendall(b); h.update(b)\n"
            "s.shutdown(socket.SHUT_WR); assert s.recv(100) == b'thanks'; print(h.hexdigest())")
    out = t.works(*client(body), opts=("--listen", f"127.0.0.1:8080={path}"), timeout=60)
    expect(done.wait(600), "the server saw the end")
    equal(out.strip(), digest.hexdigest(), "the hash")


@timeout(180)
def test_a_large_answer_is_intact(t):
    block = os.urandom(1 << 20)

    def give(connection):
        for _ in range(50):
            connection.sendall(block)

    path = served(t, give)
    body = ("import hashlib\nh = hashlib.sha256()\n"
            "while d := s.recv(1 << 20): h.update(d)\nprint(h.hexdigest())")
    out = t.works(*client(body), opts=("--listen", f"127.0.0.1:8080={path}"), timeout=60)
    equal(out.strip(), hashlib.sha256(block * 50).hexdigest(), "the hash")


def test_a_half_close_from_inside_arrives_outside(t):
    def answer_after_the_end(connection):
        text = b""
        while data := connection.recv(100):
            text += data
        connection.sendall(b"all: " + text)

    path = served(t, answer_after_the_end)
    out = t.works(*client("s.sendall(b'abc'); s.shutdown(socket.SHUT_WR); print(s.recv(100))"),
                  opts=("--listen", f"127.0.0.1:8080={path}"))
    contains(out, "b'all: abc'", "the answer after the half close")


def test_a_half_close_from_outside_arrives_inside(t):
    got = []
    done = threading.Event()

    def close_half(connection):
        connection.sendall(b"bye")
        connection.shutdown(socket.SHUT_WR)
        while data := connection.recv(100):
            got.append(data)
        done.set()

    path = served(t, close_half)
    t.works(*client("assert s.recv(3) == b'bye'; assert s.recv(1) == b''; s.sendall(b'still here')"),
            opts=("--listen", f"127.0.0.1:8080={path}"))
    expect(done.wait(600), "the server saw the end")
    equal(b"".join(got), b"still here", "what the server got")


@timeout(180)
def test_many_connections_at_once_work(t):
    path = served(t, echo)
    body = ("import concurrent.futures as f\n"
            "def one(i):\n"
            "    c = socket.create_connection(('127.0.0.1', 8080), timeout=60); m = str(i).encode() * 100\n"
            "    c.sendall(m); c.shutdown(socket.SHUT_WR); r = b''\n"
            "    while d := c.recv(1000): r += d\n"
            "    return r == m\n"
            "with f.ThreadPoolExecutor(50) as p: print(sum(p.map(one, range(300))))")
    out = t.works(*client(body), opts=("--listen", f"127.0.0.1:8080={path}"), timeout=60)
    equal(out.strip(), "300", "connections that got their answer")


def test_many_connections_one_after_another_leave_no_descriptors(t):
    path = served(t)
    body = ("for i in range(2000):\n"
            "    c = socket.create_connection(('127.0.0.1', 8080), timeout=60)\n"
            "    assert c.recv(100); c.close()\nprint('all')")
    out = t.works(*client(body), opts=("--listen", f"127.0.0.1:8080={path}"))
    contains(out, "all", "the client")


@cases("127.0.0.1:8080", "[::1]:8080")
def test_an_absent_server_ends_the_connection(t, where):
    path = os.path.join(t.outside, "absent")
    host = "::1" if "[" in where else "127.0.0.1"
    body = "try:\n    print(s.recv(100))\nexcept ConnectionError as e:\n    print('reset')"
    result = t.fence(*client(body, host), opts=("--listen", f"{where}={path}"))
    expect("b''" in result.out or "reset" in result.out or "refused" in result.err.lower(),
           "closed or reset, not hanging", result)


def test_a_server_that_comes_later_is_met(t):
    path = os.path.join(t.outside, "s")
    process = t.fence_start("python3", "-c", "import socket, sys\nprint('ready', flush=True)\n"
                            "sys.stdin.readline()\n"
                            "print(socket.create_connection(('127.0.0.1', 8080)).recv(100))",
                            opts=("--listen", f"127.0.0.1:8080={path}"), stdin=-1)
    equal(process.stdout.readline(), b"ready\n", "the command")
    t.serve(path)
    result = t.finish(process, b"\n")
    contains(result.out, repr(GREETING), "what the client got")


def test_without_a_socket_the_place_of_one_is_printed(t):
    process = t.fence_start("python3", "-c", "import socket, sys\nsys.stdin.readline()\n"
                            "print(socket.create_connection(('127.0.0.1', 8080)).recv(100))",
                            opts=("--listen", "127.0.0.1:8080"), stdin=-1)
    line = process.stderr.readline().decode()
    contains(line, ".sock", "the notice")
    path = next(word.strip(".,;:'\"") for word in line.split() if ".sock" in word)
    contains(path, t.state, "the place")
    t.serve(path)
    result = t.finish(process, b"\n")
    contains(result.out, repr(GREETING), "what the client got")


def test_the_listening_port_is_not_open_on_the_host(t):
    path, port = served(t), t.held_port()
    process = t.fence_start("sh", "-c", "echo ready; read x", stdin=-1,
                            opts=("--listen", f"127.0.0.1:{port}={path}"))
    equal(process.stdout.readline(), b"ready\n", "the command")
    try:
        socket.create_connection(("127.0.0.1", port), timeout=60).close()
        expect(False, "the host must not listen there")
    except ConnectionRefusedError:
        pass
    t.finish(process, b"\n")


def test_the_same_port_twice_is_refused(t):
    refused_before_start(t, "--listen", "127.0.0.1:8080=/tmp/a", "--listen", "127.0.0.1:8080=/tmp/b")


def test_a_socket_path_that_is_too_long_is_refused(t):
    refused_before_start(t, "--listen", f"127.0.0.1:8080=/tmp/{'x' * 200}")


def test_an_idle_connection_does_not_keep_the_run_alive(t):
    path = served(t, lambda c: c.recv(1))
    result = t.fence(*client("s.sendall(b''); print('bye')"),
                     opts=("--listen", f"127.0.0.1:8080={path}"))
    equal((result.code, result.out), (0, "bye\n"), "the end", result)


def test_listen_with_the_hosts_network_listens_there(t):
    t.own_network()
    path = served(t)
    opts = ("--net", "open", "--listen", f"127.0.0.1:48081={path}")
    contains(t.works(*client("print(s.recv(100))", port=48081), opts=opts), GREETING.decode(), "what came")
    taken = socket.create_server(("127.0.0.1", 48081))
    refused_before_start(t, *opts, says=("port 48081", "in use"))
    taken.close()


def test_a_server_that_reads_no_more_can_still_answer(t):
    seen = threading.Event()
    first = []

    def answer(connection):
        if not first:
            first.append(connection)
            connection.shutdown(socket.SHUT_RD)
            connection.sendall(b"shut")
            seen.wait(600)
            connection.sendall(b"the answer")
        else:
            seen.set()
            connection.sendall(b"x")

    path = served(t, answer)
    body = ("assert s.recv(4) == b'shut'\ns.sendall(b'nobody reads this')\n"
            "assert socket.create_connection(('127.0.0.1', 8080), timeout=60).recv(1) == b'x'\n"
            "print(s.recv(100))")
    out = t.works(*client(body), opts=("--listen", f"127.0.0.1:8080={path}"))
    contains(out, "the answer", "what the client got")
