// sources: src/loop/state/loop_state.c src/loop/state/loop_event.c
// sources: src/loop/state/loop_state_fold.c src/loop/state/loop_state_verdict.c
// sources: src/loop/state/loop_state_options.c src/loop/state/loop_part.c
// sources: src/loop/state/loop_phase.c src/loop/state/loop_accepted.c
// sources: src/agent/agent.c src/agent/agent_format.c src/agent/adapter_claude.c
// sources: src/agent/adapter_codex.c src/agent/agent_events.c src/agent/adapter_gemini.c
// sources: src/agent/agent_reader.c src/agent/adapter_opencode.c src/agent/agent_plain.c
// sources: src/agent/jsonline.c src/agent/stream.c src/decision/breaker.c src/decision/lines.c
// sources: src/failure/failure.c
// sources: src/journal/journal.c src/journal/journal_copy.c
// sources: src/journal/journal_head.c src/journal/journal_still.c -ljansson -lsqlite3
/* Events of a journal, "kind {json}" per line: they give a valid state or are refused. */
#include "fuzz.h"

#include "loop/state/loop_state.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const char created[] =
	"{\"config\":{\"project\":\"/p\",\"objective\":\"o\",\"agent_command\":\"a\",\"agent_format\":\"events\","
	"\"checks\":[\"x\",\"y\"],\"fence\":{}}}";

static int take(struct loop_state *state, int64_t seq, char *line)
{
	char *data = strchr(line, ' ');
	struct journal_event event = { .seq = seq, .at_ms = seq * 1000, .kind = line };
	struct error err;

	if (!data)
		return -1;
	*data = '\0';
	event.data = data + 1;
	return loop_state_fold(state, &event, &err);
}

void fuzz_loop_state(const uint8_t *data, size_t size)
{
	const struct journal_event first = { .seq = 1, .kind = "created", .data = created };
	AUTO_FREE char *text = strndup((const char *)data, size);
	struct loop_state state;
	struct error err;
	int64_t seq = 2;
	char *rest = text;

	loop_state_init(&state);
	if (size && data[0] != 'c' && loop_state_fold(&state, &first, &err) < 0)
		abort();
	for (char *line; (line = strsep(&rest, "\n")) && take(&state, seq, line) == 0;)
		seq++;
	if (state.step >= LOOP_STEP_COUNT || !loop_state_status(&state, true) ||
	    state.checks_done > state.options.checks.count || state.spent_nusd < 0 ||
	    (state.options.phase_count && state.phase.at >= state.options.phase_count) ||
	    state.agent >= DECISION_AGENTS_MAX)
		abort();
	loop_state_budget_nusd(&state);
	loop_state_agents(&state);
	loop_state_release(&state);
}

FUZZ_TARGET(fuzz_loop_state)
