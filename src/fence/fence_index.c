/* An index of a project: see fence_index.h. */
#include "fence/fence_index.h"

#include "util/file/fd.h"
#include "util/file/file_system.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>

/* Everything that changes names, contents or permissions. */
static const uint32_t events = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
			       IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

void fence_index_clear(struct fence_index *index)
{
	list_release(&index->paths);
	index->paths = (struct list){ 0 };
	for (size_t i = 0; i < index->folder_count; i++)
		free(index->folders[i].path);
	free(index->folders);
	index->folders = NULL;
	index->folder_count = 0;
	index->complete = index->unsure = false;
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

static void add_watch(struct fence_index *index, int folder, const char *name)
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

/* Times have the resolution of a clock tick: what has just changed can change again unnoticed. */
static bool is_recent(const struct timespec *changed)
{
	static const int64_t second_ns = 1000000000, tick_ns = 50000000;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec > changed->tv_sec + 1)
		return false;
	return now.tv_sec < changed->tv_sec ||
	       (now.tv_sec - changed->tv_sec) * second_ns + now.tv_nsec - changed->tv_nsec <
		       tick_ns;
}

static int look(int folder, const char *path, struct dirwalk_folder *ret_state)
{
	struct stat status;

	if (fstatat(folder, path, &status, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	*ret_state = (struct dirwalk_folder){ status.st_dev, status.st_ino, status.st_ctim };
	return 0;
}

static void add_time(struct fence_index *index, int folder, const char *name, const char *path)
{
	struct fence_index_folder added = { 0 };

	if (!index->timed || index->unsure)
		return;
	index->unsure = look(folder, name, &added.state) < 0 || is_recent(&added.state.changed) ||
			(index->folder_count &&
			 added.state.device != index->folders[0].state.device);
	if (index->unsure)
		return;
	added.path = mem_dup(path);
	index->folders = mem_extend(index->folders, index->folder_count, sizeof *index->folders);
	index->folders[index->folder_count++] = added;
}

void fence_index_add_folder(struct fence_index *index, int folder, const char *name,
			    const char *path)
{
	add_watch(index, folder, name);
	add_time(index, folder, name, path);
}

static bool is_same(int project, const struct fence_index_folder *folder)
{
	struct dirwalk_folder now;

	return look(project, folder->path, &now) == 0 && dirwalk_same(&folder->state, &now);
}

bool fence_index_is_current(const struct fence_index *index, const char *project)
{
	AUTO_FD fd = open(project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool same = fd >= 0 && index->complete && index->timed && !index->unsure &&
		    index->folder_count && file_system_is_local(project);

	for (size_t i = 0; same && i < index->folder_count; i++)
		same = is_same(fd, &index->folders[i]);
	return same;
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
