/* Starting a run: see session.h. */
#include "fence/run/session.h"

#include "fence/run/briefing.h"
#include "fence/run/run_home.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * Reports whether fd is a protected file in a writable folder. Reopening it through /proc/self/fd
 * would bypass its read-only mount.
 */
static bool protected_file(const struct fence_plan *plan, int fd)
{
	char link[32];
	char path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';

	const struct fence_rule *rule = fence_plan_decide(plan, path);

	for (size_t i = 0;
	     rule && (rule->access != WIRE_WRITE || rule->source) && i < plan->rule_count; i++)
		if (plan->rules[i].access == WIRE_WRITE && path_within(path, plan->rules[i].path))
			return true;
	return false;
}

/* Refuses folders and block devices as stdio: through a folder's descriptor, a process could walk
 * out of the fence. */
static int check_stdio(struct mechanism_start *start, uint32_t *ret_terminal, struct error *err)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };

	for (int fd = 0; fd < 3; fd++) {
		struct stat status;

		start->stdio[fd] = -1;
		if (fstat(fd, &status) < 0)
			continue;
		if (isatty(fd)) {
			*ret_terminal |= 1U << fd;
			continue;
		}
		if (S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode) ||
		    fcntl(fd, F_GETFL) & O_PATH)
			return error_set(
				err,
				"%s is a folder or a block device, which would lead out of the fence; redirect it",
				names[fd]);
		if (S_ISREG(status.st_mode) && protected_file(start->plan, fd))
			return error_set(err,
					 "%s is a file that the fence protects; use a pipe instead "
					 "(cat FILE | ringfence exec ...)",
					 names[fd]);
		start->stdio[fd] = fd;
	}
	return 0;
}

/* Opens an abstract socket with an unguessable name. */
static int open_abstract(char *ret_name, size_t size, struct error *err)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	unsigned long random[2] = { (unsigned long)getpid(), (unsigned long)clock_steady_ms() };

	if (getrandom(random, sizeof random, GRND_NONBLOCK) < 0)
		random[0] ^= (unsigned long)time(NULL);

	int used = snprintf(ret_name, size, "ringfence-canary-%lx%lx", random[0], random[1]);

	memcpy(address.sun_path + 1, ret_name, (size_t)used);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used)) < 0 ||
	    listen(fd, 1) < 0)
		return error_sys(err, "open the canary's socket");
	return fd_steal(&fd);
}

static int watch_signals(struct session *session, struct error *err)
{
	static const int wanted[] = { SIGCHLD, SIGINT,  SIGTERM, SIGHUP,
				      SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, &session->saved_mask);
	session->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return session->signals < 0 ? error_sys(err, "watch signals") : 0;
}

/* Sending may fail only if init is gone; the mechanism then reports why. */
static int send_order(struct session *session, const struct buffer *order, struct error *err)
{
	AUTO_FD fd = fd_memory("ringfence-order", order->data, order->used);

	if (fd < 0 || buffer_overflowed(order))
		return error_sys(err, "send the order to init");
	wire_send(session->control, &(struct wire_message){ .type = WIRE_LOCK }, session->run.lock);
	wire_send(session->control, &(struct wire_message){ .type = WIRE_ORDER }, fd);
	/* Without a fence there is nothing to verify before the command starts. */
	session->wire = session->plan->weaker & FENCE_WEAKER_NO_FENCE ? WIRE_STATE_STARTING
								      : WIRE_STATE_ORDERED;
	return 0;
}

/* The record is on disk before the command starts: in a fence that is later, when init has set up
 * and is told to go, so both happen at once. */
static int give_order(struct session *session, const struct buffer *order, struct error *err)
{
	if (session->plan->weaker & FENCE_WEAKER_NO_FENCE)
		return run_record_sync(&session->run, err) < 0 ? -1
							       : send_order(session, order, err);
	return send_order(session, order, err) < 0 ? -1 : run_record_sync(&session->run, err);
}

/* Plans the file tree while the mechanism's child loads, mounts it, and appends to the order the
 * entries that init must find. */
static int mount_tree(struct mechanism_start *how, struct buffer *order, struct error *err)
{
	const struct mechanism *mechanism = how->plan->mechanism;
	struct tree tree;
	int result;

	if (how->plan->weaker & FENCE_WEAKER_NO_FENCE || how->plan->own)
		return 0;
	if (tree_make(how->plan, &tree, err) < 0)
		return -1;
	result = mechanism->mount(how, &tree, err);
	tree_describe(&tree, order);
	tree_release(&tree);
	return result;
}

static int start_mechanism(struct session *session, struct buffer *order, struct error *err)
{
	struct mechanism_start *how = &session->how;
	int result = how->plan->mechanism->start(how, err);

	session->child = how->child;
	if (result == 0)
		result = mount_tree(how, order, err);
	if (result == 0 && how->init)
		result = limit_adopt(&session->limiter, how->init, err);
	session->first = how->init ? how->init : how->child;
	fd_close(&how->gate);
	free(how->program);
	return result;
}

/* A command that shares the host's file tree has rules for Landlock instead of mounts. */
static int make_grants(struct session *session, struct buffer *order, struct error *err)
{
	if (run_home_make(session->plan, &session->home_lock, err) < 0 ||
	    grant_make(session->plan, &session->grants, err) < 0)
		return -1;
	grant_describe(&session->grants, order);
	session->denials.performer.grants = &session->grants;
	return 0;
}

/* Connects the session with init and the mechanism, and starts these. */
static int start_connected(struct session *session, struct buffer *order, struct error *err)
{
	struct mechanism_start *how = &session->how;
	int sockets[2];
	int pipes[2];
	int result;

	/* If the mechanism's own process is killed, init becomes our child and we can wait for
	 * it. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_sys(err, "create the control socket");
	session->control = sockets[0];
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0) {
		close(sockets[1]);
		return error_sys(err, "create a pipe");
	}
	session->complaints_fd = pipes[0];
	how->control = sockets[1];
	how->complaints = pipes[1];
	result = start_mechanism(session, order, err);
	close(sockets[1]);
	close(pipes[1]);
	return result;
}

int session_start(struct session *session, struct error *err)
{
	AUTO_BUFFER struct buffer order = BUFFER_INIT(64 << 20);
	char abstract[64];
	struct briefing briefing = { .plan = session->plan, .abstract = abstract };
	int result;

	session->how = (struct mechanism_start){ .plan = session->plan,
						 .limiter = &session->limiter,
						 .gate = -1 };
	if (check_stdio(&session->how, &briefing.terminal, err) < 0 ||
	    (session->abstract = open_abstract(abstract, sizeof abstract, err)) < 0 ||
	    watch_signals(session, err) < 0 ||
	    limit_begin(&session->limiter, session->plan, session->result, err) < 0 ||
	    way_out_start(session->plan, &session->result->warnings, err) < 0 ||
	    (session->plan->own && make_grants(session, &order, err) < 0))
		return -1;
	briefing.outer = session->terminal.outer;
	briefing.asks_opens = session->grants.splits_reading;
	limit_describe(&session->limiter, &briefing.limits);
	result = start_connected(session, &order, err);
	/* The mechanism now sets up in parallel, which takes longer than the steps below. */
	if (result == 0)
		result = run_record_begin(session->plan, &session->run, err);
	if (result == 0)
		result = briefing_write(&order, &briefing, err);
	if (result == 0)
		result = give_order(session, &order, err);
	session->deadline_ms = clock_steady_ms() + mechanism_setup_ms(session->plan);
	return result;
}
