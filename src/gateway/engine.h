/*
 * The gateway at work: what it was told, what it watches, and who is visiting.
 *
 * A visit is one connection of a client, from its first byte to its last. It goes from stage to stage: the head of a
 * request (or SOCKS's messages), the judgement, the way to the server, then a tunnel or exchanges of HTTP.
 * greet.c reads heads, judge.c decides and connects, refuse.c says no, tunnel.c and exchange.c carry bytes, visit.c has
 * what they share.
 */
#ifndef GATEWAY_ENGINE_H
#define GATEWAY_ENGINE_H

#include "gateway/event_loop.h"
#include "gateway/host_table.h"
#include "gateway/model/budget.h"
#include "gateway/model/reel.h"
#include "gateway/model/upstream.h"
#include "gateway/models.h"
#include "gateway/owner_protocol.h"
#include "gateway/proxy/dial.h"
#include "gateway/proxy/http.h"
#include "gateway/proxy/resolver.h"
#include "gateway/proxy/socks.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	ENGINE_SCRATCH = 256 << 10, /* one buffer that all bytes go through */
	ENGINE_SPARE = 64, /* visits beyond the cap that are told so; more wait in the backlog */
	ENGINE_KEPT =
		8 << 20, /* bytes that others have not taken, before little is read at a time */
	ENGINE_SIP = 4 << 10, /* that little */
	ENGINE_HELD = 256,    /* refusals that wait for the owner */
	ENGINE_TOLD = 64,     /* refusals told in a second */
};

struct listener {
	struct event_loop_source source;
	struct engine *engine;
	bool own; /* in this process's own network: whoever has no token is refused */
};

struct engine {
	struct event_loop loop;
	struct owner_protocol_config config;
	struct host_table *table;
	uint32_t active[HOST_TABLE_ROWS + 1]; /* connections of each row */
	struct resolver *resolver;
	int routes;
	struct event_loop_source owner;
	enum owner_protocol_state owner_state;
	struct listener listeners[OWNER_PROTOCOL_LISTENERS];
	size_t listener_count;
	char credential[80]; /* as Proxy-Authorization must have it */
	struct visit *visits;
	size_t visit_count;
	struct event_loop_delay header, body, connecting, idle, quiet, held, linger, stagger, keep,
		pace;
	int pipe[2]; /* empty but within tunnel.c's pour() */
	size_t kept; /* bytes, of all sides */
	size_t held_count;
	uint32_t last_id;
	unsigned int told; /* in the second that began at: */
	uint64_t second_ms;
	struct budget budget;
	struct reel_deck reels;
	struct upstream_ways ways;
	struct upstream upstreams[PROVIDER_COUNT];
	uint64_t spooled; /* bytes of requests that are kept in memory files */
	struct buffer out;
	char scratch[ENGINE_SCRATCH];
};

enum stage {
	STAGE_FIRST,   /* no byte yet */
	STAGE_HEAD,    /* a head of HTTP */
	STAGE_METHODS, /* SOCKS */
	STAGE_PASSWORD,
	STAGE_REQUEST,
	STAGE_DIAL,     /* name and connection are on their way */
	STAGE_HELLO,    /* the tunnel is open; nothing has been passed on */
	STAGE_TUNNEL,   /* bytes go both ways */
	STAGE_EXCHANGE, /* a request of HTTP, and its answer */
	STAGE_CALL,     /* a request to a model, and its answer: call.h */
	STAGE_HELD,     /* a refusal waits for the owner */
	STAGE_LINGER,   /* all is said; the client may read it */
	STAGE_OVER,
};

/* One of the two ends of a visit. */
struct side {
	struct event_loop_source source;
	struct visit *visit;
	char *kept; /* what it has not taken yet */
	size_t kept_at, kept_size;
	bool ended; /* nothing more comes from it */
	bool shut;  /* it knows that nothing more comes from us */
	bool bulk;  /* much came from it the last time */
};

struct refusal {
	uint32_t id;
	unsigned int status; /* of HTTP */
	bool cut;            /* bytes of the server are on their way: there is no way to say it */
	struct rule_target target;
	char reason[320];
	char remedy[288];
};

