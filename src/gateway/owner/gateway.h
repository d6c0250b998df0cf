/*
 * The gateway, seen from its owner: the process that runs a fence.
 *
 * The owner starts one gateway for a run, gives it the listening sockets that were made inside of the fence's
 * network, and polls gateway_fd(). What is refused is told before it is answered, so that the owner can look for the
 * process that asked. A gateway that dies is started again with the same sockets, token and host table;
 * connections that went through it are closed. When the owner ends, in whichever way, so does the gateway.
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
	struct list rules; /* texts; see rule.h. None: nothing can be reached */
	uid_t uid;         /* whom it becomes, if it is started by root */
	gid_t gid;
	const char *token;                 /* NULL: one is made */
	const char *program;               /* NULL: the one beside this program */
	uint32_t iteration;                /* of a loop; 0: none */
	struct caps caps;                  /* GATEWAY_CAPS_DEFAULT */
	const struct model_access *models; /* NULL: no way to models; borrowed */
	const struct keys *keys;           /* with models: theirs; borrowed */
	struct ledger *books;      /* what they may cost, and did; borrowed. Needed with models */
	struct cassette *cassette; /* the tape that models names; borrowed */
};

struct gateway_refusal {
	uint32_t id;
	struct sockaddr_storage client; /* as accept() gave it */
	char host[GATEWAY_HOST];        /* printable; empty: the request named none */
	uint16_t port;
	char reason[320]; /* "is not in the allow list" */
	char remedy[288]; /* "--allow HOST"; empty: nothing would help */
};

enum {
	GATEWAY_TOKEN = 33,   /* 32 hexadecimal digits and the end of the string */
	GATEWAY_RESTARTS = 10 /* in a run */
};

/* Makes a token. Returns 0, or -1 with err set. */
int gateway_token_make(char ret_token[GATEWAY_TOKEN], struct error *err);

/* Starts one and waits until it has confined itself. Returns 0, or -1 with err set. */
int gateway_start(const struct gateway_options *options, struct gateway **ret_gateway,
		  struct error *err);

/* 32 hexadecimal digits: the password of user "ringfence", for the proxy's address inside. */
const char *gateway_token(const struct gateway *gateway);

/* What holds less than it should (no Landlock), a line each; empty: nothing. */
const char *gateway_warnings(const struct gateway *gateway);

/* Of the program as it runs now; -1: it does not. */
pid_t gateway_pid(const struct gateway *gateway);

/* Hands over a listening socket. It is taken, whatever happens, and handed over again after a restart. */
int gateway_listen(struct gateway *gateway, int listener, struct error *err);

/* One descriptor to poll for POLLIN, the same for as long as there is a gateway; -1 once it is given up. */
int gateway_fd(const struct gateway *gateway);

/*
 * Takes one message, without waiting. 1: *ret_refusal is filled and wants gateway_answer(); 0: nothing more;
 * -1 with err set: it died. It is then started again, at once or (after the third time) a second later; or
 * it is given up, and gateway_fd() is -1 from then on. err says which. Or it is alive, and err is what it has to say about a tape.
 */
int gateway_take(struct gateway *gateway, struct gateway_refusal *ret_refusal, struct error *err);

/* The refusal may be answered. Without this it is answered after half a second. */
void gateway_answer(struct gateway *gateway, uint32_t id);

/* Copies of the host table's rows, at most `most`; also when the gateway is dead. Returns how many. */
size_t gateway_hosts(const struct gateway *gateway, struct outlet_host *ret_hosts, size_t most);

/* Ends it, waits for its end, and forgets it. NULL is nothing. */
void gateway_stop(struct gateway *gateway);

#endif
