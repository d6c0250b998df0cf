/*
 * The bubblewrap mechanism: new namespaces of every kind, with ringfence-init as process 1.
 *
 * The file tree is built beforehand on a stage (stage.h). Bubblewrap mounts by path, follows
 * symlinks and creates missing mount points, which an attacker who moves folders at the same time
 * could turn against the user's files. So it gets one finished tree, and adds the namespaces and
 * /proc.
 *
 * Two processes set up a fence in parallel. The child enters the stage's namespaces and executes
 * bwrap, which takes as long to load as the tree takes to build; bwrap then reads its last
 * arguments from the gate. The other process builds the tree in those namespaces, and sends its
 * path through the gate. Without these arguments bwrap has no root and exits.
 */
#include "fence/fence_result.h"
#include "fence/mechanism/mechanism.h"
#include "fence/plan/identity.h"
#include "fence/tree/remedy.h"
#include "fence/tree/stage.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FD_GATE = WIRE_FD_END };

static char *find_bwrap(void)
{
	char *found = process_find_system("bwrap", "RINGFENCE_BWRAP");

	return found ? found : mem_dup("/usr/bin/bwrap");
}

int mechanism_bwrap_detect(struct error *err)
{
	AUTO_FREE char *bwrap = find_bwrap();
	struct stat status;

	if (stat(bwrap, &status) < 0 || !S_ISREG(status.st_mode) || access(bwrap, X_OK) < 0)
		return remedy_missing_bwrap(bwrap, err);
	return 0;
}

int mechanism_bwrap_plan(struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *bwrap = find_bwrap();

	if (mechanism_refuse_image(plan, err) < 0 || mechanism_check_program(plan, bwrap, err) < 0)
		return -1;
	return stage_check(plan, err);
}

struct becoming {
	const struct mechanism_start *start;
	pid_t parent;
	int gate; /* the child reports readiness through it, and bwrap reads arguments */
};

static int place_gate(int gate, struct error *err)
{
	if (gate != FD_GATE ? dup2(gate, FD_GATE) < 0 : fcntl(gate, F_SETFD, 0) < 0)
		return error_sys(err, "place the gate");
	return 0;
}

static int enter_namespaces(const struct becoming *how, struct error *err)
{
	const struct mechanism_start *start = how->start;
	const struct fence_identity *identity = &start->plan->identity;

	if (mechanism_prepare_child(start, err) < 0 ||
	    mechanism_stay_with(start, how->parent, err) < 0 || place_gate(how->gate, err) < 0 ||
	    mechanism_enter_stage(start, FD_GATE + 1, err) < 0)
		return -1;
	if (write(FD_GATE, "", 1) != 1)
		return error_sys(err, "report that the namespaces are ready");
	return identity->mapped ? identity_drop(identity, err) : 0;
}

static int become_bwrap(const struct mechanism_start *start, struct error *err)
{
	char gate[16];
	char uid[16];
	char gid[16];

	snprintf(gate, sizeof gate, "%d", FD_GATE);
	snprintf(uid, sizeof uid, "%u", start->plan->identity.uid);
	snprintf(gid, sizeof gid, "%u", start->plan->identity.gid);

	const char *const arguments[] = { "bwrap",
					  "--unshare-user",
					  "--unshare-pid",
					  "--unshare-ipc",
					  "--unshare-uts",
					  "--unshare-cgroup",
					  start->plan->spec->net != FENCE_NET_OPEN
						  ? "--unshare-net"
						  : "--unshare-cgroup",
					  "--disable-userns",
					  "--new-session",
					  "--as-pid-1",
					  "--hostname",
					  "ringfence",
					  "--cap-drop",
					  "ALL",
					  "--uid",
					  uid,
					  "--gid",
					  gid,
					  "--args",
					  gate,
					  "--proc",
					  "/proc",
					  TREE_INIT,
					  NULL };
	char *const environment[] = { NULL };

	/* If bwrap's outer process is killed at the wrong moment, its child waits for it forever.
	 * So no parent death signal, and no --die-with-parent: the gate, and later init's lifeline,
	 * ends both anyway. */
	mechanism_stand_alone();
	execve(start->program, (char *const *)arguments, environment);
	return error_sys(err, "start '%s'", start->program);
}

static int run_bwrap(void *argument)
{
	const struct becoming *how = argument;
	struct error err;

	if (enter_namespaces(how, &err) == 0)
		become_bwrap(how->start, &err);
	mechanism_complain(how->start, &err);
	return FENCE_EXIT_NOT_SET_UP;
}

int mechanism_bwrap_start(struct mechanism_start *start, struct error *err)
{
	AUTO_FREE char *bwrap = find_bwrap();
	AUTO_FD inner = -1;
	int gate[2];

	start->program = realpath(bwrap, NULL);
	if (!start->program)
		return error_sys(err, "find '%s'", bwrap);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0)
		return error_sys(err, "create the gate");
	start->gate = gate[0];
	inner = fcntl(gate[1], F_DUPFD_CLOEXEC, FD_GATE); /* above init's descriptors */
	close(gate[1]);

	struct becoming becoming = { .start = start, .parent = getpid(), .gate = inner };
	pid_t child = inner < 0 ? -1 : process_fork(run_bwrap, &becoming, 0);

	if (child < 0)
		return error_sys(err, "start '%s'", start->program);
	start->child = child;
	return 0;
}

/* Sends bwrap its last arguments. Errors are ignored: if bwrap has exited, it has complained. */
static void open_gate(const struct mechanism_start *start, const char *root)
{
	AUTO_BUFFER struct buffer words = BUFFER_INIT(PATH_MAX + 64);

	buffer_add(&words, "--dev-bind", sizeof "--dev-bind");
	buffer_add(&words, root, strlen(root) + 1);
	buffer_add(&words, "/", sizeof "/");
	send(start->gate, words.data, words.used, MSG_NOSIGNAL);
	shutdown(start->gate, SHUT_WR);
}

/* Waits until the child has entered the stage. Returns false if it failed and has complained. */
static bool wait_staged(int gate)
{
	char byte;
	ssize_t n;

	do
		n = read(gate, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

int mechanism_bwrap_mount(struct mechanism_start *start, struct tree *tree, struct error *err)
{
	(void)err;
	if (wait_staged(start->gate))
		mechanism_build(start, tree, open_gate);
	return 0;
}

void mechanism_bwrap_classify(const char *complaints, int status, struct error *err)
{
	static const char *const namespaces[] = { "new namespace", "uid map", "setgroups",
						  "loopback", "user namespaces" };
	AUTO_FREE char *line = strndup(complaints, strcspn(complaints, "\n"));

	if (mechanism_complained(complaints, status, err))
		return;
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
		if (strstr(complaints, namespaces[i])) {
			remedy_namespaces(line, err);
			return;
		}
	}
	if (strstr(complaints, "mount proc on")) {
		remedy_proc(line, err);
		return;
	}
	if (strstr(complaints, "Unknown option") || strncmp(complaints, "usage:", 6) == 0)
		error_set(err, "no fence: bubblewrap is too old (%s); install 0.8 or newer", line);
	else
		error_set(err, "no fence: bubblewrap exited before the fence was set up%s%s",
			  *complaints ? ": " : "", line);
}

/* bwrap and init end by the lifeline, and leave nothing. */
void mechanism_bwrap_end(struct mechanism_start *start, const int *status)
{
	(void)start;
	(void)status;
}
