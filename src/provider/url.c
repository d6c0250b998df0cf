/* URL parsing: see url.h. */
#include "provider/url.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Consumes "user:password@". */
static int read_credential(const char **at, struct url *url, struct error *err)
{
	const char *end = *at + strcspn(*at, "/");
	const char *sign = memrchr(*at, '@', (size_t)(end - *at));
	size_t size = sign ? (size_t)(sign - *at) : 0;

	if (!sign)
		return 0;
	if (size == 0 || size >= sizeof url->credential)
		return error_set(err, "the user name and password are empty or too long");
	memcpy(url->credential, *at, size);
	*at = sign + 1;
	return 0;
}

static int read_host(const char *at, size_t size, struct url *url, struct error *err)
{
	const char *colon = memrchr(at, ':', size);
	size_t length = size;

	if (colon && !memchr(colon, ']', size - (size_t)(colon - at))) {
		char *end = NULL;
		unsigned long port = isdigit((unsigned char)colon[1]) ? strtoul(colon + 1, &end, 10)
								      : 0;

		length = (size_t)(colon - at);
		if (port == 0 || port > UINT16_MAX || end != at + size)
			return error_set(err, "the port must be a number between 1 and 65535");
		url->port = (uint16_t)port;
	}
	if (length > 2 && at[0] == '[' && at[length - 1] == ']') {
		at++;
		length -= 2;
	}
	if (length == 0 || length >= sizeof url->host)
		return error_set(err, "the host is missing");
	memcpy(url->host, at, length);
	return 0;
}

static int read_path(const char *at, struct url *url, struct error *err)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/";

	if (strlen(at) >= sizeof url->path || strspn(at, plain) != strlen(at) || strstr(at, "//") ||
	    strstr(at, "/."))
		return error_set(err, "the path may only contain letters, digits and - . _ /");
	snprintf(url->path, sizeof url->path, "%s", at);
	return 0;
}

int url_parse(const char *text, struct url *ret_url, struct error *err)
{
	const char *secure = text_after_prefix(text, "https://");
	const char *at = secure ? secure : text_after_prefix(text, "http://");
	struct url url = { .tls = secure != NULL };
	struct error why;
	size_t host;

	if (!at)
		return error_set(err, "expected a URL that begins with https:// or http://");
	if (read_credential(&at, &url, err) < 0)
		return -1;
	host = strcspn(at, "/");
	if (read_host(at, host, &url, &why) < 0)
		return error_set(err, "'%.*s': %.500s", (int)host, at, why.text);
	if (read_path(at + host, &url, err) < 0)
		return -1;
	*ret_url = url;
	return 0;
}

uint16_t url_port(const struct url *url)
{
	return url->port ? url->port : url->tls ? 443 : 80;
}

char *url_text(const struct url *url)
{
	bool six = strchr(url->host, ':') != NULL;
	char port[8] = "";

	if (url->port)
		snprintf(port, sizeof port, ":%u", url->port);
	return mem_format("%s%s%s%s%s%s%s%s", url->tls ? "https://" : "http://", url->credential,
			  url->credential[0] ? "@" : "", six ? "[" : "", url->host, six ? "]" : "",
			  port, url->path);
}
