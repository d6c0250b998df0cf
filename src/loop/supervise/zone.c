/* Time zones: see zone.h. */
#include "loop/supervise/zone.h"

#include "util/mem.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define ZONES "/usr/share/zoneinfo/"

/* The C library treats an unknown zone as UTC, so its existence is checked first. */
static bool is_known(const char *name)
{
	AUTO_FREE char *path = mem_format(ZONES "%s", name);
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static int local_offset(int64_t utc, int32_t *ret_seconds)
{
	time_t time = (time_t)utc;
	struct tm parts;

	tzset();
	if (!localtime_r(&time, &parts))
		return -1;
	*ret_seconds = (int32_t)parts.tm_gmtoff;
	return 0;
}

static int offset(void *context, const char *name, int64_t utc, int32_t *ret_seconds)
{
	const char *usual = getenv("TZ");
	AUTO_FREE char *kept = usual ? mem_dup(usual) : NULL;
	int result;

	(void)context;
	if (!name)
		return local_offset(utc, ret_seconds);
	if (!is_known(name))
		return -1;
	setenv("TZ", name, 1);
	result = local_offset(utc, ret_seconds);
	if (kept)
		setenv("TZ", kept, 1);
	else
		unsetenv("TZ");
	tzset();
	return result;
}

const struct civil_zone zone_system = { .offset = offset };
