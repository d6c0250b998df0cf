/*
 * Sends calls to the API of one forge: by HTTPS with a token (https/https.h), or through the user's
 * gh, which keeps its token to itself.
 *
 * The token is in memory only: it is sent to the API's origin alone, and masked in every message. A
 * limit of the server's is waited for if it says how long, and a GET that failed because of the
 * server or the network is tried again.
 */
#ifndef LAND_LAND_CLIENT_H
#define LAND_LAND_CLIENT_H

#include "land/land_forge.h"
#include "land/land_program.h"
#include "util/buffer.h"

enum {
	LAND_LOG = 32 << 10, /* bytes of a log that are kept: its end */
};

struct land_client {
	const struct land_forge *forge;
	char *api;
	char *token;            /* or NULL */
	char *host;             /* for gh */
	struct land_program gh; /* its path is NULL if the token is used */
	/* Waits; `why` is a phrase for people. */
	void (*wait)(void *context, uint64_t ms, const char *why);
	void *context;
};

void land_client_release(struct land_client *client);

/*
 * Sends a call, and releases it. Returns 0 with *ret_answer, or -1 with err set:
 *   ERROR_DENIED     the token is refused, or may not do this
 *   ERROR_NOT_FOUND  the server knows no such thing
 *   ERROR_EXISTS     it is in conflict with something that exists
 *   ERROR_INVALID    the server refuses the request as it is
 *   ERROR_BUSY       the server or the network fails; a retry may succeed
 *   ERROR_PROTOCOL   the answer is not what the API promises
 */
int land_client_call(struct land_client *client, struct land_call *call, json_t **ret_answer,
		     struct error *err);

/* Reads the end of a log. */
int land_client_log(struct land_client *client, const char *path, struct buffer *ret_log,
		    struct error *err);

/* Finds out which forge a server is, by asking it without a token. */
enum land_kind land_client_probe(const char *origin);

#endif
