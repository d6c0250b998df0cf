/* Stages: see stage.h. */
#include "fence/tree/stage.h"

#include "fence/tree/remedy.h"
#include "util/file/fd.h"
#include "util/file/mounts.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* World-accessible folders. The stage covers one that contains nothing the fence needs. */
static const char *const places[] = { "/mnt", "/media", "/srv", "/run", "/tmp" };

static bool is_needed(const char *place, const struct fence_plan *plan, const char *const *needed)
{
	struct stat status;

	if (lstat(place, &status) < 0 || !S_ISDIR(status.st_mode)) /* a symlink leads elsewhere */
		return true;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (path_within(plan->rules[i].path, place) ||
		    (plan->rules[i].source && path_within(plan->rules[i].source, place)))
			return true;
	for (; *needed; needed++)
		if (path_within(*needed, place))
			return true;
	return false;
}

static int namespaces(const struct fence_identity *identity)
{
	return CLONE_NEWNS | (identity->mapped ? 0 : CLONE_NEWUSER);
}

/*
 * The kernel counts some resources per user, so one fence could use up those of the user's other
 * programs. Limits the fence to a quarter. This needs a user namespace; older kernels lack the
 * setting.
 */
static void limit_inotify(void)
{
	static const struct {
		const char *all, *own;
	} settings[] = {
		{ "/proc/sys/fs/inotify/max_user_instances",
		  "/proc/sys/user/max_inotify_instances" },
		{ "/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches" },
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		AUTO_BUFFER struct buffer text = BUFFER_INIT(64);
		AUTO_FD all = open(settings[i].all, O_RDONLY | O_CLOEXEC);
		AUTO_FD own = open(settings[i].own, O_WRONLY | O_CLOEXEC);

		if (all >= 0 && own >= 0 && fd_read_all(all, &text) == 0)
			dprintf(own, "%ld\n", strtol(buffer_text(&text), NULL, 10) / 4);
	}
}

