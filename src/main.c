/* ringfence: argv to command. The only exit(). */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A closed stdin, stdout or stderr would be taken by the next file that is opened. */
static void occupy_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3);
	if (fd >= 3)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct cli_command *command;
	struct error err;

	occupy_stdio();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD,
	       SIG_DFL); /* whoever started this may ignore it; then nobody can be waited for */
	if (argc < 2) {
		error_set(
			&err,
			"a command is needed, for example: ringfence exec -- make test (ringfence --help)");
		exit(cli_fail(&err));
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		exit(cli_print_help(NULL));
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("ringfence %s\n", RINGFENCE_VERSION);
		exit(cli_printed());
	}
	command = cli_find(argv[1], &err);
	exit(command ? command->run(command, argv + 1) : cli_fail(&err));
}
