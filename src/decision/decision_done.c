/* Is the work done: see decision_done.h. */
#include "decision/decision_done.h"

#include <inttypes.h>
#include <stdio.h>

/* Do all checks hold? Adds a reason either way. */
static bool checks_hold(const struct decision_input *in, struct decision *d)
{
	const struct failure_facts *f = &in->facts;
	uint32_t held = failure_checks_held(f);

	if (f->checks > 0 && held == f->checks) {
		decision_reason_add(d, "%" PRIu32 " of %" PRIu32 " checks passed", held, f->checks);
		return true;
	}
	if (f->checks == 0)
		decision_reason_add(d, "no check ran");
	else
		decision_reason_add(d, "%" PRIu32 " of %" PRIu32 " checks passed", held, f->checks);
	if (f->checks_vacuous > 0)
		decision_reason_add(d,
				    "%" PRIu32
				    " exited 0 but ran no test, or too few, which is not a pass",
				    f->checks_vacuous);
	return false;
}

bool decision_done_boxes(const struct decision_input *in, struct decision *d)
{
	if (in->boxes.open == 0 && in->boxes.ticked > 0) {
		decision_reason_add(d, "all %" PRIu32 " boxes are ticked", in->boxes.ticked);
		return true;
	}
	if (in->boxes.open == 0)
		decision_reason_add(d, "the task list has no boxes");
	else
		decision_reason_add(d, "%" PRIu32 " %s open, %" PRIu32 " ticked", in->boxes.open,
				    in->boxes.open == 1 ? "box is" : "boxes are", in->boxes.ticked);
	return false;
}

static bool promise_holds(const struct decision_input *in, struct decision *d)
{
	decision_reason_add(d,
			    in->promised ? "the promise was given" : "the promise was not given");
	return in->promised;
}

bool decision_done_rules(const struct decision_input *in, struct decision *d)
{
	bool failing = failure_checks_held(&in->facts) < in->facts.checks;
	bool hold = in->rules.checks || in->rules.boxes || in->rules.promise;

	if (in->rules.checks || failing)
		hold &= checks_hold(in, d);
	if (in->rules.boxes)
		hold &= decision_done_boxes(in, d);
	if (in->rules.promise)
		hold &= promise_holds(in, d);
	if (in->promised && failing)
		decision_reason_add(
			d, "the promise was given, but it does not count while a check fails");
	return hold;
}

bool decision_done_kept(enum failure failure)
{
	return failure_row(failure)->response == FAILURE_WAIT ||
	       failure_row(failure)->response == FAILURE_PAUSE;
}

bool decision_done_worked(const struct decision_input *in, enum failure failure)
{
	return in->facts.files_changed > 0 || !decision_done_kept(failure);
}

bool decision_done_unpromised(const struct decision_input *in)
{
	return in->found && !in->promised && !in->facts.interrupted && in->facts.checks > 0 &&
	       failure_checks_held(&in->facts) == in->facts.checks;
}

struct decision_remark decision_done_choose_check(const struct decision_input *in)
{
	struct decision_remark r;

	snprintf(
		r.text, sizeof r.text,
		"the check '%.100s' passes, but nobody chose it and the agent did not say that it is done; "
		"to stop as soon as it passes: ringfence run --check '%.100s'",
		in->found, in->found);
	return r;
}

const char *decision_done_unfinished(const struct decision_input *in, bool done)
{
	const struct failure_facts *f = &in->facts;

	if (done && in->unread)
		return "every rule holds, but the agent has not read yet what you told it";
	if (in->phase.next)
		return "the phase is not over yet";
	if (in->final_failed)
		return "everything else holds, but a final check fails";
	if (in->review.blocking)
		return "every rule holds, but the reviewer has blocking findings";
	if (in->findings_stop)
		return "the changes weaken the checks (see: ringfence diff --findings)";
	if (f->interrupted || failure_checks_held(f) < f->checks || !in->rules.promise ||
	    in->promised)
		return in->phase.name && !in->phase.held ? "the last phase is not over yet"
							 : "not done yet";
	return f->checks > 0 ? "the checks pass, but the agent did not end with the promise"
			     : "the agent did not end with the promise";
}
