/* The model usage and cost of a run, as text for people. */
#ifndef CLI_VIEW_COST_TEXT_H
#define CLI_VIEW_COST_TEXT_H

#include "gateway/owner/ledger.h"

#include <stdbool.h>
#include <stdint.h>

/* Model usage as the gateway counted it. */
struct cost_text_use {
	uint64_t requests, free_requests;   /* all, and those to local models */
	uint64_t input, output;             /* tokens */
	uint64_t cost_nusd, estimated_nusd; /* all, and the part that is estimated */
	bool replay;
};

/* Describes the cost, or for a replay the cost it would have had. Returns NULL if there were no
 * requests; the caller frees. */
char *cost_text(const struct cost_text_use *use);

/* Returns " (estimated)" or " (partly estimated)" for a cost of which this part is estimated, or
 * "". */
const char *cost_text_mark(int64_t cost_nusd, int64_t estimated_nusd);

/* Prints a notice with the model usage and cost of a run, if there were requests. */
void cost_text_print(const struct ledger_news *news);

#endif
