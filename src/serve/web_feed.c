/* The newest states: see web_feed.h. */
#include "serve/web_feed.h"

#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

void web_feed_init(struct web_feed *feed, const struct web_job_list *jobs)
{
	*feed = (struct web_feed){
		.jobs = jobs, .input = -1, .output = -1, .line = BUFFER_INIT(WEB_FEED_LINE)
	};
}

/* ---- the states ---- */

static void forget_rows(struct web_feed *feed)
{
	for (size_t i = 0; i < feed->count; i++) {
		free(feed->rows[i].id);
		free(feed->rows[i].json);
	}
	free(feed->rows);
	feed->rows = NULL;
	feed->count = feed->gone = 0;
	feed->complete = false;
}

/* A number that an earlier server is unlikely to have had. */
static void begin_epoch(struct web_feed *feed)
{
	forget_rows(feed);
	if (getrandom(&feed->epoch, sizeof feed->epoch, 0) != sizeof feed->epoch || !feed->epoch)
		feed->epoch = (uint64_t)clock_wall_ms();
	feed->version = feed->forgotten = 0;
	for (size_t i = 0; i < WEB_FEED_WATCHED; i++) {
		free(feed->loops[i].json);
		feed->loops[i].json = NULL;
		feed->loops[i].version = 0;
	}
}

static void remove_row(struct web_feed *feed, size_t i)
{
	struct web_feed_row *row = &feed->rows[i];

	feed->gone -= !row->json;
	free(row->id);
	free(row->json);
	memmove(row, row + 1, (--feed->count - i) * sizeof *row);
}

/* Removes a row from its place. Returns whether there was one. */
static bool take_row(struct web_feed *feed, const char *id)
{
	for (size_t i = feed->count; i-- > 0;) {
		if (strcmp(feed->rows[i].id, id) != 0)
			continue;
		remove_row(feed, i);
		return true;
	}
	return false;
}

/* Forgets the row that was removed first. */
static void forget_gone(struct web_feed *feed)
{
	size_t i = 0;

	while (feed->rows[i].json)
		i++;
	feed->forgotten = feed->rows[i].version;
	remove_row(feed, i);
}

/* json: NULL if the row is gone. */
static void set_row(struct web_feed *feed, const char *id, const char *json)
{
	if (!take_row(feed, id) && !json)
		return;
	/* Rows are removed as well, so the array does not only grow. */
	feed->rows = mem_resize(feed->rows, feed->count + 1, sizeof *feed->rows);
	feed->rows[feed->count++] = (struct web_feed_row){ .id = mem_dup(id),
							   .json = json ? mem_dup(json) : NULL,
							   .version = ++feed->version };
	feed->gone += !json;
	if (feed->gone > WEB_FEED_GONE)
		forget_gone(feed);
}

static void set_loop(struct web_feed *feed, const char *id, const char *json)
{
	for (size_t i = 0; i < WEB_FEED_WATCHED; i++) {
		struct web_feed_loop *loop = &feed->loops[i];

		if (!loop->watchers || strcmp(loop->id, id) != 0)
			continue;
		free(loop->json);
		loop->json = json ? mem_dup(json) : NULL;
		loop->version = ++feed->version;
	}
}

size_t web_feed_newer(const struct web_feed *feed, uint64_t version)
{
	size_t first = 0, end = feed->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (feed->rows[middle].version > version)
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

/* ---- what the process prints ---- */

/* Splits "ID JSON". Returns the JSON, or NULL. */
static char *split(char *text)
{
	char *space = strchr(text, ' ');

	if (space)
		*space++ = '\0';
	return space;
}

static void obey(struct web_feed *feed, char *line)
{
	static const struct {
		const char *word;
		void (*set)(struct web_feed *feed, const char *id, const char *json);
		bool has_json;
	} words[] = {
		{ "row ", set_row, true },
		{ "gone ", set_row, false },
		{ "loop ", set_loop, true },
		{ "lost ", set_loop, false },
	};

	if (strcmp(line, "complete") == 0)
		feed->complete = true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char *id = (char *)text_after_prefix(line, words[i].word);
		char *json = id ? split(id) : NULL;

		if (id && (json != NULL) == words[i].has_json)
			words[i].set(feed, id, json);
	}
}

/* Obeys the complete lines. */
static void take_lines(struct web_feed *feed)
{
	struct buffer *line = &feed->line;
	char *at = line->data, *end;
	size_t left = line->used;

	while (left && (end = memchr(at, '\n', left))) {
		*end = '\0';
		obey(feed, at);
		left -= (size_t)(end + 1 - at);
		at = end + 1;
	}
	if (left)
		memmove(line->data, at, left);
	line->used = left;
}

