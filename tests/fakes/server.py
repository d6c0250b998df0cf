#!/usr/bin/env python3
"""A model server that answers from a script, in whichever protocol it is asked.

  tests/fakes/server.py --script FILE [--listen 127.0.0.1:PORT | --unix PATH] [--log FILE]

The script is a JSON list of turns. A request for a message takes the first turn that is left and fits:

  {"text": "...", "tools": [{"name": "Bash", "input": {...}}], "thinking": "...", "usage": {"input": 900, ...}}
  {"status": 429, "kind": "rate_limit_error", "message": "...", "headers": {"retry-after": "60"}}
  {"raw": "<html>...", "type": "text/html"}            a body as it is, with any status
  {"reset": true}                       the connection is reset before an answer
  {"silent": true}                      no answer ever comes
  {"text": "...", "cut": true}          the connection ends in the middle of the stream
  {"text": "...", "hang": true}         nothing more comes after the beginning
  {"text": "...", "malformed": true}    a line of the stream is invalid JSON
  {"error": "overloaded_error", "message": "..."}      a 200, and the error in the stream
  {"tools": [...], "broken_tool": true} the tool's arguments are torn

Any turn may have "if": a text that the request's body must hold, or "unless": must not; "again": how many more times it is used (-1:
forever); "pace_ms": a pause before each event. Requests without tools are an agent's side requests (titles,
summaries): they get a short text and use up nothing. When the script is used up the answer is "The script has ended."
With "outage", every request for a message gets that turn, side requests too.
"""
import argparse
import contextlib
import http.server
import json
import os
import socket
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse

if __package__:
    from . import anthropic, gemini, openai_chat, openai_responses
else:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from fakes import anthropic, gemini, openai_chat, openai_responses

PROTOCOLS = {"anthropic": anthropic, "responses": openai_responses, "chat": openai_chat, "gemini": gemini}
USAGE = {"input": 1000, "output": 20, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0, "reasoning": 0}
MOST_BODY = 64 << 20


