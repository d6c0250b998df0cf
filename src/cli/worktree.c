/* Work trees of loops: see worktree.h. */
#include "cli/worktree.h"

#include "cli/view/notice.h"
#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "loop/client.h"
#include "snapshot/snapshot.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/state_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MAKING "making"
#define ORIGIN "origin"

enum { ORIGIN_BYTES = 1 << 16 };

/* The folder of all of them, locked: who makes one and who looks for what was left behind do not meet. */
static int lock_all(const char *all, struct error *err)
{
	AUTO_FREE char *path = path_join(all, ".lock");
	AUTO_FD fd = -1;

	if (state_folder_make(all, 0700) < 0)
		return error_sys(err, "make '%s'", all);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return error_sys(err, "lock '%s'", path);
	return fd_steal(&fd);
}

/* The loop's own folder, with the name of the project that it is for. Returns its lock, or -1 with err set. */
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
	    fd_replace_file(inner, ORIGIN, origin, strlen(origin), 0600) < 0)
		return error_sys(err, "make '%s'", folder);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_sys(err, "lock '%s'", path);
	return fd_steal(&fd);
}

/* ---- making ---- */

static void tell_names(const char *before, const json_t *names, size_t count, const char *after)
{
	AUTO_BUFFER struct buffer list = BUFFER_INIT(4096);
	size_t index;
	json_t *name;

	json_array_foreach(names, index, name)
	{
		if (index < 5)
			buffer_printf(&list, "%s%s", index ? ", " : "", json_string_value(name));
	}
	if (count > 5)
		buffer_printf(&list, " and %zu more", count - 5);
	if (count)
		notice_format("%s%s%s", before, buffer_text(&list), after);
}

/* What was meant for a path in the user's project is meant for the same one in the work tree. */
static void move_paths(struct fence_paths *paths, const char *from, const char *to)
{
	AUTO_FREE char *here = getcwd(NULL, 0);

	for (size_t i = 0; i < paths->count; i++) {
		const char *given = paths->items[i].path;
		AUTO_FREE char *path = given[0] == '~' ? NULL
						       : path_absolute(given, here ? here : from);

		if (!path || !path_within(path, from))
			continue;
		free(paths->items[i].path);
		paths->items[i].path = mem_format("%s%s", to, path + strlen(from));
	}
}

static int make(struct effective *effective, struct worktree *worktree, const char *all,
		struct error *err)
{
	AUTO_FREE char *folder = path_join(all, worktree->id);
	struct fence_place *place = &effective->place;
	struct snapshot_work work;
	json_t *answer = NULL;
	const char *inner;
	const char *root;
	int result;

	snapshot_begin(&work, "worktree", place->state, worktree->origin, worktree->id);
	snapshot_tell(&work, "folder", folder);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result < 0)
		return -1;
	inner = json_string_value(json_object_get(answer, "folder"));
	root = json_string_value(json_object_get(answer, "work_tree"));
	if (inner && root) {
		tell_names(
			"what you have not committed stays where it is, and is not in the loop's "
			"work tree: ",
			json_object_get(answer, "dirty"),
			(size_t)json_integer_value(json_object_get(answer, "dirty_count")), "");
		tell_names("submodules are empty folders in the loop's work tree: ",
			   json_object_get(answer, "submodules"),
			   json_array_size(json_object_get(answer, "submodules")), "");
		move_paths(&effective->spec.write, worktree->origin, inner);
		move_paths(&effective->spec.read, worktree->origin, inner);
		move_paths(&effective->spec.hide, worktree->origin, inner);
		worktree->root = mem_dup(root);
		free(place->project);
		place->project = mem_dup(inner);
	} else {
		result = error_set(err, "a path that is no UTF-8 cannot be kept in a journal");
	}
	json_decref(answer);
	return result;
}

int worktree_make(struct effective *effective, struct worktree *ret_worktree, struct error *err)
{
	const char *state = effective->place.state;
	AUTO_FREE char *all = client_work_trees(state);

	worktree_sweep(state);
	*ret_worktree = WORKTREE_INIT;
	ret_worktree->origin = mem_dup(effective->place.project);
	ret_worktree->id = client_reserve(state, err);
	if (!ret_worktree->id)
		return -1;
	ret_worktree->lock = make_folder(all, ret_worktree->id, ret_worktree->origin, err);
	if (ret_worktree->lock >= 0 && make(effective, ret_worktree, all, err) == 0)
		return 0;
	worktree_undo(state, ret_worktree);
	return -1;
}

void worktree_release(struct worktree *worktree)
{
	free(worktree->id);
	free(worktree->origin);
	free(worktree->root);
	fd_close(&worktree->lock);
	*worktree = WORKTREE_INIT;
}

/* ---- removing ---- */

int worktree_drop(const char *state, const char *id, const char *origin, bool force,
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
	/* A repository that is gone, or never was, has nothing to forget. */
	result = snapshot_run(&work, -1, &answer, &why);
	snapshot_release(&work);
	branch = result == 0 ? json_string_value(json_object_get(answer, "branch")) : NULL;
	*ret_kept = branch && strcmp(branch, "kept") == 0;
	json_decref(answer);
	return client_remove_folder(folder, bytes, err);
}

void worktree_undo(const char *state, struct worktree *worktree)
{
	struct client_loop loop = { 0 };
	struct error ignored;
	uint64_t bytes = 0;
	bool kept;

	if (!worktree->id)
		return;
	if (client_find(state, worktree->id, NULL, &loop, &ignored) < 0) {
		worktree_drop(state, worktree->id, worktree->origin, false, &bytes, &kept,
			      &ignored);
		client_give_back(state, worktree->id);
	}
	client_loop_release(&loop);
	worktree_release(worktree);
}

/* One that no loop has, and nobody is making. */
static void sweep_one(const char *state, const char *all, const char *id)
{
	AUTO_FREE char *folder = path_join(all, id);
	AUTO_FREE char *making = path_join(folder, MAKING);
	AUTO_FREE char *path = path_join(folder, ORIGIN);
	AUTO_BUFFER struct buffer origin = BUFFER_INIT(ORIGIN_BYTES);
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct worktree left = WORKTREE_INIT;

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
	worktree_undo(state, &left);
}

void worktree_sweep(const char *state)
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

int worktree_finish_apply(const char *state, const char *project, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, "finish", state, project, "none");
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result == 0 && json_is_true(json_object_get(answer, "recovered")))
		notice("an apply that was cut off has been finished first");
	json_decref(answer);
	return result;
}
