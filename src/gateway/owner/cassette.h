/*
 * The tape of a run, for a gateway's owner: opened here, because the gateway has no files, and handed over as descriptors.
 *
 * A tape that is recorded has one writer: a lock on it, which the gateway holds, too, keeps others away. What a crash
 * has torn off is cut off before a gateway begins. A tape that is replayed is copied into memory, so that nobody can change it
 * meanwhile; which of its exchanges were used is a file beside the books of a loop, so that the next iteration knows.
 */
#ifndef GATEWAY_OWNER_CASSETTE_H
#define GATEWAY_OWNER_CASSETTE_H

#include "gateway/owner/ledger.h"
#include "tape/tape.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>

struct cassette;

/*
 * What "record PATH" or "replay PATH" of these texts (models.h) names, and the number that marks what is used in this run, added to them. *ret_cassette is
 * NULL if there is none. Symlinks on the way are not followed. Returns 0, or -1 with err set.
 */
int cassette_open(struct list *texts, const struct ledger_options *books,
		  struct cassette **ret_cassette, struct error *err);

/* Looks at a tape before anything begins: of one that is to be recorded it may be that there is none yet. */
int cassette_look(const char *path, bool record, struct tape *ret_tape, struct error *err);

/* Makes it fit for a gateway that begins. Returns 0, or -1 with err set. */
int cassette_mend(const struct cassette *cassette, struct error *err);

/* The descriptors for the gateway: the tape, and of a replay what was used. Returns how many. */
size_t cassette_descriptors(const struct cassette *cassette, int ret_fds[2]);

bool cassette_is_replay(const struct cassette *cassette); /* NULL is none */
const char *cassette_path(const struct cassette *cassette);

void cassette_close(struct cassette *cassette);

#endif
