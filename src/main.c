/* The entry point of ringfence: finds the command that argv names and runs it. */
#include "cli/cli.h"
#include "util/env.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Opens /dev/null for a closed stdin, stdout or stderr, so that no other file gets its number. */
static void occupy_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3);
	if (fd >= 3)
		close(fd);
}

/* With fewer open files, poll() and the set-up of a fence fail in ways that nobody can explain. */
enum { LEAST_OPEN_FILES = 64 };

static int check_open_files(struct error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= LEAST_OPEN_FILES)
		return 0;
	return error_with(err, ERROR_REFUSED,
			  "the limit of open files is %llu, and Ringfence needs at least %d; run: "
			  "ulimit -n 1024",
			  (unsigned long long)limit.rlim_cur, LEAST_OPEN_FILES);
}

int main(int argc, char **argv)
{
	const struct cli_command *command;
	struct error err;

	env_init();
	occupy_stdio();
	signal(SIGPIPE, SIG_IGN);
	/* The parent may have set SIGCHLD to be ignored; then no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	if (argc < 2) {
		int code = cli_print_help(NULL);

		exit(code ? code : EXIT_FAILURE); /* as git does */
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		exit(cli_print_help(NULL));
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("ringfence %s\n", RINGFENCE_VERSION);
		exit(cli_flush());
	}
	if (check_open_files(&err) < 0)
		exit(cli_fail(&err));
	command = cli_find(argv[1], &err);
	exit(command ? command->run(command, argv + 1) : cli_fail(&err));
}
