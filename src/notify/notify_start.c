/* Starting a notifier: see notify_start.h. */
#include "notify/notify_start.h"

#include "notify/notify_record.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int notify_start_lock(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "notify.lock");
	AUTO_FD lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 ? -1 : fd_steal(&lock);
}

/* In the child, without any of its parent's files: SQLite must not be carried across a fork. */
static _Noreturn void become_notifier(const char *folder)
{
	char *const arguments[] = { (char *)"ringfence", (char *)"notifier", (char *)folder, NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	execve("/proc/self/exe", arguments, env_all());
	_exit(1);
}

void notify_start(const char *folder)
{
	AUTO_FD lock = notify_start_lock(folder);
	int reaps = 0;
	pid_t child;

	if (lock < 0)
		return;
	fd_close(&lock);
	/* Orphans of this process must not become its children: it would have to wait for them. */
	prctl(PR_GET_CHILD_SUBREAPER, &reaps, 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	child = fork();
	if (child == 0) {
		/* Before the caller goes on: if it ends, its process group may be killed. */
		setsid();
		/* Again, to have no parent that must wait for it. */
		if (fork() != 0)
			_exit(0);
		become_notifier(folder);
	}
	if (child < 0)
		perror("ringfence: start the notifier");
	else
		waitpid(child, NULL, 0);
	prctl(PR_SET_CHILD_SUBREAPER, reaps, 0, 0, 0);
}

static int start_in(const char *state, const char *kind)
{
	AUTO_FREE char *place = path_join(state, kind);
	DIR *folders = opendir(place);
	const struct dirent *entry;
	int count = 0;

	while (folders && (entry = readdir(folders))) {
		AUTO_FREE char *folder = path_join(place, entry->d_name);

		if (entry->d_name[0] == '.' || !notify_record_is_pending(folder))
			continue;
		notify_start(folder);
		count++;
	}
	if (folders)
		closedir(folders);
	return count;
}

int notify_start_pending(const char *state)
{
	return start_in(state, "loops") + start_in(state, "batches");
}
