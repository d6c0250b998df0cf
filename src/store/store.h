/*
 * The journal of a loop: what was decided, in order, written before it is done.
 *
 * One SQLite database per loop. Events are only ever added, each synced to the disk before the call
 * returns, and each with a hash over itself and the hash before it: a journal that was cut, edited or
 * torn is recognised and never guessed at. Who reads it may do so while a supervisor writes.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

struct store_event {
	int64_t seq;   /* 1, 2, 3 ... */
	int64_t at_ms; /* since the epoch */
	const char *kind;
	const char *data; /* a JSON object */
};

enum store_mode { STORE_CREATE, STORE_WRITE, STORE_READ };

/* Opens a journal. Returns 0, or -1 with err set. */
int store_open(const char *path, enum store_mode mode, struct store **ret_store, struct error *err);
void store_close(struct store *store);

/* Adds an event. Returns 0 when it is on the disk, or -1 with err set and nothing added. */
int store_append(struct store *store, int64_t at_ms, const char *kind, const char *data,
		 struct error *err);

/* Called for each event; returns 0 to go on, or -1 with err set. */
typedef int store_fn(void *context, const struct store_event *event, struct error *err);

/* Reads the events behind `after` (0: all), and checks the whole chain on the way. Returns 0, or -1 with
 * err set: by the function, or because the journal is damaged. */
int store_each(struct store *store, int64_t after, store_fn *take, void *context,
	       struct error *err);

#endif
