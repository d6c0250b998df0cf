/* Drafts that are layers of overlayfs: the changes are files in an upper layer. */
#include "draft/draft_kind.h"
#include "draft/tree_copy.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/mounts.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NEEDS                                                                                 \
	"it needs Linux 5.11, a state folder on ext4, xfs, btrfs, or tmpfs since Linux 6.6, " \
	"and a project that is not on an overlay; to move the state folder: "                 \
	"RINGFENCE_STATE_DIR"

enum { LAYERS_BYTES = 256 };

int draft_overlay_prepare(const struct draft_request *request, struct draft_made *made,
			  struct error *err)
{
	AUTO_FREE char *upper = path_join(request->view.folder, "upper");
	AUTO_FREE char *work = path_join(request->view.folder, "work");
	struct stat status;

	(void)made;
	if (stat(request->view.project, &status) < 0)
		return error_sys(err, "stat '%s'", request->view.project);
	/* In the namespace there are no others: overlayfs could not change their files (EOVERFLOW).
	 */
	if (status.st_uid != geteuid() || status.st_gid != getegid())
		return error_with(err, ERROR_REFUSED,
				  "'%s' is of another user or group than you, and an overlay "
				  "cannot change such files",
				  request->view.project);
	if (mkdir(work, 0700) < 0 || mkdir(upper, 0700) < 0 ||
	    chmod(upper, status.st_mode & 07777) < 0) /* the project's folder inside has its mode */
		return error_sys(err, "create the draft '%s'", request->view.folder);
	return 0;
}

