/* Loops that begin with the result of another one: see op_start_from.h. */
#include "ops/op_start_from.h"

#include "draft/draft.h"
#include "snapshot/snapshot.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

static bool has_ended(const struct client_loop *loop)
{
	return loop->state.step == LOOP_STEP_finished || loop->state.step == LOOP_STEP_paused;
}

/* Checks that the loop has a draft of this project, with a result. */
static int check(const struct client_loop *loop, const char *project, struct error *err)
{
	const struct loop_options *options = &loop->state.options;

	if (loop->damaged)
		return error_with(err, ERROR_IO, "the journal of loop %s cannot be read: %.1000s",
				  loop->id, loop->trouble ? loop->trouble : "it is damaged");
	if (!options->draft || strcmp(options->project, project) != 0)
		return error_with(err, ERROR_REFUSED,
				  "loop %s has no draft of '%s': only such a loop can be the "
				  "beginning of another one",
				  loop->id, project);
	if (!has_ended(loop))
		return error_with(err, ERROR_BUSY,
				  "loop %s is still running (to stop it first: ringfence pause %s)",
				  loop->id, loop->id);
	if (loop->state.checkpoint < 0)
		return error_with(err, ERROR_REFUSED, "loop %s has no result", loop->id);
	return 0;
}

static int find(const char *state, const char *project, const char *id,
		struct client_loop *ret_loop, struct error *err)
{
	return id && (client_find(state, id, NULL, ret_loop, err) < 0 ||
		      check(ret_loop, project, err) < 0)
		       ? -1
		       : 0;
}

int op_start_from_find(const char *state, const char *project, const char *from, const char *with,
		       struct op_start_from *ret_from, struct error *err)
{
	if (with && !from)
		return error_with(err, ERROR_INVALID,
				  "--with merges a loop into the result of another one: add --from "
				  "LOOP");
	return find(state, project, from, &ret_from->from, err) < 0
		       ? -1
		       : find(state, project, with, &ret_from->with, err);
}

void op_start_from_release(struct op_start_from *from)
{
	client_loop_release(&from->from);
	client_loop_release(&from->with);
	*from = (struct op_start_from){ 0 };
}

/* Returns the last commit of a loop, or the one that it began with, or NULL. */
static const char *commit_of(const struct loop_state *state)
{
	return state->git_commit ? state->git_commit : state->options.from_commit;
}

void op_start_from_config(const struct op_start_from *from, json_t *config)
{
	if (!from->from.id)
		return;
	json_object_set_new(config, "from", json_string(from->from.id));
	if (commit_of(&from->from.state))
		json_object_set_new(config, "from_commit",
				    json_string(commit_of(&from->from.state)));
	if (from->with.id)
		json_object_set_new(config, "with", json_string(from->with.id));
}

int op_start_from_base(const char *state, const struct op_start_from *from, const char *id,
		       struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, "fork", state, from->from.state.options.project, id);
	snapshot_tell(&work, "other", from->from.id);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	return result;
}

static void read_texts(const json_t *texts, struct list *list)
{
	size_t index;
	const json_t *text;

	json_array_foreach(texts, index, text)
	{
		list_add(list, json_string_value(text));
	}
}

/* Finds the checkpoint that the changes of the second loop are compared with: where it began or, if
 * it has merged a loop itself, the result that it merged that into. */
static int find_base(const char *state, const struct client_loop *with, char **ret_loop,
		     int64_t *ret_number, struct error *err)
{
	struct client_loop below = { 0 };

	if (!with->state.options.with) {
		*ret_loop = mem_dup(with->id);
		*ret_number = with->state.start;
		return 0;
	}
	if (find(state, with->state.options.project, with->state.options.from, &below, err) < 0)
		return -1;
	*ret_loop = mem_dup(below.id);
	*ret_number = below.state.checkpoint;
	client_loop_release(&below);
	return 0;
}

/* Merges what the second loop has changed since then. */
static int merge(const char *state, const struct client_loop *with, const char *id,
		 const char *draft, struct op_start_from_conflicts *conflicts, struct error *err)
{
	AUTO_FREE char *base = NULL;
	struct snapshot_work work;
	json_t *answer = NULL;
	int64_t number;
	int result;

	if (find_base(state, with, &base, &number, err) < 0)
		return -1;
	snapshot_begin(&work, "combine", state, with->state.options.project, id);
	snapshot_tell(&work, "draft", draft);
	snapshot_tell(&work, "other", with->id);
	snapshot_tell(&work, "base", base);
	snapshot_tell_number(&work, "from", number);
	snapshot_tell_number(&work, "to", with->state.checkpoint);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result == 0) {
		read_texts(json_object_get(answer, "conflicts"), &conflicts->texts);
		read_texts(json_object_get(answer, "conflict_paths"), &conflicts->paths);
	}
	json_decref(answer);
	return result;
}

int op_start_from_fill(const char *state, const struct op_start_from *from, const char *id,
		       const char *draft, struct op_start_from_conflicts *conflicts,
		       struct error *err)
{
	AUTO_FD held = client_hold(&from->from, err); /* nobody resumes it meanwhile */

	if (held < 0 || draft_seed(draft, from->from.state.options.draft, err) < 0)
		return -1;
	return from->with.id ? merge(state, &from->with, id, draft, conflicts, err) : 0;
}
