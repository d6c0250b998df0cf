/* Shared by the commands for drafts: see drafts.h. */
#include "cli/drafts.h"

#include "cli/view/changes_text.h"
#include "cli/view/notice.h"
#include "fence/fence_plan.h"
#include "fenced/fenced.h"
#include "ops/op_draft.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>
#include <unistd.h>

enum { SHOWN = 10, PROGRESS_MS = 3000 };

static int64_t after_a_while_ms(void)
{
	return (int64_t)clock_steady_ms() + PROGRESS_MS;
}

/* Prints how far a copy is, not more often than every few seconds. */
static void notice_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
	struct drafts_progress *progress = context;

	if ((int64_t)clock_steady_ms() < progress->next_ms)
		return;
	progress->next_ms = after_a_while_ms();

	AUTO_FREE char *done = text_size(done_bytes);
	AUTO_FREE char *all = text_size(all_bytes);

	notice_format("copying the project to the draft: %s of %s", done, all);
}

void drafts_notice_progress(struct draft_request *request, struct drafts_progress *progress)
{
	progress->next_ms = after_a_while_ms();
	request->progress = notice_progress;
	request->progress_context = progress;
}

void drafts_notice_step(const char *what)
{
	notice_format("%s ...", what);
}

snapshot_progress_fn *drafts_saving(void)
{
	return isatty(STDERR_FILENO) ? drafts_notice_step : NULL;
}

void drafts_notice_made(const struct draft_made *made)
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

static void notice_removed(const struct op_draft_new *new)
{
	AUTO_FREE char *freed = text_size(new->freed_bytes);

	if (new->removed)
		notice_format("removed %zu old draft%s, of which everything is applied (%s freed; "
			      "see --drafts-age)",
			      new->removed, new->removed == 1 ? "" : "s", freed);
}

int drafts_begin(void *context, struct error *err)
{
	struct drafts_making *making = context;
	const struct config *config = &making->effective->config;
	const struct fence_place *place = making->effective->spec.place;
	const struct op_draft_new_request request = {
		.state = place->state,
		.project = place->project,
		.command = making->effective->spec.command,
		.most_bytes = config_get(config, SETTING_DRAFTS_SIZE)->number,
		.age_ms = (int64_t)config_get(config, SETTING_DRAFTS_AGE)->number
	};
	enum op_status status = op_draft_new_begin(&request, &making->new, err);

	notice_removed(&making->new);
	return op_failed(status) ? -1 : 0;
}

int drafts_wait(void *context, struct error *err)
{
	struct drafts_making *making = context;

	return op_failed(op_draft_new_wait(&making->new, drafts_saving(), err)) ? -1 : 0;
}

int drafts_make(void *context, struct fence_plan *before, const char **ret_folder,
		struct error *err)
{
	struct drafts_making *making = context;
	const struct config *config = &making->effective->config;
	struct draft_request request = {
		.view = fenced_view(making->effective->spec.place, NULL),
		.kind = config_get(config, SETTING_DRAFT_KIND)->text,
		.most_bytes = config_get(config, SETTING_DRAFT_SIZE)->number,
		.hides = fenced_hides, /* a copy leaves out what the plan hides */
		.hides_context = before
	};
	struct drafts_progress progress;
	struct draft_made made;

	drafts_notice_progress(&request, &progress);
	if (op_failed(op_draft_new_make(&making->new, &request, &made, err)))
		return -1;
	drafts_notice_made(&made);
	*ret_folder = making->new.record.layers;
	return 0;
}

int drafts_open(const char *id, const struct effective *effective, struct draft_record *ret_record,
		struct error *err)
{
	const struct fence_place *place = effective->spec.place;
	const struct op_draft_open_request request = { .state = place->state,
						       .id = id,
						       .project = place->project,
						       .command = effective->spec.command };

	return op_failed(op_draft_open(&request, ret_record, err)) ? -1 : 0;
}

void drafts_hosts(const struct fence_result *result, struct list *ret_hosts)
{
	*ret_hosts = (struct list){ 0 };
	for (size_t i = 0; i < result->denials.count; i++) {
		const struct fence_denial *denial = &result->denials.items[i];

		if (strcmp(denial->kind, "connect") == 0 && !denial->harmless &&
		    !list_has(ret_hosts, denial->target))
			list_add(ret_hosts, denial->target);
	}
}

static void notice_hosts(const struct list *hosts)
{
	for (size_t i = 0; i < hosts->count && i < SHOWN; i++) {
		AUTO_FREE char *shown = text_escaped(hosts->items[i]);

		notice_format("  wanted to connect to, and was refused: %s", shown);
	}
	if (hosts->count > SHOWN)
		notice_format("  and to %zu more", hosts->count - SHOWN);
}

static void notice_end(const struct draft_record *record, const struct op_draft_summary *summary)
{
	const struct apply_changes *changes = &summary->changes;
	size_t asked = 0;

	if (!changes->count && summary->ignored) {
		notice_format("draft %s: only ignored files changed; your project is as it was",
			      record->id);
		return;
	}
	if (!changes->count) {
		notice_format("draft %s: nothing changed (to remove it: ringfence discard %s)",
			      record->id, record->id);
		return;
	}
	notice_format("draft %s: %zu path%s changed; your project is as it was", record->id,
		      changes->count, changes->count == 1 ? "" : "s");
	changes_text_print(changes, notice);
	for (int i = 0; i < PATH_GROUP_COUNT; i++)
		if (path_group_asks((enum path_group)i))
			asked += apply_changes_sum(changes, (enum path_group)i).paths;
	if (asked)
		notice_format("%zu of them need%s a yes when you apply the draft", asked,
			      asked == 1 ? "s" : "");
	if (summary->ignored)
		notice("ignored files changed as well");
}

static void notice_next(const struct draft_record *record, const struct op_draft_summary *summary)
{
	if (summary->changes.count) {
		notice_format("see the changes: ringfence diff --draft %s", record->id);
		notice_format("take them over:  ringfence apply %s", record->id);
	}
	if (summary->ignored)
		notice_format("%-16s ringfence apply --with-ignored %s",
			      summary->changes.count ? "with ignored:" : "take them over:",
			      record->id);
	if (summary->changes.count || summary->ignored)
		notice_format("drop them:       ringfence %s %s",
			      record->of_loop ? "rollback --loop" : "discard", record->id);
}

int drafts_leave(const char *state, struct draft_record *record, const struct drafts_run *run,
		 struct error *err)
{
	struct op_draft_summary summary;

	if (op_failed(op_draft_end(state, record, run->code, &summary, err)))
		return cli_fail(err);
	notice_end(record, &summary);
	notice_hosts(&run->refused);
	notice_next(record, &summary);
	apply_changes_release(&summary.changes);
	return run->code;
}
