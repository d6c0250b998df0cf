/*
 * Puts the fence's file tree in place of a container's: see container.h.
 *
 * A builder makes the tree on a stage of its own, while the engine starts the container. A grafter,
 * in the namespaces of the engine, receives the tree and the container's first process.
 */
#include "fence/fence_result.h"
#include "fence/mechanism/container.h"
#include "fence/mechanism/container_image.h"
#include "fence/run/handover.h"
#include "fence/tree/graft.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/launcher.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum piece { PIECE_TREE, PIECE_PROCESS, PIECES };

static int send_piece(int socket, enum piece piece, int fd)
{
	const int which = piece;

	return fd_send(socket, &which, sizeof which, &fd, 1, 0);
}

/* Returns 0, or -1 if the other side has given up. */
static int receive_pieces(int socket, int pieces[PIECES])
{
	for (int i = 0; i < PIECES; i++) {
		struct pollfd waiting = { .fd = socket, .events = POLLIN };
		int fds[FD_PASSED];
		int piece;

		while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
			;
		if (fd_receive(socket, &piece, sizeof piece, fds) <= 0 || piece < 0 ||
		    piece >= PIECES)
			return -1;
		pieces[piece] = fds[0];
	}
	return 0;
}

/* In a process that the launcher started. Answers with the reason of a failure. */
static int run_grafter(const void *argument, size_t size, int socket)
{
	int pieces[PIECES] = { -1, -1 };
	struct error err;

	(void)argument;
	(void)size;
	if (receive_pieces(socket, pieces) < 0)
		return 1;
	if (graft_onto(pieces[PIECE_PROCESS], pieces[PIECE_TREE], &err) == 0)
		return 0;
	send(socket, err.text, strlen(err.text), MSG_NOSIGNAL);
	return 1;
}

struct building {
	struct mechanism_start start;
	struct tree *tree;
	pid_t parent;
	int socket;
};

enum { FD_SOCKET = 3, FD_BUILDING_END };

/* Gives the descriptors of the tree's mounts new numbers, from this one on. Returns the next. */
static int renumber(struct tree *tree, int number)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].kind == TREE_GIVEN)
			tree->items[i].given = fcntl(tree->items[i].given, F_DUPFD, number++);
	return number;
}

/* Keeps only the descriptors that are needed. Returns the first number that is not used. */
static int place_descriptors(struct building *how)
{
	enum { ASIDE = 256 };
	const int wanted[] = { FD_NULL, FD_NULL, how->start.complaints, how->socket };

	renumber(how->tree, ASIDE);
	if (fd_place(wanted, FD_BUILDING_END) < 0 ||
	    syscall(SYS_close_range, FD_BUILDING_END, ASIDE - 1, 0) < 0)
		return -1;
	how->start.complaints = 2;
	return renumber(how->tree, FD_BUILDING_END);
}

/* In a new process: builds the tree on a stage of its own. */
static int run_builder(void *argument)
{
	struct building *how = argument;
	int end = place_descriptors(how);
	AUTO_FREE char *root = NULL;
	AUTO_FD tree = -1;
	struct error err;

	if (end < 0)
		return FENCE_EXIT_NOT_SET_UP;
	if (mechanism_stay_with(&how->start, how->parent, &err) == 0 &&
	    mechanism_enter_stage(&how->start, (unsigned int)end, &err) == 0 &&
	    (root = tree_build(how->tree, how->start.program, &err)))
		tree = graft_cut(root, &err);
	if (tree >= 0 && send_piece(FD_SOCKET, PIECE_TREE, tree) == 0)
		return 0;
	mechanism_complain(&how->start, &err);
	return FENCE_EXIT_NOT_SET_UP;
}

static pid_t start_builder(const struct mechanism_start *start, struct tree *tree, int socket,
			   struct error *err)
{
	struct building building = {
		.start = *start, .tree = tree, .parent = getpid(), .socket = socket
	};
	pid_t builder = process_fork(run_builder, &building, 0);

