"""ringfence-gateway by itself: which connections it makes, which it refuses, and what the client sees."""

import base64
import hashlib
import os
import resource
import select
import signal
import socket
import struct
import threading
import time

from harness import (Failure, contains, equal, expect, kernel, lacks, root_only, timeout,
                     unsanitized, user_only)
from harness.gateway import Internet, client_hello, receive, receive_all
from harness.loop import until


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


def read_head(connection, data=b""):
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None, b""
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return head.decode(), rest


class Web:
    """An HTTP server that answers with the request head, and remembers all heads."""

    def __init__(self, answer=None):
        self.heads = []
        self.bodies = []
        self.answer = answer

    def __call__(self, connection):
        rest = b""
        while True:
            head, rest = read_head(connection, rest)
            if head is None:
                return
            self.heads.append(head)
            body = rest
            for line in head.split("\r\n"):
                if line.lower().startswith("content-length:"):
                    size = int(line.split(":")[1])
                    while len(body) < size:
                        body += connection.recv(65536)
                    body, rest = body[:size], body[size:]
            self.bodies.append(body)
            if self.answer is not None:
                connection.sendall(self.answer)
                return
            text = head.encode() + b"\n" + body
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
            rest = b"" if b"ontent-" in head.encode() else rest


def world(t):
    """A test internet with allowed.com and evil.com on one server; returns (internet, web server)."""
    net = Internet(t)
    web = Web()
    for name in ("allowed.com", "evil.com", "sub.allowed.com", "xallowed.com", "deep.sub.allowed.com",
                 "xn--bcher-kva.allowed.com"):
        net.names[name] = "45.0.0.2"
    net.serve(80, web)
    net.serve(443, echo)
    return net, web


def passes(gateway, where, name=None):
    """Returns whether a TLS exchange with this host succeeds."""
    hello = client_hello(name or where.rpartition(":")[0].rstrip(".").lower())
    try:
        client, head = gateway.tunnel(where)
        if " 200 " not in head:
            return False
        client.sendall(hello)
        return receive(client, len(hello)) == hello
    except ConnectionError:
        return False


# Hosts in the list

def test_an_empty_list_reaches_nothing(t):
    net, web = world(t)
    gateway = net.gateway()
    contains(gateway.get("http://allowed.com/"), "403", "plain HTTP")
    contains(gateway.tunnel("allowed.com:443")[1], "403", "CONNECT")
    equal(gateway.socks("allowed.com", 443)[1], 2, "SOCKS5")
    equal((web.heads, net.asked), ([], []), "no server and no name server has heard of it")
    control = net.gateway("allowed.com")
    contains(control.get("http://allowed.com/"), "200 OK", "control: with a rule it is reached")
    expect(passes(control, "allowed.com:443"), "control: and by CONNECT")


