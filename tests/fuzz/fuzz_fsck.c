// sources: src/snapshot/object/fsck.c src/snapshot/object/refs.c src/snapshot/object/fsck_special.c
// sources: src/gitconfig/gitconfig.c -lz
/* Git objects that an agent could write. The first byte selects the type. */
#include "fuzz.h"

#include "snapshot/object/fsck.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static int count(void *context, const struct fsck_link *link, struct error *err)
{
	(void)err;
	if (link->type == FSCK_ANY)
		abort();
	++*(size_t *)context;
	return 0;
}

void fuzz_fsck(const uint8_t *data, size_t size)
{
	AUTO_FREE char *bytes = mem_alloc(size + 1);
	size_t links = 0;
	struct error err;

	if (!size)
		return;
	/* As in real use, a NUL follows that does not count. */
	memcpy(bytes, data + 1, size - 1);
	bytes[size - 1] = '\0';
	if (data[0] % 5 == 0)
		fsck_special(&(struct fsck_link){ .modules = true, .attributes = true }, bytes,
			     size - 1, &err);
	else if (fsck_object((enum fsck_type)(data[0] % 5), bytes, size - 1, count, &links, &err) ==
			 0 &&
		 links > size)
		abort();
}

FUZZ_TARGET(fuzz_fsck)