	if (builder < 0)
		error_sys(err, "start building the file tree");
	return builder;
}

/* Returns a descriptor that can be read when a signal is pending that ends a start. */
static int watch_stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Waits until init has connected. Returns false if the engine's client has ended, the run is to end
 * or time is up: the session will see why. */
static bool await_init(const struct mechanism_start *start)
{
	const int *lifeline = start->plan->spec->lifeline;
	AUTO_FD client = (int)syscall(SYS_pidfd_open, start->child, 0);
	AUTO_FD stop = watch_stop();
	struct pollfd watched[] = { { .fd = start->container->listener, .events = POLLIN },
				    { .fd = client, .events = POLLIN },
				    { .fd = stop, .events = POLLIN },
				    { .fd = lifeline ? *lifeline : -1, .events = POLLIN } };
	uint64_t end = clock_steady_ms() + mechanism_setup_ms(start->plan);

	for (;;) {
		uint64_t now = clock_steady_ms();

		if (now >= end || (poll(watched, 4, (int)(end - now)) < 0 && errno != EINTR))
			return false;
		if (watched[0].revents)
			return true;
		if (watched[1].revents || watched[2].revents || watched[3].revents)
			return false;
	}
}

static int give_descriptors(struct mechanism_start *start, int *ret_process, struct error *err)
{
	AUTO_FD nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fds[WIRE_FD_END] = { start->stdio[0], start->stdio[1], start->complaints,
				 start->control, start->stdio[2] };

	for (int i = 0; i < WIRE_FD_END; i++)
		if (fds[i] < 0)
			fds[i] = nothing;
	start->init = handover_give(start->container->listener, fds, ret_process, err);
	return start->init < 0 ? -1 : 0;
}

/* Returns whether the process ended with status 0. */
static bool succeeded(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Waits for both. A builder that fails has complained, and nobody else has to. */
static int finish(const struct mechanism_start *start, int socket, pid_t builder, pid_t grafter,
		  struct error *err)
{
	char why[sizeof err->text] = "";
	bool built = succeeded(builder);
	bool grafted;

	if (!built)
		shutdown(socket, SHUT_WR);
	grafted = grafter > 0 && succeeded(grafter);
	if (!built)
		process_kill(start->child);
	if (!built || grafted)
		return 0;
	if (grafter < 0)
		return -1;
	recv(socket, why, sizeof why - 1, MSG_DONTWAIT);
	return error_set(err, "no fence: %s",
			 *why ? why : "the process that mounts the file tree was killed");
}

/* The container runs. Starts the builder if the tree depends on the container's image. */
static int graft(struct mechanism_start *start, struct tree *tree, const int ends[2], pid_t builder,
		 struct error *err)
{
	const struct fence_spec *spec = start->plan->spec;
	AUTO_FD process = -1;
	pid_t grafter = -1;

	if (give_descriptors(start, &process, err) == 0 &&
	    (builder || (container_image_add(spec->launcher, process, tree, err) == 0 &&
			 (builder = start_builder(start, tree, ends[0], err)) > 0))) {
		if (send_piece(ends[0], PIECE_PROCESS, process) < 0)
			error_sys(err, "graft the file tree");
		else
			grafter = launcher_run(spec->launcher, run_grafter, "", 0, ends[1], err);
	}
	return builder > 0 ? finish(start, ends[0], builder, grafter, err) : -1;
}

int container_mount(struct mechanism_start *start, struct tree *tree, struct error *err)
{
	pid_t builder = 0;
	int ends[2];
	int result = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "create a socket pair");
	if (!start->plan->spec->image)
		builder = start_builder(start, tree, ends[0], err);
	if (builder < 0)
		result = -1;
	else if (await_init(start))
		result = graft(start, tree, ends, builder, err);
	else if (builder)
		succeeded(builder);
	close(ends[0]);
	close(ends[1]);
	return result;
}
