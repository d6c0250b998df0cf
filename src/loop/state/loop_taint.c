/* Telling what the agents of a loop can change: see loop_taint.h. */
#include "loop/state/loop_taint.h"

#include "util/text/jsonget.h"

void loop_taint_add_config(const json_t *config, struct taint *taint)
{
	const json_t *paths = json_object_get(json_object_get(config, "fence"), "write");
	size_t index;
	const json_t *path;

	json_array_foreach(paths, index, path) taint_add(taint, jsonget_text(path, "path"));
}

void loop_taint_add(const struct loop_state *state, struct taint *taint)
{
	const struct loop_options *options = &state->options;

	taint_add(taint, options->project ? options->project : "");
	taint_add(taint, options->origin ? options->origin : "");
	loop_taint_add_config(state->config, taint);
}
