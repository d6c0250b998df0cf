/* Iterations: see web_iterations.h. */
#include "serve/answer/web_iterations.h"

#include "util/clock.h"
#include "view/view_iterations.h"
#include "view/view_json.h"

#include <stddef.h>

enum { WINDOW = 200, WINDOW_MOST = 1000, BUCKETS = 400, BUCKETS_MOST = 1000 };

/* Reads the loop and its iterations. Returns 0, or -1 with err set. */
static int read_all(const struct web_ask *ask, struct web_ask_answer *answer,
		    struct client_loop *ret_loop, struct view_iterations *ret_all,
		    struct error *err)
{
	if (web_ask_readable(ask, answer, ret_loop, err) < 0)
		return -1;
	if (view_iterations_read(ret_loop, ret_all, err) == 0)
		return 0;
	client_loop_release(ret_loop);
	return -1;
}

/* ---- a window ---- */

static json_t *window_json(const struct client_loop *loop, const struct view_iterations *all,
			   size_t from, size_t count)
{
	json_t *items = json_array();

	for (size_t i = from; i < from + count; i++) {
		json_t *item = view_json_iteration(loop, all, &all->items[i]);

		json_object_set_new(item, "index", json_integer((json_int_t)i));
		json_array_append_new(items, item);
	}
	return json_pack("{s:I, s:I, s:I, s:b, s:b, s:o, s:o}", "count", (json_int_t)all->count,
			 "from", (json_int_t)from, "dropped", (json_int_t)all->dropped, "replay",
			 all->replay, "metered", all->metered, "trouble",
			 view_json_text(all->trouble), "items", items);
}

int web_iterations_answer(const struct web_ask *ask, struct web_ask_answer *answer,
			  struct error *err)
{
	struct view_iterations all;
	struct client_loop loop;
	int64_t limit, from;

	if (web_ask_number(ask, "limit", 1, WINDOW_MOST, WINDOW, &limit, err) < 0 ||
	    web_ask_number(ask, "from", 0, INT64_MAX, -1, &from, err) < 0 ||
	    read_all(ask, answer, &loop, &all, err) < 0)
		return -1;

	int64_t count = (int64_t)all.count;

	if (from < 0)
		from = count > limit ? count - limit : 0;
	if (from > count)
		from = count;
	if (limit > count - from)
		limit = count - from;
	answer->json = window_json(&loop, &all, (size_t)from, (size_t)limit);
	view_iterations_release(&all);
	client_loop_release(&loop);
	return 0;
}

/* ---- a series ---- */

/* A column is a sum over the attempts of an entry, or the last known value. */
struct column {
	const char *name;
	bool last;
	int64_t (*of)(const struct view_iteration *item);
};

#define PLAIN(member)                                                 \
	static int64_t of_##member(const struct view_iteration *item) \
	{                                                             \
		return (int64_t)item->member;                         \
	}
PLAIN(iteration)
PLAIN(ended_ms)
PLAIN(cost_nusd)
PLAIN(agent_ms)
PLAIN(checks_ms)
PLAIN(checks_passing)
PLAIN(tests_passing)
PLAIN(tests_failing)
PLAIN(files_changed)
PLAIN(tool_calls)
PLAIN(tool_errors)
PLAIN(denials)
PLAIN(findings)
PLAIN(check_count)

static int64_t of_tokens_in(const struct view_iteration *item)
{
	int64_t sum = 0;

	for (int i = 0; i < PRICE_KINDS; i++)
		if (i != PRICE_OUTPUT)
			sum += (int64_t)item->tokens[i];
	return sum;
}

static int64_t of_tokens_out(const struct view_iteration *item)
{
	return (int64_t)item->tokens[PRICE_OUTPUT];
}

static int64_t of_duration_ms(const struct view_iteration *item)
{
	return view_iterations_lasted_ms(item, clock_wall_ms());
}

static const struct column columns[] = {
	{ "iteration", true, of_iteration },
	{ "ended_ms", true, of_ended_ms },
	{ "cost_nusd", false, of_cost_nusd },
	{ "tokens_in", false, of_tokens_in },
	{ "tokens_out", false, of_tokens_out },
	{ "duration_ms", false, of_duration_ms },
	{ "agent_ms", false, of_agent_ms },
	{ "checks_ms", false, of_checks_ms },
	{ "checks_passing", true, of_checks_passing },
	{ "checks", true, of_check_count },
	{ "tests_passing", true, of_tests_passing },
	{ "tests_failing", true, of_tests_failing },
	{ "files_changed", true, of_files_changed },
	{ "tool_calls", false, of_tool_calls },
	{ "tool_errors", false, of_tool_errors },
	{ "denials", false, of_denials },
	{ "findings", true, of_findings },
};

/* Returns the value of a column for some attempts, or -1 if none of them knows it. */
static int64_t value_of(const struct column *column, const struct view_iterations *all,
			size_t first, size_t last)
{
	int64_t value = -1;

	for (size_t i = first; i <= last; i++) {
		int64_t one = column->of(&all->items[i]);

		if (one >= 0)
			value = column->last || value < 0 ? one : value + one;
	}
	return value;
}

static void append(json_t *series, const char *column, int64_t value)
{
	json_array_append_new(json_object_get(series, column), view_json_number(value));
}

static void add_entry(json_t *series, const struct view_iterations *all, size_t first, size_t last,
		      int64_t *total_nusd)
{
	append(series, "first", (int64_t)first);
	append(series, "last", (int64_t)last);
	append(series, "attempts", (int64_t)(last - first + 1));
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		append(series, columns[i].name, value_of(&columns[i], all, first, last));
	for (size_t i = first; i <= last; i++)
		if (all->items[i].cost_nusd > 0)
			*total_nusd += all->items[i].cost_nusd;
	append(series, "total_nusd", *total_nusd);
}

static json_t *series_json(const struct view_iterations *all, size_t most)
{
	static const char *const others[] = { "first", "last", "attempts", "total_nusd" };
	json_t *series = json_object();
	size_t size = (all->count + most - 1) / most;
	int64_t total_nusd = 0;
	json_int_t buckets = 0;

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		json_object_set_new(series, columns[i].name, json_array());
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		json_object_set_new(series, others[i], json_array());
	for (size_t first = 0; first < all->count; first += size, buckets++) {
		size_t end = first + size < all->count ? first + size : all->count;

		add_entry(series, all, first, end - 1, &total_nusd);
	}
	json_object_set_new(series, "count", json_integer((json_int_t)all->count));
	json_object_set_new(series, "buckets", json_integer(buckets));
	return series;
}

int web_iterations_series(const struct web_ask *ask, struct web_ask_answer *answer,
			  struct error *err)
{
	struct view_iterations all;
	struct client_loop loop;
	int64_t buckets;

	if (web_ask_number(ask, "buckets", 1, BUCKETS_MOST, BUCKETS, &buckets, err) < 0 ||
	    read_all(ask, answer, &loop, &all, err) < 0)
		return -1;
	answer->json = series_json(&all, (size_t)buckets);
	view_iterations_release(&all);
	client_loop_release(&loop);
	return 0;
}
