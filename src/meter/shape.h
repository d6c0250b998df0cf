/*
 * Error responses that make a model's client stop, and reset times in a provider's own errors.
 *
 * Clients retry after most errors. The forms here are those after which each client was observed to
 * stop. A made-up end of an answer is not among them, because it would look like success. Pure
 * functions.
 */
#ifndef METER_SHAPE_H
#define METER_SHAPE_H

#include "meter/usage.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shape_reason {
	SHAPE_BUDGET,   /* the budget is used up: never retry */
	SHAPE_RUNAWAY,  /* the same request failed too often: never retry */
	SHAPE_KEY,      /* the run's token is missing or wrong */
	SHAPE_REQUEST,  /* the request cannot be metered */
	SHAPE_ROUTE,    /* there is no such route */
	SHAPE_LARGE,    /* the body is too large */
	SHAPE_MODEL,    /* the model is unknown, and unknown models are refused */
	SHAPE_UPSTREAM, /* the provider is unreachable, or its response cannot be metered */
	SHAPE_BUSY,     /* no capacity now: retry */
	SHAPE_SLOW,     /* the body did not arrive in time: retry */
	SHAPE_UPGRADE,  /* WebSocket is not supported: use POST */
	SHAPE_REASONS
};

/* Appends a complete response, head and body. `param` is the field that is the reason, or NULL.
 * `keep`: the connection stays open. */
void shape_refuse(struct buffer *out, enum usage_format format, enum shape_reason reason,
		  const char *text, const char *param, bool keep);

/* Appends the event that ends a running stream with this error, before it is cut. Returns false,
 * and appends nothing, if the client handles a plain cut better. */
bool shape_stream_end(struct buffer *out, enum usage_format format, const char *text);

/*
 * The reset time found in a response. The end of the limit that was reached (retry-after, the body,
 * Anthropic's unified reset) outweighs those of all windows, some of which are not used up. Of
 * several, the latest counts.
 */
struct shape_limit {
	int64_t at_ms; /* when to retry, or 0 if unknown */
	bool reached;  /* it is the end of the limit that was reached */
};

/* Processes one header of a response. now_ms is since the epoch. */
void shape_limit_line(struct shape_limit *limit, const char *name, size_t name_size,
		      const char *value, size_t value_size, int64_t now_ms);

/* Processes the error in its body. */
void shape_limit_body(struct shape_limit *limit, const struct usage *usage, int64_t now_ms);

#endif
