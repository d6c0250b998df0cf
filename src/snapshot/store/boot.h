/*
 * Whether the machine has booted since a project was last read.
 *
 * After a power cut, files that nobody synced can be empty although their names are there. So the
 * first checkpoint after a boot compares the project with the last one (undo/repair.h), and no stat
 * cache of another boot is trusted (cache.h).
 */
#ifndef SNAPSHOT_STORE_BOOT_H
#define SNAPSHOT_STORE_BOOT_H

#include "snapshot/store/checkpoint_repo.h"

enum { BOOT_ID = 64 };

/* Fills a buffer of BOOT_ID bytes with the id of the present boot. Without an id, all boots look
 * the same. */
void boot_read_id(struct buffer *ret_id);

/* Reports whether the repository at this path was last used in another boot, for the project or for
 * the draft of a loop. */
bool boot_is_new(const char *path, const char *draft);

/* Reports whether a boot was recorded. */
bool boot_is_recorded(const struct checkpoint_repo *repo);

/* Records the present boot. Returns 0, or -1 with err set. */
int boot_record(struct checkpoint_repo *repo, struct error *err);

#endif
