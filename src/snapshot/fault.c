/* Fault points: see fault.h. */
#include "snapshot/fault.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void fault_point(void)
{
	static long wanted = -1;
	static long passed;
	static int sign = SIGKILL;

	if (wanted < 0) {
		const char *text = getenv("RINGFENCE_SNAPSHOT_FAULT");
		char *end = NULL;

		wanted = text ? strtol(text, &end, 10) : 0;
		if (end && *end == 's')
			sign = SIGSTOP;
	}
	if (wanted && ++passed == wanted)
		kill(getpid(), sign);
}
