"""ringfence-https: what a request carries, whom it trusts, where its secrets go, and how it fails."""

import os
import re
import socket

from harness import cases, contains, equal, expect, lacks
from harness.provider import Provider, make_certificate, respond

SECRET = "Authorization: Bearer tok-123"


def call(t, url, *options, env=None):
    """Sends a request; returns (first line, the rest)."""
    result = t.run([os.path.join(t.build, "https_caller"), url, *options], env=t.env(**(env or {})))
    first, _, rest = result.out.partition("\n")
    return first, rest


def serve(t, answer, tls=True, certificate=None):
    """A server on this machine, with a certificate that nothing trusts yet; returns its path as well."""
    certificate = certificate or make_certificate(t.outside) if tls else None
    server = Provider(answer, certificate)
    t.cleanups.append(server.close)
    return server, certificate[0] if tls else None


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        return file.read()


def redirect(url, status="302 Found"):
    return respond({}, status, "application/json", f"Location: {url}")


def test_a_request_and_its_response_arrive_whole(t):
    """Method, headers, secrets and body reach a server whose certificate is trusted in addition."""
    server, ca = serve(t, lambda request, _: respond({"got": request.body.decode()}, "201 Created", "application/json",
                                                     'ETag: "v1"', "Retry-After: 7"))
    first, rest = call(t, server.url + "/hook?q=1", "method=PUT", "header=Content-Type: application/json",
                       f"secret={SECRET}", 'body={"a": 1}', f"ca={ca}")
    equal(first, "201", "the status")
    contains(rest, 'etag: "v1"\nretry-after: 7\n\n', "headers, with their names in lower case")
    contains(rest, '{"got": "{\\"a\\": 1}"}', "the body")
    request = server.requests[0]
    equal((request.method, request.path, request.headers["authorization"], request.headers["content-type"]),
          ("PUT", "/hook?q=1", "Bearer tok-123", "application/json"), "what the server got")


def test_an_unknown_certificate_is_refused(t):
    """Without the authority nothing is sent; SSL_CERT_FILE can name it as well."""
    server, ca = serve(t, lambda *_: respond({}))
    first, rest = call(t, server.url + "/secret-path", f"secret={SECRET}")
    equal(first, "failed denied", rest)
    contains(rest, f"127.0.0.1:{server.port}: ", "the host is named")
    lacks(rest, "secret-path", "and not its path, which can be a secret")
    equal(server.requests, [], "requests")
    equal(call(t, server.url, env={"SSL_CERT_FILE": ca})[0], "200", "with SSL_CERT_FILE")


@cases("host", "port", "plain")
def test_a_redirect_takes_no_secret_to_another_origin(t, to):
    """Another host or port gets the request without its secrets, and plain HTTP gets none."""
    pair = make_certificate(t.outside)
    other, _ = serve(t, lambda *_: respond({"here": True}), tls=to != "plain", certificate=pair)
    server, ca = serve(t, lambda *_: redirect(
        other.url.replace("127.0.0.1", "localhost" if to == "host" else "127.0.0.1") + "/log"), certificate=pair)
    first, rest = call(t, server.url + "/start", f"secret={SECRET}", "header=X-Public: 1", f"ca={ca}")
    equal(server.requests[0].headers["authorization"], "Bearer tok-123", "the first server gets it")
    if to == "plain":
        equal((first, len(other.requests)), ("failed refused", 0), rest)
        return
    equal(first, "200", rest)
    equal((other.requests[0].path, other.requests[0].headers["x-public"]), ("/log", "1"), "the other got the request")
    expect("authorization" not in other.requests[0].headers, "without the secret", other.requests[0].headers)


def test_a_redirect_within_the_origin_keeps_the_secret(t):
    """A request is followed to another path of its server, and a POST is not followed at all."""
    server, ca = serve(t, lambda request, _: redirect("/new") if request.path == "/old" else respond({"ok": 1}))
    equal(call(t, server.url + "/old", f"secret={SECRET}", f"ca={ca}")[0], "200", "a GET")
    equal(server.requests[-1].headers["authorization"], "Bearer tok-123", "the secret")
    equal(call(t, server.url + "/old", "method=POST", "body=x", f"ca={ca}")[0], "302", "a POST")


