/*
 * Forges: what is asked of each, and how its answers are read. Pure functions over one table per
 * forge, which has every operation.
 *
 * An answer is JSON that a server may have made up: members that are missing or have another type
 * are taken as absent, and lists are read up to a maximum.
 */
#ifndef LAND_LAND_FORGE_H
#define LAND_LAND_FORGE_H

#include "land/land_remote.h"
#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LAND_JOBS = 1000, /* most jobs of CI that are read */
	LAND_PAGES = 40,  /* most answers of a list, or about CI at one time */
	LAND_ID = 24,     /* bytes of a number as text */
};

/* A request to the API of a forge. */
struct land_call {
	const char *method;
	char *path; /* below the API's URL */
	json_t *body;
	bool graphql; /* the path is that of GitHub's GraphQL */
	bool text;    /* the answer is a log, of which the end counts */
};

void land_call_release(struct land_call *call);

struct land_repository {
	char *branch; /* the default branch */
	char *merge;  /* how requests are merged, in the forge's words; or NULL */
};

enum land_request_state { LAND_REQUEST_OPEN, LAND_REQUEST_MERGED, LAND_REQUEST_CLOSED };

/* A pull request; GitLab calls it a merge request. */
struct land_request {
	int64_t number;
	char *url, *title, *body;
	char *node; /* GitHub's name for GraphQL, or NULL */
	bool draft;
	enum land_request_state state;
};

void land_repository_release(struct land_repository *repository);
void land_request_release(struct land_request *request);

/* A request that is to be opened. */
struct land_proposal {
	const char *branch, *into;
	const char *title, *body;
	bool draft;
};

enum land_ci_state { LAND_CI_PENDING, LAND_CI_PASSED, LAND_CI_FAILED };

struct land_job {
	char *name, *url;
	char *log;  /* the path of its log below the API's URL, or NULL */
	char *says; /* what it says without a log, or NULL */
	enum land_ci_state state;
};

struct land_ci {
	struct land_job *jobs;
	size_t count;
	struct list ask; /* paths that are still to be asked */
	size_t asked;    /* how many of them were */
};

void land_ci_release(struct land_ci *ci);

/* Adds a job. The texts are copied; NULL stays NULL. */
void land_ci_add(struct land_ci *ci, const struct land_job *job);

/* Drops the commit statuses of jobs that are known by themselves, with a log. */
void land_ci_settle(struct land_ci *ci);

/* The state of all jobs: pending until each has ended, so that all that failed are known. */
enum land_ci_state land_ci_state(const struct land_ci *ci);

struct land_forge {
	const char *name;       /* "github" */
	const char *title;      /* "GitHub" */
	const char *request;    /* "pull request" */
	const char *api;        /* the path of the API on its host */
	const char *tokens[3];  /* variables that hold a token; ends with NULL */
	const char *authority;  /* the header that has the token, up to the token */
	const char *headers[3]; /* others; ends with NULL */
	const char *draft;      /* the beginning of a draft's title, or NULL */
	size_t page;            /* entries of a list in one answer */
	/* Where a person opens a request, into the default branch or another one: @ is the page of
	 * the repository, > the branch and < the target. */
	const char *compare, *compare_into;

	/* All are given the path of the repository. Those that read return 0, or -1 for an answer
	 * that is not what was asked for. */
	void (*repository)(const char *path, struct land_call *ret_call);
	void (*find)(const char *path, const char *branch, struct land_call *ret_call);
	void (*look)(const char *path, int64_t number, struct land_call *ret_call);
	void (*open)(const char *path, const struct land_proposal *proposal,
		     struct land_call *ret_call);
	void (*update)(const char *path, const struct land_request *request, const char *body,
		       struct land_call *ret_call);
	void (*ready)(const char *path, const struct land_request *request,
		      struct land_call *ret_call);
	void (*merge)(const char *path, const struct land_request *request, const char *commit,
		      const char *how, struct land_call *ret_call);
	void (*ci)(const char *path, const char *commit, struct land_ci *ci);

	int (*read_repository)(const json_t *answer, struct land_repository *ret_repository);
	int (*read_request)(const json_t *answer, struct land_request *ret_request);
	/* The branch that a request wants to merge, or NULL. */
	const char *(*branch_of)(const char *path, const json_t *request);
	int (*read_ci)(const char *path, const json_t *answer, struct land_ci *ci);
	/* May a server refuse to answer this about CI? Then others may be asked instead. */
	bool (*may_lack)(const char *path, const char *asked, struct land_ci *ci);
};

extern const struct land_forge land_forge_github, land_forge_gitlab, land_forge_gitea;

/* The forge of a kind, or NULL. */
const struct land_forge *land_forge_of(enum land_kind kind);

/* Returns the kind with this name, or LAND_KIND_UNKNOWN. */
enum land_kind land_forge_named(const char *name);

/* A call that reads. Takes ownership of the path. */
void land_forge_get(struct land_call *ret_call, char *path);

/* Finds the request of a branch in a list of open ones. Returns 1 with *ret_request, 0, or -1 for
 * an answer that is not a list. */
int land_forge_find(const struct land_forge *forge, const char *path, const json_t *answer,
		    const char *branch, struct land_request *ret_request);

/* Returns the URL of the API below the web server's; the caller frees it. */
char *land_forge_api(const struct land_forge *forge, const struct land_remote *remote);

/* Returns where a person opens a request. into: NULL for the default branch. The caller frees it.
 */
char *land_forge_compare(const struct land_forge *forge, const struct land_remote *remote,
			 const char *into, const char *branch);

/* Returns the path of the next page, if the path has a page and the answer filled it; or NULL. The
 * caller frees it. */
char *land_forge_next(const struct land_forge *forge, const char *path, const json_t *answer);

/* Returns a text as a part of a URL; the caller frees it. */
char *land_forge_encoded(const char *text);

/* Shared by the tables. The repository has its default branch. */
int land_forge_read_repository(const json_t *answer, struct land_repository *ret_repository);
char *land_forge_titled(const struct land_forge *forge, const struct land_proposal *proposal);
json_t *land_forge_ready(const struct land_forge *forge, const struct land_request *request);

#endif
