/*
 * The durable marks of a notifier, in notify.json in the folder of a loop or a batch.
 *
 * It is on disk before a message is sent for the first time, and after each result: a notifier that
 * is killed sends the same message again, with the same id.
 */
#ifndef NOTIFY_NOTIFY_RECORD_H
#define NOTIFY_NOTIFY_RECORD_H

#include "notify/notify_plan.h"
#include "util/error.h"

#include <stddef.h>

enum { NOTIFY_RECORD_TARGETS = 32 };

struct notify_record {
	struct notify_plan plans[NOTIFY_RECORD_TARGETS]; /* in the order of the setting */
	size_t count;
	int64_t heartbeat_ms; /* the last one that was reported as stale, or 0 */
	bool pending;         /* there may be something to deliver */
};

/* Reads the record, for so many targets. One that is missing or damaged begins at the first event:
 * what was delivered may come again, but nothing is lost. */
void notify_record_read(const char *folder, size_t count, struct notify_record *ret_record);

/* Returns 0, or -1 with err set. */
int notify_record_write(const char *folder, const struct notify_record *record, struct error *err);

/* Was the notifier of this folder ended before it was done? */
bool notify_record_is_pending(const char *folder);

#endif
