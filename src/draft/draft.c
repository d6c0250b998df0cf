/* Drafts: see draft.h. */
#include "draft/draft.h"

#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/mounts.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

int draft_create(const char *project, const char *folder, struct error *err)
{
	AUTO_FREE char *upper = path_join(folder, "upper");
	AUTO_FREE char *work = path_join(folder, "work");
	struct stat status;

	if (stat(project, &status) < 0)
		return error_sys(err, "stat '%s'", project);
	if (mkdir(folder, 0700) < 0 || mkdir(work, 0700) < 0 || mkdir(upper, 0700) < 0 ||
	    chmod(upper, status.st_mode & 07777) < 0) /* the project's folder inside has its mode */
		return error_sys(err, "create the draft '%s'", folder);
	return 0;
}

static int open_folder(const char *path, struct error *err)
{
	int fd = fd_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);

	return fd < 0 ? error_sys(err, "open '%s'", path) : fd;
}

/* Replaces a folder, in this mount namespace, by its idmapped mount. */
static int lend(const struct draft_view *view, const char *path, struct error *err)
{
	const struct userns_ids ids = { .outside_uid = view->lent_uid,
					.outside_gid = view->lent_gid };
	AUTO_FD mapping = userns_open(&ids, err);
	AUTO_FD folder = mapping < 0 ? -1 : open_folder(path, err);
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_IDMAP,
					 .userns_fd = (uint64_t)mapping };

	if (folder < 0)
		return -1;

	AUTO_FD tree = (int)syscall(SYS_open_tree, folder, "",
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	if (tree < 0 ||
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) <
		    0 ||
	    syscall(SYS_move_mount, tree, "", folder, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return error_sys(err, "map root's '%s' to another uid", path);
	return 0;
}

static int set_layer(int context, const char *key, const char *value, struct error *err)
{
	if (syscall(SYS_fsconfig, context, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key,
		    value, 0) < 0)
		return error_sys(err, "overlayfs: %s", key);
	return 0;
}

/* Names the layers by descriptors, so that they are the folders that were opened, and that no
 * character in a path matters. */
static int set_layers(int context, int project, int folder, bool writable, struct error *err)
{
	char lower[80];
	char upper[40];
	char work[40];

	snprintf(upper, sizeof upper, "/proc/self/fd/%d/upper", folder);
	snprintf(work, sizeof work, "/proc/self/fd/%d/work", folder);
	snprintf(lower, sizeof lower, "%s%s/proc/self/fd/%d", writable ? "" : upper,
		 writable ? "" : ":", project);
	if (set_layer(context, "lowerdir", lower, err) < 0)
		return -1;
	return !writable ? 0
	       : set_layer(context, "upperdir", upper, err) < 0
		       ? -1
		       : set_layer(context, "workdir", work, err);
}

/* Sets how changes are marked. A rename of a folder must not be a mark, as it may be by default for
 * root: the files below would be at a new path without being in the upper layer. Without
 * privileges, overlayfs refuses such marks by itself. */
static int set_marks(int context, bool root, struct error *err)
{
	if (!root)
		return set_layer(context, "userxattr", NULL, err);
	return set_layer(context, "redirect_dir", "nofollow", err) < 0
		       ? -1
		       : set_layer(context, "metacopy", "off", err);
}

/* Returns a new overlay of the layers that is not mounted yet, or -1 with err set. */
static int make_overlay(const struct draft_view *view, int project, struct error *err)
{
	AUTO_FD folder = open_folder(view->folder, err);
	AUTO_FD context = folder < 0 ? -1 : (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
	unsigned int attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				  (view->writable ? 0 : MOUNT_ATTR_RDONLY);

	if (folder < 0)
		return -1;
	if (context < 0)
		return error_sys(err, "use overlayfs");
	if (set_layers(context, project, folder, view->writable, err) < 0 ||
	    set_marks(context, view->root, err) < 0)
		return -1;

	AUTO_FD overlay = syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0
				  ? -1
				  : (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
	struct statvfs status;

	if (overlay < 0 || fstatvfs(overlay, &status) < 0)
		return error_sys(err, "mount an overlay of '%s' with the layers in '%s'",
				 view->project, view->folder);
	/* Overlayfs does this on its own if it cannot write to the layers. */
	if (view->writable && (status.f_flag & ST_RDONLY))
		return error_with(err, ERROR_DENIED,
				  "overlayfs cannot write to the layers in '%s' (see: dmesg)",
				  view->folder);
	return fd_steal(&overlay);
}

/* An overlay does not include what is mounted below the project, and would show empty folders. */
static int refuse_nested(void *context, uint64_t device, const char *path, struct error *err)
{
	const struct draft_view *view = context;

	(void)device;
	if (!path_within(path, view->project) || strcmp(path, view->project) == 0)
		return 0;
	return error_with(
		err, ERROR_REFUSED,
		"'%s' is mounted inside the project, and a draft cannot include it; unmount "
		"it, or work without a draft",
		path);
}

/* Mounts the layers over the project. */
static int mount_layers(const struct draft_view *view, struct error *err)
{
	AUTO_FD project = open_folder(view->project, err);
	AUTO_FD overlay = project < 0 ? -1 : make_overlay(view, project, err);

	if (overlay < 0)
		return -1;
	if (syscall(SYS_move_mount, overlay, "", project, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return error_sys(err, "mount a draft over '%s'", view->project);
	return 0;
}

static int make_namespaces(const struct draft_view *view, struct error *err)
{
	const struct userns_ids ids = { geteuid(), geteuid(), getegid(), getegid() };

	if (!view->root && userns_enter(&ids, CLONE_NEWNS, err) < 0)
		return -1;
	if (view->root && unshare(CLONE_NEWNS) < 0)
		return error_sys(err, "create a mount namespace");
	/* The host's unmounts propagate here; nothing propagates to the host. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_sys(err, "separate the mounts from the host's");
	return 0;
}

/* Overlayfs writes to the upper layer as the user who mounts it, and the idmapped layer knows no
 * root. Keeps the capabilities, which a change of this id removes. */
static int write_as(const struct draft_view *view, struct error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return error_sys(err, "read the capabilities");
	setfsgid(view->lent_gid);
	setfsuid(view->lent_uid);
	return syscall(SYS_capset, &header, data) < 0 ? error_sys(err, "keep the capabilities") : 0;
}

static int make_view(const struct draft_view *view, struct error *err)
{
	if (mounts_each(refuse_nested, (void *)view, err) < 0 || make_namespaces(view, err) < 0)
		return -1;
	if (view->lent_uid && (lend(view, view->project, err) < 0 ||
			       lend(view, view->folder, err) < 0 || write_as(view, err) < 0))
		return -1;
	return mount_layers(view, err);
}

enum { OURS, THEIRS, ENDS };

struct maker {
	const struct draft_view *view;
	int socket[ENDS];
};

/* In the process that makes the view: reports the result, and waits until it has been used. */
static int run_maker(void *argument)
{
	enum { SOCKET = 3 };
	const struct maker *maker = argument;
	struct error err = { 0 };
	char byte;

	if (dup2(maker->socket[THEIRS], SOCKET) < 0 ||
	    syscall(SYS_close_range, SOCKET + 1, ~0U, 0) < 0)
		return 1;
	if (maker->view->foreign) { /* see mechanism_stage.c: nothing of root's may be left */
		env_wipe();
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	}
	if (make_view(maker->view, &err) == 0)
		err.text[0] = '\0';
	if (write(SOCKET, err.text, strlen(err.text) + 1) < 0)
		return 1;
	return read(SOCKET, &byte, 1) != 0;
}

/* Waits for the maker's report. Returns 0, or -1 with err set. */
static int await_maker(int socket, struct error *err)
{
	char text[sizeof err->text];
	ssize_t n;

	do
		n = read(socket, text, sizeof text);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return error_set(err, "the process that mounts the draft was killed");
	return text[0] ? error_set(err, "%s", text) : 0;
}

/* A new user namespace grants every capability in it, also over this user's own file modes. */
static int drop_capabilities(struct error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	return syscall(SYS_capset, &header, none) < 0 ? error_sys(err, "drop capabilities") : 0;
}

/* Joins the namespaces of the maker. The current directory would be the one below the mount; the
 * draft may have lost it. */
static int join(const struct draft_view *view, pid_t maker, struct error *err)
{
	AUTO_FREE char *current = getcwd(NULL, 0);
	AUTO_FD process = (int)syscall(SYS_pidfd_open, maker, 0);

	if (process < 0 || setns(process, CLONE_NEWNS | (view->root ? 0 : CLONE_NEWUSER)) < 0)
		return error_sys(err, "enter the draft");
	if (!view->root && drop_capabilities(err) < 0)
		return -1;
	if ((!current || chdir(current) < 0) && chdir(view->project) < 0)
		return error_sys(err, "enter '%s'", view->project);
	return 0;
}

/* Has another process make the view, and joins it if `stays` is set. */
static int use_view(const struct draft_view *view, bool stays, struct error *err)
{
	struct maker maker = { .view = view };
	int result = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, maker.socket) < 0)
		return error_sys(err, "create a socket pair");

	pid_t child = process_fork(run_maker, &maker, 0);

	close(maker.socket[THEIRS]);
	if (child < 0)
		error_sys(err, "start a process");
	else if (await_maker(maker.socket[OURS], err) == 0)
		result = stays ? join(view, child, err) : 0;
	close(maker.socket[OURS]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return result;
}

int draft_enter(const struct draft_view *view, struct error *err)
{
	return use_view(view, true, err);
}

int draft_try(const struct draft_view *view, struct error *err)
{
	return use_view(view, false, err);
}

/* ---- reading without a view ---- */

bool draft_is_opaque(int folder)
{
	static const char *const names[] = { "user.overlay.opaque", "trusted.overlay.opaque" };
	char value;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (fgetxattr(folder, names[i], &value, 1) == 1 && value == 'y')
			return true;
	return false;
}

static int open_beneath(int folder, const char *path, int flags)
{
	return fd_openat2(folder, path, flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Reports whether the upper layer hides the project's file at this path, which it does not have: by
 * an opaque folder above it, or by anything else that is not a folder. */
static bool is_hidden(int upper, const char *path)
{
	bool hidden = false;

	for (const char *end = path; !hidden && (end = strchr(end, '/')); end++) {
		AUTO_FREE char *above = strndup(path, (size_t)(end - path));
		AUTO_FD folder = open_beneath(upper, above, O_RDONLY | O_DIRECTORY);

		if (folder < 0 && errno == ENOENT)
			break;
		hidden = folder < 0 || draft_is_opaque(folder);
	}
	return hidden;
}

int draft_open_file(const char *project, const char *folder, const char *path, int flags)
{
	AUTO_FREE char *layer = path_join(folder, "upper");
	AUTO_FD upper = open(layer, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD below = open(project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int file = open_beneath(upper, path, flags);

	if (file >= 0 || errno != ENOENT)
		return file;
	if (is_hidden(upper, path)) {
		errno = ENOENT;
		return -1;
	}
	return open_beneath(below, path, flags);
}

bool draft_exists(const char *project, const char *folder, const char *path)
{
	AUTO_FD file = draft_open_file(project, folder, path, O_PATH | O_NOFOLLOW);
	struct stat status;

	/* Overlayfs marks a deleted file by such a device, which nobody else can make. */
	return file >= 0 && fstat(file, &status) == 0 &&
	       !(S_ISCHR(status.st_mode) && status.st_rdev == 0);
}
