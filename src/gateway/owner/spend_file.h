/* A file that records how much money is held in total and in the current period (an iteration, a
 * day). It has two records with checksums, and a write never overwrites the newer one. Several
 * processes may share it under its lock. */
#ifndef GATEWAY_OWNER_SPEND_FILE_H
#define GATEWAY_OWNER_SPEND_FILE_H

#include "util/error.h"

#include <stdint.h>

/* One of the two records. The valid record with the higher number is current. */
struct spend_file_record {
	char mark[8];
	uint64_t number;
	uint64_t total;  /* held in total, over all periods */
	uint64_t period; /* identifies the period */
	uint64_t held;   /* held in that period */
	uint64_t booked; /* the part of the total that is certainly in lines of the ledger */
	uint64_t sum;    /* checksum of the fields above */
};

struct spend_file {
	char *path;
	int fd;
	struct spend_file_record now;
	uint64_t leased; /* the part of the lease that was added in the current period */
};

/* Reads the current record. A file without a valid record is an error, not an empty file.
 * Returns 0, or -1 with err set. */
int spend_file_read(int fd, const char *path, struct spend_file_record *ret_record,
		    struct error *err);

/* Takes ownership of the path. Returns 0, or -1 with err set. */
int spend_file_open(struct spend_file *spend_file, char *path, struct error *err);

/* Locks the file and reads the current record. Returns 0, or -1 with err set. */
int spend_file_lock(struct spend_file *spend_file, struct error *err);
void spend_file_unlock(struct spend_file *spend_file);

/* Writes the current state and waits until it is on disk. The caller holds the lock. Returns 0,
 * or -1 with err set. */
int spend_file_write(struct spend_file *spend_file, struct error *err);

/* Change the state in memory: enter a period, in which nothing is held yet; lease money; return
 * the rest of a lease. */
void spend_file_enter(struct spend_file *spend_file, uint64_t period);
void spend_file_add(struct spend_file *spend_file, uint64_t nusd);
void spend_file_return(struct spend_file *spend_file, uint64_t nusd);

#endif
