/*
 * Landlock as the only wall around files: for a command that shares the host's file tree.
 *
 * All rights are handled, so that what no grant allows is denied. Landlock has no rights for the
 * metadata of files, for unix sockets and for the creation of entries in one folder alone; the
 * listener outside decides about those (src/fence/watch/perform.c).
 */
#include "fence/init/confine.h"

#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of Debian 12. */
#define RIGHT_TRUNCATE         (1ULL << 14)
#define RIGHT_IOCTL_DEVICE     (1ULL << 15)
#define RIGHTS_NETWORK         3ULL /* bind and connect TCP sockets */
#define SCOPE_ABSTRACT_SOCKETS (1ULL << 0)
#define SCOPE_SIGNALS          (1ULL << 1)

enum { ABI_TRUNCATE = 3, ABI_NETWORK = 4, ABI_IOCTL = 5, ABI_SCOPES = 6 };

struct attributes {
	uint64_t files;
	uint64_t network;
	uint64_t scopes;
};

static const uint64_t on_reading = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
				   LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t on_devices = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				   RIGHT_TRUNCATE | RIGHT_IOCTL_DEVICE;
static const uint64_t on_folders_only =
	LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR |
	LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
	LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
	LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
	LANDLOCK_ACCESS_FS_REFER;

static uint64_t handled_rights(int abi)
{
	uint64_t rights = (LANDLOCK_ACCESS_FS_REFER << 1) - 1;

	if (abi >= ABI_TRUNCATE)
		rights |= RIGHT_TRUNCATE;
	if (abi >= ABI_IOCTL)
		rights |= RIGHT_IOCTL_DEVICE;
	return rights;
}

static uint64_t rights_of(uint32_t granted, mode_t mode)
{
	uint64_t never = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
			 RIGHT_IOCTL_DEVICE;
	uint64_t all = (LANDLOCK_ACCESS_FS_REFER << 1) - 1;
	uint64_t rights = 0;

	if (granted & WIRE_MAY_LIST)
		rights |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (granted & WIRE_MAY_READ)
		rights |= on_reading;
	if (granted & WIRE_MAY_WRITE)
		rights |= ((all | RIGHT_TRUNCATE) & ~on_reading) & ~never;
	if (granted & WIRE_MAY_USE)
		rights |= on_devices;
	return S_ISDIR(mode) ? rights : rights & ~on_folders_only;
}

static int add_rule(int ruleset, int fd, uint64_t rights, const char *path, struct error *err)
{
	struct landlock_path_beneath_attr rule = { .parent_fd = fd, .allowed_access = rights };

	if (rights &&
	    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return error_sys(err, "Landlock: add a rule for '%s'", path);
	return 0;
}

static int add_grant(int ruleset, uint64_t handled, const struct order_grant *at, struct error *err)
{
	AUTO_FD fd = fd_openat2(AT_FDCWD, at->path, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	struct stat status;
	bool same = fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == at->grant.device &&
		    status.st_ino == at->grant.inode;

	if (!same && at->grant.optional)
		return 0;
	if (fd < 0)
		return error_sys(err, "Landlock: open '%s'", at->path);
	if (!same)
		return error_set(err, "'%s' changed while the fence was being set up; try again",
				 at->path);
	return add_rule(ruleset, fd, rights_of(at->grant.rights, status.st_mode) & handled,
			at->path, err);
}

/* The terminals that init has given to this process, so that programs can open them by name. */
static int add_terminals(int ruleset, uint64_t handled, struct error *err)
{
	for (int fd = 0; fd < 3; fd++) {
		char link[32];

		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);

		AUTO_FD terminal = isatty(fd) ? open(link, O_PATH | O_CLOEXEC) : -1;

		if (terminal >= 0 &&
		    add_rule(ruleset, terminal, on_devices & handled, link, err) < 0)
			return -1;
	}
	return 0;
}

static struct attributes attributes_for(const struct order *order, int abi)
{
	struct attributes attributes = { .files = handled_rights(abi) };

	if (abi >= ABI_NETWORK && order->flags.net_private)
		attributes.network = RIGHTS_NETWORK;
	if (abi >= ABI_SCOPES)
		attributes.scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;
	return attributes;
}

int confine_grants_prepare(const struct order *order, int *ret_ruleset, struct error *err)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	const struct attributes attributes = attributes_for(order, abi);
	size_t size = abi >= ABI_SCOPES    ? sizeof attributes
		      : abi >= ABI_NETWORK ? offsetof(struct attributes, scopes)
					   : sizeof attributes.files;

	if (abi < ABI_TRUNCATE)
		return error_set(err, "this fence needs Landlock of Linux 6.2 or newer");

	AUTO_FD ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);

	if (ruleset < 0)
		return error_sys(err, "Landlock: create the ruleset");
	for (size_t i = 0; i < order->grant_count; i++)
		if (add_grant(ruleset, attributes.files, &order->grants[i], err) < 0)
			return -1;
	if (add_terminals(ruleset, attributes.files, err) < 0)
		return -1;
	*ret_ruleset = fd_steal(&ruleset);
	return 0;
}
