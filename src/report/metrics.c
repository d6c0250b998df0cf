/* Metrics: see metrics.h. */
#include "report/metrics.h"

#include "batch/batch_client.h"
#include "batch/batch_sums.h"
#include "loop/client.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "view/view_iterations.h"
#include "view/view_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The metrics of a loop: the name after "ringfence_loop_", type, help. A value that is NAN is left
 * out. */
#define LOOP_METRICS(X)                                                                         \
	X(started_timestamp_seconds, gauge, "When the loop began.")                             \
	X(heartbeat_timestamp_seconds, gauge, "The last sign of life of a running supervisor.") \
	X(heartbeat_age_seconds, gauge, "How old that sign was when this was written.")         \
	X(elapsed_seconds, gauge, "Time since the loop began, without pauses.")                 \
	X(time_limit_seconds, gauge, "The limit of that time (--max-time).")                    \
	X(iterations_total, counter, "Attempts at iterations.")                                 \
	X(iterations_limit, gauge, "The limit of iterations (--max-iterations).")               \
	X(failures_total, counter, "Attempts that failed, other than by a check.")              \
	X(interruptions_total, counter, "Attempts that were cut off and repeated.")             \
	X(cost_usd_total, counter, "Cost of models so far, in US$.")                            \
	X(cost_limit_usd, gauge, "The limit of the cost (--max-cost).")                         \
	X(budget_left_usd, gauge, "The rest of that limit.")                                    \
	X(requests_total, counter, "Requests to models.")                                       \
	X(input_tokens_total, counter, "Tokens sent to models, cached or not.")                 \
	X(cached_tokens_total, counter, "Tokens that a provider's cache had.")                  \
	X(output_tokens_total, counter, "Tokens that models have written.")                     \
	X(tool_calls_total, counter, "Tool calls of the agents.")                               \
	X(tool_errors_total, counter, "Tool calls that failed.")                                \
	X(denials_total, counter, "Different operations that the fence denied to agents.")      \
	X(quarantined_files_total, counter, "Files that were moved to quarantine.")             \
	X(checks, gauge, "Checks that ran last.")                                               \
	X(checks_passing, gauge, "How many of them passed.")                                    \
	X(tests_passing, gauge, "Tests that passed in the last checks.")                        \
	X(tests_failing, gauge, "Tests that failed in the last checks.")                        \
	X(files_changed, gauge, "Files changed in the last iteration that ended.")              \
	X(findings, gauge, "Signs that the changes weaken the checks.")

enum metric {
#define METRIC(name, type, help) METRIC_##name,
	LOOP_METRICS(METRIC)
#undef METRIC
		METRICS
};

static const struct {
	const char *name, *type, *help;
} metrics[] = {
#define METRIC(name, type, help) { #name, #type, help },
	LOOP_METRICS(METRIC)
#undef METRIC
};

struct row {
	char *id, *project;
	const char *status;
	bool damaged;
	double values[METRICS];
};

struct rows {
	struct row *items;
	size_t count;
	size_t more; /* loops without series */
};

static const char *const statuses[] = {
#define STATUS(name) #name,
	LOOP_STATUSES(STATUS)
#undef STATUS
		"damaged"
};

enum { STATUSES = sizeof statuses / sizeof *statuses };

void metrics_label(struct buffer *out, const char *value)
{
	size_t size = text_first(value, strlen(value), METRICS_LABEL);

	buffer_add_text(out, "\"");
	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		size_t length = text_utf8(value + at, size - at, &point);

		if (length == 0)
			buffer_add_text(out, "\xef\xbf\xbd");
		else if (text_is_unsafe(point))
			buffer_printf(out, "\\\\u{%x}", point);
		else if (point == '"' || point == '\\')
			buffer_printf(out, "\\%c", (char)point);
		else
			buffer_add(out, value + at, length);
		at += length ? length : 1;
	}
	buffer_add_text(out, "\"");
}

static void head(struct buffer *out, const char *name, const char *type, const char *help)
{
	buffer_printf(out, "# HELP ringfence_%s %s\n# TYPE ringfence_%s %s\n", name, help, name,
		      type);
}

