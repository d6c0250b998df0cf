/* Finds credentials in what a push would bring: the lines that a patch adds. */
#ifndef LAND_LAND_PATCH_H
#define LAND_LAND_PATCH_H

#include "util/error.h"

#include <stddef.h>
#include <stdint.h>

enum { LAND_PATCH_FINDINGS = 50 };

struct land_patch_finding {
	char *path;
	const char *what;
	char *shown; /* never the secret itself */
};

struct land_patch {
	struct land_patch_finding findings[LAND_PATCH_FINDINGS];
	size_t count;
};

/* Reads mails for `git am` from the start of a file. Returns 0, or -1 with err set. */
int land_patch_scan(int file, struct land_patch *ret_patch, struct error *err);

/* Adds what is found in another text that becomes public. name: a literal. */
void land_patch_add(struct land_patch *patch, const char *name, const char *text);
void land_patch_release(struct land_patch *patch);

#endif
