// sources: src/lfs/lfs_pointer.c
/* A blob that an agent committed. An accepted pointer is written the same way. */
#include "fuzz.h"

#include "lfs/lfs_pointer.h"

#include <stdlib.h>
#include <string.h>

void fuzz_lfs_pointer(const uint8_t *data, size_t size)
{
	struct lfs_pointer pointer;
	struct lfs_pointer again;
	char text[LFS_POINTER_BYTES];
	size_t length;

	if (!lfs_pointer_read((const char *)data, size, &pointer))
		return;
	length = lfs_pointer_write(&pointer, text);
	if (!lfs_pointer_read(text, length, &again) || strcmp(again.hex, pointer.hex) != 0 ||
	    again.size != pointer.size)
		abort();
	if (!pointer.extended && (length != size || memcmp(text, data, size) != 0))
		abort();
}

FUZZ_TARGET(fuzz_lfs_pointer)
