/* When does the loop wait for a provider, and until when; and when does another agent take over? */
#ifndef DECISION_DECISION_WAIT_H
#define DECISION_DECISION_WAIT_H

#include "decision/decision_reason.h"

/* Returns the agent that works next: the first one whose provider has no limit, or else the one
 * whose limit is over first. */
uint32_t decision_next_agent(const struct decision_agents *agents, int64_t now);

/* Returns how long to wait after this many waits in a row. */
int64_t decision_back_off_s(uint32_t waits);

/* Returns the cause of a wait, as the start of a sentence. */
struct decision_cause decision_wait_cause(const struct decision_input *in, enum failure failure);

/* Decides to wait, to go on with another agent, or to stop if the wait would exceed the total time.
 * Returns false if there is nothing to wait for. */
bool decision_wait_begin(const struct decision_input *in, struct decision *d);

#endif
