/*
 * What a request to a model asks for: which route it is, and what its body says that decides about its cost.
 *
 * A path that is not in the table is no route, however it is spelled: nothing is normalised. Bodies are read in
 * pieces, and changed only in the places that edits name. What two readers could understand in two ways (a key
 * twice, or in other letters) is refused.
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
	REQUEST_UNSAID = 128000, /* output tokens where none are named: what models do at most */
	REQUEST_FLOOR = 1024,    /* output tokens: a request is not cut down below these, */
	REQUEST_THINKING = 2048, /* nor, if it has a part for thinking, below these */
	REQUEST_ELSEWHERE =
		200000, /* input tokens for what is kept at the provider, and for a document that
				       it fetches */
	REQUEST_IMAGE = 10000,    /* for an image that it fetches */
	REQUEST_WINDOW = 1000000, /* for all of that: models do not read more at once */
	REQUEST_LEVELS = 3,       /* of blocks within blocks */
};

struct request_route {
	const char *name; /* "messages", "chat", as in the ledger */
	const char *method;
	const char *path; /* '*' stands for a model's name */
	enum provider_id provider;
	enum usage_format format;
	bool billed; /* asks a model; the others are free */
	bool stream; /* by its path */
};

struct request_target {
	const struct request_route *route;
	char model[REQUEST_MODEL];   /* of the path; empty: in the body */
	char target[REQUEST_TARGET]; /* path and query for the provider; keys are taken out */
};

/* Finds the route. anthropic: a header says that this provider is meant, where paths are the same.
 * Returns 0, or -1: it is none. */
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
	bool asks_usage;            /* the client wants the chunk with the usage itself */
	bool elsewhere;             /* a part of the input is kept at the provider */
	uint64_t documents, images; /* that are only named, and fetched or kept there */
	uint64_t most;              /* output tokens, named or not; all answers together */
	uint64_t answers;

	/* Of what may be edited: where it is. */
	struct request_spot {
		uint64_t start, end; /* 0, 0: not there */
		enum jsonscan_kind kind;
		uint64_t number;
		bool empty; /* an object */
	} limit[2], options, usage, config, thinking;
	struct request_block { /* of a message, that is being read */
		bool named, image;
	} blocks[REQUEST_LEVELS];
	uint64_t root; /* behind the first bracket */
	uint32_t seen; /* a bit for each key */
	const char *wrong;
	struct request_edit edits[REQUEST_EDITS];
	size_t edit_count;
};

/* The body must stay where it is. */
void request_body_init(struct request_body *body, const struct request_target *target);
void request_body_feed(struct request_body *body, const char *bytes, size_t size);

/* All was fed: NULL, or a sentence on what is wrong. */
const char *request_body_end(struct request_body *body);

/* Edits, sorted by place: no more output than this (fewer than `most`); and the usage of a stream, if it must be asked
 * for. */
void request_body_limit(struct request_body *body, uint64_t tokens);
void request_body_ask_usage(struct request_body *body);

/* Input tokens for what is not in the body: kept at the provider, or named by an address or an id. */
uint64_t request_body_elsewhere(const struct request_body *body);

/* Below how many output tokens it is not worth sending. */
uint64_t request_body_floor(const struct request_body *body);

/* By how much the edits change the length. */
int64_t request_body_growth(const struct request_body *body);

#endif
