/*
 * A loop in the foreground: prints lines as events arrive, until the loop ends or the user
 * detaches. On a terminal, a live region below them tells what happens now. In JSON mode each line
 * is an object: events as in the journal, without internal fields, then the result.
 */
#ifndef CLI_VIEW_FOLLOW_H
#define CLI_VIEW_FOLLOW_H

#include "cli/cli.h"
#include "loop/client.h"

/* The row of an option table. */
#define FOLLOW_HEARTBEAT(type, member)                                                     \
	OPTION_TEXT("heartbeat", "DURATION",                                               \
		    "without a terminal, print the status after this long without output " \
		    "(default 1m; 0: never)",                                              \
		    type, member)

struct follow_options {
	int64_t after; /* the number of the last event that is not printed */
	bool json;
	bool quiet;           /* print only how the loop ends */
	bool verbose;         /* name every denial */
	int64_t heartbeat_ms; /* without a terminal, after this long without a line; 0: never */
};

/* Checks the options, and reads the duration of a heartbeat: "30s", or "0". NULL is the default.
 * Returns 0, or -1 with err set. Call it before anything starts or continues. */
int follow_read(struct follow_options *options, const char *heartbeat, struct error *err);

/* Follows the loop. Returns the exit status (loops.h). */
int follow_loop(struct client_loop *loop, const struct follow_options *options);

#endif
