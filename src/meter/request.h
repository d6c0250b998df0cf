/*
 * The request's route and the values in its body that decide its cost.
 *
 * Only the exact paths in the table are routes; nothing is normalised. Bodies are read in pieces
 * and changed only by edits. A body that two parsers could read differently (a duplicate key, or a
 * key in another case) is refused.
 */
#ifndef METER_REQUEST_H
#define METER_REQUEST_H

#include "meter/jsonscan.h"
#include "meter/usage.h"
#include "provider/provider.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REQUEST_MODEL = 2 * PRICE_NAME,
	REQUEST_TARGET = 512,
	REQUEST_EDITS = 4,
	/* output tokens if the request names no limit: the models' maximum */
	REQUEST_UNSAID = 128000,
	REQUEST_FLOOR = 1024,    /* output tokens: a request's limit is not lowered below this, */
	REQUEST_THINKING = 2048, /* or below this if it has a thinking budget */
	/* input tokens for content kept at the provider, and for a document it fetches */
	REQUEST_ELSEWHERE = 200000,
	REQUEST_IMAGE = 10000,    /* for an image it fetches */
	REQUEST_WINDOW = 1000000, /* for all of that together: the largest context window */
	REQUEST_LEVELS = 3,       /* nesting of content blocks */
};

struct request_route {
	const char *name; /* "messages", "chat": as in the ledger */
	const char *method;
	const char *path; /* '*' matches a model's name */
	enum provider_id provider;
	enum usage_format format;
	bool billed; /* queries a model; other routes are free */
	bool stream; /* the path implies streaming */
};

struct request_target {
	const struct request_route *route;
	char model[REQUEST_MODEL];   /* from the path, or empty if it is in the body */
	char target[REQUEST_TARGET]; /* path and query for the provider, without keys */
};

/* Finds the route. `anthropic` (a header identifies the client) decides between providers with
 * the same path. Returns 0, or -1 if there is no such route. */
int request_find(const char *method, size_t method_size, const char *target, size_t target_size,
		 bool anthropic, struct request_target *ret_target);

struct request_edit {
	uint64_t at;
	uint64_t remove; /* bytes */
	char text[64];
};

struct request_body {
	const struct request_route *route;
	struct jsonscan scan;
	char model[REQUEST_MODEL];
	bool stream;
	bool fast;
	bool asks_usage; /* the client itself asked for the usage chunk */
	bool elsewhere;  /* a part of the input is kept at the provider */
	/* referenced, not included: the provider fetches or keeps them */
	uint64_t documents, images;
	uint64_t most; /* limit of output tokens, explicit or not, over all answers */
	uint64_t answers;

	/* The places that may be edited. */
	struct request_spot {
		uint64_t start, end; /* 0, 0: absent */
		enum jsonscan_kind kind;
		uint64_t number;
		bool empty; /* of an object */
	} limit[2], options, usage, config, thinking;
	struct request_block { /* the content block being read */
		bool named, image;
	} blocks[REQUEST_LEVELS];
	uint64_t root; /* offset after the first bracket */
	uint32_t seen; /* one bit per key */
	const char *wrong;
	struct request_edit edits[REQUEST_EDITS];
	size_t edit_count;
};

/* Initialises *body, which must not move afterwards. */
void request_body_init(struct request_body *body, const struct request_target *target);
void request_body_feed(struct request_body *body, const char *bytes, size_t size);

/* Ends the body. Returns NULL, or a message on why it is refused. */
const char *request_body_end(struct request_body *body);

/* Add edits, sorted by offset. request_body_limit() lowers the output limit to `tokens`, which
 * must be less than `most`; request_body_ask_usage() makes a stream report its usage. */
void request_body_limit(struct request_body *body, uint64_t tokens);
void request_body_ask_usage(struct request_body *body);

/* Returns the input tokens to assume for content that is kept at the provider or referenced by a
 * URL or id. */
uint64_t request_body_elsewhere(const struct request_body *body);

/* Returns the number of output tokens below which the request is not worth sending. */
uint64_t request_body_floor(const struct request_body *body);

/* Returns how much the edits change the body's length. */
int64_t request_body_growth(const struct request_body *body);

#endif
