/*
 * ringfence-snapshot: everything that needs libgit2, in a separate process.
 *
 *	ringfence-snapshot TASK KEY=VALUE ...
 *
 * Output for the user goes to stdout; the result is one JSON object on descriptor 3. The client is
 * snapshot.h.
 */
#include "draft/draft.h"
#include "snapshot/apply/merged.h"
#include "snapshot/checkpoint.h"
#include "snapshot/combine.h"
#include "snapshot/gate.h"
#include "snapshot/store/boot.h"
#include "snapshot/undo/restore.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER = 3 };

static int open_private(struct snapshot_request *request, struct error *err)
{
	return gitwork_open(&request->git, &request->json, err);
}

static int look_private(struct snapshot_request *request, struct error *err)
{
	return gitwork_look(&request->git, &request->json, err);
}

static int import(struct snapshot_request *request, struct error *err)
{
	return gitwork_import(&request->git, &request->json, err);
}

static int apply(struct snapshot_request *request, struct error *err)
{
	return apply_branch(&request->apply, &request->json, err);
}

static int patch(struct snapshot_request *request, struct error *err)
{
	return apply_patch(&request->apply, &request->json, err);
}

static int finish(struct snapshot_request *request, struct error *err)
{
	return apply_finish(request->apply.project, &request->json, err);
}

static int merged(struct snapshot_request *request, struct error *err)
{
	return merged_report(request->apply.project, request->apply.theirs, request->apply.message,
			     &request->json, err);
}

static int worktree(struct snapshot_request *request, struct error *err)
{
	return worktree_add(&request->worktree, &request->json, err);
}

static int state(struct snapshot_request *request, struct error *err)
{
	return repo_state_report(&request->state, &request->json, err);
}

static int commit_leftovers(struct snapshot_request *request, struct error *err)
{
	return worktree_commit_leftovers(&request->worktree, &request->json, err);
}

static int uncommit_leftovers(struct snapshot_request *request, struct error *err)
{
	return worktree_uncommit_leftovers(&request->worktree, &request->json, err);
}

static int forget(struct snapshot_request *request, struct error *err)
{
	return gitwork_clean(&request->git, &request->json, err) < 0
		       ? -1
		       : worktree_remove(&request->worktree, &request->json, err);
}

/* Whether a task opens the checkpoint repository, and may also write to the project: always, or if
 * the project may have to be repaired after a reboot. */
enum opens { NO_STORE, STORE, STORE_AND_REPAIRS, STORE_AND_PROJECT };

/* All tasks of this program. */
static const struct task {
	const char *name;
	int (*run)(struct snapshot_request *request, struct error *err);
	enum opens opens;
	const char *needs; /* a required argument, or NULL */
} tasks[] = {
	{ "save", checkpoint_save, STORE_AND_REPAIRS },
	{ "base", checkpoint_base, STORE_AND_REPAIRS },
	{ "sync", checkpoint_sync },
	{ "list", checkpoint_list, STORE },
	{ "recover", checkpoint_begin, STORE_AND_PROJECT },
	{ "diff", checkpoint_diff, STORE },
	{ "examine", checkpoint_examine, STORE, "to" },
	{ "settle", checkpoint_settle, STORE, "to" },
	{ "break", checkpoint_break, STORE, "pinned" },
	{ "mutate", checkpoint_mutate, STORE, "pinned" },
	{ "pinned", checkpoint_pinned, STORE, "to" },
	{ "show", checkpoint_show, STORE },
	{ "holds", checkpoint_contains, STORE },
	{ "rollback", checkpoint_undo, STORE_AND_PROJECT },
	{ "restore", checkpoint_undo, STORE_AND_PROJECT },
	{ "prune", checkpoint_prune, STORE },
	{ "result", checkpoint_save, STORE, "draft" },
	{ "fork", checkpoint_fork, STORE, "other" },
	{ "combine", combine_loop, STORE_AND_PROJECT, "other" },
	{ "cross", gate_cross, STORE_AND_PROJECT },
	{ "rehearse", gate_rehearse, STORE, "draft" },
	{ "git-open", open_private, .needs = "folder" },
	{ "git-look", look_private, .needs = "folder" },
	{ "git-import", import, .needs = "folder" },
	{ "apply", apply, .needs = "branch" },
	{ "patch", patch, .needs = "branch" },
	{ "finish", finish },
	{ "merged", merged, .needs = "message" },
	{ "worktree", worktree, .needs = "folder" },
	{ "state", state },
	{ "seal", commit_leftovers },
	{ "unseal", uncommit_leftovers },
	{ "forget", forget },
};

static const struct task *find_task(const char *name)
{
	for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
		if (strcmp(tasks[i].name, name) == 0)
			return &tasks[i];
	return NULL;
}

/*
 * Reports whether a rollback was interrupted. The next task completes it, so it must be able to
 * write to the project.
 */