static void stop(struct web_feed *feed)
{
	if (feed->pid) {
		kill(-feed->pid, SIGKILL);
		waitpid(feed->pid, NULL, 0);
	}
	feed->pid = 0;
	feed->epoch = 0;
	fd_close(&feed->input);
	fd_close(&feed->output);
	feed->line.used = 0;
	feed->line.overflow = false;
}

void web_feed_close(struct web_feed *feed)
{
	stop(feed);
	forget_rows(feed);
	for (size_t i = 0; i < WEB_FEED_WATCHED; i++) {
		free(feed->loops[i].id);
		free(feed->loops[i].json);
	}
	buffer_release(&feed->line);
}

/* Returns whether there was anything. */
static bool read_output(struct web_feed *feed)
{
	char bytes[65536];
	bool any = false;
	ssize_t n;

	while ((n = read(feed->output, bytes, sizeof bytes)) > 0) {
		buffer_add(&feed->line, bytes, (size_t)n);
		take_lines(feed);
		any = true;
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
	    buffer_overflowed(&feed->line))
		stop(feed);
	return any;
}

/* ---- the process ---- */

/* Tells the process which loops to watch. A process that does not read is stopped. */
static void tell_loops(struct web_feed *feed)
{
	AUTO_BUFFER struct buffer line = BUFFER_INIT(WEB_FEED_WATCHED * 128);

	if (!feed->pid)
		return;
	buffer_add_text(&line, "watch");
	for (size_t i = 0; i < WEB_FEED_WATCHED; i++)
		if (feed->loops[i].watchers)
			buffer_printf(&line, " %s", feed->loops[i].id);
	buffer_add_text(&line, "\n");
	if (write(feed->input, line.data, line.used) != (ssize_t)line.used)
		stop(feed);
}

static void start(struct web_feed *feed)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };

	feed->started_ms = clock_steady_ms();
	if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0)
		feed->pid = web_job_start(feed->jobs, "watch", in[0], out[1], true);
	fd_close(&in[0]);
	fd_close(&out[1]);
	if (feed->pid <= 0) {
		feed->pid = 0;
		fd_close(&in[1]);
		fd_close(&out[0]);
		return;
	}
	feed->input = in[1];
	feed->output = out[0];
	fcntl(feed->input, F_SETFL, O_NONBLOCK);
	fcntl(feed->output, F_SETFL, O_NONBLOCK);
	begin_epoch(feed);
	tell_loops(feed);
}

void web_feed_join(struct web_feed *feed)
{
	feed->watchers++;
}

void web_feed_leave(struct web_feed *feed)
{
	feed->watchers--;
	feed->looked_ms = clock_steady_ms();
}

int web_feed_watch(struct web_feed *feed, const char *id)
{
	int free_place = -1;

	for (int i = 0; i < WEB_FEED_WATCHED; i++) {
		struct web_feed_loop *loop = &feed->loops[i];

		if (!loop->watchers) {
			free_place = i;
		} else if (strcmp(loop->id, id) == 0) {
			loop->watchers++;
			return i;
		}
	}
	if (free_place < 0)
		return -1;
	feed->loops[free_place] = (struct web_feed_loop){ .id = mem_dup(id), .watchers = 1 };
	tell_loops(feed);
	return free_place;
}

void web_feed_unwatch(struct web_feed *feed, int place)
{
	struct web_feed_loop *loop = &feed->loops[place];

	if (--loop->watchers)
		return;
	free(loop->id);
	free(loop->json);
	*loop = (struct web_feed_loop){ 0 };
	tell_loops(feed);
}

static void lower(int *timeout_ms, uint64_t at_ms, uint64_t now_ms)
{
	int left = at_ms > now_ms ? (int)(at_ms - now_ms) : 0;

	if (*timeout_ms < 0 || left < *timeout_ms)
		*timeout_ms = left;
}

size_t web_feed_poll(const struct web_feed *feed, struct pollfd *fd, int *timeout_ms)
{
	uint64_t now = clock_steady_ms();

	*fd = (struct pollfd){ .fd = feed->output, .events = POLLIN };
	if (!feed->pid && feed->watchers)
		lower(timeout_ms, feed->started_ms + WEB_FEED_RESTART_MS, now);
	if (feed->pid && !feed->watchers)
		lower(timeout_ms, feed->looked_ms + WEB_FEED_LINGER_MS, now);
	return feed->pid ? 1 : 0;
}

bool web_feed_work(struct web_feed *feed)
{
	uint64_t now = clock_steady_ms();
	bool changed = feed->pid && read_output(feed);

	if (feed->pid && !feed->watchers && now >= feed->looked_ms + WEB_FEED_LINGER_MS)
		stop(feed);
	if (feed->pid || !feed->watchers ||
	    (feed->started_ms && now < feed->started_ms + WEB_FEED_RESTART_MS))
		return changed;
	start(feed);
	return true;
}
