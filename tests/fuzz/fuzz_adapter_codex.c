// sources: src/agent/agent.c src/agent/agent_format.c src/agent/adapter_claude.c
// sources: src/agent/adapter_codex.c src/agent/agent_events.c src/agent/adapter_gemini.c
// sources: src/agent/agent_reader.c src/agent/adapter_opencode.c src/agent/agent_plain.c
// sources: src/failure/failure.c
// sources: src/agent/jsonline.c src/agent/stream.c -ljansson
/* Codex's stream. */
#include "fuzz.h"

#include "stream.h"

void fuzz_adapter_codex(const uint8_t *data, size_t size)
{
	stream_fuzz("codex", data, size);
}

FUZZ_TARGET(fuzz_adapter_codex)
