/*
 * ringfence-init: the first process inside any fence.
 *
 * It is small, static and the same for every mechanism. It reads its order, sends out the sockets
 * and the terminal that belong to the fence's own namespaces, verifies the fence with canaries,
 * starts the command behind Landlock and seccomp, and stays as process 1: it reaps, forwards
 * signals, reports the exit and, when its lifeline closes, kills everything.
 *
 * Nothing here relies on the process outside being alive.
 *
 * With words on its command line it is a filter of the git inside (lfs/lfs_filter.h): this is the
 * one program of ours that every fence has.
 */
#include "fence/init/canary.h"
#include "fence/init/confine.h"
#include "fence/init/movable.h"
#include "fence/init/order.h"
#include "fence/init/use.h"
#include "fence/run/handover.h"
#include "lfs/lfs_filter.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NOT_SET_UP = 125 };

static _Noreturn void fail(const struct error *err, bool canary)
{
	struct wire_message message = { .type = WIRE_FAILED, .a = canary };

	snprintf(message.text, sizeof message.text, "%.*s", (int)sizeof message.text - 1,
		 err->text);
	wire_send(WIRE_FD_CONTROL, &message, -1);
	_exit(EXIT_NOT_SET_UP);
}

/* Waits for the next message. Returns 0, or -1 if the peer is gone or broke the protocol. */
static int await_message(enum wire_state *state, struct wire_message *ret_message, int *ret_fd)
{
	struct pollfd control = { .fd = WIRE_FD_CONTROL, .events = POLLIN };

	for (;;) {
		int got = wire_take(WIRE_FD_CONTROL, WIRE_INSIDE, state, ret_message, ret_fd);

		if (got > 0)
			return 0;
		if (got == 0 || errno != EAGAIN || (poll(&control, 1, -1) < 0 && errno != EINTR))
			return -1;
	}
}

static int receive_order(enum wire_state *state, struct order *ret_order, struct error *err)
{
	struct wire_message message;
	int lock = -1; /* stays open, and thus locked, until init ends */
	AUTO_FD fd = -1;
	struct stat status;

	/* The protocol allows only these two, in this order. */
	if (await_message(state, &message, &lock) < 0 || await_message(state, &message, &fd) < 0 ||
	    fstat(fd, &status) < 0 || status.st_size == 0)
		return error_set(err, "ringfence-init must be started by ringfence");

	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return error_sys(err, "map the order");
	return order_read(bytes, (size_t)status.st_size, ret_order, err);
}

/* Marks the descriptors that init needs close-on-exec, and closes all others. */
static int close_inherited(struct error *err)
{
	for (int fd = WIRE_FD_CONTROL; fd < WIRE_FD_END; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (syscall(SYS_close_range, WIRE_FD_END, ~0U, 0) < 0)
		return error_sys(err, "close inherited descriptors");
	return 0;
}

static int listen_inside(const struct wire_listen *where, int *ret_fd, struct error *err)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = { 0 };
	socklen_t size = where->family == 4 ? sizeof address.v4 : sizeof address.v6;
	AUTO_FD fd = socket(where->family == 4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int yes = 1;

	if (where->family == 4) {
		address.v4.sin_family = AF_INET;
		address.v4.sin_port = htons((uint16_t)where->port);
		memcpy(&address.v4.sin_addr, where->address, sizeof address.v4.sin_addr);
	} else {
		address.v6.sin6_family = AF_INET6;
		address.v6.sin6_port = htons((uint16_t)where->port);
		memcpy(&address.v6.sin6_addr, where->address, sizeof address.v6.sin6_addr);
	}
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
	    bind(fd, &address.any, size) < 0 || listen(fd, 128) < 0)
		return error_sys(err, "listen on port %u inside the fence", where->port);
	*ret_fd = fd_steal(&fd);
	return 0;
}

/* The sockets are created here, in the fence's network namespace, and served outside. */
static int send_sockets(const struct order *order, struct error *err)
{
	for (size_t i = 0; i < order->listen_count; i++) {
		struct wire_message message = { .type = WIRE_LISTENING, .a = (int)i };
		AUTO_FD fd = -1;

		if (listen_inside(&order->listens[i], &fd, err) < 0)
			return -1;
		if (wire_send(WIRE_FD_CONTROL, &message, fd) < 0)
			return error_sys(err, "send a listening socket outside");
	}
	return 0;
}

