/* Which files of a tree are in Git LFS. */
#include "lfs/lfs_folders.h"

#include "lfs/lfs_rules.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 20 };

/* The folders from the topmost one to that of the last path. */
struct folder {
	char *path;
	struct lfs_rules *rules; /* NULL if it has none */
};

struct lfs_folders {
	lfs_folders_fn *read;
	void *context;
	struct lfs_rules *user;
	struct folder *items;
	size_t count;
};

struct lfs_folders *lfs_folders_new(lfs_folders_fn *read, void *context, const struct buffer *user)
{
	struct lfs_folders *folders = mem_zero(sizeof *folders);

	folders->read = read;
	folders->context = context;
	if (user && user->used)
		folders->user = lfs_rules_read(user->data, user->used, NULL);
	return folders;
}

static void drop_last(struct lfs_folders *folders)
{
	struct folder *last = &folders->items[--folders->count];

	lfs_rules_free(last->rules);
	free(last->path);
}

void lfs_folders_free(struct lfs_folders *folders)
{
	if (!folders)
		return;
	while (folders->count)
		drop_last(folders);
	lfs_rules_free(folders->user);
	free(folders->items);
	free(folders);
}

static void add(struct lfs_folders *folders, const char *path, size_t size)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(FILE_BYTES);
	const struct lfs_rules *root = folders->count ? folders->items[0].rules : NULL;
	struct folder folder = { .path = strndup(path, size) };

	if (folder.path && folders->read(folders->context, folder.path, &text) == 0 && text.used)
		folder.rules = lfs_rules_read(text.data, text.used, root);
	folders->items = mem_extend(folders->items, folders->count, sizeof *folders->items);
	folders->items[folders->count++] = folder;
}

static bool is_above(const struct folder *folder, const char *path)
{
	size_t size = strlen(folder->path);

	return !size || (strncmp(path, folder->path, size) == 0 && path[size] == '/');
}

/* Leaves the folders that the path is not in, and enters those that it is in. */
static void go_to(struct lfs_folders *folders, const char *path)
{
	const char *slash;

	while (folders->count && !is_above(&folders->items[folders->count - 1], path))
		drop_last(folders);
	if (!folders->count)
		add(folders, path, 0);
	slash = path + strlen(folders->items[folders->count - 1].path);
	for (slash += *slash == '/'; (slash = strchr(slash, '/')); slash++)
		add(folders, path, (size_t)(slash - path));
}

bool lfs_folders_has(struct lfs_folders *folders, const char *path)
{
	enum lfs_rules_answer answer = LFS_RULES_SILENT;
	uint64_t steps = LFS_RULES_STEPS;

	go_to(folders, path);
	if (folders->user)
		answer = lfs_rules_match(folders->user, path, &steps);
	for (size_t i = folders->count; i-- > 0 && answer == LFS_RULES_SILENT;) {
		const struct folder *folder = &folders->items[i];
		size_t size = strlen(folder->path);

		if (folder->rules)
			answer = lfs_rules_match(folder->rules, path + size + (size > 0), &steps);
	}
	return answer == LFS_RULES_YES;
}
