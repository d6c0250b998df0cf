/*
 * What a person has agreed to: for each project, the hash of the widening difference as it was
 * shown. Kept in Ringfence's own folder, a file for each project, named by the hash of its path.
 */
#ifndef CONFIG_TRUST_H
#define CONFIG_TRUST_H

#include "util/error.h"
#include "util/sha256.h"

#include <stddef.h>
#include <stdint.h>

struct trust {
	char *path;            /* the project */
	char hash[SHA256_HEX]; /* of what was agreed to */
	uint64_t time;         /* seconds since 1970 */
};

struct trust_list {
	struct trust *items; /* sorted by path */
	size_t count;
};

/* The record of a project; *ret_trust.path is NULL if there is none. A damaged one counts as none.
 * Returns 0, or -1 with err set. */
int trust_find(const char *state, const char *project, struct trust *ret_trust, struct error *err);
void trust_release(struct trust *trust);

int trust_record(const char *state, const char *project, const char *hash, uint64_t time,
		 struct error *err);

/* Forgets a project; *ret_was says if it was trusted. */
int trust_forget(const char *state, const char *project, int *ret_was, struct error *err);

int trust_all(const char *state, struct trust_list *ret_list, struct error *err);
void trust_list_release(struct trust_list *list);

#endif
