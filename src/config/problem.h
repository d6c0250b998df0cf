/* What is wrong with a file, each with its place; collected, so that one look finds all of it. */
#ifndef CONFIG_PROBLEM_H
#define CONFIG_PROBLEM_H

#include "util/list.h"

enum { PROBLEMS_MOST = 20 };

/* Where in a file; both count from 1. */
struct problem_position {
	unsigned int line;
	unsigned int column;
};

/* Adds "FILE:LINE:COLUMN: sentence", unless there are PROBLEMS_MOST already. */
void problem_add(struct list *problems, const char *file, struct problem_position at,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
