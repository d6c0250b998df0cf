/* Hidden paths in a private git directory. */
#include "snapshot/git/hidden_paths.h"

#include "snapshot/base/libgit.h"
#include "snapshot/generated.h"
#include "util/buffer.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXCLUDE_BYTES = 64 << 20 };

#define FILE_NAME "hidden"

void hidden_paths_set(const struct list *paths, struct hidden_paths *ret_hidden)
{
	*ret_hidden = (struct hidden_paths){ 0 };
	for (size_t i = 0; i < paths->count; i++) {
		list_add(&ret_hidden->paths, paths->items[i]);
		textset_add(&ret_hidden->set, paths->items[i]);
	}
}

void hidden_paths_release(struct hidden_paths *hidden)
{
	list_release(&hidden->paths);
	textset_release(&hidden->set);
}

bool hidden_paths_has(const struct hidden_paths *hidden, const char *path)
{
	const struct textset *set = &hidden->set;
	AUTO_FREE char *part = hidden->paths.count ? mem_dup(path) : NULL;

	if (!part)
		return false;

	for (char *end = part; (end = strchr(end, '/')); *end++ = '/') {
		*end = '\0';
		if (textset_has(set, part))
			return true;
	}
	return textset_has(set, path);
}

bool hidden_paths_is_near(const struct hidden_paths *hidden, const char *folder)
{
	for (size_t i = 0; i < hidden->paths.count; i++)
		if (path_within(hidden->paths.items[i], folder))
			return true;
	return hidden_paths_has(hidden, folder);
}

int hidden_paths_write(const struct list *paths, int own, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(EXCLUDE_BYTES);

	for (size_t i = 0; i < paths->count; i++)
		buffer_add(&text, paths->items[i], strlen(paths->items[i]) + 1);
	return durable_replace(own, FILE_NAME, text.data ? text.data : "", text.used, 0600) < 0
		       ? error_sys(err, "write the hidden paths of the private git directory")
		       : 0;
}

int hidden_paths_read(int own, struct list *ret_paths, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(EXCLUDE_BYTES);
	const char *end;

	if (fd_read_file(own, FILE_NAME, &text) < 0)
		return errno == ENOENT
			       ? 0
			       : error_sys(err,
					   "read the hidden paths of the private git directory");
	end = text.data + text.used;
	for (const char *at = text.data; at < end; at += strlen(at) + 1)
		list_add(ret_paths, at);
	return 0;
}

static int mark(git_index *index, const struct hidden_paths *hidden, bool *ret_changed)
{
	*ret_changed = false;
	for (size_t i = 0; i < git_index_entrycount(index); i++) {
		git_index_entry entry = *git_index_get_byindex(index, i);

		if (git_index_entry_stage(&entry) || !hidden_paths_has(hidden, entry.path))
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
	struct hidden_paths hidden;
	git_index *opened = NULL;
	bool changed = false;
	int result = 0;

	hidden_paths_set(paths, &hidden);
	libgit_init();
	if (paths->count && git_index_open(&opened, index) == 0 &&
	    mark(opened, &hidden, &changed) < 0)
		result = libgit_error("mark hidden files", err);
	if (result == 0 && changed)
		result = write_back(opened, index, err);
	git_index_free(opened);
	hidden_paths_release(&hidden);
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

	buffer_add_text(&text, "\n# caches\n" GENERATED_CACHES);
	if (paths->count)
		buffer_add_text(&text, "\n# hidden by the fence\n");
	for (size_t i = 0; i < paths->count; i++)
		add_pattern(&text, paths->items[i]);
	fd = openat(git, "info/exclude", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	return fd < 0 || fd_write_all(fd, text.data, text.used) < 0
		       ? error_sys(err, "write info/exclude in the private git directory")
		       : 0;
}
