/*
 * The only way out of a fence: somebody outside who serves the connections that are made inside.
 *
 * The fence makes a listening socket in its own network and hands it out; whoever is behind the outlet
 * accepts on it, decides which host is reached, and tells what was refused before the one inside
 * learns it: so the fence can still find out who asked. The fence knows nothing else of the network, and
 * the other side nothing of the fence.
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

/* Where it is found inside: on loopback, beyond the ports that the kernel gives to clients. */
enum { OUTLET_PORT = 61080 };

enum { OUTLET_NAME = 264, OUTLET_HOSTS = 257, OUTLET_TOKEN = 33 };

/* What is kept within bounds; 0: no limit (of connections: the outlet's own). */
struct outlet_caps {
	uint64_t connections;         /* at once */
	uint64_t bytes_in, bytes_out; /* from and to each host */
};

/* Something was refused; whoever asked waits for outlet->answer(). */
struct outlet_refusal {
	uint32_t id;
	struct sockaddr_storage client; /* the other end of the connection, as it was accepted */
	char target[OUTLET_NAME];       /* "evil.com:443" */
	char reason[256];               /* "not in the allow list" */
};

/* What one host was used for. */
struct outlet_host {
	char host[OUTLET_NAME]; /* printable; "others" with port 0: all that found no room */
	uint16_t port;
	uint64_t connections, refusals; /* all of them, also those that were too many to be told */
	uint64_t bytes_in, bytes_out;
	const char *verdict; /* allowed, refused, capped, failed */
};

/* What was asked of models, and what it cost. */
struct outlet_spend {
	uint64_t requests;                               /* that left */
	uint64_t refused;                                /* because the money was used up */
	uint64_t input, output, cache_write, cache_read; /* tokens */
	uint64_t cost_nusd;
};

struct outlet {
	char token[OUTLET_TOKEN]; /* what clients of models inside identify themselves with */
	char warning[512]; /* once begun: what holds less than it should; empty: nothing does */

	/* Begins to serve what these rules (gateway/proxy/rule.h) allow; root becomes this user. Returns 0, or -1 with
	 * err set. */
	int (*start)(struct outlet *outlet, const struct list *rules,
		     const struct outlet_caps *caps, uid_t uid, gid_t gid, struct error *err);
	/* Takes the listening socket over. Returns 0, or -1 with err set. */
	int (*serve)(struct outlet *outlet, int listener, struct error *err);
	/* A descriptor to wait for with POLLIN; -1: none any more. */
	int (*fd)(const struct outlet *outlet);
	/* Takes one piece of news: 1, a refusal; 0, nothing more; -1, something went wrong, and err says how it
	 * goes on. */
	int (*take)(struct outlet *outlet, struct outlet_refusal *ret_refusal, struct error *err);
	void (*answer)(struct outlet *outlet, uint32_t id);
	/* Ends it, if it was begun, and tells what it was used for. Returns how many hosts. */
	size_t (*stop)(struct outlet *outlet, struct outlet_host *ret_hosts, size_t most);
	/* What models cost so far; false: it does not lead to any. Final after stop(). */
	bool (*spent)(const struct outlet *outlet, struct outlet_spend *ret_spend);
};

#endif
