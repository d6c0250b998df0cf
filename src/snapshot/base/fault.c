/* Fault points for tests. */
#include "snapshot/base/fault.h"

#include "util/env.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fault_point(void)
{
	static long wanted = -1;
	static long passed;
	static int how;

	if (wanted < 0) {
		const char *text = env_get("RINGFENCE_SNAPSHOT_FAULT");
		char *end = NULL;

		wanted = text ? strtol(text, &end, 10) : 0;
		how = end && strcmp(end, ",stop") == 0 ? SIGSTOP : SIGKILL;
	}
	if (wanted && ++passed == wanted)
		kill(getpid(), how);
}
