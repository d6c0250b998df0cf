/* The pins (project/pins.h) that a loop with these settings would have, each with its reason. */
#ifndef SETTINGS_PIN_LIST_H
#define SETTINGS_PIN_LIST_H

#include "project/pins.h"
#include "settings/effective.h"

struct pin_list_item {
	enum pins_kind kind; /* PINS_NOT: files that would be pinned otherwise, and are not */
	char *pattern;       /* as in .gitignore */
	char *why;           /* in words */
	char *origin;        /* of a setting; or "built-in" */
};

/* Files are pinned by the first item whose pattern matches. */
struct pin_list {
	struct pin_list_item *items;
	size_t count;
	char *nothing; /* why nothing is pinned; there are no items then. Or NULL */
};

/* Looks only at the settings, and at files in the root of the project if these name no check. */
void pin_list_make(const struct effective *effective, struct pin_list *ret_list);
void pin_list_release(struct pin_list *list);

#endif
