/* Shared by the commands for drafts: see drafts.h. */
#include "cli/drafts.h"

#include "cli/view/changes_text.h"
#include "cli/view/notice.h"
#include "draft/draft.h"
#include "fenced/fenced.h"
#include "ops/op_draft.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>

enum { SHOWN = 10 };

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

/* Opens the draft and its view. */
static int enter(const char *id, const struct fence_spec *spec, struct draft_record *record,
		 struct error *err)
{
	const struct fence_place *place = spec->place;
	const struct op_draft_begin_request request = {
		.state = place->state, .project = place->project, .id = id, .command = spec->command
	};
	struct draft_view view;

	if (op_failed(op_draft_begin(&request, record, err)))
		return -1;
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

int drafts_enter(const char *id, struct fence_spec *spec, struct drafts_stay *ret_stay,
		 struct error *err)
{
	spec->draft = true;
	if (fence_plan_make(spec, &ret_stay->before, err) < 0)
		return -1;
	notice_found(&ret_stay->before.recovered, ret_stay->before.project);
	if (enter(id, spec, &ret_stay->record, err) < 0) {
		fence_plan_release(&ret_stay->before);
		return -1;
	}
	spec->before = &ret_stay->before;
	spec->layers = ret_stay->record.layers;
	return 0;
}

void drafts_release(struct drafts_stay *stay)
{
	draft_record_release(&stay->record);
	fence_plan_release(&stay->before);
}

void drafts_hosts(const struct fence_result *result, struct list *ret_hosts)
{
	*ret_hosts = (struct list){ 0 };
	for (size_t i = 0; i < result->denials.count; i++) {
		const struct fence_denial *denial = &result->denials.items[i];

		if (strcmp(denial->kind, "connect") == 0 && !list_has(ret_hosts, denial->target))
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

static void notice_end(const struct draft_record *record, const struct apply_changes *changes)
{
	size_t asked = 0;

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
}

int drafts_leave(const char *state, struct draft_record *record, const struct drafts_run *run,
		 struct error *err)
{
	struct apply_changes changes;

	if (op_failed(op_draft_end(state, record, run->code, &changes, err)))
		return cli_fail(err);
	notice_end(record, &changes);
	notice_hosts(&run->refused);
	if (changes.count) {
		notice_format("see the changes: ringfence diff --draft %s", record->id);
		notice_format("take them over:  ringfence apply %s", record->id);
		notice_format("drop them:       ringfence discard %s", record->id);
	}
	apply_changes_release(&changes);
	return run->code;
}
