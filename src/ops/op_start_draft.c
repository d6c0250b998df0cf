/* The draft of a new loop: see op_start_draft.h. */
#include "ops/op_start_draft.h"

#include "ops/op.h"
#include "snapshot/snapshot.h"
#include "util/buffer.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MAKING ".making-"

enum { PROJECT_BYTES = 1 << 16 };

/* Writes the note. It is locked before it has its name, so that nobody sweeps it. Returns the lock,
 * or -1 with err set. The id may be one that another process tries to use, or a killed one did. */
static int write_note(const char *state, const char *id, const char *project, struct error *err)
{
	AUTO_FREE char *loops = mem_format("%s/loops", state);
	AUTO_FREE char *name = mem_format(MAKING "%s", id);
	AUTO_FREE char *first = mem_format(".new-%s", id);
	AUTO_FD folder = open(loops, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD fd = openat(folder, first, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) < 0 || faccessat(folder, name, F_OK, 0) == 0))
		return error_with(err, ERROR_BUSY, "another process is starting the loop %s", id);
	if (fd < 0 || ftruncate(fd, 0) < 0 || fd_write_all(fd, project, strlen(project)) < 0 ||
	    durable_name(fd, folder, first, folder, name) < 0)
		return error_sys(err, "write '%s/%s'", loops, name);
	return fd_steal(&fd);
}

int op_start_draft_reserve(const char *state, const char *project, const char *id,
			   struct op_start_draft *ret_draft, struct error *err)
{
	op_start_draft_sweep(state);
	*ret_draft = OP_START_DRAFT_INIT;
	ret_draft->id = id ? client_reserve_id(state, id, err) : client_reserve(state, err);
	if (!ret_draft->id)
		return -1;
	ret_draft->folder = mem_format("%s/loops/%s/draft", state, ret_draft->id);
	ret_draft->lock = write_note(state, ret_draft->id, project, err);
	return ret_draft->lock < 0 ? -1 : 0;
}

static int save_base(const struct op_start_draft_request *request, const char *id,
		     char **ret_notice, struct error *err)
{
	struct snapshot_work work;
	struct snapshot_job job;
	json_t *answer = NULL;
	int result;

	if (request->from->from.id)
		return op_start_from_base(request->state, request->from, id, err);
	snapshot_begin(&work, "base", request->state, request->draft.view.project, id);
	snapshot_tell_number(&work, "ignored", request->checkpoint_ignored);
	result = snapshot_start(&work, -1, -1, &job, err);
	snapshot_release(&work);
	if (result < 0)
		return -1;
	snapshot_await(&job, request->progress, SNAPSHOT_SAVING);
	result = snapshot_end(&job, &answer, err);
	if (jsonget_string(answer, "notice"))
		*ret_notice = mem_dup(jsonget_string(answer, "notice"));
	json_decref(answer);
	return result;
}

/* In this order, a change that the user makes between the two steps may be in the draft, but is not
 * taken for something that they have undone. */
int op_start_draft_make(const struct op_start_draft_request *request,
			const struct op_start_draft *draft,
			struct op_start_draft_result *ret_result, struct error *err)
{
	struct draft_request making = request->draft;

	making.view.folder = draft->folder;
	if (save_base(request, draft->id, &ret_result->notice, err) < 0 ||
	    draft_make(&making, &ret_result->made, err) < 0)
		return -1;
	return request->from->from.id
		       ? op_start_from_fill(request->state, request->from, draft->id, draft->folder,
					    &ret_result->conflicts, err)
		       : 0;
}

void op_start_draft_result_release(struct op_start_draft_result *result)
{
	free(result->notice);
	list_release(&result->conflicts.texts);
	list_release(&result->conflicts.paths);
}

/* Removes the note, and everything that it stands for unless there is a loop. */
static void drop(const char *state, const char *id, const char *project)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", state, id);
	AUTO_FREE char *note = mem_format("%s/loops/" MAKING "%s", state, id);
	struct client_loop loop = { 0 };
	struct error ignored;
	uint64_t bytes = 0;

	if (client_find(state, id, NULL, &loop, &ignored) < 0) {
		op_drop_checkpoints(state, project, id, &bytes, &ignored);
		client_remove_folder(folder, &bytes, &ignored);
	}
	client_loop_release(&loop);
	unlink(note);
}

void op_start_draft_release(const char *state, const char *project, struct op_start_draft *draft)
{
	if (draft->id)
		drop(state, draft->id, project);
	fd_close(&draft->lock);
	free(draft->id);
	free(draft->folder);
	*draft = OP_START_DRAFT_INIT;
}

static void sweep_one(const char *state, int loops, const char *name)
{
	AUTO_BUFFER struct buffer project = BUFFER_INIT(PROJECT_BYTES);
	AUTO_FD fd = openat(loops, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fd_read_all(fd, &project) == 0)
		drop(state, name + strlen(MAKING), buffer_text(&project));
}

void op_start_draft_sweep(const char *state)
{
	AUTO_FREE char *loops = mem_format("%s/loops", state);
	DIR *dir = opendir(loops);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strncmp(entry->d_name, MAKING, strlen(MAKING)) == 0)
			sweep_one(state, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}
