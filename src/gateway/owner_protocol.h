/*
 * The protocol between a gateway and its owner.
 *
 * Messages of fixed size over a SOCK_SEQPACKET socket, some with descriptors. The first one carries
 * the configuration (a sealed memory file, because other processes can read arguments and the
 * environment) and the memory of the host table. The socket is the lifeline: when it closes, the
 * gateway exits.
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
	OWNER_PROTOCOL_FD = 3,           /* the socket's descriptor in the gateway */
	OWNER_PROTOCOL_TOKEN = 33,       /* 32 digits and a NUL */
	OWNER_PROTOCOL_CONFIG = 1 << 21, /* maximum size of a configuration */
	OWNER_PROTOCOL_LISTENERS = 16,
};

enum owner_protocol_type {
	OWNER_PROTOCOL_START =
		1,              /* to the gateway, first; descriptors: configuration, host table */
	OWNER_PROTOCOL_LISTEN,  /* to the gateway; descriptor: a listening socket */
	OWNER_PROTOCOL_ANSWER,  /* to the gateway: answer refusal `id` now */
	OWNER_PROTOCOL_READY,   /* to the owner: confined; text: warnings, one per line */
	OWNER_PROTOCOL_FAILED,  /* to the owner: text is the reason; the gateway exits */
	OWNER_PROTOCOL_REFUSED, /* to the owner: `refusal` */
	OWNER_PROTOCOL_LEASE,   /* to the owner: request money: `lease` */
	OWNER_PROTOCOL_GRANT,   /* to the gateway: the reply: `grant` */
	OWNER_PROTOCOL_ROW,     /* to the owner: a model request ended: `row` */
	/* to the owner: a request without a row failed: id is the failure, text the reason */
	OWNER_PROTOCOL_FAILURE,
	OWNER_PROTOCOL_CLOSE,  /* to the gateway: end all requests and report their cost */
	OWNER_PROTOCOL_CLOSED, /* to the owner: done; `refused` */
	/* to the gateway, after the first; descriptors: a tape and, for a replay, its marks */
	OWNER_PROTOCOL_REEL,
	/* to the owner: text is for the user; id 1: a replay diverged from its tape; 0: a
	 * recording ended */
	OWNER_PROTOCOL_NEWS,
	/* to the gateway, with models; descriptor: the table of open requests, if there is one */
	OWNER_PROTOCOL_REQUESTS,
	OWNER_PROTOCOL_TYPES,
};

/* The states of the protocol. A table in owner_protocol.c lists the legal messages per state;
 * docs/protocols.md shows it. */
enum owner_protocol_state {
	OWNER_PROTOCOL_NEW = 1,
	OWNER_PROTOCOL_STARTING, /* the gateway sets itself up and confines itself */
	OWNER_PROTOCOL_SERVING,
	OWNER_PROTOCOL_CLOSING, /* the gateway settles open requests */
	OWNER_PROTOCOL_OVER,
	OWNER_PROTOCOL_STATES
};

/* The receiver of a message. */
enum owner_protocol_side { OWNER_PROTOCOL_OWNER, OWNER_PROTOCOL_GATEWAY };

struct owner_protocol_refusal {
	struct sockaddr_storage client;
	char host[GATEWAY_HOST]; /* empty if the request named none */
	uint32_t port;
	char reason[320];
	char remedy[288];
};

struct owner_protocol_lease {
	uint64_t nusd;
	uint32_t must; /* it is already spent */
};

struct owner_protocol_grant {
	uint64_t nusd;
	uint64_t left;
	uint32_t must;        /* copied from the request */
	char why[LEDGER_WHY]; /* the limit that was reached, or empty */
};

struct owner_protocol_message {
	uint32_t type;
	uint32_t id;
	union {
		struct owner_protocol_refusal refusal;
		struct owner_protocol_lease lease;
		struct owner_protocol_grant grant;
		struct ledger_row row;
		uint32_t refused; /* requests refused because the budget was used up */
		char text[1000];
	} u;
};

/* Sends a message with `count` descriptors (at most 2), and waits if `wait`. Returns 0, or -1
 * with errno set. */
int owner_protocol_send(int socket, const struct owner_protocol_message *message, const int *fds,
			size_t count, bool wait);

/* Receives a message without waiting. Returns 1; 0 if the peer is gone; or -1 with errno set
 * (EAGAIN, EPROTO). Strings are terminated. Descriptors are in ret_fds; unused entries are -1. */
int owner_protocol_receive(int socket, struct owner_protocol_message *ret_message, int ret_fds[2]);

/* Returns the state after a message, or 0 if it is illegal in this state. */
enum owner_protocol_state owner_protocol_next(enum owner_protocol_state state, uint32_t type);

/* Returns true if this side may receive such a message with this many descriptors. */
bool owner_protocol_fits(enum owner_protocol_side receiver, uint32_t type, size_t fds);

/* Receives like owner_protocol_receive() and advances the state. On an illegal message it fails
 * with EPROTO and keeps the state; the caller must then end the peer. */
int owner_protocol_take(int socket, enum owner_protocol_side receiver,
			enum owner_protocol_state *state,
			struct owner_protocol_message *ret_message, int ret_fds[2]);

struct owner_protocol_config {
	struct caps caps;
	char token[OWNER_PROTOCOL_TOKEN];
	uint32_t uid, gid; /* the user to become, if root */
	uint32_t iteration;
	struct rule *rules;
	size_t rule_count;
	struct model_config models;
};

/* Writes a configuration. The rules and the texts about models (model_config.h) are checked when
 * it is read. */
void owner_protocol_config_write(const struct owner_protocol_config *config,
				 const struct list *rules, const struct list *models,
				 struct buffer *out);
int owner_protocol_config_read(const char *bytes, size_t size,
			       struct owner_protocol_config *ret_config, struct error *err);
void owner_protocol_config_release(struct owner_protocol_config *config);

#endif
