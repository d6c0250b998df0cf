/* The report of a batch: see report.h. */
#include "report/report.h"

#include "batch/batch_report.h"
#include "batch/batch_sums.h"
#include "batch/batch_words.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

/* A task, and what is known of its latest loop. */
struct task {
	const struct batch_task *of;
	struct client_loop loop;
	struct view_iterations iterations;
	bool known;
};

static void release_task(struct task *task)
{
	if (!task->known)
		return;
	view_iterations_release(&task->iterations);
	client_loop_release(&task->loop);
}

/* A loop that was removed, or cannot be read, is not known. */
static void read_task(const char *state, const struct batch_task *of, struct task *ret_task)
{
	struct error ignored;

	*ret_task = (struct task){ .of = of };
	if (!of->loop || client_find(state, of->loop, NULL, &ret_task->loop, &ignored) < 0)
		return;
	if (ret_task->loop.damaged ||
	    view_iterations_read(&ret_task->loop, &ret_task->iterations, &ignored) < 0)
		client_loop_release(&ret_task->loop);
	else
		ret_task->known = true;
}

static enum document_tone step_tone(enum batch_step step)
{
	switch (step) {
	case BATCH_STEP_landed:
		return DOCUMENT_GOOD;
	case BATCH_STEP_failed:
		return DOCUMENT_BAD;
	case BATCH_STEP_held:
		return DOCUMENT_WARNING;
	default:
		return DOCUMENT_PLAIN;
	}
}

static int64_t lasted_ms(const struct batch_task *task, int64_t now_ms)
{
	if (!task->begun_ms)
		return 0;
	return (task->ended_ms ? task->ended_ms : now_ms) - task->begun_ms;
}

static void add_row(struct document *document, const struct batch_task *task, bool cut_off,
		    int64_t now_ms)
{
	AUTO_FREE char *lasted = task->begun_ms ? figure_time(lasted_ms(task, now_ms))
						: mem_dup("-");
	AUTO_FREE char *cost = figure_usd(task->spent_nusd);
	AUTO_FREE char *target = mem_format("task-%s", task->id);
	AUTO_FREE char *title = batch_words_title(task->id, jsonget_text(task->item, "title"));

	document_cell(document, DOCUMENT_PLAIN, task->id);
	document_link(document, target);
	document_cell(document, DOCUMENT_PLAIN, title);
	document_cell(document, step_tone(task->step), batch_words_step(task, cut_off));
	document_cell_format(document, DOCUMENT_NUMBER, "%u", task->rounds);
	document_cell(document, DOCUMENT_NUMBER, lasted);
	document_cell(document, DOCUMENT_NUMBER, cost);
}

static void add_table(struct document *document, const struct batch_state *state, int64_t now_ms)
{
	AUTO_FREE bool *cut_off = batch_sums_cut_off(state);

	document_section(document, "tasks", "Tasks");
	document_table(document,
		       DOCUMENT_COLUMNS({ "task", false }, { "title", false }, { "state", false },
					{ "rounds", true }, { "time", true }, { "US$", true }));
	for (size_t i = 0; i < state->count; i++)
		add_row(document, &state->tasks[i], cut_off[i], now_ms);
}

static void add_loop(struct document *document, const struct task *task)
{
	const struct loop_state *state = &task->loop.state;
	const struct view_iteration *last = report_last(&task->iterations);
	AUTO_FREE char *checks = report_checks_text(last);
	AUTO_FREE char *reason = client_reason(&task->loop);

	document_fact(document, report_tone(client_status(&task->loop)), "its loop", "%s%s%s",
		      client_status(&task->loop), reason ? ": " : "", reason ? reason : "");
	document_fact(document, DOCUMENT_PLAIN, "iterations", "%u", state->iteration);
	document_fact(document, DOCUMENT_PLAIN, "checks passing", "%s", checks);
	if (last && last->files_changed >= 0)
		document_fact(document, DOCUMENT_PLAIN, "files changed", "%d",
			      (int)last->files_changed);
	document_fact(document, DOCUMENT_CODE, "commit", "%s",
		      state->git_commit ? state->git_commit : "");
	document_fact(document, DOCUMENT_CODE, "report", "ringfence report %s", task->loop.id);
	if (json_array_size(state->findings))
		document_fact(document, DOCUMENT_WARNING, "findings", "%zu",
			      json_array_size(state->findings));
	if (state->final && *state->final)
		document_add(document, DOCUMENT_QUOTE, "%.1500s", state->final);
}

