/* ringfence status: which loops there are, and how they stand. */
#include "cli/loops.h"

#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {
	OPTION_FLAG("all", "the loops of every project", struct loops_options, all),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct section sections[] = {
	{ "STATES", "  starting     the checks are run for the first time\n"
		    "  running      an iteration is under way\n"
		    "  waiting      until a stated time\n"
		    "  paused       ringfence resume goes on\n"
		    "  interrupted  the supervisor is gone; ringfence resume goes on\n"
		    "  completed, limit, failed, aborted\n" },
	{ "EXAMPLES", "  ringfence status --json | jq -r '.loops[].status'\n" },
	{ 0 },
};

static void print_loop(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	AUTO_FREE char *reason = client_reason(loop);
	AUTO_FREE char *shown = text_escaped(reason ? reason : "");
	AUTO_FREE char *project = text_escaped(state->options.project ? state->options.project
								      : "?");

	AUTO_FREE char *most = state->options.limits.iterations
				       ? mem_format(" of %u", state->options.limits.iterations)
				       : mem_dup("");

	AUTO_FREE char *spent = state->spent_nusd
					? mem_format("  US$ %.2f", (double)state->spent_nusd / 1e9)
					: mem_dup("");

	printf("%s  %-11s  iteration %u%s%s  %s\n", loop->id, client_status(loop), state->iteration,
	       most, spent, project);
	if (*shown)
		printf("    %s\n", shown);
	if (state->options.login) {
		AUTO_FREE char *login = text_escaped(state->options.login);

		printf("    LOGIN IN THE FENCE: the agent has a copy of %s\n", login);
	}
}

static bool is_wanted(const struct loops_options *asked, const struct client_loop *loop)
{
	const char *project = loop->state.options.project;

	if (asked->rest[0])
		return strcmp(loop->id, asked->rest[0]) == 0;
	/* Whose a damaged one is, nobody knows: everybody is told. */
	return asked->all || !project || strcmp(project, asked->place.project) == 0;
}

static void print_json(const struct loops_options *asked, const struct client_loops *all)
{
	json_t *list = json_array();

	for (size_t i = 0; i < all->count; i++)
		if (is_wanted(asked, &all->items[i]))
			json_array_append_new(list, client_json(&all->items[i]));

	loops_print(json_pack("{s:o}", "loops", list));
}

static int show(struct loops_options *asked, struct error *err)
{
	struct client_loops all;
	size_t shown = 0;

	if (client_list(asked->place.state, &all, err) < 0)
		return cli_fail(err);
	for (size_t i = 0; i < all.count; i++)
		shown += is_wanted(asked, &all.items[i]);
	for (size_t i = 0; !asked->json && i < all.count; i++)
		if (is_wanted(asked, &all.items[i]))
			print_loop(&all.items[i]);
	if (asked->json)
		print_json(asked, &all);
	else if (!shown)
		printf("there is no loop %s\n", asked->all ? "" : "of this project (--all)");
	client_loops_release(&all);
	return cli_printed();
}

static int run_status(const struct command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct command cmd_status = {
	.name = "status",
	.args = "[--all] [--json] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "how the loops of this project stand",
	.about =
		"Shows the loops of a project, or of all: state, iteration, and the reason for it.",
	.options = options,
	.sections = sections,
	.run = run_status,
};
