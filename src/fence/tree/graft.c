/* Grafting: see graft.h. */
#include "fence/tree/graft.h"

#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A folder that every container has, and that nothing is needed from. */
#define PLACE "/dev"

static int clone_tree(const char *path, unsigned int recursive)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, path,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursive);
}

static int cut(const char *path, unsigned int recursive, uint64_t attributes, struct error *err)
{
	struct mount_attr how = { .attr_set = attributes, .propagation = MS_PRIVATE };
	AUTO_FD tree = clone_tree(path, recursive);

	if (tree < 0 ||
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | recursive, &how, sizeof how) < 0)
		return error_sys(err, "copy the mounts of '%s'", path);
	return fd_steal(&tree);
}

int graft_cut(const char *root, struct error *err)
{
	return cut(root, AT_RECURSIVE, 0, err);
}

int graft_cut_read_only(const char *path, struct error *err)
{
	return cut(path, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);
}

/* The setting of the user namespace that this process is in, whichever /proc it is written by. */
static int forbid_user_namespaces(void)
{
	AUTO_FD setting = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);

	return setting < 0 ? -1 : fd_write_all(setting, "0", 1);
}

/* A container without a user namespace of its own has that of its engine, which is ours. */
int graft_enter(int process, struct error *err)
{
	bool own = setns(process, CLONE_NEWUSER) == 0;

	if (!own && errno != EINVAL)
		return error_sys(err, "enter the container (was it started by another user?)");
	if (own && forbid_user_namespaces() < 0)
		return error_sys(err, "forbid user namespaces in the container");
	if (setns(process, CLONE_NEWNS) == 0)
		return 0;
	if (!own && errno == EPERM)
		return error_set(err,
				 "its daemon runs as root, and only root can enter its containers; "
				 "use --fence podman, a rootless Docker, or root");
	return error_sys(err, "enter the container's mounts");
}

/* Mounts propagate to no other namespace: engines make them private or slaves. */
static int replace_root(int tree, int proc, struct error *err)
{
	if (syscall(SYS_move_mount, tree, "", AT_FDCWD, PLACE, MOVE_MOUNT_F_EMPTY_PATH) < 0 ||
	    chdir(PLACE) < 0 ||
	    syscall(SYS_move_mount, proc, "", AT_FDCWD, "proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_sys(err, "mount the file tree of the fence in the container");
	if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0)
		return error_sys(err, "replace the root of the container");
	return 0;
}

int graft_onto(int process, int tree, struct error *err)
{
	AUTO_FD proc = -1;

	if (graft_enter(process, err) < 0)
		return -1;
	proc = clone_tree("/proc", AT_RECURSIVE);
	if (proc < 0)
		return error_sys(err, "copy the container's /proc");
	return replace_root(tree, proc, err);
}
