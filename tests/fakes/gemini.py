"""Gemini: POST /v1beta/models/MODEL:generateContent and :streamGenerateContent?alt=sse."""
import json
import re


def matches(path):
    return bool(re.match(r"^/v1(beta|alpha)?/models/[^/:]+:(streamGenerateContent|generateContent)$", path))


def model(path):
    return re.match(r".*/models/([^/:]+):", path)[1]


def free(path):
    if path.endswith(":countTokens"):
        return 200, {"totalTokens": 100}
    return None


def is_side(body):
    return not body.get("tools")


def side_text(body):
    """An answer of the requested type: the client's router expects a number."""
    schema = (body.get("generationConfig") or {}).get("responseJsonSchema") or {}
    values = {"STRING": "a word", "INTEGER": 10, "NUMBER": 10, "BOOLEAN": False, "ARRAY": [], "OBJECT": {}}
    if not schema:
        return "A title"
    return json.dumps({name: (what.get("enum") or [values.get(str(what.get("type")).upper(), "a word")])[0]
                       for name, what in (schema.get("properties") or {}).items()})


STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
          429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE"}


def error(status, kind, message):
    """kind: extra details; "retry:30s" is the provider's own RetryInfo."""
    details = []
    if kind and kind.startswith("retry:"):
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": kind[6:]})
    elif kind:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": kind,
                        "domain": "googleapis.com", "metadata": {}})
    return {"error": {"code": status, "message": message, "status": STATUS.get(status, "UNKNOWN"), "details": details}}


def usage(turn):
    spent = turn.usage
    prompt = spent["input"] + spent["cache_read"]
    return {"promptTokenCount": prompt, "candidatesTokenCount": spent["output"],
            "cachedContentTokenCount": spent["cache_read"], "thoughtsTokenCount": spent["reasoning"],
            "totalTokenCount": prompt + spent["output"] + spent["reasoning"]}


def chunk(turn, body, parts, reason=None):
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "usageMetadata": usage(turn), "modelVersion": body["model"],
            "responseId": f"resp{turn.number}"}


def calls(turn):
    return [{"functionCall": {"name": tool["name"], "args": tool["input"]}} for tool in turn.tools]


def whole(turn, body):
    return chunk(turn, body, ([{"text": turn.text}] if turn.text else []) + calls(turn), "STOP")


def events(turn, body):
    for part in turn.parts(turn.text):
        yield None, chunk(turn, body, [{"text": part}])
    yield None, chunk(turn, body, calls(turn) or [{"text": ""}], "STOP")


def error_event(kind, message):
    return None, error(500, kind, message)


def wants_stream(_body, path):
    return path.endswith(":streamGenerateContent")


def end():
    return None
