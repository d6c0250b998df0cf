/*
 * The table of open requests: what each request to a model that is under way has cost so far, and
 * could still cost.
 *
 * It is in memory that the gateway and its owner share, so a killed gateway leaves what it knew.
 * For a loop it is a file, so that it also survives the owner; a reboot makes it worthless. The
 * gateway fills a slot before a request can be billed, and keeps it up to date; only the owner
 * frees it, once the ledger has the request's line. The owner does not trust the table: an unsound
 * one means that the cost is unknown.
 */
#ifndef GATEWAY_OPEN_REQUESTS_H
#define GATEWAY_OPEN_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPEN_REQUESTS_SLOTS = 100, OPEN_REQUESTS_BOOT = 40 };

struct open_requests_slot {
	uint64_t id;        /* 0: free */
	uint64_t cost_nusd; /* at the time at_ms */
	uint64_t rate_nusd; /* per second since then, because nobody can see what is generated */
	uint64_t most_nusd; /* and not more than this, however long it takes */
	uint64_t at_ms;     /* open_requests_now_ms() */
};

struct open_requests {
	uint32_t mark;
	uint32_t overflow; /* a request found no slot: the table is incomplete */
	char boot[OPEN_REQUESTS_BOOT];
	uint64_t day;    /* for the owner: that its open lease is charged to */
	uint64_t leased; /* for the owner: the open part of its lease, at most */
	struct open_requests_slot slots[OPEN_REQUESTS_SLOTS];
};

/* A clock that all processes share, and that goes on while the machine sleeps. */
uint64_t open_requests_now_ms(void);

/* Empties the table, for this boot. */
void open_requests_init(struct open_requests *table);

/* Is this the table of a process of this boot? */
bool open_requests_is_sound(const struct open_requests *table);

/* For the gateway: takes a slot for a request that cannot have been billed yet. Returns NULL if
 * all slots are taken, which the table remembers. */
struct open_requests_slot *open_requests_begin(struct open_requests *table, uint64_t id);

/* For the gateway: records what is known now. A process may be killed within it. */
void open_requests_update(struct open_requests_slot *slot, uint64_t cost_nusd, uint64_t rate_nusd,
			  uint64_t most_nusd);

/* For the owner: the request has its line in the ledger. */
void open_requests_end(struct open_requests *table, uint64_t id);

/*
 * For the owner, when the gateway is gone: returns true with what all open requests have cost by
 * now, at most, or false if that is unknown.
 */
bool open_requests_cost(const struct open_requests *table, uint64_t now_ms, uint64_t *ret_nusd);

/* The part of one of them. Returns its id, or 0 if the slot is free or makes no sense. */
uint64_t open_requests_cost_of(const struct open_requests *table, size_t slot, uint64_t now_ms,
			       uint64_t *ret_nusd);

#endif
