/*
 * How much money is held altogether, and in a period (an iteration, a day), on the disk: a file of two records with sums, of
 * which the newer one is never written over. Several processes may share it, one after another under its lock.
 */
#ifndef GATEWAY_OWNER_SPEND_FILE_H
#define GATEWAY_OWNER_SPEND_FILE_H

#include "util/error.h"

#include <stdint.h>

/* One of the two. The one with the higher number that is whole holds. */
struct spend_file_record {
	char mark[8];
	uint64_t number;
	uint64_t total;  /* held altogether, since ever */
	uint64_t period; /* which one */
	uint64_t held;   /* in that period */
	uint64_t booked; /* of the total: what is in lines of the ledger for sure */
	uint64_t sum;    /* of all before it */
};

struct spend_file {
	char *path;
	int fd;
	struct spend_file_record now;
	uint64_t leased; /* of the lease: what was added to the period that is still the same */
};

/* Reads what holds from its file. One of which no record is whole is not believed to be empty. Returns 0, or -1 with err
 * set. */
int spend_file_read(int fd, const char *path, struct spend_file_record *ret_record,
		    struct error *err);

/* Takes the path over. Returns 0, or -1 with err set. */
int spend_file_open(struct spend_file *spend_file, char *path, struct error *err);

/* Locks it, and reads what holds. Returns 0, or -1 with err set. */
int spend_file_lock(struct spend_file *spend_file, struct error *err);
void spend_file_unlock(struct spend_file *spend_file);

/* Writes what is now; it is on the disk before this returns. The lock is held. Returns 0, or -1 with err set. */
int spend_file_write(struct spend_file *spend_file, struct error *err);

/* What changes it in memory: another period begins with nothing held; money is leased, and what is left of a lease goes
 * back. */
void spend_file_enter(struct spend_file *spend_file, uint64_t period);
void spend_file_add(struct spend_file *spend_file, uint64_t nusd);
void spend_file_take(struct spend_file *spend_file, uint64_t nusd);

#endif
