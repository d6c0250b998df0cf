/*
 * One command in a fence, from the request to the report: starts the gateway if the spec needs one,
 * plans, runs, and tries again if the project changed in between.
 *
 * `ringfence exec`, the runner of a loop and the doctor all run commands through fenced_run(). It
 * never prints: the caller shows notices, the result and the cost.
 */
#ifndef FENCED_FENCED_H
#define FENCED_FENCED_H

#include "fence/fence.h"
#include "gateway/owner/ledger.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>

struct fenced_request {
	const struct fence_spec *spec; /* without an outlet; must outlive the struct fenced */
	const struct ledger_options
		*ledger; /* what models may cost; only used if the spec has any */
	/* Called with each plan before it runs; NULL: nobody is told. */
	void (*planned)(const struct fence_plan *plan, bool first);
	fence_notice_fn *notice; /* called during the run; NULL: nobody is told */
};

/* A run that is over. The plan points into it, so it must not be copied. */
struct fenced {
	struct fence_spec spec; /* the request's, with the outlet */
	struct fence_plan plan; /* of the last try; only if `planned` */
	struct fence_result result;
	struct ledger_news news; /* what models cost; only if `metered` */
	bool planned;
	bool metered;
};

/* Runs spec->command to its end. Returns 0, or -1 with err set if the run was refused before
 * anything started; the result then says FENCE_SETUP and why. Release *ret_run in both cases. */
int fenced_run(const struct fenced_request *request, struct fenced *ret_run, struct error *err);
void fenced_release(struct fenced *run);

/* Appends the report as JSON, and keeps it for `ringfence suggest` if something was denied. With
 * `forget`, a run without denials removes the report of an earlier one. */
void fenced_report(const struct fenced *run, bool forget, struct buffer *out);

#endif
