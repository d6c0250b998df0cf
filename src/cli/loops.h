/* Shared by all commands for loops: their options, finding the loop, output and exit statuses. */
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

/* The table of these exit statuses, for --help and man pages. */
extern const char loops_exit_table[];

/* The options and arguments of all commands for existing loops. */
struct loops_options {
	const char *project;
	bool json;
	bool all;
	bool now;
	bool follow;
	bool checks;
	bool review;
	bool denials;
	bool raw;
	bool sizes;
	bool quiet, verbose;
	const char *heartbeat;
	const char *iteration;
	const char *limit;
	const char *loop_id; /* for commands whose arguments are not loops */
	const char *from;
	bool keys;
	bool stat, name_only, findings, accept_findings, next_phase, stop, yes;
	bool merge, squash, patch, dry, force, undo, hunks;
	bool html, markdown;
	const char *output;
	bool yes_executed, yes_ci, yes_pinned, files, with_ignored;
	const char *draft_id;
	const char *batch; /* whose result is applied, or NULL */
	json_t *changes;
	struct fence_place place;
	struct client_loop loop;
	char **rest;       /* the remaining arguments; ends with NULL */
	struct list words; /* ids that short words stood for */
};

#define LOOPS_PROJECT OPTION_PROJECT(struct loops_options, project)
#define LOOPS_JSON    OPTION_JSON(struct loops_options, json)

/* Parses the arguments, finds the project and calls the function. Returns the exit status. */
typedef int loops_fn(struct loops_options *opts, struct error *err);
int loops_run(const struct cli_command *command, char **argv, loops_fn *act);

/* Finds the loop that the only argument names, or the project's newest loop if there is no
 * argument. Returns 0, or -1 with err set. */
int loops_find(struct loops_options *opts, struct error *err);

/* The same, but a loop with a damaged journal is an error. */
int loops_find_readable(struct loops_options *opts, struct error *err);

/* Replaces a word for a loop or draft, if it is not NULL, by its id (short_id.h). Returns 0, or -1
 * with err set. */
int loops_resolve(struct loops_options *opts, const char **word, struct error *err);

/* The same for an argument. */
int loops_resolve_argument(struct loops_options *opts, size_t index, struct error *err);

/* Prints a notice if the journal of a loop can only be read. */
void loops_notice(const struct client_loop *loop);

/* Print an object, indented or on one line that is flushed at once. Take ownership of the object.
 * */
void loops_print(json_t *object);
void loops_print_line(json_t *object);

/* Adds how a loop ended to the output of apply, unless there is no loop. */
void loops_add_outcome(json_t *object, const struct client_loop *loop);

/* Sets the target of an operation from the arguments. Returns 0, or -1 with err set. */
int loops_target(struct loops_options *opts, struct op_target *ret_target, struct error *err);

/* Prints the sentence, or the loop with --json. Returns the exit status. */
int loops_report(const struct loops_options *opts, struct client_loop *loop, const char *sentence);

/* Returns a description of a failure that the agent's exit status does not show, or NULL. */
const char *loops_failure_text(const json_t *decision);

/* Returns how many findings of a review there are, such as "2 blocking, 1 advice". The caller frees
 * it. */
char *loops_review_text(const json_t *findings);

/* Returns a finding of a review with its place, such as "src/a.c:12: text". The caller frees it. */
char *loops_finding_text(const json_t *finding);

/* Before a loop is resumed: moves to a systemd scope if its limits need one, where the program then
 * starts again, and names missing keys. context: the struct fence_place. */
void loops_prepare(const void *context, const struct client_loop *loop);

/* Returns the exit status for the loop's status. */
int loops_exit_code(const struct client_loop *loop);

/* Returns what has become of the draft of a loop, for the user, or NULL if it has none. The caller
 * frees it. */
char *loops_draft_text(const char *state, const struct client_loop *loop);

#endif
