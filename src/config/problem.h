/* Mistakes in a file, with their positions, collected so that all are reported at once. */
#ifndef CONFIG_PROBLEM_H
#define CONFIG_PROBLEM_H

#include "util/list.h"

enum { PROBLEMS_MOST = 20 };

/* A position in a file; both numbers start at 1. */
struct problem_position {
	unsigned int line;
	unsigned int column;
};

/* Adds "FILE:LINE:COLUMN: sentence", unless there are PROBLEMS_MOST already. */
void problem_add(struct list *problems, const char *file, struct problem_position at,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