class Turn:
    """One answer."""

    def __init__(self, given):
        self.text = given.get("text", "")
        self.thinking = given.get("thinking", "")
        self.tools = given.get("tools", [])
        self.usage = {**USAGE, **given.get("usage", {})}
        self.status = given.get("status", 200)
        self.kind = given.get("kind")
        self.message = given.get("message", "a scripted error")
        self.headers = given.get("headers", {})
        self.raw = given.get("raw")  # the body, as it is
        self.type = given.get("type", "application/json")
        self.reset = given.get("reset", False)
        self.silent = given.get("silent", False)
        self.cut = given.get("cut", False)
        self.hang = given.get("hang", False)
        self.malformed = given.get("malformed", False)
        self.broken_tool = given.get("broken_tool", False)
        self.stream_error = given.get("error")
        self.pace = given.get("pace_ms", 0) / 1000
        self.again = given.get("again", 0)
        self.condition = given.get("if")
        self.exception = given.get("unless")
        self.number = 0

    @staticmethod
    def parts(text):
        """Some pieces, cut where no UTF-8 sequence is torn."""
        size = max(1, len(text) // 3)
        return [text[i:i + size] for i in range(0, len(text), size)]


class Script:
    def __init__(self, turns):
        self.turns = [turn if isinstance(turn, Turn) else Turn(turn) for turn in turns]
        self.lock = threading.Lock()
        self.given = 0

    def next(self, raw):
        with self.lock:
            self.given += 1
            for index, turn in enumerate(self.turns):
                if turn.condition and turn.condition.encode() not in raw:
                    continue
                if turn.exception and turn.exception.encode() in raw:
                    continue
                if turn.again == 0:
                    del self.turns[index]
                else:
                    turn.again -= 1
                turn.number = self.given
                return turn
        last = Turn({"text": "The script has ended."})
        last.number = self.given
        return last


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake"
    sys_version = ""

    def setup(self):
        super().setup()
        self.server.owner.open.append(self.request)

    def log_message(self, *_args):
        pass

    def address_string(self):
        return "peer"

    def note(self, **what):
        self.server.owner.note({"at": time.time(), "method": self.command, "path": self.path, **what})

    def answer(self, status, body, headers=None, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if self.headers.get("Upgrade"):
            self.note(status=426)
            self.close_connection = True
            return self.answer(426, {"error": {"message": "no upgrade"}})
        for protocol in PROTOCOLS.values():
            free = protocol.free(path)
            if free:
                self.note(status=free[0])
                return self.answer(*free)
        self.note(status=404)
        return self.answer(404, {"error": {"message": "not found"}})

    do_HEAD = do_GET

    def body(self):
        """The request's body: as long as it says, or in chunks."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            whole = b""
            while len(whole) < MOST_BODY:
                size = int(self.rfile.readline().split(b";")[0], 16)
                whole += self.rfile.read(size)
                self.rfile.readline()
                if not size:
                    break
            return whole
        return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), MOST_BODY))

    def do_POST(self):
        path = urllib.parse.urlsplit(self.path).path
        raw = self.body()
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        for name, protocol in PROTOCOLS.items():
            if protocol.matches(path) and isinstance(body, dict):
                return self.converse(name, protocol, path, body, raw)
        for protocol in PROTOCOLS.values():
            free = protocol.free(path)
            if free:
                self.note(status=free[0])
                return self.answer(*free)
        self.note(status=404, body=body)
        return self.answer(404, {"error": {"message": "not found"}})

    def converse(self, name, protocol, path, body, raw):
        side = protocol.is_side(body)
        if name == "gemini":
            body["model"] = protocol.model(path)
        turn = self.server.owner.outage or (Turn({"text": protocol.side_text(body)}) if side else
                                            self.server.owner.script.next(raw))
        if not side and self.server.owner.turn_hook:
            self.server.owner.turn_hook(turn, body)
        self.note(protocol=name, side=side, turn=turn.number, status=turn.status, key=self.key(), body=body)
        if turn.reset or turn.silent:
            return self.leave(turn)
        if turn.raw is not None:
            return self.answer(turn.status, turn.raw.encode(), turn.headers, turn.type)
        if turn.status != 200:
            return self.answer(turn.status, protocol.error(turn.status, turn.kind, turn.message), turn.headers)
        if not protocol.wants_stream(body, path):
            return self.answer_whole(protocol, turn, body)
        return self.stream(protocol, turn, body)

    def answer_whole(self, protocol, turn, body):
        if turn.cut or turn.hang:
            return self.break_off(protocol, turn)
        if turn.malformed:
            return self.answer(200, json.dumps(protocol.whole(turn, body)).encode()[:-20])
        if turn.stream_error:
            return self.answer(500, protocol.error(500, turn.stream_error, turn.message))
        return self.answer(200, protocol.whole(turn, body), turn.headers)

    def key(self):
        return (self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or
                self.headers.get("Authorization"))

    def send(self, text):
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def stream(self, protocol, turn, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in turn.headers.items():
            self.send_header(name, value)
        self.end_headers()
        made = list(protocol.events(turn, body))
        half = max(1, len(made) // 2)
        for index, (event, data) in enumerate(made):
            if turn.pace:
                time.sleep(turn.pace)
            if index == half and (turn.cut or turn.hang or turn.malformed or turn.stream_error):
                return self.break_off(protocol, turn)
            self.event(event, json.dumps(data))
        if protocol.end():
            self.send(protocol.end())
        self.wfile.write(b"0\r\n\r\n")

    def event(self, event, data):
        self.send((f"event: {event}\n" if event else "") + f"data: {data}\n\n")

    def leave(self, turn):
        self.close_connection = True
        if turn.silent or turn.hang:
            self.server.owner.closing.wait()
        else:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def break_off(self, protocol, turn):
        self.close_connection = True
        if turn.hang or turn.cut:
            self.leave(turn)
        elif turn.malformed:
            self.event(None, '{"type": "content_block_delta", "index": 0, "delta": {"typ')
            self.wfile.write(b"0\r\n\r\n")
        elif turn.stream_error:
            event, data = protocol.error_event(turn.stream_error, turn.message)
            self.event(event, json.dumps(data))
            self.wfile.write(b"0\r\n\r\n")


class TcpServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, *_args):
        pass  # the client hung up


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
    handle_error = TcpServer.handle_error

    def get_request(self):
        request, _ = self.socket.accept()
        return request, ("unix", 0)


class Server:
    """A running server; a context manager. `requests` is what it was asked, as it logs it."""

    def __init__(self, turns, listen=("127.0.0.1", 0), unix=None, log=None, turn_hook=None, tls=None, outage=None):
        self.script = Script(turns)
        self.outage = Turn(outage) if outage else None
        self.requests = []
        self.open = []
        self.turn_hook = turn_hook
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.log = open(log, "a", encoding="utf-8") if log else None
        if unix:
            self.server = UnixServer(unix, Handler)
            self.address = unix
        else:
            self.server = TcpServer(listen, Handler)
            self.address = "%s://%s:%d" % ("https" if tls else "http", *self.server.server_address)
        if tls:  # (certificate, key); the handshake happens in each client's thread
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.server.owner = self
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def note(self, what):
        with self.lock:
            self.requests.append(what)
            if self.log:
                self.log.write(json.dumps(what) + "\n")
                self.log.flush()

    def conversation(self):
        """The requests that took a turn."""
        with self.lock:
            return [request for request in self.requests if request.get("turn")]

    def close(self):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        for connection in self.open:  # a kept connection would be answered forever
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        if self.log:
            self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_args):
        self.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", required=True, help="a JSON file with a list of turns")
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--unix", metavar="PATH")
    parser.add_argument("--log", metavar="FILE", help="every request, a JSON object a line")
    options = parser.parse_args()
    host, port = options.listen.rsplit(":", 1)
    with open(options.script, encoding="utf-8") as file:
        turns = json.load(file)
    with Server(turns, (host, int(port)), options.unix, options.log) as server:
        print(server.address, flush=True)
        try:
            server.thread.join()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
