/* Paths that are always refused: see permit.h. */
#include "fence/plan/permit.h"

#include "fence/plan/defaults.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the listed path below home that is equal to, above or below `path`, or NULL. */
static const char *find_overlap(const char *home, const char *const *list, const char *path,
				char place[PATH_MAX])
{
	if (!home[0])
		return NULL;
	for (; *list; list++) {
		snprintf(place, PATH_MAX, "%s/%s", home, *list);
		if (path_within(path, place) || path_within(place, path))
			return place;
	}
	return NULL;
}

/* Refuses folders that are too broad to give to a command. */
static int refuse_wide(const struct fence_plan *plan, const char *option, const char *path,
		       struct error *err)
{
	const struct fence_identity *identity = &plan->identity;

	for (const char *const *wide = defaults_wide; *wide; wide++)
		if (strcmp(path, *wide) == 0)
			return error_set(
				err,
				"%s '%s' is refused: it is too broad; choose a folder below it",
				option, path);
	if ((identity->home[0] && path_within(identity->home, path)) ||
	    (identity->passwd_home[0] && path_within(identity->passwd_home, path)))
		return error_set(
			err,
			"%s '%s' is refused: it is or contains your home folder; choose a folder below your home",
			option, path);
	if (path_within(plan->state, path) || path_within(path, plan->state))
		return error_set(err, "%s '%s' is refused: Ringfence keeps its state in '%s'",
				 option, path, plan->state);
	return 0;
}

char *permit_settings_folder(const struct fence_plan *plan)
{
	AUTO_FREE char *folder = env_config_folder(plan->identity.home, plan->identity.switched);

	return folder ? path_join(folder, "ringfence") : NULL;
}

char *permit_deepest(const char *path)
{
	AUTO_FREE char *part = mem_dup(path);
	char *real;

	while (!(real = realpath(part, NULL)) && strrchr(part, '/') > part)
		*strrchr(part, '/') = '\0';
	return real ? real : mem_dup("/");
}

int permit_writable(const struct fence_plan *plan, const char *option, const char *path,
		    struct error *err)
{
	AUTO_FREE char *settings = permit_settings_folder(plan);
	const char *place = NULL;
	char found[PATH_MAX];

	if (refuse_wide(plan, option, path, err) < 0)
		return -1;
	if (settings && (path_within(path, settings) || path_within(settings, path)))
		place = settings;
	for (const char *const *system = defaults_unwritable; *system; system++)
		if (path_within(path, *system) || path_within(*system, path))
			return error_set(err, "%s '%s' is refused: '%s' belongs to the system",
					 option, path, *system);
	if (!place)
		place = find_overlap(plan->identity.home, defaults_home_executed, path, found);
	if (!place)
		place = find_overlap(plan->identity.home, defaults_home_secrets, path, found);
	if (place)
		return error_set(
			err,
			"%s '%s' is refused: '%s' is protected (the host executes it, or it holds credentials)",
			option, path, place);
	return 0;
}

int permit_readable(const struct fence_plan *plan, const char *option, const char *path,
		    struct error *err)
{
	static const char *const whole[] = { "/etc", "/run", "/var/run", "/proc",
					     "/sys", "/dev", NULL };
	AUTO_FREE char *secret = NULL;

	if (refuse_wide(plan, option, path, err) < 0)
		return -1;
	for (const char *const *at = whole; *at; at++)
		if (strcmp(path, *at) == 0 ||
		    (strncmp(*at, "/proc", 5) == 0 && path_within(path, *at)))
			return error_set(
				err,
				"%s '%s' is refused: name only the files below it that the command needs",
				option, path);
	for (const char *const *at = defaults_home_secrets; *at && plan->identity.home[0]; at++) {
		free(secret);
		secret = path_join(plan->identity.home, *at);
		if (strcmp(path, secret) == 0)
			return error_set(
				err,
				"%s '%s' is refused: it holds credentials; name only the file in it that the command needs",
				option, path);
	}
	return 0;
}

int fence_plan_permits(const struct fence_plan *plan, bool writable, const char *path,
		       struct error *err)
{
	return writable ? permit_writable(plan, "write", path, err)
			: permit_readable(plan, "read", path, err);
}

int permit_hidden(const struct fence_plan *plan, const char *option, const char *path,
		  struct error *err)
{
	for (const char *const *system = defaults_unwritable; *system; system++)
		if (path_within(*system, path))
			return error_set(err, "%s '%s' is refused: no command can run without '%s'",
					 option, path, *system);
	if (path_within(plan->project, path))
		return error_set(err, "%s '%s' is refused: it would hide the project itself",
				 option, path);
	return 0;
}
