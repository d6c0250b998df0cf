/* Pinned files that an agent changed: see apply_pins.h. */
#include "ops/apply_pins.h"

#include "snapshot/snapshot.h"
#include "util/text/jsonget.h"

#include <string.h>

/* How the checks saw a file that the agent changed. */
static const struct {
	const char *shown, *why;
} seen[] = {
	{ "base", "the checks used the version from before the loop" },
	{ "merged", "the checks used the scripts and settings from before the loop" },
	{ "hidden", "the checks did not see it" },
};

static void tell_all(struct snapshot_work *work, const char *key, const json_t *values)
{
	size_t index;
	const json_t *value;

	json_array_foreach(values, index, value) snapshot_tell(work, key, json_string_value(value));
}

/* Returns how the checks saw each file, by its path. */
static json_t *by_path(const json_t *list)
{
	json_t *pins = json_object();
	size_t index;
	json_t *file;

	json_array_foreach(list, index, file)
	{
		json_object_set(pins, jsonget_text(file, "path"), json_object_get(file, "shown"));
	}
	return pins;
}

int apply_pins_find(const char *state, const struct client_loop *loop, int64_t to,
		    json_t **ret_pins, struct error *err)
{
	const struct loop_options *options = &loop->state.options;
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	*ret_pins = NULL;
	if (!options->check_view || options->checkpoints_off || !options->checks.count || to < 0)
		return 0;
	snapshot_begin(&work, "pinned", state, options->project, loop->id);
	snapshot_tell_number(&work, "to", to);
	tell_all(&work, "pin", options->pin);
	tell_all(&work, "unpin", options->unpin);
	for (size_t i = 0; i < options->checks.count; i++)
		snapshot_tell(&work, "check", options->checks.items[i]);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result == 0)
		*ret_pins = by_path(json_object_get(answer, "pinned"));
	json_decref(answer);
	return result;
}

const char *apply_pins_why(const json_t *pins, const char *path)
{
	const char *shown = jsonget_text(pins, path);

	for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
		if (strcmp(shown, seen[i].shown) == 0)
			return seen[i].why;
	return NULL;
}
