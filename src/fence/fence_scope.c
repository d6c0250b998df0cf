/* Enters a systemd scope, if a limit needs one: see fence.h and watch/scope.h. */
#include "fence/fence.h"
#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "fence/watch/cgroup.h"
#include "fence/watch/scope.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/list.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set inside the scope, so that a scope that did not help is not requested again. */
#define SCOPE_MARK "RINGFENCE_SCOPE"

/* Returns whether a limit needs a cgroup that only systemd can provide. */
static bool needs_scope(const struct fence_spec *spec)
{
	const uint64_t values[CGROUP_CONTROLLERS] = {
		[CGROUP_MEMORY] = spec->limits[FENCE_LIMIT_MEMORY],
		[CGROUP_CPU] = spec->limits[FENCE_LIMIT_CPUS],
		[CGROUP_PIDS] = spec->limits[FENCE_LIMIT_PROCESSES],
	};
	struct cgroup_place place;
	bool result;

	if (!(values[CGROUP_MEMORY] || values[CGROUP_CPU] || values[CGROUP_PIDS]) ||
	    env_get(SCOPE_MARK))
		return false;
	cgroup_place_find(&place);
	result = place.v2 && !cgroup_likely(&place, values);
	cgroup_place_release(&place);
	return result;
}

/* Adds this program's arguments. Returns 0 or -1. */
static int add_arguments(struct list *arguments)
{
	AUTO_BUFFER struct buffer own = BUFFER_INIT(8 << 20);
	AUTO_FD file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	if (file < 0 || fd_read_all(file, &own) < 0)
		return -1;

	size_t used = own.used;
	const char *text = buffer_text(&own);

	for (size_t at = strlen(text) + 1; at < used; at += strlen(text + at) + 1)
		list_add(arguments, text + at);
	return 0;
}

/* Starts this program again in a scope. Returns only if that is not possible. */
static void restart(void)
{
	struct list arguments = { 0 };
	struct list environment = { 0 };
	AUTO_FREE char *systemd_run = scope_manager_answers() ? scope_command(&arguments) : NULL;

	if (systemd_run && add_arguments(&arguments) == 0) {
		env_copy(&environment);
		env_put(&environment, SCOPE_MARK "=1");
		execve(systemd_run, arguments.items, environment.items);
	}
	list_release(&environment);
	list_release(&arguments);
}

/* Makes room in a new scope for the groups of fences: a loop runs several processes beside them. */
static void make_room(void)
{
	struct cgroup_place place;

	cgroup_place_find(&place);
	cgroup_vacate(&place);
	cgroup_place_release(&place);
}

void fence_enter_scope(const struct fence_place *place, const struct fence_spec *spec)
{
	bool needed = needs_scope(spec);

	if (place->broker)
		scope_broker_ask(place->broker, needed);
	else if (needed)
		restart();
	if (needed || env_get(SCOPE_MARK))
		make_room();
}

void fence_try_scope(const struct fence_spec *spec)
{
	const struct fence_place nowhere = { 0 };

	if (env_get(SCOPE_MARK) || (needs_scope(spec) && scope_works()))
		fence_enter_scope(&nowhere, spec);
}

int fence_adopt(pid_t member, uint64_t started, struct error *err)
{
	return scope_adopt(member, started, err);
}
