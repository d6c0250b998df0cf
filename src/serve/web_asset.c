/* The files of the page: see web_asset.h. */
#include "serve/web_asset.h"

#include <stdio.h>
#include <string.h>

struct file {
	const char *name;
	const unsigned char *bytes;
	size_t size;
};

/* Made of src/serve/page: an array of bytes for each file, and `files`. */
#include "page_assets.inc"

static const char *type_of(const char *name)
{
	static const char *const types[][2] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".css", "text/css; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" },
		{ ".svg", "image/svg+xml" },
	};
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end && i < sizeof types / sizeof *types; i++)
		if (strcmp(end, types[i][0]) == 0)
			return types[i][1];
	return "application/octet-stream";
}

static void describe(const struct file *file, struct web_asset *ret_asset)
{
	char hash[SHA256_HEX];

	sha256_hex(file->bytes, file->size, hash);
	*ret_asset = (struct web_asset){ .type = type_of(file->name),
					 .bytes = file->bytes,
					 .size = file->size };
	snprintf(ret_asset->etag, sizeof ret_asset->etag, "\"%.32s\"", hash);
}

int web_asset_find(const char *path, struct web_asset *ret_asset)
{
	const char *name = strcmp(path, "/") == 0 ? "index.html" : path + 1;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (strcmp(files[i].name, name) != 0)
			continue;
		describe(&files[i], ret_asset);
		return 0;
	}
	return -1;
}
