/* Watching the disk: see disk.h. */
#include "loop/disk.h"

#include "loop/client.h"
#include "loop/disk_usage.h"
#include "loop/loop_folder.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text.h"

#include <sys/statvfs.h>

/* Counting takes longer than looking: it may take a fiftieth of the time. */
enum { EVERY_MS = 2000, COST = 50 };

#define USUAL_FREE (INT64_C(512) << 20)

/* ---- what is left ---- */

static void add_size(struct buffer *out, uint64_t bytes)
{
	if (bytes >> 30)
		buffer_printf(out, "%.1f GiB", (double)bytes / (1 << 30));
	else if (bytes >> 20)
		buffer_printf(out, "%llu MiB", (unsigned long long)bytes >> 20);
	else
		buffer_printf(out, "%llu KiB", (unsigned long long)bytes >> 10);
}

char *client_room(const char *path, int64_t least)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8192);
	AUTO_FREE char *shown = text_escaped(path);
	struct statvfs disk;

	if (!least || statvfs(path, &disk) < 0)
		return NULL;

	int64_t hundredth = (int64_t)(disk.f_blocks * disk.f_frsize / 100);
	int64_t left = (int64_t)(disk.f_bavail * disk.f_frsize);

	/* What nobody has asked for suits every disk. */
	if (least == USUAL_FREE && hundredth < least)
		least = hundredth;
	if (left >= least)
		return NULL;
	buffer_printf(&text, "the disk of '%s' is nearly full: ", shown);
	add_size(&text, (uint64_t)left);
	buffer_add_text(&text, " are left, and --min-free is ");
	add_size(&text, (uint64_t)least);
	buffer_add_text(&text, " (make room; ringfence clean --older 7d --all removes old loops)");
	return mem_dup(buffer_text(&text));
}

/* ---- what is taken ---- */

static char *judge_taken(struct supervisor *sup, int64_t most)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8192);
	AUTO_FREE char *state = loop_folder_state(sup->folder);
	AUTO_FREE char *store = snapshot_place(state, options->project);
	int64_t begun_ms = attend_steady_ms();

	if (!most || begun_ms < sup->disk_count_ms)
		return NULL;

	uint64_t logs = disk_usage_bytes(sup->folder);
	uint64_t tree = options->work_tree ? disk_usage_bytes(options->work_tree) : 0;
	uint64_t checkpoints = disk_usage_bytes(store);

	sup->disk_count_ms = attend_steady_ms() + COST * (attend_steady_ms() - begun_ms);
	if (logs + tree + checkpoints <= (uint64_t)most)
		return NULL;
	buffer_add_text(&text, "the loop takes ");
	add_size(&text, logs + tree + checkpoints);
	buffer_add_text(&text, " of the disk (its own files ");
	add_size(&text, logs);
	if (options->work_tree) {
		buffer_add_text(&text, ", work tree ");
		add_size(&text, tree);
	}
	buffer_add_text(&text, ", checkpoints ");
	add_size(&text, checkpoints);
	buffer_add_text(&text, "), and --loop-disk is ");
	add_size(&text, (uint64_t)most);
	buffer_add_text(&text,
			" (remove what is not needed, or ringfence resume --loop-disk SIZE)");
	return mem_dup(buffer_text(&text));
}

/* ---- both ---- */

static char *look(struct supervisor *sup)
{
	const struct loop_options *options = &sup->state.options;
	char *trouble = client_room(sup->folder, options->min_free_bytes);

	sup->disk_ms = attend_steady_ms();
	if (!trouble)
		trouble = client_room(options->project, options->min_free_bytes);
	return trouble ? trouble : judge_taken(sup, options->loop_disk_bytes);
}

char *disk_trouble(struct supervisor *sup)
{
	sup->disk_count_ms = 0; /* between runs it is always counted */
	return look(sup);
}

int64_t disk_due_ms(const struct supervisor *sup)
{
	const struct loop_options *options = &sup->state.options;
	bool runs = sup->working && !sup->cut &&
		    (sup->state.phase == LOOP_PHASE_agent || sup->state.phase == LOOP_PHASE_checks);

	return runs && (options->min_free_bytes || options->loop_disk_bytes)
		       ? sup->disk_ms + EVERY_MS
		       : INT64_MAX;
}

void disk_watch(struct supervisor *sup)
{
	AUTO_FREE char *trouble = NULL;

	if (disk_due_ms(sup) > attend_steady_ms())
		return;
	trouble = look(sup);
	if (!trouble)
		return;
	sup->cut = CUT_DISK;
	runner_stop(&sup->runner);
}
