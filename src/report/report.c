/* The report of a loop, as it is read: see report.h. */
#include "report/report.h"

#include "snapshot/snapshot.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/view_changes.h"

#include <stdlib.h>
#include <string.h>

/* Compares the checkpoint before the loop with the latest one. */
static void read_changes(const char *state, struct report *report)
{
	const struct loop_state *loop = &report->loop->state;
	struct snapshot_work work;
	struct error err;
	json_t *diff;

	if (loop->checkpoint <= loop->start) {
		report->unknown = mem_dup("there is no checkpoint after the first one");
		return;
	}
	view_changes_begin(state, report->loop, "diff", &work);
	snapshot_tell_number(&work, "from", loop->start);
	snapshot_tell_number(&work, "to", loop->checkpoint);
	snapshot_tell(&work, "style", "json");
	diff = snapshot_read(&work, &err);
	snapshot_release(&work);
	if (!diff)
		report->unknown = mem_dup(err.text);
	report->changes = json_incref(json_object_get(diff, "changes"));
	json_decref(diff);
}

int report_read(const char *state, const struct client_loop *loop, int64_t now_ms,
		struct report *ret_report, struct error *err)
{
	struct report report = { .loop = loop, .now_ms = now_ms };

	if (view_iterations_read(loop, &report.iterations, err) < 0)
		return -1;
	view_limits_read(loop, now_ms, &report.limits);
	view_tools_read(loop, &report.iterations, REPORT_BYTES, &report.tools);
	read_changes(state, &report);
	*ret_report = report;
	return 0;
}

void report_release(struct report *report)
{
	view_iterations_release(&report->iterations);
	view_tools_release(&report->tools);
	json_decref(report->changes);
	free(report->unknown);
	*report = (struct report){ 0 };
}

enum document_tone report_tone(const char *status)
{
	if (strcmp(status, "completed") == 0)
		return DOCUMENT_GOOD;
	if (strcmp(status, "failed") == 0 || strcmp(status, "aborted") == 0)
		return DOCUMENT_BAD;
	return strcmp(status, "running") == 0 ? DOCUMENT_PLAIN : DOCUMENT_WARNING;
}

const struct view_iteration *report_last(const struct view_iterations *iterations)
{
	for (size_t i = iterations->count; i-- > 0;)
		if (iterations->items[i].check_count)
			return &iterations->items[i];
	return iterations->count ? &iterations->items[iterations->count - 1] : NULL;
}

char *report_checks_text(const struct view_iteration *item)
{
	if (!item || !item->check_count)
		return mem_dup("-");
	return mem_format("%d of %zu", (int)item->checks_passing, item->check_count);
}

void report_count_lines(const json_t *changes, uint64_t *ret_added, uint64_t *ret_removed)
{
	size_t i;
	const json_t *change;

	*ret_added = *ret_removed = 0;
	json_array_foreach(changes, i, change)
	{
		*ret_added += (uint64_t)jsonget_number(change, "added");
		*ret_removed += (uint64_t)jsonget_number(change, "removed");
	}
}
