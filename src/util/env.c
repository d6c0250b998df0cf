/* The environment of this process: see env.h. */
#include "util/env.h"

#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The variables, then NULL. Strings are shared with the C library, so that there is one copy of a
 * secret to overwrite. */
static char **variables;

/* The strings that env_set() made. They last, so that no value that env_get() returned is freed. */
static struct list made;

void env_init(void)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	variables = mem_zero((count + 1) * sizeof *variables);
	for (size_t i = 0; i < count; i++)
		variables[i] = environ[i];
}

char *const *env_all(void)
{
	static char *const nothing[] = { NULL };

	return variables ? variables : nothing;
}

/* Returns the size of the name with its '=' if the variable has this name, else 0. */
static size_t name_size(const char *variable, const char *name)
{
	size_t size = strlen(name);

	return strncmp(variable, name, size) == 0 && variable[size] == '=' ? size + 1 : 0;
}

const char *env_get(const char *name)
{
	for (char *const *at = env_all(); *at; at++)
		if (name_size(*at, name))
			return *at + name_size(*at, name);
	return NULL;
}

bool env_has(const char *name)
{
	const char *value = env_get(name);

	return value && *value;
}

/* Removes a variable, which may be there more than once. Returns how many are left. */
static size_t remove_variable(const char *name)
{
	size_t left = 0;

	for (char **from = variables; from && *from; from++)
		if (!name_size(*from, name))
			variables[left++] = *from;
	if (variables)
		variables[left] = NULL;
	return left;
}

void env_set(const char *name, const char *value)
{
	size_t left = remove_variable(name);

	if (!value)
		return;
	variables = mem_resize(variables, left + 2, sizeof *variables);
	list_printf(&made, "%s=%s", name, value);
	variables[left] = made.items[made.count - 1];
	variables[left + 1] = NULL;
}

void env_wipe(void)
{
	for (char *const *at = env_all(); *at; at++)
		explicit_bzero(*at, strlen(*at));
	/* The C library still has those that env_set() replaced. */
	for (char **at = environ; at && *at; at++)
		explicit_bzero(*at, strlen(*at));
	if (variables)
		variables[0] = NULL;
	if (environ)
		environ[0] = NULL;
}

void env_copy(struct list *environment)
{
	for (char *const *at = env_all(); *at; at++)
		list_add(environment, *at);
}

void env_put(struct list *environment, const char *variable)
{
	size_t size = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < environment->count; i++) {
		if (strncmp(environment->items[i], variable, size) == 0) {
			free(environment->items[i]);
			environment->items[i] = mem_dup(variable);
			return;
		}
	}
	list_add(environment, variable);
}

const char *env_home(void)
{
	const char *home = env_get("HOME");

	return home && home[0] == '/' ? home : "";
}

char *env_config_folder(const char *home, bool foreign)
{
	const char *xdg = env_get("XDG_CONFIG_HOME");

	if (xdg && xdg[0] == '/' && !foreign)
		return mem_dup(xdg);
	return home[0] ? path_join(home, ".config") : NULL;
}

void env_path(struct list *folders)
{
	const char *at = env_get("PATH");

	while (at && *at) {
		size_t size = strcspn(at, ":");

		if (at[0] == '/')
			list_printf(folders, "%.*s", (int)size, at);
		at += size + (at[size] == ':');
	}
}

/* Tells the C library about a zone; NULL is that of /etc/localtime. */
static void set_zone(const char *zone)
{
	if (zone)
		setenv("TZ", zone, 1);
	else
		unsetenv("TZ");
	tzset();
}

int env_local_time(const char *zone, time_t time, struct tm *ret_parts)
{
	int result;

	if (!zone) {
		tzset();
		return localtime_r(&time, ret_parts) ? 0 : -1;
	}
	set_zone(zone);
	result = localtime_r(&time, ret_parts) ? 0 : -1;
	set_zone(env_get("TZ"));
	return result;
}

bool env_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = env_get(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}
