/*
 * Rules of the allow list, and what they are compared with. Pure functions.
 *
 *   host       that name, on 443 and 80       host:22       on that port alone
 *   *.host     names below it, never itself   *.host:8443
 *   192.0.2.1  that address, [2001:db8::1]    with :PORT as above
 *
 * Names are compared in lower case and without the dot at their end; others than ASCII are written as in
 * DNS (xn--). What is not written in this way is refused, and the sentence says how to write it.
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
	GATEWAY_HOST = 256,   /* a name and the end of the string */
	GATEWAY_TEXT = 272,   /* "*.", a name or [address], ":65535" and the end of the string */
	GATEWAY_RULES = 4096, /* of one list */
};

/* Why something is refused that no rule names, as it stands in reports. */
#define GATEWAY_NOT_LISTED "not in the allow list"

/* Where somebody wants to go. */
struct rule_target {
	char host[GATEWAY_HOST]; /* normalised; an address without brackets */
	struct address address;  /* if it is one */
	uint16_t port;
};

struct rule {
	struct rule_target target; /* of "*.host" the host; port 0: 443 and 80 */
	bool below;                /* "*." */
};

/* Reads one rule. Returns 0, or -1 with a sentence that says how to write it. */
int rule_parse(const char *text, struct rule *ret_rule, struct error *err);

/* Writes it as it is meant: "*.example.com:8443". */
void rule_text(const struct rule *rule, char ret_text[GATEWAY_TEXT]);

/*
 * Reads a host as a request names it: a name, or an address in its canonical spelling (IPv6 without
 * brackets). Anything else, as 0x7f.1 or a name with a blank, is refused: -1 with err set.
 */
int rule_target_parse(const char *host, uint16_t port, struct rule_target *ret_target,
		      struct error *err);

/* "example.com:443", "[::1]:80". */
void rule_target_text(const struct rule_target *target, char ret_text[GATEWAY_TEXT]);

bool rule_allows(const struct rule *rule, const struct rule_target *target);

/* The rule that would allow it, as short as can be: "example.com", "example.com:22". */
void rule_target_rule(const struct rule_target *target, char ret_text[GATEWAY_TEXT]);

/*
 * Does a list of rule texts allow this host and port? Returns 1 and the index of the rule, 0 with a sentence
 * for a person in err (what, and which rule would allow it), or -1 with err: a text is no rule, or the host is none.
 */
int rule_list_allows(const struct list *rules, const char *host, uint16_t port, size_t *ret_index,
		     struct error *err);

#endif
