/*
 * Is an address this machine's own?
 *
 * The kernel's routes know: addresses that come later, secondary ones, ranges that are local as a whole. The
 * question goes through a netlink socket that is opened before the gateway shuts itself in; it is answered at
 * once, and no packet leaves.
 */
#ifndef GATEWAY_PROXY_ROUTE_H
#define GATEWAY_PROXY_ROUTE_H

#include "gateway/proxy/address.h"
#include "util/error.h"

int route_open(int *ret_socket, struct error *err);

enum route {
	ROUTE_AWAY,    /* to another machine */
	ROUTE_OWN,     /* to this one; also if the kernel does not say */
	ROUTE_NOWHERE, /* there is none, or it is forbidden */
};

enum route route_ask(int socket, const struct address *address);

#endif
