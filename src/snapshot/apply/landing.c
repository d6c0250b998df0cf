/* Changes the user's work tree, index and branch. */
#include "snapshot/apply/landing.h"

#include "snapshot/apply/lfs_work.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/base/note.h"
#include "snapshot/undo/restore_stage.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEMPORARY LANDING_NOTE ".temporary"
#define GONE      "gone" /* a name in the stage */

enum { NOTE_BYTES = 1 << 16, INDEX_BYTES = 1 << 30 };

/* ---- files ---- */

static struct node as_node(const struct delta *delta, const char *name)
{
	mode_t mask = umask(0);
	struct node node = { .name = name, .staged = delta->staged };

	umask(mask);
	node.kind = delta->new_mode == GIT_FILEMODE_LINK ? NODE_LINK : NODE_FILE;
	node.mode = (delta->new_mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0777 : 0666) & ~mask;
	memcpy(node.id, delta->new.id, NODE_ID);
	return node;
}

/* Writes a file to the stage: as it is stored or, in Git LFS, its content. */
static int stage_one(const struct user_repo *user, const struct delta *delta,
		     struct restore_stage *stage, struct node *node, struct error *err)
{
	struct checkpoint_repo repo = { .repository = user->repository };
	AUTO_FD content = delta->new_lfs ? lfs_work_open(user, delta->new_lfs) : -1;

	return content < 0 ? restore_stage_write(stage, &repo, node, err)
			   : restore_stage_copy(stage, content, node, err);
}

/* Changes nothing of the user's yet. */
static int stage_all(const struct user_repo *user, struct delta_set *deltas,
		     struct restore_stage *stage, struct error *err)
{
	for (size_t i = 0; i < deltas->count; i++) {
		struct delta *delta = &deltas->items[i];
		struct node node = as_node(delta, delta->path);

		if (delta->place != DELTA_OLD || !delta->new_mode)
			continue;
		if (stage_one(user, delta, stage, &node, err) < 0)
			return -1;
		delta->staged = node.staged;
	}
	return restore_stage_sync(stage, err);
}

/* Removes folders that are now empty, as git does. */
static void remove_empty(const struct user_repo *user, const char *path)
{
	AUTO_FREE char *above = mem_dup(path);
	char *slash;

	while ((slash = strrchr(above, '/'))) {
		const char *name;
		AUTO_FD folder = -1;

		*slash = '\0';
		folder = delta_folder(user->work_fd, above, false, &name);
		if (folder < 0 || unlinkat(folder, name, AT_REMOVEDIR) < 0)
			return;
	}
}

/*
 * Moves a file to the stage and compares it once more: the user may save another version between a
 * check and a change, and that version is moved back. Returns 0, or -1 with errno set (EEXIST if it
 * was moved back).
 */
