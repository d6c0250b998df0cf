/*
 * Inflates a zlib stream from an offset of a file, in steps. The size of the result is never
 * assumed.
 */
#ifndef SNAPSHOT_OBJECT_UNPACK_H
#define SNAPSHOT_OBJECT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <zlib.h>

enum { UNPACK_BLOCK = 1 << 14 };

struct unpack {
	int fd;
	off_t at; /* offset of the next input */
	z_stream stream;
	bool begun, ended, broken;
	unsigned char block[UNPACK_BLOCK];
};

void unpack_begin(struct unpack *unpack, int fd, off_t at);
void unpack_end(struct unpack *unpack);

/* Returns the number of bytes read: `size`, or fewer at the end or on an error. */
size_t unpack_read(struct unpack *unpack, void *bytes, size_t size);

/* Reports whether the stream ended here without an error. */
bool unpack_is_whole(struct unpack *unpack);

#endif
