/* The files of the page, which are compiled in. */
#ifndef SERVE_WEB_ASSET_H
#define SERVE_WEB_ASSET_H

#include "util/text/sha256.h"

#include <stddef.h>

struct web_asset {
	const char *path; /* "/NAME" */
	const char *type;
	const unsigned char *bytes;
	size_t size;
	char etag[SHA256_HEX + 2];
};

/* Returns the file of a path, or NULL. "/" is index.html. */
const struct web_asset *web_asset_find(const char *path);

#endif
