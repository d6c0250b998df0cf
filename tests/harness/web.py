"""Small web servers for the tests' internet: plain, with TLS, an npm registry, a folder of files."""

import base64
import hashlib
import io
import json
import os
import ssl
import subprocess
import tarfile


def read_head(connection):
    """The request line and the headers, in lower case, once the body has arrived; None if the request is incomplete."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    line, *lines = head.decode(errors="replace").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (l.partition(":") for l in lines)}
    left = int(headers.get("content-length", 0)) - len(body)
    while left > 0:
        chunk = connection.recv(min(left, 65536))
        if not chunk:
            return None
        left -= len(chunk)
    return line, headers


def answer(connection, body, status="200 OK", kind="text/plain", head=""):
    body = body.encode() if isinstance(body, str) else body
    connection.sendall(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                       f"{head}Connection: close\r\n\r\n".encode() + body)


def say(connection):
    """Answers with the requested host and path."""
    head = read_head(connection)
    if head:
        answer(connection, f"{head[0].split()[1]} of {head[1].get('host')}\n")


def files(folder):
    """Serves the files below a folder, as a dumb server does."""
    def handle(connection):
        head = read_head(connection)
        if not head:
            return
        path = os.path.join(folder, head[0].split()[1].split("?")[0].lstrip("/"))
        if os.path.isfile(path):
            with open(path, "rb") as file:
                answer(connection, b"" if head[0].startswith("HEAD") else file.read())
        else:
            answer(connection, "no such file\n", "404 Not Found")
    return handle


def registry(name, text, base):
    """An npm registry with one package, whose index.js has this text."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        manifest = json.dumps({"name": name, "version": "1.0.0", "main": "index.js"})
        for file, content in (("package/package.json", manifest), ("package/index.js", text)):
            entry = tarfile.TarInfo(file)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content.encode()))
    data = packed.getvalue()
    digest = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    document = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
        "name": name, "version": "1.0.0", "main": "index.js",
        "dist": {"tarball": f"{base}/{name}.tgz", "integrity": digest}}}}

    def handle(connection):
        head = read_head(connection)
        if not head:
            return
        path = head[0].split()[1]
        if path.endswith(f"/{name}.tgz"):
            answer(connection, data, kind="application/octet-stream")
        elif path.endswith(f"/{name}"):
            answer(connection, json.dumps(document), kind="application/json")
        else:
            answer(connection, "{}", "404 Not Found", "application/json")
    return handle


def certificate(folder, *names):
    """A key and a certificate for these names, in one file; returns its path."""
    path = os.path.join(folder, "server.pem")
    alternatives = ",".join(f"DNS:{name}" for name in names)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-days", "2", "-subj", f"/CN={names[0]}", "-addext",
                    f"subjectAltName={alternatives}", "-keyout", path, "-out", path + ".crt"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "a", encoding="ascii") as whole, open(path + ".crt", encoding="ascii") as crt:
        whole.write(crt.read())
    os.chmod(path + ".crt", 0o644)
    return path


def tls(pem, handle):
    """The same server behind TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    def wrapped(connection):
        with context.wrap_socket(connection, server_side=True) as secure:
            handle(secure)
    return wrapped
