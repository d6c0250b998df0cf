/* Private git directories after a power cut. */
#include "snapshot/git/private_git.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool has_ending(const char *name, const char *ending)
{
	size_t size = strlen(name);

	return size >= strlen(ending) && strcmp(name + size - strlen(ending), ending) == 0;
}

/* Reports whether git, which renames finished files into place, never leaves this file empty. */
static bool is_never_empty(const struct dirwalk_entry *entry)
{
	enum { LOOSE = 38 }; /* the length of a loose object's name */

	if (!strchr(entry->path, '/'))
		return strcmp(entry->name, "HEAD") == 0 || strcmp(entry->name, "config") == 0 ||
		       strcmp(entry->name, "index") == 0;
	if (path_within(entry->path, "refs"))
		return !has_ending(entry->name, ".lock");
	return strlen(entry->name) == LOOSE || has_ending(entry->name, ".pack") ||
	       has_ending(entry->name, ".idx");
}

static enum dirwalk_verdict find_empty(void *context, const struct dirwalk_entry *entry)
{
	bool *found = context;
	struct stat status;

	if (entry->type == DT_DIR)
		return path_within(entry->path, "refs") || path_within(entry->path, "objects")
			       ? DIRWALK_ON
			       : DIRWALK_PAST;
	if (entry->type != DT_REG || !is_never_empty(entry) ||
	    fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    status.st_size != 0)
		return DIRWALK_ON;
	*found = true;
	return DIRWALK_STOP;
}

bool private_git_is_damaged(int above)
{
	AUTO_FD git = openat(above, "git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool found = false;
	struct error ignored;

	if (git >= 0)
		dirwalk_tree(&(struct dirwalk){ .visit = find_empty,
						.context = &found,
						.deepest = DIRWALK_DEPTH },
			     git, NULL, &ignored);
	return found;
}
