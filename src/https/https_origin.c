/* The origin of a URL, as libcurl reads it. */
#include "https/https_origin.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static bool is_loopback(const char *host)
{
	struct in_addr address;

	if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* Copies a part of the URL in lower case. Returns 0, or -1 if it is missing or too long. */
static int read_part(CURLU *parsed, CURLUPart which, char *ret_text, size_t size)
{
	char *part = NULL;
	bool fits = curl_url_get(parsed, which, &part, CURLU_DEFAULT_PORT) == CURLUE_OK &&
		    strlen(part) < size;

	if (fits)
		snprintf(ret_text, size, "%s", part);
	for (char *at = ret_text; fits && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	curl_free(part);
	return fits ? 0 : -1;
}

static int read_parts(CURLU *parsed, struct https_origin *origin, struct error *err)
{
	char scheme[8];

	if (read_part(parsed, CURLUPART_SCHEME, scheme, sizeof scheme) < 0 ||
	    read_part(parsed, CURLUPART_HOST, origin->host, sizeof origin->host) < 0 ||
	    read_part(parsed, CURLUPART_PORT, origin->port, sizeof origin->port) < 0)
		return error_with(err, ERROR_INVALID, "invalid URL");
	origin->tls = strcmp(scheme, "https") == 0;
	if (!origin->tls && strcmp(scheme, "http") != 0)
		return error_with(err, ERROR_REFUSED, "only https:// is supported");
	if (!origin->tls && !is_loopback(origin->host))
		return error_with(err, ERROR_REFUSED,
				  "http:// is refused, except to this machine; use https://");
	return 0;
}

int https_origin_read(const char *url, struct https_origin *ret_origin, struct error *err)
{
	struct https_origin origin = { 0 };
	CURLU *parsed = curl_url();
	int result = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK
			     ? read_parts(parsed, &origin, err)
			     : error_with(err, ERROR_INVALID, "invalid URL");

	curl_url_cleanup(parsed);
	if (result == 0)
		*ret_origin = origin;
	return result;
}

bool https_origin_same(const struct https_origin *a, const struct https_origin *b)
{
	return a->tls == b->tls && strcmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}
