/* The options of `ringfence work`: see work_options.h. */
#include "cli/work_options.h"

#include "batch/batch_state.h"
#include "util/text/text.h"

#include <string.h>

enum { NUSD_PER_THOUSANDTH = 1000000, RACERS_MAX = 16 };

_Static_assert(offsetof(struct work_options, effective) == 0,
	       "effective_set() needs it to be the first member");

static int read_number(const char *name, const char *text, uint64_t most, uint64_t *ret_number,
		       struct error *err)
{
	if (text_count(text, ret_number) < 0 || *ret_number < 1 || *ret_number > most)
		return error_with(err, ERROR_INVALID,
				  "--%s must be a number from 1 to %llu, not '%.100s'", name,
				  (unsigned long long)most, text);
	return 0;
}

/* Adds a limit, unless it is NULL. */
static int add_limit(const char *name, const char *text, uint64_t most, json_t *config,
		     struct error *err)
{
	uint64_t number = 0;

	if (!text)
		return 0;
	if (read_number(name, text, most, &number, err) < 0)
		return -1;
	return json_object_set_new(config, name, json_integer((json_int_t)number));
}

/* Adds what a task may cost; 0: unlimited. */
static int add_task_cost(const char *text, json_t *config, struct error *err)
{
	uint64_t thousandths = 0;

	if (!text)
		return 0;
	if (strcmp(text, "none") != 0 && text_thousandths(text, &thousandths) < 0)
		return error_with(
			err, ERROR_INVALID,
			"--task-cost must be an amount in US$, such as 2.50, or none, not "
			"'%.100s'",
			text);
	json_object_set_new(config, "task_cost_nusd",
			    json_integer((json_int_t)thousandths * NUSD_PER_THOUSANDTH));
	return 0;
}

int work_options_add_limits(const struct work_options *opts, json_t *config, struct error *err)
{
	return add_limit("jobs", opts->jobs, BATCH_JOBS_MAX, config, err) < 0 ||
			       add_limit("rounds", opts->rounds, BATCH_ROUNDS_MAX, config, err) < 0
		       ? -1
		       : add_task_cost(opts->task_cost, config, err);
}

static int add_candidates(const char *text, struct list *racers, struct error *err)
{
	uint64_t count = 0;

	if (read_number("candidates", text, RACERS_MAX, &count, err) < 0)
		return -1;
	for (uint64_t i = 0; i < count; i++)
		list_add(racers, "");
	return 0;
}

static int add_agents(const char *text, struct list *racers, struct error *err)
{
	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		list_printf(racers, "%.*s", (int)strcspn(at, ","), at);
	if (racers->count > RACERS_MAX || list_has(racers, ""))
		return error_with(err, ERROR_INVALID,
				  "--agents must be a list of at most %d agents, such as "
				  "claude,codex",
				  RACERS_MAX);
	return 0;
}

int work_options_racers(const struct work_options *opts, struct list *ret_racers, struct error *err)
{
	struct list racers = { 0 };
	int result = 0;

	if (opts->compare && !opts->candidates && !opts->agents)
		return error_with(err, ERROR_INVALID,
				  "--compare needs something to compare: add --candidates N or "
				  "--agents AGENT,...");
	if (opts->candidates && opts->agents)
		return error_with(err, ERROR_INVALID, "use --candidates or --agents, not both");
	if (opts->candidates)
		result = add_candidates(opts->candidates, &racers, err);
	else if (opts->agents)
		result = add_agents(opts->agents, &racers, err);
	if (result < 0)
		list_release(&racers);
	else
		*ret_racers = racers;
	return result;
}
