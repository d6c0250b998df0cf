/* The tasks of a work list: see tasks.h. */
#include "screen/tasks.h"

#include "screen/compact.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

int tasks_open(struct tasks *tasks, const char *state, const char *id, struct error *err)
{
	tasks_close(tasks);
	if (batch_client_find(state, id, NULL, &tasks->batch, err) < 0)
		return -1;
	tasks->open = true;
	tasks->scroll = (struct scroll){ 0 };
	return 0;
}

void tasks_refresh(struct tasks *tasks)
{
	if (tasks->open)
		batch_client_refresh(&tasks->batch);
}

void tasks_close(struct tasks *tasks)
{
	if (tasks->open)
		batch_client_release(&tasks->batch);
	sheet_release(&tasks->sheet);
	*tasks = (struct tasks){ 0 };
}

const char *tasks_loop(const struct tasks *tasks)
{
	size_t at = tasks->scroll.at;

	if (at >= tasks->sheet.count || tasks->sheet.items[at].mark >= tasks->batch.state.count)
		return NULL;
	return tasks->batch.state.tasks[tasks->sheet.items[at].mark].loop;
}

static enum canvas_style style_of(enum batch_step step)
{
	switch (step) {
	case BATCH_STEP_landed:
		return CANVAS_good;
	case BATCH_STEP_failed:
		return CANVAS_bad;
	case BATCH_STEP_held:
		return CANVAS_urgent;
	case BATCH_STEP_running:
		return CANVAS_info;
	default:
		return CANVAS_dim;
	}
}

static void add_task(struct sheet *sheet, const struct batch_task *task, size_t index)
{
	struct compact cost = compact_usd(task->spent_nusd);

	sheet_line(sheet, index);
	sheet_printf(sheet, CANVAS_plain, " %-14.14s ", task->id ? task->id : "");
	sheet_printf(sheet, style_of(task->step), "%-12s", batch_event_step_name(task->step));
	sheet_printf(sheet, CANVAS_plain, " %3u  %7s  ", task->rounds, cost.text);
	sheet_add(sheet, task->reason ? CANVAS_warning : CANVAS_plain,
		  task->reason ? task->reason : jsonget_text(task->item, "title"));
}

static void fill(struct tasks *tasks, int width)
{
	const struct batch_state *state = &tasks->batch.state;

	sheet_clear(&tasks->sheet, width);
	for (size_t i = 0; i < state->count; i++)
		add_task(&tasks->sheet, &state->tasks[i], i);
}

void tasks_draw(struct tasks *tasks, struct canvas *canvas, int row, int rows)
{
	fill(tasks, canvas->cols);
	scroll_fit(&tasks->scroll, tasks->sheet.count, rows - 1);
	canvas_put(canvas, row, 1, canvas->cols, CANVAS_dim,
		   "TASK           STEP        LOOPS     US$  WHAT");
	sheet_draw(&tasks->sheet, &tasks->scroll, canvas, row + 1, rows - 1, 0, canvas->cols);
}
