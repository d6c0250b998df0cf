/*
 * The bubblewrap mechanism: every namespace, and ringfence-init as process 1.
 *
 * The file tree is built before, on a stage of our own (tree.h): bubblewrap mounts by path, follows what
 * it finds there and creates what it does not, which somebody who moves folders meanwhile could turn
 * against the user's files. It gets one tree, ready made, and adds the namespaces and /proc.
 */
#include "fence/fence_mechanism.h"
#include "fence/fence_result.h"
#include "fence/plan/environment.h"
#include "fence/plan/identity.h"
#include "fence/tree/etc.h"
#include "fence/tree/remedy.h"
#include "fence/tree/stage.h"
#include "fence/tree/tree.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/mounts.h"
#include "util/path.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The system's own, not one that somebody put into PATH. */
static const char *find_bwrap(void)
{
	static const char *const places[] = { "/usr/bin/bwrap", "/bin/bwrap",
					      "/usr/local/bin/bwrap",
					      "/run/current-system/sw/bin/bwrap" };
	const char *chosen = getenv("RINGFENCE_BWRAP");

	if (chosen && chosen[0] == '/')
		return chosen;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return places[0];
}

int bwrap_detect(struct error *err)
{
	const char *bwrap = find_bwrap();
	struct stat status;

	if (stat(bwrap, &status) < 0 || !S_ISREG(status.st_mode) || access(bwrap, X_OK) < 0)
		return remedy_missing_bwrap(bwrap, err);
	return 0;
}

/* What of the walls that may be given up is really missing on this kernel. */
static unsigned int missing_here(const struct fence_plan *plan)
{
	enum { ABI_USABLE = 2, ABI_SCOPES = 6 };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   1 /* LANDLOCK_CREATE_RULESET_VERSION */);
	unsigned int missing = 0;

	if (abi < ABI_USABLE)
		missing |= FENCE_WEAKER_LANDLOCK;
	if (abi < ABI_SCOPES && plan->spec->net == FENCE_NET_OPEN)
		missing |= FENCE_WEAKER_ABSTRACT_SOCKETS;
	return missing;
}

/* Root's folders are lent one mount each: what is mounted inside of one would not come along. */
static int refuse_nested(void *context, uint64_t device, const char *path, struct error *err)
{
	const struct fence_plan *plan = context;

	(void)device;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].lent && path_within(path, plan->rules[i].path) &&
		    strcmp(path, plan->rules[i].path) != 0)
			return error_set(
				err,
				"'%s' is mounted inside of root's '%s', and a mount inside of it cannot be lent "
				"to another uid; unmount it, or give the project to a user (chown -R)",
				path, plan->rules[i].path);
	return 0;
}

int bwrap_plan(struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *bwrap = realpath(find_bwrap(), NULL);
	const struct fence_rule *rule = bwrap ? fence_plan_decide(plan, bwrap) : NULL;

	/* Whoever can write it decides whether there is a fence. */
	if (rule && rule->access == WIRE_WRITE)
		return error_set(err, "no fence: '%s' is inside of what the command may write",
				 bwrap);
	plan->weaker = plan->spec->accepted_weaker & missing_here(plan);
	return plan->identity.mapped ? mounts_each(refuse_nested, plan, err) : 0;
}

/*
 * Two processes make a fence, at the same time. One enters the stage's namespaces and becomes bwrap, which
 * takes as long to load as the tree takes to build; it then reads the last of its arguments from the gate.
 * The other builds the tree in those namespaces. What goes through the gate says where the tree is: without
 * it bwrap has no root, and ends.
 */
struct becoming {
	const struct fence_start *start;
	const char *bwrap;
	pid_t parent;
	int gate; /* it says through it that the namespaces are there, and reads arguments from it */
};

struct building {
	const struct fence_start *start;
	const char *bwrap;
	const char *etc;
	pid_t parent;
	int stage; /* the process whose namespaces are the stage's (pidfd) */
	int gate;
	char *tree;       /* where it is */
	struct error err; /* if there is none */
};

enum { FD_GATE = WIRE_FD_END };

static const char late[] = "no fence: it was not up in time (does a file system hang?)";

/* Dies with the process that started it, and does not take longer than a fence may to come up. */
static int bind_to_parent(const struct fence_start *start, pid_t parent, struct error *err)
{
	size_t most_ms = FENCE_SETUP_MS + FENCE_SETUP_MS_PER_RULE * start->plan->rule_count;
	struct itimerval most = { .it_value = { .tv_sec = (time_t)(most_ms / 1000) } };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent ||
	    setitimer(ITIMER_REAL, &most, NULL) < 0)
		return error_sys(err, "stay with ringfence");
	return 0;
}

/*
 * Root has become somebody else: until bwrap is started, /proc/self is root's, and no namespace can be set
 * up. Giving it back lets that user look into this process, so nothing of root's may be left in it.
 */
