/* ringfence logs: what an agent printed. */
#include "cli/loops.h"

#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* As JSON, a longer line comes in pieces. */
enum { LOOK_MS = 1000, CHUNK = 65536, LINE_BYTES = 65536 };

static const struct option options[] = {
	OPTION_FLAG("follow", "go on with what comes, until the loop ends (-f)",
		    struct loops_options, follow),
	OPTION_TEXT("iteration", "N", "of this iteration (default: the last one)",
		    struct loops_options, iteration),
	OPTION_FLAG("json", "each line as {\"iteration\", \"stream\", \"text\"}",
		    struct loops_options, json),
	LOOPS_PROJECT,
	{ 0 },
};

static const struct alias aliases[] = { { "-f", "--follow" }, { 0 } };

static const struct section sections[] = { { 0 } };

/* The logs of an iteration, as far as they were shown. */
struct shown {
	bool json;
	unsigned int iteration, attempt;
	off_t at[2];
	struct buffer line[2]; /* as JSON: one that has no end yet */
};

static const char *const streams[] = { "stdout", "stderr" };

static void init_shown(struct shown *shown, bool json, unsigned int iteration, unsigned int attempt)
{
	*shown = (struct shown){ .json = json, .iteration = iteration, .attempt = attempt };
	for (int i = 0; i < 2; i++)
		shown->line[i] = BUFFER_INIT(LINE_BYTES + 4);
}

/* How many of these bytes end with a whole character; the rest of one may come later. */
static size_t whole(const char *bytes, size_t size)
{
	size_t back = 1;

	while (back < 4 && back < size && ((unsigned char)bytes[size - back] & 0xc0) == 0x80)
		back++;

	unsigned char first = (unsigned char)bytes[size - back];
	size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

	return wanted > back && size > back ? size - back : size;
}

static void print_line(struct shown *shown, int stream)
{
	struct buffer *line = &shown->line[stream];
	AUTO_BUFFER struct buffer out = BUFFER_INIT(8 * LINE_BYTES);

	buffer_printf(&out, "{\"iteration\":%u,\"stream\":\"%s\",\"text\":", shown->iteration,
		      streams[stream]);
	text_json_bytes(&out, line->used ? line->data : "", line->used);
	buffer_add_text(&out, "}");
	puts(buffer_text(&out));
	line->used = 0;
}

static void take_lines(struct shown *shown, int stream, const char *bytes, size_t size)
{
	struct buffer *line = &shown->line[stream];

	while (size) {
		const char *end = memchr(bytes, '\n', size);
		size_t part = end ? (size_t)(end - bytes) : size;
		size_t room = LINE_BYTES - line->used;
		bool full = part > room;

		if (full && room < 4) { /* no character is divided */
			print_line(shown, stream);
			continue;
		}
		if (full)
			part = whole(bytes, room);
		buffer_add(line, bytes, part);
		bytes += part;
		size -= part;
		if (!full && !end)
			return;
		print_line(shown, stream);
		if (!full) {
			bytes++;
			size--;
		}
	}
}

/* Lines that the agent did not end. */
static void end_lines(struct shown *shown)
{
	for (int i = 0; i < 2; i++) {
		if (shown->line[i].used)
			print_line(shown, i);
		buffer_release(&shown->line[i]);
	}
	fflush(stdout);
}

/* On a terminal, control characters of an agent do nothing. */
static void print_bytes(const char *bytes, size_t size)
{
	if (!isatty(1)) {
		fwrite(bytes, 1, size, stdout);
		return;
	}
	while (size) {
		const char *end = memchr(bytes, '\n', size);
		size_t part = end ? (size_t)(end - bytes) : size;
		AUTO_BUFFER struct buffer clean = BUFFER_INIT(8 * CHUNK);

		text_escape_bytes(&clean, bytes, part);
		fputs(buffer_text(&clean), stdout);
		if (end)
			putchar('\n');
		part += end != NULL;
		bytes += part;
		size -= part;
	}
}

