/* Hints: see hint.h. */
#include "settings/hint.h"

#include "fence/fence_explain.h"
#include "gitconfig/gitdir.h"
#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"

#include <limits.h>
#include <stdlib.h>
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

/* Returns the folder of a path, without a slash at its end. The caller frees it. */
static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash > path ? strndup(path, (size_t)(slash - path)) : mem_dup("/");
}

/* Returns what to show of a program that a symlink leads to: with its libraries, in PREFIX of
 * PREFIX/bin/NAME, unless that is much more than one program. The caller frees it. */
static char *prefix_of(const struct fence_plan *plan, const char *file)
{
	AUTO_FREE char *folder = parent_of(file);
	AUTO_FREE char *prefix = parent_of(folder);

	if (strcmp(path_name(folder), "bin") == 0 && !path_within(plan->identity.home, prefix) &&
	    !path_within(plan->project, prefix))
		return mem_dup(prefix);
	return mem_dup(folder);
}

/* Follows a symlink, and adds the folders of all links and the target. Returns false if it
 * is not a symlink. */
static bool follow(const struct fence_plan *plan, const char *link, struct list *folders)
{
	enum { MOST_LINKS = 40 };
	AUTO_FREE char *at = mem_dup(link);
	char target[PATH_MAX];
	int links = 0;

	for (ssize_t size;
	     links < MOST_LINKS && (size = readlink(at, target, sizeof target - 1)) > 0; links++) {
		AUTO_FREE char *folder = parent_of(at);

		if (!is_shown(plan, folder))
			list_add(folders, folder);
		target[size] = '\0';
		free(at);
		at = path_absolute(target, folder);
	}
	if (links) {
		AUTO_FREE char *prefix = prefix_of(plan, at);

		list_add(folders, prefix);
	}
	return links;
}

/* Joins the folders that are not in another one, as values of --read. The caller frees them. */
static char *join_reads(const struct list *folders)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);

	for (size_t i = 0; i < folders->count; i++) {
		bool covered = false;

		for (size_t k = 0; k < folders->count && !covered; k++)
			covered = k != i && path_within(folders->items[i], folders->items[k]) &&
				  (k < i || strcmp(folders->items[i], folders->items[k]) != 0);
		if (!covered)
			buffer_printf(&text, "%s%s", text.used ? " --read " : "",
				      folders->items[i]);
	}
	return mem_dup(buffer_text(&text));
}

char *hint_hidden(const struct fence_plan *plan, const char *name, char **ret_read)
{
	bool named = strchr(name, '/');
	AUTO_FREE char *path = named ? path_absolute(name, plan->cwd) : process_find(name);

	if (!path || access(path, X_OK) < 0 ||
	    (named ? is_shown(plan, path) : is_found_inside(plan, name)))
		return NULL;

	__attribute__((cleanup(list_release))) struct list folders = { 0 };
	char *real = follow(plan, path, &folders) ? realpath(path, NULL) : NULL;

	if (real) {
		*ret_read = join_reads(&folders);
		return real;
	}
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
