/* Watching the disk: see disk.h. */
#include "loop/run/disk.h"

#include "loop/run/room.h"
#include "loop/state/loop_folder.h"
#include "util/buffer.h"
#include "util/file/disk_usage.h"
#include "util/mem.h"
#include "util/text/text.h"

/* Measuring usage is slow: it may take a fiftieth of the time. */
enum { EVERY_MS = 2000, COST = 50 };

static char *usage_trouble(struct supervisor *sup, int64_t most)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8192);
	AUTO_FREE char *state = loop_folder_state(sup->folder);
	AUTO_FREE char *store = snapshot_place(state, options->project);
	int64_t begun_ms = wait_set_steady_ms();

	if (!most || begun_ms < sup->disk.count_ms)
		return NULL;

	uint64_t logs = disk_usage_bytes(sup->folder);
	uint64_t tree = options->work_tree ? disk_usage_bytes(options->work_tree) : 0;
	uint64_t checkpoints = disk_usage_bytes(store);

	sup->disk.count_ms = wait_set_steady_ms() + COST * (wait_set_steady_ms() - begun_ms);
	if (logs + tree + checkpoints <= (uint64_t)most)
		return NULL;
	buffer_add_text(&text, "the loop uses ");
	room_add_size(&text, logs + tree + checkpoints);
	buffer_add_text(&text, " of disk space (its own files ");
	room_add_size(&text, logs);
	if (options->work_tree) {
		buffer_add_text(&text, ", work tree ");
		room_add_size(&text, tree);
	}
	buffer_add_text(&text, ", checkpoints ");
	room_add_size(&text, checkpoints);
	buffer_add_text(&text, "), and the limit --loop-disk is ");
	room_add_size(&text, (uint64_t)most);
	buffer_add_text(
		&text,
		" (delete what is not needed, or raise it with ringfence resume --loop-disk SIZE)");
	return mem_dup(buffer_text(&text));
}

static char *check_disk(struct supervisor *sup)
{
	const struct loop_options *options = &sup->state.options;
	char *trouble = room_trouble(sup->folder, options->min_free_bytes);

	sup->disk.looked_ms = wait_set_steady_ms();
	if (!trouble)
		trouble = room_trouble(options->project, options->min_free_bytes);
	return trouble ? trouble : usage_trouble(sup, options->loop_disk_bytes);
}

char *disk_trouble(struct supervisor *sup)
{
	sup->disk.count_ms = 0; /* always measured between runs */
	return check_disk(sup);
}

static int64_t due_ms(void *context)
{
	const struct supervisor *sup = context;
	const struct loop_options *options = &sup->state.options;
	bool runs = sup->run.working && !sup->run.cut &&
		    (sup->state.phase == LOOP_PHASE_agent || sup->state.phase == LOOP_PHASE_checks);

	return runs && (options->min_free_bytes || options->loop_disk_bytes)
		       ? sup->disk.looked_ms + EVERY_MS
		       : INT64_MAX;
}

static void watch(void *context, bool readable)
{
	struct supervisor *sup = context;
	AUTO_FREE char *trouble = NULL;

	(void)readable;
	if (due_ms(sup) > wait_set_steady_ms())
		return;
	trouble = check_disk(sup);
	if (!trouble)
		return;
	sup->run.cut = SUPERVISOR_CUT_DISK;
	runner_stop(&sup->run.runner);
}

void disk_watch(struct supervisor *sup)
{
	wait_set_add(&sup->waits,
		     &(struct wait_set_watch){ .due_ms = due_ms, .serve = watch, .context = sup });
}
