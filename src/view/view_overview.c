/* All loops and batches: see view_overview.h. */
#include "view/view_overview.h"

#include "loop/state/loop_folder.h"
#include "loop/state/loop_index.h"
#include "util/clock.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "view/view_row.h"

#include <stdlib.h>
#include <string.h>

/* The lines of this index: view_row_line(). */
#define INDEX ".overview"

void view_overview_open(struct view_overview *overview, const char *state)
{
	*overview = (struct view_overview){ .state = mem_dup(state), .unsure = true };
}

static void free_rows(struct view_row **rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i])
			view_row_free(rows[i]);
	free(rows);
}

void view_overview_close(struct view_overview *overview)
{
	free_rows(overview->loops, overview->loop_count);
	free_rows(overview->batches, overview->batch_count);
	free(overview->rows);
	free(overview->state);
	*overview = (struct view_overview){ 0 };
}

/* ---- lists ---- */

/* Takes the row with this id out of the old ones, which are sorted as the ids are; or makes one. */
static struct view_row *take_row(struct view_row **old, size_t count, size_t *at, const char *id)
{
	struct view_row *row;

	while (*at < count && strcmp(old[*at]->id, id) < 0)
		++*at;
	if (*at < count && strcmp(old[*at]->id, id) == 0) {
		row = old[*at];
		/* A freed place keeps its order by a row without contents. */
		old[*at] = mem_zero(sizeof **old);
		old[*at]->id = mem_dup(id);
		return row;
	}
	row = mem_zero(sizeof *row);
	row->id = mem_dup(id);
	row->unread = true;
	return row;
}

/* Makes the rows those of these ids. Returns whether any came or went. */
static bool set_rows(struct view_row ***rows, size_t *count, const struct list *ids)
{
	struct view_row **new = mem_zero((ids->count + 1) * sizeof(struct view_row *));
	struct view_row **old = *rows;
	size_t old_count = *count;
	bool changed = old_count != ids->count;
	size_t at = 0;

	for (size_t i = 0; i < ids->count; i++) {
		new[i] = take_row(old, old_count, &at, ids->items[i]);
		changed = changed || new[i]->unread;
	}
	free_rows(old, old_count);
	*rows = new;
	*count = ids->count;
	return changed;
}

/* Lists the folder again if it may have changed. *ret_listed: it did; *ret_reopened: a loop that
 * had ended may go on. Returns 0, or -1 with err set. */
static int list_loops(struct view_overview *overview, const char *loops, bool *ret_listed,
		      bool *ret_reopened, struct error *err)
{
	AUTO_FREE char *reopened = path_join(loops, ".reopened");
	struct loop_stamp_file folder_now, reopened_now;
	bool young = loop_stamp_file(loops, &folder_now) | loop_stamp_file(reopened, &reopened_now);
	struct list ids = { 0 };

	*ret_reopened = overview->unsure ||
			!loop_stamp_same_file(&overview->reopened, &reopened_now);
	*ret_listed = *ret_reopened || !loop_stamp_same_file(&overview->folder, &folder_now);
	if (!*ret_listed)
		return 0;
	if (loop_folder_list(loops, &ids, err) < 0)
		return -1;
	overview->folder = folder_now;
	overview->reopened = reopened_now;
	overview->unsure = young;
	if (set_rows(&overview->loops, &overview->loop_count, &ids))
		overview->version++;
	list_release(&ids);
	return 0;
}

static int list_batches(struct view_overview *overview, struct error *err)
{
	AUTO_FREE char *batches = path_join(overview->state, "batches");
	struct loop_stamp_file now;
	bool young = loop_stamp_file(batches, &now);
	struct list ids = { 0 };

	if (!now.changed_ns ||
	    (!overview->unsure && loop_stamp_same_file(&overview->batch_folder, &now)))
		return 0;
	if (loop_folder_list(batches, &ids, err) < 0)
		return -1;
	overview->batch_folder = now;
	overview->unsure = overview->unsure || young;
	if (set_rows(&overview->batches, &overview->batch_count, &ids))
		overview->version++;
	list_release(&ids);
	return 0;
}

/* ---- loops ---- */

static void drop_loop(struct view_row *row)
{
	if (row->loop)
		client_loop_release(row->loop);
	free(row->loop);
	row->loop = NULL;
}

/* Reads a loop that was not read before, or the rest of one that was. */
static void read_loop(const struct view_overview *overview, struct view_row *row)
{
	struct error err;

	if (row->loop) {
		client_refresh(row->loop);
	} else {
		row->loop = mem_zero(sizeof *row->loop);
		row->absent = client_find(overview->state, row->id, NULL, row->loop, &err) < 0;
	}
	row->unread = false;
	if (row->absent)
		drop_loop(row);
	else
		view_row_from_loop(row);
}

/* Uses the lines of the index for loops that have ended. If loops were reopened, one whose line was
 * withdrawn has to be read again. */
static void use_index(struct view_overview *overview, struct loop_index *index, bool reopened)
{
	for (size_t i = 0; i < overview->loop_count; i++) {
		struct view_row *row = overview->loops[i];
		const char *line = loop_index_get(index, row->id);

		if (!line && row->ended && reopened)
			row->unread = true;
		if (!line || !row->unread || view_row_from_line(row, line) < 0)
			continue;
		row->unread = false;
		overview->version++;
	}
}