int stage_enter(const struct fence_identity *identity, struct error *err)
{
	const struct userns_ids ids = { .inside_uid = identity->uid,
					.inside_gid = identity->gid,
					.outside_uid = identity->caller,
					.outside_gid = identity->caller_group };

	if (identity->mapped ? unshare(CLONE_NEWNS) < 0
			     : userns_enter(&ids, CLONE_NEWNS, err) < 0) {
		AUTO_FREE char *what = mem_dup(identity->mapped ? strerror(errno) : err->text);

		return remedy_namespaces(what, err);
	}
	/* The host's unmounts propagate here; nothing propagates to the host. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_sys(err, "separate the mounts from the host's");
	return 0;
}

int stage_join(const struct fence_identity *identity, int process, struct error *err)
{
	return setns(process, namespaces(identity)) < 0 ? error_sys(err, "enter the stage") : 0;
}

/* Sets options in the form "NAME=VALUE,NAME", and creates the file system. */
static int configure(int context, const char *options)
{
	while (*options) {
		size_t size = strcspn(options, ",");
		AUTO_FREE char *option = strndup(options, size);
		char *value = strchr(option, '=');

		if (value)
			*value++ = '\0';
		if (syscall(SYS_fsconfig, context, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG,
			    option, value, 0) < 0)
			return -1;
		options += size + (options[size] == ',');
	}
	return (int)syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

/* Returns a new file system that is not mounted yet, or -1 with err set. */
static int new_file_system(const char *type, const char *options, struct error *err)
{
	AUTO_FD context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	unsigned int attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	int made;

	if (strcmp(type, "devpts") == 0)
		attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	if (context < 0 || configure(context, options) < 0 ||
	    (made = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes)) < 0)
		return error_sys(err, "create a file system (%s)", type);
	return made;
}

static int attach(int tree, int target, const char *path, struct error *err)
{
	if (syscall(SYS_move_mount, tree, "", target, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return error_sys(err, "mount at '%s'", path);
	return 0;
}

/*
 * Returns the path for the tree's root: the folder itself or, if files are lent, a folder in a
 * tmpfs on it, because the lent mounts need a place beside the tree. Returns NULL on failure. The
 * caller frees it.
 */
static char *cover(const struct stage *stage, const char *folder)
{
	AUTO_FREE char *root = path_join(folder, "tree");

	if (stage->mapping < 0)
		return mem_dup(folder);
	if (mount("ringfence", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0 ||
	    mkdir(root, 0755) < 0)
		return NULL;

	char *place = root;

	root = NULL;
	return place;
}

int stage_begin(struct stage *stage, const struct fence_plan *plan, const char *const *needed,
		struct error *err)
{
	const struct userns_ids ids = { .outside_uid = plan->identity.uid,
					.outside_gid = plan->identity.gid };

	*stage = (struct stage){ .identity = &plan->identity, .tree = -1, .mapping = -1 };
	if (!plan->identity.mapped)
		limit_inotify();
	else if ((stage->mapping = userns_open(&ids, err)) < 0)
		return -1;
	stage->tree = new_file_system("tmpfs", "mode=755", err);
	if (stage->tree < 0)
		return -1;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		AUTO_FREE char *root = is_needed(places[i], plan, needed) ? NULL
									  : cover(stage, places[i]);

		if (!root || syscall(SYS_move_mount, stage->tree, "", AT_FDCWD, root,
				     MOVE_MOUNT_F_EMPTY_PATH) < 0)
			continue;
		stage->place = root;
		root = NULL;
		return 0;
	}
	return error_set(
		err,
		"no fence: one of /mnt, /media, /srv, /run and /tmp must be covered during setup, but each contains "
		"a path that the fence needs");
}

static int open_in(int folder, const char *path)
{
	return fd_openat2(folder, path, O_PATH | O_NOFOLLOW, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Creates an entry that is owned by the fence's uid. An existing one is fine. */
static int make_entry(const struct stage *stage, int folder, const char *name, bool is_dir)
{
	int made = is_dir ? mkdirat(folder, name, 0755) : mknodat(folder, name, S_IFREG | 0644, 0);

	if (made < 0)
		return errno == EEXIST ? 0 : -1;
	if (!stage->identity->mapped)
		return 0;
	return fchownat(folder, name, stage->identity->uid, stage->identity->gid,
			AT_SYMLINK_NOFOLLOW);
}

/* Opens a path in the tree and creates missing parts. Fails outside the stage's own file
 * systems. */
static int make_place(const struct stage *stage, const char *path, bool is_dir)
{
	AUTO_FREE char *way = mem_dup(path + 1);
	AUTO_FD folder = -1;

	for (char *name = way, *end; name; name = end) {
		int above = folder >= 0 ? folder : stage->tree;
		int found = -1;

		end = strchr(name, '/');
		if (end)
			*end++ = '\0';
		errno = ENOENT;
		if (end) /* the last component rarely exists */
			found = open_in(above, name);
		if (found < 0 && errno == ENOENT &&
		    make_entry(stage, above, name, end || is_dir) == 0)
			found = open_in(above, name);
		if (found < 0)
			return -1;
		fd_close(&folder);
		folder = found;
	}
	return fd_steal(&folder);
}

static int open_target(const struct stage *stage, const struct stage_target *target,
		       struct error *err)
{
	AUTO_FD fd = open_in(stage->tree, target->path + 1);
	struct stat status;

	if (fd < 0 && errno == ENOENT && !target->judged)
		fd = make_place(stage, target->path, target->is_dir);
	if (fd < 0 || (target->judged && fstat(fd, &status) < 0))
		return error_sys(err, "open '%s' (did it change while the fence was being set up?)",
				 target->path);
	if (target->judged &&
	    (status.st_dev != target->judged->device || status.st_ino != target->judged->inode))
		return error_set(err, "'%s' changed while the fence was being set up; try again",
				 target->path);
	return fd_steal(&fd);
}

int stage_folder(const struct stage *stage, const char *path, struct error *err)
{
	AUTO_FD fd = make_place(stage, path, true);

	return fd < 0 ? error_sys(err, "create '%s'", path) : 0;
}

int stage_symlink(const struct stage *stage, const char *content, const char *path,
		  struct error *err)
{
	return symlinkat(content, stage->tree, path + 1) < 0 ? error_sys(err, "create '%s'", path)
							     : 0;
}

int stage_file_system(const struct stage *stage, const char *type, const char *options,
		      const struct stage_target *target, struct error *err)
{
	AUTO_FD made = new_file_system(type, options, err);
	AUTO_FD place = made < 0 ? -1 : open_target(stage, target, err);

	return place < 0 ? -1 : attach(made, place, target->path, err);
}

/* Returns a detached mount of a path relative to `from`, or of `from` itself if the path is
 * empty. */
static int clone_mount(int from, const char *path, unsigned int how, struct error *err)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NOSUID, .propagation = MS_PRIVATE };
	AUTO_FD tree = (int)syscall(SYS_open_tree, from, path,
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
					    (*path ? 0 : AT_EMPTY_PATH));

	if (how & STAGE_READ_ONLY)
		attributes.attr_set |= MOUNT_ATTR_RDONLY;
	if (!(how & STAGE_DEVICES))
		attributes.attr_set |= MOUNT_ATTR_NODEV;
	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				&attributes, sizeof attributes) < 0)
		return error_sys(err, "clone the mount of '%s'", path);
	return fd_steal(&tree);
}

static int bind_mount(const struct stage *stage, int from, const char *path,
		      const struct stage_target *target, unsigned int how, struct error *err)
{
	AUTO_FD place = open_target(stage, target, err);
	AUTO_FD tree = place < 0 ? -1 : clone_mount(from, path, how, err);

	return tree < 0 ? -1 : attach(tree, place, target->path, err);
}

int stage_show(const struct stage *stage, int source, const struct stage_target *target,
	       unsigned int how, struct error *err)
{
	return bind_mount(stage, source, "", target, how, err);
}

int stage_show_path(const struct stage *stage, const char *source,
		    const struct stage_target *target, unsigned int how, struct error *err)
{
	return bind_mount(stage, AT_FDCWD, source, target, how, err);
}

int stage_mount(const struct stage *stage, int mount, const struct stage_target *target,
		struct error *err)
{
	AUTO_FD place = open_target(stage, target, err);

	return place < 0 ? -1 : attach(mount, place, target->path, err);
}

int stage_show_files(const struct stage *stage, const char *const *sources, const char *folder,
		     unsigned int how, struct error *err)
{
	AUTO_FD place = open_in(stage->tree, folder + 1);

	for (; place >= 0 && *sources; sources++) {
		const char *name = path_name(*sources);
		AUTO_FD tree = clone_mount(AT_FDCWD, *sources, how, err);

		if (tree < 0)
			return -1;
		if (make_entry(stage, place, name, false) < 0 ||
		    syscall(SYS_move_mount, tree, "", place, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return error_sys(err, "mount '%s' in '%s'", *sources, folder);
	}
	return place < 0 ? error_sys(err, "open '%s'", folder) : 0;
}

int stage_seal(const struct stage *stage, const char *path, struct error *err)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };
	AUTO_FD place = path[1] ? open_in(stage->tree, path + 1) : dup(stage->tree);

	if (place < 0 || syscall(SYS_mount_setattr, place, "", AT_EMPTY_PATH, &attributes,
				 sizeof attributes) < 0)
		return error_sys(err, "make '%s' read-only", path);
	return 0;
}

int stage_lend(struct stage *stage, int source, struct error *err)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_IDMAP,
					 .userns_fd = (uint64_t)stage->mapping };
	AUTO_FREE char *place = mem_format("%s-%u", stage->place, stage->lent++);
	AUTO_FD tree = (int)syscall(SYS_open_tree, source, "",
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	struct stat status;

	if (tree < 0 || fstat(source, &status) < 0)
		return error_sys(err, "open a tree for mounting");
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
		return error_sys(
			err,
			"the project belongs to root, and its file system cannot map it to another uid; give it to a user "
			"(chown -R USER PROJECT)");
	if ((S_ISDIR(status.st_mode) ? mkdir(place, 0755) : mknod(place, S_IFREG | 0644, 0)) < 0 ||
	    syscall(SYS_move_mount, tree, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_sys(err, "mount at '%s'", place);
	return fd_steal(&tree);
}

/* An idmapped mount of one of root's folders does not include the mounts inside. */
static int refuse_nested(void *context, uint64_t device, const char *path, struct error *err)
{
	const struct fence_plan *plan = context;

	(void)device;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].lent && path_within(path, plan->rules[i].path) &&
		    strcmp(path, plan->rules[i].path) != 0)
			return error_set(
				err,
				"'%s' is mounted inside root's '%s', and nested mounts cannot be mapped to another "
				"uid; unmount it, or give the project to a user (chown -R USER PROJECT)",
				path, plan->rules[i].path);
	return 0;
}

int stage_check(const struct fence_plan *plan, struct error *err)
{
	return plan->identity.mapped ? mounts_each(refuse_nested, (void *)plan, err) : 0;
}
