/* Free disk space. */
#ifndef LOOP_RUN_ROOM_H
#define LOOP_RUN_ROOM_H

#include "util/buffer.h"

#include <stdint.h>

/*
 * Returns a message with advice if less than `least` bytes are free on the disk of this folder, or
 * NULL. 0 turns the check off. The caller frees the message.
 */
char *room_trouble(const char *path, int64_t least);

/* Returns how many bytes are free there, or -1. */
int64_t room_free(const char *path);

/* Appends a size in readable form: "1.5 GiB". */
void room_add_size(struct buffer *out, uint64_t bytes);

#endif
