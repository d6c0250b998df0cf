/*
 * A folder with a journal that a supervisor writes: of a loop, or of a batch. For their clients.
 */
#ifndef LOOP_SUPERVISED_H
#define LOOP_SUPERVISED_H

#include "journal/journal.h"
#include "util/error.h"

#include <jansson.h>
#include <stdbool.h>

#define SUPERVISED_NOT_UTF8 \
	"a text or a path is not valid UTF-8 and cannot be stored in the journal"

/* Waits for a moment before another look. */
void supervised_pause(void);

/* Passes the events after the mark to the function, and moves the mark; see journal.h. */
int supervised_follow(const char *folder, struct journal_mark *mark, journal_fn *take,
		      void *context, struct error *err);

/* Writes an event in place of a supervisor. The caller holds the lock. Consumes the data. Returns
 * 0, or -1 with err set: ERROR_INVALID for data that is NULL. */
int supervised_append(const char *folder, enum journal_mode mode, const char *kind, json_t *data,
		      struct error *err);

/* The supervisor, as a client sees it. */
struct supervised_view {
	int64_t seq; /* the last event */
	bool alive;
	const char *trouble; /* or NULL */
};

/* Reads the journal and the locks again. */
typedef struct supervised_view supervised_look_fn(void *context);

/* Starts the keeper and waits until its supervisor has written an event after `seq`, or has failed.
 * Returns 0, or -1 with err set. */
int supervised_start(const char *folder, int64_t seq, supervised_look_fn *look, void *context,
		     struct error *err);

#endif
