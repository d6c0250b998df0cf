/* The table of kinds, and shared helpers: see draft_kind.h. */
#include "draft/draft_kind.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct draft_kind kinds[] = {
#define KIND(id, entry, over)              \
	{ .name = #id,                     \
	  .mark = (entry),                 \
	  .layered = (over),               \
	  .prepare = draft_##id##_prepare, \
	  .seed = draft_##id##_seed,       \
	  .show = draft_##id##_show,       \
	  .open = draft_##id##_open,       \
	  .look = draft_##id##_look,       \
	  .maker = draft_##id##_maker },
	DRAFT_KINDS(KIND)
#undef KIND
};

_Static_assert(sizeof kinds / sizeof *kinds == DRAFT_KIND_COUNT, "a row for each kind");

const struct draft_kind *draft_kind_at(size_t i)
{
	return &kinds[i];
}

const struct draft_kind *draft_kind_of(const char *folder, struct error *err)
{
	for (size_t i = 0; i < DRAFT_KIND_COUNT; i++) {
		AUTO_FREE char *mark = path_join(folder, kinds[i].mark);

		if (access(mark, F_OK) == 0)
			return &kinds[i];
	}
	if (access(folder, F_OK) < 0 && errno == ENOENT)
		error_with(
			err, ERROR_INVALID,
			"the folder of the draft, '%s', is gone (its last checkpoint can still be "
			"applied: ringfence apply)",
			folder);
	else
		error_with(
			err, ERROR_INVALID,
			"the draft in '%s' is incomplete, because its creation was interrupted (to "
			"remove it: ringfence discard)",
			folder);
	return NULL;
}

int draft_kind_open_folder(const char *path, struct error *err)
{
	int fd = fd_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);

	return fd < 0 ? error_sys(err, "open '%s'", path) : fd;
}

int draft_kind_lend(const struct draft_view *view, const char *path, struct error *err)
{
	const struct userns_ids ids = { .outside_uid = view->lent_uid,
					.outside_gid = view->lent_gid };
	AUTO_FD mapping = userns_open(&ids, err);
	AUTO_FD folder = mapping < 0 ? -1 : draft_kind_open_folder(path, err);
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

const struct draft_kind *draft_kind_find(const char *name, struct error *err)
{
	for (size_t i = 0; i < DRAFT_KIND_COUNT; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	error_with(err, ERROR_INVALID, "there is no kind of drafts '%s'", name);
	return NULL;
}
