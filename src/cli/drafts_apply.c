/* Applying a draft: see drafts.h. */
#include "cli/checkpoints.h"
#include "cli/confirm.h"
#include "cli/drafts.h"
#include "cli/pick.h"
#include "cli/view/changes_text.h"
#include "cli/view/color.h"
#include "cli/view/notice.h"
#include "ops/op_draft.h"
#include "ops/op_draft_apply.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CONFLICT = 1 };

/* The answers about each group. */
struct answers {
	bool asked; /* the first question comes after an overview */
	char tokens[PATH_GROUP_COUNT][SHA256_HEX];
};

bool drafts_exists(const struct loops_options *opts, const char *id)
{
	struct draft_record record;
	struct error err;

	if (draft_record_find(opts->place.state, id, &record, &err) < 0)
		return err.status != ERROR_NOT_FOUND;
	draft_record_release(&record);
	return true;
}

/* ---- results ---- */

static json_t *texts_json(const struct list *list)
{
	json_t *texts = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(texts, json_string(list->items[i]));
	return texts;
}

static void print_json(const struct loops_options *opts, const struct op_draft_apply_result *result,
		       const char *word)
{
	json_t *value =
		json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:b}", "id",
			  result->record.id, "result", word, "groups",
			  apply_changes_groups_json(&result->changes), "changes",
			  apply_changes_json(&result->changes), "left", texts_json(&result->left),
			  "conflicts", texts_json(&result->conflicts), "merged",
			  texts_json(&result->merged), "kept", texts_json(&result->kept), "written",
			  (json_int_t)result->written, "removed", (json_int_t)result->removed,
			  "adjusted", (json_int_t)result->adjusted, "recovered", result->recovered);

	loops_add_outcome(value, &opts->loop);
	loops_print(value);
}

static void print_escaped(const char *before, const char *text)
{
	AUTO_FREE char *shown = text_escaped(text);

	printf("%s%s\n", before, shown);
}

static void print_line(const char *line)
{
	puts(line);
}

/* The list of a batch is ticked only with its whole result. */
static void print_ways_out(const struct loops_options *opts, const struct draft_record *record)
{
	AUTO_FREE char *merge =
		record->commit
			? mem_format(", or merge its commits yourself (git merge ringfence/%s)",
				     record->id)
			: mem_dup("");

	if (opts->batch)
		printf("nothing was changed or ticked; move your own changes there out of the "
		       "way%s, and then: ringfence work --apply %s\n",
		       merge, opts->batch);
	else
		printf("nothing was changed; to take over the rest: ringfence apply %s -- "
		       "PATH...\n",
		       record->id);
}

static int report_conflicts(const struct loops_options *opts,
			    const struct op_draft_apply_result *result)
{
	size_t count = result->conflicts.count;

	if (opts->json) {
		print_json(opts, result, "conflict");
		return cli_flush() ? LOOPS_REFUSED : CONFLICT;
	}
	printf("draft %s conflicts with your own changes at %zu path%s:\n", result->record.id,
	       count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++)
		print_escaped("  ", result->conflicts.items[i]);
	print_ways_out(opts, &result->record);
	return cli_flush() ? LOOPS_REFUSED : CONFLICT;
}

static void notice_result(const struct op_draft_apply_result *result)
{
	if (result->recovered)
		notice("finished an interrupted apply or rollback first");
	for (size_t i = 0; i < result->merged.count; i++)
		notice_format("merged your changes and the draft's: %s", result->merged.items[i]);
	for (size_t i = 0; i < result->kept.count; i++)
		notice_format("kept, because it holds ignored files: %s", result->kept.items[i]);
}

static void print_unchanged(const struct loops_options *opts)
{
	printf("nothing to do: %s\n",
	       opts->undo      ? "the project already has its earlier state"
	       : opts->rest[1] ? "the draft changes nothing at the given paths, or the project "
				 "already has it"
			       : "the draft has no changes, or the project already has them");
}

static void print_preview(const struct op_draft_apply_result *result)
{
	size_t count = result->changes.count;

	printf("%zu path%s would change:\n", count, count == 1 ? "" : "s");
	changes_text_print(&result->changes, print_line);
}

