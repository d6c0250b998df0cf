/*
 * The journal of a loop: what was decided, in order, written before it is done.
 *
 * One SQLite database per loop. Events are only ever added. Each is there for every other process when the call
 * returns, whatever is killed then; and on the disk, unless it may wait for the next one. Each has a hash over itself and the hash before it: a journal that was cut, edited or
 * torn is recognised and never guessed at. Who reads it may do so while a supervisor writes.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct journal;

struct journal_event {
	int64_t seq;   /* 1, 2, 3 ... */
	int64_t at_ms; /* since the epoch */
	const char *kind;
	const char *data; /* a JSON object */
};

enum journal_mode { JOURNAL_CREATE, JOURNAL_WRITE, JOURNAL_READ };

/* When an event must be on the disk: now, or with the next one that must. A power cut loses the latter. */
enum journal_care { JOURNAL_NOW, JOURNAL_LATER };

/* Opens a journal. Returns 0, or -1 with err set. */
int journal_open(const char *path, enum journal_mode mode, struct journal **ret_store,
		 struct error *err);
void journal_close(struct journal *store);

/* Adds an event. Returns 0, or -1 with err set and nothing added. */
int journal_append(struct journal *store, enum journal_care care, int64_t at_ms, const char *kind,
		   const char *data, struct error *err);

/* Called for each event; returns 0 to go on, or -1 with err set. */
typedef int journal_fn(void *context, const struct journal_event *event, struct error *err);

/* Reads the events behind `after` (0: all), and checks the whole chain on the way. Returns 0, or -1 with
 * err set: by the function, or because the journal is damaged. */
int journal_each(struct journal *store, int64_t after, journal_fn *take, void *context,
		 struct error *err);

#endif
