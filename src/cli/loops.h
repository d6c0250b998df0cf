/* What the commands for loops share: which loop is meant, what is said about it, and exit statuses. */
#ifndef CLI_LOOPS_H
#define CLI_LOOPS_H

#include "cli/cli.h"
#include "fence/fence_place.h"
#include "loop/client.h"
#include "ops/op.h"

enum {
	LOOPS_COMPLETED = 0,
	LOOPS_FAILED = 1,
	LOOPS_LIMIT = 2,
	LOOPS_PAUSED = 3,
	LOOPS_ABORTED = 4,
	LOOPS_INTERRUPTED = 5,
	LOOPS_REFUSED = 125,
};

/* The table of these, for help and man pages. */
extern const char loops_exit_table[];

/* The options that every command for a loop that exists has. */
struct loops_options {
	const char *project;
	bool json;
	bool all;
	bool now;
	bool follow;
	bool checks;
	bool raw;
	const char *iteration;
	const char *loop_id; /* of commands whose arguments mean something else */
	const char *from;
	bool stat, name_only, stop, yes;
	bool merge, squash, patch, dry, force;
	json_t *changes;
	struct fence_place place;
	struct client_loop loop;
	char **rest; /* the arguments that are not used yet; ends with NULL */
};

#define LOOPS_PROJECT OPTION_PROJECT(struct loops_options, project)
#define LOOPS_JSON    OPTION_JSON(struct loops_options, json)

/* Reads the arguments and calls the function with what they mean. Returns the exit status. */
typedef int loops_fn(struct loops_options *asked, struct error *err);
int loops_run(const struct cli_command *command, char **argv, loops_fn *act);

/* Finds the loop that the first argument names, or the newest one of the project, and allows no argument
 * behind it. Returns 0, or -1 with err set. */
int loops_find(struct loops_options *asked, struct error *err);

/* The same of one whose journal can be read. */
int loops_find_sound(struct loops_options *asked, struct error *err);

/* Prints an object: as people like it, or as one line, at once. Takes it over. */
void loops_print(json_t *object);
void loops_print_line(json_t *object);

/* The same for an operation: which loop is meant. Returns 0, or -1 with err set. */
int loops_target(const struct loops_options *asked, struct op_target *ret_target,
		 struct error *err);

/* Says what was done, or shows the loop as JSON. Returns the exit status. */
int loops_say(const struct loops_options *asked, struct client_loop *loop, const char *sentence);

/* What is not to be seen from how an iteration's agent ended, in words; NULL: there is nothing. */
const char *loops_failure_words(const json_t *decision);

/* The status of a loop as an exit status. */
int loops_exit_code(const struct client_loop *loop);

#endif
