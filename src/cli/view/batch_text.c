/* Batches as text: see batch_text.h. */
#include "cli/view/batch_text.h"

#include "batch/batch_race.h"
#include "batch/batch_sums.h"
#include "batch/batch_words.h"
#include "cli/view/page.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 4 };

/* Prints a line that is safe on a terminal. */
static __attribute__((format(printf, 3, 4))) void line(enum color paint, int indent,
						       const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *text = mem_format_list(format, arguments);

	va_end(arguments);
	page_print_line(paint, text, indent);
}

/* ---- lists ---- */

static void print_item(const struct worklist_item *item)
{
	AUTO_FREE char *title = batch_words_title(item->id, item->title);

	line(item->done ? COLOR_DIM : COLOR_PLAIN, INDENT, "  %s %s: %s",
	     item->done ? "[x]" : "[ ]", item->id, title);
	if (item->depends.count) {
		AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 14);

		for (size_t i = 0; i < item->depends.count; i++)
			buffer_printf(&text, "%s%s", i ? ", " : "", item->depends.items[i]);
		line(COLOR_DIM, 2 * INDENT, "      after %s", buffer_text(&text));
	}
	for (size_t i = 0; i < item->checks.count; i++)
		line(COLOR_DIM, 2 * INDENT, "      check: %.200s", item->checks.items[i]);
	if (item->agent || item->model)
		line(COLOR_DIM, 2 * INDENT, "      agent: %s%s%s", item->agent ? item->agent : "",
		     item->model ? " with " : "", item->model ? item->model : "");
	if (item->budget_nusd)
		line(COLOR_DIM, 2 * INDENT, "      at most US$ %.2f",
		     (double)item->budget_nusd / 1e9);
}

void batch_text_print_list(const struct worklist *list)
{
	size_t done = 0;

	for (size_t k = 0; k < list->files.count; k++) {
		line(COLOR_BOLD, 0, "%s (%s)", list->files.items[k],
		     worklist_model_format(list->formats[k]));
		for (size_t i = 0; i < list->count; i++)
			if (list->items[i].file == k)
				print_item(&list->items[i]);
	}
	for (size_t i = 0; i < list->count; i++)
		done += list->items[i].done;
	if (list->notes.count)
		line(COLOR_BOLD, 0, "left out, or not understood");
	for (size_t i = 0; i < list->notes.count; i++)
		line(COLOR_PLAIN, INDENT, "  %s", list->notes.items[i]);
	line(COLOR_PLAIN, 0, "%zu task%s, %zu of them done", list->count,
	     list->count == 1 ? "" : "s", done);
}

/* ---- a batch ---- */

static enum color step_color(const struct batch_task *task, bool cut_off)
{
	if (task->step == BATCH_STEP_landed)
		return COLOR_GREEN;
	if (task->step == BATCH_STEP_failed || task->step == BATCH_STEP_held)
		return COLOR_RED;
	return task->step == BATCH_STEP_waiting || task->step == BATCH_STEP_lost || cut_off
		       ? COLOR_DIM
		       : COLOR_PLAIN;
}

static void add_facts(struct buffer *out, const struct batch_task *task)
{
	AUTO_FREE char *time = batch_words_time(task);

	if (*time)
		buffer_printf(out, ", %s", time);
	if (task->spent_nusd)
		buffer_printf(out, ", US$ %.2f", (double)task->spent_nusd / 1e9);
	if (task->loop)
		buffer_printf(out, ", loop %s", task->loop);
}

static bool needs_person(const struct batch_task *task)
{
	return task->step == BATCH_STEP_failed || task->step == BATCH_STEP_held;
}

static void print_task(const struct batch_task *task, bool cut_off)
{
	AUTO_FREE char *title = batch_words_title(task->id, jsonget_text(task->item, "title"));
	AUTO_BUFFER struct buffer facts = BUFFER_INIT(1024);

	if (!task->done_before)
		add_facts(&facts, task);
	line(step_color(task, cut_off), INDENT, "  %-9s %s: %s%s", batch_words_step(task, cut_off),
	     task->id, title, buffer_text(&facts));
	if (task->conflicts) {
		AUTO_FREE char *conflicts = batch_words_conflicts(task->conflicts);

		line(COLOR_PLAIN, 3 * INDENT, "            conflicts: %s", conflicts);
	}
	if (needs_person(task) && task->reason && *task->reason)
		line(COLOR_PLAIN, 3 * INDENT, "            %s", task->reason);
	if (needs_person(task) && task->loop)
		line(COLOR_DIM, 3 * INDENT, "            see: ringfence logs %s", task->loop);
}

