/* Ticks in the user's lists: see batch_tick.h. */
#include "batch/batch_tick.h"

#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "worklist/worklist.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TICKS_BYTES = WORKLIST_BYTES_MAX + (1 << 20) };

/* A list: its name as the user gave it, and where it is. */
struct file {
	const char *name, *path;
	struct buffer bytes, changed;
};

static bool belongs(const struct batch_task *task, const struct file *file)
{
	return task->step == BATCH_STEP_landed && !task->done_before &&
	       strcmp(jsonget_text(task->item, "list"), file->name) == 0;
}

/* Marks the tasks of one list. Returns how many, or -1 with err set. */
static long tick_tasks(const struct batch_state *state, struct file *file, struct list *problems,
		       struct error *err)
{
	AUTO_FREE struct worklist_task *tasks = mem_zero((state->count + 1) * sizeof *tasks);
	size_t count = 0;

	for (size_t i = 0; i < state->count; i++) {
		const json_t *item = state->tasks[i].item;
		const char *race = jsonget_string(item, "race");

		if (belongs(&state->tasks[i], file))
			tasks[count++] = (struct worklist_task){ race ? race : state->tasks[i].id,
								 jsonget_string(item, "title") };
	}
	return worklist_tick_all(file->name, file->bytes.data, file->bytes.used, tasks, count, true,
				 &file->changed, problems, err);
}

/* The list may be a file of the project, but only its user writes there. */
static int write_file(const struct file *file, struct error *err)
{
	AUTO_FREE char *above = path_folder(file->path);
	AUTO_FD folder = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat now;

	if (folder < 0 || fstatat(folder, path_name(file->path), &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	    durable_replace(folder, path_name(file->path), file->changed.data, file->changed.used,
			    now.st_mode & 0777) < 0)
		return error_sys(err, "write '%s'", file->path);
	return 0;
}

/* Returns how many tasks were marked, or -1 with err set. */
static long tick_file(const struct batch_state *state, struct file *file, struct list *problems,
		      struct error *err)
{
	long ticked;

	if (fd_read_path(file->path, &file->bytes) < 0)
		return error_set(err, "the list '%s' cannot be read", file->path);
	ticked = tick_tasks(state, file, problems, err);
	return ticked > 0 && write_file(file, err) < 0 ? -1 : ticked;
}

static void tick_list(const struct batch_state *state, const json_t *list,
		      struct batch_tick_result *result)
{
	struct file file = { .name = jsonget_text(list, "name"),
			     .path = jsonget_text(list, "path"),
			     .bytes = BUFFER_INIT(TICKS_BYTES),
			     .changed = BUFFER_INIT(TICKS_BYTES) };
	struct list problems = { 0 };
	struct error err;
	long ticked = tick_file(state, &file, &problems, &err);

	if (ticked < 0)
		list_printf(&result->notices, "nothing is ticked in '%s': %s", file.name, err.text);
	else
		result->ticked += (size_t)ticked;
	for (size_t i = 0; i < problems.count; i++)
		list_printf(&result->notices, "not ticked: %s", problems.items[i]);
	list_release(&problems);
	buffer_release(&file.bytes);
	buffer_release(&file.changed);
}

void batch_tick(const struct batch_state *state, struct batch_tick_result *ret_result)
{
	const json_t *lists = json_object_get(state->config, "lists");
	size_t index;
	const json_t *list;

	*ret_result = (struct batch_tick_result){ 0 };
	json_array_foreach(lists, index, list)
	{
		tick_list(state, list, ret_result);
	}
}

void batch_tick_release(struct batch_tick_result *result)
{
	list_release(&result->notices);
}
