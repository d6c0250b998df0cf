/* Scopes: see scope.h. */
#include "fence/watch/scope.h"

#include "fence/watch/cgroup.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_MS = 10000 }; /* that systemd may take for a scope */

struct scope_broker {
	int fd;
};

/* A process, and what the kernel says about it. */
struct member {
	pid_t pid;
	uint64_t started; /* in ticks since the boot */
	uid_t user;
	gid_t group;
};

bool scope_manager_answers(void)
{
	const char *folder = geteuid() == 0 ? "/run" : env_get("XDG_RUNTIME_DIR");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int used = snprintf(address.sun_path, sizeof address.sun_path, "%s/systemd/private",
			    folder ? folder : "");

	return folder && folder[0] == '/' && used < (int)sizeof address.sun_path && fd >= 0 &&
	       connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

char *scope_command(struct list *arguments)
{
	char *systemd_run = process_find_system("systemd-run", "RINGFENCE_SYSTEMD_RUN");
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);

	if (!systemd_run || size <= 0) {
		free(systemd_run);
		return NULL;
	}
	self[size] = '\0';
	list_add(arguments, systemd_run);
	if (geteuid() != 0)
		list_add(arguments, "--user");
	list_add(arguments, "--scope");
	list_add(arguments, "--quiet");
	list_add(arguments, "--collect");
	list_add(arguments, "--property=Delegate=yes");
	list_add(arguments, "--");
	list_add(arguments, self);
	return systemd_run;
}

bool scope_works(void)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(4096);
	struct list arguments = { 0 };
	AUTO_FREE char *systemd_run = scope_manager_answers() ? scope_command(&arguments) : NULL;
	bool result = false;

	if (systemd_run) {
		list_add(&arguments, "--version");
		result = process_output(systemd_run, arguments.items, env_all(), MOST_MS,
					&output) == 0;
	}
	list_release(&arguments);
	return result;
}

/* Runs `ringfence adopt` in a new scope, and waits for its end: as long as it is in the scope, no
 * limit can be set there. */
static void ask_systemd(const struct member *member)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(4096);
	struct list arguments = { 0 };
	AUTO_FREE char *systemd_run = scope_command(&arguments);

	if (systemd_run) {
		list_add(&arguments, "adopt");
		list_printf(&arguments, "%d", member->pid);
		list_printf(&arguments, "%" PRIu64, member->started);
		process_output(systemd_run, arguments.items, env_all(), MOST_MS, &output);
	}
	list_release(&arguments);
}

/* The broker: waits for the request, or for the end of the process that may make it. */
static void serve(int fd, const struct member *member)
{
	const int streams[] = { FD_NULL, FD_NULL };
	char request;

	if (fd_place(streams, 2) == 0 && read(fd, &request, 1) == 1)
		ask_systemd(member);
}

static int read_proc(pid_t pid, const char *name, struct buffer *text, struct error *err)
{
	AUTO_FREE char *path = mem_format("/proc/%d/%s", pid, name);

	return fd_read_path(path, text) < 0 ? error_sys(err, "read '%s'", path) : 0;
}

/* Finds out about the process with this number. Returns 0, or -1 with err set. */
static int find_member(pid_t pid, struct member *ret_member, struct error *err)
{
	enum { AFTER_NAME = 20 }; /* the fields from the name of the program to the start */
	AUTO_BUFFER struct buffer numbers = BUFFER_INIT(64 << 10);
	AUTO_BUFFER struct buffer status = BUFFER_INIT(64 << 10);
	const char *started;
	const char *user;
	const char *group;

	if (read_proc(pid, "stat", &numbers, err) < 0 || read_proc(pid, "status", &status, err) < 0)
		return -1;
	started = strrchr(buffer_text(&numbers), ')');
	for (int i = 0; started && i < AFTER_NAME; i++)
		started = strchr(started + 1, ' ');
	user = strstr(buffer_text(&status), "\nUid:");
	group = strstr(buffer_text(&status), "\nGid:");
	if (!started || !user || !group)
		return error_set(err, "/proc does not describe process %d", pid);
	*ret_member = (struct member){
		.pid = pid,
		.started = strtoull(started, NULL, 10),
		.user = (uid_t)strtoul(user + strlen("\nUid:"), NULL, 10),
		.group = (gid_t)strtoul(group + strlen("\nGid:"), NULL, 10),
	};
	return 0;
}

struct scope_broker *scope_broker_new(void)
{
	struct error ignored;
	struct member member;
	int ends[2];
	pid_t child;

	if (!scope_manager_answers() || find_member(getpid(), &member, &ignored) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return NULL;
	child = fork();
	if (child == 0) { /* forks again, so that the caller has no child it does not know of */
		close(ends[0]);
		if (fork() == 0)
			serve(ends[1], &member);
		_exit(0);
	}
	close(ends[1]);
	if (child > 0)
		waitpid(child, NULL, 0);

	struct scope_broker *broker = mem_zero(sizeof *broker);

	broker->fd = ends[0];
	return broker;
}

void scope_broker_free(struct scope_broker *broker)
{
	if (broker)
		fd_close(&broker->fd);
	free(broker);
}

void scope_broker_ask(struct scope_broker *broker, bool wanted)
{
	char end;

	if (wanted && send(broker->fd, "", 1, MSG_NOSIGNAL) == 1)
		while (read(broker->fd, &end, 1) < 0 && errno == EINTR) /* until the broker ends */
			;
	fd_close(&broker->fd);
}

/* The files that the kernel's documentation names for delegating a cgroup. */
static int hand_over(const char *folder, uid_t user, gid_t group, struct error *err)
{
	static const char *const names[] = { ".", "cgroup.procs", "cgroup.subtree_control",
					     "cgroup.threads" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		AUTO_FREE char *path = path_join(folder, names[i]);

		if (chown(path, user, group) < 0)
			return error_sys(err, "hand over '%s' to uid %u", path, user);
	}
	return 0;
}

static int move(const char *folder, pid_t member, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, "cgroup.procs");
	AUTO_FREE char *text = mem_format("%d", member);
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return error_sys(err, "move process %d to '%s'", member, folder);
	return 0;
}

/* Checks that it is still the same process. Returns 0, or -1 with err set. */
static int check(pid_t pid, uint64_t started, struct member *ret_member, struct error *err)
{
	if (find_member(pid, ret_member, err) < 0)
		return -1;
	return ret_member->started == started
		       ? 0
		       : error_set(err, "process %d is another one than the one to adopt", pid);
}

static int adopt(const char *folder, pid_t pid, uint64_t started, struct error *err)
{
	struct member member;

	if (!folder)
		return error_set(err, "this process is in no cgroup of version 2");
	if (!cgroup_alone_in(folder))
		return error_set(err, "this process is not alone in its cgroup '%s'", folder);
	if (check(pid, started, &member, err) < 0 ||
	    hand_over(folder, member.user, member.group, err) < 0 ||
	    check(pid, started, &member, err) < 0)
		return -1;
	return move(folder, pid, err);
}

int scope_adopt(pid_t member, uint64_t started, struct error *err)
{
	struct cgroup_place place;
	int result;

	cgroup_place_find(&place);
	result = adopt(place.v2, member, started, err);
	cgroup_place_release(&place);
	return result;
}
