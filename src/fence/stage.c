/* Stages: see stage.h. */
#include "fence/stage.h"

#include "util/fd.h"
#include "util/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Folders that everybody may enter. */
static const char *const places[] = { "/mnt", "/media", "/srv", "/run" };

/* A stage covers its place: nothing that is needed may lie below. */
static bool needed(const struct fence_plan *plan, const char *place)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (path_within(plan->rules[i].path, place))
			return true;
	return path_within(plan->state, place) || path_within(plan->init, place);
}

static int write_map(pid_t child, const char *name, unsigned int id, struct error *err)
{
	char path[64];
	char text[64];
	int size = snprintf(text, sizeof text, "0 %u 1\n", id);

	snprintf(path, sizeof path, "/proc/%d/%s", child, name);

	AUTO_FD map = open(path, O_WRONLY | O_CLOEXEC);

	if (map < 0 || write(map, text, (size_t)size) != size)
		return error_sys(err, "map root's files to uid %u", id);
	return 0;
}

/* A user namespace in which 0 stands for the uid. It needs a process only until it is open. */
static int open_mapping(const struct fence_identity *identity, struct error *err)
{
	char path[64];
	char byte;
	AUTO_FD result = -1;
	int gate[2];

	if (pipe2(gate, O_CLOEXEC) < 0)
		return error_sys(err, "make a pipe");

	pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0L);

	if (child == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) < 0); /* until the other end is closed */
	}
	close(gate[0]);
	if (child < 0) {
		error_sys(err, "make a user namespace for the mapping");
	} else if (write_map(child, "uid_map", identity->uid, err) == 0 &&
		   write_map(child, "gid_map", identity->gid, err) == 0) {
		snprintf(path, sizeof path, "/proc/%d/ns/user", child);
		result = open(path, O_RDONLY | O_CLOEXEC);
		if (result < 0)
			error_sys(err, "open '%s'", path);
	}
	close(gate[1]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return fd_steal(&result);
}

int stage_begin(struct stage *stage, const struct fence_plan *plan, struct error *err)
{
	stage->mapping = open_mapping(&plan->identity, err);
	if (stage->mapping < 0)
		return -1;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_sys(err, "make a mount namespace");
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!needed(plan, places[i]) &&
		    mount("ringfence", places[i], "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0) {
			stage->place = places[i];
			return 0;
		}
	}
	return error_sys(err, "mount a file system at '%s'", places[0]);
}

int stage_put(struct stage *stage, int fd, bool lend, struct error *err)
{
	AUTO_FD owned = fd;
	AUTO_FD tree = -1;
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_IDMAP,
					 .userns_fd = (uint64_t)stage->mapping };
	struct stat status;
	char target[64];

	if (!stage->place)
		return fd_steal(&owned);
	snprintf(target, sizeof target, "%s/%u", stage->place, stage->count++);
	if (fstat(owned, &status) < 0 ||
	    (S_ISDIR(status.st_mode) ? mkdir(target, 0755) : mknod(target, S_IFREG | 0644, 0)) < 0)
		return error_sys(err, "prepare '%s'", target);
	tree = (int)syscall(SYS_open_tree, owned, "",
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (tree < 0)
		return error_sys(err, "open a tree for mounting");
	if (lend &&
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
		return error_sys(
			err,
			"the project belongs to root, and its file system cannot lend it to another uid; run as the user "
			"it is for, or give it to one (chown -R USER PROJECT)");
	if (syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_sys(err, "mount at '%s'", target);

	int result = open(target, O_PATH | O_CLOEXEC);

	return result < 0 ? error_sys(err, "open '%s'", target) : result;
}
