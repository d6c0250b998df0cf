// sources: src/gateway/proxy/tls_hello.c
/* The first bytes of a tunnel. */
#include "fuzz.h"

#include "gateway/proxy/tls_hello.h"

#include <stdlib.h>
#include <string.h>

/* More bytes do not change a verdict: nobody can extend a hello that has been judged. */
void fuzz_tls_hello(const uint8_t *data, size_t size)
{
	char name[GATEWAY_HOST] = "";
	char earlier[GATEWAY_HOST] = "";
	enum tls_hello whole = tls_hello_read(data, size, name);

	if (whole == TLS_HELLO_NAMED && (!name[0] || strlen(name) >= GATEWAY_HOST))
		abort();
	/* All prefixes of a short input, the last few of a long one. */
	for (size_t part = size > 300 ? size - 8 : 0; part < size; part++) {
		enum tls_hello before = tls_hello_read(data, part, earlier);

		if (before != TLS_HELLO_MORE &&
		    (before != whole || (whole == TLS_HELLO_NAMED && strcmp(name, earlier) != 0)))
			abort();
	}
}

FUZZ_TARGET(fuzz_tls_hello)
