/* Operations on checkpoints. */
#include "snapshot/checkpoint.h"

#include "snapshot/look/tally.h"
#include "snapshot/store/boot.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/changes.h"
#include "snapshot/undo/repair.h"
#include "snapshot/undo/restore.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_checkpoint(struct json *json, const struct checkpoint_repo_item *checkpoint)
{
	char id[GIT_OID_HEXSZ + 1];

	json_number(json, "number", (uint64_t)checkpoint->number);
	json_text(json, "kind", checkpoint->kind);
	json_number(json, "iteration", (uint64_t)checkpoint->iteration);
	json_number(json, "at_ms", (uint64_t)checkpoint->at_ms);
	json_number(json, "files", checkpoint->files);
	json_number(json, "bytes", checkpoint->bytes);
	json_number(json, "skipped", checkpoint->skipped);
	json_text(json, "commit", git_oid_tostr(id, sizeof id, &checkpoint->commit));
}

/* Lists the first files that were not saved. */
struct skipped {
	struct json *json;
	int count;
};

static int write_skipped(void *context, struct node *node, const char *path)
{
	enum { MOST = 100 };
	struct skipped *skipped = context;
	struct json *json = skipped->json;

	if (node->kind != NODE_SKIPPED || skipped->count++ >= MOST)
		return 0;
	json_open(json, NULL, '{');
	json_text(json, "path", path);
	json_text(json, "why", node_why_text(node->why));
	json_close(json);
	return 0;
}

int checkpoint_begin(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	bool done;

	if (checkpoint_repo_lock(repo, err) < 0 || checkpoint_repo_check_space(repo, err) < 0)
		return -1;
	pack_clean(repo->path);
	if (restore_recover(repo, &request->look, &done, err) < 0)
		return -1;
	if (done)
		json_flag(&request->json, "recovered", true);
	return 0;
}

/* Prunes after a checkpoint, when the repository exceeds a limit; or merges its packs. */
static int prune_if_needed(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct prune_result done;

	struct error ignored; /* the next checkpoint tries it again */

	request->prune.present = request->look.loop;
	if (!prune_needed(repo, &request->prune)) {
		pack_merge(repo, &ignored);
		return 0;
	}
	if (prune_store(repo, &request->prune, &done, err) < 0)
		return -1;
	json_number(&request->json, "pruned", done.removed);
	return 0;
}

/* Facts for the loop. Skipped while an agent is working: it would invalidate them at once. */
static void write_tally(struct snapshot_request *request, struct look *look)
{
	const char *since = request->save.since;
	struct checkpoint_repo_item from;
	struct error unknown; /* `since` may have been pruned */
	char hash[SHA256_HEX];
	uint64_t changed;

	if (request->look.live)
		return;
	tally_hash(&look->walk.root, hash);
	json_open(&request->json, "tally", '{');
	json_number(&request->json, "files", look->walk.files);
	json_number(&request->json, "bytes", look->walk.bytes);
	json_text(&request->json, "tree", hash);
	if (since &&
	    checkpoint_repo_read(&request->repo, request->look.loop, strtoll(since, NULL, 10),
				 &from, &unknown) == 0 &&
	    tally_changed(&look->reader, &from, &look->walk.root, &changed, &unknown) == 0)
		json_number(&request->json, "changed", changed);
	json_close(&request->json);
}

/* ---- syncing the work ---- */

/* A sync that runs beside a scan. */
struct syncing {
	const struct snapshot_request *request;
	pthread_t thread;
	bool started;
	int error; /* errno, or 0 */
};

static dev_t device_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) < 0 ? 0 : status.st_dev;
}

/* Syncs what an agent can write: the project, and in the state folder its git directory and its
 * sessions. */
