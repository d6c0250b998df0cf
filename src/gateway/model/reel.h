/*
 * Tapes in the gateway: calls that are recorded, and calls that a tape answers instead of a provider.
 *
 * A recorder goes along with a call and sees what the client would: the answer as it came, without keys. It is written in one
 * go when the call is over. A reel takes the place of a connection: it swallows the request and gives out what was recorded, so that all that
 * meters, reserves and cuts is the same as ever. reel_record.c and reel_replay.c.
 */
#ifndef GATEWAY_MODEL_REEL_H
#define GATEWAY_MODEL_REEL_H

#include "tape/tape.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct model_request;
struct engine;
struct http_response;
struct upstream_link;
struct upstream_user;
struct reel_recorder;
struct reel;

/* Which exchanges of a tape are used: 0, or the number of the run that did. In memory that the owner keeps. */
struct reel_marks {
	uint64_t tape; /* which one */
	uint64_t used[TAPE_EXCHANGES];
};

/* What a gateway has of tapes. */
struct reel_deck {
	struct tape tape;
	struct tape_names names;
	int fd;                   /* of a tape that is recorded; -1: none, or no more */
	size_t size;              /* of that */
	struct reel_marks *marks; /* of a replay; NULL: none */
	uint64_t *used;           /* the same, and what is being given out */
	struct reel *ready;       /* those that have something to give */
	bool replay;
	char stray[TAPE_DIFFERENCE + 100]; /* the tape was left: nothing is answered any more */
};

/* Takes the descriptors over. Returns 0, or -1 with err set. */
int reel_begin(struct engine *engine, int tape, int used, struct error *err);

/* Lets those go on that can. Returns how long the loop may wait. */
uint64_t reel_settle(struct engine *engine);

/* reel_record.c. Nothing of it does anything if nothing is recorded. */
void reel_record_request(struct model_request *call);
void reel_record_head(struct model_request *call, const struct http_response *response);
void reel_record_bytes(struct model_request *call, const char *bytes, size_t size);
void reel_record_whole(struct model_request *call);
void reel_record_end(struct model_request *call); /* the call is over; writes it down */

/* reel_replay.c: the conversation of a call, as it is compared. */
void reel_listen(struct model_request *call, struct tape_talk *ret_talk);
/* Finds the answer and takes the place of the connection. Returns false: there is none, and the call was refused. */
bool reel_connect(struct model_request *call, const struct upstream_user *user);

/* As those of upstream.h. */
ssize_t reel_read(struct reel *reel, void *bytes, size_t size);
void reel_watch(struct reel *reel, bool reading);
void reel_free(struct reel *reel);

#endif
