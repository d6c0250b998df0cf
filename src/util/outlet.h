/*
 * The only way out of a fence: a process outside that serves connections made inside.
 *
 * The fence creates a listening socket in its own network namespace and passes it out. The outlet
 * accepts on it, decides which hosts may be reached, and reports each refusal before the client
 * sees it, so that the fence can still find out which process made the request. The fence knows
 * nothing else about the network, and the outlet nothing about the fence.
 */
#ifndef UTIL_OUTLET_H
#define UTIL_OUTLET_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Its address inside: on loopback, above the kernel's range of ephemeral ports. */
enum { OUTLET_PORT = 61080 };

enum { OUTLET_NAME = 264, OUTLET_HOSTS = 257, OUTLET_TOKEN = 33 };

/* Limits; 0 means none (for connections: the outlet's own default). */
struct outlet_caps {
	uint64_t connections;         /* concurrent */
	uint64_t bytes_in, bytes_out; /* per host */
};

/* A refused request; the client waits for outlet->answer(). */
struct outlet_refusal {
	uint32_t id;
	struct sockaddr_storage client; /* the client's address, as accepted */
	char target[OUTLET_NAME];       /* "evil.com:443" */
	char reason[256];               /* "not in the allow list" */
};

/* Traffic with one host. */
struct outlet_host {
	char host[OUTLET_NAME]; /* printable; "others" with port 0 sums up hosts beyond the
				 * maximum */
	uint16_t port;
	uint64_t connections, refusals; /* totals, including refusals that were too many to
					 * report */
	uint64_t bytes_in, bytes_out;
	const char *verdict; /* allowed, refused, capped, failed */
};

/* Requests to models and their cost. */
struct outlet_spend {
	uint64_t requests;                               /* sent upstream */
	uint64_t refused;                                /* because the budget was used up */
	uint64_t input, output, cache_write, cache_read; /* tokens */
	uint64_t cost_nusd;
};

struct outlet {
	char token[OUTLET_TOKEN]; /* identifies clients of models inside */
	char warning[512]; /* after start(): a protection that is weaker than it should be; may
			    * be empty */

	/* Starts to serve connections that the rules (gateway/proxy/rule.h) allow; root becomes
	 * this user. Returns 0, or -1 with err set. */
	int (*start)(struct outlet *outlet, const struct list *rules,
		     const struct outlet_caps *caps, uid_t uid, gid_t gid, struct error *err);
	/* Takes ownership of the listening socket. Returns 0, or -1 with err set. */
	int (*serve)(struct outlet *outlet, int listener, struct error *err);
	/* Returns a descriptor to poll with POLLIN, or -1 once it is closed. */
	int (*fd)(const struct outlet *outlet);
	/* Receives one event: 1 for a refusal, 0 if there is nothing more, -1 on failure, with the
	 * consequences in err. */
	int (*take)(struct outlet *outlet, struct outlet_refusal *ret_refusal, struct error *err);
	void (*answer)(struct outlet *outlet, uint32_t id);
	/* Stops the outlet, if it was started, and fills in its traffic. Returns the number of
	 * hosts. */
	size_t (*stop)(struct outlet *outlet, struct outlet_host *ret_hosts, size_t most);
	/* Fills in the cost of models so far, which is final after stop(). Returns false if the
	 * outlet serves no models. */
	bool (*spent)(const struct outlet *outlet, struct outlet_spend *ret_spend);
};

#endif
