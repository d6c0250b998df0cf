/*
 * Folders and files that tools regenerate: build output, caches, installed packages. A change in
 * them does not count as progress.
 */
#ifndef SNAPSHOT_GENERATED_H
#define SNAPSHOT_GENERATED_H

#include <stdbool.h>

/* Reports whether a folder or file of this name is generated. `.git` counts as generated. */
bool generated_is(const char *name);

/*
 * Lines of an ignore file, for caches that no project keeps and that not every project ignores. The
 * caches of pytest and others have a .gitignore of their own, but one that appears during a loop
 * does not count. Rules of the user come later, so they take precedence.
 */
#define GENERATED_CACHES "__pycache__/\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\n"

#endif
