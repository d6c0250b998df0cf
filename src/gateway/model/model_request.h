/*
 * A request to a model, and its answer.
 *
 * The client's body is read whole before anything leaves: what it asks for decides what it may cost. Then money
 * is reserved, the body goes on with the provider's key in its head, and the answer comes back as it is, while a side
 * reader meters it. model_request_head.c has its head, model_request.c its body, model_request_send.c its way to the provider, model_request_answer.c what comes back, model_request_cost.c what it cost.
 */
#ifndef GATEWAY_MODEL_MODEL_REQUEST_H
#define GATEWAY_MODEL_MODEL_REQUEST_H

#include "gateway/proxy/connection.h"
#include "meter/mask.h"
#include "meter/request.h"
#include "meter/shape.h"
#include "meter/usage.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MODEL_REQUEST_BODY_MOST = 32 << 20,   /* bytes of a request */
	MODEL_REQUEST_MEMORY = 256 << 10,     /* of which so many are kept in our own memory */
	MODEL_REQUEST_SPOOL_MOST = 128 << 20, /* in memory files, of all requests together */
	MODEL_REQUEST_EVENT_MOST = 64 << 10,  /* of an event that may have to be taken out */
};

enum model_request_state {
	MODEL_REQUEST_READING,    /* the client's body */
	MODEL_REQUEST_WAITING,    /* for money */
	MODEL_REQUEST_CONNECTING, /* to the provider */
	MODEL_REQUEST_SENDING,
	MODEL_REQUEST_ANSWERED, /* the provider's head is through, its body is on its way */
	MODEL_REQUEST_OVER,
};

struct model_request {
	struct budget_spender spender;
	struct connection *connection;
	struct engine *engine;
	struct request_target target;
	struct request_body body;
	struct upstream *upstream;
	const struct price_model *model; /* NULL: unknown */
	char child[64];
	uint64_t reserved;
	uint64_t began_ms, first_ms;

	/* the request */
	struct buffer lines; /* of its head, that go on */
	uint64_t left;       /* of its body, if it has a length */
	struct http_chunks chunks;
	struct buffer memory; /* its body; or, if that is large, `spool` */
	uint64_t size;        /* of the body as it came */
	struct upstream_link *link;
	char unreached[LEDGER_ERROR]; /* why there is no answer; empty: there may be one */
	struct buffer head;           /* as it is sent */
	size_t head_at;
	uint64_t body_at;
	size_t edit, edit_at;

	/* the answer */
	struct buffer answer; /* its head */
	size_t scanned;
	uint64_t answer_left;
	struct http_chunks answer_chunks;
	struct usage_reader reader;
	struct mask mask;
	struct shape_limit limit;
	struct buffer event; /* the one that may have to be taken out, as far as it is there */
	const char *piece;   /* that is being fed to the reader */
	size_t piece_at;     /* how much of it is dealt with */

	struct reel_recorder *recorder; /* reel.h; NULL: it is not recorded */

	enum model_request_state state;
	enum http_body kind, answer_kind;
	int spool;           /* a memory file; -1: none */
	unsigned int status; /* of the answer; 0: none that can be used */
	bool keep;           /* the client's connection is used again */
	bool priced;         /* money was reserved, and is settled at the end */
	bool sent;           /* all of the request */
	bool answer_done;
	bool server_keep;
	bool frames;  /* the client gets chunks */
	bool strip;   /* an event that the client did not ask for is taken out */
	bool metered; /* the answer is read */
	bool opaque;  /* it cannot be read: it is charged all that was reserved */
};

/* A head that is no proxy's is whole. Returns true if the visit has got on. */
bool model_request_head(struct connection *connection, size_t head);

void model_request_begin(
	struct connection
		*connection); /* the head is taken: goes on with what is there of the body */
void model_request_from_client(struct connection *connection);
bool model_request_wants_client(const struct connection *connection);
void model_request_too_slow(struct connection *connection); /* its body does not come to its end */
void model_request_update(struct connection *connection);   /* what its connection waits for */
void model_request_resume(
	struct connection
		*connection); /* the client has taken all: what was read already goes on */
void model_request_free(struct model_request *call); /* with its visit; settles what is open */

extern const struct budget_spending model_request_spending;

/* Says no, in the client's own form, and ends the visit. */
void model_request_refuse(struct connection *connection, enum usage_format format,
			  enum shape_reason reason, const char *text);

/* model_request_send.c */
void model_request_connect(struct model_request *call);

/* model_request_answer.c */
void model_request_read_answer(struct model_request *call);
void model_request_broken(struct model_request *call,
			  const char *why); /* between us and the provider */

/* model_request_cost.c */
void model_request_true_up(struct model_request *call); /* more is known now */
void model_request_settle(struct model_request *call);  /* nothing more comes */

#endif