static int remove_file(const struct restore_stage *stage, const struct delta *delta, int folder,
		       const char *name)
{
	struct stat out;

	fault_point();
	/*
	 * A file cannot be renamed to the stage from a file system mounted below the project; then
	 * the earlier check must do.
	 */
	if (renameat(folder, name, stage->folder, GONE) < 0)
		return errno == EXDEV ? unlinkat(folder, name, 0) : errno == ENOENT ? 0 : -1;
	fault_point();
	if (fstatat(stage->folder, GONE, &out, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !delta_same(&delta->seen, &out)) {
		renameat2(stage->folder, GONE, folder, name, RENAME_NOREPLACE);
		errno = EEXIST;
		return -1;
	}
	return unlinkat(stage->folder, GONE, 0);
}

/* Moves a file into place in the same way: the old one goes to the stage. */
static int replace_file(const struct restore_stage *stage, const struct delta *delta,
			const struct node *node, int folder)
{
	struct stat out;

	if (delta->absent || S_ISDIR(delta->seen.st_mode))
		return restore_stage_move(stage, node, folder, RENAME_NOREPLACE);
	if (restore_stage_move(stage, node, folder, RENAME_EXCHANGE) < 0) {
		if (errno == EINVAL) /* not supported by the file system: see above */
			return restore_stage_place(stage, node, folder);
		errno = errno == ENOENT ? EEXIST : errno; /* the user removed it */
		return -1;
	}
	if (restore_stage_stat(stage, node, &out) < 0 || delta_same(&delta->seen, &out))
		return 0;
	restore_stage_move(stage, node, folder, RENAME_EXCHANGE);
	errno = EEXIST;
	return -1;
}

static int remove_one(const struct user_repo *user, const struct restore_stage *stage,
		      struct delta *delta, struct landing_result *result, struct error *err)
{
	const char *name;
	AUTO_FD folder = delta_folder(user->work_fd, delta->path, false, &name);

	fault_point();
	if (folder < 0)
		return 0;
	if (!delta_untouched(delta, folder, name)) {
		delta->place = DELTA_OTHER;
		return 0;
	}
	if (remove_file(stage, delta, folder, name) < 0) {
		delta->place = DELTA_OTHER;
		return errno == EEXIST ? 0 : error_sys(err, "remove '%s'", delta->path);
	}
	result->removed++;
	remove_empty(user, delta->path);
	return 0;
}

static int place_one(const struct user_repo *user, const struct restore_stage *stage,
		     struct delta *delta, struct landing_result *result, struct error *err)
{
	const char *name;
	AUTO_FD folder = delta_folder(user->work_fd, delta->path, true, &name);
	struct node node = as_node(delta, name);
	struct stat comes;

	if (folder < 0)
		return error_sys(err, "create the folder of '%s'", delta->path);
	if (!delta_untouched(delta, folder, name)) {
		delta->place = DELTA_OTHER;
		return 0;
	}
	delta_remove_empty_folders(folder, name);
	if (restore_stage_stat(stage, &node, &comes) < 0 ||
	    replace_file(stage, delta, &node, folder) < 0) {
		delta->place = DELTA_OTHER;
		return errno == EEXIST ? 0 : error_sys(err, "move '%s' into place", delta->path);
	}
	delta->seen = comes;
	result->written++;
	return 0;
}

/* As git does, creates an empty folder for a submodule. */
static void make_submodule(const struct user_repo *user, const struct delta *delta)
{
	const char *name;
	AUTO_FD folder = delta_folder(user->work_fd, delta->path, true, &name);

	if (folder >= 0)
		mkdirat(folder, name, 0777);
}

static int place_all(const struct user_repo *user, const struct restore_stage *stage,
		     struct delta_set *deltas, struct landing_result *result, struct error *err)
{
	/* Remove first: a folder may replace a file, and vice versa. */
	for (size_t i = 0; i < deltas->count; i++)
		if (deltas->items[i].place == DELTA_OLD && !deltas->items[i].new_mode &&
		    remove_one(user, stage, &deltas->items[i], result, err) < 0)
			return -1;
	for (size_t i = 0; i < deltas->count; i++) {
		struct delta *delta = &deltas->items[i];

		if (delta->new_mode == GIT_FILEMODE_COMMIT && !delta->old_mode)
			make_submodule(user, delta);
		if (delta->staged && place_one(user, stage, delta, result, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the index ---- */

static int copy_index(const struct user_repo *user, struct error *err)
{
	AUTO_FD from = openat(user->git_fd, "index", O_RDONLY | O_CLOEXEC);
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(INDEX_BYTES);

	user_repo_clear_index(user);
	if (from < 0 && errno == ENOENT)
		return 0;
	if (from < 0 || fd_read_all(from, &bytes) < 0 ||
	    durable_create(user->git_fd, USER_REPO_NEW_INDEX, bytes.data ? bytes.data : "",
			   bytes.used, 0644) < 0)
		return error_sys(err, "copy '%s/index'", user->git);
	return 0;
}

static int change_entry(const struct user_repo *user, git_index *index, const struct delta *delta)
{
	const git_index_entry *was = git_index_get_bypath(index, delta->path, 0);
	git_index_entry entry = { .mode = delta->new_mode, .id = delta->new, .path = delta->path };
	const char *name;
	struct stat status;

	if (!delta->new_mode)
		return was ? git_index_remove(index, delta->path, 0) : 0;
	if (was)
		entry.flags_extended = was->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE;
	/* If the user has changed the file since, its stat stays unset, and git reads it. */
	if (delta->place == DELTA_OLD || delta->place == DELTA_NEW) {
		AUTO_FD folder = delta_folder(user->work_fd, delta->path, false, &name);

		if (folder >= 0 && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    delta_same(&delta->seen, &status))
			delta_stat(&entry, &status);
	}
	return git_index_add(index, &entry);
}

/*
 * Files changed at the time of the old index would look unchanged next to a newer index. Like git,
 * clear their size, so that git reads them.
 */
static int forget_racy(git_index *index, const struct stat *old)
{
	for (size_t i = 0; i < git_index_entrycount(index); i++) {
		git_index_entry entry = *git_index_get_byindex(index, i);

		if (entry.mtime.seconds < old->st_mtim.tv_sec ||
		    (entry.mtime.seconds == old->st_mtim.tv_sec &&
		     entry.mtime.nanoseconds < (uint32_t)old->st_mtim.tv_nsec) ||
		    !entry.file_size)
			continue;

		AUTO_FREE char *path = mem_dup(entry.path);

		entry.path = path;
		entry.file_size = 0;
		if (git_index_add(index, &entry) < 0)
			return -1;
	}
	return 0;
}

/* Writes a new index with these changes beside the old one, then renames it into place. */
static int write_index(const struct user_repo *user, const struct delta_set *deltas,
		       struct error *err)
{
	AUTO_FREE char *path = path_join(user->git, USER_REPO_NEW_INDEX);
	git_index *index = NULL;
	struct stat old = { 0 };
	bool had = fstatat(user->git_fd, "index", &old, 0) == 0;
	int result;

	fault_point();
	if (copy_index(user, err) < 0)
		return -1;
	result = git_index_open(&index, path);
	if (result == 0 && had)
		result = forget_racy(index, &old);
	for (size_t i = 0; result == 0 && i < deltas->count; i++)
		if (deltas->items[i].listed == DELTA_OLD || deltas->items[i].listed == DELTA_NEW)
			result = change_entry(user, index, &deltas->items[i]);
	fault_point();
	if (result == 0)
		result = git_index_write(index);
	git_index_free(index);
	if (result < 0)
		return libgit_error("write the new index", err);
	if (had && fchmodat(user->git_fd, USER_REPO_NEW_INDEX, old.st_mode & 0777, 0) < 0)
		return error_sys(err, "set the mode of the new index");
	return user_repo_put_index(user, err);
}

/* ---- the branch ---- */

static int move_branch(struct user_repo *user, const struct landing *landing, struct error *err)
{
	bool unborn = git_oid_is_zero(&landing->old);
	git_reference *moved = NULL;
	git_signature *who = NULL;
	struct error ignored;
	git_oid now;
	int result;

	if (git_reference_name_to_id(&now, user->repository, landing->branch) == 0 &&
	    git_oid_equal(&now, &landing->new))
		return 0;
	if (user_repo_identity(user, &who, &ignored) == 0)
		git_repository_set_ident(user->repository, who->name, who->email);
	else
		git_repository_set_ident(user->repository, "Ringfence", "ringfence@localhost");
	git_signature_free(who);
	fault_point();
	result = unborn ? git_reference_create(&moved, user->repository, landing->branch,
					       &landing->new, 0, landing->log)
			: git_reference_create_matching(&moved, user->repository, landing->branch,
							&landing->new, 1, &landing->old,
							landing->log);
	git_reference_free(moved);
	fault_point();
	if (result == GIT_EMODIFIED || result == GIT_EEXISTS)
		return error_set(
			err,
			"someone else moved %s in the meantime; the files and the index are "
			"at the new commit (see: git status)",
			landing->branch);
	return result < 0 ? libgit_error("move the branch", err) : 0;
}

/* ---- the whole operation ---- */

bool landing_pending(int git)
{
	return faccessat(git, LANDING_NOTE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int write_note(const struct user_repo *user, const struct landing *landing,
		      struct error *err)
{
	AUTO_BUFFER struct buffer note = BUFFER_INIT(NOTE_BYTES);
	char old[GIT_OID_HEXSZ + 1];
	char new[GIT_OID_HEXSZ + 1];

	git_oid_tostr(old, sizeof old, &landing->old);
	git_oid_tostr(new, sizeof new, &landing->new);
	buffer_printf(&note, "%s\n%s\n%s\n%s\n", old, new, landing->branch, landing->log);
	if (buffer_overflowed(&note))
		return error_set(err, "the record of the operation is too long");
	return note_write(user->git_fd, TEMPORARY, user->git_fd, LANDING_NOTE, note.data,
			  note.used) < 0
		       ? error_sys(err, "write '%s/%s'", user->git, LANDING_NOTE)
		       : 0;
}

static int land(struct user_repo *user, const struct landing *landing, struct delta_set *deltas,
		struct landing_result *result, struct error *err)
{
	struct restore_stage stage;
	int outcome;

	if (restore_stage_open(user->work_fd, &stage, err) < 0)
		return -1;
	outcome = stage_all(user, deltas, &stage, err);
	if (outcome == 0)
		outcome = write_note(user, landing, err);
	if (outcome == 0)
		outcome = place_all(user, &stage, deltas, result, err);
	fault_point();
	restore_stage_close(&stage);
	if (outcome == 0)
		outcome = write_index(user, deltas, err);
	if (outcome == 0)
		outcome = move_branch(user, landing, err);
	fault_point();
	if (outcome == 0 && (syncfs(user->work_fd) < 0 || syncfs(user->git_fd) < 0))
		outcome = error_sys(err, "sync the disk of '%s'", user->work);
	if (outcome == 0)
		unlinkat(user->git_fd, LANDING_NOTE, 0);
	for (size_t i = 0; outcome == 0 && i < deltas->count; i++)
		if (deltas->items[i].place == DELTA_OTHER)
			list_add(&result->left, deltas->items[i].path);
	return outcome;
}

int landing_run(struct user_repo *user, const struct landing *landing, struct delta_set *deltas,
		struct landing_result *ret_result, struct error *err)
{
	*ret_result = (struct landing_result){ 0 };
	return land(user, landing, deltas, ret_result, err);
}

static int read_note(const struct user_repo *user, struct buffer *note, struct landing *ret_landing,
		     struct error *err)
{
	AUTO_FD fd = openat(user->git_fd, LANDING_NOTE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *lines[4] = { 0 };
	char *at;

	if (fd < 0 || fd_read_all(fd, note) < 0)
		return error_sys(err, "read '%s/%s'", user->git, LANDING_NOTE);
	buffer_text(note);
	at = note->data;
	for (size_t i = 0; i < 4 && at; i++) {
		lines[i] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	if (!lines[3] || !at || git_oid_fromstr(&ret_landing->old, lines[0]) < 0 ||
	    git_oid_fromstr(&ret_landing->new, lines[1]) < 0 ||
	    strncmp(lines[2], "refs/heads/", strlen("refs/heads/")) != 0)
		return error_set(err, "the record of an unfinished apply, '%s/%s', is damaged",
				 user->git, LANDING_NOTE);
	ret_landing->branch = lines[2];
	ret_landing->log = lines[3];
	return 0;
}

int landing_finish(struct user_repo *user, struct landing_result *ret_result, struct error *err)
{
	AUTO_BUFFER struct buffer note = BUFFER_INIT(NOTE_BYTES);
	struct landing landing = { 0 };
	struct delta_set deltas = { 0 };
	struct list own = { 0 };
	git_index *index = NULL;
	git_oid old, new;
	int result = -1;

	*ret_result = (struct landing_result){ 0 };
	if (read_note(user, &note, &landing, err) == 0 &&
	    libgit_tree(user->repository, &landing.new, &new, err) == 0 &&
	    libgit_tree(user->repository, &landing.old, &old, err) == 0 &&
	    delta_list(user->repository, &old, &new, &deltas, err) == 0)
		result = git_repository_index(&index, user->repository) < 0
				 ? libgit_error("read the index", err)
				 : delta_classify(user, index, false, &deltas, &own, err);
	if (result == 0)
		result = land(user, &landing, &deltas, ret_result, err);
	git_index_free(index);
	delta_release(&deltas);
	list_release(&own);
	return result;
}
