/* Processes: see process.h. */
#include "util/process.h"

#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void kill_children(void)
{
	char text[16384];
	AUTO_FD fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	for (char *at = text, *end; (end = strchr(at, ' ')); at = end + 1)
		kill((pid_t)strtol(at, NULL, 10), SIGKILL);
}

void process_end_children(void)
{
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
