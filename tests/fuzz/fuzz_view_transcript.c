// sources: src/view/view_transcript.c src/view/view_entry.c
// sources: src/agent/agent.c src/agent/agent_format.c src/agent/adapter_claude.c
// sources: src/agent/adapter_codex.c src/agent/agent_events.c src/agent/adapter_gemini.c
// sources: src/agent/agent_reader.c src/agent/adapter_opencode.c src/agent/agent_plain.c
// sources: src/agent/agent_output.c src/failure/failure.c
// sources: src/agent/jsonline.c src/agent/stream.c -ljansson
/*
 * A log of any agent as windows of entries. The first byte chooses the agent, the second one where
 * the window moves. Entries are in order, their sizes are known, and a search ends.
 */
#include "fuzz.h"

#include "util/file/fd.h"
#include "view/view_transcript.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 8 };

static void check_window(const struct view_transcript *transcript)
{
	const struct view_entries *window = &transcript->window;
	size_t bytes = 0;

	for (size_t i = 0; i < window->count; i++) {
		const struct view_entry *at = &window->items[i];

		bytes += view_entry_bytes(at);
		if (i > 0 && (at->offset < at[-1].offset ||
			      (at->offset == at[-1].offset && at->ordinal <= at[-1].ordinal)))
			abort();
	}
	if (bytes != window->bytes || window->count > VIEW_TRANSCRIPT_MOST ||
	    transcript->begin > transcript->end)
		abort();
}

static void search_all(const struct view_transcript *transcript, bool backwards, size_t size)
{
	struct view_search search = { .text = "e",
				      .backwards = backwards,
				      .offset = backwards ? UINT64_MAX : 0 };
	enum view_found found;
	size_t steps = 0;

	do
		found = view_transcript_search(transcript, &search, 1);
	while (found != VIEW_FOUND_NONE && ++steps < 4 * size + 16);
	if (found != VIEW_FOUND_NONE)
		abort();
}

static void move(struct view_transcript *transcript, unsigned int how, size_t size)
{
	for (int i = 0; i < STEPS; i++, how >>= 1) {
		if (how & 1)
			view_transcript_earlier(transcript);
		else
			view_transcript_later(transcript);
		check_window(transcript);
	}
	view_transcript_to(transcript, size / 2);
	check_window(transcript);
	view_transcript_to_end(transcript);
	check_window(transcript);
}

void fuzz_view_transcript(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "plain",  "claude",   "codex",
					       "gemini", "opencode", "events" };
	char path[] = "/tmp/fuzz-transcript-XXXXXX";
	AUTO_FD fd = size < 2 ? -1 : mkstemp(path);
	const uint8_t *log = data + 2;
	size_t whole = size - 2;
	struct view_transcript transcript;

	if (fd < 0)
		return;
	fd_write_all(fd, log, whole / 2);
	view_transcript_open(&transcript, path, agent_format_find(formats[data[0] % 6]));
	check_window(&transcript);
	fd_write_all(fd, log + whole / 2, whole - whole / 2);
	view_transcript_poll(&transcript);
	check_window(&transcript);
	move(&transcript, data[1], whole);
	search_all(&transcript, false, whole);
	search_all(&transcript, true, whole);
	view_transcript_close(&transcript);
	unlink(path);
}

FUZZ_TARGET(fuzz_view_transcript)
