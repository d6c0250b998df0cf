/*
 * The request to start a loop, made of the settings. Whatever starts a loop uses it together with
 * op_start.h:
 *
 *	loop_request_begin()   before op_start_prepare()
 *	loop_request_choose()  before op_start_plan(), because agent and goal depend on the folder
 *	loop_request_check()   after op_start_plan()
 */
#ifndef SETTINGS_LOOP_REQUEST_H
#define SETTINGS_LOOP_REQUEST_H

#include "ops/op_start.h"
#include "settings/choice.h"
#include "settings/effective.h"
#include "settings/goal.h"
#include "settings/phase_request.h"
#include "settings/watch_request.h"
#include "util/buffer.h"

struct loop_request {
	struct effective *effective; /* borrowed */
	struct choice_list agents;
	struct phase_request_list phases;
	struct goal goal;
	struct watch_request watch;
	struct list notices;  /* for the user, also after a failure */
	struct buffer prices; /* the user's own prices.txt */
	json_t *limits;
	json_t *estimate; /* set with loop_request_set_estimate(), or NULL */
	char *here;
	struct op_start_request start; /* its pointers belong to the members above */
};

/* `effective` is loaded, and outlives the request. */
void loop_request_begin(struct loop_request *ret_request, struct effective *effective);
void loop_request_release(struct loop_request *request);

/* Both return 0, or -1 with err set. */

/* Chooses the agent and the goal, and sets limits and prices. The objective is borrowed. */
int loop_request_choose(struct loop_request *request, const char *objective, struct error *err);

/* After loop_request_choose(): demands a promise as well, if the settings do not. For loops whose
 * checks often pass before the work has begun. */
void loop_request_want_promise(struct loop_request *request);

/* Chooses only the agent. */
int loop_request_choose_agent(struct loop_request *request, struct error *err);

/* Adds an estimate to compare with later, which it consumes. */
void loop_request_set_estimate(struct loop_request *request, json_t *estimate);

/* Refuses if the built-in agent could reach no model. */
int loop_request_find_models(const struct loop_request *request, struct error *err);

/* Refuses if the fence hides the program of the agent or of a check. */
int loop_request_check(const struct loop_request *request, const struct fence_plan *plan,
		       struct error *err);

#endif
