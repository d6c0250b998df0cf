/*
 * The host table: who was reached, who was refused, and how much went through.
 *
 * It lives in memory that the owner made and both have mapped. The gateway writes as it goes, so that a
 * kill -9 loses nothing; the owner reads when it likes and believes nothing: every string is bounded, every
 * number is only a number. The last row stands for all that found no room.
 */
#ifndef GATEWAY_HOST_TABLE_H
#define GATEWAY_HOST_TABLE_H

#include "gateway/proxy/rule.h"

#include <stddef.h>
#include <stdint.h>

enum {
	HOST_TABLE_ROWS = 256,
	HOST_TABLE_REFUSED =
		128, /* rows of hosts that were only ever refused, at most: whoever asks for
				thousands must not push out those that are allowed */
};

enum host_table_verdict {
	HOST_TABLE_NONE,
	HOST_TABLE_ALLOWED,
	HOST_TABLE_REFUSED_HOST,
	HOST_TABLE_CAPPED,
	HOST_TABLE_FAILED,
	HOST_TABLE_VERDICTS
};

struct host_table_row {
	char host[GATEWAY_HOST];
	uint32_t port;
	uint32_t verdict;
	uint64_t connections;
	uint64_t bytes_in;  /* from the host */
	uint64_t bytes_out; /* to it */
	uint64_t refusals;
};

struct host_table {
	uint32_t mark;
	uint32_t used;
	struct host_table_row rows[HOST_TABLE_ROWS + 1];
};

extern const char *const host_table_verdicts[HOST_TABLE_VERDICTS]; /* "allowed", ... */

void host_table_init(struct host_table *table);

/* Is this a table of ours, and not one that was tampered with while the gateway was away? */
bool host_table_sound(const struct host_table *table);

/* The row of a target, a new one if need be. Where there is no room, a host that is allowed takes the place of one
 * that was never reached; active: how many visits each row has now. */
struct host_table_row *host_table_find(struct host_table *table, const struct rule_target *target,
				       bool refused, const uint32_t *active);

/* A checked copy of a row. Returns false if there is nothing in it. */
bool host_table_read(const struct host_table *table, size_t index, struct host_table_row *ret_row);

#endif
