/*
 * What the readers of JSON lines share: a line at a time is looked at where it stands (jsonline.h), and events
 * go out. A reader is a struct that begins with a struct stream, and a function that takes a line.
 */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include "agent/agent_reader.h"
#include "agent/jsonline.h"

struct stream {
	struct agent_reader base;
	struct agent_reader_lines lines;
	void (*take)(struct stream *stream, struct jsonline line);
	void (*finish)(struct stream *stream); /* the stream has ended; NULL: nothing to do */
	struct buffer said; /* what the agent has said since it last did something: the end of it */
};

/* Makes one of this size, which begins with a struct stream. */
struct agent_reader *stream_open(size_t size, agent_event_fn *fn, void *context,
				 void (*take)(struct stream *, struct jsonline),
				 void (*finish)(struct stream *));

/* For the table of a format. */
void stream_feed(struct agent_reader *reader, const char *data, size_t size);
void stream_end(struct agent_reader *reader);
void stream_free(struct agent_reader *reader);

#define STREAM_FORMAT(label, opens)                                                       \
	{                                                                                 \
		.name = (label), .open = (opens), .feed = stream_feed, .end = stream_end, \
		.free = stream_free, .ends = true, .grows = true                          \
	}

void stream_emit(struct stream *stream, const struct agent_event *event);

/* The turn is over. If it failed, its text is that of an error, and no final message. */
void stream_finish(struct stream *stream, const struct agent_event *finished);

/* A line that is not understood. */
void stream_unknown(struct stream *stream);

/* The agent says something; said in parts, it is added to what came before. */
void stream_say(struct stream *stream, struct jsonline text);

/* The agent does something else: what it said before is not its last word. */
void stream_hush(struct stream *stream);

/* Text of a value for an event, which the buffer keeps; NULL if it is no string. */
const char *stream_text(struct jsonline value, struct buffer *keeps);

/* The path, the command or whatever else a tool's input is about; nothing if there is none. */
struct jsonline stream_target(struct jsonline input);

/*
 * Spending that the agent reports as a sum since its session began: what is new of it goes out as one event.
 * A sum that is smaller than the one before has begun again. Unknown parts are -1.
 */
void stream_spent(struct stream *stream, const char *model, const struct agent_tokens *sum,
		  int64_t cost_nusd);

/* The number behind one of the marks ("status ", "\"code\":"), if it is an HTTP status; else 0. */
int64_t stream_find_status(const char *text, const char *const *marks);

#endif
