/*
 * What passes between a gateway and its owner.
 *
 * Messages of fixed size over a SOCK_SEQPACKET socket, some with descriptors. The first one brings the
 * configuration (a sealed memory file: never arguments or an environment, which others can read) and the memory of the
 * host table. The socket is the lifeline: when it closes, the gateway ends.
 */
#ifndef GATEWAY_POST_H
#define GATEWAY_POST_H

#include "gateway/books.h"
#include "gateway/caps.h"
#include "gateway/models.h"
#include "gateway/rule.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	POST_FD = 3,           /* the socket, as the program finds it */
	POST_TOKEN = 33,       /* 32 digits and the end of the string */
	POST_CONFIG = 1 << 21, /* bytes of a configuration, at most */
	POST_LISTENERS = 16,
};

enum post_type {
	POST_START = 1, /* down, the first, with two descriptors: configuration, host table */
	POST_LISTEN,    /* down, with one: a listening socket */
	POST_ANSWER,    /* down: refusal `id` may be answered */
	POST_READY,     /* up: confined; text: what holds less than it should, a line each */
	POST_FAILED,    /* up: text says why; it ends */
	POST_REFUSED,   /* up: `refusal` */
	POST_LEASE,     /* up: more money is wanted: `lease` */
	POST_GRANT,     /* down: the answer to that: `grant` */
	POST_ROW,       /* up: a request to a model is over: `row` */
	POST_UNREACHED, /* up: one that costs nothing had no answer: text says why */
	POST_CLOSE,     /* down: end everything, and tell what it cost */
	POST_CLOSED,    /* up: that was all; `refused` */
	POST_REEL, /* down, behind the first if there is a tape: it, and of a replay its marks */
	POST_NEWS, /* up: text is for the user; id 1: the tape of a replay was left; 0: one that is recorded has ended */
	POST_TYPES,
};

struct post_refusal {
	struct sockaddr_storage client;
	char host[GATEWAY_HOST]; /* empty: it named none */
	uint32_t port;
	char reason[320];
	char remedy[288];
};

struct post_lease {
	uint64_t nusd;
	uint32_t must; /* it is spent already */
};

struct post_grant {
	uint64_t nusd;
	uint64_t left;
	uint32_t must;       /* as it was asked */
	char why[BOOKS_WHY]; /* which limit is in the way; empty: none is */
};

struct post_message {
	uint32_t type;
	uint32_t id;
	union {
		struct post_refusal refusal;
		struct post_lease lease;
		struct post_grant grant;
		struct books_row row;
		uint32_t refused; /* requests, because the money was used up */
		char text[1000];
	} u;
};

/* Sends one, with count descriptors (at most 2), and waits if `wait`. Returns 0, or -1 with errno. */
int post_send(int socket, const struct post_message *message, const int *fds, size_t count,
	      bool wait);

/* Receives one without waiting: 1, 0 when the other side is gone, -1 with errno (EAGAIN, EPROTO). Its strings end.
 * What was attached is in ret_fds, -1 where nothing was. */
int post_receive(int socket, struct post_message *ret_message, int ret_fds[2]);

struct post_config {
	struct gateway_caps caps;
	char token[POST_TOKEN];
	uint32_t uid, gid; /* whom to become, if root */
	uint32_t iteration;
	struct gateway_rule *rules;
	size_t rule_count;
	struct models models;
};

/* Writes a configuration; rules and what there is to know about models (models.h) are texts, checked when it is read. */
void post_config_write(const struct post_config *config, const struct list *rules,
		       const struct list *models, struct buffer *out);
int post_config_read(const char *bytes, size_t size, struct post_config *ret_config,
		     struct error *err);
void post_config_release(struct post_config *config);

#endif
