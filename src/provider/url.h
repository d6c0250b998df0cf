/* The URL of a server or proxy, split into its parts: "https://user:password@host:port/path". */
#ifndef PROVIDER_URL_H
#define PROVIDER_URL_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { URL_HOST = 256, URL_PATH = 128, URL_CREDENTIAL = 512 };

struct url {
	bool tls;
	char host[URL_HOST];             /* as written, without brackets */
	uint16_t port;                   /* 0: the scheme's default */
	char path[URL_PATH];             /* empty, or beginning with a slash */
	char credential[URL_CREDENTIAL]; /* "user:password", or empty */
};

/* Parses a URL. Does not check that the host is a valid name. Returns 0, or -1 with err set. */
int url_parse(const char *text, struct url *ret_url, struct error *err);

/* Returns the port to connect to. */
uint16_t url_port(const struct url *url);

/* Formats the URL as text. The caller frees. */
char *url_text(const struct url *url);

#endif
