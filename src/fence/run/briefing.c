/* Orders for init: see briefing.h. */
#include "fence/run/briefing.h"

#include "fence/plan/defaults.h"
#include "util/file/mounts.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

struct mounts_order {
	struct buffer *order;
	const struct fence_plan *plan;
};

/* Describes a host mount: its device, and its path if a rule makes it visible. */
static int describe_mount(void *context, uint64_t device, const char *path, struct error *err)
{
	struct mounts_order *to = context;
	bool visible = fence_plan_decide(to->plan, path) || defaults_is_system(path);

	(void)err;
	wire_add(to->order, WIRE_HOST_DEVICE, &device, sizeof device);
	if (visible)
		wire_add_string(to->order, WIRE_HOST_MOUNT, path);
	return 0;
}

static int describe_host(struct buffer *order, const struct fence_plan *plan, struct error *err)
{
	struct wire_host host = { 0 };
	struct stat status;

	for (size_t i = 0; i < WIRE_NAMESPACES; i++) {
		char path[64];

		snprintf(path, sizeof path, "/proc/self/ns/%s", wire_namespaces[i]);
		if (stat(path, &status) == 0)
			host.namespaces[i] = status.st_ino;
	}
	if (stat(plan->home, &status) == 0) {
		host.home_device = status.st_dev;
		host.home_inode = status.st_ino;
	}
	wire_add(order, WIRE_HOST, &host, sizeof host);
	return mounts_each(describe_mount, &(struct mounts_order){ order, plan }, err);
}

int briefing_write(struct buffer *order, const struct briefing *briefing, struct error *err)
{
	const struct fence_plan *plan = briefing->plan;
	const struct fence_spec *spec = plan->spec;
	AUTO_FREE char *canary = path_join(plan->state, "canary");
	struct wire_flags flags = {
		.confined = !(plan->weaker & FENCE_WEAKER_NO_FENCE),
		.net_private = spec->net != FENCE_NET_OPEN,
		.landlock = !(spec->accepted_weaker & FENCE_WEAKER_LANDLOCK),
		.scopes = spec->net == FENCE_NET_OPEN &&
			  !(spec->accepted_weaker & FENCE_WEAKER_ABSTRACT_SOCKETS),
		.shared_user = (plan->weaker & FENCE_WEAKER_USER_NAMESPACE) != 0,
		.denials = spec->denials || spec->layers, /* see watch/held.h */
		.trace_reads = spec->trace_reads,
		.terminal = briefing->terminal,
		.shared = plan->own != NULL,
		.asks_opens = briefing->asks_opens,
	};
	struct winsize size;

	if (briefing->outer >= 0 && ioctl(briefing->outer, TIOCGWINSZ, &size) == 0) {
		flags.rows = size.ws_row;
		flags.columns = size.ws_col;
	}
	flags.umask = umask(0);
	umask((mode_t)flags.umask);
	wire_add(order, WIRE_FLAGS, &flags, sizeof flags);
	wire_add(order, WIRE_LIMITS, &briefing->limits, sizeof briefing->limits);
	for (char *const *at = spec->command; *at; at++)
		wire_add_string(order, WIRE_ARGUMENT, *at);
	for (size_t i = 0; i < plan->environment.count; i++)
		wire_add_string(order, WIRE_ENVIRONMENT, plan->environment.items[i]);
	wire_add_string(order, WIRE_CWD, plan->cwd);
	for (size_t i = 0; i < spec->listen_count; i++)
		wire_add(order, WIRE_LISTEN, &spec->listens[i].where,
			 sizeof spec->listens[i].where);
	if (spec->net == FENCE_NET_LIST) /* must be last: see add_listener() in session.c */
		wire_add(order, WIRE_LISTEN,
			 &(struct wire_listen){
				 .family = 4,
				 /* On the host's loopback: any port, see watch/perform.h. */
				 .port = plan->own ? 0 : OUTLET_PORT,
				 .address = { 127, 0, 0, 1 } },
			 sizeof(struct wire_listen));
	if (spec->layers)
		wire_add_string(order, WIRE_DRAFT, plan->project);
	wire_add_string(order, WIRE_CANARY, canary);
	wire_add_string(order, WIRE_ABSTRACT, briefing->abstract);
	return describe_host(order, plan, err);
}
