/* Addresses of the loopback interface: the page is for people on this machine alone. */
#ifndef SERVE_WEB_ADDRESS_H
#define SERVE_WEB_ADDRESS_H

#include "util/error.h"

/* Opens a listening socket on a port of "localhost", "127.0.0.1" or "::1"; every other host is
 * refused. port: 0 for any free one. Returns the socket, or -1 with err set: ERROR_BUSY if the port
 * is in use. */
int web_address_listen(const char *host, unsigned int port, struct error *err);

/* Returns the address of a listening socket, such as "127.0.0.1:7433", which the caller frees, and
 * its port. Returns 0, or -1 with err set: if it is not of the loopback interface. */
int web_address_of(int listener, char **ret_authority, unsigned int *ret_port, struct error *err);

#endif
