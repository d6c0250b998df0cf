/* Merging a loop's commits into the user's branch: see op_apply.h. */
#include "ops/op_apply.h"

#include "ops/apply_pins.h"
#include "ops/apply_question.h"
#include "snapshot/snapshot.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Returns the message of the new commit on the user's branch. The caller frees it. */
static char *commit_message(const struct op_apply_request *request, const struct client_loop *loop,
			    const char *theirs)
{
	AUTO_FREE char *line = client_subject(&loop->state.options);

	if (request->squash)
		return mem_format("%s\n\n" OP_APPLY_SQUASHED "\n", line, loop->id, theirs);
	return mem_format("Merge branch 'ringfence/%s'\n\n%s\n", loop->id, line);
}

/* One request to ringfence-snapshot about the user's repository. */
struct job {
	const char *name;
	bool dry;
	const json_t *previewed; /* the answer of the preview, or NULL */
	int output;
	bool terminal;
};

static int perform(const struct op_apply_request *request, const struct client_loop *loop,
		   const struct job *job, json_t **ret_answer, struct error *err)
{
	AUTO_FREE char *branch = mem_format("refs/heads/ringfence/%s", loop->id);
	AUTO_FREE char *log = mem_format("ringfence apply: %s", loop->id);
	AUTO_FREE char *text =
		commit_message(request, loop,
			       job->previewed ? jsonget_text(job->previewed, "theirs") : "");
	struct snapshot_work work;
	int result;

	snapshot_begin(&work, job->name, request->target.state, request->target.project, loop->id);
	snapshot_tell(&work, "branch", branch);
	snapshot_tell(&work, "message", text);
	snapshot_tell(&work, "log", log);
	if (request->remote)
		snapshot_tell(&work, "remote", request->remote);
	snapshot_tell_number(&work, "squash", request->squash);
	snapshot_tell_number(&work, "here",
			     !loop->state.options.work_tree && !loop->state.options.draft);
	snapshot_tell_number(&work, "dry", job->dry);
	snapshot_tell_number(&work, "terminal", job->terminal);
	if (job->previewed) {
		snapshot_tell(&work, "tree", jsonget_text(job->previewed, "tree"));
		snapshot_tell(&work, "theirs", jsonget_text(job->previewed, "theirs"));
	}
	result = snapshot_run(&work, job->output, ret_answer, err);
	snapshot_release(&work);
	return result;
}

/* ---- the work ---- */

/* Uncommitted files in the loop's own work tree are part of its result. In a draft they are
 * committed when the loop ends. */
static enum op_status commit_leftovers(struct op_apply_result *result, struct error *err)
{
	const struct client_loop *loop = &result->loop;
	const char *root = loop->state.options.work_tree;
	bool draft = loop->state.options.draft;
	AUTO_FREE char *git = root ? path_join(root, ".git") : NULL;
	AUTO_FD lock = -1;
	enum op_status status;

	if (loop->alive ? root || draft : draft && loop->state.step != LOOP_STEP_finished)
		result->leftovers = OP_APPLY_AT_WORK;
	if (!root || loop->alive)
		return OP_DONE;
	if (access(git, F_OK) < 0 && errno == ENOENT) {
		result->leftovers = OP_APPLY_GONE;
		return OP_DONE;
	}
	status = op_hold(loop, &lock, err);
	if (status == OP_DONE && client_commit_leftovers(loop, err) < 0)
		status = op_status_of(err);
	return status;
}

static enum op_status begin(const struct op_apply_request *request, struct op_apply_result *result,
			    struct error *err)
{
	enum op_status status;

	*result = (struct op_apply_result){ 0 };
	status = op_find(&request->target, &result->loop, err);
	return status == OP_DONE ? commit_leftovers(result, err) : status;
}

static enum op_status check_quiet(const struct op_apply_request *request, struct error *err)
{
	AUTO_FREE char *running = client_running(request->target.state, request->target.project);

	if (!running || request->dry)
		return OP_DONE;
	error_with(err, ERROR_BUSY,
		   "loop %s is running in this project: wait until it ends, or run ringfence "
		   "abort %s",
		   running, running);
	return OP_RUNNING;
}

static enum op_apply_kind kind_of(const json_t *answer)
{
	const char *kind = jsonget_text(answer, "kind");

	if (strcmp(kind, "conflict") == 0)
		return OP_APPLY_CONFLICT;
	if (json_array_size(json_object_get(answer, "in_the_way")))
		return OP_APPLY_IN_THE_WAY;
	if (strcmp(kind, "nothing") == 0)
		return OP_APPLY_NOTHING;
	if (strcmp(kind, "forward") == 0)
		return OP_APPLY_FORWARD;
	return strcmp(kind, "merge") == 0 ? OP_APPLY_MERGE : OP_APPLY_SQUASH;
}

static bool asks_about(const struct op_question *question, const char *path)
{
	for (size_t i = 0; i < question->count; i++)
		if (!question->items[i].value && strcmp(question->items[i].name, path) == 0)
			return true;
	return false;
}

/* Makes the question about pinned files. Commits cannot be applied without them. */
static int ask_about_pins(const struct op_apply_request *request, struct op_apply_result *result,
			  struct error *err)
{
	const struct client_loop *loop = &result->loop;
	struct error why;
	json_t *pins = NULL;
	json_t *change;
	size_t index;

