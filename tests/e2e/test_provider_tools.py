"""A model provider is no way out: tools that it would run, and addresses that it would fetch, are refused unless allowed."""

import json

from harness import cases, contains, each_identity, equal, expect
from harness.provider import Models, message, respond

ANY_IDENTITY = "The gateway judges requests by their content."

MESSAGES, CHAT, RESPONSES = "/v1/messages", "/v1/chat/completions", "/v1/responses"
COUNT = "/v1/messages/count_tokens"
GEMINI = "/v1beta/models/gemini-2.5-pro:generateContent"
GEMINI_STREAM = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
GEMINI_COUNT = "/v1beta/models/gemini-2.5-pro:countTokens"
EVIL = "https://evil.example/x.png"


def messages(**more):
    return {"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}], **more}


def said(*blocks):
    return messages(messages=[{"role": "user", "content": list(blocks)}])


def chat(**more):
    return {"model": "gpt-5.5", "messages": [{"role": "user", "content": "hi"}], **more}


def talked(*parts):
    return chat(messages=[{"role": "user", "content": list(parts)}])


def responses(**more):
    return {"model": "gpt-5.5", "input": "hi", **more}


def gemini(**more):
    return {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], **more}


def part(**more):
    return gemini(contents=[{"role": "user", "parts": [more]}])


def image(url=EVIL):
    return {"type": "image", "source": {"type": "url", "url": url}}


def nested(depth):
    block = image()
    for _ in range(depth):
        block = {"type": "tool_result", "tool_use_id": "t", "content": [block]}
    return block


def twice(first, second):
    """The same key twice, as JSON text."""
    return json.dumps(messages(tools=["HERE"])).replace('"HERE"', '{"name": "t", "type": %s, "type": %s}' % (first, second))


MCP = {"type": "url", "url": "https://evil.example/sse", "name": "e"}