/* Marks the loops that have changed since they were read. Returns whether there are any. */
static bool mark_stale(struct view_overview *overview, const char *loops)
{
	bool any = false;

	for (size_t i = 0; i < overview->loop_count; i++) {
		struct view_row *row = overview->loops[i];
		AUTO_FREE char *folder = path_join(loops, row->id);
		struct loop_stamp now;

		if (row->unread || row->ended)
			continue;
		loop_stamp_read(folder, &now);
		row->stale = !loop_stamp_same(&row->stamp, &now);
		row->stamp = now;
		any = any || row->stale;
	}
	return any;
}

/* Reads a row, and gives it a line in the index if the loop has ended. */
static void read_row(struct view_overview *overview, struct view_row *row, struct loop_index *index)
{
	AUTO_FREE char *line = NULL;

	if (row->unread) {
		AUTO_FREE char *folder = mem_format("%s/loops/%s", overview->state, row->id);

		loop_stamp_read(folder, &row->stamp);
	}
	read_loop(overview, row);
	overview->version++;
	row->stale = false;
	if (!row->loop || !row->ended)
		return;
	line = view_row_line(row);
	if (line)
		loop_index_set(index, row->id, line);
	drop_loop(row);
}

/* Reads the loops that have changed, and so many new ones, the newest first. */
static void read_rows(struct view_overview *overview, struct loop_index *index, size_t most)
{
	overview->unread = 0;
	for (size_t i = overview->loop_count; i-- > 0;) {
		struct view_row *row = overview->loops[i];

		if (row->unread && !most) {
			overview->unread++;
		} else if (row->unread || row->stale) {
			most -= row->unread;
			read_row(overview, row, index);
		}
	}
}

static void look_at_logs(struct view_overview *overview)
{
	for (size_t i = 0; i < overview->loop_count; i++)
		if (!overview->loops[i]->unread && view_row_look(overview->loops[i]))
			overview->version++;
}

static int refresh_loops(struct view_overview *overview, size_t most, struct error *err)
{
	AUTO_FREE char *loops = loop_folder_loops(overview->state, err);
	bool listed = false, reopened = false;

	if (!loops || list_loops(overview, loops, &listed, &reopened, err) < 0)
		return -1;
	if (mark_stale(overview, loops) || listed || overview->unread) {
		/* Before anything is read: a loop may be reopened meanwhile. */
		struct loop_index *index = loop_index_load(loops, INDEX);

		use_index(overview, index, reopened);
		read_rows(overview, index, most);
		loop_index_save(index);
		loop_index_free(index);
	}
	look_at_logs(overview);
	return 0;
}

/* ---- batches ---- */

static void read_batch(const struct view_overview *overview, struct view_row *row)
{
	struct error err;

	if (row->client) {
		batch_client_refresh(row->client);
	} else {
		row->client = mem_zero(sizeof *row->client);
		row->absent = batch_client_find(overview->state, row->id, NULL, row->client, &err) <
			      0;
	}
	row->batch = true;
	row->unread = false;
	if (!row->absent) {
		view_row_from_batch(row);
		return;
	}
	free(row->client);
	row->client = NULL;
}

static void refresh_batches(struct view_overview *overview)
{
	for (size_t i = 0; i < overview->batch_count; i++) {
		struct view_row *row = overview->batches[i];
		AUTO_FREE char *folder = mem_format("%s/batches/%s", overview->state, row->id);
		struct loop_stamp now;

		loop_stamp_read(folder, &now);
		if (row->unread || !loop_stamp_same(&row->stamp, &now)) {
			read_batch(overview, row);
			overview->version++;
		}
		row->stamp = now;
	}
}

/* ---- the rows ---- */

static int by_age(const void *a, const void *b)
{
	const struct view_row *left = *(struct view_row *const *)a;
	const struct view_row *right = *(struct view_row *const *)b;

	if (left->created_ms != right->created_ms)
		return left->created_ms < right->created_ms ? -1 : 1;
	return strcmp(left->id, right->id);
}

static void add_rows(struct view_overview *overview, struct view_row **rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!rows[i]->absent && !rows[i]->unread)
			overview->rows[overview->count++] = rows[i];
}

int view_overview_refresh(struct view_overview *overview, size_t most, struct error *err)
{
	if (refresh_loops(overview, most, err) < 0 || list_batches(overview, err) < 0)
		return -1;
	refresh_batches(overview);
	free(overview->rows);
	overview->rows = mem_zero((overview->loop_count + overview->batch_count + 1) *
				  sizeof(struct view_row *));
	overview->count = 0;
	add_rows(overview, overview->loops, overview->loop_count);
	add_rows(overview, overview->batches, overview->batch_count);
	qsort(overview->rows, overview->count, sizeof(struct view_row *), by_age);
	return 0;
}

const struct view_row *view_overview_find(const struct view_overview *overview, const char *id)
{
	for (size_t i = 0; i < overview->count; i++)
		if (strcmp(overview->rows[i]->id, id) == 0)
			return overview->rows[i];
	return NULL;
}
