/* Checkpoints of a loop: see loop_checkpoint.h. */
#include "loop/run/loop_checkpoint.h"

#include "loop/run/project_watch.h"
#include "loop/run/retry.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HIDDEN_BYTES = 1 << 19 }; /* the arguments of a program are limited */

static void begin(const struct supervisor *sup, const char *name, struct snapshot_work *work)
{
	AUTO_FREE char *state = loop_folder_state(sup->folder);

	snapshot_begin(work, name, state, sup->state.options.project, path_name(sup->folder));
	if (sup->state.options.draft)
		snapshot_tell(work, "draft", sup->state.options.draft);
}

/* Returns whether the next checkpoint looks for the user's edits. After a rollback of a loop that
 * is over, no check can have seen them, and what was applied would count as an edit. */
static bool looks_for_edits(struct supervisor *sup)
{
	const struct loop_state *state = &sup->state;
	bool over = state->step == LOOP_STEP_closing && state->restored;

	return state->options.draft && !sup->run.working && !over && project_watch_has_changed(sup);
}

/* The request of a checkpoint. The caller releases it. */
static void make_save(struct supervisor *sup, const char *kind, uint32_t iteration,
		      struct snapshot_work *ret_work)
{
	const struct loop_options *options = &sup->state.options;

	begin(sup, "save", ret_work);
	snapshot_tell(ret_work, "kind", kind);
	snapshot_tell_number(ret_work, "iteration", iteration);
	/* If the store was lost, the numbers go on: an old one must not mean a later state. */
	snapshot_tell_number(ret_work, "next", sup->state.checkpoint + 1);
	snapshot_tell_number(ret_work, "live", sup->run.working);
	snapshot_tell_number(ret_work, "edited", looks_for_edits(sup));
	snapshot_tell_number(ret_work, "ignored", options->checkpoint_ignored);
	snapshot_tell_number(ret_work, "most_bytes", options->checkpoint_bytes);
	if (sup->survey.checkpoint >= 0)
		snapshot_tell_number(ret_work, "since", sup->survey.checkpoint);
	if (options->checkpoint_age_ms)
		snapshot_tell_number(ret_work, "oldest_ms",
				     clock_wall_ms() - options->checkpoint_age_ms);
	snprintf(sup->checkpoint.kind, sizeof sup->checkpoint.kind, "%s", kind);
	sup->checkpoint.iteration = iteration;
}

/* Returns what the user changed in the project since the draft began, unless an event has already
 * told exactly this. The caller frees it. */
static char *find_edited(const struct supervisor *sup, const json_t *answer)
{
	const json_t *edited = json_object_get(answer, "edited");
	AUTO_FREE char *text = edited ? json_dumps(edited, JSON_COMPACT) : NULL;
	const char *told = sup->state.edited ? sup->state.edited : "[]";

	return text && strcmp(text, told) != 0 ? mem_dup(text) : NULL;
}

/* Writes an event, unless the checkpoint equals the previous one, and that was taken. */
static int record(struct supervisor *sup, json_t *answer, const char *failed, struct error *err)
{
	static const char *const keys[] = { "number", "files",  "bytes",        "skipped",
					    "torn",   "commit", "stored_bytes", "not_kept",
					    "notice", "pruned", "recovered",    "repaired" };
	AUTO_FREE char *edited = find_edited(sup, answer);
	json_t *data;

	if (!failed && !edited && !json_object_get(answer, "repaired") &&
	    !sup->state.checkpoint_error &&
	    jsonget_number(answer, "number") == sup->state.checkpoint)
		return 0;
	data = json_pack("{s:s, s:i}", "kind", sup->checkpoint.kind, "iteration",
			 (int)sup->checkpoint.iteration);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(answer, keys[i]))
			json_object_set(data, keys[i], json_object_get(answer, keys[i]));
	if (edited) {
		json_object_set(data, "edited", json_object_get(answer, "edited"));
		json_object_set(data, "edited_count", json_object_get(answer, "edited_count"));
	}
	if (failed)
		json_object_set_new(data, "error", loop_report_text(failed));
	return supervisor_append(sup, LOOP_EVENT_checkpointed, data, err);
}

