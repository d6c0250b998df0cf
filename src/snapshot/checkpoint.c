/* Operations on checkpoints. */
#include "snapshot/checkpoint.h"

#include "snapshot/look/tally.h"
#include "snapshot/store/boot.h"
#include "snapshot/store/pack.h"
#include "snapshot/undo/broken.h"
#include "snapshot/undo/changes.h"
#include "snapshot/undo/findings.h"
#include "snapshot/undo/pinned.h"
#include "snapshot/undo/repair.h"
#include "snapshot/undo/restore.h"
#include "snapshot/undo/restore_stage.h"
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
static void write_tally(struct snapshot_request *request, const struct look *look)
{
	const char *since = request->save.since;
	struct checkpoint_repo_item from;
	struct error unknown; /* `since` may have been pruned */
	struct tally tally;
	uint64_t changed;

	if (request->look.live)
		return;
	tally_count(&look->walk.root, &tally);
	json_open(&request->json, "tally", '{');
	json_number(&request->json, "files", tally.files);
	json_number(&request->json, "bytes", tally.bytes);
	json_text(&request->json, "tree", tally.tree);
	if (since &&
	    checkpoint_repo_read(&request->repo, request->look.loop, strtoll(since, NULL, 10),
				 &from, &unknown) == 0 &&
	    tally_changed(&request->repo, &from, &look->walk.root, &changed, &unknown) == 0)
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
	struct list repaired = { 0 };
	int result = look_scan(repo, &request->look, look, err);

	if (result < 0 || request->look.live)
		return result;
	if (!repo->rebooted)
		return repo->draft && !boot_is_recorded(repo) ? boot_record(repo, err) : 0;
	result = repair_project(repo, &request->look, look, &repaired, err);
	repo->rebooted = false;
	if (result == 0 && repaired.count) {
		json_list(&request->json, "repaired", &repaired);
		look_release(look);
		result = look_scan(repo, &request->look, look, err);
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

static int save(struct snapshot_request *request, struct look *look,
		struct checkpoint_repo_item *ret_made, bool *ret_same, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct syncing syncing;
	int result;

	if (checkpoint_begin(request, err) < 0 || check_base(request, err) < 0)
		return -1;
	if (!request->look.live)
		start_sync(&syncing, request);
	result = scan(request, look, err) < 0 ||
				 save_checkpoint(repo, &request->look, look, &request->save,
						 ret_made, ret_same, err) < 0
			 ? -1
			 : 0;
	if (!request->look.live && finish_sync(&syncing, err) < 0)
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

/* Compares the project itself with the base of the draft. Nothing there is changed, as while an
 * agent is working. */
static int find_edited(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct look_options options = request->look;
	const struct list everything = { 0 };
	struct checkpoint_repo_item first;
	struct changes changes = { 0 };
	struct node base = { 0 };
	struct look look = { 0 };
	int result;

	options.draft = NULL;
	options.live = true;
	result = checkpoint_repo_read(repo, request->look.loop, 0, &first, err) < 0 ||
				 look_scan(repo, &options, &look, err) < 0 ||
				 look_finish(repo, &look, err) < 0
			 ? -1
			 : 0;
	if (result == 0 && !git_oid_equal(&first.tree, &look.tree))
		result = checkpoint_repo_load(repo, &first.tree, &base, err);
	if (result == 0) {
		if (!git_oid_equal(&first.tree, &look.tree))
			changes_find(&base, &look.walk.root, &everything, &changes);
		write_edited(request, &changes);
		json_number(&request->json, "edited_read", look.walk.content.files);
	}
	changes_release(&changes);
	look_release(&look);
	node_release(&base);
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

/* One side of a diff: a checkpoint, or the current project if number is NULL. */
static int load_side(struct snapshot_request *request, const char *number, struct node *ret_root,
		     struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct checkpoint_repo_item checkpoint;
	struct look look = { 0 };
	int result = -1;

	if (number)
		return checkpoint_repo_read(repo, request->look.loop, strtoll(number, NULL, 10),
					    &checkpoint, err) < 0
			       ? -1
			       : checkpoint_repo_load(repo, &checkpoint.tree, ret_root, err);
	if (checkpoint_begin(request, err) == 0 &&
	    look_scan(repo, &request->look, &look, err) == 0 &&
	    look_finish(repo, &look, err) == 0) {
		*ret_root = look.walk.root;
		look.walk.root = (struct node){ 0 };
		result = 0;
	}
	look_release(&look);
	fd_close(&repo->lock); /* the reader of the output may be slow */
	return result;
}

static enum differ_style style_of(const char *word)
{
	word = word ? word : "";
	return strcmp(word, "stat") == 0    ? DIFFER_STAT
	       : strcmp(word, "names") == 0 ? DIFFER_NAMES
	       : strcmp(word, "json") == 0  ? DIFFER_JSON
					    : DIFFER_PATCH;
}

/* Compares two sides with one of the functions below. */
static int compare(struct snapshot_request *request,
		   int (*with)(struct snapshot_request *request, struct node *old, struct node *new,
			       struct error *err),
		   struct error *err)
{
	struct node old = { 0 }, new = { 0 };
	int result = load_side(request, request->to, &new, err);

	if (result == 0)
		result = load_side(request, request->from ? request->from : "0", &old, err);
	if (result == 0)
		result = with(request, &old, &new, err);
	node_release(&old);
	node_release(&new);
	return result;
}

static int print_diff(struct snapshot_request *request, struct node *old, struct node *new,
		      struct error *err)
{
	request->differ.style = style_of(request->style);
	if (request->findings)
		return findings_print(&request->repo, old, new, &request->actions, &request->differ,
				      stdout, err);
	return differ_print(&request->repo, old, new, &request->differ, stdout, err);
}

int checkpoint_diff(struct snapshot_request *request, struct error *err)
{
	return compare(request, print_diff, err);
}

static void add_checks(struct snapshot_request *request)
{
	for (size_t i = 0; i < request->checks.count; i++)
		pins_add_check(&request->pins, request->look.project, request->checks.items[i]);
}

static struct pinned_request pinned_request_of(struct snapshot_request *request, struct node *old,
					       struct node *new)
{
	add_checks(request);
	return (struct pinned_request){ .repo = &request->repo,
					.base = old,
					.now = new,
					.pins = &request->pins,
					.project = request->look.project,
					.draft = request->look.draft };
}

/* Writes the pinned files that differ, and adds their paths. */
static int write_pinned(struct snapshot_request *request, struct node *old, struct node *new,
			struct list *paths, struct error *err)
{
	const struct pinned_request pinned = pinned_request_of(request, old, new);

	return pinned_write(&pinned, request->pinned, &request->json, paths, err);
}

static int list_pinned(struct snapshot_request *request, struct node *old, struct node *new,
		       struct error *err)
{
	struct list paths = { 0 };
	int result = write_pinned(request, old, new, &paths, err);

	list_release(&paths);
	return result;
}

int checkpoint_pinned(struct snapshot_request *request, struct error *err)
{
	return compare(request, list_pinned, err);
}

static int write_findings(struct snapshot_request *request, struct node *old, struct node *new,
			  struct error *err)
{
	struct list paths = { 0 };
	int result = request->pinned ? write_pinned(request, old, new, &paths, err) : 0;

	if (result == 0)
		result = findings_write(&request->repo, old, new, &request->actions, &paths,
					&request->json, err);
	list_release(&paths);
	return result;
}

int checkpoint_examine(struct snapshot_request *request, struct error *err)
{
	return compare(request, write_findings, err);
}

static int settle_views(struct snapshot_request *request, struct node *old, struct node *new,
			struct error *err)
{
	const struct pinned_request pinned = pinned_request_of(request, old, new);

	return pinned_settle(&pinned, request->pinned, err);
}

int checkpoint_settle(struct snapshot_request *request, struct error *err)
{
	return compare(request, settle_views, err);
}

int checkpoint_break(struct snapshot_request *request, struct error *err)
{
	struct node base = { 0 };
	int result = load_side(request, "0", &base, err);

	add_checks(request);
	if (result == 0)
		result = broken_write_all(&base, &request->pins, request->pinned, &request->json,
					  err);
	node_release(&base);
	return result;
}

/* The checks see the pinned files of the base, as with the work itself. */
static int write_mutant(struct snapshot_request *request, struct node *old, struct node *new,
			struct error *err)
{
	const struct broken_choice choice = { (size_t)request->most, (size_t)request->index,
					      &request->actions };

	return list_pinned(request, old, new, err) < 0
		       ? -1
		       : broken_write_mutant(&request->repo, old, new, &request->pins, &choice,
					     request->pinned, &request->json, err);
}

int checkpoint_mutate(struct snapshot_request *request, struct error *err)
{
	return compare(request, write_mutant, err);
}

static int print_part(void *context, const void *bytes, size_t size, uint64_t offset,
		      struct error *err)
{
	const struct snapshot_request *request = context;

	(void)offset;
	(void)err;
	differ_show(stdout, bytes, size, request->differ.terminal);
	return 0;
}

static void print_entries(const struct node *folder, bool terminal)
{
	for (size_t i = 0; i < folder->count; i++) {
		const struct node *node = &folder->inner[i];

		differ_show(stdout, node->name, strlen(node->name), terminal);
		puts(node->kind == NODE_FOLDER ? "/" : "");
	}
}

/* Zero blocks of large files are not stored; they are printed here. */
struct filling {
	const struct snapshot_request *request;
	uint64_t at;
};

static int fill_to(struct filling *filling, uint64_t offset)
{
	static const char zeros[1 << 16];

	while (filling->at < offset) {
		size_t part = offset - filling->at < sizeof zeros ? (size_t)(offset - filling->at)
								  : sizeof zeros;

		if (fwrite(zeros, 1, part, stdout) != part)
			return -1;
		filling->at += part;
	}
	return 0;
}

static int print_piece(void *context, const void *bytes, size_t size, uint64_t offset,
		       struct error *err)
{
	struct filling *filling = context;

	if (fill_to(filling, offset) < 0)
		return differ_output_failed(err);
	filling->at += size;
	return print_part((void *)filling->request, bytes, size, offset, err);
}

/*
 * Finds the requested path in its checkpoint. Returns 0, or -1 with err set; the caller releases
 * root in both cases.
 */
static int find_path(struct snapshot_request *request, struct node *root, struct node **ret_node,
		     struct error *err)
{
	struct node *node;

	if (load_side(request, request->from, root, err) < 0)
		return -1;
	node = node_at(root, request->path);
	if (!node || node->kind == NODE_SKIPPED)
		return error_set(err, "checkpoint %s does not contain '%s'%s%s", request->from,
				 request->path, node ? ": " : "",
				 node ? node_why_text(node->why) : "");
	*ret_node = node;
	return 0;
}

int checkpoint_contains(struct snapshot_request *request, struct error *err)
{
	struct node root = { 0 };
	struct node *node;
	int result = find_path(request, &root, &node, err);

	node_release(&root);
	return result;
}

int checkpoint_show(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct node root = { 0 };
	struct filling filling = { .request = request };
	struct node *node = NULL;
	int result = find_path(request, &root, &node, err);

	if (result == 0 && node->kind == NODE_FOLDER)
		print_entries(node, request->differ.terminal);
	else if (result == 0 && node->kind != NODE_FIFO)
		result = restore_stage_read(repo, node, print_piece, &filling, err);
	if (result == 0 && node->chunked && fill_to(&filling, node->size) < 0)
		result = differ_output_failed(err);
	node_release(&root);
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