static int give_back_proc(struct error *err)
{
	environment_wipe();
	if (syscall(SYS_close_range, FD_GATE + 1, ~0U, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return error_sys(err, "separate from root's own process");
	return 0;
}

static int place_gate(int gate, struct error *err)
{
	if (gate != FD_GATE ? dup2(gate, FD_GATE) < 0 : fcntl(gate, F_SETFD, 0) < 0)
		return error_sys(err, "place the gate");
	return 0;
}

static int become_bwrap(const struct becoming *how, struct error *err)
{
	const struct fence_start *start = how->start;
	const struct fence_identity *identity = &start->plan->identity;
	struct itimerval never = { 0 };
	char gate[16];
	char uid[16];
	char gid[16];

	snprintf(gate, sizeof gate, "%d", FD_GATE);
	snprintf(uid, sizeof uid, "%u", identity->uid);
	snprintf(gid, sizeof gid, "%u", identity->gid);
	if (fence_mechanism_prepare_child(start, err) < 0 ||
	    bind_to_parent(start, how->parent, err) < 0 || place_gate(how->gate, err) < 0 ||
	    (identity->switched && give_back_proc(err) < 0) || stage_enter(identity, err) < 0)
		return -1;
	if (write(FD_GATE, "", 1) != 1)
		return error_sys(err, "say that the namespaces are there");
	if (identity->mapped && identity_drop(identity, err) < 0)
		return -1;

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
					  "--die-with-parent",
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

	/* bwrap waits for its own parent without an end if that is killed at the wrong moment; the lifeline of
	 * init ends both of them in any case, and before that the gate. */
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	setitimer(ITIMER_REAL, &never, NULL);
	execve(how->bwrap, (char *const *)arguments, environment);
	return error_sys(err, "start '%s'", how->bwrap);
}

static int run_bwrap(void *argument)
{
	const struct becoming *how = argument;
	struct error err;

	become_bwrap(how, &err);
	dprintf(how->start->complaints, "ringfence: %s", err.text);
	return FENCE_EXIT_NOT_SET_UP;
}

/* The last arguments of bwrap, which reads to the end; if it is not there any more, it has complained. */
static void open_gate(int gate, const char *tree)
{
	AUTO_BUFFER struct buffer words = BUFFER_INIT(PATH_MAX + 64);

	buffer_add(&words, "--dev-bind", sizeof "--dev-bind");
	buffer_add(&words, tree, strlen(tree) + 1);
	buffer_add(&words, "/", sizeof "/");
	send(gate, words.data, words.used, MSG_NOSIGNAL);
	shutdown(gate, SHUT_WR);
}

static int run_builder(void *argument)
{
	struct building *how = argument;
	const struct fence_plan *plan = how->start->plan;

	if (bind_to_parent(how->start, how->parent, &how->err) == 0 &&
	    stage_join(&plan->identity, how->stage, &how->err) == 0)
		how->tree = tree_build(plan, how->etc, how->bwrap, &how->err);
	if (how->tree) /* bwrap waits for it, and does not have to wait for the end of this process, too */
		open_gate(how->gate, how->tree);
	return how->tree ? 0 : FENCE_EXIT_NOT_SET_UP;
}

/* Builds the tree on the stage of a process. Returns 0, or -1 with what to complain about. */
static int build(struct building *how, pid_t stage)
{
	AUTO_FD process = (int)syscall(SYS_pidfd_open, stage, 0);
	int status = 0;

	how->stage = process;

	pid_t builder = process < 0 ? -1 : process_borrow(run_builder, how, 0);

	if (builder < 0)
		return error_sys(&how->err, "start to build the fence's tree");
	while (waitpid(builder, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return error_set(&how->err, "%s", late);
	if (WIFSIGNALED(status))
		return error_set(&how->err, "no fence: what builds its tree was killed");
	return how->tree ? 0 : -1;
}

/* Has the other side of the gate made its namespaces? If not, it has complained. */
static bool is_staged(int gate)
{
	char byte;
	ssize_t n;

	do
		n = read(gate, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

int bwrap_start(const struct fence_start *start, pid_t *ret_pid, struct error *err)
{
	AUTO_FREE char *bwrap = realpath(find_bwrap(), NULL);
	AUTO_FREE char *etc = NULL;
	AUTO_FD outer = -1;
	AUTO_FD inner = -1;
	int gate[2];

	if (!bwrap)
		return error_sys(err, "find '%s'", find_bwrap());
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0)
		return error_sys(err, "make the gate");
	outer = gate[0];
	inner = fcntl(gate[1], F_DUPFD_CLOEXEC, FD_GATE); /* not where init's descriptors go */
	close(gate[1]);

	struct becoming becoming = {
		.start = start, .bwrap = bwrap, .parent = getpid(), .gate = inner
	};
	pid_t child = inner < 0 ? -1 : process_fork(run_bwrap, &becoming, 0);

	if (child < 0)
		return error_sys(err, "start '%s'", bwrap);
	*ret_pid = child;
	fd_close(&inner);
	if (etc_prepare(start->plan, &etc, err) < 0)
		return -1;
	if (is_staged(outer)) {
		struct building building = {
			.start = start,
			.bwrap = bwrap,
			.etc = etc,
			.parent = getpid(),
			.gate = outer,
		};

		if (build(&building, child) < 0) {
			dprintf(start->complaints, "ringfence: %s", building.err.text);
			kill(child, SIGKILL);
		}
		free(building.tree);
	}
	return tree_describe(start->order, start->plan, etc, err);
}

void bwrap_classify(const char *complaints, int status, struct error *err)
{
	static const char own[] = "ringfence: ";
	static const char *const namespaces[] = { "new namespace", "uid map", "setgroups",
						  "loopback", "user namespaces" };
	AUTO_FREE char *line = strndup(complaints, strcspn(complaints, "\n"));

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		error_set(err, "%s", late);
		return;
	}
	if (strncmp(complaints, own, strlen(own)) == 0) {
		error_set(err, "%s", complaints + strlen(own));
		return;
	}
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
		if (strstr(complaints, namespaces[i])) {
			remedy_namespaces(line, err);
			return;
		}
	}
	if (strstr(complaints, "Unknown option") || strncmp(complaints, "usage:", 6) == 0)
		error_set(err, "no fence: this bubblewrap is too old (%s); 0.8 is needed", line);
	else
		error_set(err, "no fence: bubblewrap ended before the fence was up%s%s",
			  *complaints ? ": " : "", line);
}
