/* ringfence apply: what a loop has committed comes into the user's branch. */
#include "cli/confirm.h"
#include "cli/loops.h"
#include "cli/view/notice.h"
#include "ops/op_apply.h"
#include "util/jsonget.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHORT_ID = 10, SHOWN = 20, CONFLICT = 1 };

static const struct cli_option options[] = {
	OPTION_FLAG("merge",
		    "the branch moves forward, or gets a merge commit where it must (default)",
		    struct loops_options, merge),
	OPTION_FLAG("squash", "all of it as one commit on top of your branch", struct loops_options,
		    squash),
	OPTION_FLAG(
		"patch",
		"change nothing; print mails that git am and git apply take; name what your machine would execute by itself",
		struct loops_options, patch),
	OPTION_FLAG("dry-run", "change nothing; say what would change, and what conflicts",
		    struct loops_options, dry),
	OPTION_FLAG("yes", "also what your machine executes, or reads as settings, by itself",
		    struct loops_options, yes),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    it is there, or there is nothing that your branch does not have\n"
			 "  1    it conflicts, or you said no: nothing was changed\n"
			 "  125  refused; the reason is said, and nothing was changed\n" },
	{ "EXAMPLES", "  ringfence apply --dry-run\n"
		      "  ringfence apply\n"
		      "  ringfence apply 20260102-030405-abcd --squash\n"
		      "  ringfence apply --patch >loop.mbox; git am loop.mbox\n" },
	{ 0 },
};

/* ---- what is said ---- */

static void print_list(const json_t *list, const char *before, const char *key)
{
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		AUTO_FREE char *shown = text_escaped(key ? jsonget_text(entry, key)
							 : json_string_value(entry));

		printf("%s%s\n", before, shown);
	}
}

static void notice_lists(const json_t *answer)
{
	const json_t *filtered = json_object_get(answer, "filtered");
	size_t index;
	json_t *left;

	if (json_array_size(filtered))
		notice_format(
			"%zu file%s with a filter (LFS, say) %s written as stored; git checkout -- PATH "
			"runs the filter",
			json_array_size(filtered), json_array_size(filtered) == 1 ? "" : "s",
			json_array_size(filtered) == 1 ? "is" : "are");
	if (json_is_true(json_object_get(answer, "recovered")))
		notice("an apply that was cut off has been finished first");
	json_array_foreach(json_object_get(answer, "recovered_left"), index, left)
	{
		notice_format("left as you have changed it since: %s", json_string_value(left));
	}
	json_array_foreach(json_object_get(answer, "left"), index, left)
	{
		notice_format("left as it is in the work tree: %s", json_string_value(left));
	}
}

static void show_executed(const struct op_question *question)
{
	for (size_t i = 0; i < question->count; i++)
		notice_format("%s: this machine runs it, or reads it as settings, by itself (%s)",
			      question->items[i].name, question->items[i].why);
}

static void notice_leftovers(const struct op_apply_result *result)
{
	if (result->leftovers == OP_APPLY_AT_WORK)
		notice_format("the loop %s is still running: this is what it has committed so far",
			      result->loop.id);
	if (result->leftovers == OP_APPLY_GONE)
		notice_format("the work tree of the loop %s is gone: this is what was committed",
			      result->loop.id);
}

/* ---- what comes of it ---- */

static int tell_conflicts(const struct loops_options *asked, const struct op_apply_result *result)
{
	json_t *answer = result->details;
	long long count = jsonget_number(answer, "conflict_count");

	if (asked->json) {
		loops_print(json_incref(answer));
		return cli_printed() ? LOOPS_REFUSED : CONFLICT;
	}
	printf("ringfence/%s conflicts with %s at %lld path%s:\n", result->loop.id,
	       jsonget_text(answer, "branch"), count, count == 1 ? "" : "s");
	print_list(json_object_get(answer, "conflicts"), "  ", "words");
	printf("nothing was changed; to resolve it by hand: git merge ringfence/%s\n",
	       result->loop.id);
	return cli_printed() ? LOOPS_REFUSED : CONFLICT;
}

static int tell_own(const struct loops_options *asked, const struct op_apply_result *result,
		    const struct error *err)
{
	if (asked->json)
		loops_print(json_incref(result->details));
	else
		print_list(json_object_get(result->details, "in_the_way"), "  ", NULL);
	return cli_fail(err);
}

static void tell_dry(const struct op_apply_result *result)
{
	static const char *const words[] = {
		[OP_APPLY_FORWARD] = "move forward",
		[OP_APPLY_MERGE] = "get a merge commit",
		[OP_APPLY_SQUASH] = "get one commit",
	};
	const json_t *answer = result->details;
	const json_t *changes = json_object_get(answer, "changes");
	size_t index;
	json_t *change;

	printf("%s would %s: %lld commit%s, %zu file%s\n", jsonget_text(answer, "branch"),
	       words[result->kind], jsonget_number(answer, "commits"),
	       jsonget_number(answer, "commits") == 1 ? "" : "s", json_array_size(changes),
	       json_array_size(changes) == 1 ? "" : "s");
	json_array_foreach(changes, index, change)
	{
		AUTO_FREE char *shown = text_escaped(jsonget_text(change, "path"));

		if (index < SHOWN)
			printf("  %-8s  %s\n", jsonget_text(change, "status"), shown);
	}
	if (json_array_size(changes) > SHOWN)
		printf("  and %zu more\n", json_array_size(changes) - SHOWN);
}

