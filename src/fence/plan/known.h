/*
 * The entries that a plan knows: the host executes or hides them, they existed before the run, and
 * the command cannot change them. The sweep leaves them alone.
 *
 * An entry is known by its inode, wherever it is now. A file that may have another name in a
 * writable place (a hard link), or whose file system has no lasting birth times, is known by its
 * content instead, and only at its path. So is a file with other names in a known folder. On such a
 * file system a folder is known by its number alone.
 */
#ifndef FENCE_PLAN_KNOWN_H
#define FENCE_PLAN_KNOWN_H

#include "fence/fence_plan.h"

/* Identifies an entry, without following a symlink. Returns 0, or -1 with errno. */
int known_identify(int folder, const char *name, struct fence_inode *ret_inode);

/* Hashes the content of a regular file. Returns 0, or -1 with errno. */
int known_hash(int folder, const char *name, char ret_hash[SHA256_HEX]);

/* Adds an entry that the host executes. If it is a file with other names, adds a notice. */
void known_add(struct fence_plan *plan, const char *path);

/* Adds a folder that is hidden as a whole. */
void known_add_hidden(struct fence_plan *plan, const char *path);

/* Adds the content of a file in a folder that the host executes, if the file has other names. */
void known_add_inner(struct fence_plan *plan, const char *path);

/* Remembers an entry that exists and would be hidden because of its name or type. */
void known_add_secret(struct fence_plan *plan, int folder, const char *name);

/* Adds a notice if a file that is hidden has other names. */
void known_report_names(struct fence_plan *plan, const char *path);

/* Remembers an entry that another live run may have made, and will sweep. */
void known_add_other(struct fence_plan *plan, const char *path);

/* Drops every entry that the command can write. Call it when the rules are final. */
void known_settle(struct fence_plan *plan);

#endif
