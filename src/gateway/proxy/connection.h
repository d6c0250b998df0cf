/*
 * A client's connection to the proxy, from its first byte to its last.
 *
 * It passes through stages: the head of a request (or SOCKS messages), the access decision, the
 * connection to the server, then a tunnel or HTTP exchanges. The source files of this module:
 *
 *	connection_life.c       begin, end, buffers, and the dispatch by stage
 *	connection_handshake.c  reads what the client asks for
 *	connection_access.c     decides, resolves and connects
 *	connection_refusal.c    refuses: tells the owner first, then the client
 *	connection_tunnel.c     carries bytes after CONNECT and SOCKS
 *	connection_exchange.c   carries requests and answers of plain HTTP
 */
#ifndef GATEWAY_PROXY_CONNECTION_H
#define GATEWAY_PROXY_CONNECTION_H

#include "gateway/engine.h"
#include "gateway/proxy/dial.h"
#include "gateway/proxy/http.h"
#include "gateway/proxy/socks.h"

struct connection_exchange;
struct model_request;

enum connection_stage {
	CONNECTION_STAGE_FIRST,   /* no byte received yet */
	CONNECTION_STAGE_HEAD,    /* reading an HTTP head */
	CONNECTION_STAGE_METHODS, /* SOCKS */
	CONNECTION_STAGE_PASSWORD,
	CONNECTION_STAGE_REQUEST,
	CONNECTION_STAGE_DIAL,     /* resolving and connecting */
	CONNECTION_STAGE_HELLO,    /* the tunnel is open; nothing has been forwarded yet */
	CONNECTION_STAGE_TUNNEL,   /* forwarding bytes both ways */
	CONNECTION_STAGE_EXCHANGE, /* an HTTP request and its response */
	CONNECTION_STAGE_MODEL,    /* a model request and its response: model_request.h */
	CONNECTION_STAGE_HELD,     /* a refusal waits for the owner */
	CONNECTION_STAGE_LINGER,   /* everything was sent; the client may still read it */
	CONNECTION_STAGE_OVER,
};

/* One of the two ends of a connection. */
struct connection_side {
	struct event_loop_source source;
	struct connection *connection;
	char *kept; /* bytes that it has not accepted yet */
	size_t kept_at, kept_size;
	bool ended; /* it will send nothing more */
	bool shut;  /* it knows that we will send nothing more */
	bool bulk;  /* the last read was large */
};

struct connection_refusal {
	uint32_t id;
	unsigned int status; /* HTTP status */
	bool cut;            /* some of the server's data was forwarded already: just close */
	struct rule_target target;
	char reason[320];
	char remedy[288];
};

struct connection {
	struct engine *engine;
	struct connection *next, *prev;
	struct connection_side client, server;
	struct event_loop_alarm alarm;
	enum connection_stage stage;
	bool socks;
	bool own;       /* see struct engine_listener */
	bool spare;     /* above the cap */
	bool open;      /* the client knows that its tunnel is open */
	bool tls;       /* the client began with TLS */
	bool free_port; /* the rule names a port other than 443 and 80: any protocol may pass */
	bool within;    /* plain HTTP within a tunnel */
	bool counted;   /* counted as active in its row */
	struct address peer;
	uint16_t peer_port;
	struct buffer input; /* from the client, not parsed yet */
	size_t scanned;      /* by http_head_size() */
	struct rule_target target;
	struct host_table_row *row;
	struct resolver_question *question;
	struct dial *dial;
	struct connection_exchange *exchange;
	struct model_request *request;
	struct connection_refusal *refusal;
};

/* connection_life.c */
void connection_begin(struct engine *engine, const struct engine_listener *listener, int fd,
		      const struct sockaddr_storage *peer);
void connection_end(struct connection *connection);
void connection_reset(struct connection *connection); /* reset both sides */
void connection_finish(
	struct connection *connection); /* wait until the client has read everything */
void connection_use_server(struct connection *connection, int fd);
void connection_drop_server(struct connection *connection);
/* Removes the first bytes of the input. */
void connection_consume(struct connection *connection, size_t size);
/* Handles as much of the input as possible. */
void connection_advance(struct connection *connection);
/* Sends bytes, or keeps the rest for later. Returns 0, or -1 if the peer is gone. */
int connection_side_send(struct connection_side *side, const void *bytes, size_t size);
int connection_side_say(struct connection_side *side, const char *text);
/* Receives into the scratch buffer. Returns the result of recv(). */
ssize_t connection_side_receive(struct connection_side *side, size_t most);
/* Count bytes of a host. Return false if a cap was exceeded, which ended the connection. */
bool connection_count_in(struct connection *connection, size_t size);
bool connection_count_out(struct connection *connection, size_t size);

/* connection_handshake.c: each returns true if it made progress. */
bool connection_handshake_first(struct connection *connection);
bool connection_handshake_head(struct connection *connection);
bool connection_handshake_methods(struct connection *connection);
bool connection_handshake_password(struct connection *connection);
bool connection_handshake_request(struct connection *connection);

/* connection_access.c */
const struct rule *connection_access_rule(const struct engine *engine,
					  const struct rule_target *target);
/* Checks connection->target, then connects or refuses. */
void connection_access_check(struct connection *connection);
/* Reports a failure to the client. */
void connection_access_fail(struct connection *connection, unsigned int status,
			    enum socks_reply reply, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* connection_refusal.c */
/* Reports to the owner, then to the client: "host:port REASON; REMEDY would allow it". */
void connection_refuse(struct connection *connection, unsigned int status,
		       const struct rule_target *target, enum host_table_verdict verdict,
		       const char *remedy, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
void connection_refusal_release(struct engine *engine, uint32_t id); /* the owner has replied */
void connection_refusal_answer(struct connection *connection);
/* Sends a response of the gateway itself, then ends the connection. */
void connection_refusal_write(struct connection *connection, unsigned int status, const char *lines,
			      const char *text);

/* connection_tunnel.c */
void connection_tunnel_open(struct connection *connection);
bool connection_tunnel_hello(struct connection *connection);
void connection_tunnel_move(struct connection *connection, struct connection_side *from,
			    struct connection_side *to);
void connection_tunnel_quiet(
	struct connection *connection); /* the client waits for the server to speak first */

/* connection_exchange.c */
/* Begins with an allowed request, whose head is at the start of the input. */
int connection_exchange_begin(struct connection *connection, const struct http_request *request,
			      size_t head);
void connection_exchange_send(struct connection *connection); /* the server is connected */
void connection_exchange_from_client(struct connection *connection);
void connection_exchange_from_server(struct connection *connection);
bool connection_exchange_wants_client(const struct connection *connection);
void connection_exchange_free(struct connection_exchange *exchange);
/* Returns true if this request may reuse the server connection of the last one. It must be
 * repeatable, because the server may have closed the connection by now. */
bool connection_exchange_reusable(const struct connection *connection,
				  const struct http_request *request,
				  const struct rule_target *target);

#endif
