/*
 * Names of files that take part in checking, as patterns like those in .gitignore. Pins (pins.h)
 * restore them, and src/detect looks for signs in them. Lists end with NULL.
 */
#ifndef PROJECT_CHECK_FILES_H
#define PROJECT_CHECK_FILES_H

#include <stdbool.h>

/* Configuration of test runners, linters and type checkers. */
extern const char *const check_files_runners[];

/* Recorded results. */
extern const char *const check_files_recorded[];

/* What CI runs. */
extern const char *const check_files_ci[];

/* Reports whether a pattern matches the file or one of its folders. A pattern of a folder matches
 * the file as well, which may be a symlink to one. */
bool check_files_matches(const char *pattern, const char *path);
bool check_files_matches_any(const char *const *patterns, const char *path);

#endif
