/* Stale lock files of git: see git_locks.h. */
#include "loop/run/git_locks.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Deeper than refs, modules and work trees need. */
enum { DEEPEST = 32 };

static bool is_lock(const char *name)
{
	static const char suffix[] = ".lock";
	size_t size = strlen(name);

	return size >= sizeof suffix && strcmp(name + size - (sizeof suffix - 1), suffix) == 0;
}

/* Folders of objects, such as objects/4b, have many files and no locks. */
static bool holds_objects(const struct dirwalk_entry *entry)
{
	return strncmp(entry->path, "objects/", 8) == 0 && strlen(entry->name) == 2;
}

static enum dirwalk_verdict visit(void *context, const struct dirwalk_entry *entry)
{
	struct list *removed = context;

	if (entry->type == DT_DIR)
		return holds_objects(entry) ? DIRWALK_PAST : DIRWALK_ON;
	if (is_lock(entry->name) && unlinkat(entry->folder, entry->name, 0) == 0)
		list_add(removed, entry->path);
	return DIRWALK_ON;
}

void git_locks_remove(const char *git, struct list *removed)
{
	const struct dirwalk walk = { .visit = visit, .context = removed, .deepest = DEEPEST };
	AUTO_FD root = open(git, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored;

	/* A lock that stays is reported by git itself. */
	if (root >= 0)
		dirwalk_tree(&walk, root, NULL, &ignored);
}
