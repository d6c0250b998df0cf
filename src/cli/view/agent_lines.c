/* Plain output of an agent: see agent_lines.h. */
#include "cli/view/agent_lines.h"

#include "util/file/fd.h"
#include "util/mem.h"
#include "view/activity.h"
#include "view/view_tail.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a longer line, the beginning is printed; of more lines at once, the first ones. */
enum { LINE_BYTES = 4096, POLL_LINES = 100, CHUNK = 65536, INDENT = 6 };

static void print(struct agent_lines *lines, const char *text)
{
	AUTO_FREE char *line = mem_format("  | %s", text);

	lines->print(lines->context, COLOR_DIM, line, INDENT);
}

/* Prints a complete line. Of one that was overwritten, such as a progress bar, the last state. */
static void print_line(struct agent_lines *lines, struct agent_lines_log *log)
{
	size_t size = log->line.used;
	size_t from;

	while (size && log->line.data[size - 1] == '\r')
		size--;
	for (from = size; from && log->line.data[from - 1] != '\r';)
		from--;
	AUTO_FREE char *text = mem_format("%.*s", (int)(size - from),
					  log->line.used ? log->line.data + from : "");

	log->line.used = 0;
	if (!lines->budget) {
		lines->dropped++;
		return;
	}
	lines->budget--;
	view_tail_plain(text);
	print(lines, text);
}

static void feed(struct agent_lines *lines, struct agent_lines_log *log, const char *bytes,
		 size_t size)
{
	while (size) {
		const char *end = memchr(bytes, '\n', size);
		size_t part = end ? (size_t)(end - bytes) : size;
		size_t room = LINE_BYTES - log->line.used;

		buffer_add(&log->line, bytes, part < room ? part : room);
		if (end)
			print_line(lines, log);
		part += end != NULL;
		bytes += part;
		size -= part;
	}
}

static void poll_log(struct agent_lines *lines, struct agent_lines_log *log)
{
	AUTO_FD fd = open(log->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	ssize_t n;

	while (fd >= 0 && (n = pread(fd, chunk, CHUNK, log->at)) > 0) {
		feed(lines, log, chunk, (size_t)n);
		log->at += n;
	}
}

void agent_lines_begin(struct agent_lines *lines, const struct client_loop *loop,
		       unsigned int iteration, unsigned int attempt)
{
	AUTO_FREE char *path = activity_log(loop, iteration, attempt);
	int folder = (int)(strrchr(path, '/') - path);
	char *const paths[] = { mem_dup(path), mem_format("%.*s/stderr.log", folder, path) };

	agent_lines_end(lines);
	for (int i = 0; i < 2; i++)
		lines->logs[i] = (struct agent_lines_log){ .path = paths[i],
							   .line = BUFFER_INIT(LINE_BYTES + 1) };
	lines->open = true;
}

void agent_lines_skip(struct agent_lines *lines)
{
	struct stat status;

	for (int i = 0; i < 2; i++)
		if (stat(lines->logs[i].path, &status) == 0)
			lines->logs[i].at = status.st_size;
}

void agent_lines_poll(struct agent_lines *lines)
{
	lines->budget = POLL_LINES;
	lines->dropped = 0;
	for (int i = 0; i < 2 && lines->open; i++)
		poll_log(lines, &lines->logs[i]);
	if (lines->dropped) {
		AUTO_FREE char *text = mem_format("... %" PRIu64 " more lines (ringfence logs)",
						  lines->dropped);

		print(lines, text);
	}
}

void agent_lines_end(struct agent_lines *lines)
{
	if (!lines->open)
		return;
	agent_lines_poll(lines);
	for (int i = 0; i < 2; i++) {
		struct agent_lines_log *log = &lines->logs[i];

		if (log->line.used)
			print_line(lines, log);
		buffer_release(&log->line);
		free(log->path);
	}
	lines->open = false;
}
