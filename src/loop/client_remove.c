/* Removing loops: see client.h. */
#include "loop/client.h"

#include "loop/state/loop_folder.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GONE  ".removed-"
#define SPENT "draft.spent"

/* Removes loops whose removal was cut off. */
static void remove_leftovers(int loops, uint64_t *bytes)
{
	int copy = fcntl(loops, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strncmp(entry->d_name, GONE, strlen(GONE)) == 0)
			dirwalk_remove(loops, entry->d_name, bytes);
	if (dir)
		closedir(dir);
}

char *client_work_trees(const char *state)
{
	return mem_format("%s-worktrees", state);
}

int client_remove_folder(const char *path, uint64_t *bytes, struct error *err)
{
	AUTO_FREE char *above = strndup(path, strlen(path) - strlen(path_name(path)));
	AUTO_FD folder = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if ((folder < 0 || dirwalk_remove(folder, path_name(path), bytes) < 0) && errno != ENOENT)
		return error_sys(err, "remove '%s'", path);
	return 0;
}

int client_remove(const char *state, const struct client_loop *loop, uint64_t *ret_bytes,
		  struct error *err)
{
	AUTO_FREE char *path = loop_folder_loops(state, err);
	AUTO_FREE char *gone = mem_format(GONE "%s", loop->id);
	AUTO_FD loops = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	*ret_bytes = 0;
	if (!path)
		return -1;
	if (loops < 0)
		return error_sys(err, "open '%s'", path);
	remove_leftovers(loops, ret_bytes);
	/* The rename is atomic: the loop exists as a whole, or not at all. */
	if (renameat(loops, loop->id, loops, gone) < 0 ||
	    dirwalk_remove(loops, gone, ret_bytes) < 0)
		return error_sys(err, "remove the loop %s", loop->id);
	return 0;
}

/* A draft of which a part is missing would look like one whose files were deleted: it loses its
 * name first. */
int client_remove_draft(const struct client_loop *loop, struct error *err)
{
	AUTO_FD folder = open(loop->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t bytes = 0;

	if (folder < 0)
		return error_sys(err, "open '%s'", loop->folder);
	if ((dirwalk_remove(folder, SPENT, &bytes) < 0 && errno != ENOENT) ||
	    (renameat(folder, "draft", folder, SPENT) < 0 && errno != ENOENT) ||
	    (dirwalk_remove(folder, SPENT, &bytes) < 0 && errno != ENOENT))
		return error_sys(err, "remove the draft of loop %s", loop->id);
	return 0;
}
