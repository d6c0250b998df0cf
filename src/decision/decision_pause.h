/* When does the loop pause, because a person has to decide? A function that returns true has
 * decided. */
#ifndef DECISION_DECISION_PAUSE_H
#define DECISION_DECISION_PAUSE_H

#include "decision/decision_reason.h"

/*
 * Does the agent wait for a person? It is repeated once the person has acted, as if it had not run:
 * what it was to be told next stays the same.
 */
bool decision_pause_blocked(const struct decision_input *in, struct decision *d);

/* A failure that no wait can fix. */
bool decision_pause_failure(const struct decision_input *in, struct decision *d);

/* Signs that the changes weaken the checks. The agent gets one chance to take back what stops the
 * loop; what needs a review waits until the rest of the work is done. */
bool decision_pause_findings(const struct decision_input *in, struct decision *d, bool done);

/* Is the opinion that was asked for missing? Decides how to get it if so. */
bool decision_pause_opinion(const struct decision_input *in, struct decision *d);

/* A reviewer and an agent that never agree. */
bool decision_pause_review(const struct decision_input *in, struct decision *d);

/* The agent gets one chance to make the checks pass without its changes to pinned files. */
bool decision_pause_pins(const struct decision_input *in, struct decision *d);

/* A hidden check fails. The agent learns no more than that, and not too often. */
bool decision_pause_final(const struct decision_input *in, struct decision *d);

#endif
