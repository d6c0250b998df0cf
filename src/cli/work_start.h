/* Starting the tasks of a list as a batch. */
#ifndef CLI_WORK_START_H
#define CLI_WORK_START_H

#include "batch/batch_client.h"
#include "cli/cli.h"
#include "cli/work_template.h"
#include "worklist/worklist.h"

struct work_start {
	const struct cli_command *command;
	char *const *argv; /* the command's arguments, as typed */
	const struct worklist *list;
	json_t *paths; /* of the lists, as lists_read() returns them */
};

/* Returns a copy of the arguments, which cli_parse() may rearrange. The caller frees the array. */
char **work_start_copy(char *const *argv);

/* Plans the batch with this template, whose options are parsed, starts it, and follows it to its
 * end or lets it go on in the background. Returns the exit status (loops.h). */
int work_start(const struct work_start *work, struct work_template *template);

#endif