/* Opens a terminal in the fence's own devpts, so that no descriptor of the caller's terminal gets
 * inside. */
static int send_terminal(const struct order *order, int *ret_inner, struct error *err)
{
	struct wire_message message = { .type = WIRE_TERMINAL };
	struct winsize size = {
		.ws_row = (unsigned short)order->flags.rows,
		.ws_col = (unsigned short)order->flags.columns,
	};
	int unlock = 0;

	if (!order->flags.terminal)
		return 0;

	AUTO_FD outer = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (outer < 0 || ioctl(outer, TIOCSPTLCK, &unlock) < 0)
		return error_sys(err, "open a terminal for the fence");

	AUTO_FD inner = ioctl(outer, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (inner < 0)
		return error_sys(err, "open a terminal for the fence");
	if (ioctl(inner, TIOCSCTTY, 0) < 0)
		return error_sys(err, "make it the controlling terminal");
	if (size.ws_row && size.ws_col)
		ioctl(outer, TIOCSWINSZ, &size);
	if (wire_send(WIRE_FD_CONTROL, &message, outer) < 0)
		return error_sys(err, "send the terminal outside");
	*ret_inner = fd_steal(&inner);
	return 0;
}

/* The protocol allows no other message here. */
static int wait_for_go(enum wire_state *state, struct error *err)
{
	struct wire_message message;
	AUTO_FD fd = -1;

	return await_message(state, &message, &fd) < 0
		       ? error_set(err, "ringfence is gone or broke the protocol")
		       : 0;
}

static int place_stdio(const struct order *order, int terminal, struct error *err)
{
	if (dup2(WIRE_FD_STDERR, 2) < 0)
		return error_sys(err, "set up stderr");
	for (int fd = 0; fd < 3; fd++)
		if (order->flags.terminal & 1U << fd && dup2(terminal, fd) < 0)
			return error_sys(err, "set up the terminal");
	return 0;
}

/*
 * On a terminal the command is a foreground job in init's session, so that Ctrl-Z can stop it: the
 * kernel does not stop a process group without a parent in its session. Otherwise it gets its own
 * session.
 */
static int join_session(const struct order *order, int terminal, struct error *err)
{
	if (!order->flags.terminal)
		return setsid() < 0 ? error_sys(err, "create a session") : 0;
	if (setpgid(0, 0) < 0 || tcsetpgrp(terminal, getpid()) < 0)
		return error_sys(err, "bring the command to the foreground of its terminal");
	return 0;
}

static const char *search_path(const struct order *order)
{
	for (size_t i = 0; i < order->environment_count; i++)
		if (strncmp(order->environment[i], "PATH=", 5) == 0)
			return order->environment[i] + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

/* Executes the command, found as a shell would find it. Returns only on failure, with errno. */
static void exec_command(const struct order *order)
{
	char *const *arguments = (char *const *)order->arguments;
	char *const *environment = (char *const *)order->environment;
	const char *name = order->arguments[0];
	const char *path = search_path(order);
	int worst = ENOENT;

	if (strchr(name, '/')) {
		execve(name, arguments, environment);
		return;
	}
	while (*name) {
		size_t size = strcspn(path, ":");
		AUTO_FREE char *file = mem_format("%.*s%s%s", (int)size, path, size ? "/" : "./",
						  name);

		if (access(file, F_OK) == 0) /* checking is much cheaper than a failed exec */
			execve(file, arguments, environment);
		if (errno != ENOENT && errno != ENOTDIR)
			worst = errno;
		if (!path[size])
			break;
		path += size + 1;
	}
	errno = worst;
}

static int prepare_landlock(const struct order *order, int *ret_ruleset, struct error *err)
{
	return order->flags.shared ? confine_grants_prepare(order, ret_ruleset, err)
				   : confine_landlock_prepare(order, ret_ruleset, err);
}

static int confine_self(const struct order *order, bool *ret_landlock, struct error *err)
{
	enum confine_notice notice = !order->flags.denials      ? CONFINE_SILENT
				     : order->flags.trace_reads ? CONFINE_TRACE
								: CONFINE_NOTICE;
	const struct confine_filter filter = { .notice = notice,
					       .shared = order->flags.shared,
					       .asks_opens = order->flags.asks_opens,
					       .network = !order->flags.net_private };
	AUTO_FD ruleset = -1;
	AUTO_FD listener = -1;

	if (prepare_landlock(order, &ruleset, err) < 0 || confine_always(order, err) < 0 ||
	    confine_landlock_enter(ruleset, err) < 0 ||
	    confine_seccomp(&filter, &listener, err) < 0)
		return -1;
	/* No process inside may keep the listener: its holder answers for others. */
	if (listener >= 0 &&
	    wire_send(WIRE_FD_CONTROL, &(struct wire_message){ .type = WIRE_DENIALS }, listener) <
		    0)
		return error_sys(err, "send the seccomp listener outside");
	*ret_landlock = ruleset >= 0;
	return 0;
}

/* Finishes a rename that an earlier command left. That command also wrote what to do, so this needs
 * walls. */
static int finish_rename(const struct order *order, struct error *err)
{
	if (!order->flags.confined)
		return error_set(err, "the rename of a folder was interrupted in this draft, which "
				      "only a command in a fence can finish");
	return movable_finish(order->draft, true, err);
}

/*
 * The command's process: walls, canaries, exec. It sets these up while init inspects what the
 * mechanism made, and executes the command once init opens the gate.
 */
static _Noreturn void become_command(const struct order *order, int terminal, int gate)
{
	struct wire_message message = { .type = WIRE_RUNNING };
	struct canary_count outside = { 0 };
	struct canary_count inside = { 0 };
	bool landlock = false;
	bool held;
	struct error err;
	sigset_t none;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL); /* ringfence ignores it for itself */
	umask((mode_t)order->flags.umask);
	if (join_session(order, terminal, &err) < 0 || place_stdio(order, terminal, &err) < 0)
		fail(&err, false);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (confine_limits(order, &err) < 0)
		fail(&err, false);
	if (order->flags.confined && confine_self(order, &landlock, &err) < 0)
		fail(&err, false);
	held = !order->flags.confined || canary_inside(order, landlock, &inside, &err) == 0;
	if (read(gate, &outside, sizeof outside) != sizeof outside)
		_exit(EXIT_NOT_SET_UP); /* init has reported why */
	if (!held) /* only now: of two reports about one hole, that of init is the one */
		fail(&err, true);
	if (order->draft && movable_interrupted(order->draft) && finish_rename(order, &err) < 0)
		fail(&err, false);
	message.a = (int)(outside.held + inside.held);
	message.b = (int)(outside.total + inside.total);
	if (wire_send(WIRE_FD_CONTROL, &message, -1) < 0)
		_exit(EXIT_NOT_SET_UP); /* the peer is gone */
	exec_command(order);
	message = (struct wire_message){ .type = WIRE_NOT_STARTED, .a = errno };
	wire_send(WIRE_FD_CONTROL, &message, -1);
	_exit(EXIT_NOT_SET_UP);
}

/* The process that makes folders of a draft movable, one after another. */
struct mover {
	pid_t pid;      /* 0: none */
	bool finishing; /* what another one left, which was killed */
};

/* Makes a folder movable, or without a path finishes what was interrupted, behind the walls of the
 * command. */
static _Noreturn void become_mover(const struct order *order, const char *path)
{
	struct error err;
	AUTO_FD ruleset = -1;
	int listener;

	if (confine_limits(order, &err) < 0 ||
	    confine_landlock_prepare(order, &ruleset, &err) < 0 ||
	    confine_always(order, &err) < 0 || confine_landlock_enter(ruleset, &err) < 0 ||
	    confine_seccomp(&(struct confine_filter){ .notice = CONFINE_SILENT }, &listener, &err) <
		    0 ||
	    syscall(SYS_close_range, 0, ~0U, 0) < 0)
		_exit(EXIT_NOT_SET_UP);
	_exit(path ? movable_make(order->draft, path, order->limits.processes ? 1 : MOVABLE_COPIERS,
				  &err) < 0
		   : movable_finish(order->draft, false, &err) < 0);
}

/* Starts a mover, or reports that there is none, and the rename may fail. */
static void start_mover(struct mover *mover, const struct order *order, const char *path)
{
	pid_t pid = order->flags.confined && order->draft ? fork() : -1;

	if (pid == 0)
		become_mover(order, path);
	*mover = (struct mover){ .pid = pid < 0 ? 0 : pid, .finishing = !path };
	if (pid < 0)
		wire_send(WIRE_FD_CONTROL, &(struct wire_message){ .type = WIRE_MOVABLE }, -1);
}

/* A mover has ended. The caller may copy the folder if it cannot rename it, so no part may be
 * missing. */
static void end_mover(struct mover *mover, const struct order *order)
{
	if (!mover->finishing && movable_interrupted(order->draft)) {
		start_mover(mover, order, NULL);
		return;
	}
	mover->pid = 0;
	wire_send(WIRE_FD_CONTROL, &(struct wire_message){ .type = WIRE_MOVABLE }, -1);
}

/* Everything inside is dead: finishes a rename that this interrupted. */
static void finish_renames(const struct order *order)
{
	bool needed = order->flags.confined && order->draft && movable_interrupted(order->draft);
	pid_t pid = needed ? fork() : -1;

	if (pid == 0)
		become_mover(order, NULL);
	if (pid > 0)
		waitpid(pid, NULL, 0); /* if it fails, the place is left, and found outside */
}

/* Kills everything that is left inside and waits for it. */
static void end_all(void)
{
	/* Only process 1 of a namespace may signal "all": elsewhere that would include the user's
	 * own processes. */
	if (getpid() != 1) {
		process_end_children();
		return;
	}
	do
		kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) >= 0 || errno != ECHILD);
}

