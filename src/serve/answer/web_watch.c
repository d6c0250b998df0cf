/* Watching loops: see web_watch.h. */
#include "serve/answer/web_watch.h"

#include "serve/answer/web_loop.h"
#include "serve/answer/web_overview.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "view/view_overview.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LOOK_MS = 1000,
	MOST_UNREAD = 200, /* loops that no index knows, at a time */
	MOST_WATCHED = 64,
	INPUT = 64 << 10, /* bytes of a line */
};

/* A row as it was written. */
struct shown {
	char *id, *text;
	bool found; /* it is still there */
};

/* A loop that somebody looks at. */
struct watched {
	char *id;
	char *text; /* as it was written, without its clock; NULL: not yet */
	bool lost;  /* that was written */
	bool read;  /* the loop is set: the overview has it no more */
	struct client_loop loop;
	uint64_t version; /* of the overview, when it was read */
};

struct watch {
	int output;
	struct view_overview overview;
	uint64_t version;   /* of the overview, when rows were written */
	struct shown *rows; /* by id */
	size_t count;
	bool complete;
	struct watched loops[MOST_WATCHED];
	size_t loop_count;
};

/* Returns 0, or -1 if nobody reads any more. */
static int put(const struct watch *watch, const char *word, const char *id, json_t *json)
{
	AUTO_FREE char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	AUTO_FREE char *line = mem_format("%s %s%s%s\n", word, id, text ? " " : "",
					  text ? text : "");

	return fd_write_all(watch->output, line, strlen(line));
}

/* ---- rows ---- */

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct shown *)a)->id, ((const struct shown *)b)->id);
}

static struct shown *find_row(const struct watch *watch, size_t count, const char *id)
{
	const struct shown key = { .id = (char *)id };

	return count ? bsearch(&key, watch->rows, count, sizeof *watch->rows, by_id) : NULL;
}

/* Writes a row if it is not as it was. known: the number of rows that are sorted. */
static int put_row(struct watch *watch, size_t known, const struct view_row *row)
{
	json_t *json = web_overview_row(row);
	char *text = json_dumps(json, JSON_COMPACT);
	struct shown *shown = find_row(watch, known, row->id);
	bool same = shown && shown->text && text && strcmp(shown->text, text) == 0;
	int result = 0;

	if (!shown) {
		watch->rows = mem_resize(watch->rows, watch->count + 1, sizeof *watch->rows);
		shown = &watch->rows[watch->count++];
		*shown = (struct shown){ .id = mem_dup(row->id) };
	}
	shown->found = true;
	if (same) {
		free(text);
	} else {
		free(shown->text);
		shown->text = text;
		web_overview_clock(json, row, clock_wall_ms());
		result = put(watch, "row", row->id, json);
	}
	json_decref(json);
	return result;
}

/* Removes rows that were not found. */
static int put_gone(struct watch *watch)
{
	size_t kept = 0;
	int result = 0;

	for (size_t i = 0; i < watch->count; i++) {
		struct shown *shown = &watch->rows[i];

		if (shown->found) {
			watch->rows[kept++] = *shown;
			continue;
		}
		result |= put(watch, "gone", shown->id, NULL);
		free(shown->id);
		free(shown->text);
	}
	watch->count = kept;
	return result;
}

static int put_rows(struct watch *watch)
{
	size_t known = watch->count;
	int result = 0;

	for (size_t i = 0; i < known; i++)
		watch->rows[i].found = false;
	for (size_t i = 0; i < watch->overview.count && result == 0; i++)
		result = put_row(watch, known, watch->overview.rows[i]);
	if (result == 0)
		result = put_gone(watch);
	if (watch->count)
		qsort(watch->rows, watch->count, sizeof *watch->rows, by_id);
	watch->version = watch->overview.version;
	return result;
}

static int look_at_rows(struct watch *watch)
{
	struct error ignored;

	/* A folder that cannot be read now may be readable a second later. */
	if (view_overview_refresh(&watch->overview, MOST_UNREAD, &ignored) < 0)
		return 0;
	if (watch->overview.version != watch->version && put_rows(watch) < 0)
		return -1;
	if (watch->complete || watch->overview.unread)
		return 0;
	watch->complete = true;
	return fd_write_all(watch->output, "complete\n", strlen("complete\n"));
}

/* ---- loops ---- */

static void forget(struct watched *watched)
{
	if (watched->read)
		client_loop_release(&watched->loop);
	watched->read = false;
	free(watched->text);
	watched->text = NULL;
}

