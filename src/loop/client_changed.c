/* The paths that loops have changed: see client.h. */
#include "loop/client.h"

#include "snapshot/snapshot.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>

enum { MERGES_MAX = 100 }; /* of one result */

static void add_paths(const json_t *changes, struct list *paths)
{
	size_t index;
	const json_t *change;

	json_array_foreach(json_object_get(changes, "changes"), index, change)
	{
		list_add(paths, jsonget_text(change, "path"));
		if (jsonget_string(change, "from"))
			list_add(paths, jsonget_string(change, "from"));
	}
}

/* Adds what has changed since a loop began. */
static int add_own(const char *state, const struct client_loop *loop, struct list *paths,
		   struct error *err)
{
	struct snapshot_work work;
	json_t *changes;

	if (loop->damaged || loop->state.checkpoint < 0)
		return error_set(err, "loop %s has no result", loop->id);
	snapshot_begin(&work, "diff", state, loop->state.options.project, loop->id);
	snapshot_tell_number(&work, "from", loop->state.start);
	snapshot_tell_number(&work, "to", loop->state.checkpoint);
	snapshot_tell(&work, "style", "json");
	changes = snapshot_read(&work, err);
	snapshot_release(&work);
	add_paths(changes, paths);
	json_decref(changes);
	return changes ? 0 : -1;
}

int client_changed_paths(const char *state, const struct client_loop *loop, struct list *paths,
			 struct error *err)
{
	const struct loop_options *options = &loop->state.options;
	AUTO_FREE char *with = options->with ? mem_dup(options->with) : NULL;
	int result = add_own(state, loop, paths, err);

	for (int i = 0; result == 0 && with && i < MERGES_MAX; i++) {
		struct client_loop merged = { 0 };

		result = client_find(state, with, NULL, &merged, err);
		if (result == 0)
			result = add_own(state, &merged, paths, err);
		free(with);
		with = result == 0 && merged.state.options.with ? mem_dup(merged.state.options.with)
								: NULL;
		client_loop_release(&merged);
	}
	return result;
}
