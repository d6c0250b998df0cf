/*
 * Folders that the checks keep from round to round (the setting check-cache), such as the output of
 * a build. The agent never sees them, and the checks do not see the agent's.
 *
 *	LOOP/check-cache/N	the N-th folder, while no check runs; its content is untrusted
 *
 * In a round they are moved to the view and back, which costs the same whatever they hold. Nothing
 * is synced, so a supervisor that starts drops them: after a power cut, files may be empty.
 */
#ifndef LOOP_RUN_CHECK_CACHE_H
#define LOOP_RUN_CHECK_CACHE_H

#include "loop/supervise/supervisor.h"

/* Moves the folders to a view that was just made. Returns 0, or -1 with err set. */
int check_cache_bring(const struct supervisor *sup, const char *view, struct error *err);

/* Moves them back. A folder that cannot be moved is lost. */
void check_cache_keep(const struct supervisor *sup, const char *view);

/* Drops all. */
void check_cache_drop(const struct supervisor *sup);

#endif
