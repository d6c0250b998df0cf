/* Processes: see process.h. */
#include "util/process.h"

#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A number from /proc may belong to another PID namespace, where it is somebody else's. */
static bool is_child(pid_t pid)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Returns whether /proc belongs to the PID namespace of this process. */
static bool has_own_proc(void)
{
	char self[16];
	ssize_t n = readlink("/proc/self", self, sizeof self - 1);

	if (n < 0)
		return false;
	self[n] = '\0';
	return strtol(self, NULL, 10) == getpid();
}

void process_kill(pid_t child)
{
	if (child <= 1) /* -1 would be everybody */
		return;
	if (kill(-child, SIGKILL) < 0) /* it does not lead a group, or not yet */
		kill(child, SIGKILL);
}

static void kill_listed(void)
{
	char text[16384];
	AUTO_FD fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	for (char *at = text, *end; (end = strchr(at, ' ')); at = end + 1)
		process_kill((pid_t)strtol(at, NULL, 10));
}

/* Without a list, tries every number that a process can have. This takes less than a second. */
static void kill_unlisted(void)
{
	enum { MOST = 1 << 22 };

	for (pid_t pid = 1; pid <= MOST; pid++)
		if (is_child(pid))
			process_kill(pid);
}

static void kill_children(void)
{
	if (has_own_proc())
		kill_listed();
	else
		kill_unlisted();
}

void process_end_children(void)
{
	if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
		return;
	do
		kill_children();
	while (waitpid(-1, NULL, 0) >= 0 || errno != ECHILD);
}

pid_t process_borrow(int (*run)(void *), void *argument, int flags)
{
	enum { STACK = 1 << 20 };
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t child;

	if (stack == MAP_FAILED)
		return -1;
	child = clone(run, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD | flags, argument);

	int saved = errno;

	munmap(stack, STACK);
	errno = saved;
	return child;
}

pid_t process_fork(int (*run)(void *), void *argument, int flags)
{
	pid_t child = (pid_t)syscall(SYS_clone, (long)(SIGCHLD | flags), NULL, NULL, NULL, 0L);

	if (child == 0)
		_exit(run(argument));
	return child;
}

void process_become(const char *program, char *const *arguments, char *const *environment,
		    const int *wanted, int count)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd_place(wanted, count) == 0 && syscall(SYS_close_range, count, ~0U, 0) == 0 &&
	    chdir("/") == 0)
		execve(program, arguments, environment);
}

char *process_find(const char *name)
{
	struct list folders = { 0 };
	char *found = NULL;

	env_path(&folders);
	for (size_t i = 0; i < folders.count && !found; i++) {
		char *file = mem_format("%s/%s", folders.items[i], name);

		if (access(file, X_OK) == 0)
			found = file;
		else
			free(file);
	}
	list_release(&folders);
	return found;
}

char *process_find_system(const char *name, const char *variable)
{
	static const char *const folders[] = { "/usr/bin", "/bin", "/usr/local/bin",
					       "/run/current-system/sw/bin" };
	const char *chosen = env_get(variable);

	if (chosen && chosen[0] == '/')
		return mem_dup(chosen);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char *path = path_join(folders[i], name);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

int process_beside(const char *name, char **ret_path, struct error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *path;

	if (n < 0)
		return error_sys(err, "find this program through /proc (is /proc mounted?)");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	path = path_join(self, name);
	if (access(path, X_OK) < 0) {
		free(path);
		path = path_join(RINGFENCE_LIBEXECDIR, name);
	}
	if (access(path, X_OK) < 0) {
		error_set(
			err,
			"%s is neither in '%s' nor at '%s' (%s): install it there, or choose another prefix "
			"(make install PREFIX=...)",
			name, self, path, strerror(errno));
		free(path);
		return -1;
	}
	*ret_path = path;
	return 0;
}

static pid_t start_program(const char *program, char *const *arguments, char *const *environment,
			   int output)
{
	posix_spawn_file_actions_t actions;
	pid_t child = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	errno = posix_spawn(&child, program, &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	return errno ? -1 : child;
}

int process_output(const char *program, char *const *arguments, char *const *environment,
		   uint64_t most_ms, struct buffer *output)
{
	uint64_t deadline = clock_steady_ms() + most_ms;
	AUTO_FD from = -1;
	bool late = false;
	int status = 0;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	from = ends[0];

	pid_t child = start_program(program, arguments, environment, ends[1]);

	close(ends[1]);
	if (child < 0)
		return -1;
	for (;;) {
		struct pollfd watched = { .fd = from, .events = POLLIN };
		uint64_t now = clock_steady_ms();
		char chunk[4096];
		ssize_t n;

		late = now >= deadline || poll(&watched, 1, (int)(deadline - now)) == 0;
		if (late || (n = read(from, chunk, sizeof chunk)) <= 0)
			break;
		buffer_add(output, chunk, (size_t)n);
	}
	if (late)
		kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return late || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

/* Returns a file in memory with these bytes, read from the start, or -1 with errno. */
static int file_of(const void *bytes, size_t size)
{
	AUTO_FD file = memfd_create("input", MFD_CLOEXEC);

	if (file < 0 || fd_write_all(file, bytes, size) < 0 || lseek(file, 0, SEEK_SET) < 0)
		return -1;
	return fd_steal(&file);
}

static pid_t start_fed(const char *program, char *const *arguments, char *const *environment,
		       int input)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t child = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	posix_spawn_file_actions_adddup2(&actions, input, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	errno = posix_spawn(&child, program, &actions, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return errno ? -1 : child;
}

int process_feed(const char *program, char *const *arguments, char *const *environment,
		 const void *input, size_t size, uint64_t most_ms)
{
	AUTO_FD file = file_of(input, size);
	pid_t child = file < 0 ? -1 : start_fed(program, arguments, environment, file);
	AUTO_FD watched = child < 0 ? -1 : (int)syscall(SYS_pidfd_open, child, 0);
	bool late;
	int status = 0;

	if (child < 0)
		return -1;
	late = poll(&(struct pollfd){ .fd = watched, .events = POLLIN }, 1, (int)most_ms) == 0;
	if (late)
		process_kill(child);
	waitpid(child, &status, 0);
	errno = late ? ETIMEDOUT : ECHILD;
	return late || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}
