/*
 * The base of all readers of JSON lines. A reader is a struct that begins with a struct stream, and
 * a function that is called with each line (jsonline.h) and emits events.
 */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include "agent/agent_reader.h"
#include "agent/jsonline.h"

struct stream {
	struct agent_reader base;
	struct agent_reader_lines lines;
	void (*handle)(struct stream *stream, struct jsonline line);
	void (*finish)(struct stream *stream); /* called at the end of the stream, or NULL */
	struct buffer text; /* text since the agent's last action; a long one keeps its end */
};

/* Allocates a reader of this size, which begins with a struct stream. */
struct agent_reader *stream_open(size_t size, agent_event_fn *fn, void *context,
				 void (*handle)(struct stream *, struct jsonline),
				 void (*finish)(struct stream *));

/* Functions for a format's table. */
void stream_feed(struct agent_reader *reader, const char *data, size_t size);
void stream_end(struct agent_reader *reader);
void stream_free(struct agent_reader *reader);

#define STREAM_FORMAT(label, opens)                                                       \
	{                                                                                 \
		.name = (label), .open = (opens), .feed = stream_feed, .end = stream_end, \
		.free = stream_free, .ends = true, .grows = true                          \
	}

void stream_emit(struct stream *stream, const struct agent_event *event);

/* Ends the turn. The text of a failed turn is reported as an error, not as the final message. */
void stream_finish(struct stream *stream, const struct agent_event *finished);

/* Reports a line that was not understood. */
void stream_unknown(struct stream *stream);

/* Appends a piece of the agent's current message. */
void stream_add_text(struct stream *stream, struct jsonline text);

/* Drops the current message: the agent has done something else since, so it is not the last one. */
void stream_clear_text(struct stream *stream);

/* Reports reasoning of the agent, if the value is a text that is not empty. */
void stream_thinking(struct stream *stream, struct jsonline text);

/* Decodes a string for an event into `keeps`; returns NULL if the value is not a string. */
const char *stream_text(struct jsonline value, struct buffer *keeps);

/* Returns the path, command or other subject of a tool's input, or an empty value. */
struct jsonline stream_target(struct jsonline input);

/*
 * Emits usage that the agent reports as a total since its session began: the event holds the
 * increase. A total below the previous one has started over. Unknown parts are -1.
 */
void stream_report_total(struct stream *stream, const char *model, const struct agent_tokens *sum,
			 int64_t cost_nusd);

/*
 * Returns the number after one of the marks ("status ", "\"code\":") if it is an HTTP error status,
 * else 0.
 */
int64_t stream_find_status(const char *text, const char *const *marks);

#endif