static void add_task(struct document *document, const char *state, const struct batch_task *of,
		     bool cut_off)
{
	AUTO_FREE char *id = mem_format("task-%s", of->id);
	AUTO_FREE char *name = batch_words_title(of->id, jsonget_text(of->item, "title"));
	AUTO_FREE char *title = mem_format("%s: %s", of->id, name);
	AUTO_FREE char *cost = figure_usd(of->spent_nusd);
	struct task task;

	read_task(state, of, &task);
	document_section(document, id, title);
	document_fact(document, step_tone(of->step), "state", "%s", batch_words_step(of, cut_off));
	document_fact(document, DOCUMENT_WARNING, "reason", "%s", of->reason ? of->reason : "");
	document_fact(document, DOCUMENT_PLAIN, "US$", "%s", cost);
	if (task.known)
		add_loop(document, &task);
	else if (of->loop)
		document_add(document, DOCUMENT_NOTE, "Its loop %s cannot be read any more.",
			     of->loop);
	release_task(&task);
}

static void add_tasks(struct document *document, const char *state_folder,
		      const struct batch_state *state)
{
	enum { MOST = 200 };
	AUTO_FREE bool *cut_off = batch_sums_cut_off(state);

	for (size_t i = 0; i < state->count && i < MOST; i++)
		add_task(document, state_folder, &state->tasks[i], cut_off[i]);
	if (state->count > MOST)
		document_add(document, DOCUMENT_NOTE, "%zu more tasks have no section.",
			     state->count - MOST);
}

static void add_figures(struct document *document, const struct batch_state *state)
{
	struct batch_sums sums;

	batch_sums_count(state, &sums);

	AUTO_FREE char *cost = figure_usd(sums.spent_nusd);
	AUTO_FREE char *most = figure_usd(state->most_nusd);

	document_figure(document, DOCUMENT_PLAIN, "tasks", "%zu", sums.tasks);
	document_figure(document, sums.landed == sums.tasks ? DOCUMENT_GOOD : DOCUMENT_PLAIN,
			"done", "%zu", sums.landed);
	document_figure(document, sums.failed ? DOCUMENT_BAD : DOCUMENT_PLAIN, "failed", "%zu",
			sums.failed);
	document_figure(document, sums.steps[BATCH_STEP_held] ? DOCUMENT_WARNING : DOCUMENT_PLAIN,
			"need you", "%zu", sums.steps[BATCH_STEP_held]);
	document_figure(document, DOCUMENT_PLAIN, "US$", "%s%s%s", cost,
			state->most_nusd ? " of " : "", state->most_nusd ? most : "");
}

void report_batch_document(const char *state, const struct batch_client *batch, int64_t now_ms,
			   struct document *ret_document)
{
	const struct batch_state *of = &batch->state;
	const char *status = batch_client_status(batch);
	AUTO_FREE char *began = figure_moment(of->created_ms);
	AUTO_FREE char *made = figure_moment(now_ms);
	AUTO_FREE char *about = mem_format("%s · batch %s · since %s", of->project, batch->id,
					   began);
	AUTO_FREE char *text = mem_format("%s%s%s", status, of->reason ? ": " : "",
					  of->reason ? of->reason : "");

	*ret_document = (struct document){ 0 };
	document_head(ret_document, "Work list", about);
	document_status(ret_document, report_tone(status), text);
	ret_document->footer = mem_format("Written by Ringfence on %s. Words in it come from the "
					  "agents and the project.",
					  made);
	add_figures(ret_document, of);
	add_table(ret_document, of, now_ms);
	add_tasks(ret_document, state, of);
}

json_t *report_batch_json(const char *state, const struct batch_client *batch, int64_t now_ms)
{
	json_t *object = batch_report_json(batch->id, batch_client_status(batch), &batch->state);
	json_t *loops = json_object();

	for (size_t i = 0; i < batch->state.count; i++) {
		struct task task;

		read_task(state, &batch->state.tasks[i], &task);
		if (task.known)
			json_object_set_new(loops, task.loop.id, client_json(&task.loop));
		release_task(&task);
	}
	json_object_set_new(object, "loops", loops);
	json_object_set_new(object, "reported_at", json_integer((json_int_t)(now_ms / 1000)));
	return object;
}
