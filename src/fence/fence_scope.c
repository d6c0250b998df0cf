/*
 * Gets a cgroup from systemd. On most machines systemd owns the cgroups of a user's processes, and
 * only systemd may move processes between them. `systemd-run --user --scope` (for root, without
 * --user) moves itself to a new cgroup and then executes the given program, here ringfence itself.
 */
#include "fence/fence.h"
#include "fence/fence_spec.h"
#include "fence/watch/cgroup.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/list.h"
#include "util/mem.h"
#include "util/process.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Set inside the scope, so that a scope that did not help is not requested again. */
#define SCOPE_MARK "RINGFENCE_SCOPE"

/* Returns whether systemd accepts connections: the user's instance, or for root the system's. */
static bool manager_answers(void)
{
	const char *folder = geteuid() == 0 ? "/run" : env_get("XDG_RUNTIME_DIR");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int used = snprintf(address.sun_path, sizeof address.sun_path, "%s/systemd/private",
			    folder ? folder : "");

	return folder && folder[0] == '/' && used < (int)sizeof address.sun_path && fd >= 0 &&
	       connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

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

/* Adds this program's arguments; `own` is the content of /proc/self/cmdline. */
static void add_arguments(struct list *arguments, struct buffer *own)
{
	size_t used = own->used;
	const char *text = buffer_text(own);

	for (size_t at = strlen(text) + 1; at < used; at += strlen(text + at) + 1)
		list_add(arguments, text + at);
}

void fence_enter_scope(const struct fence_spec *spec)
{
	AUTO_BUFFER struct buffer own = BUFFER_INIT(8 << 20);
	AUTO_FD file = -1;
	AUTO_FREE char *systemd_run = NULL;
	char self[PATH_MAX];
	struct list arguments = { 0 };
	struct list environment = { 0 };
	ssize_t n;

	if (!needs_scope(spec) ||
	    !(systemd_run = process_find_system("systemd-run", "RINGFENCE_SYSTEMD_RUN")) ||
	    !manager_answers())
		return;
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	if (n <= 0 || file < 0 || fd_read_all(file, &own) < 0)
		return;
	self[n] = '\0';
	list_add(&arguments, "systemd-run");
	if (geteuid() != 0)
		list_add(&arguments, "--user");
	list_add(&arguments, "--scope");
	list_add(&arguments, "--quiet");
	list_add(&arguments, "--collect");
	list_add(&arguments, "--property=Delegate=yes");
	list_add(&arguments, "--");
	list_add(&arguments, self);
	add_arguments(&arguments, &own);
	env_copy(&environment);
	env_put(&environment, SCOPE_MARK "=1");
	execve(systemd_run, arguments.items, environment.items);
	list_release(&environment);
	list_release(&arguments);
}
