/*
 * Connects the supervisor to the decision: collects facts, and turns decisions into events. Nothing
 * here waits or writes; the task list is the only file that is read.
 */
#ifndef LOOP_SUPERVISE_JUDGE_H
#define LOOP_SUPERVISE_JUDGE_H

#include "agent/agent.h"
#include "loop/run/runner.h"
#include "loop/run/survey.h"
#include "loop/state/loop_state.h"

/* Facts about an agent's run besides how its processes ended. */
struct judge_end_facts {
	bool idle;         /* stopped for lack of output */
	bool over_budget;  /* stopped because it used up its budget */
	const char *limit; /* the option that stopped it, with its value; or empty */
	uint64_t bytes;
	const struct agent_summary *heard;
};

/* A check, and what its output must have so that its success counts. */
struct judge_check_facts {
	size_t index;
	const char *command;
	bool summary;  /* its test runner printed one before the loop */
	int64_t least; /* at least this many tests must run, as before the loop; or 0 */
	size_t most;   /* how many bytes of its output are kept for the prompt */
};

/* Return the data of an event, which the caller owns. */
json_t *judge_check(const struct judge_check_facts *facts, const struct runner_result *result,
		    const char *output, size_t size);
json_t *judge_end(const struct runner_result *result, const struct judge_end_facts *facts,
		  const char *final, size_t size, int64_t now_ms);

/* An iteration that was cut off. The agent's cost still counts, and its session remains. */
json_t *judge_interrupted(const struct loop_state *state, const struct agent_summary *heard,
			  int64_t now_ms);

/* The same of an agent that was interrupted by a message of the user ("told") or by an alert
 * ("alert"), which no breaker counts. */
json_t *judge_restarted(const struct loop_state *state, const struct agent_summary *heard,
			const char *by);

/* A review: adds the findings in the final message to the data of its end, or why there are none.
 * Consumes and returns the data. */
json_t *judge_review(json_t *ended, const char *final, size_t size);

/* A review that was cut off. Its cost counts. */
json_t *judge_review_lost(const struct agent_summary *heard);

/* Returns the result of a check with the agent's version of pinned files, as a part of the data of
 * the other result. */
json_t *judge_own_check(const json_t *data);

/* Adds the last printed line, if any. */
void judge_add_last_line(json_t *data, const char *output, size_t size);

/* Adds cost, tokens and session, if known. */
void judge_add_heard(json_t *data, const struct agent_summary *heard);

/*
 * Was the program of a command line missing or not executable? For a check, only the first word
 * counts, and a program in the project may be the work to be done.
 */
bool judge_absent(const struct loop_options *options, const char *line, int code, bool is_check);

void judge_snapshot(const struct loop_state *state, const struct survey *survey,
		    struct progress_snapshot *ret_snapshot);

/* Does every rule hold before the first iteration? */
bool judge_done_already(const struct loop_state *state);

/* The same, as far as it is known before the final checks have run. */
bool judge_done_but_finals(const struct loop_state *state);

void judge_before(const struct loop_state *state, int64_t now_ms, struct decision *ret_decision);
void judge_after(const struct loop_state *state, const struct survey *survey, int64_t now_ms,
		 struct decision *ret_decision, json_t **ret_data);

#endif
