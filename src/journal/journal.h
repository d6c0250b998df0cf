/*
 * The journal of a loop or a batch: every decision, in order, written before it takes effect.
 *
 * Each has one SQLite database. Events are only ever appended. When an append returns, other
 * processes can see the event, even if this one is killed, and it is on disk unless it may wait for
 * the next one. Each event has a hash over itself and the previous hash, and the last one is also
 * kept in a file of its own (journal_head.h), so a journal that was cut, edited or torn is detected
 * and never guessed at. Readers can read while a supervisor writes.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include "util/error.h"
#include "util/text/sha256.h"

#include <stdbool.h>
#include <stdint.h>

struct journal;

struct journal_event {
	int64_t seq;   /* 1, 2, 3 ... */
	int64_t at_ms; /* since the epoch */
	const char *kind;
	const char *data; /* a JSON object */
};

enum journal_mode { JOURNAL_CREATE, JOURNAL_WRITE, JOURNAL_READ };

/*
 * When an event must be on disk: now, or together with the next one that must be. A power failure
 * loses the latter.
 */
enum journal_care { JOURNAL_NOW, JOURNAL_LATER };

/* Opens a journal. A reader gets a copy if the disk is full or read-only. Returns 0, or -1 with err
 * set. */
int journal_open(const char *path, enum journal_mode mode, struct journal **ret_store,
		 struct error *err);
void journal_close(struct journal *store);

/* Whether there is only what a process leaves that is killed while it creates a journal. */
bool journal_is_blank(const char *path);

/* Says why the journal is a copy ("its disk is full"), or NULL if it is not. */
const char *journal_copied_why(const struct journal *store);

/* Appends an event. Returns 0, or -1 with err set and nothing appended. */
int journal_append(struct journal *store, enum journal_care care, int64_t at_ms, const char *kind,
		   const char *data, struct error *err);

/* Called for each event. Returns 0 to continue, or -1 with err set to stop. */
typedef int journal_fn(void *context, const struct journal_event *event, struct error *err);

/*
 * Passes the events after `after` (0: all) to the function, and verifies the whole chain on the
 * way. Returns 0, or -1 with err set by the function or because the journal is damaged.
 */
int journal_each(struct journal *store, int64_t after, journal_fn *take, void *context,
		 struct error *err);

/* The last event that a reader knows, with its hash; all zero before the first one. */
struct journal_mark {
	int64_t seq;
	char hash[SHA256_HEX];
};

/*
 * Passes the events after the mark to the function, and moves the mark with them. Only these are
 * read and verified, so following a journal costs the same however long it is. Returns like
 * journal_each().
 */
int journal_follow(struct journal *store, struct journal_mark *mark, journal_fn *take,
		   void *context, struct error *err);

#endif
