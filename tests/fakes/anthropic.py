"""Anthropic Messages: POST /v1/messages, answered whole or as server-sent events."""
import json


def matches(path):
    return path in ("/v1/messages", "/messages")


def free(path):
    """Answers requests that cost nothing and use no turn: (status, body), or None."""
    if path.endswith("/messages/count_tokens"):
        return 200, {"input_tokens": 100}
    return None


def is_side(body):
    return not body.get("tools")


def side_text(_body):
    return "A title"


def error(status, kind, message):
    return {"type": "error", "error": {"type": kind or KINDS.get(status, "api_error"), "message": message},
            "request_id": "req_fake"}


KINDS = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
         404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
         529: "overloaded_error"}


def usage(turn, output):
    spent = turn.usage
    return {"input_tokens": spent["input"], "output_tokens": output,
            "cache_read_input_tokens": spent["cache_read"],
            "cache_creation_input_tokens": spent["cache_write_5m"] + spent["cache_write_1h"],
            "cache_creation": {"ephemeral_5m_input_tokens": spent["cache_write_5m"],
                               "ephemeral_1h_input_tokens": spent["cache_write_1h"]},
            "service_tier": "standard"}


def blocks(turn):
    if turn.thinking:
        yield {"type": "thinking", "thinking": turn.thinking, "signature": "fake"}
    if turn.text:
        yield {"type": "text", "text": turn.text}
    for number, tool in enumerate(turn.tools):
        yield {"type": "tool_use", "id": f"toolu_{turn.number:04}{number:02}", "name": tool["name"],
               "input": tool["input"]}


def whole(turn, body):
    return {"id": f"msg_{turn.number:06}", "type": "message", "role": "assistant", "model": body.get("model", "?"),
            "content": list(blocks(turn)), "stop_reason": "tool_use" if turn.tools else "end_turn",
            "stop_sequence": None, "usage": usage(turn, turn.usage["output"])}


def events(turn, body):
    """(event, data) in the order of the provider: exact input first, output at the end, cumulative."""
    message = whole(turn, body)
    message.update(content=[], stop_reason=None, usage=usage(turn, 1))
    yield "message_start", {"type": "message_start", "message": message}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(blocks(turn)):
        empty = dict(block)
        if block["type"] == "text":
            empty["text"] = ""
            deltas = [{"type": "text_delta", "text": part} for part in turn.parts(block["text"])]
        elif block["type"] == "thinking":
            empty["thinking"] = ""
            deltas = [{"type": "thinking_delta", "thinking": part} for part in turn.parts(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": "fake"})
        else:
            empty["input"] = {}
            written = json.dumps(block["input"])
            if turn.broken_tool:
                written = written[:-len(written) // 2]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in turn.parts(written)]
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield "message_delta", {"type": "message_delta",
                            "delta": {"stop_reason": "tool_use" if turn.tools else "end_turn", "stop_sequence": None},
                            "usage": {"output_tokens": turn.usage["output"]}}
    yield "message_stop", {"type": "message_stop"}


def error_event(kind, message):
    return "error", {"type": "error", "error": {"type": kind, "message": message}}


def wants_stream(body, _path):
    return bool(body.get("stream"))


def end():
    return None
