// sources: src/builtin/model/httpclient.c src/gateway/proxy/http.c src/gateway/proxy/http_write.c
// sources: src/meter/shape.c
/* URLs of model servers. */
#include "fuzz.h"

#include "builtin/model/httpclient.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_httpclient(const uint8_t *data, size_t size)
{
	AUTO_FREE char *url = mem_zero(size + 1);
	struct httpclient_place place;
	struct error err;

	memcpy(url, data, size);
	if (httpclient_place_read(url, &place, &err) < 0)
		return;
	if (!place.host[0] || !place.port || strpbrk(place.prefix, "\r\n ?#") ||
	    (place.prefix[0] && place.prefix[0] != '/'))
		abort();
}

FUZZ_TARGET(fuzz_httpclient)
