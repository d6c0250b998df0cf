/*
 * The environment of this process.
 *
 * main() takes it over once with env_init(); every other module asks here
 * (scripts/check-environment). Without env_init() it is empty. Afterwards it changes only when root
 * switches to a project's owner, and in crash tests. Programs that we start get env_all(), or a
 * list that env_copy() began.
 *
 * The C library keeps its own view, for PATH in execvpe() and for TZ.
 */
#ifndef UTIL_ENV_H
#define UTIL_ENV_H

#include "util/list.h"

#include <stdbool.h>
#include <time.h>

/* Takes over the environment that the program was started with. */
void env_init(void);

/* Returns the variable's value, or NULL. It stays valid until env_wipe(). */
const char *env_get(const char *name);

/* Returns whether the variable is set and not empty. */
bool env_has(const char *name);

/* Sets the variable, or removes it if value is NULL. */
void env_set(const char *name, const char *value);

/* Returns every variable as NAME=VALUE, then NULL. The strings may be overwritten, as
 * /proc/PID/environ shows those that the program was started with. */
char *const *env_all(void);

/* Overwrites and removes all variables. */
void env_wipe(void);

/* Adds a copy of every variable. */
void env_copy(struct list *environment);

/* Replaces the variable of the same name in a list of NAME=VALUE, or adds it. */
void env_put(struct list *environment, const char *variable);

/* Returns HOME, or "" if it is not an absolute path. */
const char *env_home(void);

/*
 * Returns the folder for users' settings: XDG_CONFIG_HOME, or .config in home. `foreign`: the
 * environment belongs to another user, so only home counts. Returns NULL if there is neither; the
 * caller frees.
 */
char *env_config_folder(const char *home, bool foreign);

/* Adds the absolute folders of PATH. */
void env_path(struct list *folders);

/* Converts to local time in the named time zone; NULL is the user's own. Returns 0 or -1. */
int env_local_time(const char *zone, time_t time, struct tm *ret_parts);

/* Reports whether the terminal of this environment shows UTF-8. */
bool env_is_utf8(void);

#endif
