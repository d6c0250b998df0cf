/* The conflicts of a merge: see batch_conflict.h. */
#include "batch/batch_conflict.h"

enum { PATHS_MAX = 50, TASKS_MAX = 50 };

/* Adds a task to each conflict whose path it has changed. */
static void add_task(json_t *conflicts, const char *id, const struct list *changed)
{
	size_t index;
	json_t *conflict;

	json_array_foreach(conflicts, index, conflict)
	{
		if (list_has(changed, json_string_value(json_object_get(conflict, "path"))))
			json_array_append_new(json_object_get(conflict, "tasks"), json_string(id));
	}
}

/* Reads what the loop of a task that has landed has changed. A result that cannot be read is not
 * named: the merge itself does not depend on that. */
static void look_at(const char *home, const struct batch_task *task, json_t *conflicts)
{
	struct client_loop loop = { 0 };
	struct list changed = { 0 };
	struct error ignored;

	if (client_find(home, task->loop, NULL, &loop, &ignored) == 0 &&
	    client_changed_paths(home, &loop, &changed, &ignored) == 0)
		add_task(conflicts, task->id, &changed);
	list_release(&changed);
	client_loop_release(&loop);
}

json_t *batch_conflict_list(const struct batch_state *state, const char *home, size_t task,
			    const struct client_loop *loop)
{
	const json_t *paths = loop->state.options.conflict_paths;
	json_t *conflicts = json_array_size(paths) ? json_array() : NULL;
	size_t looked = 0;

	for (size_t i = 0; i < json_array_size(paths) && i < PATHS_MAX; i++)
		json_array_append_new(conflicts, json_pack("{s:O, s:[]}", "path",
							   json_array_get(paths, i), "tasks"));
	for (size_t i = 0; conflicts && i < state->count && looked < TASKS_MAX; i++) {
		if (state->tasks[i].landed_seq <= state->tasks[task].since_seq)
			continue;
		look_at(home, &state->tasks[i], conflicts);
		looked++;
	}
	return conflicts;
}
