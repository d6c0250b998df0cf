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
	struct buffer bytes;
	size_t ticked;
};

static void tick_task(const struct batch_task *task, struct file *file,
		      struct batch_tick_result *result)
{
	struct buffer changed = BUFFER_INIT(TICKS_BYTES);
	const char *race = jsonget_string(task->item, "race");
	const char *id = race ? race : task->id;
	struct error err;
	int done = worklist_tick(file->name, file->bytes.data, file->bytes.used, id, true, &changed,
				 &err);

	if (done < 0)
		list_printf(&result->notices, "'%s' is not ticked: %s", id, err.text);
	if (done == 1) {
		buffer_release(&file->bytes);
		file->bytes = changed;
		file->ticked++;
		return;
	}
	buffer_release(&changed);
}

static bool belongs(const struct batch_task *task, const struct file *file)
{
	return task->step == BATCH_STEP_landed && !task->done_before &&
	       strcmp(jsonget_text(task->item, "list"), file->name) == 0;
}

/* The list may be a file of the project, but only its user writes there. */
static int write_file(const struct file *file, struct error *err)
{
	AUTO_FREE char *above = path_folder(file->path);
	AUTO_FD folder = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat now;

	if (folder < 0 || fstatat(folder, path_name(file->path), &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	    durable_replace(folder, path_name(file->path), file->bytes.data, file->bytes.used,
			    now.st_mode & 0777) < 0)
		return error_sys(err, "write '%s'", file->path);
	return 0;
}

static void tick_file(const struct batch_state *state, struct file *file,
		      struct batch_tick_result *result)
{
	struct error err;

	file->bytes = BUFFER_INIT(TICKS_BYTES);
	if (fd_read_path(file->path, &file->bytes) < 0) {
		list_printf(&result->notices, "the list '%s' cannot be read: nothing is ticked",
			    file->path);
	} else {
		for (size_t i = 0; i < state->count; i++)
			if (belongs(&state->tasks[i], file))
				tick_task(&state->tasks[i], file, result);
		if (file->ticked && write_file(file, &err) < 0)
			list_printf(&result->notices, "nothing is ticked: %s", err.text);
		else
			result->ticked += file->ticked;
	}
	buffer_release(&file->bytes);
}

void batch_tick(const struct batch_state *state, struct batch_tick_result *ret_result)
{
	const json_t *lists = json_object_get(state->config, "lists");
	size_t index;
	const json_t *list;

	*ret_result = (struct batch_tick_result){ 0 };
	json_array_foreach(lists, index, list)
	{
		struct file file = { .name = jsonget_text(list, "name"),
				     .path = jsonget_text(list, "path") };

		tick_file(state, &file, ret_result);
	}
}

void batch_tick_release(struct batch_tick_result *result)
{
	list_release(&result->notices);
}
