"""A small client of a model, for scripts that tests run inside."""

# urllib.request takes 50 ms of CPU time to import, and socket 10 ms; most scripts make one request.
CLIENT = r"""
import _socket, json, os, sys
def post(body, path="/v1/messages"):
    '''Returns the status, and a function that reads the rest of the answer.'''
    host, port = os.environ["ANTHROPIC_BASE_URL"].rpartition("/")[2].split(":")
    data = json.dumps(body).encode()
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    connection.connect((host, int(port)))
    connection.sendall((f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\nContent-Type: application/json\r\n"
                        f"Content-Length: {len(data)}\r\nx-api-key: {os.environ['ANTHROPIC_API_KEY']}\r\n\r\n").encode() + data)
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(65536)
        if not part:
            sys.exit("no answer")
        answer += part
    head, _, begun = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), lambda: begun + b"".join(iter(lambda: connection.recv(65536), b""))
"""
