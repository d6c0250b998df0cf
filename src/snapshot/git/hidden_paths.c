/* Hidden paths in a private git directory. */
#include "snapshot/git/hidden_paths.h"

#include "snapshot/base/libgit.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/textset.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXCLUDE_BYTES = 64 << 20 };

/* Is the path, or a folder above it, in the set? */
static bool is_hidden(const struct textset *set, const char *path)
{
	AUTO_FREE char *part = mem_dup(path);

	for (char *end = part; (end = strchr(end, '/')); *end++ = '/') {
		*end = '\0';
		if (textset_has(set, part))
			return true;
	}
	return textset_has(set, path);
}

static int mark(git_index *index, const struct textset *set, bool *ret_changed)
{
	*ret_changed = false;
	for (size_t i = 0; i < git_index_entrycount(index); i++) {
		git_index_entry entry = *git_index_get_byindex(index, i);

		if (git_index_entry_stage(&entry) || !is_hidden(set, entry.path))
			continue;
		entry.flags |= GIT_INDEX_ENTRY_EXTENDED;
		entry.flags_extended |= GIT_INDEX_ENTRY_SKIP_WORKTREE;
		if (git_index_add(index, &entry) < 0)
			return -1;
		*ret_changed = true;
	}
	return 0;
}

/* The index keeps its time: git rereads files that changed at or after it. */
static int write_back(git_index *index, const char *path, struct error *err)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	struct stat status;

	if (stat(path, &status) < 0)
		return error_sys(err, "read the index of the private git directory");
	times[1] = status.st_mtim;
	if (git_index_write(index) < 0)
		return libgit_error("write the index of the private git directory", err);
	return utimensat(AT_FDCWD, path, times, 0) < 0
		       ? error_sys(err, "date the index of the private git directory")
		       : 0;
}

int hidden_paths_skip(const struct list *paths, const char *index, struct error *err)
{
	struct textset set = { 0 };
	git_index *opened = NULL;
	bool changed = false;
	int result = 0;

	for (size_t i = 0; i < paths->count; i++)
		textset_add(&set, paths->items[i]);
	libgit_init();
	if (paths->count && git_index_open(&opened, index) == 0 && mark(opened, &set, &changed) < 0)
		result = libgit_error("mark hidden files", err);
	if (result == 0 && changed)
		result = write_back(opened, index, err);
	git_index_free(opened);
	textset_release(&set);
	return result;
}

/* Adds a pattern that matches exactly this path. One with a line feed cannot be written. */
static void add_pattern(struct buffer *text, const char *path)
{
	if (strchr(path, '\n'))
		return;
	buffer_add_text(text, "/");
	for (; *path; path++) {
		if (strchr("\\*?[] ", *path))
			buffer_add_text(text, "\\");
		buffer_add(text, path, 1);
	}
	buffer_add_text(text, "\n");
}

int hidden_paths_ignore(const struct list *paths, int git, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(EXCLUDE_BYTES);
	AUTO_FD fd = -1;

	if (!paths->count)
		return 0;
	buffer_add_text(&text, "\n# hidden by the fence\n");
	for (size_t i = 0; i < paths->count; i++)
		add_pattern(&text, paths->items[i]);
	fd = openat(git, "info/exclude", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	return fd < 0 || fd_write_all(fd, text.data, text.used) < 0
		       ? error_sys(err, "write info/exclude in the private git directory")
		       : 0;
}