static void signal_all(pid_t command, int number)
{
	if (getpid() == 1)
		kill(-1, number);
	else
		kill(-command, number);
}

/* Handles one message from outside. Returns false if the peer is gone or broke the protocol. */
static bool handle_message(const struct order *order, enum wire_state *state, pid_t command,
			   struct mover *mover)
{
	struct wire_message message;
	int fd = -1;
	int got = wire_take(WIRE_FD_CONTROL, WIRE_INSIDE, state, &message, &fd);

	fd_close(&fd);
	if (got < 0)
		return errno == EAGAIN;
	if (got == 0)
		return false;
	if (message.type == WIRE_SIGNAL && kill(-command, message.a) < 0)
		kill(command, message.a);
	if (message.type == WIRE_SIGNAL_ALL)
		signal_all(command, message.a);
	if (message.type == WIRE_MAKE_MOVABLE && !mover->pid)
		start_mover(mover, order, message.text);
	return true;
}

/* Kills everything that is left and reports the command's exit. */
static void report_exit(const struct order *order, int status, int counters, bool file_size)
{
	/* The command itself has already been reaped. */
	uint64_t left = order->limits.processes_exact ? use_left() + 1 : 0;
	struct wire_use use = { .left = left, .file_size = file_size };
	struct wire_message message = {
		.type = WIRE_EXITED,
		.a = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
		.b = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
	};

	end_all();
	finish_renames(order);
	use_read(order, counters, &use);
	memcpy(message.text, &use, sizeof use);
	wire_send(WIRE_FD_CONTROL, &message, -1);
}

