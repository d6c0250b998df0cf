/* Events of a loop, one after another, added to its state. */
#ifndef UNIT_SCRIPT_H
#define UNIT_SCRIPT_H

#include "loop/state/loop_state.h"

struct script {
	struct loop_state state;
	struct error err;
	int64_t seq;
	bool refused; /* an event was */
};

static inline void happens(struct script *script, const char *kind, const char *data)
{
	struct journal_event event = {
		.seq = ++script->seq, .at_ms = script->seq * 1000, .kind = kind, .data = data
	};

	script->refused = script->refused ||
			  loop_state_fold(&script->state, &event, &script->err) < 0;
}

#endif
