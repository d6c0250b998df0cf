/* Shared by the commands for drafts: see drafts.h. */
#include "cli/drafts.h"

#include "cli/checkpoints.h"
#include "cli/confirm.h"
#include "cli/view/notice.h"
#include "draft/draft.h"
#include "fence/fence_quarantine.h"
#include "ops/op_draft.h"
#include "util/clock.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 20, CONFLICT = 1, PROGRESS_MS = 3000 };

/* ---- running a command ---- */

static struct draft_view view_of(const struct fence_place *place, const char *folder)
{
	const struct fence_identity *identity = &place->identity;

	return (struct draft_view){ .project = place->project,
				    .folder = folder,
				    .writable = true,
				    .root = identity->mapped,
				    .foreign = identity->switched,
				    .lent_uid = identity->mapped ? identity->uid : 0,
				    .lent_gid = identity->mapped ? identity->gid : 0 };
}

/* Prints how far a copy is, not more often than every few seconds. */
static void notice_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
	int64_t *next_ms = context;
	int64_t now_ms = (int64_t)clock_steady_ms();

	if (now_ms < *next_ms)
		return;
	*next_ms = now_ms + PROGRESS_MS;

	AUTO_FREE char *done = text_size(done_bytes);
	AUTO_FREE char *all = text_size(all_bytes);

	notice_format("copying the project to the draft: %s of %s", done, all);
}

static void notice_made(const struct draft_made *made)
{
	if (made->why.text[0])
		notice_format("the draft is a copy of the project, because an overlay does not "
			      "work: %s",
			      made->why.text);
	if (made->left_out)
		notice_format(
			"%llu file%s of the project cannot be read, and are empty in the draft",
			(unsigned long long)made->left_out, made->left_out == 1 ? "" : "s");
}

/* The rules of the project itself hide as much as those in the draft. */
static bool is_hidden(void *context, const char *path, bool is_folder)
{
	const struct fence_rule *rule = fence_plan_decide(context, path);

	return rule &&
	       (rule->access == WIRE_HIDE || (rule->access == WIRE_HIDE_AROUND && !is_folder));
}

static struct draft_request request_of(const struct effective *effective, struct fence_plan *before,
				       int64_t *next_ms)
{
	const struct config *config = &effective->config;

	*next_ms = (int64_t)clock_steady_ms() + PROGRESS_MS;
	return (struct draft_request){ .view = view_of(effective->spec.place, NULL),
				       .kind = config_get(config, SETTING_DRAFT_KIND)->text,
				       .most_bytes = config_get(config, SETTING_DRAFT_SIZE)->number,
				       .progress = notice_progress,
				       .progress_context = next_ms,
				       .hides = is_hidden,
				       .hides_context = before };
}

/* Opens the draft and its view. */
static int enter(const char *id, const struct effective *effective, struct drafts_stay *stay,
		 struct error *err)
{
	const struct fence_place *place = effective->spec.place;
	int64_t next_ms;
	const struct op_draft_begin_request request = {
		.state = place->state,
		.id = id,
		.command = effective->spec.command,
		.draft = request_of(effective, &stay->before, &next_ms)
	};
	struct draft_record *record = &stay->record;
	struct draft_made made = { 0 };
	struct draft_view view;

	if (op_failed(op_draft_begin(&request, record, &made, err)))
		return -1;
	notice_made(&made);
	view = view_of(place, record->layers);
	if (draft_enter(&view, err) == 0)
		return 0;
	if (id)
		draft_record_release(record);
	else
		drafts_abandon(place->state, record);
	return -1;
}

void drafts_abandon(const char *state, struct draft_record *record)
{
	AUTO_FREE char *id = mem_dup(record->id);

	draft_record_release(record); /* op_draft_discard() locks it itself */
	op_draft_discard(state, id, &(uint64_t){ 0 }, &(struct error){ 0 });
}

int drafts_enter(const char *id, struct effective *effective, struct drafts_stay *ret_stay,
		 struct error *err)
{
	struct fence_spec *spec = &effective->spec;

	spec->draft = true;
	if (fence_plan_make(spec, &ret_stay->before, err) < 0)
		return -1;
	notice_found(&ret_stay->before.recovered, ret_stay->before.project);
	if (enter(id, effective, ret_stay, err) < 0) {
		fence_plan_release(&ret_stay->before);
		return -1;
	}
	spec->before = &ret_stay->before;
	return 0;
}

void drafts_release(struct drafts_stay *stay)
{
	draft_record_release(&stay->record);
	fence_plan_release(&stay->before);
}

/* Returns the letter of a change, as git prints it. */
static char letter(const json_t *change)
{
	const char *status = jsonget_text(change, "status");

	return strcmp(status, "added") == 0     ? 'A'
	       : strcmp(status, "deleted") == 0 ? 'D'
	       : strcmp(status, "renamed") == 0 ? 'R'
						: 'M';
}

static void notice_changes(const json_t *changes)
{
	size_t count = json_array_size(changes);
	size_t executed = 0;
	size_t index;
	json_t *change;

	json_array_foreach(changes, index, change)
	{
		const char *path = jsonget_text(change, "path");
		AUTO_FREE char *shown = text_escaped(path);
		AUTO_FREE char *why = letter(change) == 'D' ? NULL : fence_quarantine_reason(path);

		executed += why != NULL;
		if (index < SHOWN || why)
			notice_format("  %c %s%s%s%s", letter(change), shown, why ? " (" : "",
				      why ? why : "", why ? ")" : "");
	}
	if (count > SHOWN)
		notice_format("  %zu paths in all", count);
	if (executed)
		notice_format("%zu of them need%s a yes when you apply the draft", executed,
			      executed == 1 ? "s" : "");
}

