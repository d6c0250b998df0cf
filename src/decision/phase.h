/*
 * Phases: a loop may be a list of them, such as plan, work and verify.
 *
 * A phase is over when its conditions hold after one of its iterations; then the next one begins. A
 * phase never outvotes the rules of the loop: they decide whether the last phase, and with it the
 * loop, is done. A phase that reaches a limit of its own needs a person, unless it is set to make
 * way for the next one.
 */
#ifndef DECISION_PHASE_H
#define DECISION_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct phase_facts {
	const char *name;         /* NULL: the loop has no phases */
	const char *next;         /* the name of the next one; NULL: this is the last */
	bool held;                /* its conditions hold, apart from the next field */
	bool needs_rules;         /* the rules of the loop must hold */
	uint32_t iterations;      /* since it began, or a person resumed the loop */
	uint32_t most_iterations; /* 0: no limit, here and below */
	int64_t cost_nusd;
	int64_t most_nusd;
	bool skips; /* at a limit, the next phase begins */
};

/* Is the phase over, given whether the rules of the loop hold? Never without phases. */
bool phase_is_over(const struct phase_facts *phase, bool rules_hold);

/* Is a limit reached? The text then says which, for people. */
bool phase_is_limited(const struct phase_facts *phase, char *text, size_t size);

#endif
