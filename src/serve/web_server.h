/*
 * The web page's server: one thread, which waits for connections, for the processes that answer,
 * and for signals. It runs until a signal ends it.
 */
#ifndef SERVE_WEB_SERVER_H
#define SERVE_WEB_SERVER_H

#include "util/error.h"

struct web_server_config {
	int listener; /* a TCP socket of the loopback interface */
	int control;  /* a local socket; who connects gets a new link */
	int program;  /* of ringfence */
	const char *state;
	const char *secret, *token; /* token: of the first link, or empty */
};

enum {
	WEB_SERVER_CONNECTIONS = 300,
	WEB_SERVER_HEAD = 32 << 10, /* bytes of memory for a connection, also of a request's head */
	WEB_SERVER_IDLE_S = 30,     /* without a byte in either direction */
};

/* Returns 0 after a signal, or -1 with err set. */
int web_server_run(const struct web_server_config *config, struct error *err);

#endif
