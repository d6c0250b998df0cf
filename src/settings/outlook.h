/*
 * The outlook of a loop: its estimated cost and time (estimate/estimate.h), and what the estimate
 * is based on. Reads past loops, the price table and the sizes of files, within limits.
 */
#ifndef SETTINGS_OUTLOOK_H
#define SETTINGS_OUTLOOK_H

#include "estimate/estimate.h"
#include "settings/loop_request.h"

#include <jansson.h>

enum {
	OUTLOOK_QUICK = 20000,      /* files and folders that are counted before a loop */
	OUTLOOK_THOROUGH = 2000000, /* and for a command that has more time */
};

struct outlook {
	struct estimate estimate;
	char *model;        /* whose prices were used, or NULL */
	bool model_assumed; /* the agent's own choice is not known */
	bool local;         /* the model is the user's own, or a tape: nothing is paid */
	bool replay;        /* a tape */
	char prices_dated[11];
	uint64_t prompt_bytes, source_bytes;
	bool source_cut;   /* there are more files */
	size_t past_count; /* loops with the same agent and model that have ended */
};

/* Estimates the loop. The agent is chosen; objective: may be NULL. Returns 0, or -1 with err set if
 * the price table cannot be read. The caller releases it. */
int outlook_make(const struct loop_request *request, const char *objective, uint64_t most_entries,
		 struct outlook *ret_outlook, struct error *err);
void outlook_release(struct outlook *outlook);

/* Reports whether it is based on a model or on past loops. A replay takes as long as its checks. */
bool outlook_is_known(const struct outlook *outlook);

/* Returns the estimate as it is kept in the journal (docs/protocols.md). The caller owns it. */
json_t *outlook_json(const struct outlook *outlook);

#endif
