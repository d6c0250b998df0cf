/*
 * Runs the user's own git and gh, for what needs the user's credentials.
 *
 * Neither they nor what they run are programs that an agent can change (util/taint.h). Their
 * environment has only what git, ssh, gh and helpers for credentials need.
 */
#ifndef LAND_LAND_PROGRAM_H
#define LAND_LAND_PROGRAM_H

#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"
#include "util/taint.h"

#include <stdbool.h>
#include <stdint.h>

struct land_program {
	char *path;
	struct list environment;
};

struct land_program_run {
	const struct list *arguments; /* without the name of the program */
	const char *input;            /* or NULL */
	uint64_t most_ms;
	bool asks; /* it may ask on the terminal of this process; otherwise it has none */
	struct buffer *output, *errors;
};

/* Finds a program. Returns 0, or -1 with err set: ERROR_NOT_FOUND. The caller releases it. */
int land_program_find(const char *name, const struct taint *taint, struct land_program *ret_program,
		      struct error *err);
void land_program_release(struct land_program *program);

/* Returns the exit status, or -1 with err set if it could not be run, or not to its end in time. */
int land_program_run(const struct land_program *program, const struct land_program_run *run,
		     struct error *err);

#endif
