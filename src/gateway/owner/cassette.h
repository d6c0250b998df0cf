/*
 * The tape of a run, on the owner's side. The gateway cannot open files, so the owner opens the
 * tape and passes the descriptors.
 *
 * A tape being recorded has one writer, enforced by a lock that the gateway also holds. An exchange
 * torn by a crash is cut off before a gateway starts. A tape being replayed is copied into memory,
 * so that nobody can change it during the run. A file in the ledger's folder records which of its
 * exchanges were used, for the next iteration.
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

/* Opens the tape. Sets *ret_cassette to NULL if there is none. Symlinks in the path are not
 * followed. Returns 0, or -1 with err set. */
int cassette_open(const struct model_access_tape *tape, const struct ledger_options *ledger,
		  struct cassette **ret_cassette, struct error *err);

/* Reads a tape before a run starts. A tape to be recorded may not exist yet. */
int cassette_look(const char *path, bool record, struct tape *ret_tape, struct error *err);

/* Repairs the tape before a gateway starts. Returns 0, or -1 with err set. */
int cassette_repair(const struct cassette *cassette, struct error *err);

/* Fills in the descriptors for the gateway: the tape and, for a replay, the marks. Returns how
 * many. */
size_t cassette_descriptors(const struct cassette *cassette, int ret_fds[2]);

/* Returns the number that marks the exchanges used by this run, or 0 for NULL. */
uint64_t cassette_mark(const struct cassette *cassette);

bool cassette_is_replay(const struct cassette *cassette); /* false for NULL */
const char *cassette_path(const struct cassette *cassette);

void cassette_close(struct cassette *cassette);

#endif
