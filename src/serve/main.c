/*
 * ringfence-serve: the server of the web page, a separate program because libmicrohttpd cannot be
 * linked statically. It reads no loop itself: it starts `ringfence serve-part` for each request.
 *
 * `ringfence serve` becomes this program, with the state folder as its argument, and these
 * descriptors: a TCP socket, the secrets, the control socket, the program ringfence, and the lock
 * of the only server of a state folder, which is held until the program ends.
 */
#include "serve/web_handover.h"
#include "serve/web_server.h"
#include "util/env.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

static int run(const char *state, struct error *err)
{
	struct web_handover secrets;
	int result;

	/* Its memory has the key. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_sys(err, "keep the key out of core dumps");
	for (int fd = WEB_HANDOVER_LISTENER; fd < WEB_HANDOVER_END; fd++)
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return error_sys(err, "ringfence-serve is started by ringfence serve");
	if (web_handover_read(WEB_HANDOVER_SECRETS, &secrets, err) < 0)
		return -1;

	const struct web_server_config config = { .listener = WEB_HANDOVER_LISTENER,
						  .control = WEB_HANDOVER_CONTROL,
						  .program = WEB_HANDOVER_PROGRAM,
						  .state = state,
						  .secret = secrets.secret,
						  .token = secrets.token };

	result = web_server_run(&config, err);
	explicit_bzero(&secrets, sizeof secrets);
	return result;
}

int main(int argc, char **argv)
{
	struct error err;

	env_init();
	if (argc != 2) {
		fprintf(stderr, "ringfence-serve is started by ringfence serve\n");
		return 125;
	}
	if (run(argv[1], &err) < 0) {
		fprintf(stderr, "ringfence: %s\n", err.text);
		return 125;
	}
	return 0;
}
