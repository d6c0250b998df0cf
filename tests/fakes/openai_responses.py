"""OpenAI Responses: POST /v1/responses, answered whole or as server-sent events."""
import json

from .openai_chat import error, side_text  # noqa: F401


def matches(path):
    return path in ("/v1/responses", "/responses")


def free(path):
    if path.endswith("/models"):
        return 200, {"object": "list", "data": [{"id": "a-model", "object": "model"}]}
    return None


def is_side(body):
    """Newer clients pass their tools as the first item of the input."""
    items = body.get("input")
    return not body.get("tools") and not any(isinstance(item, dict) and item.get("type") == "additional_tools"
                                             for item in (items if isinstance(items, list) else []))


def usage(turn):
    spent = turn.usage
    total_in = spent["input"] + spent["cache_read"] + spent["cache_write_5m"] + spent["cache_write_1h"]
    return {"input_tokens": total_in, "input_tokens_details": {"cached_tokens": spent["cache_read"]},
            "output_tokens": spent["output"] + spent["reasoning"],
            "output_tokens_details": {"reasoning_tokens": spent["reasoning"]},
            "total_tokens": total_in + spent["output"] + spent["reasoning"]}


def items(turn):
    if turn.text:
        yield {"type": "message", "id": f"msg_{turn.number}", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": turn.text, "annotations": []}]}
    for number, tool in enumerate(turn.tools):
        call = f"call_{turn.number:04}{number:02}"
        if isinstance(tool["input"], str):
            yield {"type": "custom_tool_call", "id": "ctc_" + call, "call_id": call, "name": tool["name"],
                   "input": tool["input"], "status": "completed"}
        else:
            written = json.dumps(tool["input"])
            if turn.broken_tool:
                written = written[:-len(written) // 2]
            yield {"type": "function_call", "id": "fc_" + call, "call_id": call, "name": tool["name"],
                   "arguments": written, "status": "completed",
                   **({"namespace": tool["namespace"]} if "namespace" in tool else {})}


def whole(turn, body, status="completed"):
    return {"id": f"resp_{turn.number:06}", "object": "response", "created_at": 1, "status": status,
            "model": body.get("model", "?"), "output": list(items(turn)) if status == "completed" else [],
            "usage": usage(turn) if status == "completed" else None, "error": None, "incomplete_details": None}


def events(turn, body):
    number = 0

    def event(kind, **data):
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number - 1, **data}

    yield event("response.created", response=whole(turn, body, "in_progress"))
    yield event("response.in_progress", response=whole(turn, body, "in_progress"))
    for index, item in enumerate(items(turn)):
        yield event("response.output_item.added", output_index=index,
                    item={**item, "status": "in_progress", **({"content": []} if item["type"] == "message" else {})})
        if item["type"] == "message":
            for part in turn.parts(turn.text):
                # The provider pads its deltas at random; nobody may count bytes.
                yield event("response.output_text.delta", item_id=item["id"], output_index=index, content_index=0,
                            delta=part, obfuscation="x" * (len(part) % 7))
        elif item["type"] == "function_call":
            for part in turn.parts(item["arguments"]):
                yield event("response.function_call_arguments.delta", item_id=item["id"], output_index=index,
                            delta=part)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole(turn, body))


def error_event(kind, message):
    return "response.failed", {"type": "response.failed", "response": {
        "id": "resp_failed", "object": "response", "status": "failed", "output": [],
        "error": {"code": kind, "message": message}}}


def wants_stream(body, _path):
    return bool(body.get("stream"))


def end():
    return None
