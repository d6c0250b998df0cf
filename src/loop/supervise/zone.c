/* Time zones: see zone.h. */
#include "loop/supervise/zone.h"

#include "util/env.h"
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

static int offset(void *context, const char *name, int64_t utc, int32_t *ret_seconds)
{
	struct tm parts;

	(void)context;
	if ((name && !is_known(name)) || env_local_time(name, (time_t)utc, &parts) < 0)
		return -1;
	*ret_seconds = (int32_t)parts.tm_gmtoff;
	return 0;
}

const struct civil_zone zone_system = { .offset = offset };
