/*
 * Examines a check without running it: whether it can pass at all, and whether it can fail. What
 * it runs is followed one step, to a script of package.json or a target of a Makefile.
 */
#ifndef PREFLIGHT_PREFLIGHT_CHECK_H
#define PREFLIGHT_PREFLIGHT_CHECK_H

/* Returns what is wrong with the command line of a check, or NULL. The caller frees it. *ret_fix is
 * how to fix it, and is not freed. */
char *preflight_check_trouble(const char *project, const char *line, const char **ret_fix);

#endif
