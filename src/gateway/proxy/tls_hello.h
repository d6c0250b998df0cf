/*
 * Parses the first message of TLS for the server name that the client requests.
 *
 * A pure, bounded function: a ClientHello in one or more records, at most one server_name, every
 * length exact. ECH hides a second hello inside the first; only the outer one can be read and
 * checked.
 */
#ifndef GATEWAY_PROXY_TLS_HELLO_H
#define GATEWAY_PROXY_TLS_HELLO_H

#include "gateway/proxy/rule.h"

#include <stddef.h>
#include <stdint.h>

enum { TLS_HELLO_MOST = 32768 }; /* bytes, including record headers */

enum tls_hello {
	TLS_HELLO_MORE,    /* valid so far, but incomplete */
	TLS_HELLO_NAMED,   /* ret_name is the server name */
	TLS_HELLO_UNNAMED, /* it has no server name */
	TLS_HELLO_FOREIGN, /* the first byte is not TLS */
	TLS_HELLO_WRONG,   /* it begins like TLS but is invalid or too long */
};

enum tls_hello tls_hello_read(const uint8_t *bytes, size_t size, char ret_name[GATEWAY_HOST]);

#endif
