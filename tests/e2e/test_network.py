"""net: list: what is named is reached, through the gateway, and nothing else."""

import os

from harness import cases, contains, equal, expect, lacks, needs, timeout
from harness.network import INTERNAL, METADATA, OTHER, PUBLIC, PUBLIC6, Network


def http(connection):
    """A small web server: says which host and path were asked for."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return
        data += chunk
    line, *headers = data.decode().split("\r\n")
    host = next((h.split(":", 1)[1].strip() for h in headers if h.lower().startswith("host:")), "")
    body = f"{line.split()[1]} of {host}\n".encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                       % (len(body), body))


def internet(t):
    net = Network(t)
    net.names = {"allowed.com": [PUBLIC], "evil.com": [OTHER], "sub.allowed.com": [PUBLIC],
                 "inside.com": [INTERNAL], "metadata.com": [METADATA], "six.com": [PUBLIC6]}
    for host in (PUBLIC, OTHER, INTERNAL, METADATA, PUBLIC6):
        net.serve(host, 80, http)
    return net


@needs("curl")
def test_the_network_of_the_tests_works(t):
    """The control of all others: outside of the fence everything is reached."""
    internet(t)
    for host in ("allowed.com", "evil.com", "inside.com", "six.com"):
        contains(t.run(["curl", "-s", "-m5", f"http://{host}/x"]).out, f"/x of {host}", "outside")