# name: path, body, what the refusal names
REFUSED = {
    "anthropic mcp_servers": (MESSAGES, messages(mcp_servers=[MCP]), "mcp_servers", "provider-tools: mcp"),
    "anthropic mcp_servers escaped": (MESSAGES, json.dumps(messages(mcp_servers=[MCP])).replace("mcp_s", "\\u006dcp_s"),
                                      "mcp_servers", "provider-tools: mcp"),
    "anthropic mcp_servers in another case": (MESSAGES, messages(MCP_servers=[MCP]), "differs in case", ""),
    "anthropic mcp_servers counted": (COUNT, messages(mcp_servers=[MCP]), "mcp_servers", "provider-tools: mcp"),
    "anthropic mcp_toolset": (MESSAGES, messages(tools=[{"type": "mcp_toolset", "mcp_server_name": "e"}]), "mcp_toolset",
                              "provider-tools: mcp"),
    "anthropic web search": (MESSAGES, messages(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
                             "web_search_20250305", "provider-tools: web-search"),
    "anthropic web fetch": (MESSAGES, messages(tools=[{"type": "web_fetch_20250910", "name": "web_fetch"}]),
                            "web_fetch_20250910", "provider-tools: web-fetch"),
    "anthropic code": (MESSAGES, messages(tools=[{"type": "code_execution_20250825", "name": "code_execution"}]),
                       "code_execution_20250825", ""),
    "anthropic code named like a client's": (MESSAGES, messages(tools=[{"type": "bash_code_execution_20250825", "name": "b"}]),
                                             "bash_code_execution_20250825", ""),
    "anthropic tool of an unknown type": (MESSAGES, messages(tools=[{"type": "teleport_20270101", "name": "t"}]), "teleport_20270101",
                                          ""),
    "anthropic type twice": (MESSAGES, twice('"custom"', '"web_fetch_20250910"'), "twice", ""),
    "anthropic type in capitals": (MESSAGES, messages(tools=[{"Type": "web_fetch_20250910", "name": "w"}]), "differs in case", ""),
    "anthropic tools as an object": (MESSAGES, messages(tools={"type": "web_fetch_20250910"}), "tools", ""),
    "anthropic type as a list": (MESSAGES, messages(tools=[{"type": ["web_fetch_20250910"]}]), "tools", ""),
    "anthropic container": (MESSAGES, messages(container="container_1"), "container", ""),
    "anthropic unknown field": (MESSAGES, messages(proxy_to="https://evil.example"), "proxy_to", "provider-tools: other"),
    "anthropic image": (MESSAGES, said(image()), "source.url", "provider-tools: web-fetch"),
    "anthropic document": (MESSAGES, said({"type": "document", "source": {"type": "url", "url": EVIL}}), "source.url",
                           "provider-tools: web-fetch"),
    "anthropic image counted": (COUNT, said(image()), "source.url", "provider-tools: web-fetch"),
    "anthropic image in a result": (MESSAGES, said(nested(1)), "source.url", "provider-tools: web-fetch"),
    "anthropic image in results": (MESSAGES, said(nested(3)), "source.url", "provider-tools: web-fetch"),
    "anthropic image deep down": (MESSAGES, said(nested(30)), "nested too deeply", ""),
    "anthropic image in a document": (MESSAGES, said({"type": "document", "source": {"type": "content", "content": [image()]}}),
                                      "source.url", "provider-tools: web-fetch"),
    "anthropic image in the system prompt": (MESSAGES, messages(system=[image()]), "source.url", "provider-tools: web-fetch"),
    "anthropic content as an object": (MESSAGES, messages(messages=[{"role": "user", "content": image()}]), "source.url",
                                       "provider-tools: web-fetch"),
    "anthropic file": (MESSAGES, said({"type": "document", "source": {"type": "file", "file_id": "f"}}), "file",
                       "provider-tools: files"),
    "anthropic unknown source": (MESSAGES, said({"type": "image", "source": {"type": "s3", "uri": "s3://b/k"}}), "s3", ""),
    "anthropic unknown block": (MESSAGES, said({"type": "remote_image", "href": EVIL}), "remote_image", ""),
    "chat search options": (CHAT, chat(web_search_options={}), "web_search_options", "not in the answer"),
    "chat search model": (CHAT, chat(model="gpt-5.5-search-preview"), "gpt-5.5-search-preview", "not in the answer"),
    "chat image": (CHAT, chat(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": EVIL}}]}]),
                   "image_url", "provider-tools: web-fetch"),
    "chat image as text": (CHAT, chat(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": EVIL}]}]),
                           "image_url", "provider-tools: web-fetch"),
    "chat file with an address": (CHAT, chat(messages=[{"role": "user", "content": [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": EVIL}}]}]), "file_data", "provider-tools: web-fetch"),
    "chat video": (CHAT, chat(messages=[{"role": "user", "content": [{"type": "video_url", "video_url": {"url": EVIL}}]}]),
                   "video_url", ""),
    "chat tool": (CHAT, chat(tools=[{"type": "mcp", "server_url": "https://evil.example"}]), "mcp", "provider-tools: mcp"),
    "chat plugins": (CHAT, chat(plugins=[{"id": "web"}]), "plugins", "provider-tools: other"),
    "chat other models": (CHAT, chat(models=["gpt-5.5", "o1-pro"]), "models", "provider-tools: other"),
    "responses mcp": (RESPONSES, responses(tools=[{"type": "mcp", "server_label": "e", "server_url": "https://evil.example/sse"}]),
                      "mcp", "provider-tools: mcp"),
    "responses connector": (RESPONSES, responses(tools=[{"type": "mcp", "server_label": "e", "connector_id": "connector_gmail"}]),
                            "mcp", "provider-tools: mcp"),
    "responses mcp in a namespace": (RESPONSES, responses(tools=[{"type": "namespace", "name": "n", "tools": [
        {"type": "mcp", "server_url": "https://evil.example/sse"}]}]), "mcp", "provider-tools: mcp"),
    "responses mcp among the input": (RESPONSES, responses(input=[{"type": "additional_tools", "role": "developer", "tools": [
        {"type": "mcp", "server_url": "https://evil.example/sse"}]}]), "mcp", "provider-tools: mcp"),
    "responses web search": (RESPONSES, responses(tools=[{"type": "web_search"}]), "web_search", "provider-tools: web-search"),
    "responses web search of a date": (RESPONSES, responses(tools=[{"type": "web_search_preview_2025_03_11"}]),
                                       "web_search_preview_2025_03_11", "cannot be metered"),
    "responses web search, newer": (RESPONSES, responses(tools=[{"type": "web_search_2025_08_26"}]), "web_search_2025_08_26",
                                    "provider-tools: web-search"),
    "responses research model": (RESPONSES, responses(model="o3-deep-research"), "o3-deep-research", "provider-tools: web-search"),
    "chat image in an object": (CHAT, chat(messages=[{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": {"url": EVIL}}}]}]), "image_url", ""),
    "chat image in a list": (CHAT, chat(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": [EVIL]}]}]),
                             "image_url", ""),
    "anthropic image with a user name": (MESSAGES, said(image("https://docs.example@evil.example/x")), "not a URL", ""),
    "anthropic image with a blank": (MESSAGES, said(image(" " + EVIL)), "not a URL", ""),
    "anthropic image of another scheme": (MESSAGES, said(image("ftp://evil.example/x")), "not a URL", ""),
    "anthropic source in a list": (MESSAGES, said({"type": "image", "source": [image()["source"]]}), "source", ""),
    "responses code interpreter": (RESPONSES, responses(tools=[{"type": "code_interpreter", "container": {"type": "auto"}}]),
                                   "code_interpreter", ""),
    "responses shell at the provider": (RESPONSES, responses(tools=[{"type": "shell", "environment": {
        "type": "container_auto", "network_policy": {"type": "allowlist", "allowed_domains": ["evil.example"]}}}]), "environment", ""),
    "responses shell anywhere": (RESPONSES, responses(tools=[{"type": "shell"}]), "environment", ""),
    "responses image generation": (RESPONSES, responses(tools=[{"type": "image_generation"}]), "image_generation", ""),
    "responses file search": (RESPONSES, responses(tools=[{"type": "file_search", "vector_store_ids": ["v"]}]), "file_search", ""),
    "responses stored prompt": (RESPONSES, responses(prompt={"id": "pmpt_1"}), "prompt", ""),
    "responses conversation": (RESPONSES, responses(conversation="conv_1"), "conversation", "provider-tools: files"),
    "responses background": (RESPONSES, responses(background=True), "background", ""),
    "responses webhook": (RESPONSES, responses(webhook="https://evil.example"), "webhook", "provider-tools: other"),
    "responses image": (RESPONSES, responses(input=[{"role": "user", "content": [{"type": "input_image", "image_url": EVIL}]}]),
                        "image_url", "provider-tools: web-fetch"),
    "responses file": (RESPONSES, responses(input=[{"role": "user", "content": [{"type": "input_file", "file_url": EVIL}]}]),
                       "file_url", "provider-tools: web-fetch"),
    "responses image in a result": (RESPONSES, responses(input=[{"type": "function_call_output", "call_id": "c", "output": [
        {"type": "input_image", "image_url": EVIL}]}]), "image_url", "provider-tools: web-fetch"),
    "responses screenshot": (RESPONSES, responses(input=[{"type": "computer_call_output", "output": {
        "type": "computer_screenshot", "image_url": EVIL}}]), "image_url", "provider-tools: web-fetch"),
    "responses file id": (RESPONSES, responses(input=[{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]),
                          "file_id", "provider-tools: files"),
    "gemini url context": (GEMINI, gemini(tools=[{"urlContext": {}}]), "urlContext", "provider-tools: web-fetch"),
    "gemini url context streamed": (GEMINI_STREAM, gemini(tools=[{"url_context": {}}]), "url_context", "provider-tools: web-fetch"),
    "gemini url context counted": (GEMINI_COUNT, gemini(tools=[{"url_context": {}}]), "url_context", "provider-tools: web-fetch"),
    "gemini wrapped request": (GEMINI_COUNT, {"generateContentRequest": gemini(tools=[{"url_context": {}}])},
                               "generateContentRequest", ""),
    "gemini search": (GEMINI, gemini(tools=[{"google_search": {}}]), "google_search", ""),
    "gemini search beside functions": (GEMINI, gemini(tools=[{"functionDeclarations": [], "googleSearch": {}}]), "googleSearch", ""),
    "gemini old search": (GEMINI, gemini(tools=[{"googleSearchRetrieval": {}}]), "googleSearchRetrieval", ""),
    "gemini code": (GEMINI, gemini(tools=[{"codeExecution": {}}]), "codeExecution", ""),
    "gemini mcp": (GEMINI, gemini(tools=[{"mcpServers": [{"streamableHttpTransport": {"url": EVIL}}]}]), "mcpServers", ""),
    "gemini unknown tool": (GEMINI, gemini(tools=[{"retrieval": {}}]), "retrieval", "provider-tools: other"),
    "gemini tools as an object": (GEMINI, gemini(tools={"urlContext": {}}), "tools", ""),
    "gemini file": (GEMINI, part(fileData={"fileUri": EVIL}), "fileUri", "provider-tools: web-fetch"),
    "gemini file, other spelling": (GEMINI, part(file_data={"file_uri": EVIL}), "file_uri", "provider-tools: web-fetch"),
    "gemini video": (GEMINI, part(fileData={"fileUri": "https://www.youtube.com/watch?v=x"}), "fileUri", "provider-tools: web-fetch"),
    "gemini bucket": (GEMINI, part(fileData={"fileUri": "gs://bucket/x"}), "fileUri", "provider-tools: files"),
    "gemini own file": (GEMINI, part(fileData={"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x"}), "fileUri",
                        "provider-tools: files"),
    "gemini file in a result": (GEMINI, part(functionResponse={"name": "f", "response": {}, "parts": [{"fileData": {"fileUri": EVIL}}]}),
                                "fileUri", "provider-tools: web-fetch"),
    "gemini unknown part": (GEMINI, part(remoteData={"uri": EVIL}), "remoteData", "provider-tools: other"),
    "gemini cache": (GEMINI, gemini(cachedContent="cachedContents/x"), "cachedContent", ""),
    "gemini cache, other spelling": (GEMINI, gemini(cached_content="cachedContents/x"), "cached_content", ""),
    "gemini other model": (GEMINI, gemini(model="models/gemini-9-ultra"), "model", ""),
    # members of a content block that only some servers read
    "chat video without a type": (CHAT, talked({"video_url": EVIL}), "video_url", ""),
    "chat video object without a type": (CHAT, talked({"video_url": {"url": EVIL}}), "video_url", ""),
    "chat sound without a type": (CHAT, talked({"audio_url": {"url": EVIL}}), "audio_url", ""),
    "chat video beside a text": (CHAT, talked({"type": "text", "text": "x", "uuid": "a", "video_url": {"url": EVIL}}), "uuid", ""),
    "chat recording without a type": (CHAT, talked({"input_audio": {"data": EVIL, "format": "wav"}}), "input_audio", ""),
    "chat image beside its address": (CHAT, talked({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==",
                                                                                       "fetch": EVIL}}), "image_url.fetch", ""),
    "chat file as a text": (CHAT, talked({"type": "file", "file": EVIL}), "file must be an object", ""),
    "responses video without a type": (RESPONSES, responses(input=[{"video_url": EVIL}]), "video_url", ""),
    "responses sound beside a text": (RESPONSES, responses(input=[{"role": "user", "content": [
        {"type": "input_text", "text": "x", "audio_url": EVIL}]}]), "audio_url", ""),
    "anthropic video beside a text": (MESSAGES, said({"type": "text", "text": "x", "video_url": EVIL}), "video_url", ""),
    "anthropic image with a plain address": (MESSAGES, said({"type": "image", "url": EVIL}), "url", ""),
    "anthropic source with more": (MESSAGES, said({"type": "image", "source": {"type": "base64", "data": "AA==", "uri": EVIL}}),
                                   "source.uri", ""),
    # members of a message, and of other objects
    **{"chat message with " + key: (CHAT, chat(messages=[{"role": "user", "content": "x", key: [EVIL]}]), "messages[]." + key, "")
       for key in ("attachments", "images", "tools", "files", "video_url")},
    "anthropic message with files": (MESSAGES, messages(messages=[{"role": "user", "content": "x", "files": [EVIL]}]),
                                     "messages[].files", ""),
    "anthropic choice with more": (MESSAGES, messages(tool_choice={"type": "auto", "server_url": EVIL}), "tool_choice.server_url", ""),
    "anthropic thinking with more": (MESSAGES, messages(thinking={"type": "adaptive", "url": EVIL}), "thinking.url", ""),
    "anthropic output with more": (MESSAGES, messages(output_config={"effort": "low", "url": EVIL}), "output_config.url", ""),
    "anthropic tool with an address": (MESSAGES, messages(tools=[{"type": "custom", "name": "t", "server_url": EVIL}]),
                                       "tools[].server_url", ""),
    "chat tool with an endpoint": (CHAT, chat(tools=[{"type": "function", "function": {}, "endpoint": EVIL}]), "tools[].endpoint", ""),
    # addresses in the place of data
    "anthropic address as data": (MESSAGES, said({"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                                                              "data": EVIL}}), "source.data", ""),
    "anthropic address as data, type last": (MESSAGES, said({"source": {"data": EVIL, "type": "base64"}, "type": "image"}),
                                             "source.data", ""),
    "anthropic address as data of a block": (MESSAGES, said({"type": "image", "data": EVIL}), "data", ""),
    "chat address as data of a part": (CHAT, talked({"type": "image_url", "data": EVIL}), "data", ""),
    "anthropic address as a source": (MESSAGES, said({"type": "image", "source": EVIL}), "source", ""),
    "gemini address as data": (GEMINI, part(inlineData={"mimeType": "image/png", "data": EVIL}), "data", ""),
    "gemini host as data": (GEMINI, part(inlineData={"mimeType": "image/png", "data": "//evil.example/x"}), "data", ""),
    # the same key in two spellings
    "gemini prompt in two spellings": (GEMINI, gemini(systemInstruction={"parts": []}, system_instruction={"parts": []}),
                                       "system_instruction", "twice"),
    "gemini answers in two spellings": (GEMINI, gemini(generationConfig={"candidateCount": 1, "candidate_count": 8}),
                                        "candidate_count", "twice"),
    "gemini limit in two spellings": (GEMINI, gemini(generationConfig={"max_output_tokens": 9000, "maxOutputTokens": 1}),
                                      "maxOutputTokens", "twice"),
    "gemini settings in two spellings": (GEMINI, gemini(generationConfig={}, generation_config={}), "generation_config", "twice"),
    "gemini results in two spellings": (GEMINI, part(functionResponse={}, function_response={}), "function_response", "twice"),
    # letters that some parsers read as ASCII
    "anthropic long s in a key": (MESSAGES, messages(**{"mcp_\u017fervers": [MCP]}), "mcp_", ""),
    "anthropic long s in a tool": (MESSAGES, messages(tools=[{"name": "t", "allowed_domain\u017f": []}]), "differs", ""),
    "chat kelvin sign": (CHAT, chat(**{"max_to\u212aens": 1}), "max_to", ""),
    # the media of Gemini
    **{"gemini media of the type " + repr(kind): (GEMINI, part(inlineData={"mimeType": kind, "data": "AA=="}), "mimeType", "")
       for kind in (" audio/wav", "image/png ", "application/ogg", "model/gltf", "", None)},
    "gemini media without a type": (GEMINI, part(inlineData={"data": "AA=="}), "inlineData", "mimeType"),
    # tools by their exact names
    "anthropic search of tools, unknown": (MESSAGES, messages(tools=[{"type": "tool_search_tool_web_20270101", "name": "t"}]),
                                           "tool_search_tool_web_20270101", "provider-tools: other"),
    "anthropic web search that runs code": (MESSAGES, messages(tools=[{"type": "web_search_20260209", "name": "web_search"}]),
                                            "web_search_20260209", "provider-tools: other"),
    # what the refusal names
    "anthropic key twice": (MESSAGES, twice('"custom"', '"custom"'), "'type'", "twice"),
    "anthropic key in another case": (MESSAGES, messages(Tools=[]), "'Tools'", "differs"),
    "anthropic nesting": (MESSAGES, said(nested(30)), "'content'", "too deeply"),
    "chat fields of another vendor": (CHAT, chat(provider={"order": ["x"]}), "provider", "provider-tools: other"),
    "responses agents at the provider": (RESPONSES, responses(multi_agent={"enabled": True}), "multi_agent", ""),
}


@cases(*REFUSED)
def test_what_the_provider_would_do_for_the_agent_is_refused(t, case):
    path, request, *parts = REFUSED[case]
    models = Models(t, lambda request, _: message(), tls=False)
    status, _, answer = models.ask(path, request.encode() if isinstance(request, str) else request)
    equal((status, models.provider.requests), (400, []), "it is refused, and nothing left", answer)
    for word in parts:
        contains(json.loads(answer)["error"]["message"], word, "the reason")


PASSES = {
    "anthropic client tools": (MESSAGES, messages(tools=[
        {"name": "t", "input_schema": {"type": "object", "properties": {"type": {"type": "url"}, "url": {"type": "string"}}}},
        {"type": "custom", "name": "u"}, {"type": "bash_20250124", "name": "bash"}, {"type": "text_editor_20250728", "name": "e"},
        {"type": "computer_20251124", "name": "c"}, {"type": "memory_20250818", "name": "m"}])),
    "anthropic data": (MESSAGES, said({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                                      {"type": "text", "text": EVIL},
                                      {"type": "tool_use", "id": "t", "name": "n", "input": {"type": "web_fetch", "url": EVIL}})),
    "anthropic thinking": (MESSAGES, messages(thinking={"type": "adaptive"}, output_config={"effort": "medium"}, context_management={
        "edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, metadata={"user_id": "u"})),
    "anthropic no servers": (MESSAGES, messages(mcp_servers=[])),
    "chat client tools": (CHAT, chat(tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
                                     messages=[{"role": "user", "content": [
                                         {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}])),
    "responses client tools": (RESPONSES, responses(tools=[
        {"type": "function", "name": "f", "parameters": {}}, {"type": "custom", "name": "c"}, {"type": "local_shell"},
        {"type": "shell", "environment": {"type": "local"}}, {"type": "apply_patch"},
        {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "g"}]}], store=False,
        include=["reasoning.encrypted_content"], reasoning={"effort": "low"})),
    "gemini client tools": (GEMINI, gemini(tools=[{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
                                           systemInstruction={"parts": [{"text": "s"}]}, generationConfig={
                                               "temperature": 1, "thinkingConfig": {"includeThoughts": True}})),
    "anthropic plain text as data": (MESSAGES, said({"type": "document", "source": {
        "type": "text", "media_type": "text/plain", "data": "see: " + EVIL}})),
    "anthropic results of the client's search": (MESSAGES, said({"type": "search_result", "source": EVIL, "title": "t", "content": [
        {"type": "text", "text": "x"}], "citations": {"enabled": True}})),
    "anthropic results of an earlier search": (MESSAGES, said(
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [
            {"type": "web_search_result", "url": EVIL, "title": "t", "encrypted_content": "e", "page_age": None}]},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": {
            "type": "web_search_tool_result_error", "error_code": "unavailable"}})),
    "anthropic newer blocks": (MESSAGES, said(
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
        {"type": "connector_text", "connector_text": "x", "signature": "s"},
        {"type": "advisor_tool_result", "tool_use_id": "a", "content": {"type": "advisor_result", "text": "x"}})),
    "anthropic newer fields": (MESSAGES, messages(diagnostics={"previous_message_id": "m"}, user_profile_id="u")),
    "anthropic search of tools": (MESSAGES, messages(tools=[{"type": "tool_search_tool_regex_20251119", "name": "r"},
                                                            {"type": "tool_search_tool_bm25_20251119", "name": "b"}])),
    "anthropic nothing in an unknown field": (MESSAGES, messages(brand_new=None)),
    "anthropic nothing in an unknown member": (MESSAGES, said({"type": "text", "text": "x", "video_url": None})),
    "anthropic a schema in any language": (MESSAGES, messages(tools=[{"name": "t", "input_schema": {
        "type": "object", "properties": {"gr\u00f6\u00dfe": {"type": "string"}}}}])),
    "chat history": (CHAT, chat(messages=[
        {"role": "assistant", "content": None, "refusal": None, "reasoning_content": "r", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}])),
    "chat newer fields": (CHAT, chat(prompt_cache_options={"mode": "explicit"}, moderation=None)),
    "responses results of an earlier search": (RESPONSES, responses(input=[
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
        {"type": "ghost_snapshot", "ghost_commit": {"id": "c", "parent": None}},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": "x", "annotations": [{"type": "url_citation", "url": EVIL}], "logprobs": []}]}])),
    "gemini single objects": (GEMINI, {"contents": {"role": "user", "parts": {"text": "hi"}},
                                       "systemInstruction": {"parts": {"text": "s"}}}),
    "gemini prompt as a text": (GEMINI, gemini(systemInstruction="s")),
    "gemini other spelling": (GEMINI, gemini(generation_config={"max_output_tokens": 10, "candidate_count": 1})),
    "gemini no settings": (GEMINI, gemini(generationConfig=None)),
    "gemini newer settings": (GEMINI, gemini(generationConfig={"responseFormat": {}, "audioTimestamp": False,
                                                               "enableEnhancedCivicAnswers": False})),
    "gemini text as data": (GEMINI, part(inlineData={"mimeType": "application/pdf", "data": "JVBERi0="})),
}


@cases(*PASSES)
def test_what_the_agent_does_itself_passes(t, case):
    path, request = PASSES[case]
    models = Models(t, lambda request, _: message(), tls=False)
    status, _, answer = models.ask(path, request)
    equal((status, len(models.provider.requests)), (200, 1), "it passes", answer)


ALLOWED = {
    "web-search": (MESSAGES, messages(tools=[{"type": "web_search_20250305", "name": "web_search"}])),
    "web-fetch": (MESSAGES, said(image())),
    "mcp": (MESSAGES, messages(mcp_servers=[MCP], tools=[{"type": "mcp_toolset", "mcp_server_name": "e"}])),
    "files": (MESSAGES, said({"type": "document", "source": {"type": "file", "file_id": "f"}})),
    "other": (MESSAGES, messages(brand_new=1)),
}


@cases(*ALLOWED)
def test_a_setting_allows_each_kind_where_no_network_policy_applies(t, kind):
    path, request = ALLOWED[kind]
    other = "files" if kind != "files" else "mcp"
    models = Models(t, lambda request, _: message(), "--provider-tools", kind, tls=False)
    equal((models.ask(path, request)[0], len(models.provider.requests)), (200, 1), "it passes")
    models = Models(t, lambda request, _: message(), "--provider-tools", other, tls=False)
    equal((models.ask(path, request)[0], len(models.provider.requests)), (400, 0), "another setting does not allow it")


@cases((("mcp", "none"), 400), (("none", "mcp"), 200))
def test_none_removes_the_kinds_before_it(t, kinds, status):
    options = [word for kind in kinds for word in ("--provider-tools", kind)]
    models = Models(t, lambda request, _: message(), *options, tls=False)
    equal(models.ask(MESSAGES, messages(mcp_servers=[MCP]))[0], status, "the status")


MCP_WRONG = {
    "as an object": messages(mcp_servers=MCP),
    "of texts": messages(mcp_servers=[MCP["url"]]),
    "with another address": messages(mcp_servers=[{**MCP, "proxy_url": EVIL}]),
    "with an address in the tool": messages(mcp_servers=[MCP], tools=[
        {"type": "mcp_toolset", "mcp_server_name": "e", "server_url": EVIL}]),
}


@cases(*MCP_WRONG)
def test_servers_are_allowed_only_in_a_shape_that_can_be_checked(t, case):
    models = Models(t, lambda request, _: message(), "--provider-tools", "mcp", tls=False)
    equal((models.ask(MESSAGES, MCP_WRONG[case])[0], models.provider.requests), (400, []), "it is refused")
    equal(models.ask(MESSAGES, messages(mcp_servers=[MCP]))[0], 200, "a list of servers passes")


@cases((CHAT, talked({"video_url": EVIL}), "messages[].content.video_url"), (RESPONSES, responses(webhook=EVIL), "webhook"),
       (CHAT, chat(tools=[{"type": "mcp"}]), "tools[].type"), (CHAT, chat(Tools=[]), "Tools"))
def test_openais_clients_are_told_the_field(t, path, request, field):
    models = Models(t, lambda request, _: message(), tls=False)
    equal(json.loads(models.ask(path, request)[2])["error"]["param"], field, "the field")


def test_a_local_server_gets_settings_of_its_own_but_no_addresses(t):
    models = Models(t, lambda request, _: message(), tls=False, local=True)
    equal(models.ask(CHAT, chat(mm_processor_kwargs={}))[0], 200, "a setting that is unknown here passes")
    for request in (talked({"video_url": EVIL}), chat(messages=[{"role": "user", "content": "x", "images": [EVIL]}])):
        equal(models.ask(CHAT, request)[0], 400, "an address does not")


def test_the_gateway_names_what_a_project_may_not_set(t):
    t.write("ringfence.yml", "provider-tools: [mcp]\n")
    models = Models(t, lambda request, _: message(), tls=False)
    equal(models.ask(MESSAGES, messages(mcp_servers=[MCP]))[0], 400, "it is not active")
    contains(models.process.stderr.readline().decode(), "widens the fence (provider-tools), which is inactive", "the notice")


@each_identity
def test_headers_that_no_provider_needs_stay_here(t):
    """Servers between us and a provider take orders from headers, such as another address to send everything to."""
    models = Models(t, lambda request, _: message(), tls=False)
    models.ask(headers={"helicone-target-url": "https://evil.example", "x-portkey-custom-host": "https://evil.example",
                        "anthropic-beta": "b1", "user-agent": "u"})
    headers = models.provider.requests[0].headers
    expect("helicone-target-url" not in headers and "x-portkey-custom-host" not in headers, "they stay", headers)
    equal((headers["anthropic-beta"], headers["user-agent"]), ("b1", "u"), "the provider's own pass")


# --- what changes the price

PRICED = {
    "a tier of Gemini": (GEMINI, gemini(serviceTier="SERVICE_TIER_PRIORITY"), "priority"),
    "a tier of Gemini, other spelling": (GEMINI, gemini(service_tier="priority"), "priority"),
    "a tier as a number": (GEMINI, gemini(serviceTier=3), "serviceTier"),
    "a tier without a price": (CHAT, chat(model="gpt-4.1", service_tier="Priority"), "fast="),
    "an unknown tier": (RESPONSES, responses(service_tier="ultra"), "service_tier"),
    "speed without a price": (MESSAGES, messages(model="claude-opus-4-6", speed="fast"), "fast="),
    "an unknown speed": (MESSAGES, messages(speed="warp"), "speed"),
    "an unknown region": (MESSAGES, messages(inference_geo="mars"), "inference_geo"),
    "audio": (CHAT, chat(modalities=["text", "audio"], audio={"voice": "alloy", "format": "wav"}), "audio"),
    "images of Gemini": (GEMINI, gemini(generationConfig={"responseModalities": ["TEXT", "IMAGE"]}), "responseModalities"),
    "speech of Gemini": (GEMINI, gemini(generationConfig={"speechConfig": {}}), "speechConfig"),
    "audio for Gemini": (GEMINI, part(inlineData={"mimeType": "audio/wav", "data": "AA=="}), "audio/wav"),
    "a prediction": (CHAT, chat(prediction={"type": "content", "content": "x"}), "prediction"),
    "pro reasoning": (RESPONSES, responses(reasoning={"mode": "pro"}), "mode"),
    "a long cache": (RESPONSES, responses(prompt_cache_retention="12h"), "prompt_cache_retention"),
    "compaction": (MESSAGES, messages(context_management={"edits": [{"type": "compact_20260112"}]}), "compact_20260112"),
    "candidates": (GEMINI, gemini(generationConfig={"candidateCount": "8"}), "number of answers"),
}


@cases(*PRICED)
def test_what_has_no_known_price_is_refused(t, case):
    path, request, word = PRICED[case]
    models = Models(t, lambda request, _: message(), tls=False)
    status, _, answer = models.ask(path, request)
    equal((status, models.provider.requests), (400, []), "it is refused, and nothing left", answer)
    contains(json.loads(answer)["error"]["message"], word, "the reason")


def test_a_known_tier_has_its_price(t):
    models = Models(t, lambda request, _: respond({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
                                                   "usage": {"prompt_tokens": 100, "completion_tokens": 10}}), tls=False)
    equal([models.ask(CHAT, chat(model="gpt-6-sol", service_tier=tier))[0] for tier in ("default", "priority")], [200, 200],
          "both pass")
    equal([line["cost_nusd"] for line in models.ledger(2)], [100 * 2000 + 10 * 10000, 2 * (100 * 2000 + 10 * 10000)], "the costs")
