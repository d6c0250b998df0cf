/* The views that checks run in: see verification.h. */
#include "loop/run/verification.h"

#include "fenced/fenced.h"
#include "loop/run/check_cache.h"
#include "loop/run/loop_checkpoint.h"
#include "loop/run/retry.h"
#include "util/file/dirwalk.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *place(const struct supervisor *sup, const char *name)
{
	return mem_format("%s/view%s", sup->folder, name);
}

static void forget(struct supervisor_verification *views)
{
	free(views->pins);
	free(views->pinned);
	free(views->own);
	free(views->why);
	free(views->layer);
	free(views->trial);
	*views = (struct supervisor_verification){ 0 };
}

static void remove_all(const struct supervisor *sup)
{
	AUTO_FREE char *all = place(sup, "");

	if (dirwalk_remove(AT_FDCWD, all, NULL) < 0 && errno != ENOENT)
		fprintf(stderr, "remove '%s': %m\n", all); /* the next round tries it again */
}

/* In the baseline, a supervisor may go on where another one was killed. */
static bool goes_on(const struct supervisor *sup)
{
	return sup->state.step == LOOP_STEP_baseline && sup->state.checks_done > 0;
}

/* Does this round judge work? The baseline does if the loop began with another one's. */
static bool judges_work(const struct supervisor *sup)
{
	return sup->state.step == LOOP_STEP_checks ||
	       (sup->state.step == LOOP_STEP_baseline && sup->state.options.from);
}

static bool has_checks(const struct loop_options *options)
{
	bool has = options->checks.count || json_array_size(options->final_checks);

	for (uint32_t i = 0; i < options->phase_count; i++)
		has = has || loop_phase_has(&options->phases[i], LOOP_PHASE_check);
	return has;
}

int verification_open(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *all = place(sup, "");
	AUTO_FREE char *pins = place(sup, "/pins");

	forget(&sup->verification);
	if (!sup->state.options.check_view || !has_checks(&sup->state.options))
		return 0;
	if (!goes_on(sup))
		remove_all(sup);
	if ((mkdir(all, 0700) < 0 && errno != EEXIST) || (mkdir(pins, 0755) < 0 && errno != EEXIST))
		return error_sys(err, "create '%s'", pins);
	sup->verification.pins = mem_dup(pins);
	return 0;
}

const char *verification_pins(const struct supervisor *sup)
{
	return sup->verification.pins;
}

/* A view that is wanted, and the result. */
struct making {
	const char *folder, *front;
	bool made;   /* it did not exist before */
	bool failed; /* why: */
	struct error why;
};

/* Makes a view, unless it exists. Returns whether it was made, or -1 with err set. */
static int make_once(const struct supervisor *sup, const char *folder, const char *front,
		     struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	/* In a copy of the project, a check could move secrets out of hiding. A loop's draft that
	 * is a copy does not have them. */
	const struct draft_request request = {
		.kind = options->draft ? "auto" : "overlay",
		.brief = true,
		.view = { .folder = folder, .over = options->draft, .front = front }
	};
	struct draft_made made;
	struct error ignored;

	if (draft_kind_name(folder, &ignored))
		return 0;
	dirwalk_remove(AT_FDCWD, folder, NULL); /* incomplete */
	return fenced_make_draft(options->project, &request, &made, err) < 0 ? -1 : 1;
}

/* Makes a view, again if the process that mounts it dies. Returns 0, also if it failed, or -1 with
 * err set. */
static int make(struct supervisor *sup, struct making *making, struct error *err)
{
	int tries = 0;
	int again = 1;

	while (again > 0) {
		int made = make_once(sup, making->folder, making->front, &making->why);

		making->made = made > 0;
		making->failed = made < 0;
		again = made < 0 ? retry_after(sup, RETRY_VIEW, &making->why, &tries, err) : 0;
	}
	return again;
}

/* Makes the view that decides. */
static int make_pinned(struct supervisor *sup, struct making *making, struct error *err)
{
	if (make(sup, making, err) < 0)
		return -1;
	if (making->made && check_cache_bring(sup, making->folder, &making->why) < 0)
		making->failed = true;
	return 0;
}

/* Without a view, nothing is pinned. A loop in place does without one if none is possible, but not
 * if a process was killed. */
static char *give_up(struct supervisor *sup, const struct error *why)
{
	struct supervisor_verification *views = &sup->verification;

	if (sup->state.options.draft || why->status == ERROR_DIED)
		return mem_dup(why->text);
	forget(views);
	remove_all(sup);
	views->why = mem_dup(why->text);
	return NULL;
}

