/*
 * The host table: which hosts were reached or refused, and how much data was transferred.
 *
 * It is in shared memory that the owner created. The gateway updates it immediately, so a kill -9
 * loses nothing. The owner may read it at any time and does not trust it: every string is bounded,
 * and numbers are never used as indices or sizes. The last row counts all hosts that did not fit.
 */
#ifndef GATEWAY_HOST_TABLE_H
#define GATEWAY_HOST_TABLE_H

#include "gateway/proxy/rule.h"

#include <stddef.h>
#include <stdint.h>

enum {
	HOST_TABLE_ROWS = 256,
	/* maximum rows of hosts that were only refused, so that thousands of refused hosts do
	 * not displace allowed ones */
	HOST_TABLE_REFUSED = 128,
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

extern const char *const host_table_verdicts[HOST_TABLE_VERDICTS]; /* "allowed" and so on */

void host_table_init(struct host_table *table);

/* Returns true if this is a valid table. The owner checks it before a restarted gateway reuses
 * it. */
bool host_table_sound(const struct host_table *table);

/* Returns the row of a target and adds one if needed. In a full table, an allowed host replaces
 * one that was never reached. `active`: the number of connections of each row. */
struct host_table_row *host_table_find(struct host_table *table, const struct rule_target *target,
				       bool refused, const uint32_t *active);

/* Copies and checks a row. Returns false if it is empty. */
bool host_table_read(const struct host_table *table, size_t index, struct host_table_row *ret_row);

#endif
