/* Finds the mutants of a source file. */
#ifndef MUTANT_MUTANT_FIND_H
#define MUTANT_MUTANT_FIND_H

#include "mutant/mutant.h"

/* Lines from `first`, which counts from 1. */
struct mutant_find_range {
	size_t first, count;
};

/* Adds the mutants of the changed lines, up to a maximum. A file that is not source code of a known
 * language, or that holds tests, has none. */
void mutant_find_all(const struct mutant_text *text, const struct mutant_find_range *changed,
		     size_t count, struct mutant_list *mutants);

#endif