static void print_applied(const struct loops_options *opts,
			  const struct op_draft_apply_result *result)
{
	size_t count = result->changes.count;

	printf("draft %s %s: %zu path%s changed\n", result->record.id,
	       opts->undo ? "taken back" : "applied", count, count == 1 ? "" : "s");
	changes_text_sums(&result->changes, print_line);
	for (size_t i = 0; i < result->left.count; i++)
		print_escaped(opts->undo ? "  left as it is: " : "  left in the draft: ",
			      result->left.items[i]);
	if (!opts->undo)
		printf("to undo this: ringfence apply --undo %s\n", result->record.id);
}

/* status: OP_DONE or OP_UNCHANGED. */
static int report(const struct loops_options *opts, const struct op_draft_apply_result *result,
		  enum op_status status)
{
	bool nothing = !result->changes.count;
	bool declined = status == OP_UNCHANGED && !opts->dry && !nothing;

	notice_result(result);
	if (opts->json)
		print_json(opts, result,
			   status == OP_DONE ? (opts->undo ? "undone" : "applied")
			   : nothing         ? "nothing"
					     : "preview");
	else if (nothing)
		print_unchanged(opts);
	else if (opts->dry)
		print_preview(result);
	else if (declined)
		puts("nothing was changed");
	else
		print_applied(opts, result);
	return cli_flush() ? LOOPS_REFUSED : declined ? CONFLICT : 0;
}

/* ---- questions ---- */

static void notice_executed(const struct op_question *question)
{
	for (size_t i = 0; i < question->count; i++) {
		AUTO_FREE char *shown = text_escaped(question->items[i].name);

		notice_format("%s: %s", shown, question->items[i].why);
	}
}

/* Names everything that still needs a yes, and all options that give it. */
static int refuse(const struct loops_options *opts, const struct op_draft_apply_request *request,
		  const struct op_draft_apply_result *result, struct error *err)
{
	static const char *const options[PATH_GROUP_COUNT] = {
		[PATH_GROUP_EXECUTED] = "--yes-executed",
		[PATH_GROUP_CI] = "--yes-ci",
		[PATH_GROUP_PINNED] = "--yes-pinned",
	};
	AUTO_BUFFER struct buffer wanted = BUFFER_INIT(256);
	size_t count = 0;

	for (int i = 0; i < PATH_GROUP_COUNT; i++) {
		if (!result->questions[i].count || request->answers[i].to_all)
			continue;
		notice_executed(&result->questions[i]);
		count += result->questions[i].count;
		buffer_printf(&wanted, "%s%s", wanted.used ? " " : "", options[i]);
	}
	error_set(err, "%zu path%s a yes: review %s (ringfence %s%s%s), then use %s%s", count,
		  count == 1 ? " needs" : "s need", count == 1 ? "it" : "them",
		  request->ignored ? "exec --in " : "diff --draft ", result->record.id,
		  request->ignored ? " -- cat PATH" : "",
		  opts->batch ? "ringfence work --apply --yes" : buffer_text(&wanted),
		  opts->batch ? "" : ", or --yes for everything");
	return cli_fail(err);
}

/* Shows the group that waits for an answer, and asks. Returns 0 with the answer in the request, or
 * the exit status. */
static int ask(const struct loops_options *opts, const struct op_draft_apply_result *result,
	       struct op_draft_apply_request *request, struct answers *answers, struct error *err)
{
	const struct op_question *question = &result->questions[result->asked];
	const struct op_draft_apply_output output = { STDOUT_FILENO, true, color_wanted() };
	struct error unused;

	if (opts->json || !confirm_possible("use --yes", &unused))
		return refuse(opts, request, result, err);
	if (!answers->asked)
		print_preview(result);
	answers->asked = true;
	fflush(stdout);
	if (op_draft_apply_show(request, result, result->asked, &output, err) < 0)
		return cli_fail(err);
	confirm_answer(question, answers->tokens[result->asked], &request->answers[result->asked]);
	return 0;
}

/* Applies, and asks about one group after the other. */
static int apply_groups(const struct loops_options *opts, struct op_draft_apply_request *request,
			struct error *err)
{
	struct answers answers = { 0 };

