/* Finds changed files that obeyed paths lead to: see apply_targets.h. */
#include "ops/apply_targets.h"

#include "fence/fence_quarantine.h"
#include "util/buffer.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BY_GIT \
	FENCE_QUARANTINE_UNASKED " (your git configuration uses it as a hook, program or settings)"
#define BY_HOME FENCE_QUARANTINE_UNASKED " (a symlink in your home leads to it)"

enum { MOST_QUOTED = 1 << 20 };

struct apply_targets {
	const char *work;
	json_t *changes; /* each by its path */
	json_t *entries; /* paths that matter themselves, with the reason */
	json_t *trees;   /* paths that matter with everything below them, with the reason */
	struct symlinks before, after;
};

/* Returns a text as it would be in the answer, where invalid UTF-8 is replaced. The caller frees
 * it. */
static char *as_answered(const char *text)
{
	AUTO_BUFFER struct buffer quoted = BUFFER_INIT(MOST_QUOTED);
	json_t *value;
	char *copy;

	text_json(&quoted, text);
	value = json_loads(buffer_text(&quoted), JSON_DECODE_ANY, NULL);
	copy = mem_dup(value ? json_string_value(value) : text);
	json_decref(value);
	return copy;
}

/* Returns the path relative to the work tree, as changes are named; "." for the work tree itself;
 * or NULL. The caller frees it. */
static char *inside(const struct apply_targets *targets, const char *path)
{
	if (!path_within(path, targets->work))
		return NULL;
	return as_answered(strcmp(path, targets->work) == 0 ? "."
							    : path + strlen(targets->work) + 1);
}

/* ---- following ---- */

/* Reads a symlink as it will be. */
static ssize_t read_after(void *context, const char *path, char target[PATH_MAX])
{
	const struct apply_targets *targets = context;
	AUTO_FREE char *name = inside(targets, path);
	const json_t *change = name ? json_object_get(targets->changes, name) : NULL;
	const char *text = jsonget_text(change, "target");
	size_t size = strlen(text);

	if (!change)
		return readlink(path, target, PATH_MAX - 1);
	if (!size || size >= PATH_MAX) {
		errno = EINVAL;
		return -1;
	}
	memcpy(target, text, size + 1);
	return (ssize_t)size;
}

/* One path that is followed. */
struct trail {
	const struct apply_targets *targets;
	const char *start; /* relative to the work tree: has a reason of its own; or NULL */
	const char *why;
};

/* The first reason stays. */
static void add_reason(const struct trail *trail, json_t *reasons, const char *name)
{
	if (name && !(trail->start && strcmp(trail->start, name) == 0) &&
	    !json_object_get(reasons, name))
		json_object_set_new(reasons, name, json_string(trail->why));
}

/* A symlink can become a folder, which then has the files that the path leads to. */
static void pass_entry(void *context, const char *path, const char *target)
{
	const struct trail *trail = context;
	AUTO_FREE char *name = inside(trail->targets, path);

	if (name && json_object_get(trail->targets->changes, name))
		add_reason(trail, target ? trail->targets->trees : trail->targets->entries, name);
}

static void follow(struct apply_targets *targets, const char *path, const char *start,
		   const char *why)
{
	struct trail trail = { .targets = targets, .start = start, .why = why };
	AUTO_FREE char *before = symlinks_follow(&targets->before, path, pass_entry, &trail);
	AUTO_FREE char *after = symlinks_follow(&targets->after, path, pass_entry, &trail);
	AUTO_FREE char *end_before = inside(targets, before);
	AUTO_FREE char *end_after = inside(targets, after);

	add_reason(&trail, targets->trees, end_before);
	add_reason(&trail, targets->trees, end_after);
}

/* Follows a symlink of the project if its name has a reason. */
static void follow_symlink(struct apply_targets *targets, const char *name)
{
	AUTO_FREE char *reason = fence_quarantine_reason(name, NULL);
	AUTO_FREE char *path = path_join(targets->work, name);
	AUTO_FREE char *shown = as_answered(name);
	AUTO_FREE char *why = reason ? mem_format("%s: %s leads to it", reason, shown) : NULL;

	if (why)
		follow(targets, path, shown, why);
}

/* ---- the paths ---- */

static void follow_git(struct apply_targets *targets, const json_t *answer)
{
	size_t index;
	json_t *path;

	json_array_foreach(json_object_get(answer, "obeyed"), index, path)
	{
		follow(targets, json_string_value(path), NULL, BY_GIT);
	}
}

static void follow_home(struct apply_targets *targets)
{
	struct list paths;

	fence_quarantine_home(&paths);
	for (size_t i = 0; i < paths.count; i++)
		follow(targets, paths.items[i], NULL, BY_HOME);
	list_release(&paths);
}

static int follow_symlinks(struct apply_targets *targets, struct error *err)
{
	struct list names = { 0 };
	const char *name;
	json_t *change;

	if (fence_quarantine_symlinks(targets->work, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		follow_symlink(targets, names.items[i]);
	list_release(&names);
	json_object_foreach(targets->changes, name, change)
	{
		if (jsonget_string(change, "target"))
			follow_symlink(targets, name);
	}
	return 0;
}

static void index_changes(struct apply_targets *targets, const json_t *answer)
{
	size_t index;
	json_t *change;

	json_array_foreach(json_object_get(answer, "changes"), index, change)
	{
		json_object_set(targets->changes, jsonget_text(change, "path"), change);
	}
}

int apply_targets_new(const json_t *answer, struct apply_targets **ret_targets, struct error *err)
{
	struct apply_targets *targets = mem_zero(sizeof *targets);

	*targets = (struct apply_targets){ .work = jsonget_text(answer, "work_tree"),
					   .changes = json_object(),
					   .entries = json_object(),
					   .trees = json_object(),
					   .after = { .read = read_after, .context = targets } };
	index_changes(targets, answer);
	if (json_object_size(targets->changes)) {
		follow_git(targets, answer);
		follow_home(targets);
		if (follow_symlinks(targets, err) < 0) {
			apply_targets_free(targets);
			return -1;
		}
	}
	*ret_targets = targets;
	return 0;
}

void apply_targets_free(struct apply_targets *targets)
{
	if (!targets)
		return;
	symlinks_release(&targets->before);
	symlinks_release(&targets->after);
	json_decref(targets->changes);
	json_decref(targets->entries);
	json_decref(targets->trees);
	free(targets);
}

/* If a path leads to the root, the files in the root matter. */
const char *apply_targets_reason(const struct apply_targets *targets, const char *path)
{
	AUTO_FREE char *above = mem_dup(path);
	const char *why = jsonget_string(targets->entries, path);

	if (!why && !strchr(path, '/'))
		why = jsonget_string(targets->trees, ".");
	while (!why && !(why = jsonget_string(targets->trees, above))) {
		char *slash = strrchr(above, '/');

		if (!slash)
			break;
		*slash = '\0';
	}
	return why;
}
