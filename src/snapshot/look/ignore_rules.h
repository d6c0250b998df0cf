/*
 * The ignore rules of a loop, as they were when it began. Later changes to a .gitignore have no
 * effect, so an agent cannot hide a file from a rollback.
 *
 * The rules are git's: the last match decides, files in deeper folders take precedence, and files
 * that git tracked at that time are never ignored.
 */
#ifndef SNAPSHOT_LOOK_IGNORE_RULES_H
#define SNAPSHOT_LOOK_IGNORE_RULES_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>

enum { IGNORE_RULES_MOST = 20000, IGNORE_RULES_BYTES = 32 << 20 };

struct ignore_rules;

struct ignore_rules *ignore_rules_new(void);
void ignore_rules_free(struct ignore_rules *rules);

/*
 * Adds the lines of an ignore file in this folder ("" for the project). Add files of parent folders
 * first.
 */
void ignore_rules_add(struct ignore_rules *rules, const char *base, const char *bytes, size_t size);

/* Adds a path that git tracks, in any order. Call ignore_rules_ready() after the last one. */
void ignore_rules_track(struct ignore_rules *rules, const char *path);
void ignore_rules_ready(struct ignore_rules *rules);

/*
 * Reports whether the rules match this path itself. The caller handles the contents of ignored
 * folders.
 */
bool ignore_rules_match(const struct ignore_rules *rules, const char *path, bool is_folder);

/* Reports whether a scan omits this path: the rules match it, or a folder that it is in, and it is
 * not tracked. */
bool ignore_rules_omit(const struct ignore_rules *rules, const char *path, bool is_folder);

/* Reports whether the path is tracked, or is a folder with tracked files. */
bool ignore_rules_tracked(const struct ignore_rules *rules, const char *path);

/*
 * Marks a tracked path that the rules would ignore. ignore_rules_settle() drops all tracked paths
 * that are not marked, since the rules do not match them.
 */
void ignore_rules_keep(struct ignore_rules *rules, const char *path);
void ignore_rules_settle(struct ignore_rules *rules);

/* Serialize and parse. ignore_rules_read() returns 0, or -1 with err set. */
void ignore_rules_write(const struct ignore_rules *rules, struct buffer *out);
int ignore_rules_read(const char *bytes, size_t size, struct ignore_rules **ret_rules,
		      struct error *err);

#endif
