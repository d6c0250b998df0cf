/*
 * Relays bytes in both directions between pairs of descriptors, with half-close and backpressure.
 *
 * A relay owns its listening sockets and connections. The caller polls: relay_watch() fills in the
 * descriptors to wait for, and relay_serve() handles the results.
 */
#ifndef FENCE_RUN_RELAY_H
#define FENCE_RUN_RELAY_H

#include "util/error.h"

#include <poll.h>
#include <stddef.h>

/* Concurrent connections; more wait in the kernel's backlog. */
enum {
	RELAY_CONNECTIONS = 128,
	RELAY_LISTENERS = 16,
	RELAY_WATCHED = RELAY_LISTENERS + 2 * RELAY_CONNECTIONS
};

struct relay;

struct relay *relay_new(void);
void relay_free(struct relay *relay);

/* Accepts on `listener`, taking ownership, and connects each client to the unix socket at path.
 * Returns 0, or -1 with err set. */
int relay_add_listener(struct relay *relay, int listener, const char *path, struct error *err);

/* Fills in up to RELAY_WATCHED entries. Returns their number. */
size_t relay_watch(struct relay *relay, struct pollfd *watched);

/* Handles the poll results; takes the entries that relay_watch() filled in. */
void relay_serve(struct relay *relay, const struct pollfd *watched, size_t count);

#endif
