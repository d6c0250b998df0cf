/* Checkpoints of a loop: see loop_checkpoint.h. */
#include "loop/run/loop_checkpoint.h"

#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { HIDDEN_BYTES = 1 << 19 }; /* the arguments of a program are limited */

static void begin(const struct supervisor *sup, const char *name, struct snapshot_work *work)
{
	AUTO_FREE char *state = loop_folder_state(sup->folder);

	snapshot_begin(work, name, state, sup->state.options.project, path_name(sup->folder));
}

static int start(struct supervisor *sup, const char *kind, uint32_t iteration, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	struct snapshot_work work;
	int result;

	begin(sup, "save", &work);
	snapshot_tell(&work, "kind", kind);
	snapshot_tell_number(&work, "iteration", iteration);
	/* If the store was lost, the numbers go on: an old one must not mean a later state. */
	snapshot_tell_number(&work, "next", sup->state.checkpoint + 1);
	snapshot_tell_number(&work, "live", sup->run.working);
	snapshot_tell_number(&work, "ignored", options->checkpoint_ignored);
	snapshot_tell_number(&work, "most_bytes", options->checkpoint_bytes);
	if (sup->survey.checkpoint >= 0)
		snapshot_tell_number(&work, "since", sup->survey.checkpoint);
	if (options->checkpoint_age_ms)
		snapshot_tell_number(&work, "oldest_ms",
				     clock_wall_ms() - options->checkpoint_age_ms);
	result = snapshot_start(&work, -1, sup->lock, &sup->checkpoint.job, err);
	snapshot_release(&work);
	if (result == 0) {
		snprintf(sup->checkpoint.kind, sizeof sup->checkpoint.kind, "%s", kind);
		sup->checkpoint.iteration = iteration;
	}
	return result;
}

/* Writes an event, unless the checkpoint equals the previous one. */
static int record(struct supervisor *sup, json_t *answer, const char *failed, struct error *err)
{
	static const char *const keys[] = { "number", "files",  "bytes",        "skipped",
					    "torn",   "commit", "stored_bytes", "not_kept",
					    "notice", "pruned", "recovered",    "repaired" };
	json_t *data;

	if (!failed && !json_object_get(answer, "repaired") &&
	    jsonget_number(answer, "number") == sup->state.checkpoint)
		return 0;
	data = json_pack("{s:s, s:i}", "kind", sup->checkpoint.kind, "iteration",
			 (int)sup->checkpoint.iteration);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(answer, keys[i]))
			json_object_set(data, keys[i], json_object_get(answer, keys[i]));
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

/* Handles the end of the process. *ret_failed as in loop_checkpoint_take(). */
static int record_end(struct supervisor *sup, char **ret_failed, struct error *err)
{
	json_t *answer = NULL;
	struct error why;
	int result;

	*ret_failed = NULL;
	if (snapshot_end(&sup->checkpoint.job, &answer, &why) < 0)
		*ret_failed = mem_dup(why.text);
	read_tally(sup, answer);
	result = record(sup, answer, *ret_failed, err);
	json_decref(answer);
	return result;
}

static void kill_job(struct supervisor *sup)
{
	if (!sup->checkpoint.job.pid)
		return;
	kill(sup->checkpoint.job.pid, SIGKILL);
	waitpid(sup->checkpoint.job.pid, NULL, 0);
	fd_close(&sup->checkpoint.job.answer);
	sup->checkpoint.job = SNAPSHOT_JOB_INIT;
}

/* Waits for the process. Returns false if the supervisor is leaving; the process is killed then. */
static bool await(struct supervisor *sup)
{
	sup->checkpoint.awaited = true;
	while (!sup->checkpoint.ended && !sup->leaving)
		supervisor_wait(sup, INT64_MAX);
	sup->checkpoint.awaited = sup->checkpoint.ended = false;
	if (sup->leaving)
		kill_job(sup);
	return !sup->leaving;
}

void loop_checkpoint_ask(struct supervisor *sup, const char *name, const struct list *hidden,
			 json_t **ret_answer, char **ret_failed)
{
	struct snapshot_work work;
	struct error why;
	int result;

	*ret_answer = NULL;
	*ret_failed = NULL;
	begin(sup, name, &work);
	snapshot_tell(&work, "folder", sup->folder);
	snapshot_tell_number(&work, "most_bytes", sup->state.options.git_bytes);
	for (size_t i = 0, bytes = 0; hidden && i < hidden->count && bytes < HIDDEN_BYTES; i++) {
		snapshot_tell(&work, "hidden", hidden->items[i]);
		bytes += strlen(hidden->items[i]) + sizeof "hidden=" + sizeof(char *);
	}
	result = snapshot_start(&work, -1, sup->lock, &sup->checkpoint.job, &why);
	snapshot_release(&work);
	if (result == 0 && !await(sup))
		return;
	if (result < 0 || snapshot_end(&sup->checkpoint.job, ret_answer, &why) < 0)
		*ret_failed = mem_dup(why.text);
}

/* Without checkpoints, the work of an iteration is only synced. */
static int sync_work(struct supervisor *sup)
{
	AUTO_FREE char *failed = NULL;
	json_t *answer = NULL;

	loop_checkpoint_ask(sup, "sync", NULL, &answer, &failed);
	json_decref(answer);
	if (failed)
		fprintf(stderr, "%s\n", failed);
	return 0;
}

int loop_checkpoint_take(struct supervisor *sup, const char *kind, uint32_t iteration,
			 char **ret_failed, struct error *err)
{
	struct error why;

	*ret_failed = NULL;
	if (sup->checkpoint.current)
		return 0;
	if (sup->state.options.checkpoints_off)
		return strcmp(kind, "after") == 0 ? sync_work(sup) : 0;
	if (start(sup, kind, iteration, &why) < 0) {
		*ret_failed = mem_dup(why.text);
		snprintf(sup->checkpoint.kind, sizeof sup->checkpoint.kind, "%s", kind);
		return record(sup, NULL, *ret_failed, err);
	}
	if (!await(sup))
		return 0;
	if (record_end(sup, ret_failed, err) < 0)
		return -1;
	sup->checkpoint.current = !*ret_failed;
	return 0;
}

/* When is the next checkpoint due, while an agent runs? */
static int64_t due_ms(void *context)
{
	const struct supervisor *sup = context;

	if (sup->state.phase != LOOP_PHASE_agent || !sup->run.working || sup->run.cut ||
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

static void watch(void *context, bool readable)
{
	struct supervisor *sup = context;
	AUTO_FREE char *failed = NULL;
	struct error err;

	sup->checkpoint.ended = sup->checkpoint.ended || readable;
	if (due_ms(sup) <= wait_set_steady_ms()) {
		sup->checkpoint.begun_ms = wait_set_steady_ms();
		if (start(sup, "within", sup->state.iteration, &err) < 0)
			fprintf(stderr, "%s\n", err.text);
		return;
	}
	if (!sup->checkpoint.ended || sup->checkpoint.awaited)
		return;
	sup->checkpoint.ended = false;
	/* The failure is recorded, and the next agent does not start without a checkpoint. */
	if (record_end(sup, &failed, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
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
	kill_job(sup);
	sup->checkpoint.ended = false;
}
