/* Mounts the tree of a fence on a stage: see tree.h. */
#include "fence/plan/defaults.h"
#include "fence/tree/stage.h"
#include "fence/tree/tree.h"
#include "fence/watch/limit.h"
#include "util/file/fd.h"
#include "util/file/path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Even empty files use memory. One inode per page, which is also the kernel's default. */
static uint64_t inodes_for(uint64_t size)
{
	enum { PAGE = 4096, LEAST = 1024 };

	return size / PAGE < LEAST ? LEAST : size / PAGE;
}

static int mount_tmpfs(const struct stage *stage, const struct tree_entry *entry,
		       const struct stage_target *target, struct error *err)
{
	AUTO_BUFFER struct buffer options = BUFFER_INIT(200);

	buffer_printf(&options, "mode=%s,uid=%u,gid=%u", entry->mode, stage->identity->uid,
		      stage->identity->gid);
	if (stage->tmp_size)
		buffer_printf(&options, ",size=%llu,nr_inodes=%llu",
			      (unsigned long long)stage->tmp_size,
			      (unsigned long long)inodes_for(stage->tmp_size));
	return stage_file_system(stage, "tmpfs", buffer_text(&options), target, err);
}

/* The idmapped mount of a folder that is lent to the fence's uid. */
struct loan {
	const char *path;
	int fd;
};

/* Opens the file that the plan checked. Fails if it has been swapped since. */
static int open_rule(const struct fence_rule *rule, const struct loan *loan, struct error *err)
{
	bool below = loan->path && path_within(rule->path, loan->path) &&
		     strcmp(rule->path, loan->path) != 0;
	AUTO_FD fd = below ? fd_openat2(loan->fd, rule->path + strlen(loan->path) + 1, O_PATH, 0,
					RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH)
			   : fd_openat2(AT_FDCWD, rule->path, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_sys(err, "open '%s' (did it change while the fence was being set up?)",
				 rule->path);
	if (status.st_dev != rule->device || status.st_ino != rule->inode)
		return error_set(err, "'%s' changed while the fence was being set up; try again",
				 rule->path);
	return fd_steal(&fd);
}

/* Opens the source of a cover, idmapped if the stage lends files. A read-only one may also work
 * without. */
static int open_cover(const struct fence_rule *rule, struct stage *stage, struct error *err)
{
	const struct fence_rule itself = { .path = rule->source,
					   .device = rule->source_device,
					   .inode = rule->source_inode };
	AUTO_FD fd = open_rule(&itself, &(struct loan){ .fd = -1 }, err);
	int lent;

	if (fd < 0 || stage->mapping < 0)
		return fd_steal(&fd);
	lent = stage_lend(stage, fd, err);
	if (lent >= 0 || rule->access != WIRE_WRITE)
		return lent >= 0 ? lent : fd_steal(&fd);
	return error_set(
		err,
		"'%s' belongs to root, and its file system cannot map it to another uid; use --git read-only, or keep "
		"Ringfence's state on another file system (RINGFENCE_STATE_DIR)",
		rule->source);
}

/* Opens the source of a rule, through the idmapped mount if it is in a lent folder. */
static int open_source(const struct fence_rule *rule, struct stage *stage, struct loan *loan,
		       struct error *err)
{
	AUTO_FD fd = open_rule(rule, loan, err);

	if (fd < 0 || !rule->lent || stage->mapping < 0 ||
	    (loan->path && path_within(rule->path, loan->path)))
		return fd_steal(&fd);

	int lent = stage_lend(stage, fd, err);

	if (lent >= 0) {
		fd_close(&loan->fd);
		*loan = (struct loan){ rule->path, fcntl(lent, F_DUPFD_CLOEXEC, 3) };
	}
	return lent;
}

/* State that is shared while the entries of a tree are mounted. */
struct shared {
	int file, folder; /* stubs of hidden files and folders, or -1 until needed */
	struct loan loan;
};

static int open_stub(struct shared *shared, const struct tree_entry *entry, struct error *err)
{
	int *fd = entry->is_dir ? &shared->folder : &shared->file;

	if (*fd < 0)
		*fd = open(entry->source, O_PATH | O_CLOEXEC);
	return *fd < 0 ? error_sys(err, "open '%s'", entry->source) : *fd;
}

/* Mounts the source of a rule, or the stub that hides it. */
static int show_rule(struct stage *stage, const struct tree_entry *entry,
		     const struct stage_target *target, struct shared *shared, struct error *err)
{
	AUTO_FD source = -1;

	if (entry->rule->access == WIRE_HIDE) {
		int stub = open_stub(shared, entry, err);

		return stub < 0 ? -1 : stage_show(stage, stub, target, STAGE_READ_ONLY, err);
	}
	source = entry->rule->source ? open_cover(entry->rule, stage, err)
				     : open_source(entry->rule, stage, &shared->loan, err);
	return source < 0 ? -1
			  : stage_show(stage, source, target, entry->writable ? 0 : STAGE_READ_ONLY,
				       err);
}

static int mount_entry(struct stage *stage, const struct tree_entry *entry, struct shared *shared,
		       struct error *err)
{
	const struct stage_target target = { .path = entry->path,
					     .is_dir = entry->is_dir,
					     .judged = entry->exists ? entry->rule : NULL };

	switch (entry->kind) {
	case TREE_FOLDER:
		return stage_folder(stage, entry->path, err);
	case TREE_SYMLINK:
		return stage_symlink(stage, entry->source, entry->path, err);
	case TREE_SHOWN:
		return entry->rule ? show_rule(stage, entry, &target, shared, err)
				   : stage_show_path(stage, entry->source, &target, STAGE_READ_ONLY,
						     err);
	case TREE_TMPFS:
		return mount_tmpfs(stage, entry, &target, err);
	case TREE_DEVICES:
		return stage_show_files(stage, defaults_devices, entry->path, STAGE_DEVICES, err);
	case TREE_GIVEN:
		return stage_mount(stage, entry->given, &target, err);
	case TREE_NOTHING:
		return 0;
	case TREE_IMAGE:
		break;
	case TREE_PTS:
		return stage_file_system(stage, "devpts", "newinstance,ptmxmode=0666,mode=620",
					 &target, err);
	}
	return error_set(err, "'%s' has an unknown kind", entry->path);
}

/* Makes emptied folders and the root read-only, now that everything in them is mounted. */
static int seal(struct stage *stage, const struct tree *tree, struct error *err)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].kind == TREE_TMPFS && !tree->items[i].writable &&
		    stage_seal(stage, tree->items[i].path, err) < 0)
			return -1;
	return stage_seal(stage, "/", err);
}

static int mount_all(struct stage *stage, const struct tree *tree, struct error *err)
{
	struct shared shared = { .file = -1, .folder = -1, .loan.fd = -1 };
	int result = 0;

	for (size_t i = 0; result == 0 && i < tree->count; i++)
		result = mount_entry(stage, &tree->items[i], &shared, err);
	fd_close(&shared.file);
	fd_close(&shared.folder);
	fd_close(&shared.loan.fd);
	return result < 0 ? -1 : seal(stage, tree, err);
}

char *tree_build(const struct tree *tree, const char *needed, struct error *err)
{
	const struct fence_plan *plan = tree->plan;
	const char *const all_needed[] = { plan->state, plan->init, needed, NULL };
	mode_t mask = umask(0);
	struct stage stage;
	int result = stage_begin(&stage, plan, all_needed, err);

	stage.tmp_size = limit_tmp_size(plan->spec);
	if (result == 0)
		result = mount_all(&stage, tree, err);
	umask(mask);
	return result < 0 ? NULL : stage.place;
}
