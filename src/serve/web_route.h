/*
 * The routes of the web page's server, as one table. The server answers some of them itself; the
 * others are answered by a process of their own (serve/answer/web_answer.h).
 */
#ifndef SERVE_WEB_ROUTE_H
#define SERVE_WEB_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

/* name, pattern (* stands for a word), how it is answered */
#define WEB_ROUTES(X)                                    \
	X(page, "/", SELF)                               \
	X(login, "/login", SELF)                         \
	X(session, "/api/session", SELF)                 \
	X(events, "/api/events", SELF)                   \
	X(overview, "/api/overview", READ)               \
	X(loop, "/api/loops/*", READ)                    \
	X(iterations, "/api/loops/*/iterations", READ)   \
	X(iteration, "/api/loops/*/iterations/*", READ)  \
	X(series, "/api/loops/*/series", READ)           \
	X(transcript, "/api/loops/*/transcript", READ)   \
	X(search, "/api/loops/*/search", READ)           \
	X(prompt, "/api/loops/*/prompt", READ)           \
	X(tools, "/api/loops/*/tools", READ)             \
	X(changes, "/api/loops/*/changes", READ)         \
	X(diff, "/api/loops/*/diff", READ)               \
	X(checkpoints, "/api/loops/*/checkpoints", READ) \
	X(report, "/api/loops/*/report.html", READ)      \
	X(action, "/api/loops/*/actions/*", ACT)         \
	X(batch, "/api/batches/*", READ)                 \
	X(metrics, "/metrics", READ)

enum web_route {
#define WEB_ROUTE(name, pattern, how) WEB_ROUTE_##name,
	WEB_ROUTES(WEB_ROUTE)
#undef WEB_ROUTE
		WEB_ROUTE_asset, /* /NAME: a file of the page */
	WEB_ROUTE_none,
	WEB_ROUTE_COUNT = WEB_ROUTE_asset
};

enum web_route_how {
	WEB_ROUTE_SELF, /* by the server itself */
	WEB_ROUTE_READ, /* by a process that only reads, and may be killed */
	WEB_ROUTE_ACT,  /* by one that changes a loop; the only route with POST */
};

enum { WEB_ROUTE_WORDS = 2, WEB_ROUTE_WORD = 80 };

/* A path that was found: its route, and the words in place of the stars. */
struct web_route_match {
	enum web_route route;
	char words[WEB_ROUTE_WORDS][WEB_ROUTE_WORD];
};

/* Finds the route of a path. Words have letters, digits and ". _ -" only, and do not begin with a
 * dot. The route is WEB_ROUTE_none if there is none. */
void web_route_find(const char *path, struct web_route_match *ret_match);

enum web_route_how web_route_how(enum web_route route);

/* Returns the name of a route that another process answers, and the route with a name, or
 * WEB_ROUTE_none. */
const char *web_route_name(enum web_route route);
enum web_route web_route_named(const char *name);

#endif
