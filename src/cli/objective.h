/* The objective of a loop: an argument of a command, a file, or an example. */
#ifndef CLI_OBJECTIVE_H
#define CLI_OBJECTIVE_H

#include "util/buffer.h"
#include "util/error.h"

enum { OBJECTIVE_BYTES = 256 << 10 };

struct objective_source {
	const char *command; /* for messages */
	char **arguments;    /* the objective, or nothing */
	const char *file;    /* or NULL */
	const char *example; /* the name of one, to which an argument adds details; or NULL */
};

/*
 * Reads the objective. *ret_objective is NULL if there is none; it belongs to the arguments or to
 * `text`. Returns 0, or -1 with err set.
 */
int objective_read(const struct objective_source *source, struct buffer *text,
		   const char **ret_objective, struct error *err);

#endif