/* Reaps children. Returns true, with the status, if the command itself has ended. */
static bool reap(const struct order *order, pid_t command, struct mover *mover, int *ret_status,
		 bool *ret_file_size)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
			*ret_file_size = true;
		if (pid == mover->pid && !WIFSTOPPED(status))
			end_mover(mover, order);
		if (pid != command)
			continue;
		if (WIFSTOPPED(status)) {
			wire_send(WIRE_FD_CONTROL, &(struct wire_message){ .type = WIRE_STOPPED },
				  -1);
		} else {
			*ret_status = status;
			ended = true;
		}
	}
	return ended;
}

static void supervise(const struct order *order, enum wire_state state, pid_t command, int signals,
		      int counters)
{
	struct pollfd watched[] = { { .fd = WIRE_FD_CONTROL, .events = POLLIN },
				    { .fd = signals, .events = POLLIN } };
	struct mover mover = { 0 };
	bool file_size = false;
	int status = 0;

	for (;;) {
		struct signalfd_siginfo info;

		if (poll(watched, 2, -1) < 0 && errno != EINTR)
			break;
		if (watched[0].revents && !handle_message(order, &state, command, &mover))
			break;
		if (watched[1].revents && read(signals, &info, sizeof info) > 0 &&
		    reap(order, command, &mover, &status, &file_size)) {
			report_exit(order, status, counters, file_size);
			return;
		}
	}
	end_all();
}

