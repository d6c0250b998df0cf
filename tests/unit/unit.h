/* Unit tests are sentences: each prints `ok - sentence` or `not ok - sentence`; the program's
 * status says if all held. The test runs in a child of its program, which reports a crash and
 * removes the test's files, however it ends. */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNIT_PATH = 64 };

static int unit_failures;
static char unit_folder[] = "/tmp/ringfence-unit-XXXXXX"; /* for all files of the test */

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

static inline void unit_remove(void)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/rm", "rm", "-rf", "--", unit_folder, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

__attribute__((constructor)) static void unit_guard(void)
{
	int status = -1;
	/* Another user may have to reach the folders in it. */
	bool made = mkdtemp(unit_folder) && chmod(unit_folder, 0711) == 0;
	pid_t child = made ? fork() : -1;

	if (child == 0) {
		setvbuf(stdout, NULL, _IOLBF, 0); /* a crash loses no sentence */
		return;
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		perror("not ok - the test starts");
	else if (WIFSIGNALED(status))
		printf("not ok - the test ends by itself: signal %d\n", WTERMSIG(status));
	fflush(stdout);
	unit_remove();
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

#endif
