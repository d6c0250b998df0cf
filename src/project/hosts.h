/*
 * The hosts that the user's own tools are configured to use: `allow: npm` means this user's
 * registry or a company's mirror, without a built-in list. If nothing is configured, the tool tells
 * its default: a command prints it, or it is read from the tool's own files, as text.
 *
 * Only configuration of the user and the machine is read: files in the home folder and /etc,
 * variables, and the remotes in the project's .git/config, which a clone does not bring along. A
 * tool is run only if root owns it. Files of the repository (.npmrc, pip.conf, .gitmodules) are
 * never read: they would let a repository choose its hosts.
 */
#ifndef PROJECT_HOSTS_H
#define PROJECT_HOSTS_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>

struct hosts_place {
	const char *home;    /* or empty */
	const char *project; /* a real path */
	bool foreign;        /* the environment belongs to another user */
};

/* Whether this names a set, such as "npm" or "git-remotes". */
bool hosts_is_set(const char *name);

/* Returns the names of all sets, for a message. The caller frees it. */
char *hosts_names(void);

/* The set whose name this misspells, or NULL. */
const char *hosts_nearest_set(const char *name);

/* Adds the hosts of a set, each once, as "host" or "host:port". Returns 0, or -1 with err set if
 * the configuration names no host. */
int hosts_find(const char *name, const struct hosts_place *place, struct list *hosts,
	       struct error *err);

/* Adds the hosts of the URLs in a text. `section`, or NULL, limits this to sections whose header
 * starts with it; `keys`, or NULL, to lines with one of these words before the URL. Exported for
 * the tests. */
void hosts_of_text(const char *text, const char *section, const char *const *keys,
		   struct list *hosts);

/* Adds the hosts of the URLs in a part of a file: from one text to the next other one. `key`, or
 * NULL, precedes one more host, without a URL. Exported for the tests. */
void hosts_of_part(const char *bytes, size_t size, const char *from, const char *until,
		   const char *key, struct list *hosts);

#endif
