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

enum { COUNT = sizeof files / sizeof *files };

static struct web_asset assets[COUNT];

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

static void prepare(struct web_asset *asset, const struct file *file)
{
	char hash[SHA256_HEX];

	sha256_hex(file->bytes, file->size, hash);
	*asset = (struct web_asset){ .path = file->name,
				     .type = type_of(file->name),
				     .bytes = file->bytes,
				     .size = file->size };
	snprintf(asset->etag, sizeof asset->etag, "\"%.32s\"", hash);
}

const struct web_asset *web_asset_find(const char *path)
{
	const char *name = strcmp(path, "/") == 0 ? "index.html" : path + 1;

	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(files[i].name, name) != 0)
			continue;
		if (!assets[i].path)
			prepare(&assets[i], &files[i]);
		return &assets[i];
	}
	return NULL;
}