static void add_value(struct buffer *out, double value)
{
	if (value == floor(value) && fabs(value) < 1e15)
		buffer_printf(out, " %.0f\n", value);
	else
		buffer_printf(out, " %.9f\n", value);
}

/* ---- loops ---- */

static void add_item(double *values, const struct view_iteration *item)
{
	static const struct {
		enum metric metric;
		size_t offset;
	} counts[] = {
		{ METRIC_tool_calls_total, offsetof(struct view_iteration, tool_calls) },
		{ METRIC_tool_errors_total, offsetof(struct view_iteration, tool_errors) },
		{ METRIC_denials_total, offsetof(struct view_iteration, denials) },
		{ METRIC_quarantined_files_total, offsetof(struct view_iteration, quarantined) },
	};

	values[METRIC_iterations_total] += item->iteration > 0;
	values[METRIC_interruptions_total] += strcmp(item->action, "interrupted") == 0;
	values[METRIC_failures_total] += item->failure != FAILURE_NONE &&
					 item->failure != FAILURE_CHECK_FAILED;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		int64_t count = *(const int64_t *)((const char *)item + counts[i].offset);

		values[counts[i].metric] += count > 0 ? (double)count : 0;
	}
	if (item->files_changed >= 0)
		values[METRIC_files_changed] = (double)item->files_changed;
	if (item->check_count) {
		values[METRIC_checks] = (double)item->check_count;
		values[METRIC_checks_passing] = (double)item->checks_passing;
	}
	if (item->tests_passing >= 0) {
		values[METRIC_tests_passing] = (double)item->tests_passing;
		values[METRIC_tests_failing] = fmax(0, (double)item->tests_failing);
	}
}

static void add_iterations(double *values, const struct view_iterations *all)
{
	const uint64_t *tokens = all->total.tokens;

	values[METRIC_iterations_total] = (double)all->dropped;
	for (size_t i = 0; i < all->count; i++)
		add_item(values, &all->items[i]);
	values[METRIC_requests_total] = (double)all->total.requests;
	values[METRIC_cached_tokens_total] = (double)tokens[PRICE_READ];
	values[METRIC_output_tokens_total] = (double)tokens[PRICE_OUTPUT];
	values[METRIC_input_tokens_total] = (double)(tokens[PRICE_INPUT] + tokens[PRICE_READ] +
						     tokens[PRICE_WRITE_5M] +
						     tokens[PRICE_WRITE_1H]);
}

static double of_limit(const struct view_limit *limit, double unit)
{
	return limit->total ? (double)limit->total / unit : NAN;
}

static void add_limits(double *values, const struct view_limits *limits)
{
	const struct view_limit *cost = &limits->of[VIEW_LIMIT_cost];

	values[METRIC_elapsed_seconds] = (double)limits->elapsed_ms / 1000;
	values[METRIC_time_limit_seconds] = of_limit(&limits->of[VIEW_LIMIT_time], 1000);
	values[METRIC_iterations_limit] = of_limit(&limits->of[VIEW_LIMIT_iterations], 1);
	values[METRIC_cost_usd_total] = (double)limits->cost_nusd / 1e9;
	values[METRIC_cost_limit_usd] = of_limit(cost, 1e9);
	values[METRIC_budget_left_usd] = cost->total
						 ? fmax(0, (double)(cost->total - cost->used) / 1e9)
						 : NAN;
}

/* Reads the numbers of a loop. Those that cannot be read are left out. */
static void fill(struct row *row, const struct client_loop *loop, int64_t now_ms)
{
	static const enum metric unknown[] = { METRIC_checks, METRIC_checks_passing,
					       METRIC_tests_passing, METRIC_tests_failing,
					       METRIC_files_changed };
	int64_t seen_ms = client_heartbeat_ms(loop);
	struct view_iterations all;
	struct view_limits limits;
	struct error ignored;

	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		row->values[unknown[i]] = NAN;
	if (view_iterations_read(loop, &all, &ignored) == 0) {
		add_iterations(row->values, &all);
		view_iterations_release(&all);
	}
	view_limits_read(loop, now_ms, &limits);
	add_limits(row->values, &limits);
	row->values[METRIC_started_timestamp_seconds] = (double)loop->state.created_ms / 1000;
	row->values[METRIC_heartbeat_timestamp_seconds] = seen_ms ? (double)seen_ms / 1000 : NAN;
	row->values[METRIC_heartbeat_age_seconds] =
		seen_ms ? fmax(0, (double)(now_ms - seen_ms) / 1000) : NAN;
	row->values[METRIC_findings] = (double)json_array_size(loop->state.findings);
}

