/*
 * The first message of TLS: whom a client says that it wants to talk to.
 *
 * A pure function with bounds: a ClientHello in one or several records, one server_name at most, every
 * length exact. Nothing else of TLS is known here. ECH hides a second hello in the first; what is compared is the
 * one that can be read.
 */
#ifndef GATEWAY_PROXY_TLS_HELLO_H
#define GATEWAY_PROXY_TLS_HELLO_H

#include "gateway/proxy/rule.h"

#include <stddef.h>
#include <stdint.h>

enum { TLS_HELLO_MOST = 32768 }; /* bytes, with the heads of records */

enum tls_hello {
	TLS_HELLO_MORE,    /* so far it is one; more is needed */
	TLS_HELLO_NAMED,   /* ret_name is whom it names */
	TLS_HELLO_UNNAMED, /* it names nobody */
	TLS_HELLO_FOREIGN, /* the first byte is not of TLS */
	TLS_HELLO_WRONG,   /* it begins as TLS and is none, or is too long */
};

enum tls_hello tls_hello_read(const uint8_t *bytes, size_t size, char ret_name[GATEWAY_HOST]);

#endif
