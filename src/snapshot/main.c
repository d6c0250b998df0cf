/*
 * ringfence-snapshot: what needs libgit2, as a process of its own.
 *
 *	ringfence-snapshot WORK KEY=VALUE ...
 *
 * It prints what a person asked to see on stdout, and what came of it as one JSON object into descriptor 3.
 * Whoever starts it is snapshot.h.
 */
#include "snapshot/checkpoint.h"
#include "snapshot/undo/restore.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"

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

static int worktree(struct snapshot_request *request, struct error *err)
{
	return worktree_add(&request->worktree, &request->json, err);
}

static int seal(struct snapshot_request *request, struct error *err)
{
	return worktree_seal(&request->worktree, &request->json, err);
}

static int unseal(struct snapshot_request *request, struct error *err)
{
	return worktree_unseal(&request->worktree, &request->json, err);
}

static int forget(struct snapshot_request *request, struct error *err)
{
	return gitwork_forget(&request->git, &request->json, err) < 0
		       ? -1
		       : worktree_remove(&request->worktree, &request->json, err);
}

/* The repository of checkpoints: opened to be written, alone or with the project. */
enum opens { NO_STORE, STORE, STORE_AND_PROJECT };

/* All that this program can do. */
static const struct work {
	const char *name;
	int (*run)(struct snapshot_request *request, struct error *err);
	enum opens opens;
	const char *needs; /* a key without which it makes no sense; NULL: none */
} works[] = {
	{ "save", checkpoint_save, STORE },
	{ "list", checkpoint_list, STORE },
	{ "diff", checkpoint_diff, STORE },
	{ "show", checkpoint_show, STORE },
	{ "holds", checkpoint_holds, STORE },
	{ "rollback", checkpoint_undo, STORE_AND_PROJECT },
	{ "restore", checkpoint_undo, STORE_AND_PROJECT },
	{ "prune", checkpoint_prune, STORE },
	{ "git-open", open_private, .needs = "folder" },
	{ "git-import", import, .needs = "folder" },
	{ "apply", apply, .needs = "branch" },
	{ "patch", patch, .needs = "branch" },
	{ "finish", finish },
	{ "worktree", worktree, .needs = "folder" },
	{ "seal", seal },
	{ "unseal", unseal },
	{ "forget", forget },
};

static const struct work *find_work(const char *name)
{
	for (size_t i = 0; i < sizeof works / sizeof *works; i++)
		if (strcmp(works[i].name, name) == 0)
			return &works[i];
	return NULL;
}

/* Is something left of a rollback that was cut off? Then whoever comes next finishes it. */
static bool is_left(const struct snapshot_request *request)
{
	AUTO_FREE char *note = path_join(request->store, RESTORE_NOTE);
	AUTO_FREE char *stage = path_join(request->look.project, LOOK_WALK_STAGE);

	return access(note, F_OK) == 0 ||
	       faccessat(AT_FDCWD, stage, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int perform(struct snapshot_request *request, const char *name, struct error *err)
{
	const struct work *work = find_work(name);
	int result;

	if (!work)
		return error_set(err, "ringfence-snapshot cannot '%s'", name);
	if (work->needs && !snapshot_request_has(request, work->needs))
		return error_set(err, "ringfence-snapshot %s needs a %s", name, work->needs);
	if (work->opens == NO_STORE)
		return work->run(request, err);
	result = checkpoint_repo_open(&request->depot, request->store,
				      work->opens == STORE_AND_PROJECT || is_left(request)
					      ? request->look.project
					      : NULL,
				      err);
	if (result == 0)
		result = work->run(request, err);
	checkpoint_repo_close(&request->depot);
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

	signal(SIGPIPE, SIG_IGN);
	request.json = JSON_INIT(&request.answer);
	json_open(&request.json, NULL, '{');
	for (int i = 2; i < argc && result == 0; i++)
		result = snapshot_request_take(&request, argv[i], &err);
	if (result == 0 &&
	    (argc < 2 || !snapshot_request_has(&request, "store") ||
	     !snapshot_request_has(&request, "loop") || !snapshot_request_has(&request, "project")))
		result = error_set(&err, "ringfence-snapshot is started by ringfence");
	if (result == 0)
		result = perform(&request, argv[1], &err);
	if (fflush(stdout) != 0 && result == 0)
		result = differ_output_failed(&err);
	if (answer(&request, result < 0 ? &err : NULL) < 0)
		result = -1;
	buffer_release(&request.answer);
	list_release(&request.differ.paths);
	list_release(&request.prune.loops);
	return result < 0;
}
