/* ringfence complete: the words that scripts of completions ask for. Internal: a shell starts it at
 * each press of the Tab key, so it is fast, and silent when something fails. */
#include "cli/candidates.h"
#include "settings/effective.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = { { 0 } };

static const struct cli_section sections[] = { { 0 } };

static int run_complete(const struct cli_command *command, char **argv)
{
	const struct cli_command *about = NULL;
	struct fence_place place;
	struct list words = { 0 };
	const char *option;
	struct error ignored;

	(void)command;
	if (!argv[1] || !(about = cli_find(argv[1], &ignored)) ||
	    effective_find(NULL, &place, &ignored) < 0)
		return 0;
	option = argv[2] ? text_after_prefix(argv[2], "--") : NULL;
	candidates_list(&place, candidates_kinds(about, option), &words);
	for (size_t i = 0; i < words.count; i++)
		puts(words.items[i]);
	list_release(&words);
	fence_place_release(&place);
	return fflush(stdout) == 0 ? 0 : 1;
}

const struct cli_command cmd_complete = {
	.name = "complete",
	.args = "COMMAND [--OPTION]",
	.max_args = 2,
	.summary = "print the words that can be completed",
	.description = "An internal command for the scripts of ringfence completions.",
	.options = options,
	.sections = sections,
	.run = run_complete,
};
