/* How much room is left on a disk. */
#ifndef LOOP_RUN_ROOM_H
#define LOOP_RUN_ROOM_H

#include "util/buffer.h"

#include <stdint.h>

/* Is less than `least` bytes left on the disk of this folder? Then a sentence that says so, and what helps;
 * the caller frees. NULL: there is enough. 0 is none that must be left. */
char *room_trouble(const char *path, int64_t least);

/* Bytes as a person reads them: "1.5 GiB". */
void room_add_size(struct buffer *out, uint64_t bytes);

#endif
