/* Runs a function in its own process: see child.h. */
#include "builtin/tool/child.h"

#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 5000 };

/* Output kept: the head as it is, the tail in a ring. */
struct kept {
	struct buffer *out;
	size_t head;
	char *ring;
	size_t room;
	uint64_t ringed; /* bytes written to the ring so far */
};

static void keep(struct kept *kept, const char *bytes, size_t size)
{
	size_t room = kept->head > kept->out->used ? kept->head - kept->out->used : 0;
	size_t first = size < room ? size : room;

	buffer_add(kept->out, bytes, first);
	for (size_t i = first; i < size; i++)
		kept->ring[kept->ringed++ % kept->room] = bytes[i];
}

static void append_tail(struct kept *kept)
{
	uint64_t lost = kept->ringed > kept->room ? kept->ringed - kept->room : 0;

	if (lost)
		buffer_printf(kept->out, "\n[... %" PRIu64 " bytes omitted ...]\n", lost);
	for (uint64_t i = lost; i < kept->ringed; i++)
		buffer_add(kept->out, &kept->ring[i % kept->room], 1);
}

/* Runs in the child. */
static void run_child(const struct child_work *work, int output)
{
	const int wanted[] = { FD_NULL, output, output };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	if (fd_place(wanted, 3) < 0)
		_exit(125);
	_exit(work->run(work->context));
}

/* Reads the available output. Returns whether more may follow. */
static bool drain(int fd, struct kept *kept, uint64_t *sum, uint64_t most)
{
	char bytes[16384];
	ssize_t n;

	while (*sum <= most && (n = read(fd, bytes, sizeof bytes)) != 0) {
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		*sum += (uint64_t)n;
		keep(kept, bytes, (size_t)n);
	}
	return *sum > most;
}

static void wait_for_end(const struct child_work *work, int pidfd, int output, struct kept *kept,
			 struct child_end *end)
{
	int64_t stop = (int64_t)clock_steady_ms() + (int64_t)work->most_ms;
	int64_t ticked = (int64_t)clock_steady_ms();
	uint64_t sum = 0;
	bool open = true;

	for (;;) {
		struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
					{ .fd = open ? output : -1, .events = POLLIN } };
		int64_t left = stop - (int64_t)clock_steady_ms();
		int n = left > 0 ? poll(fds, 2, left < INT_MAX ? (int)left : INT_MAX) : 0;

		if (n == 0) {
			end->late = true;
			return;
		}
		if (work->tick && open && fds[1].revents &&
		    (int64_t)clock_steady_ms() - ticked >= TICK_MS) {
			ticked = (int64_t)clock_steady_ms();
			work->tick();
		}
		if (open && fds[1].revents)
			open = drain(output, kept, &sum, work->most_bytes);
		if (sum > work->most_bytes) {
			end->flooded = true;
			return;
		}
		if (n > 0 && fds[0].revents) {
			/* All its output has arrived; do not wait for others that hold the pipe. */
			if (open)
				drain(output, kept, &sum, work->most_bytes);
			return;
		}
	}
}

int child_run(const struct child_work *work, struct buffer *out, struct child_end *ret_end,
	      struct error *err)
{
	AUTO_FREE char *ring = mem_alloc(work->tail);
	struct kept kept = { .out = out, .head = work->head, .ring = ring, .room = work->tail };
	struct child_end end = { 0 };
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");

	AUTO_FD output = pipes[0];
	AUTO_FD input = pipes[1];
	AUTO_FD pidfd = -1;

	fcntl(output, F_SETFL, O_NONBLOCK);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	pid = fork();
	if (pid < 0)
		return error_sys(err, "start a process");
	if (pid == 0)
		run_child(work, input);
	setpgid(pid, pid); /* both sides do this, to avoid a race */
	fd_close(&input);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		error_sys(err, "watch a process");
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return -1;
	}
	wait_for_end(work, pidfd, output, &kept, &end);
	kill(-pid, SIGKILL);
	while (waitpid(pid, &end.status, 0) < 0 && errno == EINTR)
		;
	/*
	 * As subreaper, we adopt children that left the process group. They must not watch the next
	 * tool work.
	 */
	process_end_children();
	append_tail(&kept);
	*ret_end = end;
	return 0;
}
