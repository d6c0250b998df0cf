/* The present of a loop: see view_now.h. */
#include "view/view_now.h"

#include "util/mem.h"
#include "view/activity.h"
#include "view/view_tail.h"

#include <stdlib.h>
#include <string.h>

enum { TAIL_BYTES = 8192 };

/* Sets the check that runs now. The final checks come after the others. */
static void read_check(const struct loop_state *state, struct view_now *now)
{
	const struct loop_options *options = &state->options;
	const struct loop_phase *phase = loop_state_phase(state);
	size_t own = options->checks.count;

	if (state->checks_done < own) {
		now->check_number = state->checks_done + 1;
		now->check_count = own;
		now->check = options->checks.items[state->checks_done];
		now->check_file = "check";
	} else if (phase && state->phase.checks_done < loop_phase_checks(phase)) {
		now->check_number = state->phase.checks_done + 1;
		now->check_count = loop_phase_checks(phase);
		now->check = loop_phase_check(phase, state->phase.checks_done);
		now->check_file = "phase";
	} else if (own + state->finals_done < loop_options_check_count(options)) {
		now->check_number = state->finals_done + 1;
		now->check_count = loop_options_check_count(options) - own;
		now->check = loop_options_check(options, own + state->finals_done);
		now->check_file = "final";
	}
}

/* Returns the last line that a check has printed, on either stream; the caller frees. */
static char *check_line(const struct client_loop *loop, const struct view_now *now)
{
	static const char *const streams[] = { "stdout", "stderr" };
	AUTO_FREE char *log = activity_log(loop, now->iteration, now->attempt);
	int folder = (int)(strrchr(log, '/') - log);

	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
		AUTO_FREE char *path = mem_format("%.*s/%s-%zu.%s.log", folder, log,
						  now->check_file, now->check_number, streams[i]);
		size_t size = 0;
		AUTO_FREE char *bytes = view_tail_read(path, TAIL_BYTES, &size);
		char *line = bytes ? view_tail_line(bytes, size) : NULL;

		if (line)
			return line;
	}
	return NULL;
}

/* A command of the user's has no name of its own. */
static const char *agent_name(const struct loop_part *part)
{
	const char *name = loop_part_name(part);

	return name && strcmp(name, "command") != 0 ? name : NULL;
}

static void read_step(const struct client_loop *loop, struct view_now *now)
{
	const struct loop_state *state = &loop->state;

	switch (state->step) {
	case LOOP_STEP_agent:
	case LOOP_STEP_review:
		now->agent = agent_name(loop_state_part(state));
		now->doing = activity_now(loop);
		break;
	case LOOP_STEP_baseline:
	case LOOP_STEP_checks:
		read_check(state, now);
		now->line = now->check ? check_line(loop, now) : NULL;
		break;
	case LOOP_STEP_mutants:
		now->check_number = state->mutants.done + 1;
		now->check_count = state->options.mutants;
		break;
	case LOOP_STEP_waiting:
		now->until_ms = state->wait_until_ms;
		break;
	default:
		break;
	}
}

void view_now_read(const struct client_loop *loop, struct view_now *ret_now)
{
	const struct loop_state *state = &loop->state;
	bool rests = state->step == LOOP_STEP_waiting || state->step == LOOP_STEP_paused ||
		     state->step == LOOP_STEP_finished;

	*ret_now = (struct view_now){
		.step = state->step,
		.status = client_status(loop),
		.wish = state->wish,
		.since_ms = state->step_ms,
		.iteration = state->iteration,
		.attempt = state->attempt ? state->attempt : 1,
		.reason = rests && state->reason ? mem_dup(state->reason) : NULL,
	};
	if (loop->alive)
		read_step(loop, ret_now);
}

void view_now_release(struct view_now *now)
{
	free(now->doing);
	free(now->line);
	free(now->reason);
	*now = (struct view_now){ 0 };
}
