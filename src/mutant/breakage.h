/*
 * Breakage: what a project looks like when all of its source code is broken. A check that passes
 * nevertheless does not depend on the code, so it cannot fail whatever an agent does.
 */
#ifndef MUTANT_BREAKAGE_H
#define MUTANT_BREAKAGE_H

/* Scripts are broken only if there is no other code: they may be a part of the check. */
enum breakage { BREAKAGE_NONE, BREAKAGE_CODE, BREAKAGE_SCRIPT };

/* Returns what a file is, by its path. Tests and recorded results are not code. There are more
 * languages than those that have mutants. */
enum breakage breakage_of(const char *path);

/* Returns the content that replaces the file: a syntax error in every language. */
const char *breakage_text(void);

#endif
