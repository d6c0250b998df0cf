/* Reads what zlib has packed, from a place in a file, piece by piece. Nothing is believed about how much it becomes. */
#ifndef SNAPSHOT_OBJECT_UNPACK_H
#define SNAPSHOT_OBJECT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <zlib.h>

enum { UNPACK_BLOCK = 1 << 14 };

struct unpack {
	int fd;
	off_t at; /* of the next bytes to read */
	z_stream stream;
	bool begun, ended, broken;
	unsigned char block[UNPACK_BLOCK];
};

void unpack_begin(struct unpack *unpack, int fd, off_t at);
void unpack_end(struct unpack *unpack);

/* So many bytes, or as many as there are. */
size_t unpack_read(struct unpack *unpack, void *bytes, size_t size);

/* Was that all, and was all of it sound? */
bool unpack_is_whole(struct unpack *unpack);

#endif
