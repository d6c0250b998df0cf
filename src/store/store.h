/*
 * The journal of a loop: what was decided, in order, written before it is done.
 *
 * One SQLite database per loop. Events are only ever added. Each is there for every other process when the call
 * returns, whatever is killed then; and on the disk, unless it may wait for the next one. Each has a hash over itself and the hash before it: a journal that was cut, edited or
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

/* When an event must be on the disk: now, or with the next one that must. A power cut loses the latter. */
enum store_care { STORE_NOW, STORE_LATER };

/* Opens a journal. Returns 0, or -1 with err set. */
int store_open(const char *path, enum store_mode mode, struct store **ret_store, struct error *err);
void store_close(struct store *store);

/* Adds an event. Returns 0, or -1 with err set and nothing added. */
int store_append(struct store *store, enum store_care care, int64_t at_ms, const char *kind,
		 const char *data, struct error *err);

/* Called for each event; returns 0 to go on, or -1 with err set. */
typedef int store_fn(void *context, const struct store_event *event, struct error *err);

/* Reads the events behind `after` (0: all), and checks the whole chain on the way. Returns 0, or -1 with
 * err set: by the function, or because the journal is damaged. */
int store_each(struct store *store, int64_t after, store_fn *take, void *context,
	       struct error *err);

#endif
