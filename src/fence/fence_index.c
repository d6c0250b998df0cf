/* An index of a project: see fence_index.h. */
#include "fence/fence_index.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/inotify.h>

/* Everything that changes names, contents or permissions. */
static const uint32_t events = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
			       IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

void fence_index_clear(struct fence_index *index)
{
	list_release(&index->paths);
	index->paths = (struct list){ 0 };
	index->complete = false;
	index->watched = 0;
}

void fence_index_release(struct fence_index *index)
{
	fence_index_clear(index);
	fd_close(&index->watch);
}

void fence_index_add(struct fence_index *index, const char *path)
{
	list_add(&index->paths, path);
}

void fence_index_watch(struct fence_index *index, int folder, const char *name)
{
	char path[32 + NAME_MAX];

	if (index->watch < 0 || index->watched > index->most)
		return;
	errno = ENOSPC;
	snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name);
	if (index->watched < index->most &&
	    inotify_add_watch(index->watch, path, events | IN_ONLYDIR | IN_DONT_FOLLOW) >= 0)
		index->watched++;
	else if (errno != EACCES) /* the folder above tells when it can be read */
		index->watched = index->most + 1;
}

bool fence_index_is_watched(const struct fence_index *index)
{
	return index->watch >= 0 && index->watched && index->watched <= index->most;
}

void fence_index_settle(struct fence_index *index)
{
	dirwalk_sort(&index->paths);
	index->complete = true;
}
