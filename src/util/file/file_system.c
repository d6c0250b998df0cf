/* File systems: see file_system.h. */
#include "util/file/file_system.h"

#include <linux/magic.h>
#include <stddef.h>
#include <sys/vfs.h>

bool file_system_is_local(const char *path)
{
	static const unsigned long types[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
					       TMPFS_MAGIC, F2FS_SUPER_MAGIC };
	struct statfs status;

	if (statfs(path, &status) < 0)
		return false;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if ((unsigned long)status.f_type == types[i])
			return true;
	return false;
}
