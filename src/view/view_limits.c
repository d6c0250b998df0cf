/* The limits of a loop and its cost: see view_limits.h. */
#include "view/view_limits.h"

#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/view_tail.h"

#include <string.h>

/* Bytes read from the end of the ledger: the requests of one iteration. A rate is shown after
 * RATE_MS. */
enum { LEDGER_BYTES = 1 << 18, RATE_MS = 60000, HOUR_MS = 3600000 };

const char *view_limits_name(enum view_limit_kind kind)
{
	static const char *const names[] = {
#define VIEW_LIMIT(name) #name,
		VIEW_LIMITS(VIEW_LIMIT)
#undef VIEW_LIMIT
	};

	return names[kind];
}

static struct view_limit limit_of(int64_t used, int64_t total)
{
	struct view_limit limit = { .used = used > 0 ? used : 0, .total = total > 0 ? total : 0 };

	if (limit.total)
		limit.permille = limit.used >= limit.total ? 1000
							   : (uint32_t)((double)limit.used * 1000 /
									(double)limit.total);
	return limit;
}

/* The time at which the clock of a loop stands: it stops while the loop is paused or over. */
static int64_t clock_of(const struct loop_state *state, int64_t now_ms)
{
	return state->step == LOOP_STEP_paused || state->step == LOOP_STEP_finished ? state->step_ms
										    : now_ms;
}

void view_limits_sum(const struct loop_state *state, int64_t cost_nusd, int64_t now_ms,
		     struct view_limits *ret_limits)
{
	const struct loop_options *options = &state->options;
	const struct decision_limits *limits = &options->limits;
	bool agent = state->step == LOOP_STEP_agent;
	int64_t elapsed_ms = clock_of(state, now_ms) - state->created_ms - state->rested_ms;

	*ret_limits = (struct view_limits){
		.of = { [VIEW_LIMIT_iterations] = limit_of(state->iteration, limits->iterations),
			[VIEW_LIMIT_time] = limit_of(elapsed_ms, limits->total_s * 1000),
			[VIEW_LIMIT_cost] = limit_of(cost_nusd, limits->cost_nusd) },
		.elapsed_ms = elapsed_ms > 0 ? elapsed_ms : 0,
		.cost_nusd = cost_nusd,
		.estimated_nusd = state->estimated_nusd,
	};
	if (agent) {
		ret_limits->of[VIEW_LIMIT_timeout] = limit_of(now_ms - state->step_ms,
							      options->timeout_ms);
		ret_limits->of[VIEW_LIMIT_budget] = limit_of(cost_nusd - state->spent_nusd,
							     loop_state_budget_nusd(state));
	}
	if (elapsed_ms >= RATE_MS)
		ret_limits->rate_nusd = (int64_t)((double)cost_nusd * HOUR_MS / (double)elapsed_ms);
}

/* Adds up the lines of the ledger since a time. The first line may be incomplete. */
static int64_t sum_since(const char *lines, size_t size, int64_t since_ms)
{
	int64_t sum = 0;

	while (size) {
		const char *end = memchr(lines, '\n', size);
		size_t part = end ? (size_t)(end - lines) + 1 : size;
		json_t *row = json_loadb(lines, part, 0, NULL);

		if (jsonget_number(row, "at_ms") >= since_ms &&
		    jsonget_number(row, "cost_nusd") > 0)
			sum += jsonget_number(row, "cost_nusd");
		json_decref(row);
		lines += part;
		size -= part;
	}
	return sum;
}

/* The cost of the requests in this step, which the journal does not have yet. */
static int64_t unrecorded_nusd(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	bool asks = state->step == LOOP_STEP_agent || state->step == LOOP_STEP_review;
	AUTO_FREE char *path = asks ? path_join(loop->folder, "ledger.jsonl") : NULL;
	size_t size = 0;
	AUTO_FREE char *lines = path ? view_tail_read(path, LEDGER_BYTES, &size) : NULL;

	return lines ? sum_since(lines, size, state->step_ms) : 0;
}

void view_limits_read(const struct client_loop *loop, int64_t now_ms,
		      struct view_limits *ret_limits)
{
	view_limits_sum(&loop->state, loop->state.spent_nusd + unrecorded_nusd(loop), now_ms,
			ret_limits);
}

void view_limits_tick(struct view_limits *limits, const struct loop_state *state, int64_t now_ms)
{
	view_limits_sum(state, limits->cost_nusd, now_ms, limits);
}
