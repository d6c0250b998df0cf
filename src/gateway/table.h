/*
 * The host table: who was reached, who was refused, and how much went through.
 *
 * It lives in memory that the owner made and both have mapped. The gateway writes as it goes, so that a
 * kill -9 loses nothing; the owner reads when it likes and believes nothing: every string is bounded, every
 * number is only a number. The last row stands for all that found no room.
 */
#ifndef GATEWAY_TABLE_H
#define GATEWAY_TABLE_H

#include "gateway/rule.h"

#include <stddef.h>
#include <stdint.h>

enum {
	TABLE_ROWS = 256,
	TABLE_REFUSED = 128, /* rows of hosts that were only ever refused, at most: whoever asks for
				thousands must not push out those that are allowed */
};

enum table_verdict {
	TABLE_NONE,
	TABLE_ALLOWED,
	TABLE_REFUSED_HOST,
	TABLE_CAPPED,
	TABLE_FAILED,
	TABLE_VERDICTS
};

struct table_row {
	char host[GATEWAY_HOST];
	uint32_t port;
	uint32_t verdict;
	uint64_t connections;
	uint64_t bytes_in;  /* from the host */
	uint64_t bytes_out; /* to it */
	uint64_t refusals;
};

struct table {
	uint32_t mark;
	uint32_t used;
	struct table_row rows[TABLE_ROWS + 1];
};

extern const char *const table_verdicts[TABLE_VERDICTS]; /* "allowed", ... */

void table_init(struct table *table);

/* Is this a table of ours, and not one that was tampered with while the gateway was away? */
bool table_sound(const struct table *table);

/* The row of a target, a new one if need be. Where there is no room, a host that is allowed takes the place of one
 * that was never reached; active: how many visits each row has now. */
struct table_row *table_find(struct table *table, const struct gateway_target *target, bool refused,
			     const uint32_t *active);

/* A checked copy of a row. Returns false if there is nothing in it. */
bool table_read(const struct table *table, size_t index, struct table_row *ret_row);

#endif
