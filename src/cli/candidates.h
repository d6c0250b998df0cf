/* The words of this project and machine that completions offer: loops, drafts and others. */
#ifndef CLI_CANDIDATES_H
#define CLI_CANDIDATES_H

#include "cli/cli.h"
#include "fence/fence_place.h"
#include "util/list.h"

/* Kinds of words. */
enum {
	CANDIDATES_LOOPS = 1,       /* names and ids, the newest first */
	CANDIDATES_DRAFTS = 2,      /* of commands */
	CANDIDATES_CHECKPOINTS = 4, /* of the newest loop */
	CANDIDATES_BATCHES = 8,
	CANDIDATES_AGENTS = 16,
};

/* Returns the kinds that an option takes, or the arguments of the command if option is NULL. */
unsigned candidates_kinds(const struct cli_command *command, const char *option);

/* Adds words of these kinds; none that cannot be read. */
void candidates_list(const struct fence_place *place, unsigned kinds, struct list *words);

#endif
