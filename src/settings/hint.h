/* Hints for a program that exists on the host but not in the fence. */
#ifndef SETTINGS_HINT_H
#define SETTINGS_HINT_H

#include "fence/fence_plan.h"

/*
 * Finds a program on the host that the fence hides. Returns its path, and in *ret_read the path to
 * give to --read; the caller frees both. Returns NULL if the host does not have the program or the
 * fence shows it.
 */
char *hint_hidden(const struct fence_plan *plan, const char *name, char **ret_read);

#endif
