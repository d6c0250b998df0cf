/*
 * Groups of a project's files. The command apply shows the changes of a draft by group; src/detect
 * finds tests and lockfiles by the same names.
 *
 * A path belongs to exactly one group, by its name and a few facts. Files that this machine
 * executes come first, then those that CI runs, then those that decide whether work is good, then
 * those with names of secrets, then those that git ignores; a lockfile is a dependency even if it
 * is large.
 */
#ifndef PROJECT_PATH_GROUP_H
#define PROJECT_PATH_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they are shown. */
enum path_group {
	PATH_GROUP_EXECUTED, /* run or obeyed by a tool of this machine */
	PATH_GROUP_CI,       /* run or obeyed after a push */
	PATH_GROUP_PINNED,   /* a loop is checked by them, as they were before (pins.h) */
	PATH_GROUP_SECRET,   /* files with such names often hold one */
	PATH_GROUP_DEPENDENCIES,
	PATH_GROUP_CONFIGURATION,
	PATH_GROUP_TESTS,
	PATH_GROUP_SOURCE, /* and everything else */
	PATH_GROUP_BINARY,
	PATH_GROUP_LARGE,
	PATH_GROUP_IGNORED, /* by git; they cross only if the user asks for them */
	PATH_GROUP_COUNT
};

/* A file with this many bytes is large. */
enum { PATH_GROUP_LARGE_BYTES = 1 << 20 };

struct path_group_facts {
	bool executed, ci, pinned, secret, ignored, binary;
	uint64_t bytes;
};

/* path: relative to the project. */
enum path_group path_group_of(const char *path, const struct path_group_facts *facts);

/* Returns whether the file holds tests or helps them. It may be in another group: a manifest in a
 * folder of tests is in dependencies. */
bool path_group_is_test(const char *path);

/* Returns the name of the manifest that a lockfile belongs to, or NULL for any other file. */
const char *path_group_manifest_of(const char *lockfile);

/* Return the i-th pattern of tests, or of lockfiles, or NULL after the last one. One in lower case
 * matches any case of letters. */
const char *path_group_test_pattern(size_t i);
const char *path_group_lockfile_pattern(size_t i);

/* The name of a group in JSON, and its title for people. */
const char *path_group_name(enum path_group group);
const char *path_group_title(enum path_group group);

/* Returns whether files of this group need a yes of their own. */
bool path_group_asks(enum path_group group);

#endif
