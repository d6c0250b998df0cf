// sources: src/snapshot/object/refs.c
/*
 * A packed-refs file that an agent could write. Accepted refs can be written and read again, and
 * have safe names.
 */
#include "fuzz.h"

#include "snapshot/object/refs.h"

#include <stdlib.h>
#include <string.h>

void fuzz_refs(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 24);
	struct refs refs = { 0 };
	struct refs again = { 0 };
	struct error err;

	if (refs_parse((const char *)data, size, true, &refs, &err) == 0) {
		refs_sort(&refs);
		for (size_t i = 0; i < refs.count; i++)
			if (strstr(refs.items[i].name, "..") || strstr(refs.items[i].name, "/-") ||
			    strncmp(refs.items[i].name, "refs/", 5) != 0 ||
			    refs_find(&refs, refs.items[i].name) != &refs.items[i])
				abort();
		refs_write(&refs, &out);
		if (refs_parse(buffer_text(&out), out.used, true, &again, &err) < 0 ||
		    again.count != refs.count)
			abort();
	}
	refs_release(&refs);
	refs_release(&again);
}

FUZZ_TARGET(fuzz_refs)
