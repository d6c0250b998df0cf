/*
 * Carries bytes both ways between pairs of descriptors, with half-close and backpressure.
 *
 * A relay owns its listening sockets and connections. It is driven by somebody else's poll:
 * relay_watch() adds what it waits for, relay_serve() does what became possible.
 */
#ifndef FENCE_RUN_RELAY_H
#define FENCE_RUN_RELAY_H

#include "util/error.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* Connections at a time; more wait in the kernel's backlog. */
enum {
	RELAY_CONNECTIONS = 128,
	RELAY_LISTENERS = 16,
	RELAY_WATCHED = RELAY_LISTENERS + 2 * RELAY_CONNECTIONS
};

struct relay;

struct relay *relay_new(void);
void relay_free(struct relay *relay);

/* Accepts on `listener` (taken over) and connects each client to the unix socket at path. */
int relay_add_listener(struct relay *relay, int listener, const char *path, struct error *err);

/* Fills up to RELAY_WATCHED entries. Returns how many. */
size_t relay_watch(struct relay *relay, struct pollfd *watched);

/* Serves what poll found; the same entries as relay_watch() gave. */
void relay_serve(struct relay *relay, const struct pollfd *watched, size_t count);

#endif
