/* User namespaces: see userns.h. */
#include "util/userns.h"

#include "util/file/fd.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_map(const char *process, const char *name, const char *text, struct error *err)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%s/%s", process, name);

	AUTO_FD map = open(path, O_WRONLY | O_CLOEXEC);

	if (map < 0 || fd_write_all(map, text, strlen(text)) < 0)
		return error_sys(err, "write '%s'", path);
	return 0;
}

static int write_maps(const char *process, const struct userns_ids *ids, struct error *err)
{
	char text[64];

	snprintf(text, sizeof text, "%u %u 1\n", ids->inside_uid, ids->outside_uid);
	if (write_map(process, "uid_map", text, err) < 0)
		return -1;
	snprintf(text, sizeof text, "%u %u 1\n", ids->inside_gid, ids->outside_gid);
	return write_map(process, "gid_map", text, err);
}

int userns_enter(const struct userns_ids *ids, int flags, struct error *err)
{
	if (unshare(CLONE_NEWUSER | flags) < 0)
		return error_sys(err, "create a user namespace");
	if (write_map("self", "setgroups", "deny", err) < 0)
		return -1;
	return write_maps("self", ids, err);
}

/* A namespace needs a process only until it is open. */
int userns_open(const struct userns_ids *ids, struct error *err)
{
	char process[24];
	char path[64];
	char byte;
	AUTO_FD result = -1;
	int gate[2];

	if (pipe2(gate, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");

	pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0L);

	if (child == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) < 0); /* until the other end is closed */
	}
	close(gate[0]);
	snprintf(process, sizeof process, "%d", child);
	if (child < 0) {
		error_sys(err, "create a user namespace");
	} else if (write_maps(process, ids, err) == 0) {
		snprintf(path, sizeof path, "/proc/%s/ns/user", process);
		result = open(path, O_RDONLY | O_CLOEXEC);
		if (result < 0)
			error_sys(err, "open '%s'", path);
	}
	close(gate[1]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return fd_steal(&result);
}