/*
 * Stores the project facts that come with a checkpoint. Without a base, all files count as changed.
 */
static void read_tally(struct supervisor *sup, const json_t *answer)
{
	const json_t *data = json_object_get(answer, "tally");
	const json_t *changed = json_object_get(data, "changed");
	const char *tree = jsonget_string(data, "tree");
	struct survey *tally = &sup->checkpoint.tally;

	sup->checkpoint.tallied = tree;
	if (!tree)
		return;
	*tally = (struct survey){
		.files = (uint64_t)jsonget_number(data, "files"),
		.bytes = (uint64_t)jsonget_number(data, "bytes"),
	};
	tally->changed = changed ? (uint64_t)json_integer_value(changed) : tally->files;
	snprintf(tally->tree, sizeof tally->tree, "%s", tree);
}

/* Records a checkpoint, or why there is none. */
static int record_end(struct supervisor *sup, json_t *answer, const char *failed, struct error *err)
{
	read_tally(sup, answer);
	if (json_object_get(answer, "edited"))
		project_watch_looked(sup);
	return record(sup, answer, failed, err);
}

/* Waits for the process. Returns false if the supervisor is leaving; the process is killed then. */
static bool await(struct supervisor *sup)
{
	sup->checkpoint.awaited = true;
	while (!sup->checkpoint.ended && !sup->leaving)
		supervisor_wait(sup, INT64_MAX);
	sup->checkpoint.awaited = sup->checkpoint.ended = false;
	if (sup->leaving)
		snapshot_cancel(&sup->checkpoint.job);
	return !sup->leaving;
}

/* Runs a task, again if its process dies. output: a file for its stdout, or -1. Outputs and
 * result: see loop_checkpoint_ask(). */
static int run_task(struct supervisor *sup, const char *name, const struct snapshot_work *work,
		    int output, json_t **ret_answer, char **ret_failed, struct error *err)
{
	struct error why = { 0 };
	int tries = 0;
	int again;

	do {
		if (output >= 0 && (ftruncate(output, 0) < 0 || lseek(output, 0, SEEK_SET) < 0))
			return error_sys(err, "empty a file in memory");
		if (snapshot_start(work, output, sup->lock, &sup->checkpoint.job, &why) == 0) {
			if (!await(sup) ||
			    snapshot_end(&sup->checkpoint.job, ret_answer, &why) == 0)
				return 0;
		}
		again = retry_after(sup, name, &why, &tries, err);
	} while (again > 0);
	if (again == 0)
		*ret_failed = tries > 1 ? mem_format("%s (%d times)", why.text, tries)
					: mem_dup(why.text);
	return again;
}

int loop_checkpoint_ask(struct supervisor *sup, const char *name, const struct list *hidden,
			json_t **ret_answer, char **ret_failed, struct error *err)
{
	struct snapshot_work work;
	int result;

	*ret_answer = NULL;
	*ret_failed = NULL;
	begin(sup, name, &work);
	snapshot_tell(&work, "folder", sup->folder);
	snapshot_tell_number(&work, "most_bytes", sup->state.options.git_bytes);
	if (sup->state.options.from_commit)
		snapshot_tell(&work, "head", sup->state.options.from_commit);
	for (size_t i = 0, bytes = 0; hidden && i < hidden->count && bytes < HIDDEN_BYTES; i++) {
		snapshot_tell(&work, "hidden", hidden->items[i]);
		bytes += strlen(hidden->items[i]) + sizeof "hidden=" + sizeof(char *);
	}
	result = run_task(sup, name, &work, -1, ret_answer, ret_failed, err);
	snapshot_release(&work);
	return result;
}

static void tell_all(struct snapshot_work *work, const char *key, const json_t *values)
{
	size_t index;
	const json_t *value;

	json_array_foreach(values, index, value) snapshot_tell(work, key, json_string_value(value));
}

