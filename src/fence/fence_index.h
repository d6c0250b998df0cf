/*
 * An index of a project: the few entries that need a look when the fence is planned.
 *
 * A scan reads the names of all files, which takes long in a large project. It can record the
 * entries whose names matter, and a later scan looks at those alone. The owner of an index must
 * know that nothing has changed in the project since: before a scan that records reads a folder, it
 * can put a watch on it, or remember when it changed last, which tells about its names.
 *
 * A view of a draft shows layers over the project. Its index is the project's, with the entries of
 * the layers.
 */
#ifndef FENCE_FENCE_INDEX_H
#define FENCE_FENCE_INDEX_H

#include "fence/fence_spec.h"
#include "util/file/dirwalk.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>

/* A folder, as it was before the scan read it. */
struct fence_index_folder {
	char *path;
	struct dirwalk_folder state;
};

struct fence_index {
	struct list paths; /* relative to the project, sorted with dirwalk_sort() */
	bool complete;     /* a scan may rely on it */
	int watch;         /* an inotify instance, or -1 */
	size_t most;       /* the number of folders that may be watched */
	size_t watched;    /* the number of watched folders; more than `most`: some are not */
	bool timed;        /* remember when each folder changed last */
	bool unsure;       /* a folder may have changed later at the same time */
	struct fence_index_folder *folders;
	size_t folder_count;
};

#define FENCE_INDEX_INIT ((struct fence_index){ .watch = -1 })

/* Closes the instance as well. */
void fence_index_release(struct fence_index *index);

/* Forgets what was recorded, and begins again. */
void fence_index_clear(struct fence_index *index);

/* Records an entry that a scan may have to look at. */
void fence_index_add(struct fence_index *index, const char *path);

/* Records a folder, which must not have been read yet. `name` is relative to the descriptor, and
 * `path` to the project. */
void fence_index_add_folder(struct fence_index *index, int folder, const char *name,
			    const char *path);

/* Reports whether all changes since the scan have been or will be noticed. */
bool fence_index_is_watched(const struct fence_index *index);

/* Reports whether the project certainly has the names that the scan found. The index is timed. */
bool fence_index_is_current(const struct fence_index *index, const char *project);

/* Makes a complete index of what the scan has recorded. */
void fence_index_settle(struct fence_index *index);

/* Makes the index of a view, which shows the layers over the project. The spec has the project's
 * place. Returns 0, or -1 with err set if a folder of a layer cannot be read. The caller releases
 * *ret_index in both cases. */
int fence_index_view(const struct fence_index *project, const struct fence_spec *spec,
		     const struct list *layers, struct fence_index *ret_index, struct error *err);

#endif
