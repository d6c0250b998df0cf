/* The summary of a batch as a page: see batch_page.h. */
#include "cli/view/batch_page.h"

#include "batch/batch_race.h"
#include "batch/batch_sums.h"
#include "batch/batch_words.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <string.h>

#define STYLE                                                                                    \
	"<style>:root{color-scheme:light dark;--ok:#1a7f37;--bad:#cf222e;--dim:#59636e;"         \
	"--line:#d1d9e0}@media(prefers-color-scheme:dark){:root{--ok:#3fb950;--bad:#f85149;"     \
	"--dim:#9198a1;--line:#3d444d}}body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;" \
	"max-width:70em;padding:0 1em}table{border-collapse:collapse;width:100%}th,td{text-"     \
	"align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid var(--line)}"   \
	"code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}"         \
	".done{color:var(--ok)}.failed,.held{color:var(--bad)}.waiting,.lost{color:var(--dim)}"  \
	"td:first-child,td.number{white-space:nowrap}td.number{text-align:right}"                \
	"p.why{margin:.2em 0;color:var(--dim)}"                                                  \
	"</style>"

/* Writes an element with text. */
#define ELEMENT(page, tag, ...)                 \
	do {                                    \
		html_open(page, tag);           \
		html_printf(page, __VA_ARGS__); \
		html_close(page);               \
	} while (0)

static void add_text(struct html *page, const char *text)
{
	html_open(page, "p");
	html_attribute(page, "class", "why");
	html_text(page, text);
	html_close(page);
}

static void add_command(struct html *page, const char *before, const char *command, const char *id)
{
	html_open(page, "li");
	html_text(page, before);
	ELEMENT(page, "code", "%s %s", command, id);
	html_close(page);
}

static const char *class_of(enum batch_step step)
{
	return step == BATCH_STEP_landed ? "done" : batch_event_step_name(step);
}

/* Writes what a person should know about a task. */
static void add_notes(struct html *page, const struct batch_task *task)
{
	bool stopped = task->step == BATCH_STEP_failed || task->step == BATCH_STEP_held;

	if (task->conflicts) {
		AUTO_FREE char *conflicts = batch_words_conflicts(task->conflicts);
		AUTO_FREE char *text = mem_format("conflicts: %s", conflicts);

		add_text(page, text);
	}
	if (stopped && task->reason && *task->reason)
		add_text(page, task->reason);
	if (stopped && task->loop)
		ELEMENT(page, "code", "ringfence logs %s", task->loop);
}

static void add_row(struct html *page, const struct batch_task *task, bool cut_off)
{
	AUTO_FREE char *title = batch_words_title(task->id, jsonget_text(task->item, "title"));
	AUTO_FREE char *time = batch_words_time(task);

	html_open(page, "tr");
	html_open(page, "td");
	html_attribute(page, "class", class_of(task->step));
	html_text(page, batch_words_step(task, cut_off));
	html_close(page);
	html_open(page, "td");
	html_open(page, "b");
	html_text(page, task->id);
	html_close(page);
	html_text(page, " ");
	html_text(page, title);
	add_notes(page, task);
	html_close(page);
	html_open(page, "td");
	html_attribute(page, "class", "number");
	html_text(page, time);
	html_close(page);
	html_open(page, "td");
	html_attribute(page, "class", "number");
	if (task->spent_nusd)
		html_printf(page, "US$ %.2f", (double)task->spent_nusd / 1e9);
	html_close(page);
	html_open(page, "td");
	ELEMENT(page, "code", "%s", task->loop ? task->loop : "");
	html_close(page);
	html_close(page);
}

static void add_table(struct html *page, const struct batch_state *state)
{
	AUTO_FREE bool *cut_off = batch_sums_cut_off(state);

	html_open(page, "table");
	html_literal(page, "<thead><tr><th>State<th>Task<th>Time<th>Cost<th>Loop</thead>");
	html_open(page, "tbody");
	for (size_t i = 0; i < state->count; i++)
		add_row(page, &state->tasks[i], cut_off[i]);
	html_close(page);
	html_close(page);
}

/* Writes what waits for a person, and the commands for it. */
static void add_next(struct html *page, const struct batch_client *batch, bool applied)
{
	const struct batch_state *state = &batch->state;
	const char *status = batch_client_status(batch);
	struct batch_sums sums;

	batch_sums_count(state, &sums);
	html_open(page, "ul");
	for (size_t i = 0; i < state->count; i++)
		if (batch_race_waits(state, i))
			add_command(page, "to pick a candidate: ", "ringfence work --pick",
				    state->tasks[i].id);
	if (strcmp(status, "paused") == 0 || strcmp(status, "interrupted") == 0)
		add_command(page, "to continue: ", "ringfence work --resume", batch->id);
	if (state->finished && sums.failed)
		add_command(page, "to try a failed task again: ", "ringfence work --retry TASK",
			    batch->id);
	if (state->tip && applied)
		ELEMENT(page, "li", "the result is applied");
	else if (state->tip)
		add_command(page, "to take over what is done, and tick the list: ",
			    "ringfence work --apply", batch->id);
	html_close(page);
}

static void add_facts(struct html *page, const struct batch_state *state)
{
	AUTO_FREE char *begun = clock_text(state->created_ms, CLOCK_ZONE);
	struct batch_sums sums;
	size_t index;
	const json_t *list;

	batch_sums_count(state, &sums);
	html_open(page, "p");
	html_printf(page, "%zu of %zu tasks done, %zu failed, %zu cut off, US$ %.2f; begun %s; ",
		    sums.landed, sums.tasks, sums.failed, sums.cut_off,
		    (double)sums.spent_nusd / 1e9, begun);
	json_array_foreach(json_object_get(state->config, "lists"), index, list)
	{
		html_text(page, index ? ", " : "");
		html_text(page, jsonget_text(list, "name"));
	}
	html_text(page, " in ");
	html_text(page, state->project);
	html_close(page);
}

static void add_body(struct html *page, const struct batch_client *batch, bool applied)
{
	const struct batch_state *state = &batch->state;

	ELEMENT(page, "h1", "batch %s: %s", batch->id, batch_client_status(batch));
	if (state->reason && *state->reason)
		add_text(page, state->reason);
	add_facts(page, state);
	add_next(page, batch, applied);
	add_table(page, state);
}

void batch_page_write(const struct batch_client *batch, bool applied, struct html *page)
{
	html_literal(page, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
			   "<meta name=\"viewport\" content=\"width=device-width\">"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			   "'none'; style-src 'unsafe-inline'\">");
	ELEMENT(page, "title", "batch %s: %s", batch->id, batch_client_status(batch));
	html_literal(page, STYLE);
	html_open(page, "body");
	add_body(page, batch, applied);
	html_close(page);
	html_literal(page, "\n");
}
