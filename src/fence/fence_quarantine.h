/*
 * Quarantine: files that appeared in a project, and that the host would execute or read as
 * configuration, are moved out of it.
 *
 * Every run ends with such a sweep. An operation that changes a project without running anything in
 * it, such as a rollback, puts its change between fence_quarantine_begin() and
 * fence_quarantine_end(). If the process is killed in between, the next start sweeps.
 */
#ifndef FENCE_FENCE_QUARANTINE_H
#define FENCE_FENCE_QUARANTINE_H

#include "fence/fence_found.h"
#include "util/error.h"

struct fence_place;
struct fence_quarantine;

/* Both return 0, or -1 with err set. place: the project's, if it was found before; else NULL. */
int fence_quarantine_begin(const char *project, const struct fence_place *place,
			   struct fence_quarantine **ret_quarantine, struct error *err);
int fence_quarantine_end(struct fence_quarantine *quarantine, struct fence_found *ret_found,
			 struct error *err);

/* Why the host executes a file at this path of a project, or reads it as configuration, without
 * being asked. NULL: it does not. */
const char *fence_quarantine_reason(const char *path);

#endif
