/* The alerts and notifications of a loop, from the settings. */
#ifndef SETTINGS_WATCH_REQUEST_H
#define SETTINGS_WATCH_REQUEST_H

#include "settings/effective.h"

#include <jansson.h>

/* Texts as in the settings. */
struct watch_request {
	json_t *alerts, *targets, *events;
};

/* Returns 0, or -1 with err set if a target is not safe for this project. */
int watch_request_make(const struct effective *effective, struct watch_request *ret_watch,
		       struct error *err);
void watch_request_release(struct watch_request *watch);

#endif