static bool is_undo_pending(const struct snapshot_request *request)
{
	const char *draft = request->look.draft;
	AUTO_FREE char *name = checkpoint_repo_file(RESTORE_NOTE,
						    draft ? request->look.loop : NULL);
	AUTO_FREE char *note = path_join(request->store, name);
	struct error ignored; /* nothing was ever restored in a draft that is incomplete */
	AUTO_FREE char *files = draft ? draft_files(draft, &ignored)
				      : mem_dup(request->look.project);
	AUTO_FREE char *stage = files ? path_join(files, LOOK_WALK_STAGE) : NULL;

	return access(note, F_OK) == 0 ||
	       (stage && faccessat(AT_FDCWD, stage, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

/* Reports whether there is something to repair the project from. */
static bool has_checkpoints(const struct snapshot_request *request)
{
	AUTO_FREE char *refs = mem_format("%s/refs/ringfence/%s", request->store,
					  request->look.loop);

	return access(refs, F_OK) == 0;
}

/* A draft is read without a cache, so only repairs depend on this. Its first scan is of the project
 * itself. */
static bool has_rebooted(const struct snapshot_request *request, enum opens opens)
{
	bool in_draft = request->look.draft && has_checkpoints(request);

	return !(in_draft && opens == STORE) &&
	       boot_is_new(request->store, in_draft ? request->look.loop : NULL);
}

/* Moves this process to a view in which the draft can be written. Root writes to the layers as
 * root, also if the command in the fence runs as another user. */
static int enter_draft(const struct look_options *look, struct error *err)
{
	const struct draft_view view = { .project = look->project,
					 .folder = look->draft,
					 .writable = true,
					 .root = geteuid() == 0 };

	return draft_enter(&view, err);
}

static int perform(struct snapshot_request *request, const char *name, struct error *err)
{
	const struct task *task = find_task(name);
	bool rebooted;
	bool repairs;
	int result;

	if (!task)
		return error_set(err, "ringfence-snapshot: unknown task '%s'", name);
	if (task->needs && !snapshot_request_has(request, task->needs))
		return error_set(err, "ringfence-snapshot %s: missing argument '%s'", name,
				 task->needs);
	if (task->opens == NO_STORE)
		return task->run(request, err);
	rebooted = has_rebooted(request, task->opens);
	repairs = task->opens == STORE_AND_PROJECT || is_undo_pending(request) ||
		  (task->opens == STORE_AND_REPAIRS && rebooted && has_checkpoints(request));
	request->in_view = repairs && request->look.draft;
	if (request->in_view && enter_draft(&request->look, err) < 0)
		return -1;
	result = checkpoint_repo_open(&request->repo, request->store,
				      repairs ? request->look.project : NULL, request->pinned, err);
	request->repo.rebooted = rebooted;
	request->repo.draft = request->look.draft ? request->look.loop : NULL;
	if (result == 0)
		result = task->run(request, err);
	checkpoint_repo_close(&request->repo);
	return result;
}

static int answer(struct snapshot_request *request, const struct error *err)
{
	AUTO_BUFFER struct buffer failure = BUFFER_INIT(1 << 16);
	struct json json = JSON_INIT(&failure);

	if (!err) {
		json_close(&request->json);
		return fd_write_all(ANSWER, request->answer.data, request->answer.used);
	}
	json_open(&json, NULL, '{');
	json_text(&json, "error", err->text);
	json_text(&json, "status", error_status_name(err->status));
	json_close(&json);
	return fd_write_all(ANSWER, failure.data, failure.used);
}

int main(int argc, char **argv)
{
	struct snapshot_request request = { .answer = BUFFER_INIT(64 << 20) };
	struct error err;
	int result = 0;

	env_init();
	signal(SIGPIPE, SIG_IGN);
	request.json = JSON_INIT(&request.answer);
	json_open(&request.json, NULL, '{');
	for (int i = 2; i < argc && result == 0; i++)
		result = snapshot_request_parse(&request, argv[i], &err);
	if (result == 0 &&
	    (argc < 2 || !snapshot_request_has(&request, "store") ||
	     !snapshot_request_has(&request, "loop") || !snapshot_request_has(&request, "project")))
		result = error_set(&err,
				   "ringfence-snapshot is started by ringfence, not directly");
	if (result == 0)
		result = perform(&request, argv[1], &err);
	if (fflush(stdout) != 0 && result == 0)
		result = differ_output_failed(&err);
	if (answer(&request, result < 0 ? &err : NULL) < 0)
		result = -1;
	buffer_release(&request.answer);
	list_release(&request.differ.paths);
	list_release(&request.gate.leave);
	list_release(&request.gate.pick);
	list_release(&request.prune.loops);
	list_release(&request.actions);
	list_release(&request.checks);
	pins_release(&request.pins);
	list_release(&request.git.hidden);
	return result < 0;
}
