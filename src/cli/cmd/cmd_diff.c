/* ringfence diff and ringfence show: compare checkpoints, and print files from them. */
#include "cli/checkpoints.h"
#include "cli/short_id.h"

#include "cli/drafts.h"
#include "cli/view/notice.h"
#include "draft/draft.h"
#include "ops/op_draft.h"
#include "snapshot/snapshot.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "view/view_changes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option diff_options[] = {
	OPTION_FLAG("stat", "show only how much changed in each file", struct loops_options, stat),
	OPTION_FLAG("name-only", "show only the names of changed files", struct loops_options,
		    name_only),
	OPTION_FLAG("findings", "show only signs that the changes weaken the checks",
		    struct loops_options, findings),
	CHECKPOINTS_LOOP,
	OPTION_TEXT("draft", "DRAFT", "show what this draft changes", struct loops_options,
		    draft_id),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section diff_sections[] = {
	{ "EXAMPLES", "  ringfence diff                 what the loop changed so far\n"
		      "  ringfence diff 3               from checkpoint 3 to now\n"
		      "  ringfence diff 3 4 --stat\n"
		      "  ringfence diff 0 -- src        one folder; write a file named 7 as ./7\n"
		      "  ringfence diff > loop.patch    a patch for git apply\n"
		      "  ringfence diff --findings      deleted or skipped tests, and the like\n"
		      "  ringfence diff --draft 20260102-030405-efgh -- src\n" },
	{ 0 },
};

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static int add_diff_arguments(struct loops_options *opts, struct snapshot_work *work,
			      struct error *err)
{
	char **rest = opts->rest;

	if (*rest && is_number(*rest))
		snapshot_tell(work, "from", *rest++);
	else
		snapshot_tell_number(work, "from", opts->loop.state.start);
	if (rest > opts->rest && *rest && is_number(*rest))
		snapshot_tell(work, "to", *rest++);
	for (; *rest; rest++) {
		AUTO_FREE char *path = checkpoints_path(opts, *rest, err);

		if (!path)
			return -1;
		snapshot_tell(work, "only", path);
	}
	snapshot_tell(work, "style",
		      opts->json        ? "json"
		      : opts->stat      ? "stat"
		      : opts->name_only ? "names"
					: "patch");
	snapshot_tell_number(work, "findings", opts->findings);
	return 0;
}

/* Returns whether a checkpoint has the path. */
static bool holds(const struct loops_options *opts, const char *number, const char *path)
{
	const char *project = opts->loop.state.options.project;
	struct snapshot_work work;
	json_t *answer = NULL;
	struct error ignored;
	int result;

	snapshot_begin(&work, "holds", opts->place.state, project, opts->loop.id);
	snapshot_tell(&work, "from", number);
	snapshot_tell(&work, "path", path);
	result = snapshot_run(&work, -1, &answer, &ignored);
	snapshot_release(&work);
	json_decref(answer);
	return result == 0;
}

