/* Selects the agent of a loop and prepares the fence for it. */
#ifndef SETTINGS_CHOICE_H
#define SETTINGS_CHOICE_H

#include "agent/adapter.h"
#include "settings/effective.h"
#include "util/list.h"

/* One agent of a loop. */
struct choice {
	const struct adapter *agent; /* NULL: none was chosen */
	char *command;               /* for sh -c */
	const char *format;
	char *model; /* NULL: the agent's default */
	char *name;  /* both, as AGENT[:MODEL] */
	char *login; /* the credential file to copy into the fence; NULL: the agent uses a key */
};

enum { CHOICE_AGENTS_MAX = 16 };

/* A range of the agents of a loop. */
struct choice_team {
	size_t first, count;
};

/* The agents of a loop. */
struct choice_list {
	/* In the order of preference, then stronger ones, then those of phases. */
	struct choice items[CHOICE_AGENTS_MAX];
	size_t count, rungs, total; /* of the first, of the second, of all */
	struct choice review;       /* without an agent: there is no reviewer */
};

/*
 * Selects the agents by the settings and adds their needs to the spec: their programs, their
 * variables, and patterns that hide the project's own settings for them. Adds notices for the user.
 * The caller releases the list, also after a failure. Returns 0, or -1 with err set.
 */
int choice_make(struct effective *effective, struct choice_list *ret_list, struct list *notices,
		struct error *err);
void choice_release(struct choice_list *list);

/* Asks for agents of a phase. */
struct choice_team_request {
	struct effective *effective;
	const char *agents; /* AGENT[:MODEL][,...]; NULL: those of the loop */
	const char *model;  /* of the first one; NULL: its own */
};

/* Adds such agents to the list, as choice_make() does. Returns 0, or -1 with err set. */
int choice_add_team(const struct choice_team_request *request, struct choice_list *list,
		    struct choice_team *ret_team, struct list *notices, struct error *err);

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