int drafts_leave(const char *state, struct draft_record *record, int code, struct error *err)
{
	json_t *changes = NULL;
	size_t count;

	if (op_failed(op_draft_end(state, record, code, &changes, err)))
		return cli_fail(err);
	count = json_array_size(changes);
	if (!count) {
		notice_format("draft %s: nothing changed (to remove it: ringfence discard %s)",
			      record->id, record->id);
	} else {
		notice_format("draft %s: %zu path%s changed; your project is as it was", record->id,
			      count, count == 1 ? "" : "s");
		notice_changes(changes);
		notice_format("see the changes: ringfence diff --draft %s", record->id);
		notice_format("take them over:  ringfence apply %s", record->id);
		notice_format("drop them:       ringfence discard %s", record->id);
	}
	json_decref(changes);
	return code;
}

/* ---- applying ---- */

bool drafts_exists(const struct loops_options *opts, const char *id)
{
	struct draft_record record;
	struct error err;

	if (draft_record_find(opts->place.state, id, &record, &err) < 0)
		return err.status != ERROR_NOT_FOUND;
	draft_record_release(&record);
	return true;
}

static void print_paths(const json_t *list, const char *format_key)
{
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		AUTO_FREE char *shown = text_escaped(format_key ? jsonget_text(entry, format_key)
								: json_string_value(entry));

		if (index == SHOWN) {
			printf("  and %zu more\n", json_array_size(list) - SHOWN);
			break;
		}
		if (format_key)
			printf("  %c %s\n", letter(entry), shown);
		else
			printf("  %s\n", shown);
	}
}

static int report_conflicts(const struct loops_options *opts,
			    const struct op_draft_apply_result *result)
{
	const json_t *conflicts = json_object_get(result->details, "conflicts");
	size_t count = json_array_size(conflicts);

	if (opts->json) {
		loops_print(json_incref(result->details));
	} else {
		printf("draft %s conflicts with your own changes at %zu path%s:\n",
		       result->record.id, count, count == 1 ? "" : "s");
		print_paths(conflicts, NULL);
		printf("nothing was changed; to take over the rest: ringfence apply %s -- PATH...\n",
		       result->record.id);
	}
	return cli_flush() ? LOOPS_REFUSED : CONFLICT;
}

static void notice_result(const json_t *details)
{
	size_t index;
	json_t *entry;

	json_array_foreach(json_object_get(details, "joined"), index, entry)
	{
		notice_format("merged your changes and the draft's: %s", json_string_value(entry));
	}
	json_array_foreach(json_object_get(details, "kept"), index, entry)
	{
		notice_format("kept, because it holds ignored files: %s", json_string_value(entry));
	}
}

static int report(const struct loops_options *opts, const struct op_draft_apply_result *result)
{
	const json_t *details = result->details;
	const json_t *changes = json_object_get(details, "changes");
	size_t count = json_array_size(changes);

	notice_result(details);
	if (opts->json) {
		loops_print(json_incref(result->details));
	} else if (!count) {
		printf("nothing to do: %s\n",
		       opts->undo      ? "the project already has its earlier state"
		       : opts->rest[1] ? "the draft changes nothing at the given paths, or the "
					 "project already has it"
				       : "the project already has these changes");
	} else if (opts->dry) {
		printf("%zu path%s would change:\n", count, count == 1 ? "" : "s");
		print_paths(changes, "path");
	} else {
		printf("draft %s %s: %lld written, %lld removed, %lld with another mode\n",
		       result->record.id, opts->undo ? "taken back" : "applied",
		       (long long)jsonget_number(details, "written"),
		       (long long)jsonget_number(details, "removed"),
		       (long long)jsonget_number(details, "adjusted"));
		if (!opts->undo)
			printf("to undo this: ringfence apply --undo %s\n", result->record.id);
	}
	return cli_flush();
}

static int ask(const struct loops_options *opts, const struct op_draft_apply_result *result,
	       struct error *err)
{
	struct error unused;

	if (opts->json || !confirm_possible("use --yes", &unused)) {
		error_set(err,
			  "this machine would execute %zu of the files unasked: review them "
			  "(ringfence diff --draft %s), then use --yes",
			  result->question.count, result->record.id);
		return cli_fail(err);
	}
	if (confirm(&result->question))
		return 0;
	puts("nothing was changed");
	return CONFLICT;
}

/* Converts the paths to ones relative to the draft's project. Returns 0, or -1 with err set. */
static int read_paths(const struct loops_options *opts, struct list *paths, struct error *err)
{
	struct draft_record record;
	int result = 0;
	bool all = false;

	if (draft_record_find(opts->place.state, opts->rest[0], &record, err) < 0)
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
	struct op_draft_apply_request request = { .state = opts->place.state,
						  .id = opts->rest[0],
						  .paths = paths,
						  .undo = opts->undo,
						  .dry = opts->dry,
						  .answer.to_all = opts->yes };
	char token[SHA256_HEX];
	int code;

	for (;;) {
		struct op_draft_apply_result result;
		enum op_status status = op_draft_apply(&request, &result, err);

		for (size_t i = 0; !request.answer.token && i < result.question.count; i++)
			notice_format("%s: %s", result.question.items[i].name,
				      result.question.items[i].why);
		if (status == OP_ASKS)
			code = ask(opts, &result, err);
		else if (status == OP_REFUSED && result.details)
			code = report_conflicts(opts, &result);
		else
			code = op_failed(status) ? cli_fail(err) : report(opts, &result);
		memcpy(token, result.question.token, sizeof token);
		op_draft_apply_release(&result);
		request.answer.token = status == OP_ASKS && !code ? token : NULL;
		if (!request.answer.token)
			return code;
	}
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
