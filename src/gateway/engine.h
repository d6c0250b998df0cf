/* The state shared by all parts of the gateway: configuration, listening sockets, open
 * connections, timers and buffers. */
#ifndef GATEWAY_ENGINE_H
#define GATEWAY_ENGINE_H

#include "gateway/event_loop.h"
#include "gateway/host_table.h"
#include "gateway/model/budget.h"
#include "gateway/model/reel.h"
#include "gateway/model/runaway.h"
#include "gateway/model/upstream.h"
#include "gateway/open_requests.h"
#include "gateway/owner/model_config.h"
#include "gateway/owner_protocol.h"
#include "gateway/proxy/resolver.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct connection;

enum {
	ENGINE_SCRATCH = 256 << 10, /* the buffer that all data passes through */
	ENGINE_SPARE =
		64, /* connections above the cap that get a response; more wait in the backlog */
	ENGINE_KEPT = 8 << 20, /* unsent bytes in total, above which reads are small */
	ENGINE_SIP = 4 << 10,  /* the size of a small read */
	ENGINE_HELD = 256,     /* refusals that wait for the owner */
	ENGINE_REPORTED = 64,  /* refusals reported per second */
};

struct engine_listener {
	struct event_loop_source source;
	struct engine *engine;
	bool own; /* in this process's own network namespace: clients need a token */
};

struct engine {
	struct event_loop loop;
	struct owner_protocol_config config;
	struct host_table *table;
	uint32_t active[HOST_TABLE_ROWS + 1]; /* connections per row */
	struct resolver *resolver;
	int routes;
	struct event_loop_source owner;
	enum owner_protocol_state owner_state;
	struct engine_listener listeners[OWNER_PROTOCOL_LISTENERS];
	size_t listener_count;
	char credential[80]; /* the expected Proxy-Authorization */
	struct connection *connections;
	size_t connection_count;
	struct event_loop_delay header, body, connecting, idle, quiet, held, linger, stagger, keep,
		pace, runaway_hold;
	int pipe[2]; /* empty except within connection_tunnel.c's pour() */
	size_t kept; /* bytes not yet accepted by peers, in total */
	size_t held_count;
	uint32_t last_id;
	unsigned int reported; /* refusals reported in the second that began at second_ms */
	uint64_t second_ms;
	struct budget budget;
	struct runaway runaway;
	struct open_requests *open; /* NULL: there is no table */
	uint64_t last_open;         /* the highest id in it so far */
	struct reel_deck reels;
	struct upstream_ways ways;
	struct upstream upstreams[PROVIDER_COUNT];
	uint64_t spooled; /* bytes of request bodies in memory files */
	struct buffer out;
	char scratch[ENGINE_SCRATCH];
};

/* Accepts connections again after one has ended. */
void engine_admit(struct engine *engine);

#endif
