/* The URL of a server or of a proxy, in its parts: "https://user:password@host:port/path". */
#ifndef PROVIDER_URL_H
#define PROVIDER_URL_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { URL_HOST = 256, URL_PATH = 128, URL_CREDENTIAL = 512 };

struct url {
	bool tls;
	char host[URL_HOST];             /* as it was written, without brackets */
	uint16_t port;                   /* 0: the scheme's own */
	char path[URL_PATH];             /* empty, or from its slash on */
	char credential[URL_CREDENTIAL]; /* "user:password"; empty: none */
};

/* Reads one. Whether the host can be one is not judged here. Returns 0, or -1 with err set. */
int url_parse(const char *text, struct url *ret_url, struct error *err);

/* The port to connect to. */
uint16_t url_port(const struct url *url);

/* The same as text; the caller frees. */
char *url_text(const struct url *url);

#endif
