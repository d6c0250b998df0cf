/*
 * The secrets of the web page's server. A link has a token that is valid once; it is exchanged for
 * a session, which is a cookie. A session is signed, not stored: the key of the state folder makes
 * it, so it outlives the server, and ends when it expires or the key is removed.
 *
 * Times are passed in.
 */
#ifndef SERVE_WEB_KEYS_H
#define SERVE_WEB_KEYS_H

#include "util/text/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WEB_KEYS_SECRET = 65, /* 64 hexadecimal digits and a NUL */
	WEB_KEYS_TOKEN = 33,  /* 32 */
	WEB_KEYS_COOKIE = 32, /* bytes of a cookie's name */
	WEB_KEYS_SESSION = 128,
	WEB_KEYS_LINKS = 8, /* links at a time; a new one replaces the oldest */
	WEB_KEYS_LINK_MS = 60 * 60 * 1000,
};

#define WEB_KEYS_SESSION_MS ((int64_t)30 * 24 * 60 * 60 * 1000)

struct web_keys_link {
	char token[WEB_KEYS_TOKEN]; /* empty: none */
	int64_t until_ms;
};

struct web_keys {
	char secret[WEB_KEYS_SECRET];
	char cookie[WEB_KEYS_COOKIE]; /* its name, which depends on the key and the port */
	char metrics[WEB_KEYS_TOKEN]; /* a token that may read the metrics, and nothing else */
	struct web_keys_link links[WEB_KEYS_LINKS];
	size_t next;
};

/* Makes a new secret. Returns 0, or -1 with errno. */
int web_keys_make(char ret_secret[WEB_KEYS_SECRET]);

/* Has a text the form of a secret? */
bool web_keys_is_secret(const char *text, size_t size);

void web_keys_init(struct web_keys *keys, const char *secret, unsigned int port);

/* Derives the token for metrics from the secret. */
void web_keys_metrics(const char *secret, char ret_token[WEB_KEYS_TOKEN]);

/* Makes the token of a new link. Returns it, or NULL with errno. */
const char *web_keys_link(struct web_keys *keys, int64_t now_ms);

/* Takes a link's token: returns whether it was valid. It is not valid any more. */
bool web_keys_take(struct web_keys *keys, const char *token, int64_t now_ms);

/* Makes a session. Returns 0, or -1 with errno. */
int web_keys_session(const struct web_keys *keys, int64_t now_ms,
		     char ret_session[WEB_KEYS_SESSION]);

/* Is this a session of ours that has not expired? */
bool web_keys_knows(const struct web_keys *keys, const char *session, size_t size, int64_t now_ms);

/* The token that requests of a session carry to show that they come from the page. */
void web_keys_csrf(const struct web_keys *keys, const char *session, size_t size,
		   char ret_token[SHA256_HEX]);

#endif
