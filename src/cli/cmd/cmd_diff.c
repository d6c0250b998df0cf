/* ringfence diff and ringfence show: what is in checkpoints. */
#include "cli/checkpoints.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option diff_options[] = {
	OPTION_FLAG("stat", "only how much has changed in each file", struct loops_options, stat),
	OPTION_FLAG("name-only", "only the names of files that differ", struct loops_options,
		    name_only),
	CHECKPOINTS_LOOP,
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section diff_sections[] = {
	{ "EXAMPLES",
	  "  ringfence diff                 what the loop has done so far\n"
	  "  ringfence diff 3               from checkpoint 3 to now\n"
	  "  ringfence diff 3 4 --stat\n"
	  "  ringfence diff 0 -- src        of one folder; a file called 7 is written ./7\n"
	  "  ringfence diff > loop.patch    git apply takes it\n" },
	{ 0 },
};

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static int tell_diff(struct loops_options *asked, struct snapshot_work *work, struct error *err)
{
	char **rest = asked->rest;

	if (*rest && is_number(*rest))
		snapshot_tell(work, "from", *rest++);
	if (rest > asked->rest && *rest && is_number(*rest))
		snapshot_tell(work, "to", *rest++);
	for (; *rest; rest++) {
		AUTO_FREE char *path = checkpoints_path(asked, *rest, err);

		if (!path)
			return -1;
		snapshot_tell(work, "only", path);
	}
	snapshot_tell(work, "style",
		      asked->json        ? "json"
		      : asked->stat      ? "stat"
		      : asked->name_only ? "names"
					 : "patch");
	return 0;
}

static int diff(struct loops_options *asked, struct error *err)
{
	struct snapshot_work work = { 0 };
	AUTO_FREE char *running = NULL;
	int code;

	if (checkpoints_begin(asked, "diff", &work, err) < 0 || tell_diff(asked, &work, err) < 0) {
		snapshot_release(&work);
		return cli_fail(err);
	}
	running = client_running(asked->place.state, asked->loop.state.options.project);
	snapshot_tell_number(&work, "live", running != NULL);
	code = checkpoints_print(&work, !asked->json, err);
	snapshot_release(&work);
	return code;
}

static int run_diff(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, diff);
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.args = "[--stat|--name-only|--json] [A [B]] [-- PATH...]",
	.most = CLI_ANY,
	.mixed = true,
	.help = "what changed between two checkpoints, or since one",
	.about =
		"Compares checkpoint A (default: 0, the state before the loop) with checkpoint B (default: the project as it "
		"is now). Nothing of the project is consulted: no attribute, filter or configuration.",
	.options = diff_options,
	.sections = diff_sections,
	.run = run_diff,
};

static const struct cli_option show_options[] = { CHECKPOINTS_LOOP, LOOPS_PROJECT, { 0 } };

static const struct cli_section show_sections[] = {
	{ "EXAMPLES", "  ringfence show 0:src/main.c > main.c.old\n"
		      "  ringfence show 2:src           what is in the folder\n" },
	{ 0 },
};

static int show(struct loops_options *asked, struct error *err)
{
	struct snapshot_work work = { 0 };
	const char *given = asked->rest[0];
	const char *colon = given ? strchr(given, ':') : NULL;
	AUTO_FREE char *number = colon ? strndup(given, (size_t)(colon - given)) : NULL;
	AUTO_FREE char *path = NULL;
	int code;

	if (!number) {
		error_set(err, "show needs a checkpoint and a path: ringfence show 0:README.md");
		return cli_fail(err);
	}
	if (checkpoints_number(number, err) < 0 || checkpoints_begin(asked, "show", &work, err) < 0)
		return cli_fail(err);
	/* From the project's root on, unless it says otherwise. */
	path = colon[1] == '/' || colon[1] == '.'
		       ? checkpoints_path(asked, colon + 1, err)
		       : mem_format("%.*s",
				    (int)(strlen(colon + 1) - (colon[strlen(colon) - 1] == '/')),
				    colon + 1);
	if (path) {
		snapshot_tell(&work, "from", number);
		snapshot_tell(&work, "path", path);
		code = checkpoints_print(&work, true, err);
	} else {
		code = cli_fail(err);
	}
	snapshot_release(&work);
	return code;
}

static int run_show(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct cli_command cmd_show = {
	.name = "show",
	.args = "N:PATH",
	.most = 1,
	.mixed = true,
	.help = "a file as it was in a checkpoint",
	.about =
		"Prints the file PATH of checkpoint N, byte by byte; on a terminal, so that it can do no harm there. Of a "
		"folder, the names in it.",
	.options = show_options,
	.sections = show_sections,
	.run = run_show,
};
