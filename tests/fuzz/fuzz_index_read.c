// sources: src/snapshot/object/index_read.c
/* An index that an agent could write. Each path and id is within the bytes that were read. */
#include "fuzz.h"

#include "snapshot/object/index_read.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_index_read(const uint8_t *data, size_t size)
{
	AUTO_FREE char *bytes = mem_zero(size + 1);
	struct index_read index;

	if (size)
		memcpy(bytes, data, size);
	if (index_read_parse(bytes, size, &index) == INDEX_READ_WHOLE)
		for (size_t i = 0; i < index.count; i++) {
			const struct index_read_entry *entry = &index.items[i];

			if (!*entry->path || entry->path + strlen(entry->path) >= bytes + size ||
			    (const char *)entry->id + FSCK_ID > bytes + size || entry->stage > 3)
				abort();
		}
	else if (index.count || index.items)
		abort();
	index_read_release(&index);
}

FUZZ_TARGET(fuzz_index_read)
