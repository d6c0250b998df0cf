/*
 * The request's route, the values in its body that decide its cost, and what it asks the provider
 * to do.
 *
 * Only the exact paths in the table are routes; nothing is normalised. Bodies are read in pieces
 * and changed only by edits. A body that two parsers could read differently (a duplicate key, or a
 * key in another case) is refused, and so is one that the provider would act on (schema.h) without
 * permission. The source files: request.c (routes), request_body.c (reading), request_check.c
 * (permission), request_edit.c (edits).
 */
#ifndef METER_REQUEST_H
#define METER_REQUEST_H

#include "meter/jsonscan.h"
#include "meter/schema.h"
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
	REQUEST_WHY = 640,        /* bytes of a reason for a refusal */
	REQUEST_FIELD = 224,      /* and of the field that is the reason */
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

/* The things that a client may ask a provider to do. */
struct request_policy {
	unsigned int tools; /* PROVIDER_TOOL_BIT() of what is allowed */
	bool local;         /* the user's own server: unknown fields pass */
	/* Returns true if the network policy allows this host and port. NULL: there is none. */
	bool (*allows)(const void *context, const char *host, uint16_t port);
	const void *context;
};

struct request_body {
	const struct request_route *route;
	const struct schema *schema;
	struct request_policy policy;
	struct jsonscan scan;
	char model[REQUEST_MODEL];
	char geo[PRICE_GEO]; /* the region that it names, or empty */
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
	struct request_block {      /* the content blocks being read, the innermost last */
		bool named, image;  /* it refers to content elsewhere, which is an image */
		bool id, filled;    /* it has an id, and something else */
		bool cites, plain;  /* by its type, and by that of its source */
		bool typed;         /* its data has a media type */
		uint8_t cited, raw; /* the rows of an address and of data that is not base64 */
	} blocks[JSONSCAN_DEPTH];
	size_t block_count;
	struct request_tool {                  /* the tools being read */
		bool fetches, searches, shell; /* its type */
		bool limited, cached, here;    /* and what makes it harmless */
	} tools[JSONSCAN_DEPTH];
	size_t tool_count;
	uint64_t root;             /* offset after the first bracket */
	char why[REQUEST_WHY];     /* it is refused, or empty */
	char field[REQUEST_FIELD]; /* the field that is the reason, or empty */
	bool denied; /* because of what the provider would do, not because it is malformed */
	struct request_edit edits[REQUEST_EDITS];
	size_t edit_count;
};

/* Initialises *body, which must not move afterwards. policy may be NULL: nothing is allowed. */
void request_body_init(struct request_body *body, const struct request_target *target,
		       const struct request_policy *policy);
void request_body_feed(struct request_body *body, const char *bytes, size_t size);

/* Ends the body. Returns NULL, or a message on why it is refused. */
const char *request_body_end(struct request_body *body);

/* For the other source files. Refuse the body: request_body_refuse() because it is malformed,
 * request_body_deny() because of what the provider would do. The first reason stays. */
void request_body_refuse(struct request_body *body, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void request_body_deny(struct request_body *body, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Checks a value for what the provider would do with it. */
void request_check_value(struct request_body *body, const struct jsonscan_value *value);
/* A field that is not in the schema. */
void request_check_unknown(struct request_body *body, size_t parent, const char *key);
/* Names a field as in "tools[].type". */
void request_check_name(const struct request_body *body, size_t row, const char *key,
			char ret_name[REQUEST_FIELD]);
/* The whole body: its model. */
void request_check_model(struct request_body *body);

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
