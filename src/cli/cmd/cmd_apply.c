/* ringfence apply: merge a loop's commits into the user's branch, or take over a draft. */
#include "cli/confirm.h"
#include "cli/drafts.h"
#include "cli/loops.h"
#include "cli/view/notice.h"
#include "cli/view/outcome_text.h"
#include "cli/view/trial_text.h"
#include "ops/op_apply.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHORT_ID = 10, SHOWN = 20, CONFLICT = 1 };

static const struct cli_option options[] = {
	OPTION_FLAG(
		"merge",
		"bring the loop's commits: fast-forward your branch, or create a merge commit if "
		"necessary",
		struct loops_options, merge),
	OPTION_FLAG("squash", "bring its commits as one commit", struct loops_options, squash),
	OPTION_FLAG(
		"patch",
		"change nothing; print a mailbox for git am and git apply, and name files that this "
		"machine would execute unasked",
		struct loops_options, patch),
	OPTION_FLAG("dry-run", "change nothing; show what would change, and conflicts",
		    struct loops_options, dry),
	OPTION_FLAG("yes", "also apply files that run or are obeyed unasked, and pinned files",
		    struct loops_options, yes),
	OPTION_FLAG("yes-executed", "for a draft: a yes to the files that this machine executes",
		    struct loops_options, yes_executed),
	OPTION_FLAG("yes-ci", "for a draft: a yes to the files that CI runs", struct loops_options,
		    yes_ci),
	OPTION_FLAG("yes-pinned", "a yes to the pinned files that the agent changed",
		    struct loops_options, yes_pinned),
	OPTION_FLAG("hunks", "for a draft: ask about each hunk, as git add -p does (-p)",
		    struct loops_options, hunks),
	OPTION_FLAG("files", "for a draft: take over files, committed or not (default)",
		    struct loops_options, files),
	OPTION_FLAG("with-ignored", "for a draft: also take over files that git ignores",
		    struct loops_options, with_ignored),
	OPTION_FLAG("undo", "take back the last apply of a draft", struct loops_options, undo),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_alias aliases[] = {
	{ "-p", "--hunks" },
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    applied, except for what you declined; or nothing to do\n"
			 "  1    conflicts, or you declined everything; nothing was changed\n"
			 "  125  refused; the reason is printed, and nothing was changed\n" },
	{ "EXAMPLES", "  ringfence apply --dry-run\n"
		      "  ringfence apply\n"
		      "  ringfence apply 20260102-030405-abcd --merge\n"
		      "  ringfence apply --patch >loop.mbox; git am loop.mbox\n"
		      "\n"
		      "  ringfence apply 20260102-030405-efgh -- src docs   two paths of a draft\n"
		      "  ringfence apply -p 20260102-030405-efgh            choose hunks\n"
		      "  ringfence apply --undo 20260102-030405-efgh\n" },
	{ 0 },
};

/* ---- notices ---- */

static void print_list(const json_t *list, const char *key)
{
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		AUTO_FREE char *shown = text_escaped(key ? jsonget_text(entry, key)
							 : json_string_value(entry));

		printf("  %s\n", shown);
	}
}

static void notice_lists(const json_t *answer)
{
	const json_t *filtered = json_object_get(answer, "filtered");
	size_t index;
	json_t *left;

	if (json_array_size(filtered))
		notice_format(
			"%zu file%s with a filter (such as LFS) %s written as stored; run the filter "
			"with: git checkout -- PATH",
			json_array_size(filtered), json_array_size(filtered) == 1 ? "" : "s",
			json_array_size(filtered) == 1 ? "was" : "were");
	if (jsonget_flag(answer, "recovered"))
		notice("finished an interrupted apply first");
	json_array_foreach(json_object_get(answer, "recovered_left"), index, left)
	{
		notice_format("kept, because you changed it since: %s", json_string_value(left));
	}
	json_array_foreach(json_object_get(answer, "left"), index, left)
	{
		notice_format("left as it is in the work tree: %s", json_string_value(left));
	}
}

static void show_question(const struct op_question *question)
{
	for (size_t i = 0; i < question->count; i++) {
		const struct op_item *item = &question->items[i];

		if (item->value)
			notice_format(
				"only in the history: %s (commit %.*s): %s; --squash leaves it out",
				item->name, SHORT_ID, item->value, item->why);
		else
			notice_format("%s: %s", item->name, item->why);
	}
}

