/* The order from ringfence to init, parsed from its records (see fence/run/wire.h). */
#ifndef FENCE_INIT_ORDER_H
#define FENCE_INIT_ORDER_H

#include "fence/run/wire.h"

struct order_rule {
	struct wire_rule rule;
	const char *path;
};

struct order_grant {
	struct wire_grant grant;
	const char *path;
};

/* All strings point into the parsed bytes, which must outlive the order. */
struct order {
	struct wire_flags flags;
	struct wire_host host;
	struct wire_limits limits;
	const char **arguments;
	const char **environment;
	const char **scratch;
	const char **host_mounts;
	uint64_t *host_devices;
	struct order_rule *rules;
	struct order_grant *grants;
	struct wire_listen *listens;
	size_t argument_count, environment_count, scratch_count, rule_count, grant_count,
		listen_count, host_mount_count, host_device_count;
	const char *cwd;
	const char *canary;
	const char *abstract;
	const char *draft; /* the project, or NULL */
};

/* Parses an order. Returns 0, or -1 with err set if the bytes are malformed or a required record is
 * missing. */
int order_read(const char *bytes, size_t size, struct order *ret_order, struct error *err);
void order_release(struct order *order);

#endif
