/*
 * What an agent's output means.
 *
 * A reader takes the bytes of one agent's stdout as they come and calls back with typed events; the rest of
 * the house knows only these. Readers are pure: no file, no clock. Their input is foreign: whatever comes,
 * a reader keeps no more than a line of AGENT_LINE_MAX, and what it does not understand is an `unknown`
 * event and nothing worse.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "failure/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AGENT_LINE_MAX = 1 << 20,  /* a longer line is an unknown event */
	AGENT_TEXT_MAX = 16 << 10, /* of a text in an event; of a longer one the end is kept */
};

#define AGENT_EVENTS(X)                                                                        \
	X(started)                                                                             \
	X(text) /* something the agent says */                                                 \
	X(tool_call)                                                                           \
	X(tool_result)                                                                         \
	X(file_changed)                                                                        \
	X(tokens)     /* used since the last such event; name: by which model */               \
	X(cost)       /* likewise */                                                           \
	X(rate_limit) /* with FAILURE_RATE_LIMIT: it is reached; else for information */       \
	X(retry)      /* the agent tries again by itself; its error stands until it goes on */ \
	X(error)                                                                               \
	X(finished) /* the turn is over; its text is the final message */                      \
	X(unknown)

enum agent_event_kind {
#define AGENT_EVENT(name) AGENT_EVENT_##name,
	AGENT_EVENTS(AGENT_EVENT)
#undef AGENT_EVENT
		AGENT_EVENT_COUNT
};

/* -1: unknown. The four kinds of input have nothing in common; reasoning is part of the output. */
struct agent_tokens {
	int64_t input, output, cache_read, cache_write_5m, cache_write_1h, reasoning;
};

#define AGENT_TOKENS_UNKNOWN ((struct agent_tokens){ -1, -1, -1, -1, -1, -1 })

/* What a session has used since it began. */
struct agent_totals {
	struct agent_tokens tokens;
	int64_t cost_nusd;
};

/* The texts live as long as the call. */
struct agent_event {
	enum agent_event_kind kind;
	const char *text;   /* text, message, summary; UTF-8, bounded, NUL-terminated; NULL: none */
	const char *name;   /* of a tool, a model, a child agent */
	const char *target; /* of a tool call: path or command; of file_changed: path */
	const char *session; /* started, finished */
	bool ok;             /* tool_result, finished */
	enum failure error;
	int64_t reset_at; /* rate_limit: seconds since the epoch; 0: not known (text may say it in words) */
	int64_t delay_ms; /* retry */
	struct agent_tokens tokens;
	int64_t cost_nusd; /* cost: -1 unknown; cumulative or not is the reader's business: events carry increments */
};

/* An event of this kind, and nothing known but that. */
#define AGENT_EVENT_INIT(what) \
	((struct agent_event){ .kind = (what), .tokens = AGENT_TOKENS_UNKNOWN, .cost_nusd = -1 })

typedef void agent_event_fn(void *context, const struct agent_event *event);

struct agent_reader; /* one stream being read; what it holds: agent_reader.h */

/* How one kind of output is read. */
struct agent_format {
	const char *name;
	struct agent_reader *(*open)(agent_event_fn *fn, void *context);
	void (*feed)(struct agent_reader *reader, const char *data, size_t size);
	void (*end)(struct agent_reader *reader);
	void (*free)(struct agent_reader *reader);
	bool ends; /* it says when a turn is over: what was said in one that did not end well is not final */
	bool grows; /* a text is all that was said since the agent last did something, again and again */
	int exit_http; /* its exit status is an HTTP status less this; 0: it is none */
};

/* "plain", "events"; NULL: there is none of this name. */
const struct agent_format *agent_format_find(const char *name);

/* The names of all, one after another with commas, for a message; the caller frees. */
char *agent_format_names(void);

struct agent_reader *agent_reader_new(const struct agent_format *format, agent_event_fn *fn,
				      void *context);

/* The session that is read goes on from here: agents that report sums begin with these. */
void agent_reader_continue(struct agent_reader *reader, const struct agent_totals *before);

void agent_reader_feed(struct agent_reader *reader, const char *data, size_t size);

/* The stream has ended; a torn last line is taken for what it is. */
void agent_reader_end(struct agent_reader *reader);
void agent_reader_free(struct agent_reader *reader);

/* What a whole stream amounts to. Unknown is unknown, not zero. */
struct agent_summary {
	char *final; /* what `finished` said, else the last text; NULL: nothing was said */
	char *session;
	char *message; /* of the error that stands */
	bool finished; /* the agent said that its turn is over */
	bool ok;       /* and that it went well: errors before are forgotten then */
	enum failure error;
	int64_t reset_at; /* of a limit; 0: not known, the message may say it in words */
	struct agent_tokens tokens;
	int64_t cost_nusd;  /* -1: nobody said */
	int64_t agent_nusd; /* what the agent said, where somebody else has counted; -1: nothing, or
			       nobody has */
	bool unpriced; /* tokens were used whose price is not known: the cost is more than that */
	bool retrying; /* the error is one that the agent is still trying to get over */
	uint64_t tool_calls, tool_errors, files_changed, retries, errors, unknown;
};

void agent_summary_init(struct agent_summary *summary);
void agent_summary_take(struct agent_summary *summary, const struct agent_event *event);

/* The agent's exit status, which may say more about its error than its stream did. */
void agent_summary_exit(struct agent_summary *summary, const struct agent_format *format, int code);

void agent_summary_release(struct agent_summary *summary);

const char *agent_event_name(enum agent_event_kind kind);

#endif
