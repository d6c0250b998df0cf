/*
 * A survey of the project before and after an iteration: its size, the changed files, and a hash of
 * the whole tree that identifies a state seen before. A checkpoint provides the same facts
 * (loop_checkpoint.h), except that its size includes generated files that it saves; the walk here
 * is for loops without checkpoints, and for failed ones.
 *
 * The files are the agent's: they are read as data, without following symlinks or blocking.
 * Generated files (build folders, caches, installed packages) and .git are skipped.
 */
#ifndef LOOP_RUN_SURVEY_H
#define LOOP_RUN_SURVEY_H

#include "util/error.h"
#include "util/text/sha256.h"

#include <stdint.h>

struct survey {
	uint64_t files;
	uint64_t bytes;
	uint64_t changed; /* new, deleted or modified files since the previous survey */
	char tree[SHA256_HEX];
	/* The contents of .git/HEAD, or the commit it refers to; empty if there is none. */
	char head[80];
};

/* Remembers the last survey, so that only files that look different are read again. */
struct survey_memory;

struct survey_memory *survey_memory_new(void);
void survey_memory_free(struct survey_memory *memory);

/* Returns 0, or -1 with err set if the project cannot be read at all. */
int survey_take(struct survey_memory *memory, const char *project, struct survey *ret_survey,
		struct error *err);

/* Sets the head from another git directory instead of the project's. Nothing else in it is read. */
void survey_head(const char *git, struct survey *survey);

#endif
