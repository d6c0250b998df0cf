/* The paths in a project that a fence would hide. */
#ifndef FENCE_FENCE_HIDDEN_H
#define FENCE_FENCE_HIDDEN_H

#include "fence/fence_spec.h"
#include "util/list.h"

/*
 * Lists them, relative to the project, whose real path the spec has; none if the fence cannot be
 * planned. Like every plan, this one quarantines what a killed run left; call it where nothing can
 * be left. The caller releases the list.
 */
void fence_hidden_list(const struct fence_spec *spec, struct list *ret_paths);

/* Returns who reads a secret with the name of this path, or of a folder above it, or NULL. Names
 * for which the content decides do not count, unless most such files hold one (*.pem). */
const char *fence_hidden_name(const char *path);

#endif
