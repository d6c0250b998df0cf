/* Finds signs that something was not committed. */
#include "snapshot/git/unfinished.h"

#include "snapshot/object/index_read.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INDEX_BYTES = 256 << 20, MOST_FILES = 2000000, PATH_BYTES = 1 << 20 };

/* Files of the git directory, and the operation that each belongs to. */
static const struct sign {
	const char *name, *words;
} signs[] = {
	{ "index.lock", "index.lock was left by a git that was killed" },
	{ "HEAD.lock", "HEAD.lock was left by a git that was killed" },
	{ "MERGE_HEAD", "a merge is not finished" },
	{ "rebase-merge", "a rebase is not finished" },
	{ "rebase-apply", "a rebase or git am is not finished" },
	{ "CHERRY_PICK_HEAD", "a cherry-pick is not finished" },
	{ "REVERT_HEAD", "a revert is not finished" },
};

static void find_signs(int git, struct list *words)
{
	struct stat status;

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (fstatat(git, signs[i].name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			list_add(words, signs[i].words);
}

/* ---- staged files ---- */

/* A path with its content. */
struct file {
	char *path;
	unsigned char id[FSCK_ID];
	uint32_t mode;
};

/* The files of a tree, sorted by path. */
struct files {
	struct file *items;
	size_t count;
};

static void release(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->items[i].path);
	free(files->items);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

static const struct file *find(const struct files *files, const char *path)
{
	const struct file wanted = { .path = (char *)path };

	return files->count ? bsearch(&wanted, files->items, files->count, sizeof wanted, by_path)
			    : NULL;
}

static void add(struct files *files, const char *path, const unsigned char id[FSCK_ID],
		uint32_t mode)
{
	struct file file = { .path = mem_dup(path), .mode = mode };

	memcpy(file.id, id, FSCK_ID);
	files->items = mem_extend(files->items, files->count, sizeof *files->items);
	files->items[files->count++] = file;
}

static int add_file(void *context, const char *path, uint32_t mode, const unsigned char id[FSCK_ID],
		    struct error *err)
{
	struct files *files = context;

	if (files->count == MOST_FILES)
		return error_set(err, "more than %d files", MOST_FILES);
	add(files, path, id, mode);
	return 0;
}

static bool is_same(const struct file *file, const struct index_read_entry *entry)
{
	return file && file->mode == entry->mode && memcmp(file->id, entry->id, FSCK_ID) == 0;
}

/* The number of files that were staged since the beginning, and the first one. */
struct staged {
	size_t count;
	char *first;
};

static void count(struct staged *staged, const char *path)
{
	if (!staged->count++)
		staged->first = mem_dup(path);
}

static void compare(const struct index_read *index, const struct files *head,
		    const struct files *began, struct staged *staged)
{
	struct files now = { 0 };

	for (size_t i = 0; i < index->count; i++) {
		const struct index_read_entry *entry = &index->items[i];

		add(&now, entry->path, entry->id, entry->mode);
		if (!is_same(find(head, entry->path), entry) &&
		    !is_same(find(began, entry->path), entry))
			count(staged, entry->path);
	}
	if (now.count)
		qsort(now.items, now.count, sizeof *now.items, by_path);
	for (size_t i = 0; i < head->count; i++)
		if (!find(&now, head->items[i].path) &&
		    (!began->count || find(began, head->items[i].path)))
			count(staged, head->items[i].path);
	release(&now);
}

/* Reads an index of a folder. The caller releases it. */
static enum index_read_result read_index(int folder, const char *name, struct buffer *bytes,
					 struct index_read *ret_index)
{
	*ret_index = (struct index_read){ 0 };
	if (fd_read_file(folder, name, bytes) < 0)
		return INDEX_READ_OTHER;
	return index_read_parse(buffer_text(bytes), bytes->used, ret_index);
}

static void read_began(int own, struct files *began)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(INDEX_BYTES);
	struct index_read index;

	read_index(own, UNFINISHED_INDEX, &bytes, &index);
	for (size_t i = 0; i < index.count; i++)
		add(began, index.items[i].path, index.items[i].id, index.items[i].mode);
	if (began->count)
		qsort(began->items, began->count, sizeof *began->items, by_path);
	index_read_release(&index);
}

static void find_staged(struct import_check *check, const struct index_read *index, int own,
			const git_oid *head, struct list *words)
{
	struct staged staged = { 0 };
	struct files began = { 0 };
	struct files files = { 0 };
	struct error ignored;
	git_oid tree;

	if (import_check_tree(check, head, &tree, &ignored) < 0 ||
	    (index->tree && memcmp(index->tree, tree.id, FSCK_ID) == 0))
		return;
	if (import_check_each(check, &tree, add_file, &files, &ignored) == 0) {
		if (files.count)
			qsort(files.items, files.count, sizeof *files.items, by_path);
		read_began(own, &began);
		compare(index, &files, &began, &staged);
	}
	if (staged.count)
		list_printf(words, "%zu file%s staged but not committed%s '%.300s'", staged.count,
			    staged.count == 1 ? " is" : "s are",
			    staged.count == 1 ? ":" : ", such as", staged.first);
	free(staged.first);
	release(&files);
	release(&began);
}

void unfinished_find(struct import_check *check, int git, int own, const git_oid *head,
		     struct list *ret_words)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(INDEX_BYTES);
	struct index_read index;
	enum index_read_result result;

	find_signs(git, ret_words);
	result = read_index(git, "index", &bytes, &index);
	if (result == INDEX_READ_DAMAGED)
		list_add(ret_words, "the index in .git is damaged, so git add and git commit fail "
				    "(rm .git/index; git reset)");
	if (result == INDEX_READ_WHOLE && head)
		find_staged(check, &index, own, head, ret_words);
	index_read_release(&index);
}
