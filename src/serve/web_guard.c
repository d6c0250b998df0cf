/* The guard of the web page's server: see web_guard.h. */
#include "serve/web_guard.h"

#include "serve/web_query.h"
#include "util/text/consttime.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum refusal { HOST, FOREIGN, METHOD, UNAUTHORIZED, TYPE, CSRF, MALFORMED, NO_ROUTE };

static const struct web_guard_refusal refusals[] = {
	[HOST] = { 421, "host",
		   "the Host of the request is not this server (use the link that ringfence serve "
		   "prints)" },
	[FOREIGN] = { 403, "forbidden", "the request comes from another site" },
	[METHOD] = { 405, "method", "this route does not have this method" },
	[UNAUTHORIZED] = { 401, "unauthorized",
			   "you are not logged in (ringfence serve --link prints a new link)" },
	[TYPE] = { 415, "type", "the body must have the Content-Type application/json" },
	[CSRF] = { 403, "forbidden",
		   "the request lacks the token of the page (X-Ringfence-Token)" },
	[MALFORMED] = { 400, "invalid", "a header of the request came twice" },
	[NO_ROUTE] = { 404, "not-found", "there is no such address" },
};

/* Is this host, of an authority, this server? */
static bool is_here(const char *authority, unsigned int port)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char wanted[32];

		snprintf(wanted, sizeof wanted, "%s:%u", names[i], port);
		if (strcasecmp(authority, wanted) == 0)
			return true;
	}
	return false;
}

/* Any page may have a link to this one, which a person follows; it learns nothing. */
static bool is_followed_link(enum web_route route, const struct web_guard_head *head)
{
	return (route == WEB_ROUTE_page || route == WEB_ROUTE_login) && head->mode &&
	       strcmp(head->mode, "navigate") == 0;
}

static bool is_foreign(enum web_route route, const struct web_guard_head *head, unsigned int port)
{
	const char *origin = head->origin ? text_after_prefix(head->origin, "http://") : NULL;

	if (head->origin && (!origin || !is_here(origin, port)))
		return true;
	if (!head->site || strcmp(head->site, "same-origin") == 0 ||
	    strcmp(head->site, "none") == 0)
		return false;
	return !is_followed_link(route, head);
}

static bool is_method(enum web_route route, const char *method)
{
	if (web_route_how(route) == WEB_ROUTE_ACT)
		return strcmp(method, "POST") == 0;
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* The files of the page hold no data: they may be read before the page has its token. */
static bool needs_token(enum web_route route)
{
	return route != WEB_ROUTE_page && route != WEB_ROUTE_asset && route != WEB_ROUTE_none;
}

/* Returns the session of a request, or NULL. Other servers on this host can set cookies with the
 * same name, which may come first. */
static const char *session_of(const struct web_keys *keys, const struct web_guard_head *head,
			      int64_t now_ms, size_t *ret_size)
{
	const char *rest = head->cookie ? head->cookie : "";
	const char *session;

	while ((session = web_query_cookie(rest, keys->cookie, ret_size))) {
		if (web_keys_knows(keys, session, *ret_size, now_ms))
			return session;
		rest = session + *ret_size;
	}
	return NULL;
}

static bool may_read_metrics(const struct web_keys *keys, const struct web_guard_head *head)
{
	const char *token = head->authorization ? text_after_prefix(head->authorization, "Bearer ")
						: NULL;

	return token && consttime_equal(token, strlen(token), keys->metrics);
}

static bool has_token(const struct web_keys *keys, const struct web_guard_head *head,
		      const char *session, size_t size)
{
	char csrf[SHA256_HEX];

	web_keys_csrf(keys, session, size, csrf);
	return head->csrf && consttime_equal(head->csrf, strlen(head->csrf), csrf);
}

/* An action without the token is refused as one, once it is known to be an action. */
static bool may_read(const struct web_keys *keys, enum web_route route,
		     const struct web_guard_head *head, int64_t now_ms)
{
	size_t size = 0;
	const char *session = session_of(keys, head, now_ms, &size);

	if (route == WEB_ROUTE_login ||
	    (route == WEB_ROUTE_metrics && may_read_metrics(keys, head)))
		return true;
	return session && (!needs_token(route) || web_route_how(route) == WEB_ROUTE_ACT ||
			   has_token(keys, head, session, size));
}

static bool is_json(const char *type)
{
	size_t size = type ? strcspn(type, "; \t") : 0;

	return size == strlen("application/json") &&
	       strncasecmp(type, "application/json", size) == 0;
}

static int refuse(enum refusal why, struct web_guard_refusal *ret_refusal)
{
	*ret_refusal = refusals[why];
	return -1;
}

int web_guard_check(const struct web_keys *keys, unsigned int port, enum web_route route,
		    const struct web_guard_head *head, int64_t now_ms,
		    struct web_guard_refusal *ret_refusal)
{
	size_t size = 0;
	const char *session;

	if (head->repeated)
		return refuse(MALFORMED, ret_refusal);
	if (!head->host || !is_here(head->host, port))
		return refuse(HOST, ret_refusal);
	if (is_foreign(route, head, port))
		return refuse(FOREIGN, ret_refusal);
	if (!may_read(keys, route, head, now_ms))
		return refuse(UNAUTHORIZED, ret_refusal);
	if (route == WEB_ROUTE_none)
		return refuse(NO_ROUTE, ret_refusal);
	if (!is_method(route, head->method))
		return refuse(METHOD, ret_refusal);
	if (web_route_how(route) != WEB_ROUTE_ACT)
		return 0;
	if (!is_json(head->type))
		return refuse(TYPE, ret_refusal);
	session = session_of(keys, head, now_ms, &size);
	if (!has_token(keys, head, session, size))
		return refuse(CSRF, ret_refusal);
	return 0;
}