static void *sync_work(void *argument)
{
	struct syncing *syncing = argument;
	const struct snapshot_request *request = syncing->request;
	AUTO_FD project = open(request->look.project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *place = request->repo.path ? request->repo.path : request->git.import.folder;
	AUTO_FD state = place ? open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (project < 0 || syncfs(project) < 0 ||
	    (state >= 0 && device_of(state) != device_of(project) && syncfs(state) < 0))
		syncing->error = errno;
	return NULL;
}

static void start_sync(struct syncing *syncing, const struct snapshot_request *request)
{
	*syncing = (struct syncing){ .request = request };
	syncing->started = pthread_create(&syncing->thread, NULL, sync_work, syncing) == 0;
	if (!syncing->started)
		sync_work(syncing);
}

static int finish_sync(struct syncing *syncing, struct error *err)
{
	if (syncing->started)
		pthread_join(syncing->thread, NULL);
	errno = syncing->error;
	return errno ? error_sys(err, "sync the disk of '%s'", syncing->request->look.project) : 0;
}

int checkpoint_sync(struct snapshot_request *request, struct error *err)
{
	struct syncing syncing = { .request = request };

	sync_work(&syncing);
	return finish_sync(&syncing, err);
}

/* ---- saving ---- */

/* Scans the project. After a reboot, files that a power cut has emptied are restored first. */
static int scan(struct snapshot_request *request, struct look *look, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct look_options options = request->look;
	struct list repaired = { 0 };
	int result;

	options.sparse = options.live || !repo->rebooted;
	result = look_scan(repo, &options, look, err);
	if (result < 0 || request->look.live)
		return result;
	if (!repo->rebooted)
		return repo->draft && !boot_is_recorded(repo) ? boot_record(repo, err) : 0;
	result = repair_project(repo, &options, look, &repaired, err);
	repo->rebooted = false;
	if (result == 0 && repaired.count) {
		json_list(&request->json, "repaired", &repaired);
		look_release(look);
		result = look_scan(repo, &options, look, err);
	}
	list_release(&repaired);
	return result < 0 ? -1 : boot_record(repo, err);
}

/* The first checkpoint of a draft is the project as the draft began. Another one in its place would
 * have the user's later changes, and an apply would take them for old. */
static int check_base(const struct snapshot_request *request, struct error *err)
{
	const char *id = request->look.loop;

	if (!request->look.draft || strcmp(request->save.kind, "start") == 0 ||
	    checkpoint_repo_last(&request->repo, id) >= 0)
		return 0;
	return error_with(err, ERROR_NOT_FOUND,
			  "the checkpoints of %s are lost, so its changes cannot be told from your "
			  "own: bring '%s' back from a backup, or copy files from '%s'; commits of "
			  "a loop are in the branch ringfence/%s",
			  id, request->store, request->look.draft, id);
}

/* Copies the ignore rules of the other loop. */
static int fork_rules(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	AUTO_FD rules = openat(repo->folder, "rules", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(IGNORE_RULES_BYTES);

	if (rules < 0 || fd_read_file(rules, request->other, &bytes) < 0)
		return errno == ENOENT
			       ? 0 /* everything is saved */
			       : error_sys(err, "read the ignore rules of %s", request->other);
	return checkpoint_repo_write(repo, rules, request->look.loop, buffer_text(&bytes),
				     bytes.used, err);
}

int checkpoint_fork(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct checkpoint_repo_item first;

	if (checkpoint_repo_lock(repo, err) < 0 || checkpoint_repo_check_space(repo, err) < 0 ||
	    checkpoint_repo_git(repo, err) < 0 ||
	    checkpoint_repo_read(repo, request->other, 0, &first, err) < 0 ||
	    fork_rules(request, err) < 0)
		return -1;
	return checkpoint_repo_number(repo, request->look.loop, 0, &first.commit, err);
}

static int save(struct snapshot_request *request, struct look *look,
		struct checkpoint_repo_item *ret_made, bool *ret_same, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	bool live = request->look.live;
	struct syncing syncing;
	int result;

	if (checkpoint_begin(request, err) < 0 || check_base(request, err) < 0)
		return -1;
	if (!live)
		start_sync(&syncing, request);
	result = scan(request, look, err) < 0 ||
				 save_checkpoint(repo, &request->look, look, &request->save,
						 ret_made, ret_same, err) < 0
			 ? -1
			 : 0;
	if (!live && finish_sync(&syncing, err) < 0)
		result = -1;
	return result;
}

/* Lists the first paths that others changed in the project since the draft began. */
static void write_edited(struct snapshot_request *request, const struct changes *changes)
{
	enum { MOST = 20 };
	struct json *json = &request->json;

	json_open(json, "edited", '[');
	for (size_t i = 0; i < changes->count && i < MOST; i++)
		json_text(json, NULL, changes->items[i].path);
	json_close(json);
	json_number(json, "edited_count", changes->count);
}

/* Writes the differences between two trees. */
static int compare_edited(struct snapshot_request *request, const git_oid *base, const git_oid *now,
			  struct error *err)
{
	const struct list everything = { 0 };
	struct changes changes = { 0 };
	struct tree_reader readers[2];
	struct node trees[2] = { { 0 } };
	int result = tree_reader_start(&readers[0], &request->repo, base, &trees[0], err) < 0 ||
				     tree_reader_start(&readers[1], &request->repo, now, &trees[1],
						       err) < 0 ||
				     tree_reader_open_differing(&readers[0], &trees[0], &readers[1],
								&trees[1], err) < 0
			     ? -1
			     : 0;

	if (result == 0) {
		changes_find(&trees[0], &trees[1], &everything, &changes);
		write_edited(request, &changes);
	}
	changes_release(&changes);
	node_release(&trees[0]);
	node_release(&trees[1]);
	return result;
}

/* Compares the project itself with the base of the draft. Nothing there is changed, as while an
 * agent is working. */
static int find_edited(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct look_options options = request->look;
	struct checkpoint_repo_item first;
	struct look look = { 0 };
	int result;

	options.draft = NULL;
	options.live = true;
	result = checkpoint_repo_read(repo, request->look.loop, 0, &first, err) < 0 ||
				 look_scan(repo, &options, &look, err) < 0 ||
				 look_finish(repo, &look, err) < 0
			 ? -1
			 : 0;
	if (result == 0)
		result = compare_edited(request, &first.tree, &look.tree, err);
	if (result == 0)
		json_number(&request->json, "edited_read", look.walk.content.files);
	look_release(&look);
	return result;
}

int checkpoint_save(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo_item made;
	struct look look = { 0 };
	bool same;
	int result = save(request, &look, &made, &same, err);

	if (result == 0)
		write_tally(request, &look);
	if (result == 0 && !same)
		result = prune_if_needed(request, err);
	if (result == 0) {
		write_checkpoint(&request->json, &made);
		json_flag(&request->json, "same", same);
		json_number(&request->json, "read_files", look.walk.content.files);
		json_number(&request->json, "read_bytes", look.walk.content.read);
		json_number(&request->json, "read_folders", look.reader.trees);
		json_number(&request->json, "torn", look.walk.content.torn);
		json_flag(&request->json, "ignored_changed", look.walk.ignored_changed);
		json_number(&request->json, "stored_bytes", pack_bytes(look.pack));
		json_open(&request->json, "not_kept", '[');
		node_each(&look.walk.root, write_skipped, &(struct skipped){ &request->json, 0 });
		json_close(&request->json);
		if (look.notice)
			json_text(&request->json, "notice", look.notice);
	}
	/* The base has just been made if it is neither a later checkpoint nor an old one. */
	if (result == 0 && request->edited && (made.number > 0 || same) && !request->in_view)
		result = find_edited(request, err);
	look_release(&look);
	return result;
}

int checkpoint_base(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo_item made;
	struct look look = { 0 };
	bool same;
	int result;

	request->save.kind = "start";
	result = save(request, &look, &made, &same, err);
	if (result == 0 && !same)
		result = prune_if_needed(request, err);
	if (result == 0 && look.notice)
		json_text(&request->json, "notice", look.notice);
	look_release(&look);
	return result;
}

static int write_item(void *context, const struct checkpoint_repo_item *checkpoint,
		      struct error *err)
{
	struct json *json = context;

	(void)err;
	json_open(json, NULL, '{');
	write_checkpoint(json, checkpoint);
	json_close(json);
	return 0;
}

int checkpoint_list(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	int result;

	json_flag(&request->json, "pending", restore_pending(repo));
	json_open(&request->json, "checkpoints", '[');
	result = checkpoint_repo_each(repo, request->look.loop, write_item, &request->json, err);
	json_close(&request->json);
	return result;
}

int checkpoint_undo(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct restore_result done = { 0 };
	struct checkpoint_repo_item target, saved;
	struct look look = { 0 };
	bool same;
	int result = -1;

	request->save.kind = "undo";
	if (checkpoint_begin(request, err) == 0 &&
	    checkpoint_repo_read(repo, request->look.loop, strtoll(request->from, NULL, 10),
				 &target, err) == 0 &&
	    look_scan(repo, &request->look, &look, err) == 0 &&
	    save_checkpoint(repo, &request->look, &look, &request->save, &saved, &same, err) == 0)
		result = restore_project(repo, &request->look, &look,
					 &(struct restore_target){
						 .tree = &target.tree,
						 .path = request->path ? request->path : "" },
					 &done, err);
	if (result == 0) {
		json_number(&request->json, "number", (uint64_t)target.number);
		json_number(&request->json, "saved", (uint64_t)saved.number);
		json_number(&request->json, "written", done.written);
		json_number(&request->json, "removed", done.removed);
		json_number(&request->json, "adjusted", done.adjusted);
		json_list(&request->json, "kept", &done.kept);
	}
	list_release(&done.kept);
	look_release(&look);
	return result;
}

int checkpoint_prune(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct prune_result done;
	bool recovered;

	if (checkpoint_repo_lock(repo, err) < 0)
		return -1;
	pack_clean(repo->path);
	/* An interrupted operation may need what is removed now. */
	if (access(request->look.project, F_OK) == 0 &&
	    restore_recover(repo, &request->look, &recovered, err) < 0)
		return -1;
	if (prune_store(repo, &request->prune, &done, err) < 0)
		return -1;
	json_number(&request->json, "removed", done.removed);
	json_number(&request->json, "bytes_before", done.bytes_before);
	json_number(&request->json, "bytes_after", done.bytes_after);
	return 0;
}
