/* Watching the disk: see disk.h. */
#include "loop/run/disk.h"

#include "loop/run/room.h"
#include "loop/state/loop_folder.h"
#include "util/buffer.h"
#include "util/file/disk_usage.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

/* Measuring usage is slow: it may take a fiftieth of the time. */
enum { EVERY_MS = 2000, COST = 50 };

/* The name of a checkpoint is a small file. */
enum { REF_BYTES = 4096 };

/* The disk usage of a loop, in bytes. */
struct usage {
	uint64_t logs, tree, checkpoints;
};

static uint64_t sum(const struct usage *usage)
{
	return usage->logs + usage->tree + usage->checkpoints;
}

/* Counts what an earlier look did not count, and forgets nothing that is still there. */
static void count_grown(struct supervisor *sup, const char *refs)
{
	struct supervisor_disk *disk = &sup->disk;
	bool same = disk->iteration == sup->state.iteration && disk->attempt == sup->state.attempt;
	AUTO_FREE char *all = path_join(sup->folder, "iterations");
	AUTO_FREE char *last = loop_folder_iteration(sup->folder, disk->iteration, disk->attempt);
	AUTO_FREE char *now = loop_folder_iteration(sup->folder, sup->state.iteration,
						    sup->state.attempt);

	if (!disk->counted) {
		disk->ended = disk_usage_bytes(all, path_name(now));
		disk->refs = disk_usage_bytes(refs, NULL);
	} else {
		disk->ended += same ? 0 : disk_usage_bytes(last, NULL);
		disk->refs += (uint64_t)(sup->state.checkpoint - disk->checkpoint) * REF_BYTES;
	}
	disk->counted = true;
	disk->iteration = sup->state.iteration;
	disk->attempt = sup->state.attempt;
	disk->checkpoint = sup->state.checkpoint;
}

static struct usage count_usage(struct supervisor *sup)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *state = loop_folder_state(sup->folder);
	AUTO_FREE char *store = snapshot_place(state, options->project);
	AUTO_FREE char *refs = path_join(store, "refs");
	AUTO_FREE char *now = loop_folder_iteration(sup->folder, sup->state.iteration,
						    sup->state.attempt);

	count_grown(sup, refs);
	return (struct usage){
		.logs = disk_usage_bytes(sup->folder, "iterations") + sup->disk.ended +
			disk_usage_bytes(now, NULL),
		.tree = options->work_tree ? disk_usage_bytes(options->work_tree, NULL) : 0,
		.checkpoints = disk_usage_bytes(store, "refs") + sup->disk.refs,
	};
}

static char *usage_text(const struct supervisor *sup, const struct usage *usage, int64_t most)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8192);

	buffer_add_text(&text, "the loop uses ");
	room_add_size(&text, sum(usage));
	buffer_add_text(&text, " of disk space (its own files ");
	room_add_size(&text, usage->logs);
	if (sup->state.options.work_tree) {
		buffer_add_text(&text, ", work tree ");
		room_add_size(&text, usage->tree);
	}
	buffer_add_text(&text, ", checkpoints ");
	room_add_size(&text, usage->checkpoints);
	buffer_add_text(&text, "), and the limit --loop-disk is ");
	room_add_size(&text, (uint64_t)most);
	buffer_add_text(
		&text,
		" (delete what is not needed, or raise it with ringfence resume --loop-disk SIZE)");
	return mem_dup(buffer_text(&text));
}

static char *usage_trouble(struct supervisor *sup, int64_t most)
{
	int64_t begun_ms = wait_set_steady_ms();
	struct usage usage;

	if (!most || begun_ms < sup->disk.count_ms)
		return NULL;
	usage = count_usage(sup);
	if (sum(&usage) > (uint64_t)most) { /* something may have been deleted since */
		sup->disk.counted = false;
		usage = count_usage(sup);
	}
	sup->disk.count_ms = wait_set_steady_ms() + COST * (wait_set_steady_ms() - begun_ms);
	return sum(&usage) > (uint64_t)most ? usage_text(sup, &usage, most) : NULL;
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
		    (sup->state.step == LOOP_STEP_agent || sup->state.step == LOOP_STEP_checks ||
		     sup->state.step == LOOP_STEP_mutants || sup->state.step == LOOP_STEP_review);

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
