/* Rows of an overview: see view_row.h. */
#include "view/view_row.h"

#include "batch/batch_sums.h"
#include "util/clock.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "util/text/word.h"
#include "view/activity.h"
#include "view/view_limits.h"
#include "view/view_now.h"

#include <stdlib.h>
#include <string.h>

static void clear(struct view_row *row)
{
	free(row->name);
	free(row->project);
	free(row->of);
	free(row->title);
	free(row->status);
	free(row->now);
	free(row->needs);
	row->name = row->project = row->of = row->title = row->status = row->now = row->needs =
		NULL;
}

void view_row_free(struct view_row *row)
{
	clear(row);
	if (row->loop)
		client_loop_release(row->loop);
	if (row->client)
		batch_client_release(row->client);
	free(row->loop);
	free(row->client);
	free(row->id);
	free(row);
}

/* ---- loops ---- */

/* Returns what a loop does in its step, or NULL; the caller frees. */
static char *describe_step(const struct view_now *now)
{
	if (now->wish == LOOP_WISH_ABORT)
		return mem_dup("is being aborted");
	switch (now->step) {
	case LOOP_STEP_agent:
	case LOOP_STEP_review:
		return now->doing ? text_first_line(now->doing, VIEW_ROW_TEXT)
				  : mem_format("%s works", now->agent ? now->agent : "the agent");
	case LOOP_STEP_baseline:
	case LOOP_STEP_checks:
		return now->check ? mem_format("check %zu of %zu: %.200s", now->check_number,
					       now->check_count, now->check)
				  : mem_dup("checks");
	case LOOP_STEP_mutants:
		return mem_format("tries change %zu of %zu", now->check_number, now->check_count);
	default:
		return NULL;
	}
}

static void set_now(struct view_row *row)
{
	const struct client_loop *loop = row->loop;
	struct view_limits limits;
	struct view_now now;

	free(row->now);
	row->now = NULL;
	view_limits_read(loop, clock_wall_ms(), &limits);
	row->cost_nusd = limits.cost_nusd;
	if (loop->alive && !loop->restarting) {
		view_now_read(loop, &now);
		row->now = describe_step(&now);
		view_now_release(&now);
	}
	if (!row->now) {
		AUTO_FREE char *reason = client_reason(loop);

		row->now = text_first_line(reason, VIEW_ROW_TEXT);
	}
}

static bool is_by_user(const struct loop_state *state)
{
	return !state->blocked && state->reason &&
	       text_after_prefix(state->reason, "by you") != NULL;
}

static char *needs_of(const struct client_loop *loop, const char *status)
{
	AUTO_FREE char *reason = client_reason(loop);

	if (loop->damaged)
		return text_first_line(loop->trouble, VIEW_ROW_TEXT);
	if (strcmp(status, "interrupted") == 0)
		return text_first_line(reason, VIEW_ROW_TEXT);
	if (strcmp(status, "paused") != 0 || is_by_user(&loop->state))
		return NULL;
	if (loop->state.blocked)
		return text_first_line(loop->state.blocked, VIEW_ROW_TEXT);
	return reason ? text_first_line(reason, VIEW_ROW_TEXT) : mem_dup("it is paused");
}

static void set_options(struct view_row *row, const struct loop_options *options)
{
	row->name = mem_copy(options->name);
	row->project = mem_copy(options->origin ? options->origin : options->project);
	row->of = mem_copy(options->batch);
	row->title = text_first_line(options->objective, VIEW_ROW_TEXT);
	row->iterations = options->limits.iterations;
	row->most_nusd = options->limits.cost_nusd;
}

void view_row_from_loop(struct view_row *row)
{
	const struct client_loop *loop = row->loop;
	const struct loop_state *state = &loop->state;
	struct view_limits limits;

	clear(row);
	row->read_ms = clock_wall_ms();
	row->status = mem_dup(client_status(loop));
	view_limits_sum(state, state->spent_nusd, row->read_ms, &limits);
	set_options(row, &state->options);
	row->created_ms = state->created_ms;
	row->changed_ms = state->step_ms;
	row->iteration = state->iteration;
	row->estimated_nusd = state->estimated_nusd;
	row->elapsed_ms = limits.elapsed_ms;
	row->ticks = loop->alive && state->step != LOOP_STEP_finished &&
		     state->step != LOOP_STEP_paused;
	row->ended = !loop->alive && !loop->damaged && state->step == LOOP_STEP_finished;
	row->needs = needs_of(loop, row->status);
	set_now(row);
}

bool view_row_look(struct view_row *row)
{
	const struct client_loop *loop = row->loop;
	AUTO_FREE char *log = NULL;
	AUTO_FREE char *ledger = NULL;
	struct loop_stamp_file log_now, ledger_now;
	bool young;

	if (!loop || !row->ticks)
		return false;
	log = activity_log(loop, loop->state.iteration, loop->state.attempt);
	ledger = path_join(loop->folder, "ledger.jsonl");
	young = loop_stamp_file(log, &log_now) | loop_stamp_file(ledger, &ledger_now);
	if (!young && loop_stamp_same_file(&row->log, &log_now) &&
	    loop_stamp_same_file(&row->ledger, &ledger_now))
		return false;
	row->log = log_now;
	row->ledger = ledger_now;
	set_now(row);
	return true;
}

