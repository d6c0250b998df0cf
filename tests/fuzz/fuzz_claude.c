// sources: src/agent/agent.c src/agent/claude.c src/agent/codex.c src/agent/events.c src/agent/gemini.c src/agent/lines.c src/agent/opencode.c src/agent/plain.c src/agent/scan.c src/agent/stream.c -ljansson
/* The stream of claude. */
#include "fuzz.h"

#include "stream.h"

void fuzz_claude(const uint8_t *data, size_t size)
{
	stream_fuzz("claude", data, size);
}

FUZZ_TARGET(fuzz_claude)