struct visit {
	struct engine *engine;
	struct visit *next, *prev;
	struct side client, server;
	struct event_loop_alarm alarm;
	enum stage stage;
	bool socks;
	bool own;       /* see struct listener */
	bool spare;     /* beyond the cap */
	bool open;      /* the client was told that its tunnel is open */
	bool tls;       /* it has begun with TLS */
	bool free_port; /* the rule names a port other than 443 and 80: any protocol will do */
	bool within;    /* plain HTTP within a tunnel */
	bool counted;   /* among the active ones of its row */
	struct address peer;
	uint16_t peer_port;
	struct buffer input; /* of the client, not understood yet */
	size_t scanned;      /* of it, by http_head_size() */
	struct rule_target target;
	struct host_table_row *row;
	struct resolver_question *question;
	struct dial *dial;
	struct exchange *exchange;
	struct call *call;
	struct refusal *refusal;
};

/* engine.c */
/* spending: what is done with requests that wait for money (budget.h). */
int engine_init(struct engine *engine, int owner, const struct budget_spending *spending,
		struct error *err);
int engine_listen(struct engine *engine, int fd);
void engine_admit(struct engine *engine); /* after a visit has ended: take those that wait */

/* visit.c */
void visit_begin(struct engine *engine, const struct listener *listener, int fd,
		 const struct sockaddr_storage *peer);
void visit_end(struct visit *visit);
void visit_reset(struct visit *visit);  /* as a reset, to both sides */
void visit_finish(struct visit *visit); /* all is said: wait until the client has read it */
void visit_use_server(struct visit *visit, int fd);
void visit_drop_server(struct visit *visit);
/* Takes the first bytes off the input. */
void visit_consume(struct visit *visit, size_t size);
/* Goes on with what is in the input, as far as it goes. */
void visit_advance(struct visit *visit);
/* Sends, or keeps what is not taken. Returns 0, or -1: it is gone. */
int side_send(struct side *side, const void *bytes, size_t size);
int side_say(struct side *side, const char *text);
/* recv() into the scratch: more than 0, 0 at the end, -1 with errno. */
ssize_t side_receive(struct side *side, size_t most);
/* Adds to what a host has sent or got; false: a cap was tripped, and the visit is over. */
bool visit_count_in(struct visit *visit, size_t size);
bool visit_count_out(struct visit *visit, size_t size);

/* greet.c: each returns true if it has got on */
bool greet_first(struct visit *visit);
bool greet_head(struct visit *visit);
bool greet_methods(struct visit *visit);
bool greet_password(struct visit *visit);
bool greet_request(struct visit *visit);

/* judge.c */
const struct rule *judge_rule(const struct engine *engine, const struct rule_target *target);
/* Decides about visit->target and connects, or refuses. */
void judge_go(struct visit *visit);
/* What could not be done, to the client. */
void judge_fail(struct visit *visit, unsigned int status, enum socks_reply reply,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* refuse.c */
/* Tells the owner, then the client: "host:port REASON; REMEDY would allow it". */
void refuse(struct visit *visit, unsigned int status, const struct rule_target *target,
	    enum host_table_verdict verdict, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
void refuse_release(struct engine *engine, uint32_t id); /* the owner has answered */
void refuse_answer(struct visit *visit);
/* An answer of the gateway's own, after which the connection ends. */
void refuse_write(struct visit *visit, unsigned int status, const char *lines, const char *text);

/* tunnel.c */
void tunnel_open(struct visit *visit);
bool tunnel_hello(struct visit *visit);
void tunnel_move(struct visit *visit, struct side *from, struct side *to);
void tunnel_quiet(struct visit *visit); /* the client waits for the server to speak first */

/* exchange.c */
/* A request with its head at the beginning of the input, which is judged and allowed. */
int exchange_begin(struct visit *visit, const struct http_request *request, size_t head);
void exchange_send(struct visit *visit); /* there is a server now */
void exchange_from_client(struct visit *visit);
void exchange_from_server(struct visit *visit);
bool exchange_wants_client(const struct visit *visit);
void exchange_free(struct exchange *exchange);
/* Is there a connection from the exchange before that this request may use? Only one that can be made
 * once more may: the server can have closed it by now. */
bool exchange_reusable(const struct visit *visit, const struct http_request *request,
		       const struct rule_target *target);

#endif
