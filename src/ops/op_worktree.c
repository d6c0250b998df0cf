/* Work trees of loops: see op_worktree.h. */
#include "ops/op_worktree.h"

#include "snapshot/snapshot.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MAKING "making"
#define ORIGIN "origin"

enum { ORIGIN_BYTES = 1 << 16 };

/* Locks the folder of all work trees, so that a sweep does not run while one is being created. */
static int lock_all(const char *all, struct error *err)
{
	AUTO_FREE char *path = path_join(all, ".lock");
	AUTO_FD fd = -1;

	if (state_folder_make(all, 0700) < 0)
		return error_sys(err, "create '%s'", all);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return error_sys(err, "lock '%s'", path);
	return fd_steal(&fd);
}

/* Creates the loop's folder, with a file that names its project. Returns the folder's lock, or -1
 * with err set. */
static int make_folder(const char *all, const char *id, const char *origin, struct error *err)
{
	AUTO_FREE char *folder = path_join(all, id);
	AUTO_FREE char *path = path_join(folder, MAKING);
	AUTO_FD lock = lock_all(all, err);
	AUTO_FD inner = -1;
	AUTO_FD fd = -1;

	if (lock < 0)
		return -1;
	if (state_folder_make(folder, 0700) < 0 ||
	    (inner = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    durable_replace(inner, ORIGIN, origin, strlen(origin), 0600) < 0)
		return error_sys(err, "create '%s'", folder);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_sys(err, "lock '%s'", path);
	return fd_steal(&fd);
}

/* ---- creating ---- */

static void add_names(struct list *list, const json_t *names)
{
	size_t index;
	json_t *name;

	json_array_foreach(names, index, name) list_add(list, json_string_value(name));
}

static int read_answer(struct op_worktree_result *result, const json_t *answer, struct error *err)
{
	const char *inner = jsonget_string(answer, "folder");
	const char *root = jsonget_string(answer, "work_tree");

	if (!inner || !root)
		return error_set(err, "the journal cannot store a path that is not valid UTF-8");
	result->project = mem_dup(inner);
	result->root = mem_dup(root);
	add_names(&result->uncommitted, json_object_get(answer, "dirty"));
	result->uncommitted_count = (size_t)jsonget_number(answer, "dirty_count");
	add_names(&result->submodules, json_object_get(answer, "submodules"));
	return 0;
}

static int create(const char *state, struct op_worktree_result *result, const char *all,
		  struct error *err)
{
	AUTO_FREE char *folder = path_join(all, result->id);
	struct snapshot_work work;
	json_t *answer = NULL;
	int made;

	snapshot_begin(&work, "worktree", state, result->origin, result->id);
	snapshot_tell(&work, "folder", folder);
	made = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (made == 0)
		made = read_answer(result, answer, err);
	json_decref(answer);
	return made;
}

enum op_status op_worktree(const struct op_worktree_request *request,
			   struct op_worktree_result *ret_result, struct error *err)
{
	const char *state = request->state;
	AUTO_FREE char *all = client_work_trees(state);

	op_worktree_sweep(state);
	*ret_result = OP_WORKTREE_INIT;
	ret_result->origin = mem_dup(request->project);
	ret_result->id = client_reserve(state, err);
	if (!ret_result->id)
		return OP_FAILED;
	ret_result->lock = make_folder(all, ret_result->id, ret_result->origin, err);
	if (ret_result->lock >= 0 && create(state, ret_result, all, err) == 0)
		return OP_DONE;
	op_worktree_undo(state, ret_result);
	return OP_FAILED;
}

static void move_paths(struct fence_paths *paths, const struct op_worktree_result *to,
		       const char *here)
{
	for (size_t i = 0; i < paths->count; i++) {
		const char *given = paths->items[i].path;
		AUTO_FREE char *path = given[0] == '~' ? NULL : path_absolute(given, here);

		if (!path || !path_within(path, to->origin))
			continue;
		free(paths->items[i].path);
		paths->items[i].path = mem_format("%s%s", to->project, path + strlen(to->origin));
	}
}

void op_worktree_enter(const struct op_worktree_result *result, const char *here,
		       struct fence_spec *spec, struct fence_place *place)
{
	move_paths(&spec->write, result, here);
	move_paths(&spec->read, result, here);
	move_paths(&spec->hide, result, here);
	free(place->project);
	place->project = mem_dup(result->project);
}

void op_worktree_release(struct op_worktree_result *result)
{
	free(result->id);
	free(result->origin);
	free(result->root);
	free(result->project);
	list_release(&result->uncommitted);
	list_release(&result->submodules);
	fd_close(&result->lock);
	*result = OP_WORKTREE_INIT;
}

/* ---- removing ---- */

int op_worktree_drop(const char *state, const char *id, const char *origin, bool force,
		     uint64_t *bytes, bool *ret_kept, struct error *err)
{
	AUTO_FREE char *all = client_work_trees(state);
	AUTO_FREE char *folder = path_join(all, id);
	struct snapshot_work work;
	json_t *answer = NULL;
	const char *branch;
	struct error why;
	int result;

	*ret_kept = false;
	snapshot_begin(&work, "forget", state, origin, id);
	if (access(folder, F_OK) == 0)
		snapshot_tell(&work, "folder", folder);
	snapshot_tell_number(&work, "force", force);
	/* Ignore errors: a repository that was removed, or never existed, has no refs to delete. */
	result = snapshot_run(&work, -1, &answer, &why);
	snapshot_release(&work);
	branch = result == 0 ? jsonget_string(answer, "branch") : NULL;
	*ret_kept = branch && strcmp(branch, "kept") == 0;
	json_decref(answer);
	return client_remove_folder(folder, bytes, err);
}

void op_worktree_undo(const char *state, struct op_worktree_result *result)
{
	struct client_loop loop = { 0 };
	struct error ignored;
	uint64_t bytes = 0;
	bool kept;

	if (!result->id)
		return;
	if (client_find(state, result->id, NULL, &loop, &ignored) < 0) {
		op_worktree_drop(state, result->id, result->origin, false, &bytes, &kept, &ignored);
		client_release_id(state, result->id);
	}
	client_loop_release(&loop);
	op_worktree_release(result);
}

/* Removes a work tree that has no loop and is not being created. */
static void sweep_one(const char *state, const char *all, const char *id)
{
	AUTO_FREE char *folder = path_join(all, id);
	AUTO_FREE char *making = path_join(folder, MAKING);
	AUTO_FREE char *path = path_join(folder, ORIGIN);
	AUTO_BUFFER struct buffer origin = BUFFER_INIT(ORIGIN_BYTES);
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct op_worktree_result left = OP_WORKTREE_INIT;

	left.lock = open(making, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (left.lock < 0 || flock(left.lock, LOCK_EX | LOCK_NB) < 0) {
		fd_close(&left.lock);
		return;
	}
	if (fd >= 0 && fd_read_all(fd, &origin) == 0)
		left.origin = mem_dup(buffer_text(&origin));
	else
		left.origin = mem_dup("/");
	left.id = mem_dup(id);
	op_worktree_undo(state, &left);
}

void op_worktree_sweep(const char *state)
{
	AUTO_FREE char *all = client_work_trees(state);
	DIR *dir = opendir(all);
	struct error ignored;
	AUTO_FD lock = dir ? lock_all(all, &ignored) : -1;

	for (struct dirent *entry; lock >= 0 && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			sweep_one(state, all, entry->d_name);
	if (dir)
		closedir(dir);
}
