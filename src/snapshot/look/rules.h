/*
 * What a checkpoint leaves out: the ignore rules as they were when the loop began. What is written into a
 * .gitignore later changes nothing, so nobody can make a file of theirs escape an undo.
 *
 * Rules are those of git: the last one that matches decides, deeper files outrank upper ones, and what git
 * tracked at that time is never ignored.
 */
#ifndef SNAPSHOT_LOOK_RULES_H
#define SNAPSHOT_LOOK_RULES_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>

enum { RULES_MOST = 20000, RULES_BYTES = 32 << 20 };

struct rules;

struct rules *rules_new(void);
void rules_free(struct rules *rules);

/* Adds the lines of an ignore file that lies in this folder (empty: the project). Files of upper folders come
 * first. */
void rules_add(struct rules *rules, const char *base, const char *bytes, size_t size);

/* A path that git tracks; in any order. rules_ready() comes after the last one. */
void rules_track(struct rules *rules, const char *path);
void rules_ready(struct rules *rules);

/* What do the rules say of this path itself? What is in an ignored folder is the caller's affair. */
bool rules_ignore(const struct rules *rules, const char *path, bool is_folder);

/* Is it tracked, or (a folder) has it something tracked below? */
bool rules_tracked(const struct rules *rules, const char *path);

/* Of what is tracked only this matters from now on: a path that a rule ignores. rules_settle() forgets the
 * rest. */
void rules_keep(struct rules *rules, const char *path);
void rules_settle(struct rules *rules);

/* As bytes, and back. Returns 0, or -1 with err set. */
void rules_write(const struct rules *rules, struct buffer *out);
int rules_read(const char *bytes, size_t size, struct rules **ret_rules, struct error *err);

#endif
