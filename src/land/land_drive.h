/* The steps of `land` at a forge, such as opening a request; each can be repeated. */
#ifndef LAND_LAND_DRIVE_H
#define LAND_LAND_DRIVE_H

#include "land/land_client.h"

/* Reads the repository. The caller releases it. */
int land_drive_repository(struct land_client *client, const char *path,
			  struct land_repository *ret_repository, struct error *err);

/* Finds the open request of a branch. Returns 1 with *ret_request, 0, or -1 with err set. */
int land_drive_find(struct land_client *client, const char *path, const char *branch,
		    struct land_request *ret_request, struct error *err);

/* Reads a request. */
int land_drive_look(struct land_client *client, const char *path, int64_t number,
		    struct land_request *ret_request, struct error *err);

/* Opens a request, or finds the one that is open for the branch. */
int land_drive_open(struct land_client *client, const char *path,
		    const struct land_proposal *proposal, struct land_request *ret_request,
		    struct error *err);

int land_drive_update(struct land_client *client, const char *path,
		      const struct land_request *request, const char *body, struct error *err);
int land_drive_ready(struct land_client *client, const char *path,
		     const struct land_request *request, struct error *err);
int land_drive_merge(struct land_client *client, const char *path,
		     const struct land_request *request, const char *commit, const char *how,
		     struct error *err);

/* Reads the state of CI for a commit. The caller releases it. */
int land_drive_ci(struct land_client *client, const char *path, const char *commit,
		  struct land_ci *ret_ci, struct error *err);

#endif