static void print_new(struct shown *shown, const char *folder, int stream)
{
	AUTO_FREE char *path = mem_format("%s/%s.log", folder, streams[stream]);
	off_t *at = &shown->at[stream];
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	static char chunk[CHUNK];
	ssize_t n;

	while (fd >= 0 && (n = pread(fd, chunk, sizeof chunk, *at)) > 0) {
		n = (ssize_t)whole(chunk, (size_t)n);
		if (shown->json)
			take_lines(shown, stream, chunk, (size_t)n);
		else
			print_bytes(chunk, (size_t)n);
		*at += n;
	}
	fflush(stdout);
}

static char *folder_of(const struct client_loop *loop, const struct shown *shown)
{
	return shown->attempt > 1 ? mem_format("%s/iterations/%u.%u", loop->folder,
					       shown->iteration, shown->attempt)
				  : mem_format("%s/iterations/%u", loop->folder, shown->iteration);
}

static void print_both(const struct client_loop *loop, struct shown *shown)
{
	AUTO_FREE char *folder = folder_of(loop, shown);

	for (int i = 0; i < 2; i++)
		print_new(shown, folder, i);
}

/* The last try of an iteration. */
static unsigned int last_attempt(const struct client_loop *loop, unsigned int iteration)
{
	struct shown shown = { .iteration = iteration, .attempt = 1 };

	for (;; shown.attempt++) {
		struct shown next = { .iteration = iteration, .attempt = shown.attempt + 1 };
		AUTO_FREE char *folder = folder_of(loop, &next);

		if (access(folder, F_OK) != 0)
			return shown.attempt;
	}
}

static void follow(struct loops_options *asked, struct shown *shown)
{
	struct client_loop *loop = &asked->loop;
	AUTO_FD news = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char events[4096];
	bool over = false;

	while (!over) {
		AUTO_FREE char *folder = folder_of(loop, shown);

		inotify_add_watch(news, loop->folder, IN_MOVED_TO | IN_DELETE);
		inotify_add_watch(news, folder, IN_MODIFY | IN_CREATE);
		client_look(loop);
		over = loop->damaged || !loop->alive;
		print_both(loop, shown);
		if (loop->state.iteration != shown->iteration ||
		    loop->state.attempt != shown->attempt) {
			end_lines(shown);
			init_shown(shown, asked->json, loop->state.iteration, loop->state.attempt);
			over = false;
		} else if (!over &&
			   poll(&(struct pollfd){ .fd = news, .events = POLLIN }, 1, LOOK_MS) > 0) {
			while (read(news, events, sizeof events) > 0)
				;
		}
	}
}

static int show(struct loops_options *asked, struct error *err)
{
	struct shown shown;
	uint64_t wanted = 0;

	if (asked->iteration && text_count(asked->iteration, &wanted) < 0) {
		error_set(err, "--iteration is a number such as 3, not '%.100s'", asked->iteration);
		return cli_fail(err);
	}
	if (loops_find(asked, err) < 0)
		return cli_fail(err);
	if (asked->loop.damaged) {
		error_set(err, "%s", asked->loop.trouble);
		return cli_fail(err);
	}
	if (wanted > asked->loop.state.iteration) {
		error_set(err, "the loop %s has no iteration %u yet; the last one is %u",
			  asked->loop.id, (unsigned int)wanted, asked->loop.state.iteration);
		return cli_fail(err);
	}
	if (wanted)
		init_shown(&shown, asked->json, (unsigned int)wanted,
			   last_attempt(&asked->loop, (unsigned int)wanted));
	else
		init_shown(&shown, asked->json, asked->loop.state.iteration,
			   asked->loop.state.attempt);
	if (asked->follow && !wanted)
		follow(asked, &shown);
	else
		print_both(&asked->loop, &shown);
	end_lines(&shown);
	return cli_printed();
}

static int run_logs(const struct command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct command cmd_logs = {
	.name = "logs",
	.args = "[-f] [--iteration N] [--json] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "what the agent printed",
	.about =
		"Prints the output of the last iteration, or of the one that is named. The files are in the loop's folder, in which "
		"the agent cannot write.",
	.options = options,
	.aliases = aliases,
	.sections = sections,
	.run = run_logs,
};
