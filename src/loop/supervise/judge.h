/*
 * Between the supervisor and the guard: facts are put together, and decisions become events. Nothing here
 * waits or writes; the task list is the only file that is read.
 */
#ifndef LOOP_SUPERVISE_JUDGE_H
#define LOOP_SUPERVISE_JUDGE_H

#include "agent/agent.h"
#include "loop/run/runner.h"
#include "loop/run/survey.h"
#include "loop/state/loop_state.h"

/* What is known of an agent's part beside how its processes ended. */
struct judge_said {
	bool idle;         /* ended for want of output */
	bool over_budget;  /* ended because it had spent what it may */
	const char *limit; /* the option that ended it, with its value; empty: none did */
	uint64_t bytes;
	const struct agent_summary *heard;
};

/* The data of an event; the caller owns it. */
json_t *judge_check(size_t index, const char *command, const struct runner_result *result,
		    const char *output, size_t size);
json_t *judge_end(const struct runner_result *result, const struct judge_said *said,
		  const char *final, size_t size, int64_t now_ms);

/* An iteration that was cut off. What its agent has spent is spent, and its session is there. */
json_t *judge_interrupted(const struct loop_state *state, const struct agent_summary *heard,
			  int64_t now_ms);

/* Adds what was printed last, if anything was. */
void judge_add_last_line(json_t *data, const char *output, size_t size);

/* Adds cost, tokens and session, as far as they are known. */
void judge_add_heard(json_t *data, const struct agent_summary *heard);

/* Was a command line not there, or no program? Of a check's line only what it begins with counts, and a program in
 * the project may be the work that is to be done. */
bool judge_absent(const struct loop_options *options, const char *line, int code, bool is_check);

void judge_snapshot(const struct loop_state *state, const struct survey *survey,
		    struct progress_snapshot *ret_snapshot);

/* Does every rule hold before the first iteration? */
bool judge_done_already(const struct loop_state *state);

void judge_before(const struct loop_state *state, int64_t now_ms, struct decision *ret_decision);
void judge_after(const struct loop_state *state, const struct survey *survey, int64_t now_ms,
		 struct decision *ret_decision, json_t **ret_data);

#endif
