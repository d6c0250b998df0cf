/*
 * Pins: the files that decide whether work is good. The checks of a loop see them as they were
 * before the loop (loop/run/verification.h), so an agent gains nothing by changing them.
 *
 * A file is pinned by its path: by the tables of pins.c, by the commands of the checks, or by the
 * user's own patterns. A user's pattern that unpins a file wins.
 */
#ifndef PROJECT_PINS_H
#define PROJECT_PINS_H

#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>

enum pins_kind {
	PINS_NOT,
	PINS_TEST,     /* tests, fixtures, recorded results */
	PINS_RUNNER,   /* configuration of a test runner, linter or type checker */
	PINS_SCRIPT,   /* named by a check, or read by a program that it names */
	PINS_CI,       /* run by a server */
	PINS_LOCKFILE, /* while its manifest is unchanged */
	PINS_MANIFEST, /* only the parts that pins_manifest_merge() restores */
	PINS_PACKAGES, /* ignored by git, while the manifest says the same (packages.h) */
	PINS_CHOSEN,   /* by the user */
	PINS_KINDS
};

struct pins {
	struct list chosen, unpinned; /* patterns as in .gitignore (util/text/glob.h) */
	struct list scripts;          /* paths that checks name */
	struct list readers, linters; /* programs that checks name, such as "make" and "ruff" */
};

void pins_release(struct pins *pins);

/* Adds what the command line of a check names, which begins in the project, an absolute path. */
void pins_add_check(struct pins *pins, const char *project, const char *command);

/* Returns why a file is pinned, by its path in the project. */
enum pins_kind pins_of(const struct pins *pins, const char *path);

/* Returns whether a check names this file, so that a new one is what the user waits for. The name
 * of a test runner, as in `python3 -m pytest`, is not. */
bool pins_awaits(const struct pins *pins, const char *path);

/* Returns whether a new file configures a linter that a check names and that works without: it is
 * hidden, whatever else the project has. */
bool pins_loosens(const struct pins *pins, const char *path);

/* Returns whether a new file of this kind changes how the others are checked. */
bool pins_reconfigures(enum pins_kind kind);

/* The name of a kind in JSON, and what it is for people. */
const char *pins_kind_name(enum pins_kind kind);
const char *pins_kind_says(enum pins_kind kind);

/* Returns the i-th kind that has built-in patterns, in the order in which they are tried, or
 * PINS_NOT after the last one. */
enum pins_kind pins_built_in(size_t i);

/* Returns the i-th built-in pattern of a kind, or NULL after the last one. */
const char *pins_pattern(enum pins_kind kind, size_t i);

/* Returns the i-th pattern of what a program reads, which a check names, or NULL after the last. */
const char *pins_reader_pattern(const char *program, size_t i);

/* Returns a package.json in which the parts that decide how checks run are those of the base, or
 * NULL if they are the same. A file that is not valid JSON has no parts: the base is returned. The
 * caller frees it. */
char *pins_manifest_merge(const char *base, size_t base_size, const char *now, size_t now_size);

#endif
