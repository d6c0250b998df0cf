/* ringfence logs: show what the agent or the checks printed. */
#include "cli/loops.h"
#include "cli/view/agent_text.h"
#include "cli/view/page.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"
#include "view/view_denials.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* In JSON, a line longer than LINE_BYTES is printed in pieces. */
enum { LOOK_MS = 1000, CHUNK = 65536, LINE_BYTES = 65536 };

static const struct cli_option options[] = {
	OPTION_FLAG("follow", "keep printing until the loop ends (-f)", struct loops_options,
		    follow),
	OPTION_TEXT("iteration", "N", "show this iteration (default: the last one)",
		    struct loops_options, iteration),
	OPTION_FLAG("checks", "show what the checks printed; iteration 0: before the first agent",
		    struct loops_options, checks),
	OPTION_FLAG("review", "show what the reviewer did", struct loops_options, review),
	OPTION_FLAG("denials", "show everything that the fence denied the agent and the checks",
		    struct loops_options, denials),
	OPTION_FLAG("raw", "print the bytes unchanged, even if the agent prints events",
		    struct loops_options, raw),
	OPTION_FLAG("json", "print each line as {\"iteration\", \"stream\", \"text\"}",
		    struct loops_options, json),
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_alias aliases[] = { { "-f", "--follow" }, { 0 } };

static const struct cli_section sections[] = { { 0 } };

/* How a stream is shown: as bytes, as lines of JSON, or as the text of its events. */
enum form { FORM_BYTES, FORM_JSON, FORM_EVENTS };

/* The logs of an iteration, and how far they were printed. */
struct shown {
	enum form form[2];
	struct agent_text live; /* for FORM_EVENTS */
	unsigned int iteration, attempt;
	const char *streams[2]; /* their names: NAME.log */
	off_t at[2];
	struct buffer line[2]; /* for FORM_JSON: an incomplete line */
};

/* Prints bytes of an agent. On a terminal, control characters are escaped. */
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

static void print_event_line(void *context, enum color colour, const char *line, int indent)
{
	(void)context;
	page_print_line(colour, line, indent);
}

static void print_passed(void *context, const char *bytes, size_t size)
{
	(void)context;
	print_bytes(bytes, size);
}

/* The agent of one attempt at an iteration. */
struct worker {
	unsigned int iteration, attempt;
	size_t part;
};

static int find_worker(void *context, const struct journal_event *event, struct error *err)
{
	struct worker *worker = context;
	json_t *data = json_loads(event->data, 0, NULL);

	(void)err;
	if (loop_event_find(event->kind) == LOOP_EVENT_begun &&
	    jsonget_number(data, "iteration") == worker->iteration &&
	    jsonget_number(data, "attempt") == worker->attempt)
		worker->part = (size_t)jsonget_number(data, "part");
	json_decref(data);
	return 0;
}

/* Returns how to read the output of that attempt. */
static const struct agent_format *format_of(const struct loops_options *opts,
					    unsigned int iteration, unsigned int attempt)
{
	const struct loop_options *loop = &opts->loop.state.options;
	struct worker worker = { .iteration = iteration, .attempt = attempt };
	struct error ignored;

	if (opts->review)
		return loop->reviewer.format;
	if (loop->part_count > 1)
		client_events(&opts->loop, 0, find_worker, &worker, &ignored);
	return loop->agents[worker.part < DECISION_AGENTS_MAX ? worker.part : 0].format;
}

static void init_shown(struct shown *shown, const struct loops_options *opts,
		       unsigned int iteration, unsigned int attempt)
{
	const struct agent_format *format = format_of(opts, iteration, attempt);
	enum form form = opts->json ? FORM_JSON : FORM_BYTES;
	bool events = form == FORM_BYTES && !opts->raw && !opts->checks && format &&
		      agent_text_supports(format);

	*shown = (struct shown){
		.form = { events ? FORM_EVENTS : form, form },
		.live = { .print = print_event_line, .pass = print_passed, .whole = true },
		.iteration = iteration,
		.attempt = attempt,
		.streams = { "stdout", "stderr" }
	};
	for (int i = 0; i < 2; i++)
		shown->line[i] = BUFFER_INIT(LINE_BYTES + 4);
	if (events)
		agent_text_open(&shown->live, format);
}

/* Returns how many of these bytes are complete UTF-8 characters. */
static size_t complete_chars(const char *bytes, size_t size)
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
		      shown->streams[stream]);
	text_json_bytes(&out, line->used ? line->data : "", line->used);
	buffer_add_text(&out, "}");
	puts(buffer_text(&out));
	line->used = 0;
}

