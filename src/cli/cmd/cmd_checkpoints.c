/* ringfence checkpoints: list the checkpoints of a loop. */
#include "cli/checkpoints.h"
#include "cli/view/page.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = { LOOPS_JSON, LOOPS_PROJECT, { 0 } };

static const struct cli_section sections[] = {
	{ "KINDS", "  start   the state before the loop; always number 0\n"
		   "  before  before an iteration, if something changed since the last one\n"
		   "  after   after an iteration and its checks\n"
		   "  within  while the agent worked; a file may be half written\n"
		   "  undo    before a rollback or restore, so that it can be undone\n" },
	{ "EXAMPLES", "  ringfence checkpoints\n"
		      "  ringfence diff 3 4 --stat\n"
		      "  ringfence rollback 3\n" },
	{ 0 },
};

static void print_one(const json_t *entry)
{
	enum { COLUMN = 49 };
	AUTO_FREE char *day = clock_text(jsonget_number(entry, "at_ms"), CLOCK_SECOND);
	AUTO_FREE char *when = jsonget_number(entry, "iteration")
				       ? mem_format("iteration %d",
						    (int)jsonget_number(entry, "iteration"))
				       : mem_dup("");
	AUTO_FREE char *left = jsonget_number(entry, "skipped")
				       ? mem_format(", %d not kept",
						    (int)jsonget_number(entry, "skipped"))
				       : mem_dup("");
	AUTO_FREE char *kept = mem_format("%lld files, %lld bytes%s",
					  (long long)jsonget_number(entry, "files"),
					  (long long)jsonget_number(entry, "bytes"), left);

	printf("%4d  %s  %-6s  %-12s  ", (int)jsonget_number(entry, "number"), day,
	       jsonget_string(entry, "kind"), when);
	page_print(kept, COLUMN);
}

static int show(struct loops_options *opts, struct error *err)
{
	struct snapshot_work work = { 0 };
	json_t *answer = NULL;
	size_t index;
	json_t *entry;
	int result;

	if (opts->rest[0] && loops_resolve_argument(opts, 0, err) < 0)
		return cli_fail(err);
	opts->loop_id = opts->rest[0];
	result = checkpoints_begin(opts, "list", &work, err);
	if (result == 0)
		result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result < 0)
		return cli_fail(err);
	if (opts->json) {
		json_object_set_new(answer, "id", json_string(opts->loop.id));
		loops_print(answer);
		return cli_flush();
	}
	json_array_foreach(json_object_get(answer, "checkpoints"), index, entry) print_one(entry);
	if (jsonget_flag(answer, "pending"))
		page_print(
			"a rollback was interrupted; the next command that reads the project will "
			"finish it",
			0);
	if (!json_array_size(json_object_get(answer, "checkpoints")))
		printf("loop %s has no checkpoints%s\n", opts->loop.id,
		       opts->loop.state.options.checkpoints_off
			       ? ": it was started with --checkpoints=false"
			       : "");
	json_decref(answer);
	return cli_flush();
}

static int run_checkpoints(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct cli_command cmd_checkpoints = {
	.name = "checkpoints",
	.args = "[--json] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "list the checkpoints of a loop",
	.description =
		"Prints one line per checkpoint. Checkpoints are taken before the loop, before and after "
		"each iteration, and every 15 minutes while the agent works, if something has changed.",
	.options = options,
	.sections = sections,
	.run = run_checkpoints,
};
