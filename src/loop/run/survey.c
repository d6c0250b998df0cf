/* Surveys: see survey.h. */
#include "loop/run/survey.h"

#include "snapshot/generated.h"
#include "util/buffer.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deeper folders and further files are skipped; larger files are compared by modification time. */
enum { MOST_DEPTH = 64, MOST_BYTES = 16 << 20, MOST_FILES = 500000 };

/* A known file, with a hash of its contents. */
struct seen {
	char *path; /* relative to the project */
	uint64_t size;
	uint64_t inode;
	struct timespec changed;
	uint64_t content[4];
	unsigned int round; /* of the last survey that saw it */
};

struct survey_memory {
	void *files; /* a tree of struct seen (tsearch) */
	unsigned int round;
};

/* A survey in progress. */
struct walk {
	struct survey_memory *memory;
	struct survey *survey;
	uint64_t sum[4]; /* over all files, in any order */
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct seen *)a)->path, ((const struct seen *)b)->path);
}

struct survey_memory *survey_memory_new(void)
{
	return mem_zero(sizeof(struct survey_memory));
}

static void seen_free(void *node)
{
	struct seen *seen = node;

	free(seen->path);
	free(seen);
}

void survey_memory_free(struct survey_memory *memory)
{
	if (!memory)
		return;
	tdestroy(memory->files, seen_free);
	free(memory);
}

static void hash_bytes(const void *bytes, size_t size, uint64_t ret_parts[4])
{
	char hex[SHA256_HEX];

	sha256_hex(bytes, size, hex);
	for (int i = 0; i < 4; i++) {
		char part[17];

		snprintf(part, sizeof part, "%.16s", hex + 16 * i);
		ret_parts[i] = strtoull(part, NULL, 16);
	}
}

/* Hashes the contents, or the modification time if they cannot be read. */
static void read_content(int folder, const char *name, const struct stat *status,
			 uint64_t ret_parts[4])
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);
	AUTO_FD fd = -1;

	if (S_ISREG(status->st_mode) && status->st_size <= MOST_BYTES)
		fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (S_ISLNK(status->st_mode)) {
		char target[4096];
		ssize_t n = readlinkat(folder, name, target, sizeof target);

		hash_bytes(target, n > 0 ? (size_t)n : 0, ret_parts);
	} else if (fd >= 0 && fd_read_all(fd, &bytes) == 0) {
		hash_bytes(bytes.data, bytes.used, ret_parts);
	} else {
		hash_bytes(&status->st_mtim, sizeof status->st_mtim, ret_parts);
	}
}

static struct seen *remember(struct survey_memory *memory, const char *path, bool *ret_new)
{
	struct seen key = { .path = (char *)path };
	struct seen **found = tfind(&key, &memory->files, by_path);
	struct seen *seen;

	*ret_new = !found;
	if (found)
		return *found;
	seen = mem_zero(sizeof *seen);
	seen->path = mem_dup(path);
	if (!tsearch(seen, &memory->files, by_path))
		abort();
	return seen;
}

static void add_file(struct walk *walk, int folder, const char *name, const char *path,
		     const struct stat *status)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8192);
	uint64_t parts[4];
	uint64_t before[4];
	bool is_new;
	struct seen *seen = remember(walk->memory, path, &is_new);

	memcpy(before, seen->content, sizeof before);
	if (is_new || seen->size != (uint64_t)status->st_size || seen->inode != status->st_ino ||
	    memcmp(&seen->changed, &status->st_ctim, sizeof seen->changed) != 0)
		read_content(folder, name, status, seen->content);
	if (is_new || memcmp(before, seen->content, sizeof before) != 0)
		walk->survey->changed++;
	seen->size = (uint64_t)status->st_size;
	seen->inode = status->st_ino;
	seen->changed = status->st_ctim;
	seen->round = walk->memory->round;
	walk->survey->files++;
	walk->survey->bytes += (uint64_t)status->st_size;
	buffer_printf(&text, "%s\n%o\n", path, status->st_mode & 0111);
	buffer_add(&text, seen->content, sizeof seen->content);
	hash_bytes(text.data, text.used, parts);
	for (int i = 0; i < 4; i++)
		walk->sum[i] += parts[i];
}

static enum dirwalk_verdict look(void *context, const struct dirwalk_entry *entry)
{
	struct walk *walk = context;
	struct stat status;

	if (entry->closed || generated_is(entry->name) || walk->survey->files >= MOST_FILES)
		return DIRWALK_PAST;
	if (entry->type != DT_DIR &&
	    fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		add_file(walk, entry->folder, entry->name, entry->path, &status);
	return DIRWALK_ON;
}

/* Deleted files; tdelete must not run during twalk. */
struct gone {
	unsigned int round;
	struct seen **items;
	size_t count;
};

static void note_gone(const void *node, VISIT visit, void *context)
{
	struct gone *gone = context;
	struct seen *seen = *(struct seen *const *)node;

	if ((visit != postorder && visit != leaf) || seen->round == gone->round)
		return;
	gone->items = mem_resize(gone->items, gone->count + 1, sizeof(struct seen *));
	gone->items[gone->count++] = seen;
}

static void forget_gone(struct walk *walk)
{
	struct gone gone = { .round = walk->memory->round };

	twalk_r(walk->memory->files, note_gone, &gone);
	for (size_t i = 0; i < gone.count; i++) {
		tdelete(gone.items[i], &walk->memory->files, by_path);
		seen_free(gone.items[i]);
		walk->survey->changed++;
	}
	free(gone.items);
}

/*
 * Reads the first line of a file in a git directory without following symlinks. Returns false if
 * there is none.
 */
static bool read_line(int git, const char *path, char *ret_line, size_t size)
{
	AUTO_FD fd = fd_openat2(git, path, O_RDONLY | O_NONBLOCK, 0,
				RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
	ssize_t n = fd < 0 ? 0 : read(fd, ret_line, size - 1);

	ret_line[n > 0 ? n : 0] = '\0';
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return n > 0;
}

/* Reads the commit without git: HEAD, and the loose ref that it names. */
void survey_head(const char *git, struct survey *survey)
{
	AUTO_FD folder = open(git, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char head[256] = "";
	char commit[128];

	if (folder >= 0 && read_line(folder, "HEAD", head, sizeof head) &&
	    strncmp(head, "ref: ", 5) == 0 && read_line(folder, head + 5, commit, sizeof commit))
		snprintf(head, sizeof head, "%s", commit);
	snprintf(survey->head, sizeof survey->head, "%.*s", (int)sizeof survey->head - 1, head);
}

int survey_take(struct survey_memory *memory, const char *project, struct survey *ret_survey,
		struct error *err)
{
	struct walk walk = { .memory = memory, .survey = ret_survey };
	AUTO_FD folder = open(project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FREE char *git = path_join(project, ".git");
	const struct dirwalk files = { .visit = look, .context = &walk, .deepest = MOST_DEPTH };
	struct error ignored;

	if (folder < 0)
		return error_sys(err, "read the project '%s'", project);
	*ret_survey = (struct survey){ 0 };
	memory->round++;
	dirwalk_tree(&files, folder, NULL, &ignored); /* folders that fail are skipped */
	forget_gone(&walk);
	survey_head(git, ret_survey);
	snprintf(ret_survey->tree, sizeof ret_survey->tree, "%016lx%016lx%016lx%016lx",
		 (unsigned long)walk.sum[0], (unsigned long)walk.sum[1], (unsigned long)walk.sum[2],
		 (unsigned long)walk.sum[3]);
	return 0;
}
