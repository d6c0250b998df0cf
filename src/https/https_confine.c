/* Confinement by resource limits and Landlock. */
#include "https/https_confine.h"

#include "util/file/fd.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPU_S = 120, DESCRIPTORS = 256 };

static int limit_resources(void)
{
	static const struct {
		__rlimit_resource_t which;
		rlim_t most;
	} limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_FSIZE, 0 },
		{ RLIMIT_CPU, CPU_S },
		{ RLIMIT_NOFILE, DESCRIPTORS },
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct rlimit limit = { limits[i].most, limits[i].most };

		if (setrlimit(limits[i].which, &limit) < 0)
			return -1;
	}
	return 0;
}

/* Forbids every access to files except reading. */
static int forbid_writes(void)
{
	struct landlock_ruleset_attr rules = {
		.handled_access_fs = ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) &
				     ~(uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE |
						 LANDLOCK_ACCESS_FS_READ_DIR),
	};
	AUTO_FD ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);

	if (ruleset < 0) /* without Landlock, the other limits remain */
		return 0;
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

int https_confine(struct error *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    limit_resources() < 0 || forbid_writes() < 0)
		return error_sys(err, "confine ringfence-https");
	return 0;
}
