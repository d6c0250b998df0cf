/*
 * The hosts that a user's own tools are configured to use, so that `allow: npm` means the registry of
 * this user, and a company's mirror needs no list of ours.
 *
 * Only what is the user's or the machine's is read: files of the home folder and of /etc, variables, and
 * the remotes in the project's .git/config, which no clone brings. A tool is asked only if it is root's. A repository's own files (.npmrc, pip.conf,
 * .gitmodules) are never looked at: they would let a repository choose its hosts.
 */
#ifndef PROJECT_HOSTS_H
#define PROJECT_HOSTS_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>

struct hosts_place {
	const char *home;    /* empty: none */
	const char *project; /* a real path */
	bool foreign;        /* the environment is somebody else's */
};

/* "npm", "apt", "pip", "cargo", "go", "git-remotes". */
bool hosts_is_set(const char *name);

/* The set that this is a misspelling of, or NULL. */
const char *hosts_nearest_set(const char *name);

/* Adds the hosts of a set, each once: "host" or "host:port". Returns 0, or -1 with err set: the
 * configuration names none. */
int hosts_find(const char *name, const struct hosts_place *place, struct list *hosts,
	       struct error *err);

/* Adds the hosts of all URLs of a text. section: only of lines in sections that begin so; keys: only of lines that
 * have one of these words before the URL; NULL: of all. For the tests, too. */
void hosts_of_text(const char *text, const char *section, const char *const *keys,
		   struct list *hosts);

#endif
