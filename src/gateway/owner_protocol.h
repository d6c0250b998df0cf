/*
 * What passes between a gateway and its owner.
 *
 * Messages of fixed size over a SOCK_SEQPACKET socket, some with descriptors. The first one brings the
 * configuration (a sealed memory file: never arguments or an environment, which others can read) and the memory of the
 * host table. The socket is the lifeline: when it closes, the gateway ends.
 */
#ifndef GATEWAY_OWNER_PROTOCOL_H
#define GATEWAY_OWNER_PROTOCOL_H

#include "gateway/caps.h"
#include "gateway/owner/ledger.h"
#include "gateway/owner/model_config.h"
#include "gateway/proxy/rule.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	OWNER_PROTOCOL_FD = 3,           /* the socket, as the program finds it */
	OWNER_PROTOCOL_TOKEN = 33,       /* 32 digits and the end of the string */
	OWNER_PROTOCOL_CONFIG = 1 << 21, /* bytes of a configuration, at most */
	OWNER_PROTOCOL_LISTENERS = 16,
};

enum owner_protocol_type {
	OWNER_PROTOCOL_START =
		1, /* down, the first, with two descriptors: configuration, host table */
	OWNER_PROTOCOL_LISTEN, /* down, with one: a listening socket */
	OWNER_PROTOCOL_ANSWER, /* down: refusal `id` may be answered */
	OWNER_PROTOCOL_READY,  /* up: confined; text: what holds less than it should, a line each */
	OWNER_PROTOCOL_FAILED, /* up: text says why; it ends */
	OWNER_PROTOCOL_REFUSED, /* up: `refusal` */
	OWNER_PROTOCOL_LEASE,   /* up: more money is wanted: `lease` */
	OWNER_PROTOCOL_GRANT,   /* down: the answer to that: `grant` */
	OWNER_PROTOCOL_ROW,     /* up: a request to a model is over: `row` */
	OWNER_PROTOCOL_FAILURE, /* up: a request without a row failed: id is how, text says why */
	OWNER_PROTOCOL_CLOSE,   /* down: end everything, and tell what it cost */
	OWNER_PROTOCOL_CLOSED,  /* up: that was all; `refused` */
	OWNER_PROTOCOL_REEL, /* down, behind the first if there is a tape: it, and of a replay its marks */
	OWNER_PROTOCOL_NEWS, /* up: text is for the user; id 1: the tape of a replay was left; 0: one that is recorded has ended */
	OWNER_PROTOCOL_TYPES,
};

/* How far the two have come. Which message is legal where is a table in owner_protocol.c; docs/protocols.md
 * shows it. */
enum owner_protocol_state {
	OWNER_PROTOCOL_NEW = 1,
	OWNER_PROTOCOL_STARTING, /* the gateway sets itself up, and shuts itself in */
	OWNER_PROTOCOL_SERVING,
	OWNER_PROTOCOL_CLOSING, /* the gateway settles what is under way */
	OWNER_PROTOCOL_OVER,
	OWNER_PROTOCOL_STATES
};

/* Who receives a message. */
enum owner_protocol_side { OWNER_PROTOCOL_OWNER, OWNER_PROTOCOL_GATEWAY };

struct owner_protocol_refusal {
	struct sockaddr_storage client;
	char host[GATEWAY_HOST]; /* empty: it named none */
	uint32_t port;
	char reason[320];
	char remedy[288];
};

struct owner_protocol_lease {
	uint64_t nusd;
	uint32_t must; /* it is spent already */
};

struct owner_protocol_grant {
	uint64_t nusd;
	uint64_t left;
	uint32_t must;        /* as it was asked */
	char why[LEDGER_WHY]; /* which limit is in the way; empty: none is */
};

struct owner_protocol_message {
	uint32_t type;
	uint32_t id;
	union {
		struct owner_protocol_refusal refusal;
		struct owner_protocol_lease lease;
		struct owner_protocol_grant grant;
		struct ledger_row row;
		uint32_t refused; /* requests, because the money was used up */
		char text[1000];
	} u;
};

/* Sends one, with count descriptors (at most 2), and waits if `wait`. Returns 0, or -1 with errno. */
int owner_protocol_send(int socket, const struct owner_protocol_message *message, const int *fds,
			size_t count, bool wait);

/* Receives one without waiting: 1, 0 when the other side is gone, -1 with errno (EAGAIN, EPROTO). Its strings end.
 * What was attached is in ret_fds, -1 where nothing was. */
int owner_protocol_receive(int socket, struct owner_protocol_message *ret_message, int ret_fds[2]);

/* Where a message leads; 0: it is illegal in this state. */
enum owner_protocol_state owner_protocol_next(enum owner_protocol_state state, uint32_t type);

/* May this side receive such a message, with so many descriptors? */
bool owner_protocol_fits(enum owner_protocol_side receiver, uint32_t type, size_t fds);

/* As owner_protocol_receive(), and moves the state on. EPROTO, with the state as it was: the message was
 * illegal, and whoever sent it is to be ended. */
int owner_protocol_take(int socket, enum owner_protocol_side receiver,
			enum owner_protocol_state *state,
			struct owner_protocol_message *ret_message, int ret_fds[2]);

struct owner_protocol_config {
	struct caps caps;
	char token[OWNER_PROTOCOL_TOKEN];
	uint32_t uid, gid; /* whom to become, if root */
	uint32_t iteration;
	struct rule *rules;
	size_t rule_count;
	struct model_config models;
};

/* Writes a configuration; rules and what there is to know about models (model_config.h) are texts, checked when it is read. */
void owner_protocol_config_write(const struct owner_protocol_config *config,
				 const struct list *rules, const struct list *models,
				 struct buffer *out);
int owner_protocol_config_read(const char *bytes, size_t size,
			       struct owner_protocol_config *ret_config, struct error *err);
void owner_protocol_config_release(struct owner_protocol_config *config);

#endif
