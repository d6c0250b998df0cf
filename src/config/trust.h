/*
 * The user's agreements: for each project, the hash of the widening values as they were shown. They
 * are stored in the state folder, one file per project, named by the hash of its path.
 */
#ifndef CONFIG_TRUST_H
#define CONFIG_TRUST_H

#include "util/error.h"
#include "util/text/sha256.h"

#include <stddef.h>
#include <stdint.h>

struct trust {
	char *path;            /* the project */
	char hash[SHA256_HEX]; /* of the widening values */
	uint64_t time;         /* seconds since 1970 */
};

struct trust_list {
	struct trust *items; /* sorted by path */
	size_t count;
};

/* Finds the record of a project; ret_trust->path is NULL if there is none. A damaged record counts
 * as missing. Returns 0, or -1 with err set. */
int trust_find(const char *state, const char *project, struct trust *ret_trust, struct error *err);
void trust_release(struct trust *trust);

int trust_record(const char *state, const char *project, const char *hash, uint64_t time,
		 struct error *err);

/* Removes the record of a project; *ret_was is whether there was one. */
int trust_forget(const char *state, const char *project, int *ret_was, struct error *err);

int trust_all(const char *state, struct trust_list *ret_list, struct error *err);
void trust_list_release(struct trust_list *list);

#endif
