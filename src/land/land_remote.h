/*
 * The URL of a git remote: which forge it is on, and as what. Pure functions.
 *
 * https://HOST/PATH, http://HOST/PATH, ssh://USER@HOST/PATH and USER@HOST:PATH are understood. A
 * user and a password in the URL are never kept.
 */
#ifndef LAND_LAND_REMOTE_H
#define LAND_LAND_REMOTE_H

#include "util/error.h"

#include <stdbool.h>

enum land_kind { LAND_KIND_UNKNOWN, LAND_KIND_github, LAND_KIND_gitlab, LAND_KIND_gitea };

struct land_remote {
	char *origin; /* of the web server: "https://host", with a port that is not the default */
	char *host;   /* in lower case, without the port */
	char *path;   /* "owner/repo", or "group/sub/repo" */
};

/* Reads a URL. Returns 0, or -1 with err set. The caller releases *ret_remote. */
int land_remote_read(const char *url, struct land_remote *ret_remote, struct error *err);
void land_remote_release(struct land_remote *remote);

/* Which forge a host is by its name alone. */
enum land_kind land_remote_kind(const struct land_remote *remote);

/* Replaces the user and the password of each URL in a text, such as a message of git, by "*". */
void land_remote_mask(char *text);

#endif