int verification_begin(struct supervisor *sup, char **ret_failed, struct error *err)
{
	struct supervisor_verification *views = &sup->verification;
	bool work = judges_work(sup);
	bool changed = sup->state.step == LOOP_STEP_checks && json_array_size(sup->state.pinned);
	AUTO_FREE char *pinned = place(sup, "/pinned");
	AUTO_FREE char *own = place(sup, "/own");
	struct making making = { .folder = own };

	*ret_failed = NULL;
	if (!views->pins)
		return 0;
	if (!fence_spec_has_mounts(&sup->fence) && !sup->state.options.draft &&
	    error_set(&making.why,
		      "this fence has no mounts, so the check reads the files as they are") < 0) {
		*ret_failed = give_up(sup, &making.why);
		return 0;
	}
	/* Caches of packages are hidden without being listed. */
	views->layered = work && dirwalk_has_entries(views->pins) > 0;
	if (changed && make(sup, &making, err) < 0)
		return -1;
	if (!making.failed) {
		making.folder = pinned;
		making.front = views->layered ? views->pins : NULL;
		if (make_pinned(sup, &making, err) < 0)
			return -1;
	}
	if (making.failed) {
		*ret_failed = give_up(sup, &making.why);
		return 0;
	}
	views->pinned = mem_dup(pinned);
	views->own = changed ? mem_dup(own) : NULL;
	return 0;
}

const struct work_view *verification_pinned(const struct supervisor *sup, struct work_view *view)
{
	const struct supervisor_verification *views = &sup->verification;

	*view = (struct work_view){ .folder = views->pinned,
				    .over = sup->state.options.draft,
				    .front = views->layered ? views->pins : NULL };
	return views->pinned ? view : NULL;
}

const struct work_view *verification_own(const struct supervisor *sup, struct work_view *view)
{
	*view = (struct work_view){ .folder = sup->verification.own,
				    .over = sup->state.options.draft };
	return view->folder ? view : NULL;
}

int verification_settle(struct supervisor *sup, char **ret_failed, struct error *err)
{
	AUTO_FREE char *all = place(sup, "");

	*ret_failed = NULL;
	if (!sup->verification.pinned || !judges_work(sup) || sup->state.checkpoint < 0)
		return 0;
	return loop_checkpoint_settle(sup, all, ret_failed, err);
}

void verification_end(struct supervisor *sup)
{
	if (sup->verification.pinned)
		check_cache_keep(sup, sup->verification.pinned);
	if (sup->verification.pins)
		remove_all(sup);
	forget(&sup->verification);
}

static void remove_one(const char *folder)
{
	if (folder && dirwalk_remove(AT_FDCWD, folder, NULL) < 0 && errno != ENOENT)
		fprintf(stderr, "remove '%s': %m\n", folder); /* the next one tries it again */
}

void verification_trial_end(struct supervisor *sup)
{
	struct supervisor_verification *views = &sup->verification;
	AUTO_FREE char *all = place(sup, "");

	if (!views->layer)
		return;
	remove_one(views->trial);
	remove_one(views->layer);
	rmdir(all); /* unless a round is under way */
	free(views->trial);
	free(views->layer);
	views->trial = views->layer = NULL;
}

int verification_trial_open(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *all = place(sup, "");

	verification_trial_end(sup);
	sup->verification.layer = place(sup, "/layer");
	sup->verification.trial = place(sup, "/trial");
	remove_one(sup->verification.trial); /* of a killed supervisor */
	remove_one(sup->verification.layer);
	if ((mkdir(all, 0700) < 0 && errno != EEXIST) || mkdir(sup->verification.layer, 0755) < 0)
		return error_sys(err, "create '%s'", sup->verification.layer);
	return 0;
}

int verification_trial_begin(struct supervisor *sup, struct work_view *ret_view, char **ret_failed,
			     struct error *err)
{
	const struct supervisor_verification *views = &sup->verification;
	struct making making = { .folder = views->trial, .front = views->layer };

	*ret_view = (struct work_view){ .folder = views->trial,
					.over = sup->state.options.draft,
					.front = views->layer };
	*ret_failed = NULL;
	if (make(sup, &making, err) < 0)
		return -1;
	*ret_failed = making.failed ? mem_dup(making.why.text) : NULL;
	return 0;
}

void verification_recover(const struct supervisor *sup)
{
	check_cache_drop(sup);
	if (!goes_on(sup))
		remove_all(sup);
}
