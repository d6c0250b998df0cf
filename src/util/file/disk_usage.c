/* Disk usage of a folder: see disk_usage.h. */
#include "util/file/disk_usage.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ENTRIES = 5000000 };

struct count {
	const char *without;
	uint64_t bytes;
	size_t entries;
};

static enum dirwalk_verdict add_entry(void *context, const struct dirwalk_entry *entry)
{
	struct count *count = context;
	struct stat status;

	if (count->without && entry->depth == 0 && strcmp(entry->name, count->without) == 0)
		return DIRWALK_PAST;
	if (entry->closed || fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return DIRWALK_PAST;
	/* Divides by the number of hard links, which counts a file once if all of them are here. */
	count->bytes += (uint64_t)status.st_blocks * 512 /
			(S_ISDIR(status.st_mode) || !status.st_nlink ? 1 : status.st_nlink);
	return ++count->entries < MOST_ENTRIES ? DIRWALK_ON : DIRWALK_STOP;
}

uint64_t disk_usage_bytes(const char *path, const char *without)
{
	struct count count = { .without = without };
	const struct dirwalk walk = { .visit = add_entry,
				      .context = &count,
				      .deepest = DIRWALK_ANY_DEPTH,
				      .no_paths = true };
	AUTO_FD root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored;

	/* Unreachable folders are not counted. */
	if (root >= 0)
		dirwalk_tree(&walk, root, NULL, &ignored);
	return count.bytes;
}
