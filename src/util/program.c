/* Running a program to its end: see program.h. */
#include "util/program.h"

#include "util/clock.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid;
	int output, errors; /* the reading ends; -1 after their end */
};

static int input_of(const char *text)
{
	AUTO_FD file = text ? memfd_create("input", MFD_CLOEXEC)
			    : open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (file < 0 ||
	    (text && (fd_write_all(file, text, strlen(text)) < 0 || lseek(file, 0, SEEK_SET) < 0)))
		return -1;
	return fd_steal(&file);
}

static int spawn(const struct program_run *run, const int ends[3], pid_t *ret_pid)
{
	struct list arguments = { 0 };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int failed;

	list_add(&arguments, run->path);
	for (size_t i = 0; i < run->arguments->count; i++)
		list_add(&arguments, run->arguments->items[i]);
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, ends[i], i);
	posix_spawnattr_init(&attributes);
	/* Without a terminal, ssh for example cannot ask, whatever its configuration says. */
	posix_spawnattr_setflags(&attributes, run->terminal ? 0 : POSIX_SPAWN_SETSID);
	failed = posix_spawn(ret_pid, run->path, &actions, &attributes, arguments.items,
			     run->environment->items);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	list_release(&arguments);
	errno = failed;
	return failed ? -1 : 0;
}

static int start(const struct program_run *run, struct child *child)
{
	AUTO_FD input = input_of(run->input);
	int output[2] = { -1, -1 };
	int errors[2] = { -1, -1 };
	int result = -1;

	if (input >= 0 && pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0)
		result = spawn(run, (const int[3]){ input, output[1], errors[1] }, &child->pid);
	fd_close(&output[1]);
	fd_close(&errors[1]);
	child->output = output[0];
	child->errors = errors[0];
	return result;
}

/* Reads once; at the end, closes the descriptor. */
static void take(const struct program_run *run, int *fd, struct buffer *into)
{
	char chunk[4096];
	ssize_t n = read(*fd, chunk, sizeof chunk);

	if (n > 0)
		buffer_add(into, chunk, (size_t)n);
	else
		fd_close(fd);
	if (n > 0 && run->heard)
		run->heard(run->context, chunk, (size_t)n);
}

/* Returns false on timeout. */
static bool read_both(struct child *child, const struct program_run *run)
{
	uint64_t deadline = clock_steady_ms() + run->most_ms;

	while (child->output >= 0 || child->errors >= 0) {
		struct pollfd watched[] = { { .fd = child->output, .events = POLLIN },
					    { .fd = child->errors, .events = POLLIN } };
		uint64_t now = clock_steady_ms();

		if (now >= deadline || poll(watched, 2, (int)(deadline - now)) == 0)
			return false;
		if (watched[0].revents)
			take(run, &child->output, run->output);
		if (watched[1].revents)
			take(run, &child->errors, run->errors);
	}
	return true;
}

int program_run(const struct program_run *run, struct error *err)
{
	struct child child = { .output = -1, .errors = -1 };
	bool done;
	int status = 0;

	if (start(run, &child) < 0) {
		error_sys(err, "start '%s'", run->path);
		fd_close(&child.output);
		fd_close(&child.errors);
		return -1;
	}
	done = read_both(&child, run);
	fd_close(&child.output);
	fd_close(&child.errors);
	if (!done)
		kill(run->terminal ? child.pid : -child.pid, SIGKILL);
	while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (done && WIFEXITED(status))
		return WEXITSTATUS(status);
	return error_with(err, done ? ERROR_DIED : ERROR_BUSY, "'%s' %s", run->path,
			  done ? "was killed" : "did not end in time");
}
