/*
 * Starting the web page's server, for the command: its folder STATE/serve, the sockets, the
 * secrets, and the program. A state folder has at most one server.
 *
 *	key		the secret that signs sessions (web_keys.h); remove it to log everybody out
 *	port		the last port, which is tried first: open pages and bookmarks find it again
 *	lock		held by the server
 *	control		its local socket, which gives out links
 */
#ifndef SERVE_WEB_START_H
#define SERVE_WEB_START_H

#include "serve/web_keys.h"
#include "util/error.h"

enum { WEB_START_PORT = 7433, WEB_START_ANY = -1 };

struct web_start_request {
	const char *state; /* Ringfence's state folder */
	const char *host;  /* see web_address_listen() */
	int port;          /* WEB_START_ANY: the last one, WEB_START_PORT, or else any free one */
};

/* A server that is ready to start. */
struct web_start {
	const char *state;
	int listener, control, lock;
	char *link; /* that logs in once */
	char secret[WEB_KEYS_SECRET];
	char token[WEB_KEYS_TOKEN];
};

/* Prepares a server. Returns 0, or -1 with err set: ERROR_EXISTS if one is running. */
int web_start_prepare(const struct web_start_request *request, struct web_start *ret_start,
		      struct error *err);

/* Becomes the server. Returns -1 with err set if that fails. */
int web_start_run(struct web_start *start, struct error *err);

/* Asks the running server for a new link, which the caller frees. Returns 0, or -1 with err set:
 * ERROR_NOT_FOUND if none is running. */
int web_start_link(const char *state, char **ret_link, struct error *err);

/* Finds the token that reads the metrics, and nothing else. Returns 0, or -1 with err set. */
int web_start_metrics(const char *state, char ret_token[WEB_KEYS_TOKEN], struct error *err);

#endif