/* Prints what a person can do about a task. */
static void print_next_of(const struct batch_client *batch, size_t index)
{
	const struct batch_task *task = &batch->state.tasks[index];

	if (batch_race_waits(&batch->state, index))
		line(COLOR_PLAIN, INDENT,
		     "  candidate '%s': ringfence diff --stat --loop %s; to pick it: ringfence "
		     "work --pick %s %s",
		     task->id, task->loop, task->id, batch->id);
}

static void print_next(const struct batch_client *batch, bool applied)
{
	const struct batch_state *state = &batch->state;
	const char *status = batch_client_status(batch);
	bool failed = false;

	for (size_t i = 0; i < state->count; i++) {
		print_next_of(batch, i);
		failed = failed || state->tasks[i].step == BATCH_STEP_failed;
	}
	if (strcmp(status, "paused") == 0 || strcmp(status, "interrupted") == 0)
		line(COLOR_PLAIN, INDENT, "  to continue: ringfence work --resume %s", batch->id);
	if (state->finished && failed)
		line(COLOR_PLAIN, INDENT,
		     "  to try a failed task again: ringfence work --retry TASK %s", batch->id);
	if (state->tip && applied)
		line(COLOR_PLAIN, INDENT, "  the result is applied");
	else if (state->tip)
		line(COLOR_PLAIN, INDENT,
		     "  to see the changes: ringfence diff 0 --loop %s; to take them over, and "
		     "tick the list: ringfence work --apply %s",
		     state->tip, batch->id);
}

void batch_text_print(const struct batch_client *batch, bool applied)
{
	const struct batch_state *state = &batch->state;
	struct batch_sums sums;

	if (batch->damaged) {
		line(COLOR_RED, 0, "batch %s cannot be read: %s", batch->id, batch->trouble);
		return;
	}

	AUTO_FREE bool *cut_off = batch_sums_cut_off(state);
	bool why = state->reason && *state->reason;
	const char *wish = state->wish == BATCH_WISH_PAUSE   ? ", will pause"
			   : state->wish == BATCH_WISH_ABORT ? ", being aborted"
							     : "";

	batch_sums_count(state, &sums);
	line(COLOR_BOLD, 0, "batch %s: %s%s%s%s", batch->id, batch_client_status(batch), wish,
	     why ? ": " : "", why ? state->reason : "");
	for (size_t i = 0; i < state->count; i++)
		print_task(&state->tasks[i], cut_off[i]);
	line(COLOR_PLAIN, INDENT, "  %zu of %zu task%s done, US$ %.2f", sums.landed, sums.tasks,
	     sums.tasks == 1 ? "" : "s", (double)sums.spent_nusd / 1e9);
	print_next(batch, applied);
}

static void print_next_short(const struct batch_client *batch, bool applied)
{
	const char *status = batch_client_status(batch);

	if (strcmp(status, "paused") == 0 || strcmp(status, "interrupted") == 0)
		line(COLOR_PLAIN, INDENT, "    to continue: ringfence work --resume %s", batch->id);
	if (batch->state.finished && applied)
		line(COLOR_PLAIN, INDENT, "    the result is applied");
	else if (batch->state.finished && batch->state.tip)
		line(COLOR_PLAIN, INDENT,
		     "    your project is unchanged until ringfence work --apply %s", batch->id);
}

void batch_text_print_short(const struct batch_client *batch, bool applied, bool with_project)
{
	const struct batch_state *state = &batch->state;
	const char *reason = state->reason ? state->reason : "";
	AUTO_FREE char *age = text_age(clock_wall_ms() - state->created_ms);
	struct batch_sums sums;

	if (batch->damaged) {
		line(COLOR_RED, INDENT, "batch %s cannot be read: %s", batch->id, batch->trouble);
		return;
	}
	batch_sums_count(state, &sums);
	line(COLOR_PLAIN, INDENT,
	     "batch %s: %s%s%s, %zu of %zu tasks done, US$ %.2f, %s (see: ringfence work --show %s)",
	     batch->id, batch_client_status(batch), *reason ? ": " : "", reason, sums.landed,
	     sums.tasks, (double)sums.spent_nusd / 1e9, age, batch->id);
	if (with_project)
		line(COLOR_PLAIN, INDENT, "    in %s", state->project);
	for (size_t i = 0; i < state->count; i++)
		if (state->tasks[i].step == BATCH_STEP_running ||
		    state->tasks[i].step == BATCH_STEP_held)
			print_task(&state->tasks[i], false);
	print_next_short(batch, applied);
}