/* Final checks, and those of phases, pin what they name as well. */
static void tell_pins(const struct supervisor *sup, const char *folder, struct snapshot_work *work)
{
	const struct loop_options *options = &sup->state.options;

	snapshot_tell(work, "pinned", folder);
	tell_all(work, "pin", options->pin);
	tell_all(work, "unpin", options->unpin);
	for (size_t i = 0; i < options->checks.count; i++)
		snapshot_tell(work, "check", options->checks.items[i]);
	tell_all(work, "check", options->final_checks);
	for (uint32_t i = 0; i < options->phase_count; i++)
		for (size_t k = 0; k < loop_phase_checks(&options->phases[i]); k++)
			snapshot_tell(work, "check", loop_phase_check(&options->phases[i], k));
}

int loop_checkpoint_examine(struct supervisor *sup, const char *pinned, json_t **ret_answer,
			    char **ret_failed, struct error *err)
{
	struct snapshot_work work;
	int result;

	*ret_answer = NULL;
	*ret_failed = NULL;
	begin(sup, "examine", &work);
	snapshot_tell_number(&work, "from", sup->state.start);
	snapshot_tell_number(&work, "to", sup->state.checkpoint);
	tell_all(&work, "action", sup->state.options.findings);
	if (pinned)
		tell_pins(sup, pinned, &work);
	result = run_task(sup, "examine", &work, -1, ret_answer, ret_failed, err);
	snapshot_release(&work);
	return result;
}

int loop_checkpoint_break(struct supervisor *sup, const char *folder, json_t **ret_answer,
			  char **ret_failed, struct error *err)
{
	struct snapshot_work work;
	int result;

	*ret_answer = NULL;
	*ret_failed = NULL;
	begin(sup, "break", &work);
	tell_pins(sup, folder, &work);
	result = run_task(sup, "break", &work, -1, ret_answer, ret_failed, err);
	snapshot_release(&work);
	return result;
}

int loop_checkpoint_mutate(struct supervisor *sup, const struct loop_checkpoint_mutant *mutant,
			   json_t **ret_answer, char **ret_failed, struct error *err)
{
	struct snapshot_work work;
	int result;

	*ret_answer = NULL;
	*ret_failed = NULL;
	begin(sup, "mutate", &work);
	snapshot_tell_number(&work, "from", sup->state.start);
	snapshot_tell_number(&work, "to", sup->state.checkpoint);
	snapshot_tell_number(&work, "most", mutant->most);
	snapshot_tell_number(&work, "index", mutant->index);
	tell_all(&work, "action", sup->state.options.findings);
	tell_pins(sup, mutant->folder, &work);
	result = run_task(sup, "mutate", &work, -1, ret_answer, ret_failed, err);
	snapshot_release(&work);
	return result;
}

int loop_checkpoint_settle(struct supervisor *sup, const char *views, char **ret_failed,
			   struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	*ret_failed = NULL;
	begin(sup, "settle", &work);
	snapshot_tell_number(&work, "to", sup->state.checkpoint);
	tell_pins(sup, views, &work);
	result = run_task(sup, "settle", &work, -1, &answer, ret_failed, err);
	json_decref(answer);
	snapshot_release(&work);
	return result;
}

int loop_checkpoint_diff(struct supervisor *sup, size_t most_bytes, struct buffer *ret_text,
			 char **ret_failed, struct error *err)
{
	AUTO_FD file = memfd_create("diff", MFD_CLOEXEC);
	struct snapshot_work work;
	json_t *answer = NULL;
	off_t size;
	int result;

	*ret_failed = NULL;
	if (file < 0)
		return error_sys(err, "create a file in memory");
	begin(sup, "diff", &work);
	snapshot_tell_number(&work, "from", sup->state.start);
	snapshot_tell_number(&work, "to", sup->state.checkpoint);
	snapshot_tell_number(&work, "most_bytes", (int64_t)most_bytes);
	result = run_task(sup, "diff", &work, file, &answer, ret_failed, err);
	snapshot_release(&work);
	json_decref(answer);
	if (result < 0 || *ret_failed || sup->leaving)
		return result;
	size = lseek(file, 0, SEEK_END);
	if ((size > (off_t)most_bytes && ftruncate(file, (off_t)most_bytes) < 0) ||
	    lseek(file, 0, SEEK_SET) < 0 || fd_read_all(file, ret_text) < 0)
		return error_sys(err, "read a file in memory");
	return 0;
}

