/*
 * How to say no to a client of a model so that it stops, and until when a provider's own no holds.
 *
 * Clients try again after most errors. The forms here are those after which each of them was seen to end. A made-up
 * end of an answer is not among them: it would look like success. Pure functions.
 */
#ifndef METER_SHAPE_H
#define METER_SHAPE_H

#include "meter/usage.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shape_reason {
	SHAPE_BUDGET,   /* money is used up: never try again */
	SHAPE_KEY,      /* the token of this run is missing or wrong */
	SHAPE_REQUEST,  /* the request is not one that can be metered */
	SHAPE_ROUTE,    /* there is no such route */
	SHAPE_LARGE,    /* the body is too large */
	SHAPE_MODEL,    /* an unknown model, and those are refused */
	SHAPE_UPSTREAM, /* the provider cannot be reached, or its answer cannot be metered */
	SHAPE_BUSY,     /* no room now: try again */
	SHAPE_SLOW,     /* the body did not come to its end: try again */
	SHAPE_UPGRADE,  /* no WebSocket here: POST instead */
	SHAPE_REASONS
};

/* Appends a whole answer, head and body. keep: the connection can be used again. */
void shape_refuse(struct buffer *out, enum usage_format format, enum shape_reason reason,
		  const char *text, bool keep);

/*
 * What is said within a stream that has begun, before it is cut; NULL: nothing, the cut alone is the best.
 * The text is JSON-escaped into it.
 */
bool shape_stream_end(struct buffer *out, enum usage_format format, const char *text);

/* What a provider's head says about its limits. */
struct shape_limit {
	int64_t at_ms; /* try again then; 0: not said */
};

/* Takes one line of a head of an answer: name and value. now_ms: since the epoch. */
void shape_limit_line(struct shape_limit *limit, const char *name, size_t name_size,
		      const char *value, size_t value_size, int64_t now_ms);

#endif
