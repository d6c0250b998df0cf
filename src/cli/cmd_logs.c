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

enum { LOOK_MS = 1000, CHUNK = 65536 };

static const struct option options[] = {
	OPTION_FLAG("follow", "go on with what comes, until the loop ends (-f)",
		    struct loops_options, follow),
	OPTION_TEXT("iteration", "N", "of this iteration (default: the last one)",
		    struct loops_options, iteration),
	LOOPS_PROJECT,
	{ 0 },
};

static const struct alias aliases[] = { { "-f", "--follow" }, { 0 } };

static const struct section sections[] = { { 0 } };

/* The log of one stream, as far as it was shown. */
struct shown {
	unsigned int iteration, attempt;
	off_t at[2];
};

static const char *const streams[] = { "stdout.log", "stderr.log" };

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
		AUTO_FREE char *line = strndup(bytes, part);
		AUTO_FREE char *clean = text_escaped(line);

		fputs(clean, stdout);
		if (end)
			putchar('\n');
		part += end != NULL;
		bytes += part;
		size -= part;
	}
}

static void print_new(const char *folder, int stream, off_t *at)
{
	AUTO_FREE char *path = path_join(folder, streams[stream]);
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	static char chunk[CHUNK];
	ssize_t n;

	while (fd >= 0 && (n = pread(fd, chunk, sizeof chunk, *at)) > 0) {
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
		print_new(folder, i, &shown->at[i]);
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
			*shown = (struct shown){ .iteration = loop->state.iteration,
						 .attempt = loop->state.attempt };
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
	struct shown shown = { 0 };
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
	shown.iteration = wanted ? (unsigned int)wanted : asked->loop.state.iteration;
	shown.attempt = wanted ? last_attempt(&asked->loop, shown.iteration)
			       : asked->loop.state.attempt;
	if (wanted > asked->loop.state.iteration) {
		error_set(err, "the loop %s has no iteration %u yet; the last one is %u",
			  asked->loop.id, shown.iteration, asked->loop.state.iteration);
		return cli_fail(err);
	}
	if (asked->follow && !wanted)
		follow(asked, &shown);
	else
		print_both(&asked->loop, &shown);
	return cli_printed();
}

static int run_logs(const struct command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct command cmd_logs = {
	.name = "logs",
	.args = "[-f] [--iteration N] [LOOP]",
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