static void tell_done(const struct op_apply_result *result)
{
	static const char *const words[] = {
		[OP_APPLY_FORWARD] = "has moved forward",
		[OP_APPLY_MERGE] = "has a merge commit",
		[OP_APPLY_SQUASH] = "has one commit more",
	};
	const json_t *answer = result->details;
	long long there = jsonget_number(answer, "there");

	printf("%s %s: %lld commit%s of ringfence/%s, %lld file%s written, %lld removed",
	       jsonget_text(answer, "branch"), words[result->kind],
	       jsonget_number(answer, "commits"), jsonget_number(answer, "commits") == 1 ? "" : "s",
	       result->loop.id, jsonget_number(answer, "written"),
	       jsonget_number(answer, "written") == 1 ? "" : "s",
	       jsonget_number(answer, "removed"));
	if (there)
		printf(", %lld %s there already", there, there == 1 ? "was" : "were");
	printf("\n");
	if (*jsonget_text(answer, "old"))
		printf("to undo it: git reset --keep %.*s\n", SHORT_ID,
		       jsonget_text(answer, "old"));
}

static json_t *json_of(const struct op_question *question)
{
	json_t *list = json_array();

	for (size_t i = 0; i < question->count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "path", question->items[i].name,
						      "why", question->items[i].why));
	return list;
}

static int tell(const struct loops_options *asked, const struct op_apply_result *result)
{
	json_t *answer = result->details;

	notice_lists(answer);
	if (asked->json) {
		json_object_set_new(answer, "id", json_string(result->loop.id));
		json_object_set_new(answer, "executed", json_of(&result->question));
		loops_print(json_incref(answer));
	} else if (result->kind == OP_APPLY_NOTHING) {
		printf("nothing to do: %s has all of ringfence/%s\n",
		       jsonget_text(answer, "branch"), result->loop.id);
	} else if (asked->dry) {
		tell_dry(result);
	} else {
		tell_done(result);
	}
	return cli_printed();
}

static int tell_refused(const struct loops_options *asked, const struct op_apply_result *result,
			const struct error *err)
{
	bool looked = result->kind == OP_APPLY_CONFLICT || result->kind == OP_APPLY_IN_THE_WAY;

	if (looked)
		notice_lists(result->details);
	if (result->kind == OP_APPLY_CONFLICT)
		return tell_conflicts(asked, result);
	return looked ? tell_own(asked, result, err) : cli_fail(err);
}

/* Asks about files that the machine executes by itself. Returns 0 for yes, or the exit status. */
static int ask(const struct loops_options *asked, const struct op_apply_result *result,
	       struct error *err)
{
	struct error unused;

	if (asked->json || !confirm_possible("--yes agrees", &unused)) {
		error_set(err,
			  "%zu of the files that come would be executed on this machine unseen: "
			  "look at them (git diff HEAD...ringfence/%s), then --yes",
			  result->question.count, result->loop.id);
		return cli_fail(err);
	}
	if (confirm(&result->question))
		return 0;
	puts("nothing was changed");
	return CONFLICT;
}

/* First a look at the result, then, if nobody objects, exactly that. */
static int bring(const struct loops_options *asked, struct op_apply_request *request,
		 struct error *err)
{
	char token[SHA256_HEX];
	int code;

	for (;;) {
		struct op_apply_result result;
		enum op_status status = op_apply(request, &result, err);

		if (!request->answer.token)
			notice_leftovers(&result);
		if (!request->answer.token || status == OP_ASKS)
			show_executed(&result.question);
		if (status == OP_ASKS)
			code = ask(asked, &result, err);
		else
			code = op_failed(status) ? tell_refused(asked, &result, err)
						 : tell(asked, &result);
		memcpy(token, result.question.token, sizeof token);
		op_apply_release(&result);
		if (status != OP_ASKS || code)
			return code;
		request->answer.token = token;
	}
}

/* Nothing is changed by a patch, so there is nothing to agree to. */
static int print_patch(const struct op_apply_request *request, struct error *err)
{
	struct op_apply_result result;
	enum op_status status = op_apply_patch(request, STDOUT_FILENO, isatty(STDOUT_FILENO),
					       &result, err);

	notice_leftovers(&result);
	show_executed(&result.question);
	op_apply_release(&result);
	return op_failed(status) ? cli_fail(err) : 0;
}

static int apply(struct loops_options *asked, struct error *err)
{
	struct op_apply_request request = { .squash = asked->squash,
					    .dry = asked->dry,
					    .answer.to_all = asked->yes };

	if (asked->merge + asked->squash + asked->patch > 1 || (asked->patch && asked->json)) {
		error_set(err,
			  "apply takes one of --merge, --squash and --patch, and --json with the "
			  "first two only");
		return cli_fail(err);
	}
	if (loops_target(asked, &request.target, err) < 0)
		return cli_fail(err);
	return asked->patch ? print_patch(&request, err) : bring(asked, &request, err);
}

static int run_apply(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, apply);
}

const struct cli_command cmd_apply = {
	.name = "apply",
	.args = "[--merge | --squash | --patch] [--dry-run] [--yes] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "bring what a loop has committed into your branch",
	.about =
		"Merges the branch ringfence/LOOP into the branch that is checked out here. What conflicts is said in words, and then "
		"nothing is changed; so it is if files that you have changed and not committed would have to change. Everything else that is yours stays as "
		"it is. No hook, filter or merge driver is run. If it is cut off, the next one, or the next run, finishes it.",
	.options = options,
	.sections = sections,
	.run = run_apply,
};
