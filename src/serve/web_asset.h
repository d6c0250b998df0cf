/* The files of the page, which are compiled in. */
#ifndef SERVE_WEB_ASSET_H
#define SERVE_WEB_ASSET_H

#include "util/text/sha256.h"

#include <stddef.h>

struct web_asset {
	const char *type;
	const unsigned char *bytes;
	size_t size;
	char etag[SHA256_HEX + 2]; /* with its quotes */
};

/* Finds the file of a path. "/" is index.html. Returns 0, or -1 if there is none. */
int web_asset_find(const char *path, struct web_asset *ret_asset);

#endif