/* Verifies the fence, and lets the command start if it holds. */
static int verify(const struct order *order, enum wire_state *state, int gate, int counters,
		  struct error *err)
{
	struct wire_message mounted = { .type = WIRE_MOUNTED };
	struct canary_count count = { 0 };

	/* Only the process outside knows whether the project has changed since it was scanned; it
	 * checks in parallel. */
	if (order->flags.confined && wire_send(WIRE_FD_CONTROL, &mounted, -1) < 0)
		return error_sys(err, "report the mounts");
	/* Without a fence there is nothing to verify. */
	*state = order->flags.confined ? WIRE_STATE_MOUNTED : WIRE_STATE_STARTING;
	if (order->flags.confined && canary_outside(order, &count, err) < 0)
		fail(err, true);
	if ((order->flags.confined && wait_for_go(state, err) < 0) || send_sockets(order, err) < 0)
		return -1;
	if (order->limits.counters &&
	    wire_send(WIRE_FD_CONTROL, &(struct wire_message){ .type = WIRE_COUNTERS }, counters) <
		    0)
		return error_sys(err, "send the counters outside");
	/* On EPIPE, the command's process has already reported why. */
	return write(gate, &count, sizeof count) < 0 && errno != EPIPE
		       ? error_sys(err, "start the command")
		       : 0;
}

static int run_filter(int argc, char **argv)
{
	struct error err;

	if (lfs_filter_run(argc, argv, &err) == 0)
		return 0;
	fprintf(stderr, "ringfence: %s\n", err.text);
	return 1;
}

int main(int argc, char **argv)
{
	enum wire_state state = WIRE_STATE_NEW;
	struct order order = { 0 };
	struct error err;
	AUTO_FD terminal = -1;
	AUTO_FD signals = -1;
	AUTO_FD counters = -1;
	sigset_t child;
	int gate[2];

	if (argc > 1)
		return run_filter(argc, argv);
	prctl(PR_SET_NAME, "ringfence-init", 0, 0, 0);
	signal(SIGCHLD, SIG_DFL);
	if (handover_take() < 0) /* there is nobody to tell */
		return EXIT_NOT_SET_UP;
	if (close_inherited(&err) < 0 || receive_order(&state, &order, &err) < 0)
		fail(&err, false);
	if (!order.flags.confined || order.flags.shared)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (chdir(order.cwd) < 0) {
		error_sys(&err, "enter '%s'", order.cwd);
		fail(&err, false);
	}
	if (send_terminal(&order, &terminal, &err) < 0)
		fail(&err, false);

	/* From here on nobody inside can inspect this process, and it cannot open its own counters
	 * either. */
	counters = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	/* Without a user namespace, ringfence could not read these counters either; Landlock keeps
	 * the command from this process. */
	if (!order.flags.shared || !order.limits.counters)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	/* Process 1 of a namespace gets no SIGHUP; elsewhere, init leads the session of a terminal
	 * that may be gone before the command is. */
	sigaddset(&child, SIGHUP);
	sigaddset(&child, SIGTTOU); /* the command takes the terminal while in the background */
	sigprocmask(SIG_SETMASK, &child, NULL);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);

	pid_t command = signals < 0 || pipe2(gate, O_CLOEXEC) < 0 ? -1 : fork();

	if (command < 0) {
		error_sys(&err, "start the command");
		fail(&err, false);
	}
	if (command == 0) {
		close(gate[1]);
		become_command(&order, terminal, gate[0]);
	}
	close(gate[0]);
	fd_close(&terminal);
	close(0);
	close(1);
	close(2);
	close(WIRE_FD_STDERR);
	if (verify(&order, &state, gate[1], counters, &err) < 0)
		fail(&err, false);
	close(gate[1]);
	supervise(&order, state, command, signals, counters);
	return 0;
}
