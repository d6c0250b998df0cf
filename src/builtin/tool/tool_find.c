/* The list and search tools. */
#include "builtin/emit.h"
#include "builtin/tool/beneath.h"
#include "builtin/tool/child.h"
#include "builtin/tool/filewalk.h"
#include "builtin/tool/pattern.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/glob.h"
#include "util/text/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LISTED = 1000,        /* entries */
	MATCHES = 200,        /* lines */
	MATCH_LINE = 300,     /* bytes of a line */
	PATTERN = 1000,       /* bytes */
	FILE_BYTES = 8 << 20, /* larger files are not searched */
	LOOKED = 8192,
	SEARCH_MS = 30000,
	SEARCH_MEMORY = 1 << 29,
	GLOB_STEPS = 1000000,
};

struct listing {
	struct buffer *out;
	unsigned int depth;
	size_t count;
	bool cut;
};

static enum filewalk_verdict list_one(void *context, const struct filewalk_entry *entry)
{
	struct listing *listing = context;

	if (listing->count == LISTED || listing->out->used > TOOL_OUTPUT - TOOL_PATH) {
		listing->cut = true;
		return FILEWALK_STOP;
	}
	listing->count++;
	text_escape(listing->out, entry->path);
	buffer_add_text(listing->out, entry->type == DT_DIR   ? "/\n"
				      : entry->type == DT_LNK ? " (symlink)\n"
							      : "\n");
	return entry->depth < listing->depth ? FILEWALK_ON : FILEWALK_PAST;
}

static int run_list(struct tool_context *ctx, const json_t *arguments, struct buffer *out,
		    struct error *err)
{
	struct listing listing = { .out = out };
	AUTO_FREE char *path = NULL;
	const char *given;
	long depth;

	if (tool_text_or(arguments, "path", ".", &given, err) < 0 ||
	    tool_number(arguments, "depth", 2, 1, FILEWALK_DEPTH, &depth, err) < 0 ||
	    beneath_path(ctx, given, &path, err) < 0)
		return -1;
	listing.depth = (unsigned int)depth;
	if (filewalk_run(ctx, path, list_one, &listing, err) < 0)
		return -1;
	if (listing.cut)
		buffer_printf(out, "[only the first %zu are shown: list a subfolder]\n",
			      listing.count);
	else if (listing.count == 0)
		buffer_add_text(out, "(no files that are not ignored)\n");
	return 0;
}

struct search {
	const struct tool_context *ctx;
	const char *path;
	const char *fixed; /* the literal text; NULL: use `regex` */
	regex_t regex;
	struct glob files; /* files to search; all if its text is NULL */
	uint64_t steps;
	size_t matches, large;
	bool cut;
};

static void print_match(const struct search *search, const char *path, size_t number,
			const char *line, size_t size)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);

	(void)search;
	text_escape(&out, path);
	buffer_printf(&out, ":%zu:", number);
	buffer_add(&out, line, size < MATCH_LINE ? size : MATCH_LINE);
	buffer_add_text(&out, size < MATCH_LINE ? "\n" : " [...]\n");
	(void)fd_write_all(STDOUT_FILENO, buffer_text(&out), out.used);
}

/* `line` is NUL-terminated. */
static bool matches(struct search *search, const char *line)
{
	return search->fixed ? strstr(line, search->fixed) != NULL
			     : regexec(&search->regex, line, 0, NULL, 0) == 0;
}

static void search_text(struct search *search, const char *path, char *text)
{
	char *rest = text;
	size_t number = 0;

	for (char *line; (line = strsep(&rest, "\n"));) {
		size_t size = strlen(line);

		number++;
		if (!rest && size == 0)
			break; /* after the last newline */
		if (size && line[size - 1] == '\r')
			line[--size] = '\0';
		if (!matches(search, line))
			continue;
		print_match(search, path, number, line, size);
		if (++search->matches == MATCHES) {
			search->cut = true;
			return;
		}
	}
}

static void search_file(struct search *search, const char *path, int fd)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(FILE_BYTES + 1);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return;
	if (status.st_size > FILE_BYTES) {
		search->large++;
		return;
	}
	if (fd_read_all(fd, &text) < 0 || !text.used ||
	    memchr(text.data, '\0', text.used < LOOKED ? text.used : LOOKED))
		return;
	buffer_add(&text, "", 1);
	if (buffer_overflowed(&text))
		return;
	search_text(search, path, text.data);
}

static enum filewalk_verdict search_one(void *context, const struct filewalk_entry *entry)
{
	struct search *search = context;
	AUTO_FD fd = -1;

	if (entry->type != DT_REG)
		return FILEWALK_ON;
	if (search->files.text && !glob_matches(&search->files, entry->path, false, &search->steps))
		return FILEWALK_ON;
	fd = openat(entry->folder, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	search_file(search, entry->path, fd);
	return search->cut ? FILEWALK_STOP : FILEWALK_ON;
}

/* Runs in its own process: some patterns need too much memory or time. */
static int search_all(void *context)
{
	struct search *search = context;
	struct rlimit memory = { SEARCH_MEMORY, SEARCH_MEMORY };
	struct error err;
	struct stat status;
	AUTO_FD file = -1;

#if !defined(__SANITIZE_ADDRESS__)
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
#endif
	file = beneath_open(search->ctx, search->path, O_RDONLY, &err);
	if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
		search_file(search, search->path, file);
	} else if (file < 0 ||
		   filewalk_run(search->ctx, search->path, search_one, search, &err) < 0) {
		(void)fd_write_all(STDOUT_FILENO, err.text, strlen(err.text));
		return 2;
	}
	if (search->cut)
		dprintf(STDOUT_FILENO, "[only the first %d are shown: narrow the search]\n",
			MATCHES);
	if (search->large)
		dprintf(STDOUT_FILENO, "[%zu file%s over %d MiB not searched]\n", search->large,
			search->large == 1 ? "" : "s", FILE_BYTES >> 20);
	return search->matches || search->large ? 0 : 1;
}

