/* The phases of a loop, made of the settings. */
#ifndef SETTINGS_PHASE_REQUEST_H
#define SETTINGS_PHASE_REQUEST_H

#include "config/phase_text.h"
#include "settings/choice.h"
#include "settings/effective.h"
#include "util/list.h"

#include <jansson.h>

struct phase_request {
	json_t *terms;                    /* as in the journal, without the agents */
	struct choice_team agents, rungs; /* in the list of agents; those of the loop if not own */
	bool own_agents, own_rungs;
};

struct phase_request_list {
	struct phase_request items[PHASE_TEXT_MOST];
	size_t count; /* 0: there are no phases */
};

/*
 * Makes the phases that the settings name, and adds their agents to the list. `promise` is that of
 * the loop, or NULL. The caller releases the list, also after a failure. Returns 0, or -1 with err
 * set.
 */
int phase_request_make(struct effective *effective, const char *promise, struct choice_list *agents,
		       struct phase_request_list *ret_list, struct list *notices,
		       struct error *err);
void phase_request_release(struct phase_request_list *list);

/* Adds what ends a phase, for people. */
void phase_request_add_until(const json_t *terms, struct buffer *out);

#endif