def test_endless_redirects_end(t):
    """After five redirects the request fails."""
    server, ca = serve(t, lambda *_: redirect("/again"))
    first, rest = call(t, server.url, f"ca={ca}")
    equal(first, "failed protocol", rest)
    equal(len(server.requests), 6, "requests")


def test_a_long_body_fails_or_keeps_its_end(t):
    """A body above its limit is an error, unless its end is wanted."""
    server, _ = serve(t, lambda *_: respond(b"0123456789" * 1000 + b"the end", kind="text/plain"), tls=False)
    first, rest = call(t, server.url, "most_bytes=100")
    equal(first, "failed no space", rest)
    contains(rest, "the response is longer than 100 bytes", "the message")
    first, rest = call(t, server.url, "most_bytes=17", "keep_end=1")
    equal(first, "200 cut", rest)
    equal(rest.partition("\n\n")[2], "0123456789the end", "the end of the body")


def test_a_head_with_too_many_lines_fails(t):
    """Its error does not blame the body."""
    server, _ = serve(t, lambda request, _: b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * int(request.path[1:]) + b"Content-Length: 0\r\n\r\n", tls=False)
    equal(call(t, server.url + "/100")[0], "200", "with 100 lines")
    first, rest = call(t, server.url + "/200")
    equal(first, "failed no space", rest)
    contains(rest, "the head of the response is longer than 128 headers", "the message")


def test_a_silent_server_is_given_up(t):
    """A request has a time limit for all its parts."""
    server, _ = serve(t, lambda *_: b"", tls=False)
    first, rest = call(t, server.url, "timeout_ms=300")
    equal(first, "failed busy", rest)


@cases(("http://192.0.2.1/", "refused"), ("ftp://127.0.0.1/", "refused"), ("https://no-host.invalid/", "not found"),
       ("https://a b/", "invalid"), ("http://127.0.0.1.example/", "refused"))
def test_an_impossible_address_fails_by_its_kind(t, url, status):
    """Plain HTTP elsewhere, other schemes, unknown names and malformed URLs have statuses of their own."""
    first, rest = call(t, url)
    equal(first, f"failed {status}", rest)


def test_a_closed_port_is_no_connection(t):
    """A refused connection is an error of I/O, which may be tried again."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        held.shutdown(socket.SHUT_RDWR)
        first, rest = call(t, f"http://127.0.0.1:{port}/")
    equal(first, "failed I/O", rest)


def test_a_line_break_cannot_add_a_header(t):
    """A header with a line break is refused before anything is sent."""
    server, _ = serve(t, lambda *_: respond({}), tls=False)
    equal(call(t, server.url, "header=A: b")[0], "200", "a header")
    first, rest = call(t, server.url, "header=A: b\r\nC: d")
    equal((first, len(server.requests)), ("failed invalid", 1), rest)


def test_the_proxy_of_the_environment_is_used(t):
    """HTTPS_PROXY gets a CONNECT without secrets, and NO_PROXY names exceptions."""
    proxy, _ = serve(t, lambda *_: respond({}, "403 Forbidden"), tls=False)
    server, ca = serve(t, lambda *_: respond({}))
    env = {"HTTPS_PROXY": proxy.url}
    first, rest = call(t, server.url, f"ca={ca}", f"secret={SECRET}", env=env)
    equal(first, "failed I/O", rest)
    equal(proxy.requests[0].method, "CONNECT", "the proxy")
    lacks(proxy.requests[0].head, "tok-123", "the proxy sees no secret")
    equal(call(t, server.url, f"ca={ca}", env={**env, "NO_PROXY": "127.0.0.1"})[0], "200", "an exception")


def test_nothing_of_a_request_is_in_arguments_or_the_environment(t):
    """While a request waits, the process that sends it has neither arguments, nor variables, nor privileges."""
    seen = {}

    def look(request, _):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                    if file.read().strip() != "ringfence-https":
                        continue
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    arguments = file.read()
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    status = file.read()
                if t.folder in cmdline(re.search(r"PPid:\t(\d+)", status)[1]):
                    seen[arguments] = status
            except OSError:  # a process of another test, which has ended
                continue
        return respond({})

    server, _ = serve(t, look, tls=False)
    equal(call(t, f"{server.url}{t.folder}", f"secret={SECRET}")[0], "200", "the request")
    contains(seen[b"ringfence-https\0"], "NoNewPrivs:\t1", "its status")
