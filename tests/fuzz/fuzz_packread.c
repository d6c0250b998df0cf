// sources: src/snapshot/object/packread.c src/snapshot/object/unpack.c -lz
/* A pack and its index that an agent could write. Two bytes give the index's size; both follow. */
#include "fuzz.h"

#include "snapshot/object/packread.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, TRIED = 64 };

void fuzz_packread(const uint8_t *data, size_t size)
{
	struct packread_limits limits = { .most_bytes = MOST, .work = 8 * MOST };
	size_t index = size < 2 ? 0 : (size_t)(data[0] << 8 | data[1]);
	struct packread_object object;
	struct packread pack = { .fd = -1 };
	struct error err;

	if (size < 2 || index > size - 2)
		return;
	pack.fd = fd_memory("pack", data + 2 + index, size - 2 - index);
	pack.size = size - 2 - index;
	pack.index = mem_alloc(index + 1);
	memcpy(pack.index, data + 2, index);
	pack.index_size = index;
	if (packread_check(&pack))
		for (uint32_t i = 0; i < pack.count && i < TRIED; i++)
			if (packread_find(&pack, pack.index + 8 + 1024 + (size_t)i * FSCK_ID,
					  &limits, &object, &err) > 0) {
				if (object.size > MOST || object.bytes[object.size])
					abort();
				free(object.bytes);
			}
	free(pack.index);
	fd_close(&pack.fd);
}

FUZZ_TARGET(fuzz_packread)
