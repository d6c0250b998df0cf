/* Acts on files: reading, writing, aliasing, replacing, mode bits, handles, devices. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attack.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static int drain(int fd)
{
	char buf[4096];
	ssize_t n = syscall(SYS_read, fd, buf, sizeof(buf));

	if (n < 0 && errno == EISDIR) {
		n = syscall(SYS_getdents64, fd, buf, sizeof(buf));
		return attack_verdict(n);
	}
	if (n > 0) {
		fputs("got: ", stdout);
		fwrite(buf, 1, (size_t)n, stdout);
		putchar('\n');
	}
	return attack_verdict(n);
}

static int act_read(int n, char **args)
{
	long fd = syscall(SYS_openat, AT_FDCWD, args[0], O_RDONLY | O_NONBLOCK, 0);

	(void)n;
	return fd < 0 ? errno : drain((int)fd);
}

static int put(int fd, const char *text)
{
	size_t len = strlen(text);
	long n = syscall(SYS_write, fd, text, len);

	if (n >= 0 && (size_t)n != len)
		return EIO;
	return attack_verdict(n);
}

static int act_write(int n, char **args)
{
	long fd = syscall(SYS_openat, AT_FDCWD, args[0], O_WRONLY | O_APPEND, 0);

	return fd < 0 ? errno : put((int)fd, n > 1 ? args[1] : "attacked");
}

/* Only opens the file: writing to some kernel files would change the machine. */
static int act_open_write(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_openat, AT_FDCWD, args[0], O_WRONLY, 0));
}

static int act_truncate(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_truncate, args[0], 0));
}

static int act_create(int n, char **args)
{
	long fd = syscall(SYS_openat, AT_FDCWD, args[0], O_WRONLY | O_CREAT | O_EXCL, 0644);

	return fd < 0 ? errno : put((int)fd, n > 1 ? args[1] : "attacked");
}

static int act_mkdir(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_mkdirat, AT_FDCWD, args[0], 0755));
}

static int act_unlink(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_unlinkat, AT_FDCWD, args[0], 0));
}

static int act_rename(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_renameat2, AT_FDCWD, args[0], AT_FDCWD, args[1], 0));
}

static int act_exchange(int n, char **args)
{
	(void)n;
	return attack_verdict(
		syscall(SYS_renameat2, AT_FDCWD, args[0], AT_FDCWD, args[1], RENAME_EXCHANGE));
}

/* Aliases a read-only file, then writes through the alias. */
static int act_link_write(int n, char **args)
{
	(void)n;
	if (syscall(SYS_linkat, AT_FDCWD, args[0], AT_FDCWD, args[1], 0) < 0)
		return errno;
	return act_write(1, args + 1);
}

/* Creates the alias from a descriptor, which needs no permission on the file's name. */
static int act_link_fd(int n, char **args)
{
	long fd = syscall(SYS_openat, AT_FDCWD, args[0], O_PATH, 0);
	char self[64];

	(void)n;
	if (fd < 0)
		return errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%ld", fd);
	if (syscall(SYS_linkat, AT_FDCWD, self, AT_FDCWD, args[1], AT_SYMLINK_FOLLOW) < 0)
		return errno;
	return act_write(1, args + 1);
}

/* Moves DIR away, creates a new DIR and plants DIR/NAME. */
static int act_rename_recreate(int n, char **args)
{
	char away[4096], file[4096];

	(void)n;
	snprintf(away, sizeof(away), "%s.away", args[0]);
	snprintf(file, sizeof(file), "%s/%s", args[0], args[1]);
	if (syscall(SYS_renameat2, AT_FDCWD, args[0], AT_FDCWD, away, 0) < 0)
		return errno;
	if (syscall(SYS_mkdirat, AT_FDCWD, args[0], 0755) < 0)
		return errno;
	return act_create(1, (char *[]){ file, NULL });
}

static int act_chmod(int n, char **args)
{
	mode_t mode = (mode_t)strtoul(args[1], NULL, 8);
	const char *how = args[0];
	long fd;

	if (n < 3)
		return ATTACK_MISUSE;
	if (strcmp(how, "chmod") == 0)
		return attack_verdict(syscall(SYS_chmod, args[2], mode));
	if (strcmp(how, "fchmodat") == 0)
		return attack_verdict(syscall(SYS_fchmodat, AT_FDCWD, args[2], mode));
	if (strcmp(how, "fchmodat2") == 0)
		return attack_verdict(syscall(SYS_fchmodat2, AT_FDCWD, args[2], mode, 0));
	if (strcmp(how, "fchmod") == 0) {
		fd = syscall(SYS_openat, AT_FDCWD, args[2], O_RDONLY, 0);
		return fd < 0 ? errno : attack_verdict(syscall(SYS_fchmod, fd, mode));
	}
	return ATTACK_MISUSE;
}

