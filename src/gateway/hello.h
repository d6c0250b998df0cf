/*
 * The first message of TLS: whom a client says that it wants to talk to.
 *
 * A pure function with bounds: a ClientHello in one or several records, one server_name at most, every
 * length exact. Nothing else of TLS is known here. ECH hides a second hello in the first; what is compared is the
 * one that can be read.
 */
#ifndef GATEWAY_HELLO_H
#define GATEWAY_HELLO_H

#include "gateway/rule.h"

#include <stddef.h>
#include <stdint.h>

enum { HELLO_MOST = 32768 }; /* bytes, with the heads of records */

enum hello {
	HELLO_MORE,    /* so far it is one; more is needed */
	HELLO_NAMED,   /* ret_name is whom it names */
	HELLO_UNNAMED, /* it names nobody */
	HELLO_FOREIGN, /* the first byte is not of TLS */
	HELLO_WRONG,   /* it begins as TLS and is none, or is too long */
};

enum hello hello_read(const uint8_t *bytes, size_t size, char ret_name[GATEWAY_HOST]);

#endif
