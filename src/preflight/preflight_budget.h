/* The limits of what the preflight reads. When one is reached, its item says so. */
#ifndef PREFLIGHT_PREFLIGHT_BUDGET_H
#define PREFLIGHT_PREFLIGHT_BUDGET_H

#include <stdint.h>

struct preflight_budget {
	uint64_t entries; /* of the project's folders; also of git's index */
	uint64_t files;   /* that are read, those with likely names first */
	uint64_t bytes;   /* of these files; the same number for old versions of files */
	uint64_t commits; /* the newest ones */
	uint64_t ms;      /* for the files, and for the commits at the same time */
};

#endif
