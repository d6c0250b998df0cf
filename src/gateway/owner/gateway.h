/*
 * The gateway, as seen by its owner: the process that runs a fence.
 *
 * The owner starts one gateway per run, passes it the listening sockets created in the fence's
 * network namespace, and polls gateway_fd(). The gateway reports each refusal before it answers the
 * client, so that the owner can identify the process that connected. If a gateway dies, it is
 * restarted with the same sockets, token and host table; open connections are lost. The gateway
 * exits when its owner does, however that ends.
 */
#ifndef GATEWAY_OWNER_GATEWAY_H
#define GATEWAY_OWNER_GATEWAY_H

#include "gateway/caps.h"
#include "gateway/owner/cassette.h"
#include "gateway/owner/ledger.h"
#include "gateway/proxy/rule.h"
#include "util/error.h"
#include "util/list.h"
#include "util/outlet.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct gateway;

struct gateway_options {
	struct list rules; /* texts, see rule.h; empty: no host can be reached */
	uid_t uid;         /* the user to run as, if started by root */
	gid_t gid;
	const char *token;                 /* NULL: create one */
	const char *program;               /* NULL: the one next to this program */
	uint32_t iteration;                /* of a loop, or 0 */
	struct caps caps;                  /* GATEWAY_CAPS_DEFAULT */
	const struct model_access *models; /* borrowed; NULL: no access to models */
	const struct keys *keys;           /* borrowed; required with models */
	struct ledger *ledger;             /* borrowed; required with models */
	struct cassette *cassette;         /* the tape named in `models`; borrowed */
};

struct gateway_refusal {
	uint32_t id;
	struct sockaddr_storage client; /* from accept() */
	char host[GATEWAY_HOST];        /* printable; empty if the request named none */
	uint16_t port;
	char reason[320]; /* such as "is not in the allow list" */
	char remedy[288]; /* such as "--allow HOST", or empty */
};

enum {
	GATEWAY_TOKEN = 33 /* 32 hexadecimal digits and a NUL */
};

/* Creates a token. Returns 0, or -1 with err set. */
int gateway_token_make(char ret_token[GATEWAY_TOKEN], struct error *err);

/* Starts a gateway and waits until it has confined itself. Returns 0, or -1 with err set. */
int gateway_start(const struct gateway_options *options, struct gateway **ret_gateway,
		  struct error *err);

/* The password of user "ringfence" in the proxy's URL inside the fence: 32 hexadecimal digits. */
const char *gateway_token(const struct gateway *gateway);

/* Returns warnings about weaker confinement (no Landlock), one per line, or an empty string. */
const char *gateway_warnings(const struct gateway *gateway);

/* Returns the gateway's current pid, or -1 if it is not running. */
pid_t gateway_pid(const struct gateway *gateway);

/* Passes a listening socket to the gateway, and again after a restart. Takes ownership even on
 * failure. */
int gateway_listen(struct gateway *gateway, int listener, struct error *err);

/* Returns the descriptor to poll for POLLIN. It stays the same across restarts and is -1 once
 * the gateway has been given up. */
int gateway_fd(const struct gateway *gateway);

/*
 * Receives one message without waiting. Returns 1 with *ret_refusal set, which must be answered
 * with gateway_answer(); 0 if there are no more messages; or -1 with err set. The error is either a
 * message about a tape, while the gateway keeps running, or reports that the gateway died. It is
 * then restarted, now or later, or given up (restarts.h), in which case gateway_fd() is -1 from
 * then on.
 */
int gateway_take(struct gateway *gateway, struct gateway_refusal *ret_refusal, struct error *err);

/* Lets the gateway answer a refusal. Otherwise it does so after half a second. */
void gateway_answer(struct gateway *gateway, uint32_t id);

/* Copies the rows of the host table, at most `most`. Also works after the gateway's death.
 * Returns how many. */
size_t gateway_hosts(const struct gateway *gateway, struct outlet_host *ret_hosts, size_t most);

/* Stops the gateway, waits for it to exit, and frees it. NULL is ignored. */
void gateway_stop(struct gateway *gateway);

#endif
