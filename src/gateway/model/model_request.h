/*
 * A request to a model, and its response.
 *
 * The client's body is read completely before anything is sent, because its contents decide the
 * cost. Then money is reserved and the body is sent with the provider's key in its head. The
 * response is forwarded unchanged while a reader meters it. The source files: model_request_head.c
 * (the head), model_request.c (the body), model_request_send.c (sending it to the provider),
 * model_request_answer.c (the response), model_request_cost.c (the cost).
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
	MODEL_REQUEST_BODY_MOST = 32 << 20,   /* maximum size of a body */
	MODEL_REQUEST_MEMORY = 256 << 10,     /* the part kept in our own memory */
	MODEL_REQUEST_SPOOL_MOST = 128 << 20, /* in memory files, of all requests together */
	MODEL_REQUEST_HELD_MOST = 64 << 10,   /* maximum size of an error that is held back */
	/* maximum size of an event that may have to be removed */
	MODEL_REQUEST_EVENT_MOST = 64 << 10,
};

enum model_request_state {
	MODEL_REQUEST_READING,    /* the client's body */
	MODEL_REQUEST_HELD,       /* earlier ones failed: runaway.h */
	MODEL_REQUEST_WAITING,    /* for money */
	MODEL_REQUEST_CONNECTING, /* to the provider */
	MODEL_REQUEST_SENDING,
	MODEL_REQUEST_ANSWERED, /* the response's head was forwarded, its body is arriving */
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
	struct open_requests_slot *slot; /* NULL: none */
	uint64_t began_ms, sent_ms, first_ms;

	/* the request */
	struct buffer lines; /* its headers to be forwarded */
	uint64_t left;       /* of its body, if it has a length */
	struct http_chunks chunks;
	struct buffer memory; /* its body; a large one is in `spool` */
	uint64_t size;        /* of the body as received */
	uint64_t hash;        /* of the body: runaway.h */
	struct event_loop_alarm hold;
	struct upstream_link *link;
	char unreached[LEDGER_ERROR]; /* why there is no whole answer by a model, or empty */
	struct buffer head;           /* as sent */
	size_t head_at;
	uint64_t body_at;
	size_t edit, edit_at;

	/* the response */
	struct buffer answer; /* its head */
	size_t scanned;
	uint64_t answer_left;
	struct http_chunks answer_chunks;
	struct usage_reader reader;
	struct mask mask;
	struct shape_limit limit;
	struct buffer held;  /* of an error, until its body is complete */
	struct buffer event; /* the event that may have to be removed, as far as received */
	const char *piece;   /* being fed to the reader */
	size_t piece_at;     /* how much is handled */

	struct reel_recorder *recorder; /* reel.h; NULL: not recorded */

	enum model_request_state state;
	enum http_body kind, answer_kind;
	int spool;           /* a memory file, or -1 */
	unsigned int status; /* of the response; 0: no usable response */
	bool keep;           /* the client's connection is reused */
	bool holding;        /* an error is not forwarded yet */
	bool priced;         /* money was reserved and is settled at the end */
	bool sent;           /* the complete request was sent */
	bool answer_done;
	bool server_keep;
	bool frames;  /* the client gets a chunked body */
	bool strip;   /* remove an event that the client did not request */
	bool metered; /* the response is read by the meter */
	bool opaque;  /* unreadable: charge the whole reservation */
	bool foreign; /* neither text nor JSON: an answer in it would not be recognised */
};

/* Handles the complete head of a request to the gateway itself. Returns true if the connection made
 * progress. */
bool model_request_head(struct connection *connection, enum http_form form, size_t head);

void model_request_begin(struct connection *connection); /* the head was consumed: read the body */
void model_request_from_client(struct connection *connection);
bool model_request_wants_client(const struct connection *connection);
void model_request_too_slow(struct connection *connection); /* its body did not arrive in time */
/* the events its connection waits for */
void model_request_update(struct connection *connection);
void model_request_resume(
	struct connection *connection); /* the client has read everything: forward more */
void model_request_free(struct model_request *request); /* with its connection; settles its cost */

extern const struct budget_spending model_request_spending;

/* Sends a refusal in the client's format, and ends the connection. */
void model_request_refuse(struct connection *connection, enum usage_format format,
			  enum shape_reason reason, const char *text);

/* model_request_send.c */
void model_request_connect(struct model_request *request);

/* model_request_answer.c */
void model_request_read_answer(struct model_request *request);
void model_request_broken(struct model_request *request,
			  const char *why); /* of the provider or its connection */

/* model_request_cost.c */
void model_request_open(struct model_request *request); /* money was reserved for it */
void model_request_note(struct model_request *request); /* what it would cost, if this were all */
void model_request_true_up(struct model_request *request); /* more is known by now */
void model_request_settle(struct model_request *request);  /* the response is over */

#endif
