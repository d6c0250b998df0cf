/* Selects the agent of a loop and prepares the fence for it. */
#ifndef SETTINGS_CHOICE_H
#define SETTINGS_CHOICE_H

#include "agent/adapter.h"
#include "settings/effective.h"
#include "util/list.h"

struct choice {
	const struct adapter *agent;
	char *command; /* for sh -c */
	const char *format;
	const char *model; /* NULL: the agent's default */
	char *login; /* the credential file to copy into the fence; NULL: the agent uses a key */
};

/*
 * Selects the agent by the settings and adds its needs to the spec: its program, its variables, and
 * patterns that hide the project's own settings for it. Adds notices for the user. Returns 0, or
 * -1 with err set.
 */
int choice_make(struct effective *effective, struct choice *ret_choice, struct list *notices,
		struct error *err);
void choice_release(struct choice *choice);

#endif
