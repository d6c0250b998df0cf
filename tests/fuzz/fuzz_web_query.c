// sources: src/serve/web_query.c src/serve/web_route.c src/serve/web_guard.c src/serve/web_keys.c
/* A request of a browser, or of something that pretends to be one, to the web page's server: a
 * target, and headers, each on a line of its own. */
#include "fuzz.h"

#include "serve/web_guard.h"
#include "serve/web_query.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* Cuts the next line off a text. Returns NULL after the last one. */
static const char *take_line(char **at)
{
	char *line = *at;
	char *end = line ? strchr(line, '\n') : NULL;

	if (end)
		*end++ = '\0';
	*at = end;
	return line;
}

/* Nobody guesses a session: without one, no request is answered but a login. */
static void check_guard(char *rest, enum web_route route)
{
	struct web_guard_head head = { 0 };
	struct web_guard_refusal refusal;
	struct web_keys keys;

	web_keys_init(&keys, SECRET, 7433);
	head.method = take_line(&rest);
	head.host = take_line(&rest);
	head.origin = take_line(&rest);
	head.site = take_line(&rest);
	head.mode = take_line(&rest);
	head.cookie = take_line(&rest);
	head.authorization = take_line(&rest);
	head.type = take_line(&rest);
	head.csrf = take_line(&rest);
	if (head.method && web_guard_check(&keys, 7433, route, &head, 1, &refusal) == 0 &&
	    route != WEB_ROUTE_login)
		abort();
}

void fuzz_web_query(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_zero(size + 1);
	struct web_route_match match = { .route = WEB_ROUTE_page };
	struct web_query query;
	struct error err;
	char *rest = text;
	const char *target;
	size_t length = 0;

	memcpy(text, data, size);
	target = take_line(&rest);
	if (web_query_parse(target, &query, &err) == 0) {
		web_route_find(query.path, &match);
		for (size_t i = 0; i < WEB_ROUTE_WORDS; i++)
			if (*match.words[i] == '.' || strpbrk(match.words[i], "/\\\"% "))
				abort();
		for (size_t i = 0; i < query.count; i++)
			if (!web_query_get(&query, query.items[i].name))
				abort();
	}
	if (web_query_cookie(target, "ringfence-12345678", &length) && length > size)
		abort();
	check_guard(rest, match.route);
}

FUZZ_TARGET(fuzz_web_query)