/* Returns the status as a constant, because a loop's own texts are released with it. */
static const char *status_of(const struct client_loop *loop)
{
	const char *status = client_status(loop);

	for (size_t i = 0; i < STATUSES && !loop->damaged; i++)
		if (strcmp(statuses[i], status) == 0)
			return statuses[i];
	return statuses[STATUSES - 1];
}

static void add_row(struct rows *rows, const struct client_loop *loop, int64_t now_ms)
{
	const struct loop_options *options = &loop->state.options;
	struct row *row;

	rows->items = mem_extend(rows->items, rows->count, sizeof *rows->items);
	row = &rows->items[rows->count++];
	*row = (struct row){ .id = mem_dup(loop->id), .damaged = loop->damaged };
	row->status = status_of(loop);
	row->project = mem_dup(options->origin    ? options->origin
			       : options->project ? options->project
						  : "");
	if (!loop->damaged)
		fill(row, loop, now_ms);
}

static void release_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->items[i].id);
		free(rows->items[i].project);
	}
	free(rows->items);
}

/* The newest loops, and all that have not ended. */
static int read_rows(const char *state, size_t newest, int64_t now_ms, struct rows *ret_rows,
		     struct error *err)
{
	const struct client_query query = { .newest = newest };
	struct client_loops loops;
	size_t first;

	*ret_rows = (struct rows){ 0 };
	if (client_list(state, &query, &loops, err) < 0)
		return -1;
	first = loops.count > METRICS_MOST ? loops.count - METRICS_MOST : 0;
	for (size_t i = first; i < loops.count; i++)
		add_row(ret_rows, &loops.items[i], now_ms);
	ret_rows->more = loops.unread + first;
	client_loops_release(&loops);
	return 0;
}

static void add_sample(struct buffer *out, const char *kind, const char *name, const char *id,
		       double value)
{
	if (isnan(value))
		return;
	buffer_printf(out, "ringfence_%s_%s{%s=", kind, name, kind);
	metrics_label(out, id);
	buffer_add_text(out, "}");
	add_value(out, value);
}

/* Which loop has which status: alerts join the other metrics with this one. */
static void add_info(struct buffer *out, const struct rows *rows)
{
	head(out, "loop_info", "gauge", "A loop with its project and its status; always 1.");
	for (size_t i = 0; i < rows->count; i++) {
		buffer_add_text(out, "ringfence_loop_info{loop=");
		metrics_label(out, rows->items[i].id);
		buffer_add_text(out, ",project=");
		metrics_label(out, rows->items[i].project);
		buffer_printf(out, ",status=\"%s\"} 1\n", rows->items[i].status);
	}
}

static void add_statuses(struct buffer *out, const struct rows *rows)
{
	head(out, "loops", "gauge", "Loops with series of their own, by status.");
	for (size_t k = 0; k < STATUSES; k++) {
		size_t count = 0;

		for (size_t i = 0; i < rows->count; i++)
			count += rows->items[i].status == statuses[k];
		buffer_printf(out, "ringfence_loops{status=\"%s\"} %zu\n", statuses[k], count);
	}
	head(out, "loops_older", "gauge", "Loops without series of their own: older, and ended.");
	buffer_printf(out, "ringfence_loops_older %zu\n", rows->more);
}

static void add_loops(struct buffer *out, const struct rows *rows)
{
	add_statuses(out, rows);
	add_info(out, rows);
	for (size_t k = 0; k < METRICS; k++) {
		AUTO_FREE char *name = mem_format("loop_%s", metrics[k].name);

		head(out, name, metrics[k].type, metrics[k].help);
		for (size_t i = 0; i < rows->count; i++)
			if (!rows->items[i].damaged)
				add_sample(out, "loop", metrics[k].name, rows->items[i].id,
					   rows->items[i].values[k]);
	}
}