/* The marks in the upper layer are about the project below, which is the same for both. */
int draft_overlay_seed(const char *folder, const char *from, struct error *err)
{
	AUTO_FREE char *target = path_join(folder, "upper");
	AUTO_FREE char *source = path_join(from, "upper");
	AUTO_FD to = open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD upper = open(source, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct tree_copy copy = { .from = upper, .to = to, .layer = true };
	int result;

	if (to < 0 || upper < 0)
		return error_sys(err, "open '%s'", upper < 0 ? source : target);
	result = tree_copy_run(&copy, err);
	free(copy.emptied);
	if (result == 0 && copy.left_out)
		return error_with(err, ERROR_DENIED, "%llu changed files in '%s' cannot be read",
				  (unsigned long long)copy.left_out, source);
	return result == 0 && syncfs(to) < 0 ? error_sys(err, "sync '%s'", target) : result;
}

/* ---- showing it ---- */

static int set_layer(int context, const char *key, const char *value, struct error *err)
{
	if (syscall(SYS_fsconfig, context, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key,
		    value, 0) < 0)
		return error_sys(err, "use overlayfs: %s (" NEEDS ")", key);
	return 0;
}

/* The folders of the layers, as descriptors, so that they are those that were opened, and that no
 * character in a path matters. */
struct layers {
	int project;
	int folder;
	int front, over; /* or -1 */
	bool whole;      /* `over` has the whole project */
};

static void layers_close(struct layers *layers)
{
	fd_close(&layers->folder);
	fd_close(&layers->front);
	fd_close(&layers->over);
}

static int open_layers(const struct draft_view *view, int project, struct layers *ret_layers,
		       struct error *err)
{
	const struct draft_kind *over = view->over ? draft_kind_of(view->over, err) : NULL;
	AUTO_FREE char *below = over ? path_join(view->over, over->mark) : NULL;

	*ret_layers = (struct layers){ .project = project,
				       .folder = draft_kind_open_folder(view->folder, err),
				       .front = -1,
				       .over = -1,
				       .whole = over && !over->layered };
	if (ret_layers->folder < 0 || (view->over && !over))
		return -1;
	if (below && (ret_layers->over = draft_kind_open_folder(below, err)) < 0)
		return -1;
	if (view->front && (ret_layers->front = draft_kind_open_folder(view->front, err)) < 0)
		return -1;
	return 0;
}

static void add_lower(struct buffer *lower, int folder, const char *name)
{
	buffer_printf(lower, "%s/proc/self/fd/%d%s", lower->used ? ":" : "", folder, name);
}

/* Names the layers, the uppermost first. */
static int set_layers(int context, const struct layers *layers, bool writable, struct error *err)
{
	AUTO_BUFFER struct buffer lower = BUFFER_INIT(LAYERS_BYTES);
	char upper[40];
	char work[40];

	snprintf(upper, sizeof upper, "/proc/self/fd/%d/upper", layers->folder);
	snprintf(work, sizeof work, "/proc/self/fd/%d/work", layers->folder);
	if (!writable)
		add_lower(&lower, layers->folder, "/upper");
	if (layers->front >= 0)
		add_lower(&lower, layers->front, "");
	if (layers->over >= 0)
		add_lower(&lower, layers->over, "");
	if (!layers->whole)
		add_lower(&lower, layers->project, "");
	if (set_layer(context, "lowerdir", buffer_text(&lower), err) < 0)
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
static int make_overlay(const struct draft_view *view, const struct layers *layers,
			struct error *err)
{
	AUTO_FD context = (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
	unsigned int attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				  (view->writable ? 0 : MOUNT_ATTR_RDONLY);

	if (context < 0)
		return error_sys(err, "use overlayfs (to load it: sudo modprobe overlay)");
	if (set_layers(context, layers, view->writable, err) < 0 ||
	    set_marks(context, view->root, err) < 0)
		return -1;

	AUTO_FD overlay = syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0
				  ? -1
				  : (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
	struct statvfs status;

	if (overlay < 0 || fstatvfs(overlay, &status) < 0)
		return error_sys(err,
				 "mount an overlay of '%s' with the layers in '%s' (" NEEDS ")",
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
	return error_with(err, ERROR_REFUSED,
			  "'%s' is mounted inside the project, and an overlay cannot include it",
			  path);
}

/* Mounts the layers over the project. */
static int mount_layers(const struct draft_view *view, struct error *err)
{
	AUTO_FD project = draft_kind_open_folder(view->project, err);
	AUTO_FD overlay = -1;
	struct layers layers;

	if (project < 0)
		return -1;
	if (open_layers(view, project, &layers, err) == 0)
		overlay = make_overlay(view, &layers, err);
	layers_close(&layers);
	if (overlay < 0)
		return -1;
	if (syscall(SYS_move_mount, overlay, "", project, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return error_sys(err, "mount a draft over '%s'", view->project);
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

/* Shows all layers as the view's user's. */
static int lend_layers(const struct draft_view *view, struct error *err)
{
	const char *const places[] = { view->project, view->folder, view->over, view->front };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (places[i] && draft_kind_lend(view, places[i], err) < 0)
			return -1;
	return write_as(view, err);
}

int draft_overlay_show(const struct draft_view *view, struct error *err)
{
	if (mounts_each(refuse_nested, (void *)view, err) < 0)
		return -1;
	if (view->lent_uid && lend_layers(view, err) < 0)
		return -1;
	return mount_layers(view, err);
}

/* ---- its changes ---- */

int draft_overlay_open(const char *folder, struct draft_layer_root *root, struct error *err)
{
	(void)folder;
	(void)root;
	(void)err;
	return 0;
}

/* Returns whether a folder of the upper layer hides the one below. */
static bool is_opaque(int folder)
{
	static const char *const names[] = { "user.overlay.opaque", "trusted.overlay.opaque" };
	char value;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (fgetxattr(folder, names[i], &value, 1) == 1 && value == 'y')
			return true;
	return false;
}

/* An entry of the upper layer is a changed file, a mark for a deleted one, or a folder. One that
 * cannot be opened hides what is below, if in doubt. */
enum draft_layer_state draft_overlay_look(const struct draft_layer *at, const char *name,
					  struct draft_layer *ret_inner)
{
	AUTO_FD folder = openat(at->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (folder < 0)
		return errno == ENOENT ? DRAFT_LAYER_SAME : DRAFT_LAYER_OWN;
	if (is_opaque(folder))
		return DRAFT_LAYER_OWN;
	ret_inner->folder = fd_steal(&folder);
	return DRAFT_LAYER_FOLDER;
}

/* Returns whether overlayfs has marked an entry, or -1 with errno. A command cannot: overlayfs
 * refuses these names, or stores them under others. */
static int has_mark(const struct draft_layer_root *root, const char *link, const char *name,
		    char *ret_value)
{
	AUTO_FREE char *attribute = mem_format("%s.overlay.%s",
					       root->privileged ? "trusted" : "user", name);
	char value[LAYERS_BYTES] = { 0 };

	if (getxattr(link, attribute, value, sizeof value) < 0)
		return errno == ENODATA ? 0 : -1;
	*ret_value = *value;
	return 1;
}

/* Overlayfs marks what it copies from a lower layer with its origin, which may be unknown. It does
 * not mark a file with several names. */
enum draft_maker draft_overlay_maker(const struct draft_layer_root *root, const char *path)
{
	AUTO_FD fd = fd_openat2(root->top.folder, path, O_PATH | O_NOFOLLOW, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	char link[32];
	struct stat status;
	char value = 0;
	int copied;

	if (fd < 0)
		return errno == ENOENT ? DRAFT_MAKER_BELOW : DRAFT_MAKER_UNKNOWN;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	copied = has_mark(root, link, "origin", &value);
	if (copied < 0 || fstat(fd, &status) < 0 || S_ISCHR(status.st_mode))
		return DRAFT_MAKER_UNKNOWN;
	if (copied || !S_ISDIR(status.st_mode))
		return copied ? DRAFT_MAKER_COPIED : DRAFT_MAKER_COMMAND;
	return has_mark(root, link, "opaque", &value) == 1 && value == 'y'
		       ? DRAFT_MAKER_COMMAND
		       : DRAFT_MAKER_COMMAND_MERGED;
}