/* Creates a file that has setuid bits from the start. */
static int act_create_mode(int n, char **args)
{
	mode_t mode = (mode_t)strtoul(args[1], NULL, 8);
	const char *how = args[0];
	struct stat st;
	long result;

	if (n < 3)
		return ATTACK_MISUSE;
	umask(0);
	if (strcmp(how, "open") == 0)
		result = syscall(SYS_open, args[2], O_CREAT | O_EXCL | O_WRONLY, mode);
	else if (strcmp(how, "openat") == 0)
		result = syscall(SYS_openat, AT_FDCWD, args[2], O_CREAT | O_EXCL | O_WRONLY, mode);
	else if (strcmp(how, "openat2") == 0)
		result = syscall(SYS_openat2, AT_FDCWD, args[2],
				 &(uint64_t[3]){ O_CREAT | O_EXCL | O_WRONLY, mode, 0 },
				 sizeof(uint64_t[3]));
	else if (strcmp(how, "creat") == 0)
		result = syscall(SYS_creat, args[2], mode);
	else if (strcmp(how, "mknod") == 0)
		result = syscall(SYS_mknod, args[2], S_IFREG | mode, 0);
	else if (strcmp(how, "mknodat") == 0)
		result = syscall(SYS_mknodat, AT_FDCWD, args[2], S_IFREG | mode, 0);
	else if (strcmp(how, "tmpfile") == 0)
		result = syscall(SYS_openat, AT_FDCWD, args[2], O_TMPFILE | O_WRONLY, mode);
	else
		return ATTACK_MISUSE;
	if (result < 0)
		return errno;
	if (strcmp(how, "tmpfile") == 0)
		result = fstat((int)result, &st);
	else
		result = lstat(args[2], &st);
	if (result < 0)
		return errno;
	return (st.st_mode & 07000) ? 0 : EPERM;
}

/* File capabilities: revision 2, every bit set. */
static int act_setcap(int n, char **args)
{
	struct vfs_cap_data cap = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 0xffffffff }, { .permitted = 0xff } },
	};

	(void)n;
	return attack_verdict(
		syscall(SYS_setxattr, args[0], "security.capability", &cap, sizeof(cap), 0));
}

static int act_handle(int n, char **args)
{
	struct {
		struct file_handle head;
		unsigned char bytes[128];
	} handle = { .head.handle_bytes = 128 };
	int mount_id;
	long fd, mount_fd;

	(void)n;
	mount_fd = syscall(SYS_openat, AT_FDCWD, args[0], O_RDONLY | O_DIRECTORY, 0);
	if (mount_fd < 0)
		return errno;
	if (syscall(SYS_name_to_handle_at, AT_FDCWD, args[1], &handle, &mount_id, 0) < 0)
		return errno;
	fd = syscall(SYS_open_by_handle_at, mount_fd, &handle, O_RDONLY);
	return fd < 0 ? errno : drain((int)fd);
}

static int act_mknod(int n, char **args)
{
	mode_t type = args[0][0] == 'b' ? S_IFBLK : S_IFCHR;
	dev_t dev;

	if (n < 4)
		return ATTACK_MISUSE;
	dev = makedev((unsigned)atoi(args[1]), (unsigned)atoi(args[2]));
	return attack_verdict(syscall(SYS_mknodat, AT_FDCWD, args[3], type | 0600, dev));
}

/* Succeeds if any descriptor from 3 up is open. */
static int act_list_fds(int n, char **args)
{
	bool any = false;

	(void)n;
	(void)args;
	for (int fd = 3; fd < 4096; fd++) {
		char link[64], target[4096];
		ssize_t len;

		if (fcntl(fd, F_GETFD) < 0)
			continue;
		any = true;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, target, sizeof(target));
		printf("fd %d: %.*s\n", fd, len < 0 ? 0 : (int)len, target);
	}
	return any ? 0 : EBADF;
}

static int act_openat(int n, char **args)
{
	long fd = syscall(SYS_openat, atoi(args[0]), args[1], O_RDONLY, 0);

	(void)n;
	return fd < 0 ? errno : drain((int)fd);
}

static int act_fchdir(int n, char **args)
{
	(void)n;
	if (syscall(SYS_fchdir, atoi(args[0])) < 0)
		return errno;
	return act_read(1, args + 1);
}

const struct attack attack_files[] = {
	{ "read", "PATH", 1, act_read },
	{ "write", "PATH [TEXT]", 1, act_write },
	{ "open-write", "PATH", 1, act_open_write },
	{ "truncate", "PATH", 1, act_truncate },
	{ "create", "PATH [TEXT]", 1, act_create },
	{ "mkdir", "PATH", 1, act_mkdir },
	{ "unlink", "PATH", 1, act_unlink },
	{ "rename", "FROM TO", 2, act_rename },
	{ "exchange", "A B", 2, act_exchange },
	{ "link-write", "FILE ALIAS", 2, act_link_write },
	{ "link-fd", "FILE ALIAS", 2, act_link_fd },
	{ "rename-recreate", "DIR NAME", 2, act_rename_recreate },
	{ "chmod", "chmod|fchmod|fchmodat|fchmodat2 MODE PATH", 3, act_chmod },
	{ "create-mode", "open|openat|openat2|creat|mknod|mknodat|tmpfile MODE PATH", 3,
	  act_create_mode },
	{ "setcap", "PATH", 1, act_setcap },
	{ "handle", "MOUNT PATH", 2, act_handle },
	{ "mknod", "b|c MAJOR MINOR PATH", 4, act_mknod },
	{ "list-fds", "", 0, act_list_fds },
	{ "openat", "FD PATH", 2, act_openat },
	{ "fchdir", "FD PATH", 2, act_fchdir },
	{ 0 },
};
