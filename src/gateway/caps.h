/* The gateway's limits in one table: names, defaults, bounds and units. Users can set only some;
 * the error messages describe the others in words. */
#ifndef GATEWAY_CAPS_H
#define GATEWAY_CAPS_H

#include <stdint.h>

/* X(name, default, least, most, description) */
#define GATEWAY_CAPS(X)                                                                           \
	X(connections, 1024, 1, 65536, "connections at once")                                     \
	X(host_connections, 256, 1, 65536, "connections at once to one host")                     \
	X(header_bytes, 32768, 1024, 262144, "bytes of a request's or response's head")           \
	X(header_ms, 10000, 100, 3600000, "milliseconds until a head or a TLS hello is complete") \
	X(body_ms, 60000, 100, 3600000, "milliseconds until a request to a model is complete")    \
	X(connect_ms, 15000, 100, 3600000,                                                        \
	  "milliseconds until a name is resolved and a server responds")                          \
	X(idle_ms, 900000, 100, 86400000, "milliseconds without traffic in either direction")     \
	X(unanswered_ms, 30000, 0, 3600000,                                                       \
	  "milliseconds in which a model server that breaks off without an answer costs nothing") \
	X(bytes_in, 0, 0, UINT64_MAX, "bytes from one host (0: no limit)")                        \
	X(bytes_out, 0, 0, UINT64_MAX, "bytes to one host (0: no limit)")

struct caps {
#define X(name, value, least, most, sentence) uint64_t name;
	GATEWAY_CAPS(X)
#undef X
};

#define GATEWAY_CAP_DEFAULT(name, value, least, most, sentence) .name = (value),
#define GATEWAY_CAPS_DEFAULT                                    ((struct caps){ GATEWAY_CAPS(GATEWAY_CAP_DEFAULT) })

#endif
