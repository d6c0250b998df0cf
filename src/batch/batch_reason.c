/* Why a task waits or has failed: see batch_reason.h. */
#include "batch/batch_reason.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>

enum { LINE_BYTES = 400, COMMAND_BYTES = 100 };

static char *one_line(const char *text)
{
	char *line = text_first_line(text, LINE_BYTES);

	return line ? line : mem_dup("");
}

static bool has_failed(const struct loop_state_check *check)
{
	return check->ran && (!check->passed || check->vacuous);
}

/* Describes the checks that fail, or returns NULL. The caller frees it. */
static char *failing_checks(const struct loop_state *state)
{
	AUTO_FREE char *command = NULL;
	size_t count = 0;

	for (size_t i = 0; i < state->options.checks.count; i++) {
		if (!has_failed(&state->checks[i]))
			continue;
		if (!count++)
			command = text_first_line(state->options.checks.items[i], COMMAND_BYTES);
	}
	if (count > 1)
		return mem_format("'%s' and %zu more check%s fail", command, count - 1,
				  count > 2 ? "s" : "");
	return count ? mem_format("'%s' fails", command) : NULL;
}

char *batch_reason_of_end(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	const char *status = client_status(loop);
	bool fell_short = !loop->damaged &&
			  (strcmp(status, "limit") == 0 || strcmp(status, "failed") == 0);
	AUTO_FREE char *whole = client_reason(loop);
	AUTO_FREE char *reason = one_line(whole);
	AUTO_FREE char *failing = fell_short ? failing_checks(state) : NULL;

	if (failing)
		return mem_format("%s; %s", reason, failing);
	return mem_format("%s%s", reason,
			  fell_short && state->final_failed ? "; a final check fails" : "");
}

/* A person answers a blocked agent by the id of its loop: there are others. */
char *batch_reason_of_pause(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	AUTO_FREE char *reason = one_line(state->blocked ? state->blocked : state->reason);

	return state->blocked ? mem_format("blocked: \"%s\" (to answer: ringfence answer %s TEXT)",
					   reason, loop->id)
			      : mem_dup(reason);
}
