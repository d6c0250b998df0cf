/*
 * The state of the user's repository before a loop: its branch, an operation in progress,
 * uncommitted changes, and credentials in recent commits that the work tree no longer has. Only
 * reads.
 */
#ifndef SNAPSHOT_APPLY_REPO_STATE_H
#define SNAPSHOT_APPLY_REPO_STATE_H

#include "util/error.h"
#include "util/text/json.h"

#include <stdint.h>

/* Everything is bounded: a repository can have any size. */
struct repo_state_options {
	const char *project;
	int64_t most_files;   /* of the index; beyond that, changes are not looked for */
	int64_t most_commits; /* the newest ones are scanned */
	int64_t most_bytes;   /* of all files that are scanned */
	int64_t most_ms;      /* after that, no further commit is read; the first ones always are */
};

/* Answers with the keys of docs/protocols.md. A folder without a repository has "repository":
 * false. Returns 0, or -1 with err set. */
int repo_state_report(const struct repo_state_options *options, struct json *json,
		      struct error *err);

#endif