/* ---- events ---- */

static char *text_of_begun(const struct batch_task *task, const json_t *data)
{
	AUTO_FREE char *title = batch_words_title(task->id, jsonget_text(task->item, "title"));
	const char *loop = jsonget_text(data, "loop");

	return jsonget_string(data, "merges")
		       ? mem_format("%s: checked together with what is done (loop %s)", task->id,
				    loop)
		       : mem_format("%s: begun: %s (loop %s)", task->id, title, loop);
}

/* A task that was tried again since has another loop, or none. */
static char *text_of_failed(const struct batch_task *task, const char *reason)
{
	return task->step == BATCH_STEP_failed && task->loop
		       ? mem_format("%s: failed: %s (see: ringfence logs %s)", task->id, reason,
				    task->loop)
		       : mem_format("%s: failed: %s", task->id, reason);
}

static char *text_of_ended(const struct batch_task *task, const json_t *data)
{
	const char *status = jsonget_text(data, "status");
	json_int_t iterations = jsonget_number(data, "iterations");
	double usd = (double)jsonget_number(data, "spent_nusd") / 1e9;

	if (strcmp(status, "aborted") == 0)
		return mem_format("%s: aborted: %s", task->id, jsonget_text(data, "reason"));
	if (strcmp(status, "completed") != 0)
		return text_of_failed(task, jsonget_text(data, "reason"));
	return iterations ? mem_format("%s: verified after %lld iteration%s, US$ %.2f", task->id,
				       (long long)iterations, iterations == 1 ? "" : "s", usd)
			  : mem_format("%s: verified", task->id);
}

static char *text_of_conflicted(const struct batch_task *task, const json_t *data)
{
	AUTO_FREE char *conflicts = batch_words_conflicts(json_object_get(data, "conflicts"));

	return mem_format("%s: conflicts in %s; its agent resolves them", task->id, conflicts);
}

static char *text_of_task(enum batch_event kind, const struct batch_task *task, const json_t *data)
{
	const char *reason = jsonget_text(data, "reason");

	switch (kind) {
	case BATCH_EVENT_begun:
		return text_of_begun(task, data);
	case BATCH_EVENT_conflicted:
		return text_of_conflicted(task, data);
	case BATCH_EVENT_held:
		return mem_format("%s: needs you: %s", task->id, reason);
	case BATCH_EVENT_unheld:
		return mem_format("%s: continues", task->id);
	case BATCH_EVENT_ended:
		return text_of_ended(task, data);
	case BATCH_EVENT_landed:
		return mem_format("%s: done", task->id);
	case BATCH_EVENT_refused:
		return text_of_failed(task, reason);
	case BATCH_EVENT_lost:
		return mem_format("%s: another candidate has won", task->id);
	case BATCH_EVENT_picked:
		return mem_format("%s: picked by you", task->id);
	case BATCH_EVENT_retried:
		return mem_format("%s: tried again", task->id);
	default:
		return NULL;
	}
}

static char *text_of_batch(enum batch_event kind, const json_t *data)
{
	if (kind == BATCH_EVENT_asked)
		return strcmp(jsonget_text(data, "wish"), "abort") == 0
			       ? mem_dup("aborting")
			       : mem_dup("pausing when the iterations under way end");
	return kind == BATCH_EVENT_resumed ? mem_dup("continued") : NULL;
}

char *batch_text_event(const struct batch_state *state, const struct journal_event *event)
{
	int kind = batch_event_find(event->kind);
	json_t *data = json_loads(event->data, 0, NULL);
	long task = batch_state_find(state, jsonget_string(data, "task"));
	char *text = NULL;

	if (kind >= 0 && task >= 0)
		text = text_of_task((enum batch_event)kind, &state->tasks[task], data);
	else if (kind >= 0)
		text = text_of_batch((enum batch_event)kind, data);
	json_decref(data);
	return text;
}
