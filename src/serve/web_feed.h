/*
 * The states that open pages show: a process reads them (serve/answer/web_watch.h) while somebody
 * looks, and this module keeps the newest of each as text. A state has a version, so that each page
 * can be sent the states that are newer than those it has seen; nothing is queued for anybody.
 *
 * If the process dies, it is started again, and everything begins with a new epoch.
 */
#ifndef SERVE_WEB_FEED_H
#define SERVE_WEB_FEED_H

#include "serve/web_job.h"
#include "util/buffer.h"

enum {
	WEB_FEED_WATCHED = 64,      /* loops at a time */
	WEB_FEED_LINE = 4 << 20,    /* bytes of a line from the process */
	WEB_FEED_GONE = 10000,      /* removed rows that are remembered */
	WEB_FEED_LINGER_MS = 60000, /* the process goes on after the last look */
	WEB_FEED_RESTART_MS = 1000, /* from one start to the next */
};

struct web_feed_row {
	char *id;
	char *json; /* NULL: it is gone */
	uint64_t version;
};

/* A loop that somebody looks at. */
struct web_feed_loop {
	char *id;
	size_t watchers;
	char *json;       /* NULL: not known yet, or gone */
	uint64_t version; /* 0: not known yet */
};

struct web_feed {
	const struct web_job_list *jobs;
	pid_t pid; /* 0: it does not run */
	int input, output;
	struct buffer line; /* what it has printed of the next line */
	uint64_t started_ms, looked_ms;
	size_t watchers;
	uint64_t epoch, version; /* epoch: 0 while it does not run */
	bool complete;           /* it has told all rows once */

	struct web_feed_row *rows; /* by version */
	size_t count, gone;
	uint64_t forgotten; /* the newest version of a removed row that was forgotten */
	struct web_feed_loop loops[WEB_FEED_WATCHED];
};

void web_feed_init(struct web_feed *feed, const struct web_job_list *jobs);
void web_feed_close(struct web_feed *feed);

/* Somebody begins or ends to look. */
void web_feed_join(struct web_feed *feed);
void web_feed_leave(struct web_feed *feed);

/* The same for a loop. web_feed_watch() returns its place, or -1 if there are too many. */
int web_feed_watch(struct web_feed *feed, const char *id);
void web_feed_unwatch(struct web_feed *feed, int place);

/* Returns the index of the first row with a newer version; the count if there is none. */
size_t web_feed_newer(const struct web_feed *feed, uint64_t version);

/* Sets what is waited for. Returns 1, or 0 if it does not run. */
size_t web_feed_poll(const struct web_feed *feed, struct pollfd *fd, int *timeout_ms);

/* Reads what it has printed, starts and ends it. Returns whether a state has changed. */
bool web_feed_work(struct web_feed *feed);

#endif
