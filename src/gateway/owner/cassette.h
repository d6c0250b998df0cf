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
#include "provider/model_access.h"
#include "tape/tape.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cassette;

/* Opens the tape; *ret_cassette is NULL if there is none. Symlinks in its path are not followed.
 * Returns 0, or -1 with err set. */
int cassette_open(const struct model_access_tape *tape, const struct ledger_options *books,
		  struct cassette **ret_cassette, struct error *err);

/* Looks at a tape before anything begins: of one that is to be recorded it may be that there is none yet. */
int cassette_look(const char *path, bool record, struct tape *ret_tape, struct error *err);

/* Makes it fit for a gateway that begins. Returns 0, or -1 with err set. */
int cassette_mend(const struct cassette *cassette, struct error *err);

/* The descriptors for the gateway: the tape, and of a replay what was used. Returns how many. */
size_t cassette_descriptors(const struct cassette *cassette, int ret_fds[2]);

/* Marks on a replayed tape what this run uses. 0 for NULL. */
uint64_t cassette_mark(const struct cassette *cassette);

bool cassette_is_replay(const struct cassette *cassette); /* NULL is none */
const char *cassette_path(const struct cassette *cassette);

void cassette_close(struct cassette *cassette);

#endif
