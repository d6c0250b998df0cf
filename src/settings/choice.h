/* Selects the agent of a loop and prepares the fence for it. */
#ifndef SETTINGS_CHOICE_H
#define SETTINGS_CHOICE_H

#include "agent/adapter.h"
#include "settings/effective.h"
#include "util/list.h"

struct choice {
	const struct adapter *agent; /* NULL: none was chosen */
	char *command;               /* for sh -c */
	const char *format;
	char *model; /* NULL: the agent's default */
	char *login; /* the credential file to copy into the fence; NULL: the agent uses a key */
};

/*
 * Selects the agent by the settings and adds its needs to the spec: its program, its variables, and
 * patterns that hide the project's own settings for it. Adds notices for the user. Returns 0, or
 * -1 with err set.
 */
int choice_make(struct effective *effective, struct choice *ret_choice, struct list *notices,
		struct error *err);

/* The same for the reviewer, which is not chosen if none is set. */
int choice_make_review(struct effective *effective, struct choice *ret_choice, struct list *notices,
		       struct error *err);
void choice_release(struct choice *choice);

/* Whether an entry of --env, NAME or NAME=VALUE, sets this variable. */
bool choice_is_variable(const char *entry, const char *name);

/*
 * Checks that an agent with its own login in the fence, a key or a copy of its credential file, can
 * reach its provider. Otherwise every iteration would only wait for it. Returns 0, or -1 with err
 * set to the missing rule.
 */
int choice_check_reach(const struct effective *effective, const struct adapter *agent,
		       bool login_file, struct error *err);

#endif
