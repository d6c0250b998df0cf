/* The origin of a URL: its scheme, host and port. Secrets are sent to one origin only. */
#ifndef HTTPS_HTTPS_ORIGIN_H
#define HTTPS_HTTPS_ORIGIN_H

#include "util/error.h"

#include <stdbool.h>

struct https_origin {
	bool tls;
	char host[256]; /* in lower case */
	char port[8];
};

/* Reads the origin of a URL. Returns 0, or -1 with err set; plain HTTP to another machine is
 * refused. */
int https_origin_read(const char *url, struct https_origin *ret_origin, struct error *err);

bool https_origin_same(const struct https_origin *a, const struct https_origin *b);

#endif
