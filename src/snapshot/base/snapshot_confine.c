/* Landlock confinement. */
#include "snapshot/base/snapshot_confine.h"

#include "util/file/fd.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Missing from the headers of Debian 12. */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14)
#define NETWORK_ALL    UINT64_C(3) /* TCP bind and connect */

enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NETWORK = 4 };

struct attributes {
	uint64_t files;
	uint64_t network;
};

static int allow(int ruleset, const char *path, uint64_t rights, struct error *err)
{
	AUTO_FD fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = { .parent_fd = fd, .allowed_access = rights };

	if (fd < 0 ||
	    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return error_sys(err, "Landlock: allow writing to '%s'", path);
	return 0;
}

int snapshot_confine_writes(const char *const *places, struct error *err)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	/* Every right except reading and executing. */
	uint64_t writing = ((LANDLOCK_ACCESS_FS_REFER << 1) - 1) &
			   ~(uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
				       LANDLOCK_ACCESS_FS_READ_DIR);
	struct attributes handled;
	AUTO_FD ruleset = -1;

	if (abi < ABI_REFER) /* older kernels refuse every rename between folders */
		return 0;
	writing |= abi >= ABI_TRUNCATE ? RIGHT_TRUNCATE : 0;
	handled = (struct attributes){ .files = writing | LANDLOCK_ACCESS_FS_EXECUTE,
				       .network = abi >= ABI_NETWORK ? NETWORK_ALL : 0 };
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled,
			       abi >= ABI_NETWORK ? sizeof handled : sizeof handled.files, 0);
	if (ruleset < 0)
		return error_sys(err, "Landlock: create a ruleset");
	for (; *places; places++)
		if (allow(ruleset, *places, writing, err) < 0)
			return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return error_sys(err, "Landlock: restrict this process");
	return 0;
}
