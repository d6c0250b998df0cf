/*
 * Lands the result of a loop or a batch on a forge: pushes its branch, opens or updates a request,
 * reads CI, and merges.
 *
 * Each step is recorded (land/land_record.h) and can be repeated: whenever this is killed, doing it
 * again gives one branch and one request. One process at a time lands a loop or a batch.
 */
#ifndef OPS_OP_LAND_H
#define OPS_OP_LAND_H

#include "batch/batch_client.h"
#include "land/land_client.h"
#include "land/land_git.h"
#include "land/land_record.h"
#include "ops/op.h"
#include "project/path_group.h"
#include "provider/key_source.h"

struct op_land_request {
	const char *state, *project;
	const char *id;          /* of a loop or a batch; NULL: the project's newest loop */
	const char *remote;      /* NULL: as git would choose */
	const char *into;        /* the branch to merge into; NULL: the default branch */
	const char *forge;       /* "github", "gitlab", "gitea", "gh"; NULL: by the remote */
	const char *api;         /* its URL; NULL: by the remote */
	struct key_source token; /* none: variables, or gh */
	bool unfinished;         /* also land what is not completed, as a draft */
	bool secrets;            /* yes to credentials in what is pushed */
	bool yes[PATH_GROUP_COUNT];
	struct op_answer answer;
	bool dry;  /* change nothing, here or there */
	bool asks; /* git may ask for a password on the terminal */
	void (*wait)(void *context, uint64_t ms, const char *why);
	void *context;
	json_t *changes; /* limits for a loop that is resumed, or NULL */
	/* See op_resume.h. */
	void (*before)(const void *context, const struct client_loop *loop);
	const void *before_context;
};

enum op_land_push { OP_LAND_NOT_PUSHED, OP_LAND_UP_TO_DATE, OP_LAND_PUSHED };
enum op_land_opened { OP_LAND_NO_REQUEST, OP_LAND_FOUND, OP_LAND_UPDATED, OP_LAND_OPENED };

/* The work and its place at the forge. */
struct op_land_result {
	struct client_loop loop; /* whose result it is */
	struct batch_client batch;
	bool is_batch;
	int lock;                /* held until the result is released; -1: none */
	const char *id, *folder; /* of the loop or the batch */
	bool completed;
	char *branch; /* at the remote */
	char commit[LAND_COMMIT];
	char *remote; /* its name */
	char *title, *body;
	struct land_remote place;
	struct land_client client; /* its forge is NULL if none is known, or there is no token */
	struct land_repository repository;
	struct land_request request; /* its page is NULL if there is none */
	struct land_record record;
	enum op_land_push push;
	enum op_land_opened opened;
	char *compare;               /* where a person opens the request, or NULL */
	struct op_question question; /* about files that need a yes */
	struct op_question secrets;  /* credentials that would be pushed */
};

/*
 * Returns OP_DONE when the branch is pushed and the request is open, or OP_UNCHANGED for a dry run.
 * OP_ASKS: files need a yes. OP_RUNNING: the loop runs, or another process lands it. OP_REFUSED:
 * the work is not completed, there are credentials, somebody else has moved the branch, or the
 * request was closed or merged.
 */
enum op_status op_land(const struct op_land_request *request, struct op_land_result *ret_result,
		       struct error *err);
void op_land_release(struct op_land_result *result);

/* Reads the state of CI for what was pushed. The caller releases it. */
enum op_status op_land_ci(struct op_land_result *result, struct land_ci *ret_ci, struct error *err);

/* Returns the end of what each failed job printed, cleaned, for people and prompts. The caller
 * frees it. */
char *op_land_logs(struct op_land_result *result, const struct land_ci *ci);

/* Resumes the loop with these logs as a message for its agent. *ret_seen is the last event
 * before. */
enum op_status op_land_fix(const struct op_land_request *request, struct op_land_result *result,
			   const char *logs, int64_t *ret_seen, struct error *err);

/* Merges the request, if it still has exactly the commit that was pushed. */
enum op_status op_land_merge(struct op_land_result *result, struct error *err);

#endif
