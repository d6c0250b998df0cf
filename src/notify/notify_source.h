/*
 * Where news comes from: the journal of a loop or of a batch. One of them is open at a time.
 *
 * notify_source_loop.c and notify_source_batch.c turn events into news.
 */
#ifndef NOTIFY_NOTIFY_SOURCE_H
#define NOTIFY_NOTIFY_SOURCE_H

#include "batch/batch_state.h"
#include "journal/journal.h"
#include "loop/state/loop_state.h"
#include "notify/notify_event.h"
#include "util/taint.h"

struct notify_source {
	const char *folder;
	bool batch;
	struct journal *store;
	struct journal_mark mark;
	struct loop_state loop;        /* of one */
	struct batch_state batch_sums; /* or the other */
	bool over;                     /* the loop has ended, and it was told */
	struct notify_list news;
};

/* Opens the journal in this folder. Returns 0, or -1 with err set. */
int notify_source_open(const char *folder, struct notify_source *ret_source, struct error *err);
void notify_source_close(struct notify_source *source);

/* Reads new events. Returns 0, or -1 with err set. */
int notify_source_read(struct notify_source *source, struct error *err);

/* Has it ended or paused? No news follows then, unless it is resumed. */
bool notify_source_rests(const struct notify_source *source);

/* Settings of the loop or batch: a list of texts, or NULL. */
const json_t *notify_source_config(const struct notify_source *source, const char *key);
const char *notify_source_project(const struct notify_source *source);

/* Adds what the agents of the loop or batch can change. */
void notify_source_taint(const struct notify_source *source, struct taint *taint);

/* The level of the alert about the heartbeat, or 0 if it is off. */
int64_t notify_source_heartbeat_ms(const struct notify_source *source);

/* Add an event to the state, and its news. */
int notify_source_fold_loop(struct notify_source *source, const struct journal_event *event,
			    struct error *err);
int notify_source_fold_batch(struct notify_source *source, const struct journal_event *event,
			     struct error *err);

#endif