static void show_questions(const struct op_apply_result *result)
{
	show_question(&result->question);
	show_question(&result->pinned);
}

static bool asks_about_history(const struct op_question *question)
{
	return question->count && question->items[question->count - 1].value;
}

static void notice_leftovers(const struct op_apply_result *result)
{
	if (result->leftovers == OP_APPLY_AT_WORK)
		notice_format("loop %s %s: applying what it has committed so far", result->loop.id,
			      result->loop.alive ? "is still running" : "has not ended");
	if (result->leftovers == OP_APPLY_GONE)
		notice_format("the work tree of loop %s is gone: applying what was committed",
			      result->loop.id);
}

/* The tokens of the questions that the user has answered. */
struct answers {
	char executed[SHA256_HEX], pinned[SHA256_HEX];
};

/* ---- results ---- */

/* Prints the fields of an answer that docs/protocols.md lists. */
static void print_json(const json_t *answer, const struct client_loop *loop)
{
	static const char *const keys[] = {
		"id",      "kind",      "branch",         "old",
		"new",     "commits",   "changes",        "executed",
		"pinned",  "conflicts", "conflict_count", "in_the_way",
		"written", "removed",   "there",          "filtered",
		"left",    "recovered", "recovered_left",
	};
	json_t *printed = json_object();

	loops_add_outcome(printed, loop);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(answer, keys[i]))
			json_object_set(printed, keys[i], json_object_get(answer, keys[i]));
	loops_print(printed);
}

static int report_conflicts(const struct loops_options *opts, const struct op_apply_result *result)
{
	json_t *answer = result->details;
	long long count = jsonget_number(answer, "conflict_count");

	if (opts->json) {
		print_json(answer, &result->loop);
		return cli_flush() ? LOOPS_REFUSED : CONFLICT;
	}
	printf("ringfence/%s conflicts with %s at %lld path%s:\n", result->loop.id,
	       jsonget_text(answer, "branch"), count, count == 1 ? "" : "s");
	print_list(json_object_get(answer, "conflicts"), "words");
	printf("nothing was changed; to resolve the conflicts by hand: git merge ringfence/%s\n",
	       result->loop.id);
	return cli_flush() ? LOOPS_REFUSED : CONFLICT;
}

static int report_in_the_way(const struct loops_options *opts, const struct op_apply_result *result,
			     const struct error *err)
{
	if (opts->json)
		print_json(result->details, &result->loop);
	else
		print_list(json_object_get(result->details, "in_the_way"), NULL);
	return cli_fail(err);
}

static void print_preview(const struct op_apply_result *result)
{
	static const char *const words[] = {
		[OP_APPLY_FORWARD] = "be fast-forwarded",
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

static void print_result(const struct op_apply_result *result)
{
	static const char *const words[] = {
		[OP_APPLY_FORWARD] = "was fast-forwarded",
		[OP_APPLY_MERGE] = "got a merge commit",
		[OP_APPLY_SQUASH] = "got one commit",
	};
	const json_t *answer = result->details;
	long long there = jsonget_number(answer, "there");

	printf("%s %s: %lld commit%s from ringfence/%s, %lld file%s written, %lld removed",
	       jsonget_text(answer, "branch"), words[result->kind],
	       jsonget_number(answer, "commits"), jsonget_number(answer, "commits") == 1 ? "" : "s",
	       result->loop.id, jsonget_number(answer, "written"),
	       jsonget_number(answer, "written") == 1 ? "" : "s",
	       jsonget_number(answer, "removed"));
	if (there)
		printf(", %lld already up to date", there);
	printf("\n");
	if (*jsonget_text(answer, "old"))
		printf("to undo this: git reset --keep %.*s\n", SHORT_ID,
		       jsonget_text(answer, "old"));
}

static json_t *question_json(const struct op_question *question)
{
	json_t *list = json_array();

	for (size_t i = 0; i < question->count; i++) {
		const struct op_item *item = &question->items[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s*}", "path", item->name, "why",
						      item->why, "commit", item->value));
	}
	return list;
}

