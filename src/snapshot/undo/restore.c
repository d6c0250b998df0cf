/* Restores a project to a checkpoint. */
#include "snapshot/undo/restore.h"

#include "snapshot/base/fault.h"
#include "snapshot/look/hollow.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/restore_plan.h"
#include "snapshot/undo/restore_stage.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_BYTES = 1 << 16 };

struct restoring {
	struct checkpoint_repo *repo;
	struct restore_stage stage;
	uint32_t *placed; /* by group of hard links: the number of the staged file */
	uint32_t groups;
	struct buffer path;
	struct restore_result *result;
	struct error *err;
};

/* ---- staging missing files ---- */

static int stage_node(struct restoring *at, struct node *target)
{
	if (target->hollow == HOLLOW_MOVED)
		return error_with(
			at->err, ERROR_REFUSED,
			"the checkpoint has the content of a file that the fence hides as "
			"'%s', and that content is not in this draft, which is a copy",
			target->name);
	if (target->group && at->placed[target->group]) {
		target->staged = at->placed[target->group];
		return 0;
	}
	if (restore_stage_write(&at->stage, at->repo, target, at->err) < 0)
		return -1;
	if (target->group)
		at->placed[target->group] = target->staged;
	return 0;
}

static int stage_folder(struct restoring *at, const struct node *present, struct node *target)
{
	for (size_t i = 0; i < target->count; i++) {
		struct node *node = &target->inner[i];
		const struct node *was = present ? node_find(present, node->name) : NULL;

		if (node->kind == NODE_FOLDER) {
			if (stage_folder(at, was && was->kind == NODE_FOLDER ? was : NULL, node) <
			    0)
				return -1;
		} else if (node->kind == NODE_FILE || node->kind == NODE_LINK) {
			if (!restore_plan_stays(was, node) && stage_node(at, node) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- changing the project ---- */

static int fail(struct restoring *at, const char *what, const char *name)
{
	node_path_add(&at->path, name);
	return error_sys(at->err, "%s '%s'", what, buffer_text(&at->path));
}

static void add_kept(struct restoring *at, const char *name)
{
	size_t used = at->path.used;

	node_path_add(&at->path, name);
	list_add(&at->result->kept, buffer_text(&at->path));
	node_path_cut(&at->path, used);
}

/*
 * Opens a folder that its owner may lack permission for; its mode is set later, or it is removed.
 */
static int open_folder(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD place = -1;
	char path[64];

	if (fd >= 0 || errno != EACCES)
		return fd;
	place = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", place);
	if (place < 0 || chmod(path, 0700) < 0)
		return -1;
	return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int grant_owner(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -1;
	return (status.st_mode & 0700) == 0700 ? 0 : fchmod(fd, (status.st_mode & 07777) | 0700);
}

/* Removes only entries that the scan saw: a folder that holds anything else is kept. */
static int remove_node(struct restoring *at, int folder, const struct node *node)
{
	size_t used = at->path.used;
	AUTO_FD fd = -1;

	if (node->kind == NODE_IGNORED || node->kind == NODE_SKIPPED)
		return 0;
	fault_point();
	if (node->kind != NODE_FOLDER) {
		if (unlinkat(folder, node->name, 0) < 0 && errno != ENOENT)
			return fail(at, "remove", node->name);
		at->result->removed++;
		return 0;
	}
	fd = open_folder(folder, node->name);
	if (fd < 0 || grant_owner(fd) < 0)
		return fail(at, "open the folder", node->name);
	node_path_add(&at->path, node->name);
	for (size_t i = 0; i < node->count; i++)
		if (remove_node(at, fd, &node->inner[i]) < 0)
			return -1;
	node_path_cut(&at->path, used);
	if (unlinkat(folder, node->name, AT_REMOVEDIR) == 0) {
		at->result->removed++;
		return 0;
	}
	if (errno != ENOTEMPTY && errno != EEXIST)
		return fail(at, "remove", node->name);
	if (fchmod(fd, node->mode) < 0)
		return fail(at, "set the mode of", node->name);
	add_kept(at, node->name);
	return 0;
}

/* Moves a folder with ignored files out of the way of a file. */
static int move_aside(struct restoring *at, int folder, const char *name)
{
	for (int i = 1; i < 100; i++) {
		AUTO_FREE char *other = mem_format("%.200s.ringfence-kept-%d", name, i);

		if (renameat2(folder, name, folder, other, RENAME_NOREPLACE) == 0) {
			add_kept(at, other);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return fail(at, "move out of the way", name);
}

static int set_mode(struct restoring *at, int folder, const struct node *node)
{
	AUTO_FD place = openat(folder, node->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[64];

	fault_point();
	snprintf(path, sizeof path, "/proc/self/fd/%d", place);
	if (place < 0 || chmod(path, node->mode) < 0)
		return fail(at, "set the mode of", node->name);
	return 0;
}

static int place_node(struct restoring *at, int folder, const struct node *node)
{
	int result = restore_stage_place(&at->stage, node, folder);

	if (result < 0 && (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST)) {
		if (move_aside(at, folder, node->name) < 0)
			return -1;
		result = restore_stage_place(&at->stage, node, folder);
	}
	if (result < 0)
		return fail(at, "restore", node->name);
	at->result->written++;
	return 0;
}

static int make_pipe(struct restoring *at, int folder, const struct node *node)
{
	fault_point();
	if (mkfifoat(folder, node->name, 0600) < 0 && errno != EEXIST)
		return fail(at, "create the pipe", node->name);
	at->result->written++;
	return set_mode(at, folder, node);
}

static int restore_entries(struct restoring *at, int fd, const struct node *present,
			   struct node *target);

static int restore_folder(struct restoring *at, int folder, const struct node *was,
			  struct node *node)
{
	size_t used = at->path.used;
	AUTO_FD fd = -1;
	int result;

	if (was && was->kind != NODE_FOLDER)
		was = NULL;
	fault_point();
	if (!was && mkdirat(folder, node->name, 0700) == 0)
		at->result->written++;
	fd = open_folder(folder, node->name);
	if (fd < 0)
		return fail(at, "open the folder", node->name);
	node_path_add(&at->path, node->name);
	result = restore_entries(at, fd, was, node);
	node_path_cut(&at->path, used);
	return result;
}

static int restore_node(struct restoring *at, int fd, const struct node *was, struct node *node)
{
	switch (node->kind) {
	case NODE_FOLDER:
		return restore_folder(at, fd, was, node);
	case NODE_FILE:
	case NODE_LINK:
		if (node->staged)
			return place_node(at, fd, node);
		if (!was || node->kind == NODE_LINK || was->mode == node->mode)
			return 0;
		at->result->adjusted++;
		return set_mode(at, fd, node);
	case NODE_FIFO:
		if (was && was->kind == NODE_FIFO && was->mode == node->mode)
			return 0;
		return make_pipe(at, fd, node);
	case NODE_SKIPPED:
	case NODE_IGNORED:
	case NODE_KINDS:
		break;
	}
	return 0;
}

/* Reports whether an entry must be removed first. A file is replaced by a file in one step. */
static bool must_remove(const struct node *was, const struct node *target)
{
	if (!target)
		return true;
	if (target->kind == NODE_SKIPPED || target->kind == was->kind)
		return false;
	return was->kind == NODE_FOLDER || target->kind == NODE_FOLDER || target->kind == NODE_FIFO;
}

static int restore_entries(struct restoring *at, int fd, const struct node *present,
			   struct node *target)
{
	if (grant_owner(fd) < 0)
		return fail(at, "change the folder", ".");
	for (size_t i = 0; present && i < present->count; i++)
		if (must_remove(&present->inner[i], node_find(target, present->inner[i].name)) &&
		    remove_node(at, fd, &present->inner[i]) < 0)
			return -1;
	for (size_t i = 0; i < target->count; i++)
		if (restore_node(at, fd, present ? node_find(present, target->inner[i].name) : NULL,
				 &target->inner[i]) < 0)
			return -1;
	fault_point();
	if (present && present->mode != target->mode)
		at->result->adjusted++;
	if (fchmod(fd, target->mode) < 0)
		return fail(at, "set the mode of", ".");
	return 0;
}

/* ---- the whole operation ---- */

/* The record of an operation: what it restores, and the checkpoint that it makes, if any.
 *
 *	TREE[ NUMBER COMMIT LOOP]
 *	PATH
 */
struct note {
	git_oid tree, commit;
	int64_t number;
	char loop[NAME_MAX + 1]; /* "" if no checkpoint is made */
	char *path;
};

static struct note make_note(const struct look_options *options,
			     const struct restore_target *target)
{
	struct note note = { .tree = *target->tree, .path = (char *)target->path };

	if (target->record) {
		note.commit = target->record->commit;
		note.number = target->record->number;
		snprintf(note.loop, sizeof note.loop, "%s", options->loop);
	}
	return note;
}

static int write_note(struct checkpoint_repo *repo, const struct note *note, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(NOTE_BYTES);
	AUTO_FREE char *name = checkpoint_repo_file(RESTORE_NOTE, repo->draft);
	char id[GIT_OID_HEXSZ + 1];

	buffer_printf(&text, "%s", git_oid_tostr(id, sizeof id, &note->tree));
	if (*note->loop)
		buffer_printf(&text, " %lld %s %s", (long long)note->number,
			      git_oid_tostr(id, sizeof id, &note->commit), note->loop);
	buffer_printf(&text, "\n%s", note->path);
	if (buffer_overflowed(&text))
		return error_set(err, "the path is too long");
	return checkpoint_repo_write(repo, repo->folder, name, text.data, text.used, err);
}

/* Parses a note; its path points into the text. Returns 0, or -1. */
static int parse_note(char *text, struct note *ret_note)
{
	char *end = strchr(text, '\n');
	char number[24] = "";
	char tree[GIT_OID_HEXSZ + 1] = "";
	char commit[GIT_OID_HEXSZ + 1] = "";
	int fields;

	if (!end)
		return -1;
	*end = '\0';
	*ret_note = (struct note){ .path = end + 1 };
	fields = sscanf(text, "%40s %23s %40s %255s", tree, number, commit, ret_note->loop);
	ret_note->number = strtoll(number, NULL, 10);
	if ((fields != 1 && fields != 4) || git_oid_fromstr(&ret_note->tree, tree) < 0)
		return -1;
	return fields == 4 && git_oid_fromstr(&ret_note->commit, commit) < 0 ? -1 : 0;
}

/* Gives the checkpoint that the operation makes its number; also if it has it already. */
static int number_record(struct checkpoint_repo *repo, const struct note *note, struct error *err)
{
	return *note->loop
		       ? checkpoint_repo_number(repo, note->loop, note->number, &note->commit, err)
		       : 0;
}

bool restore_pending(const struct checkpoint_repo *repo)
{
	AUTO_FREE char *name = checkpoint_repo_file(RESTORE_NOTE, repo->draft);

	return faccessat(repo->folder, name, F_OK, 0) == 0;
}

static int find_last_group(void *context, struct node *node, const char *path)
{
	struct restoring *at = context;

	(void)path;
	at->groups = node->group > at->groups ? node->group : at->groups;
	return 0;
}

/* Builds the tree that the project should have. Without paths, everything is restored. */
static int make_target(struct checkpoint_repo *repo, const struct node *present,
		       const git_oid *tree, const struct list *paths, struct node *ret_target,
		       struct error *err)
{
	struct node loaded;
	struct node target;
	int result = 0;

	if (tree_reader_load(repo, tree, &loaded, err) < 0)
		return -1;
	if (!paths->count) {
		*ret_target = loaded;
		return 0;
	}
	node_copy(present, &target);
	for (size_t i = 0; i < paths->count && result == 0; i++)
		result = restore_plan_graft(&target, &loaded, paths->items[i], err);
	node_release(&loaded);
	if (result == 0)
		*ret_target = target;
	else
		node_release(&target);
	return result;
}

/* note: what to record, or NULL if nobody has to complete an interrupted operation. */
static int perform(struct restoring *at, int project, struct node *present, struct node *target,
		   const struct note *note)
{
	int result;

	restore_plan_links(present, target);
	node_each(target, find_last_group, at);
	at->placed = mem_zero((at->groups + 1) * sizeof *at->placed);
	if (restore_stage_open(project, &at->stage, at->err) < 0)
		return -1;
	result = stage_folder(at, present, target) < 0 ||
				 restore_stage_sync(&at->stage, at->err) < 0
			 ? -1
			 : 0;
	if (result == 0 && note)
		result = write_note(at->repo, note, at->err) < 0 ||
					 number_record(at->repo, note, at->err) < 0
				 ? -1
				 : 0;
	if (result == 0)
		result = restore_entries(at, project, present, target);
	/* The note may be on another file system than the project. */
	if (result == 0)
		result = restore_stage_sync(&at->stage, at->err);
	fault_point();
	restore_stage_close(&at->stage);
	return result;
}

/* Scans the project again and compares it with the target. */
static int verify(struct checkpoint_repo *repo, const struct look_options *options,
		  struct node *target, const struct restore_result *result, struct error *err)
{
	AUTO_FREE char *where = NULL;
	struct look after;
	int outcome = 0;

	if (look_scan(repo, options, &after, err) < 0 || look_finish(repo, &after, err) < 0) {
		look_release(&after);
		return -1;
	}
	where = restore_plan_difference(&after.walk.root, target, &result->kept);
	if (where)
		outcome = error_set(
			err,
			"'%s' does not match the checkpoint: another process changed the project "
			"during the restore (try again)",
			where);
	look_release(&after);
	return outcome;
}

static void remove_note(struct checkpoint_repo *repo)
{
	AUTO_FREE char *name = checkpoint_repo_file(RESTORE_NOTE, repo->draft);

	unlinkat(repo->folder, name, 0);
}

static int restore(struct checkpoint_repo *repo, const struct look_options *options,
		   struct look *present, const git_oid *tree, const struct list *paths,
		   const struct note *note, struct restore_result *ret_result, struct error *err)
{
	AUTO_FD project = open(options->project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct restoring at = {
		.repo = repo, .path = BUFFER_INIT(NODE_PATH_MAX), .result = ret_result, .err = err
	};
	struct node target;
	int result;

	*ret_result = (struct restore_result){ 0 };
	if (project < 0)
		return error_sys(err, "open the project '%s'", options->project);
	if (make_target(repo, &present->walk.root, tree, paths, &target, err) < 0)
		return -1;
	result = hollow_mark(repo, options, &target, err) < 0
			 ? -1
			 : perform(&at, project, &present->walk.root, &target, note);
	if (result == 0) {
		result = verify(repo, options, &target, ret_result, err);
		fault_point();
		/*
		 * A failed operation is repeated by the next task. One that finished is not: later
		 * changes by others must not be undone.
		 */
		if (note)
			remove_note(repo);
	}
	node_release(&target);
	free(at.placed);
	buffer_release(&at.path);
	return result;
}

int restore_project(struct checkpoint_repo *repo, const struct look_options *options,
		    struct look *present, const struct restore_target *target,
		    struct restore_result *ret_result, struct error *err)
{
	const struct note note = make_note(options, target);
	struct list paths = { 0 };
	int result;

	if (*target->path)
		list_add(&paths, target->path);
	result = restore(repo, options, present, target->tree, &paths, &note, ret_result, err);
	list_release(&paths);
	return result;
}

int restore_files(struct checkpoint_repo *repo, const struct look_options *options,
		  struct look *present, const git_oid *tree, const struct list *paths,
		  struct restore_result *ret_result, struct error *err)
{
	return restore(repo, options, present, tree, paths, NULL, ret_result, err);
}

/* Scans the project, and makes it match the target. */
static int scan_and_restore(struct checkpoint_repo *repo, const struct look_options *options,
			    const struct restore_target *target, struct error *err)
{
	struct restore_result result = { 0 };
	struct look present = { 0 };
	int outcome = look_scan(repo, options, &present, err) < 0 ||
				      look_finish(repo, &present, err) < 0 ||
				      restore_project(repo, options, &present, target, &result,
						      err) < 0
			      ? -1
			      : 0;

	look_release(&present);
	list_release(&result.kept);
	return outcome;
}

/* Completes an operation that makes a checkpoint. The one before it is of the project before the
 * operation: together they have the ignored files that the operation changes. */
static int complete_record(struct checkpoint_repo *repo, const struct look_options *options,
			   const struct note *note, struct error *err)
{
	const struct checkpoint_repo_item record = { .number = note->number,
						     .commit = note->commit };
	const struct restore_target target = { .tree = &note->tree,
					       .path = note->path,
					       .record = &record };
	struct look_options own = *options;
	struct checkpoint_repo_item before;
	struct node trees[2] = { 0 };
	int result;

	own.loop = note->loop;
	own.extra[0] = &trees[0];
	own.extra[1] = &trees[1];
	result = checkpoint_repo_read(repo, note->loop, note->number - 1, &before, err) < 0 ||
				 tree_reader_load(repo, &before.tree, &trees[0], err) < 0 ||
				 tree_reader_load(repo, &note->tree, &trees[1], err) < 0
			 ? -1
			 : scan_and_restore(repo, &own, &target, err);
	node_release(&trees[0]);
	node_release(&trees[1]);
	return result;
}

/* Completes the operation of a note. */
static int complete(struct checkpoint_repo *repo, const struct look_options *options,
		    const struct note *note, struct error *err)
{
	const struct restore_target target = { .tree = &note->tree, .path = note->path };

	return *note->loop ? complete_record(repo, options, note, err)
			   : scan_and_restore(repo, options, &target, err);
}

int restore_recover(struct checkpoint_repo *repo, const struct look_options *options,
		    bool *ret_done, struct error *err)
{
	AUTO_FREE char *name = checkpoint_repo_file(RESTORE_NOTE, repo->draft);
	AUTO_FD fd = openat(repo->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(NOTE_BYTES);
	AUTO_FD project = -1;
	struct note note;

	*ret_done = fd >= 0;
	project = open(options->project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) { /* interrupted before it changed anything */
		if (project >= 0 &&
		    faccessat(project, LOOK_WALK_STAGE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			dirwalk_remove(project, LOOK_WALK_STAGE, NULL);
		return 0;
	}
	if (fd_read_all(fd, &text) < 0 || !buffer_text(&text) ||
	    parse_note((char *)buffer_text(&text), &note) < 0)
		return error_set(err, "the record of an unfinished rollback, '%s/%s', is damaged",
				 repo->path, name);
	return complete(repo, options, &note, err);
}
