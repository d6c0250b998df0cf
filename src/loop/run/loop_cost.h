/*
 * The money of a loop: what its models may cost, and did. The gateway of each run counts; the
 * account in the loop's folder (gateway/owner/ledger.h) survives any process that is killed.
 */
#ifndef LOOP_RUN_LOOP_COST_H
#define LOOP_RUN_LOOP_COST_H

#include "loop/supervise/supervisor.h"

/* For the current try of the current iteration. day: the path of the user's spend file of the day;
 * the caller frees it. */
void loop_cost_options(const struct supervisor *sup, struct ledger_options *ret_options,
		       char **ret_day);

/* If the current try could reach models: the cost in the account replaces what the agent says, which
 * is kept beside it. */
void loop_cost_count(const struct supervisor *sup, struct agent_summary *heard);

/* Puts what the gateway saw together with what the agent said, and keeps a limit of ours that holds
 * for longer than this iteration. over_budget: the agent was cut off because of money. */
void loop_cost_hear(struct supervisor *sup, const struct runner_result *result, bool over_budget);

#endif
