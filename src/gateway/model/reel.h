/*
 * Tapes in the gateway: recording requests, and answering them from a tape instead of a provider.
 *
 * A recorder accompanies a request and records what the client sees: the response as received,
 * without keys. It writes the exchange to the tape when the request ends. A reel replaces a
 * provider connection: it discards the request and plays back the recorded response, so that
 * metering, reserving and cutting work as usual. See reel_record.c and reel_replay.c.
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

/* Marks the used exchanges of a tape with the number of the run that used them, or 0. In memory
 * that the owner keeps. */
struct reel_marks {
	uint64_t tape; /* identifies the tape */
	uint64_t used[TAPE_EXCHANGES];
};

/* The gateway's tape. */
struct reel_deck {
	struct tape tape;
	struct tape_names names;
	int fd;                   /* of the tape being recorded, or -1 */
	size_t size;              /* of the mapping */
	struct reel_marks *marks; /* of a replay, or NULL */
	uint64_t *used;           /* the same, plus exchanges being played */
	struct reel *ready;       /* reels with output due */
	bool replay;
	char stray[TAPE_DIFFERENCE + 100]; /* the replay diverged: no more requests are answered */
};

/* Takes ownership of the descriptors. Returns 0, or -1 with err set. */
int reel_begin(struct engine *engine, int tape, int used, struct error *err);

/* Continues the reels that are due. Returns how long the loop may wait. */
uint64_t reel_settle(struct engine *engine);

/* reel_record.c. These functions do nothing if nothing is recorded. */
void reel_record_request(struct model_request *request);
void reel_record_head(struct model_request *request, const struct http_response *response);
void reel_record_bytes(struct model_request *request, const char *bytes, size_t size);
void reel_record_whole(struct model_request *request);
void reel_record_end(struct model_request *request); /* the request ended; writes the exchange */

/* reel_replay.c: reads the conversation of a request, for comparison with the tape. */
void reel_listen(struct model_request *request, struct tape_talk *ret_talk);
/* Finds the recorded response and replaces the connection. Returns false if there is none; the
 * request was then refused. */
bool reel_connect(struct model_request *request, const struct upstream_user *user);

/* Like those of upstream.h. */
ssize_t reel_read(struct reel *reel, void *bytes, size_t size);
void reel_watch(struct reel *reel, bool reading);
void reel_free(struct reel *reel);

#endif
