/* The staging folder of a restore. */
#include "snapshot/undo/restore_stage.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/look/content.h"
#include "snapshot/look/look_walk.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER = 16, PIECE = 1 << 16 };

int restore_stage_open(int project, struct restore_stage *ret_stage, struct error *err)
{
	int folder;

	dirwalk_remove(project, LOOK_WALK_STAGE, NULL);
	if (mkdirat(project, LOOK_WALK_STAGE, 0700) < 0 ||
	    (folder = openat(project, LOOK_WALK_STAGE,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return error_sys(err, "create the folder %s in the project", LOOK_WALK_STAGE);
	*ret_stage = (struct restore_stage){ .project = project, .folder = folder };
	return 0;
}

void restore_stage_close(struct restore_stage *stage)
{
	fd_close(&stage->folder);
	dirwalk_remove(stage->project, LOOK_WALK_STAGE, NULL);
}

int restore_stage_sync(const struct restore_stage *stage, struct error *err)
{
	fault_point();
	return syncfs(stage->folder) < 0 ? error_sys(err, "sync the project's disk") : 0;
}

/* ---- contents ---- */

static int read_blob(struct checkpoint_repo *repo, const git_oid *id, uint64_t offset,
		     restore_stage_fn *take, void *context, struct error *err)
{
	git_blob *blob = NULL;
	int result;

	if (git_blob_lookup(&blob, repo->repository, id) < 0)
		return libgit_error("read a file from a checkpoint", err);
	result = take(context, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob), offset,
		      err);
	git_blob_free(blob);
	return result;
}

static int read_pieces(struct checkpoint_repo *repo, const git_oid *id, restore_stage_fn *take,
		       void *context, struct error *err)
{
	git_tree *tree = NULL;
	int result = 0;

	if (git_tree_lookup(&tree, repo->repository, id) < 0)
		return libgit_error("read a large file from a checkpoint", err);
	for (size_t i = 0; i < git_tree_entrycount(tree) && result == 0; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const char *name = git_tree_entry_name(entry);

		if (strcmp(name, "size") != 0)
			result = read_blob(repo, git_tree_entry_id(entry), strtoull(name, NULL, 16),
					   take, context, err);
	}
	git_tree_free(tree);
	return result;
}

int restore_stage_read(struct checkpoint_repo *repo, const struct node *node,
		       restore_stage_fn *take, void *context, struct error *err)
{
	git_oid id;

	git_oid_fromraw(&id, node->id);
	return node->chunked ? read_pieces(repo, &id, take, context, err)
			     : read_blob(repo, &id, 0, take, context, err);
}

/* ---- staging ---- */

static int write_part(void *context, const void *bytes, size_t size, uint64_t offset,
		      struct error *err)
{
	int fd = *(const int *)context;

	if (lseek(fd, (off_t)offset, SEEK_SET) < 0 || fd_write_all(fd, bytes, size) < 0)
		return error_sys(err, "write a file from the checkpoint to the project");
	return 0;
}

static int make_link(void *context, const void *bytes, size_t size, uint64_t offset,
		     struct error *err)
{
	const struct restore_stage *stage = context;
	AUTO_FREE char *target = strndup(bytes, size);
	char name[NUMBER];

	(void)offset;
	snprintf(name, sizeof name, "%u", stage->count);
	if (!target || symlinkat(target, stage->folder, name) < 0)
		return error_sys(err, "create a symlink from the checkpoint in the project");
	return 0;
}

/* Creates the file with the current number. Returns the descriptor, or -1 with err set. */
static int create_file(const struct restore_stage *stage, struct error *err)
{
	char name[NUMBER];
	int fd;

	snprintf(name, sizeof name, "%u", stage->count);
	fd = openat(stage->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	return fd < 0 ? error_sys(err, "write a file to the stage in the project") : fd;
}

int restore_stage_copy(struct restore_stage *stage, int from, struct node *node, struct error *err)
{
	AUTO_FREE char *piece = mem_alloc(PIECE);
	AUTO_FD fd = -1;
	ssize_t n;

	fault_point();
	node->staged = ++stage->count;
	fd = create_file(stage, err);
	if (fd < 0)
		return -1;
	while ((n = read(from, piece, PIECE)) > 0)
		if (fd_write_all(fd, piece, (size_t)n) < 0)
			break;
	return n != 0 || fchmod(fd, node->mode) < 0
		       ? error_sys(err, "copy a file to the stage in the project")
		       : 0;
}

int restore_stage_write(struct restore_stage *stage, struct checkpoint_repo *repo,
			struct node *node, struct error *err)
{
	AUTO_FD fd = -1;

	fault_point();
	node->staged = ++stage->count;
	if (node->kind == NODE_LINK)
		return restore_stage_read(repo, node, make_link, stage, err);
	fd = create_file(stage, err);
	if (fd < 0)
		return -1;
	if (!node->hollow && restore_stage_read(repo, node, write_part, &fd, err) < 0)
		return -1;
	if ((node->chunked && !node->hollow && ftruncate(fd, (off_t)node->size) < 0) ||
	    fchmod(fd, node->mode) < 0)
		return error_sys(err, "set the size and mode of a restored file");
	return 0;
}

int restore_stage_place(const struct restore_stage *stage, const struct node *node, int folder)
{
	static const char extra[] = "link";
	char from[NUMBER];
	int result;

	snprintf(from, sizeof from, "%u", node->staged);
	fault_point();
	if (!node->group)
		return renameat(stage->folder, from, folder, node->name);
	/* Rename a second link, so that the staged file remains for the other names. */
	if (linkat(stage->folder, from, stage->folder, extra, 0) < 0)
		return -1;
	result = renameat(stage->folder, extra, folder, node->name);

	int saved = errno;

	/* rename() does nothing if both names are links to the same file. */
	unlinkat(stage->folder, extra, 0);
	errno = saved;
	return result;
}

int restore_stage_move(const struct restore_stage *stage, const struct node *node, int folder,
		       unsigned int flags)
{
	char from[NUMBER];
	int result;

	snprintf(from, sizeof from, "%u", node->staged);
	fault_point();
	result = renameat2(stage->folder, from, folder, node->name, flags);
	if (result == 0)
		fault_point();
	return result;
}

int restore_stage_stat(const struct restore_stage *stage, const struct node *node,
		       struct stat *ret_status)
{
	char name[NUMBER];

	snprintf(name, sizeof name, "%u", node->staged);
	return fstatat(stage->folder, name, ret_status, AT_SYMLINK_NOFOLLOW);
}
