/*
 * Walks the project: see filewalk.h. Unlike dirwalk, it visits entries in name order, each folder
 * before its contents, and applies ignore rules to the folder that has them.
 */
#include "builtin/tool/filewalk.h"

#include "builtin/tool/beneath.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/glob.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rule {
	struct glob glob;
	bool shows;   /* "!": undoes an earlier match */
	size_t above; /* length of the path of the ignore file's folder, with the slash */
};

struct forest {
	const struct tool_context *ctx;
	filewalk_fn *visit;
	void *context;
	struct rule *rules;
	size_t rule_count;
	uint64_t steps; /* matching steps left for patterns */
	uint64_t entries;
	bool stopped;
};

enum { STEPS = 200000000 };

static void read_line(struct forest *forest, char *line, size_t above)
{
	struct rule rule = { .above = above };

	rule.shows = *line == '!';
	if (forest->rule_count == FILEWALK_PATTERNS ||
	    glob_read(line + rule.shows, &rule.glob) != GLOB_PATTERN)
		return;
	forest->rules = mem_resize(forest->rules, forest->rule_count + 1, sizeof *forest->rules);
	forest->rules[forest->rule_count++] = rule;
}

static void read_rules(struct forest *forest, int folder, const char *name, size_t above)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(FILEWALK_IGNORE);
	char *rest;

	if (fd_read_file(folder, name, &text) < 0 || !text.used)
		return;
	buffer_add(&text, "", 1);
	rest = text.data;
	for (char *line; (line = strsep(&rest, "\n"));) {
		size_t size = strlen(line);

		if (size && line[size - 1] == '\r')
			line[size - 1] = '\0';
		read_line(forest, line, above);
	}
}

static void drop_rules(struct forest *forest, size_t count)
{
	while (forest->rule_count > count)
		glob_release(&forest->rules[--forest->rule_count].glob);
}

/* The last matching rule decides. */
static bool is_ignored(struct forest *forest, const char *path, const char *name, bool is_dir)
{
	if (strcmp(name, ".git") == 0)
		return true;
	for (size_t i = forest->rule_count; i-- > 0;) {
		const struct rule *rule = &forest->rules[i];

		if (glob_matches(&rule->glob, path + rule->above, is_dir, &forest->steps))
			return !rule->shows;
	}
	return false;
}

struct name {
	char *text;
	unsigned char type;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static size_t read_names(int folder, struct name **ret_names)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
	struct name *names = NULL;
	size_t count = 0;

	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (count == FILEWALK_NAMES)
			break;
		if (count % 64 == 0)
			names = mem_resize(names, count + 64, sizeof *names);
		names[count++] = (struct name){ mem_dup(entry->d_name), entry->d_type };
	}
	if (stream)
		closedir(stream);
	else if (copy >= 0)
		close(copy);
	if (count)
		qsort(names, count, sizeof *names, compare);
	*ret_names = names;
	return count;
}

/* Some file systems do not report types. */
static unsigned char type_of(int folder, const struct name *name)
{
	struct stat status;

	if (name->type != DT_UNKNOWN)
		return name->type;
	return fstatat(folder, name->text, &status, AT_SYMLINK_NOFOLLOW) == 0
		       ? (unsigned char)IFTODT(status.st_mode)
		       : DT_UNKNOWN;
}

static void walk(struct forest *forest, int folder, const char *path, unsigned int depth);

static void visit(struct forest *forest, int folder, const char *above, const struct name *name,
		  unsigned int depth)
{
	AUTO_FREE char *path = *above ? path_join(above, name->text) : mem_dup(name->text);
	unsigned char type = type_of(folder, name);
	const struct filewalk_entry entry = {
		.path = path, .folder = folder, .name = name->text, .type = type, .depth = depth
	};
	enum filewalk_verdict verdict;
	AUTO_FD below = -1;

	if (is_ignored(forest, path, name->text, type == DT_DIR))
		return;
	verdict = forest->visit(forest->context, &entry);
	forest->stopped = verdict == FILEWALK_STOP || ++forest->entries >= FILEWALK_ENTRIES;
	if (verdict != FILEWALK_ON || forest->stopped || type != DT_DIR || depth >= FILEWALK_DEPTH)
		return;
	below = openat(folder, name->text, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below >= 0)
		walk(forest, below, path, depth + 1);
}

static void walk(struct forest *forest, int folder, const char *path, unsigned int depth)
{
	struct name *names;
	size_t count;
	size_t rules = forest->rule_count;

	read_rules(forest, folder, ".gitignore", *path ? strlen(path) + 1 : 0);
	count = read_names(folder, &names);
	for (size_t i = 0; i < count; i++) {
		if (!forest->stopped)
			visit(forest, folder, path, &names[i], depth);
		free(names[i].text);
	}
	free(names);
	drop_rules(forest, rules);
}

/*
 * Reads the rules of all folders above a path. The path is real, so each step is a folder, not a
 * symlink.
 */
static void read_above(struct forest *forest, const char *path)
{
	AUTO_FREE char *part = mem_dup(path);
	struct error ignored;

	for (char *slash = part; slash; slash = strchr(slash + 1, '/')) {
		AUTO_FD folder = -1;
		char kept = *slash;
		size_t above = (size_t)(slash - part);

		*slash = '\0';
		folder = beneath_open(forest->ctx, *part ? part : ".", O_PATH | O_DIRECTORY,
				      &ignored);
		if (folder >= 0)
			read_rules(forest, folder, ".gitignore", above ? above + 1 : 0);
		*slash = kept;
	}
}

/* Returns the folder's real path below the root, which the rules are relative to. */
static char *real_path(const struct tool_context *ctx, int folder)
{
	char link[64];
	char target[TOOL_PATH];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
	n = readlink(link, target, sizeof target - 1);
	if (n < 0)
		return NULL;
	target[n] = '\0';
	if (!path_within(target, ctx->path))
		return NULL;
	return mem_dup(target[strlen(ctx->path)] ? target + strlen(ctx->path) + 1 : "");
}

int filewalk_run(const struct tool_context *ctx, const char *path, filewalk_fn *visit_fn,
		 void *context, struct error *err)
{
	struct forest forest = {
		.ctx = ctx, .visit = visit_fn, .context = context, .steps = STEPS
	};
	AUTO_FD folder = beneath_open(ctx, path, O_PATH | O_DIRECTORY, err);
	AUTO_FREE char *real = NULL;

	if (folder < 0)
		return -1;
	real = real_path(ctx, folder);
	if (!real)
		return error_set(err, "cannot find the folder's path through /proc");
	read_rules(&forest, ctx->root, ".ringfenceignore", 0);
	read_rules(&forest, ctx->root, ".claudeignore", 0);
	if (*real)
		read_above(&forest, real);
	walk(&forest, folder, real, 1);
	drop_rules(&forest, 0);
	free(forest.rules);
	return 0;
}
