/* Sockets with a name in a folder. Socket addresses are short and folders can be deep: the address
 * uses a descriptor of the folder. */
#ifndef UTIL_FILE_LOCAL_SOCKET_H
#define UTIL_FILE_LOCAL_SOCKET_H

#include "util/error.h"

/* Listens without blocking, in place of a socket that a killed process left: the caller has made
 * sure that nobody else listens. type: SOCK_STREAM or SOCK_SEQPACKET. Returns a descriptor, or -1
 * with err set. */
int local_socket_listen(const char *folder, const char *name, int type, struct error *err);

/* Connects. Returns a descriptor, or -1 with err set. */
int local_socket_connect(const char *folder, const char *name, int type, struct error *err);

#endif
