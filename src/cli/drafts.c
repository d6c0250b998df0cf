/* Shared by the commands for drafts: see drafts.h. */
#include "cli/drafts.h"

#include "cli/view/changes_text.h"
#include "cli/view/notice.h"
#include "fenced/fenced.h"
#include "ops/op_draft.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>

enum { SHOWN = 10 };

int drafts_begin(const char *id, const struct fence_spec *spec, struct draft_record *ret_record,
		 struct error *err)
{
	const struct op_draft_begin_request request = { .state = spec->place->state,
							.project = spec->place->project,
							.id = id,
							.command = spec->command };

	return op_failed(op_draft_begin(&request, ret_record, err)) ? -1 : 0;
}

void drafts_abandon(const char *state, struct draft_record *record)
{
	AUTO_FREE char *id = mem_dup(record->id);

	draft_record_release(record); /* op_draft_discard() locks it itself */
	op_draft_discard(state, id, &(uint64_t){ 0 }, &(struct error){ 0 });
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
		notice_format("drop them:       ringfence %s %s",
			      record->of_loop ? "rollback --loop" : "discard", record->id);
	}
	apply_changes_release(&changes);
	return run->code;
}
