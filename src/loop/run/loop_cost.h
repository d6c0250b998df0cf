/*
 * The cost of a loop's models and its limits. The gateway of each run counts; the account in the
 * loop's folder (gateway/owner/ledger.h) survives when a process is killed.
 */
#ifndef LOOP_RUN_LOOP_COST_H
#define LOOP_RUN_LOOP_COST_H

#include "loop/supervise/supervisor.h"

/*
 * Fills in the options for the current attempt. *ret_day is the path of the user's spend file of
 * the day; the caller frees it.
 */
void loop_cost_options(const struct supervisor *sup, struct ledger_options *ret_options,
		       char **ret_day);

/*
 * If the current attempt can reach models, the cost in the account replaces the agent's own figure,
 * which is kept beside it.
 * Until loop_cost_hear(), all of that cost counts as estimated.
 */
void loop_cost_count(const struct supervisor *sup, struct agent_summary *heard);

/*
 * Combines the gateway's findings with the agent's reports, and remembers a limit that outlasts
 * this iteration. over_budget: the agent was stopped because of its cost.
 */
void loop_cost_hear(struct supervisor *sup, const struct runner_result *result, bool over_budget);

#endif
