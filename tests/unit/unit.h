/* Unit tests are sentences: each prints `ok - sentence` or `not ok - sentence`; the program's
 * status says if all held. The test runs in a child of its program, which reports a crash and
 * removes the test's files, however it ends. */
#ifndef UNIT_H
#define UNIT_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNIT_PATH = 64 };

/* Each test runs as built and with sanitizers, which make it about this much slower: a test of a
 * large amount divides it by this. */
#if defined(__SANITIZE_ADDRESS__)
enum { UNIT_SLOWER = 8 };
#else
enum { UNIT_SLOWER = 1 };
#endif

static int unit_failures;
/* For all files of the test; its name has the program's id. */
static char unit_folder[UNIT_PATH - sizeof "XXXXXX"];
static pid_t unit_child;
static size_t unit_descriptors; /* that were open when the test started */
static pid_t unit_self;

static inline void unit_check(bool held, const char *sentence, const char *file, int line)
{
	if (held) {
		printf("ok - %s\n", sentence);
	} else {
		printf("not ok - %s: %s:%d\n", sentence, file, line);
		unit_failures++;
	}
}

#define CHECK(sentence, condition) unit_check((condition), (sentence), __FILE__, __LINE__)

/* Makes a new folder in the folder of the test. Returns path, or NULL with errno. */
static inline char *unit_temp(char path[UNIT_PATH])
{
	snprintf(path, UNIT_PATH, "%s/XXXXXX", unit_folder);
	return mkdtemp(path);
}

static inline size_t unit_count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

/* At the end of the test, not of its children. */
static inline void unit_check_descriptors(void)
{
	size_t count = unit_self == getpid() ? unit_count_descriptors() : 0;

	if (count > unit_descriptors) {
		printf("not ok - the test closes its descriptors: %zu are left\n",
		       count - unit_descriptors);
		fflush(stdout);
		_exit(1);
	}
}

/* Returns whether nothing is left. */
static inline bool unit_remove(void)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/rm", "rm", "-rf", "--", unit_folder, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	return access(unit_folder, F_OK) < 0;
}

/* Whoever ends the program ends the test; the folder is removed all the same. */
static void unit_stop(int number)
{
	(void)number;
	kill(unit_child, SIGKILL);
}

/* TMPDIR is used if its name is short, since sockets in the folder need short ones. */
static inline bool unit_make_folder(void)
{
	static const size_t most = sizeof unit_folder - sizeof "/ringfence-unit-1234567-XXXXXX";
	const char *above = getenv("TMPDIR");

	snprintf(unit_folder, sizeof unit_folder, "%s/ringfence-unit-%d-XXXXXX",
		 above && strlen(above) <= most ? above : "/tmp", (int)getpid());
	/* Another user may have to reach the folders in it. */
	return mkdtemp(unit_folder) && chmod(unit_folder, 0711) == 0;
}

/* Starts the test's child. A signal waits until the program knows whom to end. */
static inline bool unit_fork(void)
{
	static const int ending[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t held;
	sigset_t before;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaddset(&held, ending[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	unit_child = fork();
	for (size_t i = 0; unit_child > 0 && i < sizeof ending / sizeof *ending; i++)
		signal(ending[i], unit_stop);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return unit_child >= 0;
}

/* In the program: waits for the test. Returns its status, or that of a crash. */
static inline int unit_wait(void)
{
	int status = -1;

	if (waitpid(unit_child, &status, 0) < 0)
		perror("not ok - the test can be awaited");
	else if (WIFSIGNALED(status))
		printf("not ok - the test ends by itself: signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

__attribute__((constructor)) static void unit_guard(void)
{
	int status;

	if (!unit_make_folder() || !unit_fork()) {
		perror("not ok - the test starts");
		_exit(1);
	}
	if (unit_child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setvbuf(stdout, NULL, _IOLBF, 0); /* a crash loses no sentence */
		unit_self = getpid();
		unit_descriptors = unit_count_descriptors();
		atexit(unit_check_descriptors);
		return;
	}
	status = unit_wait();
	if (!unit_remove()) {
		printf("not ok - the test leaves nothing behind: %s\n", unit_folder);
		status = 1;
	}
	fflush(stdout);
	_exit(status);
}

#endif
