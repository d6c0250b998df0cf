// sources: src/decision/reset.c src/decision/time_phrase.c src/decision/time_phrase_delay.c
// sources: src/decision/civil.c src/decision/lines.c
/* A provider's text about its limit: it gives a plausible time, or nothing. */
#include "fuzz.h"

#include "decision/reset.h"

#include <stdlib.h>
#include <string.h>

/* The name is untrusted: looked up in a folder, it must not lead out. */
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
	const struct civil_zone zone = { .offset = offset };
	int64_t now = 1795004400;
	int64_t time = 0;

	if (reset_time((const char *)data, size, now, &zone, &time) < 0)
		return;
	if (time < now - RESET_PAST_S || time > now + RESET_AHEAD_S)
		abort();
}

FUZZ_TARGET(fuzz_reset)
