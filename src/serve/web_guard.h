/*
 * Decides whether a request may be answered at all, before anything is read or done: a pure
 * function of its head. Other sites that are open in the same browser can send requests here, and
 * other users of the machine can connect; neither has the cookie, the token of the page, and the
 * right Host and Origin together.
 *
 * Data needs the token as well as the cookie: a browser sends cookies to each server on a host,
 * whatever its port, so any other local server that a person visits gets the cookie.
 */
#ifndef SERVE_WEB_GUARD_H
#define SERVE_WEB_GUARD_H

#include "serve/web_keys.h"
#include "serve/web_route.h"

#include <stdbool.h>

/* A head. Headers that are not there are NULL. */
struct web_guard_head {
	const char *method, *host, *origin, *site, *mode; /* site, mode: Sec-Fetch-... */
	const char *cookie, *authorization, *type, *csrf;
	bool repeated; /* one of these headers came twice */
};

/* Why a request is refused. */
struct web_guard_refusal {
	unsigned int code;   /* of HTTP */
	const char *status;  /* a word for programs */
	const char *message; /* a sentence for people */
};

/* Returns 0, or -1 with *ret_refusal set. */
int web_guard_check(const struct web_keys *keys, unsigned int port, enum web_route route,
		    const struct web_guard_head *head, int64_t now_ms,
		    struct web_guard_refusal *ret_refusal);

#endif