static int report(const struct loops_options *opts, const struct op_apply_result *result)
{
	json_t *answer = result->details;

	notice_lists(answer);
	if (opts->json) {
		json_object_set_new(answer, "id", json_string(result->loop.id));
		json_object_set_new(answer, "executed", question_json(&result->question));
		json_object_set_new(answer, "pinned", question_json(&result->pinned));
		print_json(answer, &result->loop);
	} else if (result->kind == OP_APPLY_NOTHING) {
		printf("nothing to do: %s already contains ringfence/%s\n",
		       jsonget_text(answer, "branch"), result->loop.id);
	} else if (opts->dry) {
		print_preview(result);
	} else {
		print_result(result);
	}
	return cli_flush();
}

static int report_refusal(const struct loops_options *opts, const struct op_apply_result *result,
			  const struct error *err)
{
	bool looked = result->kind == OP_APPLY_CONFLICT || result->kind == OP_APPLY_IN_THE_WAY;

	if (looked)
		notice_lists(result->details);
	if (result->kind == OP_APPLY_CONFLICT)
		return report_conflicts(opts, result);
	return looked ? report_in_the_way(opts, result, err) : cli_fail(err);
}

/* Names everything that needs a yes, and the option that gives it. */
static int refuse(const struct op_apply_request *request, const struct op_apply_result *result,
		  struct error *err)
{
	bool history = asks_about_history(&result->question);
	size_t count = result->question.count + (request->pinned.to_all ? 0 : result->pinned.count);

	show_questions(result);
	error_set(err,
		  "%zu path%s a yes: review %s (git %s HEAD..%sringfence/%s), then use --yes%s%s",
		  count, count == 1 ? " needs" : "s need", count == 1 ? "it" : "them",
		  history ? "log -p" : "diff", history ? "" : ".", result->loop.id,
		  result->question.count ? "" : "-pinned", history ? " or --squash" : "");
	return cli_fail(err);
}

/* Asks about files that this machine executes unasked, then about pinned ones. Returns 0 for yes,
 * or the exit status. */
static int ask(const struct loops_options *opts, const struct op_apply_result *result,
	       struct answers *answers, struct op_apply_request *request, struct error *err)
{
	bool executed = result->question.count && !op_agreed(&request->answer, &result->question);
	const struct op_question *question = executed ? &result->question : &result->pinned;
	struct error unused;

	if (opts->json || !confirm_possible("use --yes", &unused))
		return refuse(request, result, err);
	show_question(question);
	if (confirm_answer(question, executed ? answers->executed : answers->pinned,
			   executed ? &request->answer : &request->pinned))
		return 0;
	puts("nothing was changed");
	return CONFLICT;
}

/* Reports that there is no such loop, or none at all, where a draft may have been meant. */
static int report_missing(const struct loops_options *opts, struct error *err)
{
	if (opts->rest[0])
		error_set(err,
			  "there is no loop or draft '%.100s' (see: ringfence status --all, "
			  "ringfence drafts --all)",
			  opts->rest[0]);
	else
		error_set(err,
			  "there is no loop of the project '%s' (see: ringfence status --all); a "
			  "draft is applied by its id (see: ringfence drafts)",
			  opts->place.project);
	return cli_fail(err);
}

/* Applies the result, after asking where the user has to agree first. */
static int apply_and_report(const struct loops_options *opts, struct op_apply_request *request,
			    struct error *err)
{
	struct answers answers;
	int code;

	for (;;) {
		struct op_apply_result result;
		enum op_status status = op_apply(request, &result, err);
		bool first = !request->answer.token && !request->pinned.token;

		if (first)
			notice_leftovers(&result);
		if (first && status != OP_ASKS)
			show_questions(&result);
		if (status == OP_ASKS)
			code = ask(opts, &result, &answers, request, err);
		else if (status == OP_NOT_FOUND && !result.loop.id)
			code = report_missing(opts, err);
		else
			code = op_failed(status) ? report_refusal(opts, &result, err)
						 : report(opts, &result);
		op_apply_release(&result);
		if (status != OP_ASKS || code)
			return code;
	}
}

/* Printing a patch changes nothing, so it does not ask. */
static int print_patch(const struct op_apply_request *request, struct error *err)
{
	struct op_apply_result result;
	enum op_status status = op_apply_patch(request, STDOUT_FILENO, isatty(STDOUT_FILENO),
					       &result, err);

	notice_leftovers(&result);
	show_questions(&result);
	op_apply_release(&result);
	return op_failed(status) ? cli_fail(err) : 0;
}

/* Untested lines deserve a look before they are applied. */
static void notice_untested(const struct client_loop *loop)
{
	size_t index;
	const json_t *finding;

	json_array_foreach(loop->state.mutants.untested, index, finding)
	{
		AUTO_FREE char *line = trial_text_untested(finding);

		notice_format("%s", line);
	}
}