static int compile(struct search *search, const char *pattern, bool fixed, bool any_case,
		   struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8 * PATTERN);
	char why[256];
	int code;

	if (!*pattern)
		return error_set(err, "the pattern is empty");
	if (strlen(pattern) > PATTERN)
		return error_set(err, "the pattern is longer than %d bytes", PATTERN);
	if (strchr(pattern, '\n'))
		return error_set(
			err,
			"the pattern has more than one line, but files are searched line by line");
	if (fixed && !any_case) {
		search->fixed = pattern;
		return 0;
	}
	if (fixed) {
		for (const char *at = pattern; *at; at++) {
			if (strchr("\\^$.[]|()*+?{}", *at))
				buffer_add_text(&text, "\\");
			buffer_add(&text, at, 1);
		}
	} else {
		pattern_translate(pattern, &text);
	}
	code = regcomp(&search->regex, buffer_text(&text),
		       REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0));
	if (code == 0)
		return 0;
	regerror(code, &search->regex, why, sizeof why);
	return error_set(err,
			 "invalid regular expression: %s (set fixed to search for literal text)",
			 why);
}

/* Compiling can be as expensive as matching, so the child does both. */
struct trial {
	struct search *search;
	const char *pattern;
	bool fixed, any_case;
};

static int try_all(void *context)
{
	struct trial *trial = context;
	struct rlimit memory = { SEARCH_MEMORY, SEARCH_MEMORY };
	struct error err;

#if !defined(__SANITIZE_ADDRESS__)
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
#endif
	if (compile(trial->search, trial->pattern, trial->fixed, trial->any_case, &err) < 0) {
		(void)fd_write_all(STDOUT_FILENO, err.text, strlen(err.text));
		return 2;
	}
	return search_all(trial->search);
}

static int run_search(struct tool_context *ctx, const json_t *arguments, struct buffer *out,
		      struct error *err)
{
	struct search search = { .ctx = ctx, .steps = GLOB_STEPS };
	struct trial trial = { .search = &search };
	const struct child_work work = { .run = try_all,
					 .context = &trial,
					 .most_ms = SEARCH_MS,
					 .most_bytes = 1 << 20,
					 .head = TOOL_OUTPUT - 8192,
					 .tail = 4096,
					 .tick = emit_heartbeat };
	AUTO_FREE char *path = NULL;
	struct child_end end;
	const char *given;
	const char *files;
	int result;

	if (tool_text(arguments, "pattern", &trial.pattern, err) < 0 ||
	    tool_text_or(arguments, "path", ".", &given, err) < 0 ||
	    tool_text_or(arguments, "files", "", &files, err) < 0 ||
	    beneath_path(ctx, given, &path, err) < 0)
		return -1;
	if (*files && glob_read(files, &search.files) != GLOB_PATTERN)
		return error_set(err, "'files' must be a pattern such as *.c or src/**/*.h");
	trial.fixed = tool_flag(arguments, "fixed");
	trial.any_case = tool_flag(arguments, "ignore_case");
	search.path = path;
	result = child_run(&work, out, &end, err);
	glob_release(&search.files);
	if (result < 0)
		return -1;
	if (end.late || WIFSIGNALED(end.status) || WEXITSTATUS(end.status) > 2)
		return error_set(err,
				 "the pattern needs too much time or memory: use a simpler one");
	if (WEXITSTATUS(end.status) == 1)
		buffer_add_text(out, "(nothing found)");
	return WEXITSTATUS(end.status) == 2;
}

TOOL_COMPLETE
const struct tool tool_list = {
	/* name */ "list",
	/* about */
	"Lists files and folders, sorted, except ignored ones (.gitignore and similar). depth is the number of folder "
	"levels (default 2).",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"a folder; default: the "
	"project root\"},\"depth\":{\"type\":\"integer\"}}}",
	/* target */ "path",
	/* files */ true,
	/* run */ run_list,
};

const struct tool tool_search = {
	/* name */ "search",
	/* about */
	"Searches text files line by line, except ignored ones, for an extended regular expression, or for literal "
	"text if fixed is set. Each match is shown as path:line:text.",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":\"string\"},\"path\":{\"type\":\"string\",\"description\":\"a file "
	"or folder; default: the project root\"},\"files\":{\"type\":\"string\",\"description\":\"a pattern such as "
	"*.c\"},\"fixed\":{\"type\":\"boolean\"},\"ignore_case\":{\"type\":\"boolean\"}},\"required\":[\"pattern\"]}",
	/* target */ "pattern",
	/* files */ true,
	/* run */ run_search,
};
