/* Applying a loop's result as an action: see op_action.h. */
#include "ops/op_action.h"

#include "ops/op_apply.h"
#include "ops/op_draft_apply.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static bool agrees(const struct op_action_request *request, const struct op_action_result *result)
{
	const struct op_answer answer = { .token = request->token };

	return op_agreed(&answer, &result->question);
}

/* ---- the files of a draft ---- */

static json_t *texts_json(const struct list *list)
{
	json_t *value = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(value, client_text(list->items[i]));
	return value;
}

/* The question has one item for each path. All of them name the preview, so its token covers the
 * contents. */
static void ask_about_files(const struct op_draft_apply_result *preview,
			    struct op_action_result *result)
{
	const struct apply_changes *changes = &preview->changes;

	for (size_t i = 0; i < changes->count; i++) {
		const struct apply_changes_item *change = &changes->items[i];
		char letter[] = { apply_changes_letter(change->status), '\0' };
		const struct op_item item = { .name = change->path,
					      .value = letter,
					      .where = preview->shown,
					      .why = change->why };

		op_question_add(&result->question, &item);
	}
	op_question_set(&result->question, OP_QUESTION_ACT,
			mem_format("Apply %zu path%s of loop %s to your project?", changes->count,
				   plural(changes->count), preview->record.id));
	result->details = json_pack("{s:s, s:o, s:o}", "kind", "files", "groups",
				    apply_changes_groups_json(changes), "changes",
				    apply_changes_json(changes));
}

static size_t leave_groups(const struct op_action_request *request,
			   const struct apply_changes *changes, struct op_draft_apply_part *parts)
{
	size_t count = 0;

	for (size_t i = 0; i < changes->count; i++)
		if (request->leaves[changes->items[i].group])
			parts[count++] = (struct op_draft_apply_part){ changes->items[i].number,
								       NULL };
	return count;
}

/* Applies what the preview has shown, without the groups that are left out. */
static enum op_status apply_shown(const struct op_action_request *request,
				  const struct op_draft_apply_result *preview,
				  struct op_action_result *result, struct error *err)
{
	const struct list everything = { 0 };
	AUTO_FREE struct op_draft_apply_part *parts =
		mem_zero((preview->changes.count + 1) * sizeof *parts);
	const struct op_draft_apply_choice choice = {
		.shown = preview->shown,
		.parts = parts,
		.count = leave_groups(request, &preview->changes, parts)
	};
	const struct op_draft_apply_request apply = { .state = request->state,
						      .id = request->loop,
						      .paths = &everything,
						      .choice = &choice };
	struct op_draft_apply_result done;
	enum op_status status = op_draft_apply(&apply, &done, err);

	result->text =
		status == OP_UNCHANGED
			? mem_dup("nothing was changed: every group was left out")
			: mem_format("%zu path%s of loop %s applied (to undo this: ringfence apply "
				     "--undo %s)",
				     done.changes.count, plural(done.changes.count), request->loop,
				     request->loop);
	op_draft_apply_release(&done);
	return status;
}

static enum op_status apply_files(const struct op_action_request *request,
				  struct op_action_result *result, struct error *err)
{
	const struct list everything = { 0 };
	const struct op_draft_apply_request dry = {
		.state = request->state, .id = request->loop, .paths = &everything, .dry = true
	};
	struct op_draft_apply_result preview;
	enum op_status status = op_draft_apply(&dry, &preview, err);

	if (preview.conflicts.count)
		result->details = json_pack("{s:s, s:o}", "kind", "files", "conflicts",
					    texts_json(&preview.conflicts));
	if (!op_failed(status) && !preview.changes.count)
		result->text = mem_dup("nothing to do: the project already has all changes");
	if (op_failed(status) || !preview.changes.count) {
		op_draft_apply_release(&preview);
		return status;
	}
	ask_about_files(&preview, result);
	draft_record_release(&preview.record); /* unlocks it */
	status = agrees(request, result) ? apply_shown(request, &preview, result, err) : OP_ASKS;
	op_draft_apply_release(&preview);
	return status;
}

