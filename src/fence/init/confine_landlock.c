/*
 * Landlock on top of the mounts: a second, independent wall.
 *
 * The mounts decide what exists and what is read-only. Landlock repeats where writing is allowed,
 * by inode, and therefore also covers files that were reached in another way, such as an inherited
 * descriptor reopened through /proc/self/fd. A process in a Landlock domain cannot change mounts,
 * nor trace or signal processes outside its domain.
 */
#include "fence/init/confine.h"

#include "util/file/fd.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of Debian 12. */
#define RIGHT_TRUNCATE         (1ULL << 14)
#define RIGHT_IOCTL_DEVICE     (1ULL << 15)
#define SCOPE_ABSTRACT_SOCKETS (1ULL << 0)
#define SCOPE_SIGNALS          (1ULL << 1)

struct attributes {
	uint64_t files;
	uint64_t network;
	uint64_t scopes;
};

enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NETWORK = 4, ABI_IOCTL = 5, ABI_SCOPES = 6 };

static const uint64_t on_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				 RIGHT_TRUNCATE | RIGHT_IOCTL_DEVICE;

/* Listing folders and executing programs is left to the mounts: everything that exists may be seen,
 * and each open of a folder would cost a walk. */
static const uint64_t unhandled = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_DIR;

static uint64_t handled_rights(int abi)
{
	uint64_t rights = ((LANDLOCK_ACCESS_FS_REFER << 1) - 1) & ~unhandled;

	if (abi >= ABI_TRUNCATE)
		rights |= RIGHT_TRUNCATE;
	if (abi >= ABI_IOCTL)
		rights |= RIGHT_IOCTL_DEVICE;
	return rights;
}

static int allow(int ruleset, const char *path, uint64_t rights, struct error *err)
{
	AUTO_FD fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_sys(err, "Landlock: open '%s'", path);

	struct landlock_path_beneath_attr rule = {
		.parent_fd = fd,
		.allowed_access = S_ISDIR(status.st_mode) ? rights : rights & on_files,
	};

	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return error_sys(err, "Landlock: add a rule for '%s'", path);
	return 0;
}

int confine_landlock_prepare(const struct order *order, int *ret_ruleset, struct error *err)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);

	/* Without REFER no file can move between folders, and a fence in which `mv` fails helps
	 * nobody. */
	if (abi < ABI_REFER && order->flags.landlock)
		return error_set(
			err,
			"this kernel has no usable Landlock (needs Linux 5.19 or newer, with landlock in the "
			"lsm= list); to run without it: --accept-weaker landlock");
	if (abi < ABI_SCOPES && order->flags.scopes)
		return error_set(
			err,
			"with --net open, the command can reach the host's abstract sockets (X11, D-Bus, "
			"containerd), which only Linux 6.12 or newer can prevent; to run anyway: "
			"--accept-weaker abstract-sockets");
	if (abi < ABI_REFER) {
		*ret_ruleset = -1;
		return 0;
	}

	uint64_t rights = handled_rights(abi);
	struct attributes attributes = { .files = rights };
	size_t size = abi >= ABI_SCOPES ? sizeof attributes : sizeof attributes.files;

	if (abi >= ABI_SCOPES)
		attributes.scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;

	AUTO_FD ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);

	if (ruleset < 0)
		return error_sys(err, "Landlock: create the ruleset");
	if (allow(ruleset, "/", LANDLOCK_ACCESS_FS_READ_FILE, err) < 0 ||
	    allow(ruleset, "/proc", LANDLOCK_ACCESS_FS_WRITE_FILE & rights, err) < 0 ||
	    allow(ruleset, "/dev",
		  (LANDLOCK_ACCESS_FS_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEVICE) & rights,
		  err) < 0)
		return -1;
	for (size_t i = 0; i < order->scratch_count; i++)
		if (allow(ruleset, order->scratch[i], rights, err) < 0)
			return -1;
	for (size_t i = 0; i < order->rule_count; i++)
		if (order->rules[i].rule.access == WIRE_WRITE &&
		    allow(ruleset, order->rules[i].path, rights, err) < 0)
			return -1;
	*ret_ruleset = fd_steal(&ruleset);
	return 0;
}

int confine_landlock_enter(int ruleset, struct error *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_sys(err, "set no_new_privs");
	if (ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return error_sys(err, "Landlock: enforce the ruleset");
	return 0;
}
