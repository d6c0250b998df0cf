/* Hints for a program that the fence hides, and for a project that is a part of a repository. */
#ifndef SETTINGS_HINT_H
#define SETTINGS_HINT_H

#include "fence/fence_place.h"
#include "fence/fence_plan.h"

/*
 * Finds a program on the host that the fence hides. Returns its real path, and in *ret_read the
 * path to give to --read, or several with " --read " between them; the caller frees both. Returns
 * NULL if the host does not have the program or the fence shows it.
 */
char *hint_hidden(const struct fence_plan *plan, const char *name, char **ret_read);

/*
 * Returns a notice if the project is only a part of a repository, whose git directory the fence
 * does not show; else NULL. The caller frees it.
 */
char *hint_part(const struct fence_place *place);

#endif
