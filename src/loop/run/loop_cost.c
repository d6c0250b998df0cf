/* The cost of a loop: see loop_cost.h. */
#include "loop/run/loop_cost.h"

#include "failure/failure.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

void loop_cost_options(const struct supervisor *sup, struct ledger_options *ret_options,
		       char **ret_day)
{
	const struct loop_options *options = &sup->state.options;
	const struct loop_budget_name name = loop_state_budget_name(&sup->state);

	*ret_day = mem_format("%s/../../day.spend", sup->folder);
	*ret_options = (struct ledger_options){
		.folder = sup->folder,
		.day = *ret_day,
		.limits = { [LEDGER_ITERATION] = (uint64_t)loop_state_budget_nusd(&sup->state),
			    [LEDGER_LOOP] = (uint64_t)options->limits.cost_nusd,
			    [LEDGER_DAY] = (uint64_t)options->daily_nusd },
		.budget_of = name.of,
		.budget_option = name.option,
		.budget_whole = (uint64_t)name.whole_nusd,
		.period = loop_state_period(&sup->state),
		.spent = (uint64_t)sup->state.spent_nusd,
		.settled = sup->state.settled,
		.iteration = sup->state.iteration,
		.agent = loop_state_part(&sup->state)->agent,
		.review = loop_state_part(&sup->state)->review,
	};
}

void loop_cost_count(const struct supervisor *sup, struct agent_summary *heard)
{
	uint64_t total;
	uint64_t period;
	uint64_t held;
	struct ledger_options options;
	AUTO_FREE char *day = NULL;
	struct error ignored;

	if (!model_access_is_set(&sup->fence.models))
		return;
	loop_cost_options(sup, &options, &day);
	/* A runner that was killed has left its lease. */
	if (ledger_recover(&options, &ignored) < 0 ||
	    ledger_read(sup->folder, &total, &period, &held, &ignored) < 0)
		return;
	heard->agent_nusd = heard->cost_nusd;
	heard->cost_nusd = period == loop_state_period(&sup->state) ? (int64_t)held : 0;
	/* After a crash, money that was granted counts as spent. */
	heard->estimated_nusd = heard->cost_nusd;
}

/* Remembers a limit that outlasts this iteration, and a replay that cannot continue. */
static void remember_end(struct supervisor *sup, const struct ledger_news *news)
{
	if (news->stray[0])
		snprintf(sup->money.strayed, sizeof sup->money.strayed,
			 "the replay has left its tape: %.900s", news->stray);
	if (news->over && news->scope != LEDGER_ITERATION) {
		memcpy(sup->money.used_up, news->why, sizeof sup->money.used_up);
		sup->money.used_up_today = news->scope == LEDGER_DAY;
	}
}

void loop_cost_hear(struct supervisor *sup, const struct runner_result *result, bool over_budget)
{
	struct agent_summary *heard = &sup->run.heard;
	const struct failure_reports reports = {
		.ok = heard->ok,
		.over_budget = over_budget,
		.agent = heard->error,
		.gateway = result->metered ? (enum failure)result->news.failure : FAILURE_NONE,
	};

	heard->error = failure_combine(&reports);
	if (!result->metered)
		return;
	heard->estimated_nusd = (int64_t)result->news.estimated_nusd;
	if (heard->error == reports.gateway && heard->reset_at == 0 &&
	    heard->error == FAILURE_RATE_LIMIT)
		heard->reset_at = (result->news.retry_at_ms + 999) / 1000;
	remember_end(sup, &result->news);
}
