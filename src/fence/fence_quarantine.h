/*
 * Quarantine: a sweep moves new files out of a project if the host would execute them or read them
 * as configuration.
 *
 * Every run ends with a sweep. An operation that changes a project without running a command, such
 * as a rollback, makes its change between fence_quarantine_begin() and fence_quarantine_end(). If
 * the process is killed in between, the next start sweeps.
 */
#ifndef FENCE_FENCE_QUARANTINE_H
#define FENCE_FENCE_QUARANTINE_H

#include "fence/fence_found.h"
#include "util/error.h"
#include "util/list.h"

struct fence_place;
struct fence_quarantine;

/* Both return 0, or -1 with err set. place is the project's place if already known, or NULL. end
 * frees the quarantine. */
int fence_quarantine_begin(const char *project, const struct fence_place *place,
			   struct fence_quarantine **ret_quarantine, struct error *err);
int fence_quarantine_end(struct fence_quarantine *quarantine, struct fence_found *ret_found,
			 struct error *err);

/* The reason if the host executes a file, or reads it as configuration, unasked. */
#define FENCE_QUARANTINE_UNASKED "run or obeyed unasked"

/* Returns why a file at this path of a project should be reviewed before the user's tools see it:
 * the host would execute it or read it as configuration, unasked, when a tool starts, or in CI. The
 * caller frees it. NULL if it need not be. If ret_ci is not NULL, it says whether only CI does. */
char *fence_quarantine_reason(const char *path, bool *ret_ci);

/* Lists the symlinks in the user's home that the host executes or reads as configuration. */
void fence_quarantine_home(struct list *ret_paths);

/* Lists the symlinks in a project, relative to it, for which fence_quarantine_reason() gives a
 * reason. Returns 0, or -1 with err set. */
int fence_quarantine_symlinks(const char *project, struct list *ret_paths, struct error *err);

#endif
