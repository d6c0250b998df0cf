/* Hides folders that the command may not enter: see protection.h. */
#include "fence/plan/known.h"
#include "fence/plan/protection.h"
#include "fence/plan/ruleset.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the innermost requested folder that contains a path, or NULL. */
static const struct fence_rule *find_root(const struct fence_plan *plan, const char *path)
{
	const struct fence_rule *root = NULL;

	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];

		if (rule->root && rule->is_dir && path_within(path, rule->path) &&
		    (!root || strlen(rule->path) > strlen(root->path)))
			root = rule;
	}
	return root;
}

/* In a writable folder, root's files belong to the command. */
static bool may_enter(const struct fence_plan *plan, const struct fence_rule *root,
		      const struct stat *folder)
{
	const struct fence_identity *identity = &plan->identity;
	bool lent = root->lent || root->draft;

	if (folder->st_uid == identity->uid || (lent && folder->st_uid == 0))
		return folder->st_mode & S_IXUSR;
	if (folder->st_gid == identity->gid || (lent && folder->st_gid == 0))
		return folder->st_mode & S_IXGRP;
	return folder->st_mode & S_IXOTH;
}

/* Returns the outermost folder above a path that the command may not enter, or NULL. The caller
 * frees it. */
static char *find_closed(const struct fence_plan *plan, const char *path)
{
	const struct fence_rule *root = find_root(plan, path);
	AUTO_FREE char *above = mem_dup(path);
	struct stat status;

	for (char *end = root ? above + strlen(root->path) : NULL;
	     end && *end && (end = strchr(end + 1, '/')); *end = '/') {
		*end = '\0';
		if (lstat(above, &status) == 0 && !may_enter(plan, root, &status))
			return mem_dup(above);
	}
	return NULL;
}

static void hide(struct fence_plan *plan, const char *path)
{
	ruleset_add_existing(plan, path, WIRE_HIDE, "unreadable", false);
	known_add_hidden(plan, path);
	list_printf(&plan->notices,
		    "hidden because the command cannot enter it, and it contains protected files: "
		    "%s",
		    path);
}

void protection_hide_closed(struct fence_plan *plan)
{
	size_t count = plan->identity.mapped ? plan->rule_count : 0;
	struct list closed = { 0 };

	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *path = find_closed(plan, plan->rules[i].path);

		if (path && !list_has(&closed, path))
			list_add(&closed, path);
	}
	for (size_t i = 0; i < closed.count; i++)
		hide(plan, closed.items[i]);
	list_release(&closed);
}
