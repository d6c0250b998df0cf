/* Hints: see hint.h. */
#include "settings/hint.h"

#include "fence/fence_explain.h"
#include "gitconfig/gitdir.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"

#include <string.h>
#include <unistd.h>

static bool is_shown(const struct fence_plan *plan, const char *path)
{
	AUTO_FREE char *question = mem_format("path:%s", path);
	struct fence_explanation about;
	bool shown;

	fence_explain(plan, question, plan->cwd, &about);
	shown = strcmp(about.verdict, "readable") == 0 || strcmp(about.verdict, "writable") == 0;
	fence_explanation_release(&about);
	return shown;
}

/* Searches the fence's own PATH: a hidden first match does not matter if a later one is shown. */
static bool is_found_inside(const struct fence_plan *plan, const char *name)
{
	const char *at = list_after_prefix(&plan->environment, "PATH=");

	while (at && *at) {
		size_t size = strcspn(at, ":");
		AUTO_FREE char *file = mem_format("%.*s/%s", (int)size, at, name);

		if (at[0] == '/' && access(file, X_OK) == 0 && is_shown(plan, file))
			return true;
		at += size + (at[size] == ':');
	}
	return false;
}

char *hint_hidden(const struct fence_plan *plan, const char *name, char **ret_read)
{
	bool named = strchr(name, '/');
	AUTO_FREE char *path = named ? path_absolute(name, plan->cwd) : process_find(name);

	if (!path || access(path, X_OK) < 0 ||
	    (named ? is_shown(plan, path) : is_found_inside(plan, name)))
		return NULL;
	/* For a bare name, --read must show the folder: PATH inside lists only visible folders. */
	*ret_read = mem_format("%.*s",
			       (int)(named ? strlen(path) : strlen(path) - strlen(name) - 1), path);
	return mem_dup(path);
}

char *hint_part(const struct fence_place *place)
{
	AUTO_FREE char *root = gitdir_around(place->project);

	/* A home can be a repository of dotfiles; it is not a project. */
	if (!root || strcmp(root, place->identity.home) == 0)
		return NULL;
	return mem_format(
		"the project is only %s/ of the repository %s (for the whole repository: --project %s)",
		place->project + strlen(root) + 1, root, root);
}
