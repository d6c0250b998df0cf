/*
 * Runs one command in a fence, from the request to the report: enters the view of a draft if the
 * command runs in one, starts the gateway if the spec needs one, makes the plan, runs it, and
 * retries if the project changed during setup.
 *
 * `ringfence exec`, the loop's runner and the doctor all run commands through fenced_run(). It
 * never prints: the caller shows notices, the result and the cost.
 */
#ifndef FENCED_FENCED_H
#define FENCED_FENCED_H

#include "draft/draft.h"
#include "draft/draft_own.h"
#include "fence/fence.h"
#include "fence/fence_index.h"
#include "fence/fence_place.h"
#include "gateway/owner/ledger.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>

/* A draft that is made for the run. All functions return 0, or -1 with err set. */
struct fenced_making {
	/* Called when the request has proved valid, before the project is scanned. It may start
	 * something that goes on beside the scan. */
	int (*begin)(void *context, struct error *err);
	/* Called after the scan: waits until that is done. */
	int (*wait)(void *context, struct error *err);
	/* Makes the draft. before: the plan for the project itself, as it is after the wait.
	 * *ret_folder belongs to the context. */
	int (*make)(void *context, struct fence_plan *before, const char **ret_folder,
		    struct error *err);
	void *context;
};

struct fenced_request {
	const struct fence_spec *spec; /* without an outlet; must outlive the struct fenced */
	const struct ledger_options
		*ledger; /* the models' budget; only used if the spec has models */
	/* The folder of a draft (draft/draft.h), or NULL. The command runs in its view, and this
	 * process, which must have one thread, stays there. */
	const char *draft;
	const struct fenced_making *making; /* instead of `draft`: a new one; or NULL */
	bool draft_read_only;               /* somebody else may be writing to the draft */
	const char *over;  /* another draft below it, or NULL (struct draft_view) */
	const char *front; /* files in place of those below, or NULL (struct draft_view) */
	/* For a draft: the index of the project, which is used, or made if it is not complete; or
	 * NULL. */
	struct fence_index *index;
	/* Called, for a draft, with each plan for the project itself, or NULL. */
	void (*before)(const struct fence_plan *plan);
	/* Called with each plan before it runs, or NULL. */
	void (*planned)(const struct fence_plan *plan, bool first);
	fence_notice_fn *notice; /* called during the run, or NULL */
};

/* A finished run. Must not be copied or moved, because the plan points into it. */
struct fenced {
	struct fence_spec spec;   /* the request's, with the outlet */
	struct fence_place place; /* found here if the spec has none; valid if `placed` */
	const char *draft;        /* its folder, or NULL */
	struct fence_plan before; /* for the project itself; valid if `apart` */
	bool placed, apart;
	struct fence_index index; /* of the project, if the request has none */
	struct fence_index view_index;
	struct draft_own *own;     /* of the draft, or NULL */
	struct launcher *launcher; /* outside the view, or NULL */
	struct fence_made made_in_draft;
	struct fence_plan plan; /* of the last try; valid if `planned` */
	struct fence_result result;
	struct ledger_news news; /* the use of models; valid if `metered` */
	struct list made;        /* paths that were made for the run (made_paths.h) */
	bool planned;
	bool metered;
};

/* Runs spec->command to completion. Returns 0, or -1 with err set if the run was refused before
 * anything started; the result is then FENCE_SETUP with the reason. The caller releases *ret_run in
 * either case. */
int fenced_run(const struct fenced_request *request, struct fenced *ret_run, struct error *err);
void fenced_release(struct fenced *run);

/* Creates the folder of a draft of a project, and proves that it can be shown. The request's view
 * names folder, over and front; its other members are set here. Returns 0, or -1 with err set. */
int fenced_make_draft(const char *project, const struct draft_request *request,
		      struct draft_made *ret_made, struct error *err);

/* Returns the writable view of a draft at a place. */
struct draft_view fenced_view(const struct fence_place *place, const char *draft);

/* A draft_hides_fn whose context is the plan for the project itself. It hides as much as the rules
 * in the draft. */
bool fenced_hides(void *plan, const char *path, bool is_folder);

/* Appends the JSON report, and saves it for `ringfence suggest` if something was denied. With
 * `forget`, a run without denials removes the saved report. */
void fenced_report(const struct fenced *run, bool forget, struct buffer *out);

#endif
