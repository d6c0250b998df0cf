/*
 * What a checkpoint leaves out: the ignore rules as they were when the loop began. What is written into a
 * .gitignore later changes nothing, so nobody can make a file of theirs escape an undo.
 *
 * Rules are those of git: the last one that matches decides, deeper files outrank upper ones, and what git
 * tracked at that time is never ignored.
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

/* Adds the lines of an ignore file that lies in this folder (empty: the project). Files of upper folders come
 * first. */
void ignore_rules_add(struct ignore_rules *rules, const char *base, const char *bytes, size_t size);

/* A path that git tracks; in any order. ignore_rules_ready() comes after the last one. */
void ignore_rules_track(struct ignore_rules *rules, const char *path);
void ignore_rules_ready(struct ignore_rules *rules);

/* What do the rules say of this path itself? What is in an ignored folder is the caller's affair. */
bool ignore_rules_ignore(const struct ignore_rules *rules, const char *path, bool is_folder);

/* Is it tracked, or (a folder) has it something tracked below? */
bool ignore_rules_tracked(const struct ignore_rules *rules, const char *path);

/* Of what is tracked only this matters from now on: a path that a rule ignores. ignore_rules_settle() forgets the
 * rest. */
void ignore_rules_keep(struct ignore_rules *rules, const char *path);
void ignore_rules_settle(struct ignore_rules *rules);

/* As bytes, and back. Returns 0, or -1 with err set. */
void ignore_rules_write(const struct ignore_rules *rules, struct buffer *out);
int ignore_rules_read(const char *bytes, size_t size, struct ignore_rules **ret_rules,
		      struct error *err);

#endif
