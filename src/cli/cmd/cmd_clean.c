/* ringfence clean: loops go, with their logs and checkpoints. */
#include "cli/confirm.h"
#include "cli/loops.h"
#include "cli/view/notice.h"
#include "ops/op_clean.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <time.h>

static const struct cli_option options[] = {
	OPTION_TEXT("older", "TIME", "loops of this project that began so long ago: 30d",
		    struct loops_options, from),
	OPTION_FLAG("all", "with --older: of every project", struct loops_options, all),
	OPTION_FLAG("branches",
		    "also branches ringfence/LOOP with commits that no other branch has",
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

static void show(const struct op_question *question)
{
	for (size_t i = 0; i < question->count; i++) {
		const struct op_item *item = &question->items[i];
		AUTO_FREE char *project = text_escaped(item->where ? item->where : "?");

		printf("%s  %-11s  %s\n", item->name, item->value, project);
	}
}

static json_t *json_of(const struct list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

static int tell(const struct loops_options *asked, const struct op_clean_result *result)
{
	unsigned long long bytes = result->freed_bytes;
	size_t count = result->removed.count;

	if (asked->json)
		loops_print(json_pack("{s:o, s:I}", "removed", json_of(&result->removed),
				      "freed_bytes", (json_int_t)bytes));
	else
		printf("%zu loop%s removed, %llu %s freed\n", count, count == 1 ? "" : "s",
		       bytes >> 20 ? bytes >> 20 : bytes >> 10, bytes >> 20 ? "MiB" : "KiB");
	return cli_printed();
}

static int finish(const struct loops_options *asked, enum op_status status,
		  const struct op_clean_result *result, const struct error *err)
{
	for (size_t i = 0; i < result->kept_branches.count; i++) {
		const char *id = result->kept_branches.items[i];

		notice_format(
			"the branch ringfence/%s stays: no other branch has its commits (git branch -D "
			"ringfence/%s removes it; so does --branches)",
			id, id);
	}
	return op_failed(status) ? cli_fail(err) : tell(asked, result);
}

/* Shows what is meant, asks, and removes exactly that. */
static int ask(const struct loops_options *asked, struct op_clean_request *request,
	       const struct op_question *question, struct error *err)
{
	struct op_clean_result result;
	enum op_status status;
	int code;

	if (!confirm_possible("--yes goes on without asking", err))
		return cli_fail(err);
	show(question);
	if (!confirm(question)) {
		puts("nothing was removed");
		return 1;
	}
	request->answer.token = question->token;
	status = op_clean(request, &result, err);
	if (status == OP_ASKS)
		code = ask(asked, request, &result.question, err);
	else
		code = finish(asked, status, &result, err);
	op_clean_release(&result);
	return code;
}

static int clean(struct loops_options *asked, struct error *err)
{
	struct op_clean_request request = { .state = asked->place.state,
					    .loop = asked->rest[0],
					    .project = asked->all ? NULL : asked->place.project,
					    .now_ms = (int64_t)time(NULL) * 1000,
					    .branches = asked->force,
					    .answer.to_all = asked->yes };
	struct op_clean_result result;
	enum op_status status;
	uint64_t older_ms = 0;
	int code;

	if (!asked->rest[0] == !asked->from) {
		error_set(err, "clean needs a loop, or --older TIME (ringfence status lists "
			       "the loops)");
		return cli_fail(err);
	}
	if (asked->from && text_duration_ms(asked->from, &older_ms) < 0) {
		error_set(err, "--older needs a time such as 12h or 30d");
		return cli_fail(err);
	}
	request.older_ms = (int64_t)older_ms;
	status = op_clean(&request, &result, err);
	code = status == OP_ASKS ? ask(asked, &request, &result.question, err)
				 : finish(asked, status, &result, err);
	op_clean_release(&result);
	return code;
}

static int run_clean(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, clean);
}

const struct cli_command cmd_clean = {
	.name = "clean",
	.args = "[--yes] [--branches] [LOOP | --older TIME [--all]]",
	.most = 1,
	.mixed = true,
	.help = "remove loops with their logs, checkpoints and work trees",
	.about =
		"Removes a loop that is not running, or all that began so long ago, with logs, checkpoints and work tree, and says how much "
		"that frees. After that nothing of them can be undone or looked at. A branch ringfence/LOOP goes if another branch has its "
		"commits. The project itself is not touched.",
	.options = options,
	.sections = sections,
	.run = run_clean,
};