static bool exists(const struct loops_options *opts, const char *path)
{
	const struct loop_options *options = &opts->loop.state.options;
	AUTO_FREE char *whole = path_join(options->project, path);

	if (options->draft)
		return draft_exists(options->project, options->draft, path);
	return faccessat(AT_FDCWD, whole, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Returns the option that takes this word, if it names a loop or a draft; else NULL. Other commands
 * take such a word without an option, and a diff takes paths. */
static const char *option_for(const struct loops_options *opts, const char *word)
{
	struct list kept = { 0 };
	struct client_loop loop;
	struct error ignored;
	const char *id = short_id_resolve(&opts->place, word, &kept, &ignored);
	const char *option = NULL;

	if (id && drafts_exists(opts, id)) {
		option = "--draft";
	} else if (id && client_find(opts->place.state, id, NULL, &loop, &ignored) == 0) {
		client_loop_release(&loop);
		option = "--loop";
	}
	list_release(&kept);
	return option;
}

static int fail_missing(const struct loops_options *opts, const char *path, const char *from,
			const char *to, struct error *err)
{
	const char *option = option_for(opts, path);

	if (option)
		return error_with(err, ERROR_NOT_FOUND,
				  "'%s' is not a path; use: ringfence diff %s %s", path, option,
				  path);
	if (opts->draft_id)
		return error_with(err, ERROR_NOT_FOUND,
				  "neither the draft nor its base has the path '%s'", path);
	return error_with(err, ERROR_NOT_FOUND, "'%s': no such path in checkpoint %s or %s%s", path,
			  from, to ? "checkpoint " : "now", to ? to : "");
}

/* Fails for a path that neither side of the comparison has: it is probably misspelled. `result` is
 * the checkpoint with a draft's result, or NULL. */
static int check_paths(const struct loops_options *opts, const char *result, struct error *err)
{
	char **rest = opts->rest;
	AUTO_FREE char *start = mem_format("%lld", (long long)opts->loop.state.start);
	const char *from = *rest && is_number(*rest) ? *rest++ : start;
	const char *to = rest > opts->rest && *rest && is_number(*rest) ? *rest++ : result;

	for (; *rest; rest++) {
		AUTO_FREE char *path = checkpoints_path(opts, *rest, err);

		if (!path)
			return -1;
		if (*path && !(to ? holds(opts, to, path) : exists(opts, path)) &&
		    !holds(opts, from, path))
			return fail_missing(opts, path, from, to, err);
	}
	return 0;
}

static int check_draft_options(const struct loops_options *opts, struct error *err)
{
	const char *first = opts->rest[0];

	if (opts->loop_id)
		return error_set(err, "use --loop or --draft, not both");
	if (first && is_number(first))
		return error_set(err,
				 "a draft has no checkpoints to choose from (write a file named %s "
				 "as ./%s)",
				 first, first);
	return 0;
}

/* Finds the draft, as if it were a loop with two checkpoints. *ret_to is the second one. */
static int begin_draft(struct loops_options *opts, struct snapshot_work *work, char **ret_to,
		       struct error *err)
{
	struct draft_record record;
	int result;

	if (check_draft_options(opts, err) < 0 ||
	    draft_record_find(opts->place.state, opts->draft_id, &record, err) < 0)
		return -1;
	result = draft_record_check_result(&record, err);
	if (result == 0) {
		opts->loop.id = mem_dup(record.id);
		opts->loop.state.options.project = mem_dup(record.project);
		*ret_to = mem_format("%lld", (long long)record.result);
		snapshot_begin(work, "diff", opts->place.state, record.project, record.id);
		snapshot_tell(work, "to", *ret_to);
	}
	draft_record_release(&record);
	return result;
}

static int begin_loop(struct loops_options *opts, struct snapshot_work *work, struct error *err)
{
	const char *first = opts->rest[0];
	size_t index;
	const json_t *action;

	if (first && drafts_exists(opts, first))
		return error_set(err, "%s is a draft (see its changes: ringfence diff --draft %s)",
				 first, first);
	if (checkpoints_begin(opts, "diff", work, err) < 0)
		return -1;
	json_array_foreach(opts->loop.state.options.findings, index, action)
	{
		snapshot_tell(work, "action", json_string_value(action));
	}
	return 0;
}

static void notice_accepted(const struct loops_options *opts)
{
	size_t count = json_array_size(opts->loop.state.accepted);

	if (opts->findings && !opts->json && count)
		notice_format("%zu finding%s of this loop %s accepted, and no longer count%s",
			      count, count == 1 ? "" : "s", count == 1 ? "was" : "were",
			      count == 1 ? "s" : "");
}

/* Untested lines come from running the checks; the comparison does not find them. */
static void notice_untested(const struct loops_options *opts)
{
	size_t count = json_array_size(opts->loop.state.mutants.untested);

	if (opts->findings && !opts->json && count)
		notice_format("untested: no check notices %zu change%s that --mutate tried (see: "
			      "ringfence history %s)",
			      count, count == 1 ? "" : "s", opts->loop.id);
}

/* The draft of a loop is compared as the loop is. */
static void choose_loop(struct loops_options *opts)
{
	struct draft_record record;
	struct error ignored;

	if (!opts->draft_id || drafts_exists(opts, opts->draft_id) ||
	    op_draft_find(opts->place.state, opts->draft_id, &record, &ignored) < 0)
		return;
	draft_record_release(&record);
	opts->loop_id = opts->draft_id;
	opts->draft_id = NULL;
}

static int diff(struct loops_options *opts, struct error *err)
{
	struct snapshot_work work = { 0 };
	AUTO_FREE char *result = NULL;
	int code;

	choose_loop(opts);
	if ((opts->draft_id ? begin_draft(opts, &work, &result, err)
			    : begin_loop(opts, &work, err)) < 0 ||
	    add_diff_arguments(opts, &work, err) < 0) {
		snapshot_release(&work);
		return cli_fail(err);
	}
	snapshot_tell_number(&work, "live", view_changes_live(opts->place.state, &opts->loop));
	code = checkpoints_print(opts, &work, !opts->json, err);
	snapshot_release(&work);
	notice_accepted(opts);
	notice_untested(opts);
	return code || check_paths(opts, result, err) == 0 ? code : cli_fail(err);
}

static int run_diff(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, diff);
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.args = "[options] [A [B] | --draft DRAFT] [-- PATH...]",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "show what a loop or a draft changed",
	.description =
		"Compares checkpoint A (default: 0, the state before the loop) with checkpoint B (default: "
		"the project as it is now), or a draft with the project when it began. Attributes, filters and git configuration of the project are "
		"ignored.",
	.options = diff_options,
	.sections = diff_sections,
	.run = run_diff,
};

static const struct cli_option show_options[] = { CHECKPOINTS_LOOP, LOOPS_PROJECT, { 0 } };

static const struct cli_section show_sections[] = {
	{ "EXAMPLES", "  ringfence show 0:src/main.c > main.c.old\n"
		      "  ringfence show 2:src           list a folder\n" },
	{ 0 },
};

static int show(struct loops_options *opts, struct error *err)
{
	struct snapshot_work work = { 0 };
	const char *given = opts->rest[0];
	const char *colon = given ? strchr(given, ':') : NULL;
	AUTO_FREE char *number = colon ? strndup(given, (size_t)(colon - given)) : NULL;
	AUTO_FREE char *path = NULL;
	int code;

	if (!number) {
		error_set(err, "show needs a checkpoint and a path: ringfence show 0:README.md");
		return cli_fail(err);
	}
	if (checkpoints_check_number(number, err) < 0 ||
	    checkpoints_begin(opts, "show", &work, err) < 0)
		return cli_fail(err);
	/* Relative to the project's root, unless the path starts with / or a dot. */
	path = colon[1] == '/' || colon[1] == '.'
		       ? checkpoints_path(opts, colon + 1, err)
		       : mem_format("%.*s",
				    (int)(strlen(colon + 1) - (colon[strlen(colon) - 1] == '/')),
				    colon + 1);
	if (path) {
		snapshot_tell(&work, "from", number);
		snapshot_tell(&work, "path", path);
		code = checkpoints_print(opts, &work, true, err);
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
	.max_args = 1,
	.options_anywhere = true,
	.summary = "print a file from a checkpoint",
	.description =
		"Prints the file PATH as it was in checkpoint N, or the names in a folder. Bytes are "
		"printed unchanged, except that control characters are escaped on a terminal.",
	.options = show_options,
	.sections = show_sections,
	.run = run_show,
};
