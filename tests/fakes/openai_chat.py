"""OpenAI Chat Completions: POST /v1/chat/completions; also what local servers speak."""
import json


def matches(path):
    return path in ("/v1/chat/completions", "/chat/completions")


def free(_path):
    return None


def is_side(body):
    return not body.get("tools")


def side_text(_body):
    return "A title"


def error(status, kind, message):
    return {"error": {"message": message, "type": kind or "invalid_request_error", "param": None, "code": kind}}


def usage(turn):
    spent = turn.usage
    prompt = spent["input"] + spent["cache_read"] + spent["cache_write_5m"] + spent["cache_write_1h"]
    return {"prompt_tokens": prompt, "completion_tokens": spent["output"] + spent["reasoning"],
            "total_tokens": prompt + spent["output"] + spent["reasoning"],
            "prompt_tokens_details": {"cached_tokens": spent["cache_read"]},
            "completion_tokens_details": {"reasoning_tokens": spent["reasoning"]}}


def calls(turn):
    for number, tool in enumerate(turn.tools):
        written = json.dumps(tool["input"])
        if turn.broken_tool:
            written = written[:-len(written) // 2]
        yield {"index": number, "id": f"call_{turn.number:04}{number:02}", "type": "function",
               "function": {"name": tool["name"], "arguments": written}}


def whole(turn, body):
    message = {"role": "assistant", "content": turn.text or None}
    if turn.tools:
        message["tool_calls"] = list(calls(turn))
    return {"id": f"chatcmpl-{turn.number}", "object": "chat.completion", "created": 1, "model": body.get("model", "?"),
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if turn.tools else "stop"}],
            "usage": usage(turn)}


def events(turn, body):
    base = {"id": f"chatcmpl-{turn.number}", "object": "chat.completion.chunk", "created": 1,
            "model": body.get("model", "?")}

    def chunk(delta, reason=None):
        return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    for part in turn.parts(turn.text):
        yield chunk({"content": part})
    for call in calls(turn):
        yield chunk({"tool_calls": [{**call, "function": {"name": call["function"]["name"], "arguments": ""}}]})
        for part in turn.parts(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": call["index"], "function": {"arguments": part}}]})
    yield chunk({}, "tool_calls" if turn.tools else "stop")
    # Usage is sent only to clients that request it.
    if (body.get("stream_options") or {}).get("include_usage"):
        yield None, {**base, "choices": [], "usage": usage(turn)}


def error_event(kind, message):
    return None, {"error": {"message": message, "type": kind, "code": kind}}


def wants_stream(body, _path):
    return bool(body.get("stream"))


def end():
    return "data: [DONE]\n\n"
