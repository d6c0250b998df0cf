/*
 * The record of what was landed of a loop or a batch: land.json in its folder, replaced atomically.
 * Each step is written down before the next one, so that `land` goes on where it was killed.
 */
#ifndef LAND_LAND_RECORD_H
#define LAND_LAND_RECORD_H

#include "land/land_git.h"
#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct land_record {
	char *url;                 /* of the remote, without a password; or NULL */
	char *forge;               /* its name, or NULL */
	char *page;                /* the request's web page, or NULL */
	int64_t number;            /* the request's; or 0 */
	char pushing[LAND_COMMIT]; /* that may have been pushed */
	char pushed[LAND_COMMIT];  /* that has been pushed last */
	bool draft;                /* we opened it as a draft */
	bool merged;
};

/* Reads it; without one, or with a damaged one, nothing has been landed. */
void land_record_read(const char *folder, struct land_record *ret_record);
int land_record_write(const char *folder, const struct land_record *record, struct error *err);
void land_record_release(struct land_record *record);

#endif
