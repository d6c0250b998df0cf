/*
 * Typed events from an agent's output.
 *
 * A reader is fed the bytes of one agent's stdout and calls back with typed events, which are all
 * that other modules see. Readers are pure: no files, no clock. Their input is untrusted: a reader
 * buffers at most one line of AGENT_LINE_MAX bytes, and input that it does not understand is an
 * `unknown` event, nothing worse.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "failure/failure.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AGENT_LINE_MAX = 1 << 20,  /* a longer line is an unknown event */
	AGENT_TEXT_MAX = 16 << 10, /* longest text in an event; a longer one keeps its end */
};

#define AGENT_EVENTS(X)                                                                \
	X(started)                                                                     \
	X(text)     /* a message from the agent */                                     \
	X(thinking) /* its reasoning, where it is shown */                             \
	X(tool_call)                                                                   \
	X(tool_result)                                                                 \
	X(file_changed)                                                                \
	X(tokens)     /* used since the last such event; name: the model */            \
	X(cost)       /* since the last such event */                                  \
	X(rate_limit) /* reached if error is FAILURE_RATE_LIMIT, else informational */ \
	X(retry)      /* the agent retries; the error stands until it works again */   \
	X(error)                                                                       \
	X(finished) /* the turn is over; text is the final message */                  \
	X(unknown)

enum agent_event_kind {
#define AGENT_EVENT(name) AGENT_EVENT_##name,
	AGENT_EVENTS(AGENT_EVENT)
#undef AGENT_EVENT
		AGENT_EVENT_COUNT
};

/* -1: unknown. The four kinds of input are disjoint; reasoning is part of output. */
struct agent_tokens {
	int64_t input, output, cache_read, cache_write_5m, cache_write_1h, reasoning;
};

#define AGENT_TOKENS_UNKNOWN ((struct agent_tokens){ -1, -1, -1, -1, -1, -1 })

/* A session's usage since it began. */
struct agent_totals {
	struct agent_tokens tokens;
	int64_t cost_nusd;
};

/* Strings are valid only during the callback. */
struct agent_event {
	enum agent_event_kind kind;
	const char *text;    /* text, message, summary; UTF-8, bounded, NUL-terminated; or NULL */
	const char *name;    /* of a tool, a model, a child agent */
	const char *target;  /* of a tool call: path or command; of file_changed: path */
	const char *session; /* started, finished */
	bool ok;             /* tool_result, finished */
	/* tool_result: the output of the tool, as a JSON value of the stream; or NULL */
	const char *output;
	size_t output_size;
	enum failure error;
	/* rate_limit: seconds since the epoch; 0: unknown (the text may name it) */
	int64_t reset_at;
	int64_t delay_ms; /* retry */
	struct agent_tokens tokens;
	int64_t cost_nusd; /* cost: an increment, even if the agent reports totals; -1: unknown */
};

/* An event of this kind with all values unknown. */
#define AGENT_EVENT_INIT(what) \
	((struct agent_event){ .kind = (what), .tokens = AGENT_TOKENS_UNKNOWN, .cost_nusd = -1 })

typedef void agent_event_fn(void *context, const struct agent_event *event);

/* Appends the output of a tool as text; of a long one, its end of AGENT_TEXT_MAX bytes. Appends
 * nothing if there is none. */
void agent_event_output(const struct agent_event *event, struct buffer *out);

struct agent_reader; /* one stream being read; defined in agent_reader.h */

/* An output format and its reader. */
struct agent_format {
	const char *name;
	struct agent_reader *(*open)(agent_event_fn *fn, void *context);
	void (*feed)(struct agent_reader *reader, const char *data, size_t size);
	void (*end)(struct agent_reader *reader);
	void (*free)(struct agent_reader *reader);
	bool ends;     /* reports the end of a turn: text from a turn that failed is not final */
	bool pieces;   /* a message can come in several text events, of which each is a piece */
	bool grows;    /* each text event repeats all text since the agent's last action */
	int exit_http; /* the exit status is an HTTP status minus this; 0: unrelated */
};

/* Returns the format with this name, such as "plain" or "events", or NULL. */
const struct agent_format *agent_format_find(const char *name);

/* Returns all names, separated by commas, for a message; the caller frees. */
char *agent_format_names(void);

struct agent_reader *agent_reader_new(const struct agent_format *format, agent_event_fn *fn,
				      void *context);

/* Sets the usage of a resumed session so far. Agents that report totals start from it. */
void agent_reader_continue(struct agent_reader *reader, const struct agent_totals *before);

void agent_reader_feed(struct agent_reader *reader, const char *data, size_t size);

/* Ends the stream; an unterminated last line is read as a line. */
void agent_reader_end(struct agent_reader *reader);
void agent_reader_free(struct agent_reader *reader);

/* The result of a whole stream. Unknown values stay unknown; they do not become zero. */
struct agent_summary {
	char *final; /* text of `finished`, else the last text, or NULL */
	char *session;
	char *message; /* of the current error */
	bool finished; /* the agent reported the end of its turn */
	bool ok;       /* and success, which clears earlier errors */
	enum failure error;
	int64_t reset_at; /* of a limit; 0: unknown (the message may name it) */
	struct agent_tokens tokens;
	int64_t cost_nusd; /* -1: unknown */
	/* the agent's own figure, if the gateway has measured another one; else -1 */
	int64_t agent_nusd;
	int64_t estimated_nusd; /* the part of the cost that the gateway estimated; else 0 */
	bool unpriced;          /* some tokens have no known price: the real cost is higher */
	bool retrying;          /* the agent is still retrying after this error */
	uint64_t tool_calls, tool_errors, files_changed, retries, errors, unknown;
};

void agent_summary_init(struct agent_summary *summary);
void agent_summary_add(struct agent_summary *summary, const struct agent_event *event);

/* Adds the agent's exit status, which may identify an error better than the stream did. */
void agent_summary_exit(struct agent_summary *summary, const struct agent_format *format, int code);

void agent_summary_release(struct agent_summary *summary);

const char *agent_event_name(enum agent_event_kind kind);

#endif