/* Without checkpoints, the work of an iteration is only synced. */
static int sync_work(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *failed = NULL;
	json_t *answer = NULL;
	int result = loop_checkpoint_ask(sup, "sync", NULL, &answer, &failed, err);

	json_decref(answer);
	if (failed)
		fprintf(stderr, "%s\n", failed);
	return result;
}

int loop_checkpoint_take(struct supervisor *sup, const char *kind, uint32_t iteration,
			 char **ret_failed, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	*ret_failed = NULL;
	if (sup->checkpoint.current)
		return 0;
	if (sup->state.options.checkpoints_off)
		return strcmp(kind, "after") == 0 ? sync_work(sup, err) : 0;
	make_save(sup, kind, iteration, &work);
	result = run_task(sup, "checkpoint", &work, -1, &answer, ret_failed, err);
	snapshot_release(&work);
	if (result == 0 && !sup->leaving)
		result = record_end(sup, answer, *ret_failed, err);
	json_decref(answer);
	if (result == 0 && !sup->leaving)
		sup->checkpoint.current = !*ret_failed;
	return result;
}

/* When is the next checkpoint due, while an agent runs? */
static int64_t due_ms(void *context)
{
	const struct supervisor *sup = context;

	if (sup->state.step != LOOP_STEP_agent || !sup->run.working || sup->run.cut ||
	    sup->checkpoint.job.pid || sup->state.options.checkpoints_off ||
	    !sup->state.options.checkpoint_ms)
		return INT64_MAX;
	return sup->checkpoint.begun_ms + sup->state.options.checkpoint_ms;
}

static int answer_fd(void *context)
{
	const struct supervisor *sup = context;

	return sup->checkpoint.job.pid && !sup->checkpoint.ended ? sup->checkpoint.job.answer : -1;
}

/* Starts a checkpoint that nobody waits for. */
static void begin_within(struct supervisor *sup)
{
	struct snapshot_work work;
	struct error err;

	sup->checkpoint.begun_ms = wait_set_steady_ms();
	make_save(sup, "within", sup->state.iteration, &work);
	if (snapshot_start(&work, -1, sup->lock, &sup->checkpoint.job, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	snapshot_release(&work);
}

/* The failure is recorded. The next one is its retry, and no agent starts without a checkpoint. */
static void end_within(struct supervisor *sup)
{
	json_t *answer = NULL;
	struct error why;
	struct error err;
	bool failed = snapshot_end(&sup->checkpoint.job, &answer, &why) < 0;

	if (record_end(sup, answer, failed ? why.text : NULL, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	json_decref(answer);
}

static void watch(void *context, bool readable)
{
	struct supervisor *sup = context;

	sup->checkpoint.ended = sup->checkpoint.ended || readable;
	if (due_ms(sup) <= wait_set_steady_ms()) {
		begin_within(sup);
		return;
	}
	if (!sup->checkpoint.ended || sup->checkpoint.awaited)
		return;
	sup->checkpoint.ended = false;
	end_within(sup);
}

void loop_checkpoint_watch(struct supervisor *sup)
{
	wait_set_add(&sup->waits,
		     &(struct wait_set_watch){
			     .fd = answer_fd, .due_ms = due_ms, .serve = watch, .context = sup });
}

void loop_checkpoint_run_begins(struct supervisor *sup)
{
	sup->checkpoint.current = false;
	sup->checkpoint.begun_ms = wait_set_steady_ms();
}

void loop_checkpoint_run_ended(struct supervisor *sup)
{
	snapshot_cancel(&sup->checkpoint.job);
	sup->checkpoint.ended = false;
}
