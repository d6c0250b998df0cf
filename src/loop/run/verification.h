/*
 * The views in which the checks of a round run: the project as the agent left it, with an upper
 * layer that is thrown away. A round is the baseline, or the checks after an iteration; its checks
 * see what those before them wrote, so that one may build what the next one tests.
 *
 *	LOOP/view/pins/		pinned files as they were before the loop (project/pins.h)
 *	LOOP/view/pinned/	a draft (draft/draft.h) over these and the agent's work; decides
 *	LOOP/view/own/		a draft over the agent's work alone, if it changed a pinned file
 *	LOOP/view/layer/	files that are broken on purpose, in a trial
 *	LOOP/view/trial/	a draft over these and the agent's work
 *
 * The folder is removed after the round. After a crash, the next supervisor removes it, except in
 * the baseline, which goes on after its last check.
 */
#ifndef LOOP_RUN_VERIFICATION_H
#define LOOP_RUN_VERIFICATION_H

#include "loop/run/work.h"

/* Prepares a round, before the agent's work is examined. Returns 0, or -1 with err set. */
int verification_open(struct supervisor *sup, struct error *err);

/* Returns the folder for pinned files, or NULL if the checks of the round have no view. */
const char *verification_pins(const struct supervisor *sup);

/* Makes the views, again if the process that mounts one dies (retry.h). Where the loop works in
 * place and no view is possible, the checks run there, and verification.why is set. Returns 0, or
 * why it failed in *ret_failed, which the caller frees; or -1 with err set. */
int verification_begin(struct supervisor *sup, char **ret_failed, struct error *err);

/* Returns the view that decides, or the one with the agent's version of pinned files, as *view; or
 * NULL: where the agent works, or nowhere else. */
const struct work_view *verification_pinned(const struct supervisor *sup, struct work_view *view);
const struct work_view *verification_own(const struct supervisor *sup, struct work_view *view);

/* Takes back what the checks so far have changed in pinned files, so that the code under test
 * cannot decide about the next check. Not in a baseline of the user's own files. Returns 0, or why
 * it failed in *ret_failed, which the caller frees; or -1 with err set. */
int verification_settle(struct supervisor *sup, char **ret_failed, struct error *err);

/* Ends the round, and removes its views. */
void verification_end(struct supervisor *sup);

/*
 * A trial: do the checks notice that code is broken? The first function makes an empty folder,
 * verification.layer, for the broken files, and the second one a view that has them. Without it,
 * there is no trial: nothing is broken where the agent works. Both return 0, or -1 with err set. If
 * no view is possible, the second one returns 0 with the reason in *ret_failed, which the caller
 * frees.
 */
int verification_trial_open(struct supervisor *sup, struct error *err);
int verification_trial_begin(struct supervisor *sup, struct work_view *ret_view, char **ret_failed,
			     struct error *err);

/* Ends a trial, if there is one, and removes its view. */
void verification_trial_end(struct supervisor *sup);

/* Removes what an earlier supervisor left behind. */
void verification_recover(const struct supervisor *sup);

#endif
