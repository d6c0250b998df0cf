"""Services that people are notified by, as their documentation describes them: Slack's incoming webhooks, Discord's
webhooks, ntfy, Telegram's Bot API, and a webhook of one's own.

Chat.answer is for harness.provider.Provider. `trouble` has what the next requests get instead of a delivery:
"limit" (429 with a time to wait), "down" (503), "gone" (404) or "hang" (no answer).
"""

import email.header
import json
import re

from harness.provider import respond


class Chat:
    """Keeps the messages that arrived, as (service, text, delivery id), and has the troubles."""

    def __init__(self):
        self.got = []
        self.wrong = []  # requests that the real service would refuse
        self.trouble = []
        self.tries = 0
        self.held = []

    def answer(self, request, connection):
        service = request.path.strip("/").split("/")[0]
        service = "telegram" if service.startswith("bot") else service
        self.tries += 1
        trouble = self.trouble.pop(0) if self.trouble else None
        if trouble == "hang":
            self.held.append(connection)
            return b""
        if trouble:
            return getattr(self, trouble)(service)
        try:
            text = getattr(self, service)(request)
        except (AssertionError, KeyError, ValueError) as error:
            self.wrong.append(f"{service}: {error!r}: {request.body!r}")
            return respond({"ok": False, "error_code": 400}, "400 Bad Request")
        self.got.append((service, text, request.headers.get("x-ringfence-delivery")))
        return {"slack": respond(b"ok", kind="text/plain"), "discord": respond(b"", "204 No Content"),
                "telegram": respond({"ok": True, "result": {"message_id": len(self.got)}})}.get(service, respond({}))

    def texts(self, service):
        return [text for name, text, _ in self.got if name == service]

    # Each service's own check of a message, which returns its text.

    @staticmethod
    def slack(request):
        body = json.loads(request.body)
        assert request.method == "POST" and request.headers["content-type"] == "application/json"
        assert not re.search(r"<[!@#]", body["text"]), "a mention in the fallback"
        block = body["blocks"][0]
        assert block["type"] == "section" and block["text"]["type"] == "plain_text"
        assert 0 < len(block["text"]["text"]) <= 3000
        return block["text"]["text"]

    @staticmethod
    def discord(request):
        body = json.loads(request.body)
        assert body["allowed_mentions"] == {"parse": []}
        assert 0 < len(body["content"]) <= 2000
        return re.sub(r"\\(.)", r"\1", body["content"])

    @staticmethod
    def telegram(request):
        assert re.fullmatch(r"/bot[^/]+/sendMessage", request.path)
        body = json.loads(request.body)
        assert body["chat_id"] and "parse_mode" not in body and 0 < len(body["text"]) <= 4096
        assert not re.search(r"@\w", body["text"]), "a mention"
        return body["text"].replace("\u200b", "")

    @staticmethod
    def ntfy(request):
        assert request.method in ("POST", "PUT") and request.path.count("/") == 2
        title = str(email.header.make_header(email.header.decode_header(request.headers["title"])))
        assert request.headers["priority"] in ("min", "low", "default", "high", "max")
        return f"{title}\n{request.body.decode()}"

    @staticmethod
    def hook(request):
        body = json.loads(request.body)
        assert body["version"] == 1 and body["id"] == request.headers["x-ringfence-delivery"]
        return f"{body['title']}\n{body['text']}"

    # Troubles

    @staticmethod
    def limit(service):
        body = {"discord": {"message": "You are being rate limited.", "retry_after": 0.05, "global": False},
                "telegram": {"ok": False, "error_code": 429, "parameters": {"retry_after": 1}}}.get(service, {})
        return respond(body, "429 Too Many Requests", "application/json", *(["Retry-After: 1"] if service == "slack" else []))

    @staticmethod
    def down(_):
        return respond(b"upstream is down", "503 Service Unavailable", "text/html")

    @staticmethod
    def gone(_):
        return respond(b"no_service", "404 Not Found", "text/html")
