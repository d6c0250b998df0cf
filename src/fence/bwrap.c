/*
 * The bubblewrap mechanism: every namespace, and ringfence-init as process 1.
 *
 * The file tree is built before, on a stage of our own (tree.h): bubblewrap mounts by path, follows what
 * it finds there and creates what it does not, which somebody who moves folders meanwhile could turn
 * against the user's files. It gets one tree, ready made, and adds the namespaces and /proc.
 */
#include "fence/environment.h"
#include "fence/etc.h"
#include "fence/fence.h"
#include "fence/identity.h"
#include "fence/remedy.h"
#include "fence/stage.h"
#include "fence/tree.h"
#include "util/mem.h"
#include "util/mounts.h"
#include "util/path.h"
#include "util/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

struct becoming {
	const struct fence_start *start;
	const char *etc;
	const char *bwrap;
	pid_t parent;
	struct error *err;
};

/* Dies with the process that started it, and does not take longer than a fence may to come up. */
static int bind_to_parent(const struct becoming *how, struct error *err)
{
	size_t most_ms = FENCE_SETUP_MS + FENCE_SETUP_MS_PER_RULE * how->start->plan->rule_count;
	struct itimerval most = { .it_value = { .tv_sec = (time_t)(most_ms / 1000) } };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != how->parent ||
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
	if (syscall(SYS_close_range, WIRE_FD_END, ~0U, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return error_sys(err, "separate from root's own process");
	return 0;
}

static int become_bwrap(const struct becoming *how, struct error *err)
{
	const struct fence_start *start = how->start;
	const struct fence_identity *identity = &start->plan->identity;
	struct itimerval never = { 0 };
	const char *tree = NULL;
	char uid[16];
	char gid[16];

	snprintf(uid, sizeof uid, "%u", identity->uid);
	snprintf(gid, sizeof gid, "%u", identity->gid);
	if (fence_prepare_child(start, err) < 0 || bind_to_parent(how, err) < 0 ||
	    (identity->switched && give_back_proc(err) < 0) ||
	    !(tree = tree_build(start->plan, how->etc, how->bwrap, err)) ||
	    (identity->mapped && identity_drop(identity, err) < 0))
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
					  "--dev-bind",
					  tree,
					  "/",
					  "--proc",
					  "/proc",
					  TREE_INIT,
					  NULL };
	char *const environment[] = { NULL };

	/* bwrap waits for its own parent without an end if that is killed at the wrong moment; the lifeline of
	 * init ends both of them in any case. */
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	setitimer(ITIMER_REAL, &never, NULL);
	execve(how->bwrap, (char *const *)arguments, environment);
	return error_sys(err, "start '%s'", how->bwrap);
}

static int begin(void *argument)
{
	const struct becoming *how = argument;

	become_bwrap(how, how->err);
	dprintf(how->start->complaints, "ringfence: %s", how->err->text);
	return FENCE_EXIT_NOT_SET_UP;
}

int bwrap_start(const struct fence_start *start, pid_t *ret_pid, struct error *err)
{
	const struct fence_identity *identity = &start->plan->identity;
	int namespaces = stage_namespaces(identity);
	AUTO_FREE char *etc = NULL;
	AUTO_FREE char *bwrap = realpath(find_bwrap(), NULL);
	struct error trouble; /* is told through start->complaints */
	struct becoming how = {
		.start = start, .bwrap = bwrap, .parent = getpid(), .err = &trouble
	};

	if (!bwrap)
		return error_sys(err, "find '%s'", find_bwrap());
	if (etc_prepare(start->plan, &etc, err) < 0)
		return -1;
	how.etc = etc;
	*ret_pid = identity->switched ? process_fork(begin, &how, namespaces)
				      : process_borrow(begin, &how, namespaces);
	if (*ret_pid < 0)
		return remedy_namespaces(strerror(errno), err);
	return tree_describe(start->order, start->plan, etc, err);
}

void bwrap_classify(const char *complaints, int status, struct error *err)
{
	static const char own[] = "ringfence: ";
	static const char *const namespaces[] = { "new namespace", "uid map", "setgroups",
						  "loopback", "user namespaces" };
	AUTO_FREE char *line = strndup(complaints, strcspn(complaints, "\n"));

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		error_set(err, "no fence: it was not up in time (does a file system hang?)");
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