/* ---- the index ---- */

static void add_word(struct buffer *out, const char *text)
{
	buffer_add_text(out, " ");
	word_add(out, text ? text : "");
}

char *view_row_line(const struct view_row *row)
{
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1 << 16);

	buffer_printf(&line, "%lld %lld %u %u %lld %lld %lld %lld", (long long)row->created_ms,
		      (long long)row->changed_ms, row->iteration, row->iterations,
		      (long long)row->cost_nusd, (long long)row->most_nusd,
		      (long long)row->estimated_nusd, (long long)row->elapsed_ms);
	add_word(&line, row->status);
	add_word(&line, row->name);
	add_word(&line, row->project);
	add_word(&line, row->of);
	add_word(&line, row->title);
	add_word(&line, row->now);
	return buffer_overflowed(&line) ? NULL : mem_dup(buffer_text(&line));
}

/* Takes a word; the empty one is NULL. */
static int take_text(const char **at, char **ret_text)
{
	char *text = word_take_text(at);

	if (!text)
		return -1;
	*ret_text = *text ? text : NULL;
	if (!*text)
		free(text);
	return 0;
}

int view_row_from_line(struct view_row *row, const char *line)
{
	enum { CREATED, CHANGED, ITERATION, ITERATIONS, COST, MOST, ESTIMATED, ELAPSED, COUNT };
	uint64_t numbers[COUNT];
	char **texts[] = {
		&row->status, &row->name, &row->project, &row->of, &row->title, &row->now
	};
	const char *at = line;

	clear(row);
	for (int i = 0; i < COUNT; i++)
		if (word_take_number(&at, &numbers[i]) < 0)
			return -1;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (take_text(&at, texts[i]) < 0)
			return -1;
	if (!row->status)
		return -1;
	row->created_ms = (int64_t)numbers[CREATED];
	row->changed_ms = (int64_t)numbers[CHANGED];
	row->iteration = (uint32_t)numbers[ITERATION];
	row->iterations = (uint32_t)numbers[ITERATIONS];
	row->cost_nusd = (int64_t)numbers[COST];
	row->most_nusd = (int64_t)numbers[MOST];
	row->estimated_nusd = (int64_t)numbers[ESTIMATED];
	row->elapsed_ms = (int64_t)numbers[ELAPSED];
	row->ticks = false;
	row->ended = true;
	return 0;
}

/* ---- batches ---- */

static char *batch_needs(const struct batch_client *batch, const struct batch_sums *sums,
			 const char *status)
{
	size_t held = sums->steps[BATCH_STEP_held];

	if (batch->damaged || (strcmp(status, "interrupted") == 0 && batch->trouble))
		return text_first_line(batch->trouble, VIEW_ROW_TEXT);
	if (strcmp(status, "interrupted") == 0)
		return mem_dup("its supervisor is gone");
	if (batch->state.finished)
		return NULL;
	if (held)
		return mem_format("%zu task%s for a person", held, held == 1 ? " waits" : "s wait");
	return batch->state.paused && batch->state.reason &&
			       !text_after_prefix(batch->state.reason, "by you")
		       ? text_first_line(batch->state.reason, VIEW_ROW_TEXT)
		       : NULL;
}

void view_row_from_batch(struct view_row *row)
{
	const struct batch_client *batch = row->client;
	const struct batch_state *state = &batch->state;
	struct batch_sums sums;

	clear(row);
	batch_sums_count(state, &sums);
	row->read_ms = clock_wall_ms();
	row->status = mem_dup(batch_client_status(batch));
	row->project = mem_copy(state->project);
	row->created_ms = row->changed_ms = state->created_ms;
	row->iteration = (uint32_t)sums.landed;
	row->iterations = (uint32_t)sums.tasks;
	row->title = mem_format("%zu of %zu tasks landed", sums.landed, sums.tasks);
	row->cost_nusd = sums.spent_nusd;
	row->most_nusd = state->most_nusd;
	row->ticks = batch->alive && !state->finished && !state->paused;
	row->ended = state->finished && !batch->damaged;
	row->elapsed_ms = row->ticks ? row->read_ms - row->created_ms : 0;
	row->needs = batch_needs(batch, &sums, row->status);
	row->now = sums.steps[BATCH_STEP_running] && row->ticks
			   ? mem_format("%zu running", sums.steps[BATCH_STEP_running])
			   : text_first_line(state->reason, VIEW_ROW_TEXT);
}

int64_t view_row_elapsed_ms(const struct view_row *row, int64_t now_ms)
{
	int64_t since = row->ticks && now_ms > row->read_ms ? now_ms - row->read_ms : 0;

	return row->elapsed_ms + since;
}
