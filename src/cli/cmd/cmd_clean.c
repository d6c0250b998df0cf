/* ringfence clean: remove loops with their logs, checkpoints and work trees, and old drafts. */
#include "cli/confirm.h"
#include "cli/loops.h"
#include "cli/view/notice.h"
#include "ops/op_clean.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <time.h>

/* Offered for removal if the user does not say what to remove. */
#define OLD "30d"

static const struct cli_option options[] = {
	OPTION_TEXT(
		"older", "TIME",
		"remove all loops and drafts of this project that began this long ago (default: " OLD
		")",
		struct loops_options, from),
	OPTION_FLAG("all", "without a loop: remove those of every project", struct loops_options,
		    all),
	OPTION_FLAG("branches",
		    "also remove a branch ringfence/LOOP whose commits no other branch has",
		    struct loops_options, force),
	OPTION_FLAG("yes", "do not ask", struct loops_options, yes),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence clean 20260102-030405-abcd\n"
		      "  ringfence clean --older 30d --all --yes\n" },
	{ 0 },
};

static void print_selected(const struct op_question *question)
{
	for (size_t i = 0; i < question->count; i++) {
		const struct op_item *item = &question->items[i];
		AUTO_FREE char *project = text_escaped(item->where ? item->where : "?");

		printf("%s  %-11s  %s\n", item->name, item->value, project);
	}
}

static json_t *list_json(const struct list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

static int print_result(const struct loops_options *opts, const struct op_clean_result *result)
{
	AUTO_FREE char *size = text_size(result->freed_bytes);
	AUTO_FREE char *what =
		op_clean_count(result->removed.count - result->drafts - result->batches,
			       result->drafts);

	if (opts->json)
		loops_print(json_pack("{s:o, s:I}", "removed", list_json(&result->removed),
				      "freed_bytes", (json_int_t)result->freed_bytes));
	else if (!result->removed.count)
		puts("nothing to remove: no loop or draft is that old (to remove one: ringfence clean LOOP, "
		     "discard DRAFT)");
	else
		printf("%s removed, %s freed\n", what, size);
	return cli_flush();
}

static int finish(const struct loops_options *opts, enum op_status status,
		  const struct op_clean_result *result, const struct error *err)
{
	for (size_t i = 0; i < result->kept_branches.count; i++) {
		const char *id = result->kept_branches.items[i];

		notice_format(
			"kept the branch ringfence/%s: no other branch has its commits (to remove it: "
			"git branch -D ringfence/%s, or --branches)",
			id, id);
	}
	return op_failed(status) ? cli_fail(err) : print_result(opts, result);
}

/* Shows what is selected, asks, and removes exactly those. */
static int ask(const struct loops_options *opts, struct op_clean_request *request,
	       const struct op_question *question, struct error *err)
{
	struct op_clean_result result;
	enum op_status status;
	int code;

	if (!confirm_possible("use --yes", err))
		return cli_fail(err);
	print_selected(question);
	if (!confirm(question)) {
		puts("nothing was removed");
		return 1;
	}
	request->answer.token = question->token;
	status = op_clean(request, &result, err);
	if (status == OP_ASKS)
		code = ask(opts, request, &result.question, err);
	else
		code = finish(opts, status, &result, err);
	op_clean_release(&result);
	request->answer.token = NULL;
	return code;
}

static int clean(struct loops_options *opts, struct error *err)
{
	struct op_clean_request request = { .state = opts->place.state,
					    .project = opts->all ? NULL : opts->place.project,
					    .now_ms = (int64_t)time(NULL) * 1000,
					    .branches = opts->force,
					    .answer.to_all = opts->yes };
	struct op_clean_result result;
	enum op_status status;
	uint64_t older_ms = 0;
	int code;

	if (opts->rest[0] && loops_resolve_argument(opts, 0, err) < 0)
		return cli_fail(err);
	request.loop = opts->rest[0];
	if (opts->rest[0] && opts->from) {
		error_set(err, "clean needs a loop or --older TIME, not both");
		return cli_fail(err);
	}
	if (!opts->rest[0] && !opts->from)
		opts->from = OLD;
	if (opts->from && text_duration_ms(opts->from, &older_ms) < 0) {
		error_set(err, "--older needs a time such as 12h or 30d, not '%.40s'", opts->from);
		return cli_fail(err);
	}
	request.older_ms = (int64_t)older_ms;
	status = op_clean(&request, &result, err);
	code = status == OP_ASKS ? ask(opts, &request, &result.question, err)
				 : finish(opts, status, &result, err);
	op_clean_release(&result);
	return code;
}

static int run_clean(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, clean);
}

const struct cli_command cmd_clean = {
	.name = "clean",
	.args = "[--yes] [--branches] [LOOP | [--older TIME] [--all]]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "remove loops with all their files, and old drafts",
	.description =
		"Removes a stopped loop, or all loops and drafts older than TIME (30 days), with logs, checkpoints "
		"and work trees, and prints how much space that frees. Afterwards their changes can no longer be "
		"undone. The branch ringfence/LOOP is removed only if another branch has its commits. The "
		"project itself is not changed.",
	.options = options,
	.sections = sections,
	.run = run_clean,
};