	if (request->answer.to_all && !request->dry)
		return 0;
	if (apply_pins_find(request->target.state, loop, loop->state.checkpoint, &pins, &why) < 0)
		return error_with(
			err, why.status,
			"whether the agent changed pinned files is not known: %.1500s (to "
			"apply everything all the same: --yes)",
			why.text);
	json_array_foreach(json_object_get(result->details, "changes"), index, change)
	{
		const char *path = jsonget_text(change, "path");
		const struct op_item item = { .name = (char *)path,
					      .where = (char *)jsonget_text(result->details,
									    "tree"),
					      .why = (char *)apply_pins_why(pins, path) };

		if (item.why && !asks_about(&result->question, path))
			op_question_add(&result->pinned, &item);
	}
	json_decref(pins);
	op_question_set(&result->pinned, OP_QUESTION_PINNED,
			mem_dup("Apply these pinned files, which the agent changed?"));
	return 0;
}

static bool is_open(const struct op_apply_request *request, const struct op_apply_result *result)
{
	return (result->question.count && !op_agreed(&request->answer, &result->question)) ||
	       (result->pinned.count && !op_agreed(&request->answer, &result->pinned) &&
		!op_agreed(&request->pinned, &result->pinned));
}

static void refuse_in_the_way(const struct client_loop *loop, struct error *err)
{
	AUTO_FREE char *files = loop->state.options.draft
					? mem_format(", or take over files instead: ringfence "
						     "apply %s",
						     loop->id)
					: mem_dup("");

	error_with(err, ERROR_REFUSED,
		   "your uncommitted changes are in the way, so nothing was changed (git commit or "
		   "git stash them first%s)",
		   files);
}

/* Refuses another result than the user has seen: the loop may have gone on, or the branch. */
static enum op_status check_shown(const struct op_apply_request *request,
				  const struct op_apply_result *result, struct error *err)
{
	static const char *const keys[] = { "branch", "theirs", "tree" };

	for (size_t i = 0; request->shown && i < sizeof keys / sizeof *keys; i++) {
		if (strcmp(jsonget_text(request->shown, keys[i]),
			   jsonget_text(result->details, keys[i])) == 0)
			continue;
		error_with(err, ERROR_BUSY,
			   "the commits of loop %s, or your branch, have changed since they were "
			   "shown: nothing was applied (try again)",
			   result->loop.id);
		return OP_RUNNING;
	}
	return OP_DONE;
}

/* Previews the result. Returns OP_DONE if it may be applied as it is. */
static enum op_status preview(const struct op_apply_request *request,
			      struct op_apply_result *result, struct error *err)
{
	const struct job job = { .name = "apply", .dry = true, .output = -1 };
	enum op_status status;

	if (perform(request, &result->loop, &job, &result->details, err) < 0)
		return op_status_of(err);
	status = check_shown(request, result, err);
	if (status != OP_DONE)
		return status;
	result->kind = kind_of(result->details);
	if (result->kind == OP_APPLY_CONFLICT) {
		error_with(err, ERROR_REFUSED, "ringfence/%s conflicts with %s", result->loop.id,
			   jsonget_text(result->details, "branch"));
		return OP_REFUSED;
	}
	if (result->kind == OP_APPLY_IN_THE_WAY) {
		refuse_in_the_way(&result->loop, err);
		return OP_REFUSED;
	}
	if (apply_question_make(result->details, &result->question, err) < 0 ||
	    ask_about_pins(request, result, err) < 0)
		return op_status_of(err);
	json_object_del(result->details, "history"); /* the question has what counts */
	if (request->dry)
		return OP_UNCHANGED;
	if (is_open(request, result))
		return OP_ASKS;
	return result->kind == OP_APPLY_NOTHING ? OP_UNCHANGED : OP_DONE;
}

/* Applies exactly the result that was previewed. */
static enum op_status apply_result(const struct op_apply_request *request,
				   struct op_apply_result *result, struct error *err)
{
	const struct job job = { .name = "apply", .previewed = result->details, .output = -1 };
	json_t *answer = NULL;

	if (perform(request, &result->loop, &job, &answer, err) < 0)
		return op_status_of(err);
	json_object_del(answer, "history");
	json_decref(result->details);
	result->details = answer;
	return OP_DONE;
}

enum op_status op_apply(const struct op_apply_request *request, struct op_apply_result *ret_result,
			struct error *err)
{
	enum op_status status = begin(request, ret_result, err);

	if (status == OP_DONE)
		status = check_quiet(request, err);
	if (status == OP_DONE)
		status = preview(request, ret_result, err);
	return status == OP_DONE ? apply_result(request, ret_result, err) : status;
}

enum op_status op_apply_patch(const struct op_apply_request *request, int output, bool terminal,
			      struct op_apply_result *ret_result, struct error *err)
{
	const struct job job = { .name = "patch", .output = output, .terminal = terminal };
	enum op_status status = begin(request, ret_result, err);

	if (status != OP_DONE)
		return status;
	if (perform(request, &ret_result->loop, &job, &ret_result->details, err) < 0)
		return op_status_of(err);
	if (apply_question_make(ret_result->details, &ret_result->question, err) < 0)
		return op_status_of(err);
	return OP_DONE;
}

void op_apply_release(struct op_apply_result *result)
{
	client_loop_release(&result->loop);
	op_question_release(&result->question);
	op_question_release(&result->pinned);
	json_decref(result->details);
	*result = (struct op_apply_result){ 0 };
}

enum op_status op_apply_finish(const char *state, const char *project, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	bool recovered;
	int result;

	snapshot_begin(&work, "finish", state, project, "none");
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	recovered = jsonget_flag(answer, "recovered");
	json_decref(answer);
	if (result < 0)
		return OP_FAILED;
	return recovered ? OP_DONE : OP_UNCHANGED;
}