def test_a_refusal_says_what_and_which_rule_would_allow_it(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com")
    text = "evil.com:443 is not in the allow list; --allow evil.com would allow it"
    client, head = gateway.tunnel("evil.com:443")
    contains(head, "HTTP/1.1 403", "the status")
    contains(head, f"X-Ringfence-Denied: {text}\r\n", "the line")
    equal(receive_all(client), f"ringfence: {text}\n", "the body")
    told = gateway.next("refused")
    equal(told[3:7], ["evil.com", "443", "is not in the allow list", "--allow evil.com"], "the owner")
    contains(gateway.tunnel("evil.com:22")[1], "--allow evil.com:22 ", "a port that is not usual")
    allowed = net.gateway("evil.com")
    expect(passes(allowed, "evil.com:443"), "control: that rule does allow it")


def test_the_owner_learns_the_clients_port(t):
    net, _ = world(t)
    gateway = net.gateway()
    client = gateway.connect()
    client.sendall(b"CONNECT evil.com:443 HTTP/1.1\r\n\r\n")
    told = gateway.next("refused")
    equal((told[1], int(told[2])), client.getsockname(), "the client's address")


STARRED = (("sub.allowed.com", True), ("deep.sub.allowed.com", True), ("SUB.ALLOWED.COM", True),
           ("sub.allowed.com.", True), ("xn--bcher-kva.allowed.com", True), ("allowed.com", False),
           ("xallowed.com", False), ("evil.com", False), ("allowed.com.evil.com", False),
           ("sub.allowed.com..", False), (".allowed.com", False), ("b\u00fccher.allowed.com", False))


def test_a_star_means_names_below_and_nothing_else(t):
    net, _ = world(t)
    gateway = net.gateway("*.allowed.com")
    for host, right in STARRED:
        equal(passes(gateway, f"{host}:443"), right, host)


def test_a_port_that_was_not_named_is_refused(t):
    net, _ = world(t)
    net.serve(22, lambda c: c.sendall(b"SSH-2.0-x\r\n"))
    gateway = net.gateway("allowed.com")
    contains(gateway.tunnel("allowed.com:22")[1], "403", "port 22 where 443 and 80 are allowed")
    equal(gateway.socks("allowed.com", 22)[1], 2, "the same by SOCKS5")
    control = net.gateway("allowed.com:22")
    client, head = control.tunnel("allowed.com:22")
    contains(head, " 200 ", "control: named, it is reached")
    equal(receive(client, 9), b"SSH-2.0-x", "control: and the server may speak first")
    contains(control.tunnel("allowed.com:443")[1], "403", "a rule with a port is for that port alone")


def test_plain_http_to_an_unlisted_host_is_refused(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com")
    contains(gateway.get("http://evil.com/"), "403 Forbidden", "the answer")
    equal(web.heads, [], "what the server saw")
    contains(gateway.get("http://allowed.com/"), "200 OK", "control: a listed one is reached")


# Names and addresses that are not what they seem

STRANGE_NAMES = (b"allowed.com\0.evil.com", b"evil.com\0allowed.com", b"allowed.com\r\nx", b"allowed%2ecom",
                 b"allowed.com evil.com", b"", b"allowed.com/", b"[allowed.com]", b"a" * 255)


def test_socks_names_with_strange_bytes_are_refused(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com", "*.allowed.com")
    for name in STRANGE_NAMES:
        equal(gateway.socks(name, 443)[1], 2, f"the reply to {name}")
        contains(gateway.next("refused")[5], "is refused: ", "the owner")
    equal(net.asked, [], "nobody was asked for them")
    equal(gateway.socks("allowed.com", 443)[1], 0, "control: a plain name passes")


TWO_HOSTS = ("CONNECT evil.com:443.allowed.com HTTP/1.1", "CONNECT allowed.com@evil.com:443 HTTP/1.1",
             "CONNECT evil.com#allowed.com:443 HTTP/1.1", "CONNECT allowed.com:443:443 HTTP/1.1",
             "CONNECT allowed.com HTTP/1.1", "CONNECT allowed.com:0443 HTTP/1.1", "CONNECT :443 HTTP/1.1",
             "CONNECT allowed.com:65979 HTTP/1.1", "CONNECT [allowed.com]:443 HTTP/1.1",
             "GET http://allowed.com@evil.com/ HTTP/1.1", "GET http://evil.com:80.allowed.com/ HTTP/1.1",
             "GET http://evil.com\\.allowed.com/ HTTP/1.1", "GET http://allowed.com:80@evil.com/ HTTP/1.1",
             "GET http://evil.com%00.allowed.com/ HTTP/1.1", "GET https://allowed.com/ HTTP/1.1")


def test_a_host_that_two_parsers_could_read_in_two_ways_is_refused(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com", "*.allowed.com")
    for line in TWO_HOSTS:
        answer = gateway.ask(f"{line}\r\n\r\n", end=False)
        expect(answer.startswith(("HTTP/1.1 400", "HTTP/1.1 403")), f"{line} is refused", answer)
    equal((web.heads, net.asked), ([], []), "nobody has heard of them")
    expect(passes(gateway, "allowed.com:443"), "control: the plain form passes")


SPELLINGS = ("2130706433", "0x7f.1", "017700000001", "127.1", "0x7f000001", "127.0.0.1.", "0177.0.0.1",
             "[::ffff:127.0.0.1]", "[::1]", "[0:0:0:0:0:0:0:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
             "127.0.0.1", "169.254.169.254", "10.0.0.9", "0.0.0.0", "[fe80::1%25out]", "45.0.0.2", "45.0.0.1")


def test_an_address_that_no_rule_names_is_refused_in_every_spelling(t):
    net, _ = world(t)
    net.serve(443, echo, "10.0.0.9")
    gateway = net.gateway("allowed.com", "*.allowed.com", "192.168.7.7")
    for host in SPELLINGS:
        answer = gateway.tunnel(f"{host}:443")[1]
        expect(" 403 " in answer or " 400 " in answer, f"{host} is refused", answer)
    control = net.gateway("10.0.0.9")
    client, head = control.tunnel("10.0.0.9:443")
    contains(head, " 200 ", "control: named, even a private one is reached")
    client.sendall(client_hello(None))
    expect(receive(client, 5), "control: without SNI, as addresses have none")
    for odd in ("167772169", "012.0.0.9", "10.0.9", "[::ffff:10.0.0.9]"):
        lacks(control.tunnel(f"{odd}:443")[1], " 200 ", f"{odd}, the same in another spelling")


INWARDS = ("127.0.0.1", "169.254.169.254", "10.0.0.9", "192.168.7.7", "::1", "::ffff:10.0.0.9",
           "64:ff9b::a00:9", "2002:a00:9::1", "45.0.0.1", "2a00:45::1", "0.0.0.0", "fe80::1", "fd00::1")


def test_an_allowed_name_that_leads_inwards_is_refused(t):
    net, _ = world(t)
    net.serve(443, echo, "10.0.0.9")
    gateway = net.gateway("allowed.com")
    for address in INWARDS:
        net.names["allowed.com"] = [address]
        answer = gateway.tunnel("allowed.com:443")[1]
        contains(answer, " 403 ", "the answer")
        contains(answer, f"leads to {address}", "the reason")
        net.names["allowed.com"] = [address, "45.0.0.2"]
        expect(passes(gateway, "allowed.com:443"), "control: its public address is used")


def test_a_private_address_that_a_rule_names_can_be_reached_by_name(t):
    net, _ = world(t)
    net.names["inner.corp"] = "10.0.0.9"
    net.serve(443, echo, "10.0.0.9")
    contains(net.gateway("inner.corp").tunnel("inner.corp:443")[1], "--allow 10.0.0.9\r\n", "the remedy")
    expect(passes(net.gateway("inner.corp", "10.0.0.9"), "inner.corp:443"), "with both rules it passes")
    lacks(net.gateway("10.0.0.9").tunnel("inner.corp:443")[1], " 200 ", "the address alone names no name")


def test_a_name_that_changes_its_mind_is_asked_once_and_judged_each_time(t):
    net, _ = world(t)
    answers = iter(["45.0.0.2", "10.0.0.9", "45.0.0.2"])
    current = []

    def rebind(kind):
        if kind == 1:
            current[:] = [next(answers)]
            return current
        return []
    net.names["allowed.com"] = rebind
    net.serve(443, lambda c: c.sendall(b"inner"), "10.0.0.9")
    gateway = net.gateway("allowed.com")
    expect(passes(gateway, "allowed.com:443"), "a public address first")
    equal(net.asked.count(("allowed.com", 1)), 1, "questions for one connection")
    contains(gateway.tunnel("allowed.com:443")[1], " 403 ", "then a private one")
    expect(passes(gateway, "allowed.com:443"), "control: then a public one again")


def test_names_are_found_as_the_machine_finds_them(t):
    net, _ = world(t)
    gateway = net.gateway("hosted.com", "long.com", "allowed.com")
    contains(gateway.tunnel("hosted.com:443")[1], " 502 ", "a name that nobody knows")
    with open(os.path.join(t.folder, "hosts"), "a", encoding="ascii") as file:
        file.write("45.0.0.2 hosted.com\n")
    expect(passes(gateway, "hosted.com:443"), "a name of /etc/hosts, from now on")
    net.names["long.com"] = ["45.0.0.2"] * 40
    lacks(gateway.tunnel("long.com:443")[1], " 200 ", "an answer that is too long for a datagram")
    net.serve_long_names()
    expect(passes(gateway, "long.com:443"), "the same by TCP, where that is served")


def test_a_change_of_the_resolver_is_followed(t):
    net, _ = world(t)
    path = os.path.join(t.folder, "resolv.conf")
    with open(path, "w", encoding="ascii") as file:
        file.write("nameserver 45.0.0.2\n")
    gateway = net.gateway("allowed.com")
    contains(gateway.tunnel("allowed.com:443")[1], " 502 ", "a server of names that is none")
    with open(path, "w", encoding="ascii") as file:
        file.write("nameserver 45.0.0.53\n")
    expect(passes(gateway, "allowed.com:443"), "another one, from now on")


# Tunnels

PIECES = (0, 1, 16)


def test_the_hello_must_name_the_host_of_the_tunnel(t):
    net, _ = world(t)
    seen = []
    net.serve(443, lambda c: seen.append(c.recv(9999)), "45.0.0.3")
    net.names["other.com"] = "45.0.0.3"
    gateway = net.gateway("allowed.com", "other.com")
    for pieces in PIECES:
        client, head = gateway.tunnel("other.com:443")
        contains(head, " 200 ", "CONNECT")
        client.sendall(client_hello("evil.com", pieces=pieces))
        equal(receive(client, 7), b"\x15\x03\x01\x00\x02\x02\x31", "TLS's own way to say: access denied")
        contains(gateway.next("refused")[5], "hello for a different host (evil.com)", "the owner")
        client, _ = gateway.tunnel("other.com:443")
        client.sendall(client_hello(None, pieces=pieces))
        equal(receive(client, 1), b"\x15", "a hello without a name")
        contains(gateway.next("refused")[5], "without a server name", "the owner")
        equal([s for s in seen if s], [], "what the server saw")
        client, _ = gateway.tunnel("allowed.com:443")
        hello = client_hello("Allowed.COM", extra=b"\xfe\x0d\x00\x01\x00", pieces=pieces)
        client.sendall(hello)
        equal(receive(client, len(hello)), hello, "control: the right name passes, and comes whole")


NOT_TLS = (b"GET / HTTP/1.1\r\nHost: allowed.com\r\n\r\n", b"SSH-2.0-x\r\n", b"\x16\x02\x01\0\5hello",
           b"\x16\x03\x01\0\0", b"\x17\x03\x03\0\5hello", b"\x16\x03\x01\xff\xff")


def test_what_is_not_tls_does_not_pass_on_443(t):
    net, _ = world(t)
    seen = []
    net.serve(443, lambda c: seen.append(c.recv(9999)), "45.0.0.3")
    net.names["other.com"] = "45.0.0.3"
    net.serve(8443, echo)
    gateway = net.gateway("other.com", "allowed.com:8443", "allowed.com")
    for data in NOT_TLS:
        client, _ = gateway.tunnel("other.com:443")
        client.sendall(data)
        answer = receive_all(client)
        expect("<reset>" in answer or answer.startswith("\x15"), "cut off", repr(answer))
        equal([s for s in seen if s], [], "what the server saw")
        if data[0] != 0x16:
            client, _ = gateway.tunnel("allowed.com:8443")
            client.sendall(data)
            equal(receive(client, len(data)), data, "control: a port of its own has its own protocol")


def test_plain_http_through_a_tunnel_is_judged_like_any(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com", "sub.allowed.com")
    for open_it in (lambda: gateway.tunnel("allowed.com:80")[0], lambda: gateway.socks("allowed.com", 80)[0]):
        web.heads.clear()
        client = open_it()
        client.sendall(b"GET /a HTTP/1.1\r\nHost: allowed.com\r\n\r\nGET /b HTTP/1.1\r\nHost: sub.allowed.com\r\n\r\n")
        answer = receive_all(client)
        contains(answer, "GET /a HTTP/1.1", "the first")
        contains(answer, "403 Forbidden", "the second, for another host")
        equal(len(web.heads), 1, "what the server saw")


def test_a_half_close_passes_both_ways_and_so_does_a_reset(t):
    net, _ = world(t)
    seen = []
    done = threading.Event()

    def count(connection):
        total = 0
        while data := connection.recv(65536):
            total += len(data)
        connection.sendall(str(total).encode())

    def slam(connection):
        connection.recv(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def notice(connection):
        connection.sendall(b"x")
        try:
            while connection.recv(10):
                pass
        except ConnectionResetError:
            seen.append("reset")
        done.set()

    net.serve(1001, count)
    net.serve(1002, slam)
    net.serve(1003, notice)
    gateway = net.gateway("allowed.com:1001", "allowed.com:1002", "allowed.com:1003")
    client, _ = gateway.tunnel("allowed.com:1001")
    client.sendall(b"a" * 100000)
    client.shutdown(socket.SHUT_WR)
    equal(receive_all(client), "100000", "the answer after the half close")
    client, _ = gateway.tunnel("allowed.com:1002")
    client.sendall(b"x")
    equal(receive_all(client), "<reset>", "a server's reset")
    client, _ = gateway.tunnel("allowed.com:1003")
    receive(client, 1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    expect(done.wait(600) and seen == ["reset"], "a client's reset", seen)


def test_ipv6_and_a_slow_server_work(t):
    net, _ = world(t)
    net.names["six.com"] = ["2a00:45::2"]
    net.names["both.com"] = ["2a00:45::3", "45.0.0.2"]
    net.serve(443, echo, "2a00:45::2")
    go = threading.Event()

    def slow(connection):
        head, _ = read_head(connection)
        go.wait(600)
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow":
            connection.sendall(bytes([byte]))
    net.serve(8080, slow)
    gateway = net.gateway("six.com", "both.com", "[2a00:45::2]", "allowed.com:8080")
    expect(passes(gateway, "six.com:443"), "a name with an IPv6 address")
    expect(passes(gateway, "both.com:443"), "an address that does not answer, and one that does")
    client, head = gateway.tunnel("[2a00:45::2]:443")
    contains(head, " 200 ", "an address in brackets")
    threading.Timer(0.3, go.set).start()
    contains(gateway.get("http://allowed.com:8080/"), "\r\n\r\nslow", "a server that takes its time")


# Plain HTTP

def test_a_host_line_that_differs_from_the_uri_is_refused(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com", "sub.allowed.com")
    for line in ("Host: evil.com", "Host: sub.allowed.com", "Host: allowed.com:8080", "Host: allowed.com.evil.com"):
        answer = gateway.ask(f"GET http://allowed.com/ HTTP/1.1\r\n{line}\r\n\r\n", end=False)
        contains(answer, "403 Forbidden", line)
    equal(web.heads, [], "what the server saw")
    answer = gateway.ask("GET http://Allowed.com./x?y HTTP/1.1\r\nHost: allowed.com\r\nConnection: close\r\n\r\n",
                         end=False)
    contains(answer, "GET /x?y HTTP/1.1\r\nHost: allowed.com\n", "control: the same host in another spelling")


SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: evil.com\r\n\r\n"


TWO_LENGTHS = ("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
               "Content-Length: 5, 5\r\n\r\nhello", "Content-Length: +5\r\n\r\nhello", "Content-Length: 0x5\r\n\r\nhello",
               "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
               "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
               "Transfer-Encoding: identity\r\n\r\n", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
               "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
               "Transfer-Encoding:\x0bchunked\r\n\r\n", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
               " Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "X: a\r\n b\r\n\r\n", "X: a\nTransfer-Encoding: chunked\r\n\r\n",
               "X: a\rb\r\n\r\n", "X: a\0b\r\n\r\n", "X\0: a\r\n\r\n", ": a\r\n\r\n", "X\r\n\r\n",
               "Host: allowed.com\r\nHost: evil.com\r\n\r\n", "Connection: content-length\r\nContent-Length: 5\r\n\r\nhello",
               "Connection: close, host\r\n\r\n", "Expect: 200-maybe\r\n\r\n")


def test_a_request_that_could_be_read_in_two_ways_never_leaves(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com")
    for rest in TWO_LENGTHS:
        answer = gateway.ask(f"POST http://allowed.com/ HTTP/1.1\r\n{rest}{SMUGGLED}", end=False)
        contains(answer, "HTTP/1.1 400 Bad Request", repr(rest))
        equal(answer.count("HTTP/1.1 "), 1, "answers")
    equal(web.heads, [], "what the server saw")
    contains(gateway.get("http://allowed.com/"), "200 OK", "control: a plain request passes")


NO_CHUNKS = ("5;x=y\r\nhello\r\n0\r\n\r\n", "5\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
             "5\r\nhelloX0\r\n\r\n", "0\r\nTrailer: x\r\n\r\n", "fffffffffffffffff\r\nhello", " 5\r\nhello\r\n0\r\n\r\n")


def test_chunks_that_are_none_end_the_request(t):
    net, _ = world(t)
    seen = []

    def take(connection):
        while data := connection.recv(65536):
            seen.append(data)
    net.serve(8080, take)
    gateway = net.gateway("allowed.com:8080")
    for chunks in NO_CHUNKS:
        answer = gateway.ask("POST http://allowed.com:8080/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                             f"{chunks}{SMUGGLED}", end=False)
        contains(answer, "400 Bad Request", repr(chunks))
    lacks(b"".join(seen).decode(), "smuggled", "what the server saw")


def test_every_request_of_a_connection_is_judged_anew(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com", "sub.allowed.com")
    requests = [f"GET http://{host}/{i} HTTP/1.1\r\nHost: {host}\r\n\r\n" for i, host
                in enumerate(["allowed.com", "allowed.com", "sub.allowed.com", "evil.com", "allowed.com"])]
    answer = gateway.ask("".join(requests), end=False)
    equal(answer.count("200 OK"), 3, "answers before the one that is refused")
    contains(answer, "403 Forbidden", "the refusal")
    equal([h.split(" ")[1] for h in web.heads], ["/0", "/1", "/2"], "what the server saw")
    hosts = gateway.hosts()
    equal(hosts["allowed.com", 80]["connections"], 1, "connections for two requests in a row")
    equal((hosts["evil.com", 80]["verdict"], hosts["evil.com", 80]["refusals"]), ("refused", 1), "evil.com")


def test_a_server_that_closes_between_requests_is_asked_again(t):
    net, web = world(t)

    def once(connection):
        head, _ = read_head(connection)
        web.heads.append(head)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    net.serve(8080, once)
    gateway = net.gateway("allowed.com:8080")
    client = gateway.connect()
    for i in range(3):
        client.sendall(f"GET http://allowed.com:8080/{i} HTTP/1.1\r\n\r\n".encode())
        data = b""
        while not data.endswith(b"ok"):
            data += client.recv(1000) or b"ok"
        contains(data.decode(), "200 OK", f"request {i}")
    equal(len(web.heads), 3, "requests that the server saw")


def test_bodies_pass_with_a_length_in_chunks_and_after_a_100(t):
    net, web = world(t)
    seen = []

    def take(connection):
        head, rest = read_head(connection)
        if "Expect" in head:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not rest.endswith(b"end\r\n0\r\n\r\n"):
            rest += connection.recv(65536)
        seen.append(rest)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nT: x\r\n\r\n")
    net.serve(8080, take)
    gateway = net.gateway("allowed.com", "allowed.com:8080")
    body = b"x" * 300000
    answer = gateway.ask(b"POST http://allowed.com/ HTTP/1.1\r\nContent-Length: 300000\r\nConnection: close\r\n\r\n"
                         + body, end=False)
    contains(answer, "200 OK", "with a length")
    equal(web.bodies[0], body, "the body")
    client = gateway.connect()
    client.sendall(b"POST http://allowed.com:8080/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
                   b"Expect: 100-continue\r\n\r\n")
    equal(receive(client, 25), b"HTTP/1.1 100 Continue\r\n\r\n", "the server's 100")
    client.sendall(b"5\r\nhello\r\n3\r\nend\r\n0\r\n\r\n")
    client.shutdown(socket.SHUT_WR)
    contains(receive_all(client), "2;x=y\r\nok\r\n0\r\nT: x\r\n\r\n", "the answer in chunks")
    equal(seen, [b"5\r\nhello\r\n3\r\nend\r\n0\r\n\r\n"], "the body in chunks")


def test_what_is_for_the_proxy_does_not_get_to_the_server(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com")
    credential = base64.b64encode(f"ringfence:{gateway.token}".encode()).decode()
    answer = gateway.get("http://allowed.com/", f"Proxy-Authorization: Basic {credential}",
                         "Proxy-Connection: keep-alive", "Keep-Alive: 5", "TE: trailers", "X-Mine: here")
    contains(answer, "200 OK", "the answer")
    for word in ("Proxy", "Keep-Alive", "TE:", credential):
        lacks(web.heads[0], word, "the head that the server saw")
    contains(web.heads[0], "X-Mine: here", "control: other lines pass")


def test_another_protocol_is_refused(t):
    net, web = world(t)
    gateway = net.gateway("allowed.com")
    answer = gateway.get("http://allowed.com/ws", "Upgrade: websocket", "Sec-WebSocket-Key: x")
    contains(answer, "403 Forbidden", "a WebSocket")
    contains(answer, "Upgrade", "the reason")
    equal(web.heads, [], "what the server saw")
    contains(gateway.get("http://allowed.com/", "Upgrade: h2c"), "200 OK", "control: h2c is only an offer")
    lacks(web.heads[0], "Upgrade", "the head that the server saw")


NO_ANSWERS = ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
              "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
              "HTTP/1.1 101 Switching\r\n\r\n", "HTTP/2 200\r\n\r\n", "hello\r\n\r\n", "HTTP/1.1 200 OK\nX: y\n\n",
              "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "", "HTTP/1.1 200 OK\r\nX: " + "y" * 40000 + "\r\n\r\n")


def test_an_answer_that_is_none_becomes_a_502(t):
    net, _ = world(t)
    web = Web()
    net.serve(8080, web)
    gateway = net.gateway("allowed.com:8080")
    for answer in NO_ANSWERS:
        web.answer = answer.encode()
        contains(gateway.get("http://allowed.com:8080/"), "HTTP/1.1 502 Bad Gateway", repr(answer[:60]))
    web.answer = None
    contains(gateway.get("http://allowed.com:8080/"), "200 OK", "control: a plain answer passes")


def test_an_answer_that_is_cut_off_does_not_look_whole(t):
    net, _ = world(t)
    net.serve(8080, Web(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
    net.serve(8081, Web(b"HTTP/1.1 200 OK\r\n\r\nuntil the end"))
    gateway = net.gateway("allowed.com:8080", "allowed.com:8081")
    contains(gateway.get("http://allowed.com:8080/"), "<reset>", "shorter than it said")
    answer = gateway.get("http://allowed.com:8081/")
    expect(answer.endswith("\r\n\r\nuntil the end"), "control: without a length the end is the end", answer)


def test_what_cannot_be_reached_is_said(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com", "absent.com", "allowed.com:81")
    contains(gateway.get("http://absent.com/"), "502 Bad Gateway", "a name that does not exist")
    contains(gateway.get("http://absent.com/"), "absent.com:80: ", "which")
    contains(gateway.get("http://allowed.com:81/"), "Connection refused", "a port that is closed")
    equal(gateway.socks("allowed.com", 81)[1], 5, "the same by SOCKS5")
    equal(gateway.socks("absent.com", 443)[1], 4, "a name by SOCKS5")
    equal(gateway.hosts()["absent.com", 80]["verdict"], "failed", "the table")


# SOCKS5

def test_socks_connects_names_and_addresses_that_are_allowed(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com", "45.0.0.2", "[2a00:45::2]")
    net.serve(443, echo, "2a00:45::2")
    for host, kind in (("allowed.com", 3), ("45.0.0.2", 3), (socket.inet_aton("45.0.0.2"), 1),
                       (socket.inet_pton(socket.AF_INET6, "2a00:45::2"), 4)):
        client, reply = gateway.socks(host, 443, kind)
        equal(reply, 0, f"{host!r}")
        hello = client_hello("allowed.com" if host == "allowed.com" else None)
        client.sendall(hello)
        equal(receive(client, len(hello)), hello, "what comes back")
    equal(gateway.socks(socket.inet_aton("45.0.0.3"), 443, 1)[1], 2, "another address")
    equal(gateway.socks(socket.inet_pton(socket.AF_INET6, "::ffff:45.0.0.2"), 443, 4)[1], 2, "the same, mapped")
    equal(gateway.socks("allowed.com", 443, command=2)[1], 7, "BIND")
    equal(gateway.socks("allowed.com", 443, command=3)[1], 7, "UDP")
    client, _ = gateway.socks("allowed.com", 443)
    client.sendall(client_hello("evil.com"))
    equal(receive(client, 1), b"\x15", "the hello for another host")


# Clients

def socks_password(gateway, user, password):
    client = gateway.connect()
    client.sendall(b"\x05\x01\x02")
    expect(receive(client, 2) == b"\x05\x02", "a password is taken")
    client.sendall(b"\x01" + bytes([len(user)]) + user.encode() + bytes([len(password)]) + password.encode())
    return receive(client, 2)[1]


def basic(user, password):
    return "Proxy-Authorization: Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_in_a_network_of_its_own_the_token_may_be_missing_but_not_wrong(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com")
    contains(gateway.get("http://allowed.com/"), "200 OK", "none")
    contains(gateway.get("http://allowed.com/", basic("ringfence", gateway.token)), "200 OK", "the right one")
    other = gateway.token[:-1] + ("0" if gateway.token[-1] != "0" else "1")
    for user, password in (("ringfence", other), ("root", gateway.token), ("ringfence", "")):
        contains(gateway.get("http://allowed.com/", basic(user, password)), "407", f"{user}:{password}")
    equal(socks_password(gateway, "ringfence", gateway.token), 0, "SOCKS5, the right one")
    equal(socks_password(gateway, "ringfence", other), 1, "SOCKS5, a wrong one")


def test_in_the_gateways_own_network_nobody_gets_in_without_the_token(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com", own=True)
    contains(gateway.get("http://allowed.com/"), "407 Proxy Authentication Required", "none")
    contains(gateway.tunnel("allowed.com:443")[1], "407", "CONNECT without one")
    client = gateway.connect()
    client.sendall(b"\x05\x01\x00")
    equal(receive(client, 2), b"\x05\xff", "SOCKS5 without one")
    equal(socks_password(gateway, "", ""), 1, "SOCKS5 with an empty one")
    contains(gateway.get("http://allowed.com/", basic("ringfence", gateway.token)), "200 OK", "control: with it")
    equal(socks_password(gateway, "ringfence", gateway.token), 0, "control: SOCKS5 with it")


def test_a_relay_inside_changes_no_verdict(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com")
    listener = net.fence.listen("127.0.0.1", 0)

    def carry(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def relay():
        while True:
            client, _ = listener.accept()
            inner = gateway.connect()
            threading.Thread(target=carry, args=(client, inner), daemon=True).start()
            threading.Thread(target=carry, args=(inner, client), daemon=True).start()
    threading.Thread(target=relay, daemon=True).start()
    text = net.fence.connect("127.0.0.1", listener.getsockname()[1])
    text.sendall(b"CONNECT evil.com:443 HTTP/1.1\r\n\r\n")
    contains(receive_all(text), "403 Forbidden", "through the relay")
    through = net.fence.connect("127.0.0.1", listener.getsockname()[1])
    through.sendall(b"GET http://allowed.com/ HTTP/1.1\r\nConnection: close\r\n\r\n")
    contains(receive_all(through), "200 OK", "control: what is allowed passes through it, too")


# The owner

def test_a_refusal_is_answered_when_the_owner_has_seen_it(t):
    net, _ = world(t)
    gateway = net.gateway()
    quick = []
    for _ in range(10):  # the quickest counts: the machine may be busy
        start = time.monotonic()
        gateway.tunnel("evil.com:443")
        quick.append(time.monotonic() - start)
    gateway.tell("hold")
    gateway.hosts()
    start = time.monotonic()
    contains(gateway.tunnel("evil.com:443")[1], "403", "without the owner")
    held = time.monotonic() - start
    # A delay makes both longer: the shortest of ten is compared.
    expect(held > 0.4 and min(quick) < held, "held for half a second, and only without an answer", (quick, held))


def test_a_flood_of_refusals_is_counted_and_not_told(t):
    net, _ = world(t)
    gateway = net.gateway()
    began = time.monotonic()
    clients = []
    for i in range(400):
        clients.append(gateway.connect())
        clients[-1].sendall(b"CONNECT evil%d.com:443 HTTP/1.1\r\n\r\n" % (i % 300))
    for client in clients:
        contains(receive_all(client), "403", "each is answered")
    took = time.monotonic() - began
    gateway.tell("hosts")
    told, refusals, rows = 0, 0, 0
    while (line := gateway.line())[0] != "end":
        told += line[0] == "refused"
        rows += line[0] == "host"
        refusals += int(line[6]) if line[0] == "host" else 0
    expect(0 < told <= 64 * (took + 2), "told", (told, took))
    equal(refusals, 400, "refusals in the table")
    expect(rows <= 129, "rows of hosts that were refused", rows)


def test_hosts_that_are_refused_do_not_push_out_those_that_are_allowed(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com")
    for i in range(200):
        gateway.ask(f"CONNECT evil{i}.com:443 HTTP/1.1\r\n\r\n", end=False)
    expect(passes(gateway, "allowed.com:443"), "an allowed one")
    hosts = gateway.hosts()
    equal(hosts["allowed.com", 443]["connections"], 1, "its row")
    equal(hosts["others", 0]["refusals"], 72, "those that found no room")


def test_a_gateway_that_is_killed_in_a_download_is_started_again(t):
    net, _ = world(t)
    stop = threading.Event()

    def pour(connection):
        while not stop.is_set():
            connection.sendall(b"x" * 65536)
    net.serve(1001, pour)
    gateway = net.gateway("allowed.com:1001", "allowed.com")
    client, _ = gateway.tunnel("allowed.com:1001")
    receive(client, 1 << 20)
    until("that it is counted", lambda: gateway.hosts()["allowed.com", 1001]["bytes_in"] >= 1 << 20)
    os.kill(gateway.pid, signal.SIGKILL)
    try:
        while client.recv(1 << 20):
            pass
    except ConnectionError:
        pass
    contains(gateway.next("died")[1], "being restarted", "what the owner is told")
    fresh = int(gateway.next("started")[0])
    expect(fresh != gateway.pid, "another process")
    expect(passes(gateway, "allowed.com:443"), "the same socket works")
    hosts = gateway.hosts()
    expect(hosts["allowed.com", 1001]["bytes_in"] >= 1 << 20, "the table has what went before", hosts)
    stop.set()


def timer_of(pid):
    """The kernel's file about the only timer of a process, which is not armed."""
    (fd,) = (fd for fd in os.listdir(f"/proc/{pid}/fd") if os.readlink(f"/proc/{pid}/fd/{fd}") == "anon_inode:[timerfd]")
    return f"/proc/{pid}/fdinfo/{fd}"


def runs(timer):
    """Returns whether the timer runs; one that was set to expire at once does not."""
    with open(timer, encoding="ascii") as file:
        return "it_value: (0, 0)" not in file.read()


def test_a_gateway_that_dies_again_and_again_is_given_up(t):
    """It is started three times at once, then once a second, ten times in all."""
    net = Internet(t)
    gateway = net.gateway()
    timer = timer_of(gateway.process.pid)
    pid, deaths, starts, waited = gateway.pid, [], [], []
    for _ in range(10):
        deaths.append(time.monotonic())
        os.kill(pid, signal.SIGKILL)
        equal(gateway.next("died")[0], "0", "not given up yet")
        waited.append(runs(timer))
        pid = int(gateway.next("started")[0])
        starts.append(time.monotonic())
    equal(waited[:3], [False] * 3, "whether the first ones wait")
    # Since the death before the third start: a delay makes this longer, never shorter (except by a fraction of a millisecond).
    since = [start - deaths[2] for start in starts[3:]]
    expect(all(took > i - 0.01 for i, took in enumerate(since, 1)), "the others are a second after the one before", since)
    os.kill(pid, signal.SIGKILL)
    given_up, why = gateway.next("died")
    equal(given_up, "1", "given up", why)
    contains(why, "after 10 restarts: there is no network from now on", "the reason")


def test_the_gateway_ends_with_its_owner(t):
    net = Internet(t)
    gateway = net.gateway()
    watch = os.pidfd_open(gateway.pid)
    os.kill(gateway.process.pid, signal.SIGKILL)
    gateway.process.wait()
    expect(select.select([watch], [], [], 60)[0], "it has ended")
    net.end()
    t.all_gone()


def test_the_program_by_itself_does_nothing(t):
    result = t.run([os.path.join(t.build, "ringfence-gateway")])
    equal(result.code, 1, "its exit status")


# Caps

def test_a_head_that_takes_too_long_or_is_too_long_is_named(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com", header_ms=1500, header_bytes=2000)
    slow = [gateway.connect() for _ in range(20)]
    for client in slow:
        client.sendall(b"GET http://allowed.com/ HTTP/1.1\r\nX: ")
    silent = gateway.connect()
    late, head = gateway.tunnel("allowed.com:443")
    contains(head, " 200 ", "a tunnel")
    for client in slow:
        contains(receive_all(client), "the head of the request was not complete within 1500 milliseconds", "the limit names itself")
    equal(receive_all(silent), "", "who says nothing at all")
    equal(receive_all(late), "", "a tunnel without a hello")
    contains(gateway.ask(b"GET http://allowed.com/ HTTP/1.1\r\nX: " + b"y" * 3000, end=False), "is longer than 2000 bytes", "too long")
    contains(gateway.get("http://allowed.com/"), "200 OK", "control: a plain request passes")


def test_connections_at_once_are_capped_and_named(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com", "evil.com", connections=8, host_connections=6)
    tunnels = [gateway.tunnel("allowed.com:443") for _ in range(7)]
    equal([" 200 " in head for _, head in tunnels], [True] * 6 + [False], "to one host")
    contains(tunnels[6][1], "at once to one host", "the limit names itself")
    tunnels += [gateway.tunnel("evil.com:443") for _ in range(4)]
    answers = [head for _, head in tunnels[7:] if " 200 " not in head]
    expect(answers and all("(raise it with --net-connections)" in head for head in answers), "in all", answers)
    equal(gateway.hosts()["allowed.com", 443]["verdict"], "capped", "the table")
    for client, _ in tunnels:
        client.close()
    until("control: when they are gone, there is room", lambda: passes(gateway, "allowed.com:443"))


@root_only
@timeout(180)
def test_thousands_of_tunnels_are_capped(t):
    net, _ = world(t)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(10000, hard - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gateway = net.gateway("allowed.com", "45.0.0.2", connections=500, host_connections=300)

    def storm():
        found = []
        for _ in range(most):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", gateway.port))
            found.append(client)
        return found
    clients = net.fence.do(storm)
    for client in clients:
        try:
            client.send(b"CONNECT 45.0.0.2:443 HTTP/1.1\r\n\r\n")
        except OSError:
            pass
    until("some are served", lambda: gateway.hosts().get(("45.0.0.2", 443), {}).get("connections", 0) >= 300)
    descriptors = len(os.listdir(f"/proc/{gateway.pid}/fd"))
    expect(descriptors <= 2 * 564 + 60, "descriptors", descriptors)
    expect(gateway.memory_kib() < 16384, "memory in KiB", gateway.memory_kib())
    for client in clients:
        client.close()
    until("control: then there is room again", lambda: passes(gateway, "allowed.com:443"))


def test_a_way_that_takes_too_long_is_given_up_and_named(t):
    net, _ = world(t)
    late = threading.Event()
    net.names["late.com"] = lambda kind: late.wait(600) and "45.0.0.2"
    gateway = net.gateway("45.0.0.99", "late.com", "allowed.com", connect_ms=1000)
    contains(gateway.tunnel("45.0.0.99:443")[1], "504", "an address at which nobody is")
    waiting, head = gateway.tunnel("late.com:443")
    contains(head, "504", "a name that nobody answers for")
    contains(receive_all(waiting), "did not respond within 1000 milliseconds", "the limit names itself")
    late.set()
    expect(passes(gateway, "allowed.com:443"), "control: an answer that comes too late does no harm")


def test_bytes_of_a_host_are_capped_and_named(t):
    net, _ = world(t)

    def pour(connection):
        while True:
            connection.sendall(b"x" * 65536)
    net.serve(1001, pour)
    gateway = net.gateway("allowed.com:1001", "evil.com", bytes_in=1 << 20)
    client, _ = gateway.tunnel("allowed.com:1001")
    got = 0
    try:
        while data := client.recv(65536):
            got += len(data)
    except ConnectionError:
        pass
    expect(got <= 1 << 20, "bytes", got)
    contains(gateway.next("refused")[5], "limit of 1048576 bytes from it (raise it with --net-in)", "the limit names itself")
    equal(gateway.hosts()["allowed.com", 1001]["verdict"], "capped", "the table")
    contains(gateway.tunnel("allowed.com:1001")[1], "403", "another connection to it")
    expect(passes(gateway, "evil.com:443"), "control: another host has its own")


def test_an_idle_tunnel_is_ended(t):
    net, _ = world(t)
    gateway = net.gateway("allowed.com", idle_ms=1500)
    client, _ = gateway.tunnel("allowed.com:443")
    hello = client_hello("allowed.com")
    client.sendall(hello)
    equal(receive(client, len(hello)), hello, "it is used")
    equal(receive_all(client), "<reset>", "then it is not")


def test_slow_readers_cost_little_memory(t):
    net, _ = world(t)
    sent = [0]

    def pour(connection):
        while True:
            sent[0] += connection.send(b"x" * 65536)
    net.serve(1001, pour)
    gateway = net.gateway("45.0.0.2:1001")

    def dawdle():
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", gateway.port))
        client.sendall(b"CONNECT 45.0.0.2:1001 HTTP/1.1\r\n\r\n")
        return client
    clients = [net.fence.do(dawdle) for _ in range(24)]

    def stuck():
        before = sent[0]
        time.sleep(0.3)
        expect(gateway.memory_kib() < 14 << 10, "memory in KiB", gateway.memory_kib())
        return sent[0] == before > 24 * 65536
    until("control: the servers have sent a lot, and can send no more", stuck)
    for client in clients[:3]:
        client.settimeout(60)
        expect(len(receive(client, 1 << 20)) == 1 << 20, "control: and it all comes when it is read")


def iter_exactly(connection, size):
    while size:
        piece = connection.recv(min(size, 100000))
        if not piece:
            return
        size -= len(piece)
        yield piece


def test_bytes_come_whole_both_ways_whoever_is_slow(t):
    net, _ = world(t)
    data = os.urandom(24 << 20)
    digest = hashlib.sha256(data).digest()

    def swap(connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
        pour = threading.Thread(target=connection.sendall, args=(data,))
        pour.start()
        got = hashlib.sha256()
        left = len(data)
        while left:
            piece = connection.recv(min(left, 100000))
            got.update(piece)
            left -= len(piece) or left
        pour.join()
        connection.sendall(got.digest())
    net.serve(1001, swap)
    gateway = net.gateway("45.0.0.2:1001")
    client, _ = gateway.tunnel("45.0.0.2:1001")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
    sender = threading.Thread(target=client.sendall, args=(data,))
    sender.start()
    got = b"".join(iter_exactly(client, len(data)))
    equal((len(got), len(os.path.commonprefix([got, data]))), (len(data), len(data)), "bytes inwards, and how many of them are as they were sent")
    equal(receive(client, 32), digest, "outwards")
    sender.join()


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_who_only_waits_costs_no_time(t):
    net, _ = world(t)
    stop = threading.Event()

    def pour(connection):
        connection.settimeout(0.2)
        while not stop.is_set():
            try:
                connection.send(b"x" * 65536)
            except TimeoutError:
                pass

    net.serve(1001, pour)
    net.serve(1002, lambda c: stop.wait(600))
    net.serve(1003, lambda c: (c.shutdown(socket.SHUT_WR), stop.wait(600)))
    gateway = net.gateway(*(f"45.0.0.2:{port}" for port in (1001, 1002, 1003)), "allowed.com")
    gateway.tell("hold")
    waiting = [gateway.tunnel(f"45.0.0.2:{port}")[0] for port in (1001, 1002, 1003, 1003)]
    waiting[1].settimeout(0.3)
    try:
        while True:
            waiting[1].send(b"y" * 65536)
    except TimeoutError:
        pass
    waiting[2].shutdown(socket.SHUT_WR)
    for request in (b"GET http://allowed.com/ HTTP/1.1\r\n\r\n", b"GET http://45.0.0.2:1002/ HTTP/1.1\r\n\r\n",
                    b"POST http://45.0.0.2:1002/ HTTP/1.1\r\nContent-Length: 9\r\n\r\n", b"G", b"\x05",
                    b"CONNECT allowed.com:443 HTTP/1.1\r\n\r\n\x16\x03"):
        waiting.append(gateway.connect())
        waiting[-1].sendall(request)
    half = gateway.connect()
    half.sendall(b"GET http://45.0.0.2:1002/ HTTP/1.1\r\n\r\n")
    half.shutdown(socket.SHUT_WR)
    expect(receive(waiting[4], 12), "an answer before the wait")

    def rests():
        before = cpu_ticks(gateway.pid)
        time.sleep(0.6)
        return cpu_ticks(gateway.pid) - before <= 6
    until("at most six hundredths of CPU time in six tenths of a second", rests)
    stop.set()


@user_only
@timeout(240)
@unsanitized("ASan's own memory is counted as well")
def test_a_gigabyte_passes_whole_and_costs_no_memory(t):
    net, _ = world(t)
    size, block = 1 << 30, os.urandom(1 << 20)
    done = []

    def pour(connection):
        for _ in range(size >> 20):
            connection.sendall(block)
        done.append(1)
    net.serve(1001, pour)
    gateway = net.gateway("allowed.com:1001")
    client, _ = gateway.tunnel("allowed.com:1001")
    got, most, view, twice = 0, 0, memoryview(bytearray(1 << 20)), block * 2
    while n := client.recv_into(view):
        at = got % len(block)
        if view[:n] != twice[at:at + n]:
            raise Failure(f"other bytes than were sent, after {got}")
        got += n
        if got % (64 << 20) < n:
            most = max(most, gateway.memory_kib())
    equal((got, done), (size, [1]), "bytes")
    expect(most < 8192, "memory in KiB", most)
    equal(gateway.hosts()["allowed.com", 1001]["bytes_in"], size, "the table")


# Its own confinement

def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def test_the_gateway_has_shut_itself_in(t):
    net = Internet(t)
    gateway = net.gateway()
    status, own = status_of(gateway.pid), status_of("self")
    equal(status["NoNewPrivs"], "1", "no_new_privs")
    equal((status["Seccomp"], int(status["Seccomp_filters"])), ("2", int(own["Seccomp_filters"]) + 1), "a filter more than we have")
    for kind in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        equal(int(status[kind], 16), 0, kind)
    with open(f"/proc/{gateway.pid}/environ" if os.getuid() == 0 else "/dev/null", "rb") as file:
        equal(file.read(), b"", "its environment")
    with open(f"/proc/{gateway.pid}/cmdline", "rb") as file:
        equal(file.read(), b"ringfence-gateway\0", "its command line")


def test_where_there_is_no_landlock_the_owner_is_told(t):
    net, _ = world(t)
    equal(net.gateway().warnings, "-", "control: with it there is nothing to tell")
    kernel.forbid_calls(444, 446)
    gateway = net.gateway("allowed.com")
    contains(gateway.warnings, "without Landlock", "the warning")
    expect(passes(gateway, "allowed.com:443"), "it works all the same")


def test_too_few_open_files_make_fewer_connections(t):
    net, _ = world(t)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
    gateway = net.gateway("allowed.com")
    contains(gateway.warnings, "accepts only 58 connections at once", "the warning")
    expect(passes(gateway, "allowed.com:443"), "it works all the same")


@root_only
def test_root_s_gateway_is_somebody_else(t):
    net = Internet(t)
    gateway = net.gateway(uid=54321)
    with open(f"/proc/{gateway.pid}/status", encoding="ascii") as file:
        text = file.read()
    contains(text, "Uid:\t54321\t54321\t54321\t54321\n", "its user")
    contains(text, "Gid:\t54321\t54321\t54321\t54321\n", "its group")
    contains(text, "Groups:\t \n", "its other groups")
