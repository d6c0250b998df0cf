/*
 * A survey of the project before and after an iteration: how much there is, what changed, and a hash of
 * the whole tree by which a state is recognised that was there before. A checkpoint brings these facts
 * with it (loop_checkpoint.h); the walk here is for loops without checkpoints, and for when one failed.
 *
 * The files are the agent's: they are read as data, without following symlinks, and never waited for.
 * What tools make anew at every run (build folders, caches, installed packages) is left out, as is .git.
 */
#ifndef LOOP_RUN_SURVEY_H
#define LOOP_RUN_SURVEY_H

#include "util/error.h"
#include "util/sha256.h"

#include <stdint.h>

struct survey {
	uint64_t files;
	uint64_t bytes;
	uint64_t changed; /* files that are new, gone or other than in the survey before */
	char tree[SHA256_HEX];
	char head[80]; /* what .git/HEAD says, or the commit that it leads to; empty: none */
};

/* What the last survey saw: only what looks different is read again. */
struct survey_memory;

struct survey_memory *survey_memory_new(void);
void survey_memory_free(struct survey_memory *memory);

/* Returns 0, or -1 with err set if the project cannot be read at all. */
int survey_take(struct survey_memory *memory, const char *project, struct survey *ret_survey,
		struct error *err);

/* What HEAD of another git directory says, instead of the project's. Whatever is in it, nothing else is read. */
void survey_head(const char *git, struct survey *survey);

#endif
