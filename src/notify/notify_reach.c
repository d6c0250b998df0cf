/* The reach of an agent: see notify_reach.h. */
#include "notify/notify_reach.h"

#include "util/buffer.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
#include "util/mem.h"

#include <stdlib.h>
#include <unistd.h>

/* A way to a file. */
struct way {
	const struct notify_reach *reach;
	bool inside;
};

static void pass(void *context, const char *path, const char *target)
{
	struct way *way = context;

	(void)target;
	for (size_t i = 0; i < way->reach->places.count; i++)
		way->inside = way->inside || path_within(path, way->reach->places.items[i]);
}

/* Follows a path. Returns where it leads, which the caller frees. */
static char *follow(const char *path, struct way *way)
{
	struct symlinks symlinks = { 0 };
	char *real = symlinks_follow(&symlinks, path, pass, way);

	symlinks_release(&symlinks);
	return real;
}

void notify_reach_add(struct notify_reach *reach, const char *path, const char *home)
{
	const struct notify_reach nothing = { 0 };
	struct way way = { .reach = &nothing };
	AUTO_FREE char *whole = path[0] == '~' ? path_join(home, path + 1) : mem_dup(path);
	AUTO_FREE char *real = whole[0] == '/' ? follow(whole, &way) : NULL;

	if (real)
		list_add(&reach->places, real);
}

void notify_reach_release(struct notify_reach *reach)
{
	list_release(&reach->places);
}

bool notify_reach_has(const struct notify_reach *reach, const char *path)
{
	struct way way = { .reach = reach };
	AUTO_FREE char *real = follow(path, &way);

	return way.inside;
}

/* Adds the folders of PATH that are out of reach. */
static void add_folders(const struct notify_reach *reach, struct list *folders)
{
	struct list all = { 0 };

	env_path(&all);
	for (size_t i = 0; i < all.count; i++)
		if (!notify_reach_has(reach, all.items[i]))
			list_add(folders, all.items[i]);
	list_release(&all);
}

char *notify_reach_find(const struct notify_reach *reach, const char *name)
{
	struct list folders = { 0 };
	char *found = NULL;

	add_folders(reach, &folders);
	for (size_t i = 0; i < folders.count && !found; i++) {
		char *file = path_join(folders.items[i], name);

		if (access(file, X_OK) == 0 && !notify_reach_has(reach, file))
			found = file;
		else
			free(file);
	}
	list_release(&folders);
	return found;
}

char *notify_reach_path(const struct notify_reach *reach)
{
	struct list folders = { 0 };
	AUTO_BUFFER struct buffer path = BUFFER_INIT(1 << 20);

	add_folders(reach, &folders);
	buffer_add_text(&path, "PATH=");
	for (size_t i = 0; i < folders.count; i++)
		buffer_printf(&path, "%s%s", i ? ":" : "", folders.items[i]);
	list_release(&folders);
	return mem_dup(buffer_text(&path));
}
