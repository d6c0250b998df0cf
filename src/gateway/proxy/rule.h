/*
 * Rules of the allow list, and the targets they are matched with. Pure functions.
 *
 *   host       this name, on 443 and 80       host:22       on this port only
 *   *.host     its subdomains, never itself   *.host:8443
 *   192.0.2.1  this address, [2001:db8::1]    with :PORT as above
 *
 * Names are matched in lower case and without the final dot; non-ASCII names are written as in DNS
 * (xn--). Any other form is refused with a message on how to write it.
 */
#ifndef GATEWAY_PROXY_RULE_H
#define GATEWAY_PROXY_RULE_H

#include "gateway/proxy/address.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GATEWAY_HOST = 256,   /* a name and a NUL */
	GATEWAY_TEXT = 272,   /* "*.", a name or [address], ":65535" and a NUL */
	GATEWAY_RULES = 4096, /* maximum per list */
};

/* Why a host that no rule matches is refused, as in reports. */
#define GATEWAY_NOT_LISTED "not in the allow list"

/* The host and port that a client wants to reach. */
struct rule_target {
	char host[GATEWAY_HOST]; /* normalised; an address without brackets */
	struct address address;  /* if it is an address */
	uint16_t port;
};

struct rule {
	struct rule_target target; /* for "*.host" the host; port 0: 443 and 80 */
	bool below;                /* "*." */
};

/* Parses a rule. Returns 0, or -1 with err set to a message on how to write it. */
int rule_parse(const char *text, struct rule *ret_rule, struct error *err);

/* Formats a rule in its normal form: "*.example.com:8443". */
void rule_text(const struct rule *rule, char ret_text[GATEWAY_TEXT]);

/* Parses a host from a request: a name, or an address in canonical spelling (IPv6 without
 * brackets). Anything else, such as 0x7f.1 or a name with a blank, is refused with -1 and err
 * set. */
int rule_target_parse(const char *host, uint16_t port, struct rule_target *ret_target,
		      struct error *err);

/* "example.com:443", "[::1]:80". */
void rule_target_text(const struct rule_target *target, char ret_text[GATEWAY_TEXT]);

bool rule_allows(const struct rule *rule, const struct rule_target *target);

/* Formats the shortest rule that would allow the target: "example.com", "example.com:22". */
void rule_target_rule(const struct rule_target *target, char ret_text[GATEWAY_TEXT]);

/* Returns 1 and the index of the rule if a list of rule texts allows this host and port; 0 with
 * a message in err (why not, and which rule would allow it); or -1 with err set if a rule or the
 * host is invalid. */
int rule_list_allows(const struct list *rules, const char *host, uint16_t port, size_t *ret_index,
		     struct error *err);

#endif
