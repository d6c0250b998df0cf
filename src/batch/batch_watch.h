/* The loops that a batch waits for: each is read again when it changes. */
#ifndef BATCH_BATCH_WATCH_H
#define BATCH_BATCH_WATCH_H

#include "loop/client.h"

#include <stdbool.h>
#include <stddef.h>

struct batch_watch {
	const char *state; /* Ringfence's state folder */
	int inotify;
	struct batch_watch_loop {
		struct client_loop loop; /* without an id: not watched */
		int descriptor;          /* of its folder in inotify, or -1 */
		bool changed;            /* it has to be read again */
		bool asked;              /* a request was passed on to it */
		unsigned int continued;  /* how often it was continued after a crash */
	} * loops;                       /* one for each task */
	size_t count;
};

/* Returns 0, or -1 with err set. */
int batch_watch_init(struct batch_watch *watch, const char *state, size_t count, struct error *err);
void batch_watch_release(struct batch_watch *watch);

/* Watches the loop with this id for a task, in place of another one. Returns 0, or -1 with err set:
 * there is no such loop. */
int batch_watch_add(struct batch_watch *watch, size_t task, const char *id, struct error *err);
void batch_watch_drop(struct batch_watch *watch, size_t task);

/* Notes which loops have changed; `all`: each one, as if it had. */
void batch_watch_read(struct batch_watch *watch, bool all);

/* Has a loop changed that was not read again yet? */
bool batch_watch_has_changed(const struct batch_watch *watch);

/* Returns the loop of a task, read again if it has changed, or NULL if it has not. */
struct client_loop *batch_watch_changed(struct batch_watch *watch, size_t task);

#endif
