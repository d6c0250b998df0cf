// sources: src/land/land_remote.c
/* URLs of remotes: what was read is a host and a path that can stand in a URL. */
#include "fuzz.h"

#include "land/land_remote.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static void check_remote(const struct land_remote *remote)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/";

	if (!*remote->host || strpbrk(remote->host, "@:/? \r\n%") || strchr(remote->origin, '@') ||
	    strlen(remote->path) != strspn(remote->path, letters) || *remote->path == '/' ||
	    !strchr(remote->path, '/') || strstr(remote->path, "/../"))
		abort();
	land_remote_kind(remote);
}

void fuzz_land_remote(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	struct land_remote remote;
	struct error err;

	memcpy(text, data, size);
	text[size] = '\0';
	if (land_remote_read(text, &remote, &err) == 0) {
		check_remote(&remote);
		land_remote_release(&remote);
	}
	land_remote_mask(text);
	if (strlen(text) > size)
		abort();
}

FUZZ_TARGET(fuzz_land_remote)