static int put_loop(const struct watch *watch, struct watched *watched,
		    const struct client_loop *loop)
{
	json_t *json = web_loop_present(loop);
	char *text = json_dumps(json, JSON_COMPACT);
	int result = 0;

	if (watched->text && text && strcmp(watched->text, text) == 0) {
		free(text);
	} else {
		free(watched->text);
		watched->text = text;
		web_loop_clock(json, loop, clock_wall_ms());
		result = put(watch, "loop", watched->id, json);
	}
	watched->lost = false;
	json_decref(json);
	return result;
}

/* The overview keeps no loop that has ended: it is read here, when something may have changed. */
static int look_at_ended(struct watch *watch, struct watched *watched)
{
	struct error ignored;
	int found;

	if (watched->version == watch->overview.version && (watched->read || watched->lost))
		return 0;
	if (watched->read)
		client_loop_release(&watched->loop);
	found = client_find(watch->overview.state, watched->id, NULL, &watched->loop, &ignored);
	watched->read = found == 0;
	watched->version = watch->overview.version;
	if (watched->read)
		return put_loop(watch, watched, &watched->loop);
	forget(watched);
	if (watched->lost)
		return 0;
	watched->lost = true;
	return put(watch, "lost", watched->id, NULL);
}

static int look_at_loops(struct watch *watch)
{
	int result = 0;

	for (size_t i = 0; i < watch->loop_count && result == 0; i++) {
		struct watched *watched = &watch->loops[i];
		const struct view_row *row = view_overview_find(&watch->overview, watched->id);

		if (row && row->loop)
			result = put_loop(watch, watched, row->loop);
		else
			result = look_at_ended(watch, watched);
	}
	return result;
}

/* ---- requests ---- */

static void release_loops(struct watched *loops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		forget(&loops[i]);
		free(loops[i].id);
	}
}

/* Keeps what is known of a loop that was watched before. */
static void add_loop(struct watch *watch, const char *id, struct watched *old, size_t old_count)
{
	struct watched *new = &watch->loops[watch->loop_count++];

	for (size_t i = 0; i < old_count; i++) {
		if (strcmp(old[i].id, id) != 0)
			continue;
		*new = old[i];
		old[i] = (struct watched){ .id = mem_dup("") };
		return;
	}
	*new = (struct watched){ .id = mem_dup(id) };
}

static void set_loops(struct watch *watch, char *ids)
{
	struct watched old[MOST_WATCHED];
	size_t count = watch->loop_count;
	char *at = NULL;

	memcpy(old, watch->loops, count * sizeof *old);
	watch->loop_count = 0;
	for (char *id = strtok_r(ids, " ", &at); id && watch->loop_count < MOST_WATCHED;
	     id = strtok_r(NULL, " ", &at))
		add_loop(watch, id, old, count);
	release_loops(old, count);
}

static void obey(struct watch *watch, struct buffer *input)
{
	char *end;

	while (input->used && (end = memchr(input->data, '\n', input->used))) {
		size_t size = (size_t)(end + 1 - input->data);
		char *ids;

		*end = '\0';
		ids = (char *)text_after_prefix(input->data, "watch");
		if (ids)
			set_loops(watch, ids);
		memmove(input->data, input->data + size, input->used - size);
		input->used -= size;
	}
}

/* Waits for requests until it is time to look again. Returns false if there are no more. */
static bool wait_for_requests(struct watch *watch, int input, struct buffer *line)
{
	struct pollfd wait = { .fd = input, .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	if (poll(&wait, 1, LOOK_MS) <= 0)
		return true;
	n = read(input, bytes, sizeof bytes);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	buffer_add(line, bytes, (size_t)n);
	obey(watch, line);
	return !buffer_overflowed(line);
}

int web_watch_run(const char *state, int input, int output, struct error *err)
{
	struct watch *watch = mem_zero(sizeof *watch);
	AUTO_BUFFER struct buffer line = BUFFER_INIT(INPUT);
	int result = 0;

	watch->output = output;
	view_overview_open(&watch->overview, state);
	do
		result = look_at_rows(watch) < 0 || look_at_loops(watch) < 0 ? -1 : 0;
	while (result == 0 && wait_for_requests(watch, input, &line));
	if (result < 0)
		error_sys(err, "tell the web page's server what has changed");
	view_overview_close(&watch->overview);
	release_loops(watch->loops, watch->loop_count);
	for (size_t i = 0; i < watch->count; i++) {
		free(watch->rows[i].id);
		free(watch->rows[i].text);
	}
	free(watch->rows);
	free(watch);
	return result;
}