static void print_lines(struct shown *shown, int stream, const char *bytes, size_t size)
{
	struct buffer *line = &shown->line[stream];

	while (size) {
		const char *end = memchr(bytes, '\n', size);
		size_t part = end ? (size_t)(end - bytes) : size;
		size_t room = LINE_BYTES - line->used;
		bool full = part > room;

		if (full && room < 4) { /* do not split a character */
			print_line(shown, stream);
			continue;
		}
		if (full)
			part = complete_chars(bytes, room);
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

/* Prints unterminated last lines, and frees the buffers. */
static void end_lines(struct shown *shown)
{
	agent_text_close(&shown->live);
	for (int i = 0; i < 2; i++) {
		if (shown->line[i].used)
			print_line(shown, i);
		buffer_release(&shown->line[i]);
	}
	fflush(stdout);
}

static void print_new(struct shown *shown, const char *folder, int stream)
{
	AUTO_FREE char *path = mem_format("%s/%s.log", folder, shown->streams[stream]);
	off_t *at = &shown->at[stream];
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	ssize_t n;

	while (fd >= 0 && (n = pread(fd, chunk, CHUNK, *at)) > 0) {
		n = (ssize_t)complete_chars(chunk, (size_t)n);
		if (shown->form[stream] == FORM_JSON)
			print_lines(shown, stream, chunk, (size_t)n);
		else if (shown->form[stream] == FORM_EVENTS)
			agent_text_feed(&shown->live, chunk, (size_t)n);
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

/* Prints all of an iteration, without following it. */
static void print_whole(const struct client_loop *loop, struct shown *shown)
{
	AUTO_FREE char *folder = folder_of(loop, shown);

	print_new(shown, folder, 0);
	agent_text_close(&shown->live);
	print_new(shown, folder, 1);
	end_lines(shown);
}

/* Returns the number of the last attempt of an iteration. */
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

/* Prints a line of Ringfence's own between those of the agent, on a terminal only. */
static void mark(const struct loops_options *opts, const char *text)
{
	AUTO_FREE char *line = text_escaped(text);

	if (opts->json || !isatty(1))
		return;
	printf("-- %s\n", line);
	fflush(stdout);
}

static void mark_iteration(const struct loops_options *opts, const struct shown *shown)
{
	AUTO_FREE char *text = shown->attempt > 1 ? mem_format("iteration %u, attempt %u",
							       shown->iteration, shown->attempt)
						  : mem_format("iteration %u", shown->iteration);

	if (shown->iteration)
		mark(opts, text);
}

static void mark_end(const struct loops_options *opts)
{
	AUTO_FREE char *reason = client_reason(&opts->loop);
	AUTO_FREE char *text = mem_format("%s%s%s", client_status(&opts->loop), reason ? ": " : "",
					  reason ? reason : "");

	mark(opts, text);
}

static void follow(struct loops_options *opts, struct shown *shown)
{
	struct client_loop *loop = &opts->loop;
	AUTO_FD news = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char events[4096];
	bool over = false;

	mark_iteration(opts, shown);
	while (!over) {
		AUTO_FREE char *folder = folder_of(loop, shown);

		inotify_add_watch(news, loop->folder, IN_MOVED_TO | IN_DELETE);
		inotify_add_watch(news, folder, IN_MODIFY | IN_CREATE);
		client_refresh(loop);
		over = loop->damaged || !loop->alive;
		print_both(loop, shown);
		if (loop->state.iteration != shown->iteration ||
		    loop->state.attempt != shown->attempt) {
			end_lines(shown);
			init_shown(shown, opts, loop->state.iteration, loop->state.attempt);
			mark_iteration(opts, shown);
			over = false;
		} else if (!over &&
			   poll(&(struct pollfd){ .fd = news, .events = POLLIN }, 1, LOOK_MS) > 0) {
			while (read(news, events, sizeof events) > 0)
				;
		}
	}
	end_lines(shown);
	mark_end(opts);
}

/* Prints one check's output below its command line. Returns false if the check has not run. */
static bool print_check(const struct loops_options *opts, const struct shown *of, const char *name,
			const char *line)
{
	const struct client_loop *loop = &opts->loop;
	AUTO_FREE char *folder = folder_of(loop, of);
	AUTO_FREE char *out = mem_format("%s.stdout", name);
	AUTO_FREE char *complaints = mem_format("%s.stderr", name);
	AUTO_FREE char *path = mem_format("%s/%s.log", folder, out);
	AUTO_FREE char *command = text_escaped(line);
	struct shown shown;

	if (access(path, F_OK) < 0)
		return false;
	init_shown(&shown, opts, of->iteration, of->attempt);
	shown.streams[0] = out;
	shown.streams[1] = complaints;
	if (!opts->json && of->iteration)
		printf("-- iteration %u: %s\n", of->iteration, command);
	else if (!opts->json)
		printf("-- before the first iteration: %s\n", command);
	print_whole(loop, &shown);
	return true;
}

/* Prints a check, also as it ran with the agent's version of pinned files. */
static bool print_versions(const struct loops_options *opts, const struct shown *of, size_t index)
{
	const char *line = opts->loop.state.options.checks.items[index];
	AUTO_FREE char *name = mem_format("check-%zu", index + 1);
	AUTO_FREE char *own = mem_format("check-%zu.own", index + 1);
	AUTO_FREE char *own_line = mem_format("%s (with the agent's version of pinned files)",
					      line);
	bool any = print_check(opts, of, name, line);

	return print_check(opts, of, own, own_line) || any;
}

static void print_finals(const struct loops_options *opts, const struct shown *of)
{
	size_t index;
	const json_t *line;

	json_array_foreach(opts->loop.state.options.final_checks, index, line)
	{
		AUTO_FREE char *name = mem_format("final-%zu", index + 1);

		print_check(opts, of, name, json_string_value(line));
	}
}

/* Prints the commands that end a phase, which may be over by now. */
static void print_probes(const struct loops_options *opts, const struct shown *of)
{
	for (size_t i = 0; i < LOOP_PHASE_CONDITIONS_MAX; i++) {
		AUTO_FREE char *name = mem_format("phase-%zu", i + 1);
		AUTO_FREE char *what = mem_format("check %zu of the phase", i + 1);

		print_check(opts, of, name, what);
	}
}

/* Prints what the checks, and then the final ones, said about broken code. */
static void print_proofs(const struct loops_options *opts, const struct shown *of)
{
	const struct loop_options *loop = &opts->loop.state.options;
	size_t count = loop_options_check_count(loop);

	for (size_t i = 0; loop->prove_check && !of->iteration && i < count; i++) {
		AUTO_FREE char *name = mem_format("proof-%zu", i + 1);
		AUTO_FREE char *title = mem_format("%s (with broken code)",
						   loop_options_check(loop, i));

		print_check(opts, of, name, title);
	}
}

/* Prints the checks of the iteration, or, if none was named, of the last one in which checks ran.
 * */
static void print_checks(const struct loops_options *opts, struct shown *shown)
{
	size_t count = opts->loop.state.options.checks.count;
	bool any = false;

	for (;; shown->iteration--) {
		shown->attempt = shown->iteration ? last_attempt(&opts->loop, shown->iteration) : 1;
		for (size_t i = 0; i < count; i++)
			any |= print_versions(opts, shown, i);
		print_finals(opts, shown);
		print_probes(opts, shown);
		print_proofs(opts, shown);
		if (any || opts->iteration || !shown->iteration)
			return;
	}
}

/* Prints one run of the reviewer. Returns false if there is none. */
static bool print_review(const struct loops_options *opts, const struct shown *of, unsigned int run)
{
	AUTO_FREE char *folder = folder_of(&opts->loop, of);
	AUTO_FREE char *out = mem_format("review-%u.stdout", run);
	AUTO_FREE char *complaints = mem_format("review-%u.stderr", run);
	AUTO_FREE char *path = mem_format("%s/%s.log", folder, out);
	struct shown shown;

	if (access(path, F_OK) < 0)
		return false;
	init_shown(&shown, opts, of->iteration, of->attempt);
	shown.streams[0] = out;
	shown.streams[1] = complaints;
	if (!opts->json)
		printf("-- iteration %u, review %u\n", of->iteration, run);
	print_whole(&opts->loop, &shown);
	return true;
}

/* Prints the reviews of the iteration, or, if none was named, of the last one with a review. */
static void print_reviews(const struct loops_options *opts, struct shown *shown)
{
	unsigned int run = 1;

	for (; shown->iteration; shown->iteration--) {
		shown->attempt = last_attempt(&opts->loop, shown->iteration);
		while (print_review(opts, shown, run))
			run++;
		if (run > 1 || opts->iteration)
			return;
	}
}

/* Prints the denials of one run, and returns how many there are. */
static size_t print_run_denials(const struct loops_options *opts, const struct shown *shown,
				const char *name, const char *what)
{
	json_t *denials = view_denials_read(&opts->loop, shown->iteration, shown->attempt, name);
	size_t count = json_array_size(denials);
	size_t index;
	json_t *denial;

	if (count && !opts->json)
		printf("-- iteration %u, %s\n", shown->iteration, what);
	json_array_foreach(denials, index, denial)
	{
		AUTO_FREE char *line = view_denials_line(denial);

		if (opts->json) {
			json_object_set_new(denial, "iteration",
					    json_integer((json_int_t)shown->iteration));
			json_object_set_new(denial, "run", json_string(what));
			loops_print_line(json_incref(denial));
		} else {
			page_print_line(COLOR_PLAIN, line, 2);
		}
	}
	json_decref(denials);
	return count;
}

/* Prints the denials of the checks of a kind, of which some may not have run. */
static size_t print_check_denials(const struct loops_options *opts, const struct shown *shown,
				  const char *kind, const char *what)
{
	AUTO_FREE char *folder = folder_of(&opts->loop, shown);
	size_t denials = 0;

	for (size_t number = 1;; number++) {
		AUTO_FREE char *name = mem_format("%s-%zu.", kind, number);
		AUTO_FREE char *report = mem_format("%s/%sreport.json", folder, name);
		AUTO_FREE char *run = mem_format("%s %zu", what, number);

		if (access(report, F_OK) < 0)
			return denials;
		denials += print_run_denials(opts, shown, name, run);
	}
}

/* Prints the denials of the iteration, or, if none was named, of the last one that has any. */
static void print_denials(const struct loops_options *opts, struct shown *shown)
{
	for (;; shown->iteration--) {
		size_t count = 0;

		shown->attempt = shown->iteration ? last_attempt(&opts->loop, shown->iteration) : 1;
		if (shown->iteration)
			count = print_run_denials(opts, shown, "", "agent");
		count += print_check_denials(opts, shown, "check", "check");
		count += print_check_denials(opts, shown, "final", "final check");
		count += print_check_denials(opts, shown, "phase", "phase check");
		if (count || opts->iteration || !shown->iteration)
			return;
	}
}

static int check_options(const struct loops_options *opts, struct error *err)
{
	if ((opts->checks || opts->review || opts->denials) && opts->follow)
		return error_set(err, "--%s and --follow cannot be used together",
				 opts->checks   ? "checks"
				 : opts->review ? "review"
						: "denials");
	if (opts->checks + opts->review + opts->denials > 1)
		return error_set(err, "--%s and --%s cannot be used together",
				 opts->checks ? "checks" : "review",
				 opts->denials ? "denials" : "review");
	if (opts->raw && opts->json)
		return error_set(err, "--raw and --json cannot be used together");
	return 0;
}

static int show(struct loops_options *opts, struct error *err)
{
	struct shown shown;
	uint64_t wanted = 0;

	bool before = (opts->checks || opts->denials) && opts->iteration &&
		      strcmp(opts->iteration, "0") == 0;

	if (check_options(opts, err) < 0)
		return cli_fail(err);
	if (opts->iteration && !before && text_count(opts->iteration, &wanted) < 0) {
		error_set(err, "--iteration must be a number such as 3, not '%.100s'",
			  opts->iteration);
		return cli_fail(err);
	}
	if (loops_find_readable(opts, err) < 0)
		return cli_fail(err);
	if (opts->review && !opts->loop.state.options.reviewer.command) {
		error_set(err, "loop %s has no reviewer (ringfence run --review AGENT)",
			  opts->loop.id);
		return cli_fail(err);
	}
	if (wanted > opts->loop.state.iteration) {
		error_set(err, "loop %s has no iteration %u; its last one is %u", opts->loop.id,
			  (unsigned int)wanted, opts->loop.state.iteration);
		return cli_fail(err);
	}
	if (wanted || before)
		init_shown(&shown, opts, (unsigned int)wanted,
			   last_attempt(&opts->loop, (unsigned int)wanted));
	else
		init_shown(&shown, opts, opts->loop.state.iteration, opts->loop.state.attempt);
	if (opts->checks)
		print_checks(opts, &shown);
	else if (opts->denials)
		print_denials(opts, &shown);
	else if (opts->review)
		print_reviews(opts, &shown);
	else if (opts->follow && !wanted)
		follow(opts, &shown);
	else
		print_whole(&opts->loop, &shown);
	return cli_flush();
}

static int run_logs(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct cli_command cmd_logs = {
	.name = "logs",
	.args = "[-f | --checks | --review | --denials] [options] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "show what the agent did, or what the checks printed",
	.description =
		"Shows what the agent, the checks or the reviewer printed in the last iteration, or in "
		"iteration N. If "
		"the agent prints events, their text is shown: messages, tools and errors. The files are "
		"in the loop's folder, where the agent cannot write.",
	.options = options,
	.aliases = aliases,
	.sections = sections,
	.run = run_logs,
};
