/*
 * Finds out whether an address is one of this machine's own.
 *
 * The kernel's routing table knows addresses added later, secondary ones, and local ranges. The
 * query uses a netlink socket that was opened before the gateway confined itself; it is answered at
 * once, and sends no packet.
 */
#ifndef GATEWAY_PROXY_ROUTE_H
#define GATEWAY_PROXY_ROUTE_H

#include "gateway/proxy/address.h"
#include "util/error.h"

int route_open(int *ret_socket, struct error *err);

enum route {
	ROUTE_AWAY,    /* to another machine */
	ROUTE_OWN,     /* to this one, or unknown */
	ROUTE_NOWHERE, /* no route, or prohibited */
};

enum route route_ask(int socket, const struct address *address);

#endif
