/* The command's environment: see environment.h. */
#include "fence/plan/environment.h"

#include "fence/plan/defaults.h"
#include "fence/run/way_out.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static bool is_passed(const char *variable)
{
	size_t size = strcspn(variable, "=");

	for (const char *const *at = defaults_environment; *at; at++) {
		size_t known = strlen(*at);

		if ((*at)[known - 1] == '*' ? strncmp(variable, *at, known - 1) == 0
					    : size == known && strncmp(variable, *at, size) == 0)
			return true;
	}
	return false;
}

/* Returns whether a folder is visible inside: a system folder, or one that a rule shows. */
static bool is_shown(const struct fence_plan *plan, const char *folder)
{
	const struct fence_rule *rule = fence_plan_decide(plan, folder);

	if (rule)
		return rule->access <= WIRE_READ;
	return defaults_is_system(folder);
}

/* Returns the caller's PATH without folders that do not exist inside, followed by the system's
 * folders. */
static char *make_path(const struct fence_plan *plan)
{
	struct buffer path = BUFFER_INIT(1 << 16);
	struct list folders = { 0 };

	/* The agents of our images (image/image_recipe.h). */
	if (plan->spec->image)
		buffer_add_text(&path, "/opt/ringfence/bin:");
	env_path(&folders);
	for (size_t i = 0; i < folders.count; i++)
		if (is_shown(plan, folders.items[i]))
			buffer_printf(&path, "%s:", folders.items[i]);
	list_release(&folders);
	buffer_add_text(&path, "/usr/local/bin:/usr/bin:/bin");

	char *result = mem_format("PATH=%s", buffer_text(&path));

	buffer_release(&path);
	return result;
}

/* Adds a variable, with the caller's value if it has one. */
static void add_default(struct list *environment, const char *variable)
{
	AUTO_FREE char *name = mem_format("%.*s", (int)strcspn(variable, "="), variable);
	const char *value = env_get(name);

	if (value)
		list_printf(environment, "%s=%s", name, value);
	else
		list_add(environment, variable);
}

/* Reports whether the command may read a git directory at or above its working directory, and not
 * write to it. */
static bool has_readable_git(const struct fence_plan *plan)
{
	AUTO_FREE char *folder = mem_dup(plan->cwd);

	while (*folder) {
		AUTO_FREE char *git = path_join(folder, ".git");
		const struct fence_rule *rule = fence_plan_decide(plan, git);

		if (rule && rule->access == WIRE_READ)
			return true;
		*strrchr(folder, '/') = '\0';
	}
	return false;
}

/* Keeps tools from trying what the fence would deny, and what changes nothing but their messages:
 * git, for example, refreshes its index when it shows the status. */
static void add_quiet(const struct fence_plan *plan, struct list *environment)
{
	for (const char *const *at = defaults_quiet; *at; at++)
		add_default(environment, *at);
	/* Git ends with an error if it may not read /etc/gitconfig. */
	if (plan->own)
		add_default(environment, "GIT_CONFIG_NOSYSTEM=1");
	if (has_readable_git(plan))
		add_default(environment, "GIT_OPTIONAL_LOCKS=0");
}

int environment_make(struct fence_plan *plan, struct error *err)
{
	struct list *environment = &plan->environment;
	AUTO_FREE char *path = make_path(plan);

	for (char *const *at = env_all(); *at; at++)
		if (is_passed(*at))
			list_add(environment, *at);
	env_put(environment, path);
	list_printf(environment, "HOME=%s", plan->home);
	list_printf(environment, "USER=%s", plan->identity.name);
	list_printf(environment, "LOGNAME=%s", plan->identity.name);
	list_add(environment, "SHELL=/bin/sh");
	list_printf(environment, "TMPDIR=%s", plan->tmp);
	list_printf(environment, "PWD=%s", plan->cwd);
	list_add(environment, "RINGFENCE=1");
	add_quiet(plan, environment);
	way_out_environment(plan, environment);
	for (size_t i = 0; i < plan->spec->env.count; i++) {
		const char *wanted = plan->spec->env.items[i];
		const char *value = NULL;

		if (wanted[0] == '\0' || wanted[0] == '=')
			return error_set(err, "--env '%s' has no name", wanted);
		if (strchr(wanted, '=')) {
			env_put(environment, wanted);
		} else if ((value = env_get(wanted))) {
			AUTO_FREE char *variable = mem_format("%s=%s", wanted, value);

			env_put(environment, variable);
		} else {
			return error_set(
				err,
				"--env %s: no such variable in the environment (use --env %s=VALUE to set it)",
				wanted, wanted);
		}
	}
	return 0;
}
