/* The web page's server: who may ask, and how requests are read. */
#include "unit.h"

#include "serve/answer/web_body.h"
#include "serve/answer/web_logs.h"
#include "serve/web_address.h"
#include "serve/web_guard.h"
#include "serve/web_handover.h"
#include "serve/web_keys.h"
#include "serve/web_query.h"
#include "serve/web_route.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <string.h>

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

enum { PORT = 7433 };

static const int64_t now_ms = 1767300000000;

/* ---- secrets ---- */

static void test_hmac(void)
{
	char hex[SHA256_HEX];

	sha256_hmac_hex("Jefe", "what do ya want for nothing?", hex);
	CHECK("a keyed hash is that of RFC 4231",
	      strcmp(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843") == 0);
}

static void test_links(void)
{
	char first[WEB_KEYS_TOKEN], other[WEB_KEYS_TOKEN];
	struct web_keys keys;

	web_keys_init(&keys, SECRET, PORT);
	memcpy(first, web_keys_link(&keys, now_ms), sizeof first);
	memcpy(other, web_keys_link(&keys, now_ms), sizeof other);
	CHECK("links differ", strlen(first) == 32 && strcmp(first, other) != 0);
	CHECK("a token that was not given out is refused",
	      !web_keys_take(&keys, "", now_ms) && !web_keys_take(&keys, "00", now_ms));
	CHECK("a token is valid once",
	      web_keys_take(&keys, first, now_ms) && !web_keys_take(&keys, first, now_ms));
	CHECK("a token expires", !web_keys_take(&keys, other, now_ms + WEB_KEYS_LINK_MS));
	CHECK("a token that has expired is gone", !web_keys_take(&keys, other, now_ms));
	memcpy(first, web_keys_link(&keys, now_ms), sizeof first);
	for (int i = 0; i < WEB_KEYS_LINKS - 1; i++)
		memcpy(other, web_keys_link(&keys, now_ms), sizeof other);
	CHECK("several links are valid at a time", web_keys_take(&keys, first, now_ms));
	memcpy(first, web_keys_link(&keys, now_ms), sizeof first);
	for (int i = 0; i < WEB_KEYS_LINKS; i++)
		web_keys_link(&keys, now_ms);
	CHECK("the oldest one makes room", !web_keys_take(&keys, first, now_ms));
}

static void test_sessions(void)
{
	char session[WEB_KEYS_SESSION], other[WEB_KEYS_SESSION], csrf[SHA256_HEX],
		other_csrf[SHA256_HEX];
	struct web_keys keys, same, changed;
	size_t size;
	bool forged = false;

	web_keys_init(&keys, SECRET, PORT);
	web_keys_init(&same, SECRET, PORT);
	web_keys_init(&changed, "1" SECRET, PORT);
	CHECK("sessions are made", web_keys_session(&keys, now_ms, session) == 0 &&
					   web_keys_session(&keys, now_ms, other) == 0);
	size = strlen(session);
	CHECK("sessions differ", strcmp(session, other) != 0);
	CHECK("a session is known, also after a restart",
	      web_keys_knows(&keys, session, size, now_ms) &&
		      web_keys_knows(&same, session, size, now_ms));
	CHECK("a session of another key is not known",
	      !web_keys_knows(&changed, session, size, now_ms));
	CHECK("a session ends",
	      web_keys_knows(&keys, session, size, now_ms + WEB_KEYS_SESSION_MS - 1000) &&
		      !web_keys_knows(&keys, session, size, now_ms + WEB_KEYS_SESSION_MS));
	for (size_t i = 0; i < size; i++) {
		session[i] ^= 1;
		forged = forged || web_keys_knows(&keys, session, size, now_ms);
		session[i] ^= 1;
	}
	CHECK("a session with any other character is not known", !forged);
	CHECK("nor is a part of one", !web_keys_knows(&keys, session, size - 1, now_ms) &&
					      !web_keys_knows(&keys, session, 0, now_ms));
	web_keys_csrf(&keys, session, size, csrf);
	web_keys_csrf(&keys, other, strlen(other), other_csrf);
	CHECK("each session has a token of its own for the page",
	      strlen(csrf) == 64 && strcmp(csrf, other_csrf) != 0 && !strstr(session, csrf));
}

static void test_cookie_names(void)
{
	struct web_keys one, other;

	web_keys_init(&one, SECRET, PORT);
	web_keys_init(&other, SECRET, PORT + 1);
	CHECK("servers on two ports of a host have different cookies",
	      strcmp(one.cookie, other.cookie) != 0);
	CHECK("the token for metrics is the same on every port",
	      strlen(one.metrics) == 32 && strcmp(one.metrics, other.metrics) == 0);
}

static void test_handover(void)
{
	struct web_handover secrets = { .token = "00" }, read;
	struct error err;

	memcpy(secrets.secret, SECRET, sizeof secrets.secret);
	CHECK("secrets are handed over",
	      web_handover_read(web_handover_write(&secrets, &err), &read, &err) == 0 &&
		      strcmp(read.secret, SECRET) == 0 && strcmp(read.token, "00") == 0);
	secrets.secret[3] = 'x';
	CHECK("malformed secrets are refused",
	      web_handover_read(web_handover_write(&secrets, &err), &read, &err) < 0 &&
		      err.status == ERROR_PROTOCOL);
	CHECK("fewer bytes are refused",
	      web_handover_read(fd_memory("secrets", SECRET, 10), &read, &err) < 0);
}

/* ---- addresses ---- */

static void test_addresses(void)
{
	AUTO_FREE char *authority = NULL;
	unsigned int port = 0;
	struct error err;
	AUTO_FD fd = web_address_listen("localhost", 0, &err);

	CHECK("a loopback port can be opened",
	      fd >= 0 && web_address_of(fd, &authority, &port, &err) == 0 && port > 0);
	CHECK("a port in use is busy",
	      web_address_listen("127.0.0.1", port, &err) < 0 && err.status == ERROR_BUSY);
	CHECK("other addresses are refused",
	      web_address_listen("0.0.0.0", 0, &err) < 0 && err.status == ERROR_REFUSED);
}

/* ---- requests ---- */

static void test_queries(void)
{
	char longest[WEB_QUERY_TARGET + 1];
	struct web_query query;
	struct error err;
	size_t size;

	CHECK("a target is parsed",
	      web_query_parse("/a/b?x=1%20+2&y&z=%c3%a9&x=3", &query, &err) == 0 &&
		      strcmp(query.path, "/a/b") == 0 && query.count == 4);
	CHECK("parameters are decoded",
	      strcmp(web_query_get(&query, "x"), "1  2") == 0 &&
		      strcmp(web_query_get(&query, "y"), "") == 0 &&
		      strcmp(web_query_get(&query, "z"), "\xc3\xa9") == 0 &&
		      !web_query_get(&query, "a"));
	CHECK("a path keeps its escapes",
	      web_query_parse("/%2e%2e", &query, &err) == 0 && strcmp(query.path, "/%2e%2e") == 0);
	for (const char *const *at =
		     (const char *const[]){ "", "a", "http://x/", "*", "/?a=%", "/?a=%4", "/?%00",
					    "/?a=%1b", "/?%zz=1", "/?a=\x7f", NULL };
	     *at; at++)
		if (web_query_parse(*at, &query, &err) == 0)
			unit_failures++, printf("not ok - '%s' is refused\n", *at);
	memset(longest, 'a', sizeof longest - 1);
	longest[0] = '/';
	longest[sizeof longest - 1] = '\0';
	CHECK("a longer target is refused", web_query_parse(longest, &query, &err) < 0);
	longest[WEB_QUERY_TARGET - 1] = '\0';
	CHECK("the longest one is not", web_query_parse(longest, &query, &err) == 0);
	CHECK("a cookie is found among others",
	      strncmp(web_query_cookie("xa=1; a=22; b=3", "a", &size), "22", 2) == 0 && size == 2);
	CHECK("a part of a name is not a cookie", !web_query_cookie("xa=1; ab=2; a", "a", &size));
}

static enum web_route route_of(const char *path)
{
	struct web_route_match match;

	web_route_find(path, &match);
	return match.route;
}

static void test_routes(void)
{
	struct web_route_match match;

	web_route_find("/api/loops/20260102-030405-abcd/actions/roll-back", &match);
	CHECK("a route has its words",
	      match.route == WEB_ROUTE_action &&
		      strcmp(match.words[0], "20260102-030405-abcd") == 0 &&
		      strcmp(match.words[1], "roll-back") == 0);
	CHECK("files of the page are a route",
	      route_of("/") == WEB_ROUTE_page && route_of("/app.js") == WEB_ROUTE_asset);
	CHECK("other paths have no route",
	      route_of("") == WEB_ROUTE_none && route_of("/a/b") == WEB_ROUTE_none &&
		      route_of("/..") == WEB_ROUTE_none && route_of("/.x") == WEB_ROUTE_none &&
		      route_of("/api/loops/") == WEB_ROUTE_none &&
		      route_of("/api/loops/../series") == WEB_ROUTE_none &&
		      route_of("/api/loops/a%2fb") == WEB_ROUTE_none &&
		      route_of("/api/loops/a/series/") == WEB_ROUTE_none &&
		      route_of("/api/overview/") == WEB_ROUTE_none);
	CHECK("only actions change something",
	      web_route_how(WEB_ROUTE_action) == WEB_ROUTE_ACT &&
		      web_route_how(WEB_ROUTE_diff) == WEB_ROUTE_READ &&
		      web_route_how(WEB_ROUTE_asset) == WEB_ROUTE_SELF);
	CHECK("routes are found by their names",
	      web_route_named("diff") == WEB_ROUTE_diff &&
		      web_route_named("nothing") == WEB_ROUTE_none);
}

static void test_guard(void)
{
	char session[WEB_KEYS_SESSION], csrf[SHA256_HEX];
	AUTO_FREE char *cookie = NULL;
	AUTO_FREE char *shadowed = NULL;
	AUTO_FREE char *bearer = NULL;
	struct web_keys keys;

	web_keys_init(&keys, SECRET, PORT);
	web_keys_session(&keys, now_ms, session);
	web_keys_csrf(&keys, session, strlen(session), csrf);
	cookie = mem_format("a=b; %s=%s", keys.cookie, session);
	shadowed = mem_format("%s=x; %s=; %s", keys.cookie, keys.cookie, cookie);
	bearer = mem_format("Bearer %s", keys.metrics);

	const struct web_guard_head get = {
		.method = "GET", .host = "127.0.0.1:7433", .cookie = cookie, .csrf = csrf
	};
	const struct web_guard_head post = { .method = "POST",
					     .host = "localhost:7433",
					     .origin = "http://localhost:7433",
					     .site = "same-origin",
					     .cookie = cookie,
					     .type = "application/json",
					     .csrf = csrf };
	const struct {
		const char *sentence;
		struct web_guard_head head;
		enum web_route route;
		unsigned int code; /* 0: answered */
	} rows[] = {
#define WITH(base, ...)                            \
	({                                         \
		struct web_guard_head head = base; \
		__VA_ARGS__;                       \
		head;                              \
	})
		{ "a page that is logged in reads", get, WEB_ROUTE_overview, 0 },
		{ "without a cookie nobody reads", WITH(get, head.cookie = NULL),
		  WEB_ROUTE_overview, 401 },
		{ "nor with the cookie alone, which every server on this host gets",
		  WITH(get, head.csrf = NULL), WEB_ROUTE_overview, 401 },
		{ "nor with the cookie and another token", WITH(get, head.csrf = "00"),
		  WEB_ROUTE_events, 401 },
		{ "nor with the token alone", WITH(get, head.cookie = NULL), WEB_ROUTE_session,
		  401 },
		{ "the cookie alone reads no metrics", WITH(get, head.csrf = NULL),
		  WEB_ROUTE_metrics, 401 },
		{ "the cookie alone loads the page", WITH(get, head.csrf = NULL), WEB_ROUTE_page,
		  0 },
		{ "and its files", WITH(get, head.csrf = NULL), WEB_ROUTE_asset, 0 },
		{ "cookies of other servers do not hide the right one",
		  WITH(get, head.cookie = shadowed), WEB_ROUTE_overview, 0 },
		{ "anybody may log in", WITH(get, head.cookie = NULL, head.csrf = NULL),
		  WEB_ROUTE_login, 0 },
		{ "a missing Host is refused", WITH(get, head.host = NULL), WEB_ROUTE_overview,
		  421 },
		{ "another Host is refused", WITH(get, head.host = "a:7433"), WEB_ROUTE_overview,
		  421 },
		{ "another Host may not log in", WITH(get, head.host = "a:7433"), WEB_ROUTE_login,
		  421 },
		{ "another Origin is refused", WITH(get, head.origin = "http://a:7433"),
		  WEB_ROUTE_overview, 403 },
		{ "a sandboxed page is refused", WITH(get, head.origin = "null"),
		  WEB_ROUTE_overview, 403 },
		{ "another site is refused", WITH(get, head.site = "cross-site"),
		  WEB_ROUTE_overview, 403 },
		{ "another site may have a link to the page",
		  WITH(get, head.site = "cross-site", head.mode = "navigate"), WEB_ROUTE_page, 0 },
		{ "but not load it otherwise",
		  WITH(get, head.site = "cross-site", head.mode = "no-cors"), WEB_ROUTE_page, 403 },
		{ "a header that came twice is refused", WITH(get, head.repeated = true),
		  WEB_ROUTE_overview, 400 },
		{ "an unknown path is not found", get, WEB_ROUTE_none, 404 },
		{ "who is not logged in does not learn which paths exist",
		  WITH(get, head.cookie = NULL), WEB_ROUTE_none, 401 },
		{ "HEAD reads as well", WITH(get, head.method = "HEAD"), WEB_ROUTE_overview, 0 },
		{ "POST does not read", post, WEB_ROUTE_overview, 405 },
		{ "GET does not act", get, WEB_ROUTE_action, 405 },
		{ "a page that is logged in acts", post, WEB_ROUTE_action, 0 },
		{ "also with a charset", WITH(post, head.type = "Application/JSON; charset=utf-8"),
		  WEB_ROUTE_action, 0 },
		{ "an action without the token of the page is refused",
		  WITH(post, head.csrf = NULL), WEB_ROUTE_action, 403 },
		{ "an action with a wrong one is refused", WITH(post, head.csrf = "00"),
		  WEB_ROUTE_action, 403 },
		{ "an action of a plain form is refused", WITH(post, head.type = "text/plain"),
		  WEB_ROUTE_action, 415 },
		{ "the token for metrics reads them",
		  WITH(get, head.cookie = NULL, head.authorization = bearer), WEB_ROUTE_metrics,
		  0 },
		{ "the token for metrics reads nothing else",
		  WITH(get, head.cookie = NULL, head.authorization = bearer), WEB_ROUTE_overview,
		  401 },
		{ "another token reads no metrics",
		  WITH(get, head.cookie = NULL, head.authorization = "Bearer 00"),
		  WEB_ROUTE_metrics, 401 },
#undef WITH
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct web_guard_refusal refusal = { 0 };
		int result = web_guard_check(&keys, PORT, rows[i].route, &rows[i].head, now_ms,
					     &refusal);

		CHECK(rows[i].sentence,
		      (result < 0) == (rows[i].code != 0) && refusal.code == rows[i].code);
	}
}

static void test_positions(void)
{
	uint64_t offset = 0;
	uint32_t ordinal = 0;
	bool all = true;

	CHECK("a position is read", web_logs_position("4711.3", &offset, &ordinal) == 0 &&
					    offset == 4711 && ordinal == 3);
	for (const char *const *at =
		     (const char *const[]){ "", ".", "1", "1.", ".1", "-1.0", "1.0.0", "1.x",
					    " 1.0", "1234567890123456789.0", NULL };
	     *at; at++)
		all = all && web_logs_position(*at, &offset, &ordinal) < 0;
	CHECK("malformed positions are refused", all);
}

static int read_body(const char *text, struct op_action_request *request)
{
	json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct error err;
	int result = web_body_read(body, request, &err);

	json_decref(body);
	return result;
}

static void test_bodies(void)
{
	struct op_action_request request = { 0 };

	CHECK("a body is read",
	      read_body("{\"now\": true, \"checkpoint\": 3, \"leaves\": [\"ci\"], \"text\": null}",
			&request) == 0 &&
		      request.now && request.checkpoint == 3 && request.leaves[PATH_GROUP_CI] &&
		      !request.leaves[PATH_GROUP_SOURCE] && !request.text);
	CHECK("an empty one has no checkpoint",
	      read_body("{}", &request) == 0 && request.checkpoint == -1 && !request.now);
	CHECK("other types and unknown groups are refused",
	      read_body("[]", &request) < 0 && read_body("{", &request) < 0 &&
		      read_body("{\"now\": 1}", &request) < 0 &&
		      read_body("{\"leaves\": [\"x\"]}", &request) < 0 &&
		      read_body("{\"checkpoint\": \"3\"}", &request) < 0);
}

int main(void)
{
	test_hmac();
	test_links();
	test_sessions();
	test_cookie_names();
	test_handover();
	test_addresses();
	test_queries();
	test_routes();
	test_guard();
	test_positions();
	test_bodies();
	return unit_failures != 0;
}
