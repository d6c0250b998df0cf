// sources: src/fence/fence_spec.c src/provider/key_source.c src/provider/model_access.c
// sources: src/provider/url.c
/* The value of --listen. */
#include "fence/fence_spec.h"
#include "fuzz.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_fence_spec(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	struct fence_listen listen;
	struct error err;

	memcpy(text, data, size);
	text[size] = '\0';
	if (fence_listen_parse(text, &listen, &err) < 0)
		return;
	if (listen.where.port < 1024 || listen.where.port > 65535 ||
	    (listen.socket && listen.socket[0] != '/'))
		abort();
	free(listen.socket);
}

FUZZ_TARGET(fuzz_fence_spec)
