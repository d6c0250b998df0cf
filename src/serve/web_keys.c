/* Secrets, links and sessions: see web_keys.h. */
#include "serve/web_keys.h"

#include "util/text/consttime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A session: its end in seconds since the epoch, random digits, and the signature of both. */
enum { END_DIGITS = 16, NONCE_DIGITS = 32, SIGNED = END_DIGITS + 1 + NONCE_DIGITS };

#define HEX "0123456789abcdef"

/* Returns 0, or -1 with errno. */
static int random_digits(char *ret_text, size_t digits)
{
	unsigned char bytes[32];

	if (getrandom(bytes, digits / 2, 0) != (ssize_t)(digits / 2))
		return -1;
	for (size_t i = 0; i < digits; i++)
		ret_text[i] = HEX[(i % 2 ? bytes[i / 2] : bytes[i / 2] >> 4) & 15];
	ret_text[digits] = '\0';
	explicit_bzero(bytes, sizeof bytes);
	return 0;
}

int web_keys_make(char ret_secret[WEB_KEYS_SECRET])
{
	return random_digits(ret_secret, WEB_KEYS_SECRET - 1);
}

bool web_keys_is_secret(const char *text, size_t size)
{
	return size == WEB_KEYS_SECRET - 1 && strspn(text, HEX) >= size;
}

void web_keys_metrics(const char *secret, char ret_token[WEB_KEYS_TOKEN])
{
	char hash[SHA256_HEX];

	sha256_hmac_hex(secret, "metrics", hash);
	snprintf(ret_token, WEB_KEYS_TOKEN, "%.*s", WEB_KEYS_TOKEN - 1, hash);
}

void web_keys_init(struct web_keys *keys, const char *secret, unsigned int port)
{
	char hash[SHA256_HEX], purpose[32];

	*keys = (struct web_keys){ 0 };
	snprintf(keys->secret, sizeof keys->secret, "%s", secret);
	snprintf(purpose, sizeof purpose, "cookie %u", port);
	sha256_hmac_hex(keys->secret, purpose, hash);
	snprintf(keys->cookie, sizeof keys->cookie, "ringfence-%.8s", hash);
	web_keys_metrics(keys->secret, keys->metrics);
}

const char *web_keys_link(struct web_keys *keys, int64_t now_ms)
{
	struct web_keys_link *link = &keys->links[keys->next];

	*link = (struct web_keys_link){ .until_ms = now_ms + WEB_KEYS_LINK_MS };
	if (random_digits(link->token, WEB_KEYS_TOKEN - 1) < 0) {
		*link = (struct web_keys_link){ 0 };
		return NULL;
	}
	keys->next = (keys->next + 1) % WEB_KEYS_LINKS;
	return link->token;
}

bool web_keys_take(struct web_keys *keys, const char *token, int64_t now_ms)
{
	struct web_keys_link *found = NULL;

	for (size_t i = 0; i < WEB_KEYS_LINKS; i++) {
		struct web_keys_link *link = &keys->links[i];

		if (*link->token && consttime_equal(token, strlen(token), link->token))
			found = link;
	}
	if (!found)
		return false;
	bool valid = now_ms < found->until_ms;

	explicit_bzero(found, sizeof *found);
	return valid;
}

static void sign(const struct web_keys *keys, const char *purpose, const char *text, size_t size,
		 char ret_hex[SHA256_HEX])
{
	char signed_text[WEB_KEYS_SESSION + 16];

	snprintf(signed_text, sizeof signed_text, "%s %.*s", purpose, (int)size, text);
	sha256_hmac_hex(keys->secret, signed_text, ret_hex);
}

int web_keys_session(const struct web_keys *keys, int64_t now_ms,
		     char ret_session[WEB_KEYS_SESSION])
{
	char nonce[NONCE_DIGITS + 1], signature[SHA256_HEX], start[SIGNED + 1];

	if (random_digits(nonce, NONCE_DIGITS) < 0)
		return -1;
	snprintf(start, sizeof start, "%016llx-%s",
		 (unsigned long long)((now_ms + WEB_KEYS_SESSION_MS) / 1000), nonce);
	sign(keys, "session", start, SIGNED, signature);
	snprintf(ret_session, WEB_KEYS_SESSION, "%s-%s", start, signature);
	return 0;
}

bool web_keys_knows(const struct web_keys *keys, const char *session, size_t size, int64_t now_ms)
{
	char signature[SHA256_HEX], end[END_DIGITS + 1];

	if (size != SIGNED + 1 + SHA256_HEX - 1 || session[SIGNED] != '-')
		return false;
	sign(keys, "session", session, SIGNED, signature);
	if (!consttime_equal(session + SIGNED + 1, SHA256_HEX - 1, signature))
		return false;
	snprintf(end, sizeof end, "%s", session);
	return now_ms / 1000 < (int64_t)strtoull(end, NULL, 16);
}

void web_keys_csrf(const struct web_keys *keys, const char *session, size_t size,
		   char ret_token[SHA256_HEX])
{
	sign(keys, "csrf", session, size < WEB_KEYS_SESSION ? size : WEB_KEYS_SESSION, ret_token);
}
