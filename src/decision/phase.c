/* Phases: see phase.h. */
#include "decision/phase.h"

#include <inttypes.h>
#include <stdio.h>

bool phase_is_over(const struct phase_facts *phase, bool rules_hold)
{
	return phase->name && phase->held && (rules_hold || !phase->needs_rules);
}

bool phase_is_limited(const struct phase_facts *phase, char *text, size_t size)
{
	if (!phase->name)
		return false;
	if (phase->most_nusd && phase->cost_nusd >= phase->most_nusd) {
		snprintf(text, size,
			 "US$ %.2f of the phase '%.100s' are spent (its max-cost is %.2f)",
			 (double)phase->cost_nusd / 1e9, phase->name,
			 (double)phase->most_nusd / 1e9);
		return true;
	}
	if (!phase->most_iterations || phase->iterations < phase->most_iterations)
		return false;
	snprintf(text, size,
		 "%" PRIu32 " iteration%s of the phase '%.100s' %s used up (its max-iterations)",
		 phase->iterations, phase->iterations == 1 ? "" : "s", phase->name,
		 phase->iterations == 1 ? "is" : "are");
	return true;
}
