/* ringfence watch and ringfence attach: the screen. */
#include "cli/loops.h"
#include "screen/keymap.h"
#include "screen/screen.h"
#include "util/mem.h"

#include <stdio.h>

static const struct cli_option watch_options[] = {
	OPTION_FLAG("keys", "print the keys as a table, as in the documentation",
		    struct loops_options, keys),
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_option attach_options[] = { LOOPS_PROJECT, { 0 } };

static const struct cli_section watch_sections[] = {
	{ "KEYS", "  ?  shows the keys; q quits. Loops go on.\n" },
	{ 0 },
};

static const struct cli_section attach_sections[] = {
	{ "EXAMPLES", "  ringfence attach               the project's newest loop\n"
		      "  ringfence attach fix-tests\n" },
	{ 0 },
};

/* Shows the screen. Returns the exit status. */
static int show(const char *state, const char *loop, struct error *err)
{
	AUTO_FREE char *farewell = NULL;

	if (screen_run(state, loop, &farewell, err) < 0)
		return cli_fail(err);
	printf("%s\n", farewell);
	return cli_flush();
}

static int print_keys(void)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);

	keymap_reference(&out);
	fputs(buffer_text(&out), stdout);
	return cli_flush();
}

static int watch(struct loops_options *opts, struct error *err)
{
	if (opts->keys)
		return print_keys();
	return show(opts->place.state, NULL, err);
}

static int attach(struct loops_options *opts, struct error *err)
{
	if (loops_find(opts, err) < 0)
		return cli_fail(err);
	return show(opts->place.state, opts->loop.id, err);
}

static int run_watch(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, watch);
}

static int run_attach(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, attach);
}

const struct cli_command cmd_watch = {
	.name = "watch",
	.args = "[--keys]",
	.max_args = 0,
	.summary = "watch all loops on a screen, and act on them",
	.description =
		"Shows all loops and work lists: what each of them does, and which of them needs you. "
		"Enter opens one: its transcript, iterations, checks, findings, changes, denials and cost. "
		"Loops are paused, continued, told, answered, rolled back and applied with one key and one "
		"yes. Quitting stops nothing.",
	.options = watch_options,
	.sections = watch_sections,
	.run = run_watch,
};

const struct cli_command cmd_attach = {
	.name = "attach",
	.args = "[LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "watch one loop on a screen",
	.description =
		"Opens ringfence watch with one loop: the newest of the project, or the one that is named.",
	.options = attach_options,
	.sections = attach_sections,
	.run = run_attach,
};
