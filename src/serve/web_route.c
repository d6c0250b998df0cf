/* Routes: see web_route.h. */
#include "serve/web_route.h"

#include <string.h>

static const struct {
	const char *name, *pattern;
	enum web_route_how how;
} routes[WEB_ROUTE_COUNT] = {
#define WEB_ROUTE(name, pattern, how) { #name, pattern, WEB_ROUTE_##how },
	WEB_ROUTES(WEB_ROUTE)
#undef WEB_ROUTE
};

/* Returns the size of the word at the beginning of a path, or 0. */
static size_t word_size(const char *path)
{
	size_t size = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-");

	return *path == '.' || size >= WEB_ROUTE_WORD ? 0 : size;
}

static bool matches(const char *pattern, const char *path, struct web_route_match *match)
{
	size_t count = 0;

	for (; *pattern && *path; pattern++) {
		size_t size;

		if (*pattern != '*') {
			if (*pattern != *path++)
				return false;
			continue;
		}
		size = word_size(path);
		if (!size)
			return false;
		memcpy(match->words[count], path, size);
		match->words[count++][size] = '\0';
		path += size;
	}
	return !*pattern && !*path;
}

void web_route_find(const char *path, struct web_route_match *ret_match)
{
	for (int i = 0; i < WEB_ROUTE_COUNT; i++) {
		*ret_match = (struct web_route_match){ .route = (enum web_route)i };
		if (matches(routes[i].pattern, path, ret_match))
			return;
	}
	*ret_match = (struct web_route_match){ .route = WEB_ROUTE_none };
	if (matches("/*", path, ret_match))
		ret_match->route = WEB_ROUTE_asset;
}

enum web_route_how web_route_how(enum web_route route)
{
	return route < WEB_ROUTE_COUNT ? routes[route].how : WEB_ROUTE_SELF;
}

const char *web_route_name(enum web_route route)
{
	return routes[route].name;
}

enum web_route web_route_named(const char *name)
{
	for (int i = 0; i < WEB_ROUTE_COUNT; i++)
		if (strcmp(routes[i].name, name) == 0)
			return (enum web_route)i;
	return WEB_ROUTE_none;
}