	for (;;) {
		struct op_draft_apply_result result;
		enum op_status status = op_draft_apply(request, &result, err);
		int code;

		if (status == OP_ASKS)
			code = ask(opts, &result, request, &answers, err);
		else if (status == OP_REFUSED && result.conflicts.count)
			code = report_conflicts(opts, &result);
		else
			code = op_failed(status) ? cli_fail(err) : report(opts, &result, status);
		op_draft_apply_release(&result);
		if (status != OP_ASKS || code)
			return code;
	}
}

/* ---- hunks ---- */

/* Asks which hunks of the preview to apply, and applies them. */
static int pick_and_apply(const struct loops_options *opts, struct op_draft_apply_request *request,
			  const struct op_draft_apply_result *preview, struct error *err)
{
	struct op_draft_apply_choice choice = { .shown = preview->shown };
	struct pick pick;
	int code = CONFLICT;

	pick_ask(&preview->changes, &pick);
	choice.parts = pick.parts;
	choice.count = pick.count;
	request->choice = &choice;
	request->dry = request->hunks = false;
	if (pick.taken)
		code = apply_groups(opts, request, err);
	else
		puts("nothing was changed");
	if (pick.taken && pick.count && code == 0)
		printf("the rest stays in the draft: ringfence apply -p %s\n", request->id);
	request->choice = NULL;
	pick_release(&pick);
	return code;
}

static int apply_hunks(const struct loops_options *opts, struct op_draft_apply_request *request,
		       struct error *err)
{
	struct op_draft_apply_result preview;
	enum op_status status;
	int code;

	if (opts->json || opts->dry || opts->with_ignored) {
		error_set(err, "--hunks asks about each part: use it without --json, --dry-run and "
			       "--with-ignored");
		return cli_fail(err);
	}
	if (!confirm_possible("give the paths to apply instead", err))
		return cli_fail(err);
	request->dry = request->hunks = true;
	status = op_draft_apply(request, &preview, err);
	draft_record_release(&preview.record); /* unlocks it */
	if (status == OP_REFUSED && preview.conflicts.count)
		code = report_conflicts(opts, &preview);
	else if (op_failed(status))
		code = cli_fail(err);
	else if (!preview.changes.count)
		code = report(opts, &preview, status);
	else
		code = pick_and_apply(opts, request, &preview, err);
	op_draft_apply_release(&preview);
	return code;
}

/* ---- the whole ---- */

/* Converts the paths to ones relative to the draft's project. Returns 0, or -1 with err set. */
static int read_paths(const struct loops_options *opts, struct list *paths, struct error *err)
{
	struct draft_record record;
	int result = 0;
	bool all = false;

	if (op_draft_find(opts->place.state, opts->rest[0], &record, err) < 0)
		return -1;
	for (char **given = opts->rest + 1; *given && result == 0; given++) {
		AUTO_FREE char *path = checkpoints_path_in(record.project, *given, err);

		result = path ? 0 : -1;
		all = all || (path && !*path);
		if (path)
			list_add(paths, path);
	}
	if (all) /* the project itself was given */
		list_release(paths);
	draft_record_release(&record);
	return result;
}

static int apply_paths(const struct loops_options *opts, const struct list *paths,
		       struct error *err)
{
	struct op_draft_apply_request request = {
		.state = opts->place.state,
		.id = opts->rest[0],
		.paths = paths,
		.undo = opts->undo,
		.dry = opts->dry,
		.ignored = opts->with_ignored,
		.progress = drafts_notice_step,
		.answer.to_all = opts->yes,
		.answers = { [PATH_GROUP_EXECUTED].to_all = opts->yes_executed,
			     [PATH_GROUP_CI].to_all = opts->yes_ci,
			     [PATH_GROUP_PINNED].to_all = opts->yes_pinned },
	};

	return opts->hunks ? apply_hunks(opts, &request, err) : apply_groups(opts, &request, err);
}

int drafts_apply(const struct loops_options *opts, struct error *err)
{
	struct list paths = { 0 };
	int code;

	if (opts->merge || opts->squash || opts->patch) {
		error_set(err, "a draft of exec has no commits: --merge, --squash and --patch are "
			       "for loops");
		return cli_fail(err);
	}
	code = read_paths(opts, &paths, err) < 0 ? cli_fail(err) : apply_paths(opts, &paths, err);
	list_release(&paths);
	return code;
}
