/*
 * When does the loop stop at a limit? Limits of the loop and of its phase, an early stop, open
 * breakers, and the warning level of the cost. A function that returns true has decided.
 */
#ifndef DECISION_DECISION_LIMIT_H
#define DECISION_DECISION_LIMIT_H

#include "decision/decision_reason.h"

/* Returns how long the loop has lasted at a time. */
int64_t decision_limit_elapsed_s(const struct decision_input *in, int64_t at);

/* Is the money or the time used up, with which anything could be started? */
bool decision_limit_used_up(const struct decision_input *in, struct decision *d);

/* The same, or are the iterations used up? */
bool decision_limit_reached(const struct decision_input *in, struct decision *d);

/*
 * Does more work promise nothing? Everything that a program can verify holds, or this would be a
 * failure, and the agent gets no further with the rest.
 */
bool decision_limit_early(const struct decision_input *in, struct decision *d);

/* Is a limit of the phase reached, which is not one of the loop? */
bool decision_limit_phase(const struct decision_input *in, struct decision *d);

/* Makes way for the next phase, which starts afresh. */
void decision_limit_leave_phase(struct decision *d);

/* Is a breaker open? */
bool decision_limit_breakers(const struct decision_input *in, struct decision *d);

/* Adds a warning for each half-open breaker. */
void decision_limit_warn(const struct decision_input *in, struct decision *d);

/* Does the cost reach its warning level, and does the loop pause there? */
bool decision_limit_cost(const struct decision_input *in, struct decision *d);

#endif
