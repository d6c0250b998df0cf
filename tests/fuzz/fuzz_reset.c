// sources: src/guard/reset.c src/guard/moment.c src/guard/delay.c src/guard/civil.c src/guard/lines.c
/* The text of a provider about its limit: a time that can be, or none. */
#include "fuzz.h"

#include "guard/reset.h"

#include <stdlib.h>
#include <string.h>

/* A name is foreign: whoever looks it up in a folder must not be led out of it. */
static int offset(void *context, const char *name, int64_t utc, int32_t *ret_seconds)
{
	(void)context;
	if (name &&
	    (!*name || name[0] == '/' || name[strlen(name) - 1] == '/' || strlen(name) > 64 ||
	     strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_+-") !=
		     strlen(name)))
		abort();
	if (name && name[0] == 'M')
		return -1;
	*ret_seconds = utc / 7776000 % 2 ? 7200 : 10800;
	return 0;
}

void fuzz_reset(const uint8_t *data, size_t size)
{
	const struct guard_zone zone = { .offset = offset };
	int64_t now = 1795004400;
	int64_t time = 0;

	if (guard_reset_time((const char *)data, size, now, &zone, &time) < 0)
		return;
	if (time < now - GUARD_RESET_PAST_S || time > now + GUARD_RESET_AHEAD_S)
		abort();
}

FUZZ_TARGET(fuzz_reset)
