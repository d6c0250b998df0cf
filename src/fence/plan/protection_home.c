/* Protects files that paths at home lead to: see protection.h. */
#include "fence/plan/defaults.h"
#include "fence/plan/permit.h"
#include "fence/plan/protection.h"
#include "fence/plan/ruleset.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Protects a well-known path of the user's if it leads into a folder that the command may write. An
 * example is ~/.config/nvim as a symlink into a repository of dotfiles.
 */
static int protect_place(struct fence_plan *plan, const char *path, enum wire_access access,
			 const char *origin, struct error *err)
{
	AUTO_FREE char *real = permit_deepest(path);
	const struct fence_rule *rule = fence_plan_decide(plan, real);

	if (!rule || rule->access != WIRE_WRITE || (rule->draft && access != WIRE_HIDE))
		return 0;
	if (strcmp(real, rule->path) == 0)
		return error_set(
			err,
			"'%s' leads to '%s', which the command could write; use --write for folders below it only, or move it elsewhere",
			path, real);
	ruleset_add_existing(plan, real, access, origin, true);
	return 0;
}

/* Returns whether a path below home passes through a symlink, at the cost of one system call. */
static bool leads_elsewhere(int home, const char *place)
{
	AUTO_FD fd = fd_openat2(home, place, O_PATH, 0, RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);

	return fd < 0 && errno == ELOOP;
}

static int protect_list(struct fence_plan *plan, const struct home *names, const char *const *list,
			bool secret, struct error *err)
{
	AUTO_FD home = open(plan->identity.home, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (; home >= 0 && *list; list++) {
		AUTO_FREE char *path = NULL;
		bool hide;

		if (!home_may_have(names, *list) || !leads_elsewhere(home, *list))
			continue;
		path = path_join(plan->identity.home, *list);
		hide = secret && access(path, F_OK) == 0;
		if (protect_place(plan, path, hide ? WIRE_HIDE : WIRE_READ,
				  secret ? "credentials" : "executed by the host", err) < 0)
			return -1;
	}
	return 0;
}

static void protect_found(void *context, const char *path, bool secret)
{
	const struct names_found whatever_it_holds = { .by[NAMES_SECRET] = path };

	protection_add_path(context, path, secret ? &whatever_it_holds : NULL);
}

/* Protects files that symlinks in the home folder lead to. */
static void protect_linked(struct fence_plan *plan, const struct home *names)
{
	struct symlinks symlinks = { 0 };
	struct protection protection = { .plan = plan, .symlinks = &symlinks };
	AUTO_FREE char *left_out = home_search(plan->identity.home, names, protect_found,
					       &protection);

	symlinks_release(&symlinks);
	if (left_out)
		list_printf(
			&plan->notices,
			"your home has too many folders to look for links in: not searched from "
			"%s on; files of the project that links there lead to stay writable",
			left_out);
}

int protection_add_home(struct fence_plan *plan, const struct home *names, struct error *err)
{
	AUTO_FREE char *settings = permit_settings_folder(plan);

	if (settings && protect_place(plan, settings, WIRE_READ, "executed by the host", err) < 0)
		return -1;
	if (protect_list(plan, names, defaults_home_executed, false, err) < 0 ||
	    protect_list(plan, names, defaults_home_secrets, true, err) < 0)
		return -1;
	protect_linked(plan, names);
	return 0;
}
