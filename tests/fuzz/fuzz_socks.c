// sources: src/gateway/proxy/socks.c src/gateway/proxy/address.c
/* Messages from a SOCKS5 client. */
#include "fuzz.h"

#include "gateway/proxy/socks.h"

#include <stdlib.h>
#include <string.h>

static void check(ssize_t used, size_t size)
{
	if (used > (ssize_t)size || used < -1)
		abort();
}

void fuzz_socks(const uint8_t *data, size_t size)
{
	struct socks_methods methods;
	struct socks_password password;
	struct socks_request request;
	ssize_t used = socks_read_request(data, size, &request);

	check(socks_read_methods(data, size, &methods), size);
	check(socks_read_password(data, size, &password), size);
	check(used, size);
	if (used > 0 &&
	    (strlen(request.host) >= GATEWAY_HOST || (request.host[0] && !request.known)))
		abort();
}

FUZZ_TARGET(fuzz_socks)
