/* ringfence quarantine: list what sweeps have moved to quarantine, and bring it back. */
#include "cli/loops.h"
#include "fence/fence_kept.h"
#include "util/clock.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option options[] = {
	OPTION_FLAG("all", "list the files of every project", struct loops_options, all),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence quarantine\n"
		      "  ringfence quarantine restore .envrc\n" },
	{ 0 },
};

/* Returns how a person in the project writes the path. */
static const char *shown_path(const struct loops_options *opts, const char *path)
{
	const char *project = opts->place.project;

	return path_within(path, project) && strcmp(path, project) != 0 ? path + strlen(project) + 1
									: path;
}

static void print_item(const struct loops_options *opts, const struct fence_kept_item *item)
{
	AUTO_FREE char *path = text_escaped(shown_path(opts, item->path));
	AUTO_FREE char *reason = text_escaped(item->reason);
	AUTO_FREE char *kept = text_escaped(item->kept);
	AUTO_FREE char *ago = text_age(clock_wall_ms() - item->at_ns / 1000000);

	printf("%s  (%s, %s)\n    %s\n", path, reason, ago, kept);
}

static json_t *item_json(const struct fence_kept_item *item)
{
	return json_pack("{s:o, s:o, s:o, s:s, s:I}", "path", client_text(item->path), "reason",
			 client_text(item->reason), "kept", client_text(item->kept), "run",
			 item->run, "at", (json_int_t)(item->at_ns / 1000000000));
}

static int list(const struct loops_options *opts, const struct fence_kept *kept)
{
	json_t *items = json_array();
	size_t shown = 0;

	for (size_t i = 0; i < kept->count; i++) {
		const struct fence_kept_item *item = &kept->items[i];

		if (!opts->all && !path_within(item->path, opts->place.project))
			continue;
		shown++;
		if (opts->json)
			json_array_append_new(items, item_json(item));
		else
			print_item(opts, item);
	}
	if (opts->json)
		loops_print(json_pack("{s:O}", "quarantined", items));
	else if (shown)
		puts("to bring one back: ringfence quarantine restore PATH (read it first: this machine "
		     "runs or obeys it unasked)");
	else
		puts(opts->all ? "nothing is in quarantine"
			       : "nothing of this project is in quarantine (every project: --all)");
	json_decref(items);
	return cli_flush();
}

/* Returns the newest entry with this path, or NULL with err set. */
static const struct fence_kept_item *find(const struct fence_kept *kept, const char *path,
					  struct error *err)
{
	for (size_t i = kept->count; i-- > 0;)
		if (strcmp(kept->items[i].path, path) == 0)
			return &kept->items[i];
	error_with(err, ERROR_NOT_FOUND,
		   "'%s' is not in quarantine (what is: ringfence quarantine --all)", path);
	return NULL;
}

static int restore(const struct loops_options *opts, const struct fence_kept *kept,
		   struct error *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	const char *project = opts->place.project;
	const char *base = here && path_within(here, project) ? here : project;
	json_t *items = json_array();
	int code = 0;

	for (char **at = opts->rest + 1; *at && !code; at++) {
		AUTO_FREE char *path = path_absolute(*at, base);
		const struct fence_kept_item *item = find(kept, path, err);

		if (!item || fence_kept_restore(opts->place.state, item, err) < 0) {
			code = cli_fail(err);
		} else if (opts->json) {
			json_array_append_new(items, item_json(item));
		} else {
			AUTO_FREE char *name = text_escaped(shown_path(opts, path));

			printf("restored %s\n", name);
		}
	}
	if (opts->json && !code)
		loops_print(json_pack("{s:O}", "restored", items));
	json_decref(items);
	return code ? code : cli_flush();
}

static int act(struct loops_options *opts, struct error *err)
{
	const char *word = opts->rest[0] ? opts->rest[0] : "list";
	bool restores = strcmp(word, "restore") == 0;
	struct fence_kept kept = { 0 };
	int code;

	if ((restores && !opts->rest[1]) || (!restores && opts->rest[0] && opts->rest[1]) ||
	    (!restores && strcmp(word, "list") != 0)) {
		error_set(err, "use: ringfence quarantine list, or ringfence quarantine restore "
			       "PATH...");
		return cli_fail(err);
	}
	if (fence_kept_list(opts->place.state, &kept, err) < 0)
		code = cli_fail(err);
	else
		code = restores ? restore(opts, &kept, err) : list(opts, &kept);
	fence_kept_release(&kept);
	return code;
}

static int run_quarantine(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, act);
}

const struct cli_command cmd_quarantine = {
	.name = "quarantine",
	.args = "[list | restore PATH...] [--all] [--json]",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "list files that were put in quarantine, or bring them back",
	.description =
		"After each run, new files that this machine would run or obey unasked, such as .envrc or "
		".vscode, are moved out of the project. This lists them, with where they are now, and "
		"moves them back. Nothing is replaced. A file that you bring back is yours: later runs can "
		"only read it.",
	.options = options,
	.sections = sections,
	.run = run_quarantine,
};