/* A result that is not complete deserves more than a look. */
static void notice_outcome(const struct client_loop *loop)
{
	json_t *outcome = client_outcome(loop);
	AUTO_FREE char *sentence = outcome_text_sentence(outcome);

	if (sentence)
		notice(sentence);
	json_decref(outcome);
}

/* Returns whether the loop that is named, or the newest one, works on a draft whose files are
 * wanted, not its commits. */
static bool wants_files_of_loop(struct loops_options *opts)
{
	struct error ignored;

	if (client_find(opts->place.state, opts->rest[0], opts->place.project, &opts->loop,
			&ignored) < 0)
		return false;
	if (!opts->undo)
		notice_outcome(&opts->loop);
	notice_untested(&opts->loop);
	return !opts->merge && !opts->squash && !opts->patch && opts->loop.state.options.draft;
}

/* Is no loop named, and the newest one a part of a batch? It has not what others have done. Then
 * err says what to do. */
static bool refuse_part(const struct loops_options *opts, struct error *err)
{
	struct client_loop loop = { 0 };
	struct error ignored;
	bool part = !opts->rest[0] &&
		    client_find(opts->place.state, NULL, opts->place.project, &loop, &ignored) ==
			    0 &&
		    !loop.damaged && loop.state.options.batch;

	if (part && opts->undo)
		error_with(err, ERROR_INVALID,
			   "name the loop to take back: the newest one is a part of a batch "
			   "(ringfence work --show %s)",
			   loop.state.options.batch);
	else if (part)
		error_with(err, ERROR_INVALID,
			   "the newest loop is a part of a batch: use ringfence work --apply %s "
			   "(to take over only this loop: ringfence apply %s)",
			   loop.state.options.batch, loop.id);
	client_loop_release(&loop);
	return part;
}

static int apply(struct loops_options *opts, struct error *err)
{
	struct op_apply_request request = { .squash = opts->squash,
					    .dry = opts->dry,
					    .answer.to_all = opts->yes,
					    .pinned.to_all = opts->yes_pinned };

	if (opts->files + opts->merge + opts->squash + opts->patch > 1) {
		error_set(err, "use only one of --files, --merge, --squash and --patch");
		return cli_fail(err);
	}
	if (opts->rest[0] && loops_resolve_argument(opts, 0, err) < 0)
		return cli_fail(err);
	if (opts->rest[0] && drafts_exists(opts, opts->rest[0]))
		return drafts_apply(opts, err);
	if (refuse_part(opts, err))
		return cli_fail(err);
	if (wants_files_of_loop(opts)) {
		char *newest[] = { opts->loop.id, NULL };

		opts->rest = opts->rest[0] ? opts->rest : newest;
		return drafts_apply(opts, err);
	}
	if (opts->undo) {
		error_set(err,
			  "--undo takes files back; after commits were applied, apply prints the "
			  "git command that does");
		return cli_fail(err);
	}
	if (opts->hunks || opts->yes_executed || opts->yes_ci || opts->files ||
	    opts->with_ignored) {
		error_set(err, "--files, --with-ignored, --hunks, --yes-executed and --yes-ci are "
			       "for the files of a draft");
		return cli_fail(err);
	}
	if (opts->patch && opts->json) {
		error_set(err, "--json cannot be used with --patch");
		return cli_fail(err);
	}
	if (loops_target(opts, &request.target, err) < 0)
		return cli_fail(err);
	return opts->patch ? print_patch(&request, err) : apply_and_report(opts, &request, err);
}

static int run_apply(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, apply);
}

const struct cli_command cmd_apply = {
	.name = "apply",
	.args = "[options] [LOOP | DRAFT [-- PATH...]]",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "apply the result of a loop or a draft to your project",
	.description =
		"Changes the files of the project as the loop or the draft did, or only the given paths. "
		"What you changed meanwhile is kept, or named as a conflict; then nothing is changed. With "
		"--merge, --squash or --patch, and for a loop without a draft, brings the commits of the "
		"branch ringfence/LOOP to the branch that is checked out here instead. No hook, filter or "
		"merge driver runs. If apply is interrupted, the next ringfence apply or run finishes it.",
	.options = options,
	.aliases = aliases,
	.sections = sections,
	.run = run_apply,
};