/* ---- batches ---- */

/* Chooses the batches that go on, and the newest ones that have ended: wanted[i] is set. */
static bool *choose_batches(const struct batch_clients *batches, size_t newest)
{
	bool *wanted = mem_zero(batches->count + 1);
	size_t most = METRICS_MOST;

	for (size_t i = batches->count; i-- > 0 && most > 0;) {
		wanted[i] = !batches->items[i].state.finished || newest > 0;
		newest -= batches->items[i].state.finished && newest > 0;
		most -= wanted[i];
	}
	return wanted;
}

static void add_batch_info(struct buffer *out, const struct batch_clients *batches,
			   const bool *wanted)
{
	head(out, "batch_info", "gauge", "A batch with its project and its status; always 1.");
	for (size_t i = 0; i < batches->count; i++) {
		const struct batch_client *batch = &batches->items[i];

		if (!wanted[i])
			continue;
		buffer_add_text(out, "ringfence_batch_info{batch=");
		metrics_label(out, batch->id);
		buffer_add_text(out, ",project=");
		metrics_label(out, batch->state.project ? batch->state.project : "");
		buffer_printf(out, ",status=\"%s\"} 1\n",
			      batch->damaged ? "damaged" : batch_client_status(batch));
	}
}

static void add_tasks(struct buffer *out, const struct batch_client *batch)
{
	struct batch_sums sums;

	batch_sums_count(&batch->state, &sums);
	for (int step = 0; step < BATCH_STEP_COUNT; step++) {
		buffer_add_text(out, "ringfence_batch_tasks{batch=");
		metrics_label(out, batch->id);
		buffer_printf(out, ",state=\"%s\"} %zu\n",
			      batch_event_step_name((enum batch_step)step), sums.steps[step]);
	}
}

static void add_batch_costs(struct buffer *out, const struct batch_clients *batches,
			    const bool *wanted)
{
	head(out, "batch_cost_usd_total", "counter", "Cost of a batch's loops that have ended.");
	for (size_t i = 0; i < batches->count; i++) {
		struct batch_sums sums;

		if (!wanted[i] || batches->items[i].damaged)
			continue;
		batch_sums_count(&batches->items[i].state, &sums);
		add_sample(out, "batch", "cost_usd_total", batches->items[i].id,
			   (double)sums.spent_nusd / 1e9);
	}
	head(out, "batch_cost_limit_usd", "gauge", "The limit of that cost.");
	for (size_t i = 0; i < batches->count; i++)
		if (wanted[i] && batches->items[i].state.most_nusd)
			add_sample(out, "batch", "cost_limit_usd", batches->items[i].id,
				   (double)batches->items[i].state.most_nusd / 1e9);
}

static int add_batches(const char *state, size_t newest, struct buffer *out, struct error *err)
{
	struct batch_clients batches;

	if (batch_client_list(state, &batches, err) < 0)
		return -1;

	AUTO_FREE bool *wanted = choose_batches(&batches, newest);

	add_batch_info(out, &batches, wanted);
	head(out, "batch_tasks", "gauge", "Tasks of a batch, by state; candidates are counted.");
	for (size_t i = 0; i < batches.count; i++)
		if (wanted[i] && !batches.items[i].damaged)
			add_tasks(out, &batches.items[i]);
	add_batch_costs(out, &batches, wanted);
	batch_clients_release(&batches);
	return 0;
}

int metrics_write(const char *state, size_t newest, int64_t now_ms, struct buffer *out,
		  struct error *err)
{
	struct rows rows;

	if (read_rows(state, newest, now_ms, &rows, err) < 0)
		return -1;
	head(out, "build_info", "gauge", "The version of Ringfence; always 1.");
	buffer_add_text(out, "ringfence_build_info{version=\"" RINGFENCE_VERSION "\"} 1\n");
	head(out, "metrics_timestamp_seconds", "gauge", "When these metrics were written.");
	buffer_printf(out, "ringfence_metrics_timestamp_seconds %lld\n", (long long)now_ms / 1000);
	add_loops(out, &rows);
	release_rows(&rows);
	return add_batches(state, newest, out, err);
}
