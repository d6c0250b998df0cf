/* Which agent a loop gets, and what the fence must give it. */
#ifndef CLI_SETTINGS_CHOICE_H
#define CLI_SETTINGS_CHOICE_H

#include "agent/adapter.h"
#include "cli/settings/effective.h"

struct choice {
	const struct adapter *agent;
	char *command; /* for sh -c */
	const char *format;
	const char *model; /* NULL: the agent's own choice */
	char *login;       /* the credential file that it gets a copy of; NULL: it has a key */
};

/*
 * Decides by the settings; adds to the spec what the agent needs to run in the fence: its program, its
 * variables, and that the project's own settings for it are hidden. Returns 0, or -1 with err set.
 */
int choice_make(struct effective *effective, struct choice *ret_choice, struct error *err);
void choice_release(struct choice *choice);

/* Can it log in with what is passed into the fence (a list as of --env)? */
bool choice_has_key(const struct adapter *agent, const struct list *env);

#endif