/* ---- the commits of a branch ---- */

static const char *const would[] = {
	[OP_APPLY_FORWARD] = "fast-forwards it",
	[OP_APPLY_MERGE] = "makes a merge commit",
	[OP_APPLY_SQUASH] = "makes one commit",
};

static void add_items(const struct op_question *from, struct op_question *to)
{
	for (size_t i = 0; i < from->count; i++)
		op_question_add(to, &from->items[i]);
}

/* The items are the files that need a yes of their own. The last one names the commit. */
static void ask_about_commits(const struct op_apply_result *preview,
			      struct op_action_result *result)
{
	json_t *details = preview->details;
	long long commits = jsonget_number(details, "commits");
	size_t files = json_array_size(json_object_get(details, "changes"));
	const struct op_item tip = { .name = (char *)"commit",
				     .value = (char *)jsonget_text(details, "theirs"),
				     .where = (char *)jsonget_text(details, "tree") };

	add_items(&preview->question, &result->question);
	add_items(&preview->pinned, &result->question);
	op_question_add(&result->question, &tip);
	op_question_set(&result->question, OP_QUESTION_ACT,
			mem_format("Apply %lld commit%s of loop %s (%zu file%s) to the branch %s? "
				   "This %s.",
				   commits, plural((size_t)commits), preview->loop.id, files,
				   plural(files), jsonget_text(details, "branch"),
				   would[preview->kind]));
}

static void keep_details(const struct op_apply_result *from, struct op_action_result *result)
{
	static const char *const keys[] = { "branch", "commits", "changes", "conflicts",
					    "in_the_way" };

	result->details = json_pack("{s:s}", "kind", "commits");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(from->details, keys[i]))
			json_object_set(result->details, keys[i],
					json_object_get(from->details, keys[i]));
}

static enum op_status merge_shown(struct op_apply_request *request,
				  const struct op_apply_result *preview,
				  struct op_action_result *result, struct error *err)
{
	struct op_apply_result done;
	enum op_status status;

	request->dry = false;
	request->shown = preview->details;
	request->answer.token = preview->question.token;
	request->pinned.token = preview->pinned.token;
	status = op_apply(request, &done, err);
	if (status == OP_ASKS) {
		error_with(err, ERROR_BUSY, "the branch changed in the meantime (try again)");
		status = OP_RUNNING;
	}
	result->text = mem_format("%lld commit%s of loop %s applied to %s",
				  jsonget_number(done.details, "commits"),
				  plural((size_t)jsonget_number(done.details, "commits")),
				  preview->loop.id, jsonget_text(done.details, "branch"));
	op_apply_release(&done);
	return status;
}

static enum op_status apply_commits(const struct op_action_request *request,
				    const struct client_loop *loop, struct op_action_result *result,
				    struct error *err)
{
	const struct loop_options *of = &loop->state.options;
	struct op_apply_request apply = { .target = { .state = request->state,
						      .project = of->origin ? of->origin
									    : of->project,
						      .loop = request->loop },
					  .dry = true };
	struct op_apply_result preview;
	enum op_status status = op_apply(&apply, &preview, err);

	if (preview.details)
		keep_details(&preview, result);
	if (!op_failed(status) && preview.kind == OP_APPLY_NOTHING) {
		result->text = mem_dup("nothing to do: the branch already has all commits");
	} else if (!op_failed(status)) {
		ask_about_commits(&preview, result);
		status = agrees(request, result) ? merge_shown(&apply, &preview, result, err)
						 : OP_ASKS;
	}
	op_apply_release(&preview);
	return status;
}

enum op_status op_action_apply(const struct op_action_request *request,
			       const struct client_loop *loop, struct op_action_result *result,
			       struct error *err)
{
	return loop->state.options.draft ? apply_files(request, result, err)
					 : apply_commits(request, loop, result, err);
}
