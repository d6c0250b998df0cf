/* Pauses for a person: see decision_pause.h. */
#include "decision/decision_pause.h"

#include "decision/decision_done.h"
#include "decision/decision_limit.h"
#include "decision/decision_wait.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <string.h>

bool decision_pause_blocked(const struct decision_input *in, struct decision *d)
{
	int size;

	if (!d->blocked || !in->blocked)
		return false;
	size = (int)text_first(in->blocked, strlen(in->blocked), DECISION_BLOCKED_BYTES);
	d->action = DECISION_PAUSE;
	d->findings_told = in->findings_told;
	d->pins_told = in->pins_told;
	decision_reason_add(d, "blocked: \"%.*s%s\" (to answer: ringfence answer TEXT)", size,
			    in->blocked, in->blocked[size] ? " [...]" : "");
	return true;
}

bool decision_pause_failure(const struct decision_input *in, struct decision *d)
{
	const struct failure_row *row = failure_row(d->failure);

	if (d->failure == FAILURE_REFUSED && in->unreached)
		decision_reason_add(d, "%s: %s. To continue: ringfence resume", row->what,
				    in->unreached);
	else if (d->failure == FAILURE_MODEL_NOT_FOUND && in->unreached)
		decision_reason_add(
			d,
			"the provider does not know the model '%.120s': %s, then ringfence resume",
			in->unreached, row->remedy);
	else if (row->response == FAILURE_PAUSE)
		decision_reason_add(d, "%s: %s, then ringfence resume", row->what, row->remedy);
	else if (d->failure == FAILURE_UNREACHABLE && in->limits.unreachable &&
		 in->waits >= in->limits.unreachable)
		decision_reason_add(d,
				    "%s, after %" PRIu32
				    " waits (--max-unreachable); %s Then run ringfence "
				    "resume",
				    decision_wait_cause(in, d->failure).text, in->waits,
				    row->remedy);
	else
		return false;
	d->action = DECISION_PAUSE;
	return true;
}

bool decision_pause_findings(const struct decision_input *in, struct decision *d, bool done)
{
	uint32_t count = in->findings_stop + (done ? in->findings_review : 0);

	d->findings_told = in->findings_stop > 0;
	if (!count || (!in->findings_told && !(done && in->findings_review)))
		return false;
	d->action = DECISION_PAUSE;
	d->only_findings = done;
	if (in->untested >= count)
		decision_reason_add(
			d,
			"every rule holds, but there %s %" PRIu32 " change%s to the agent's lines "
			"that no check notices (see: ringfence history); to accept: ringfence resume "
			"--accept-findings",
			count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
	else
		decision_reason_add(
			d,
			"%s%s %" PRIu32
			" sign%s that the changes weaken the checks (see: ringfence diff "
			"--findings); to accept: ringfence resume --accept-findings",
			done ? "every rule holds, but there "
			     : "the agent was told, but there still ",
			count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
	return true;
}

/* Only the opinion is missing. The iteration is not over, and is judged again with the next one. */
static void wait_for_opinion(const struct decision_input *in, struct decision *d)
{
	struct decision_input asked = *in;

	d->iterations = in->iterations;
	d->counts_as_iteration = false;
	d->level = in->agents.level;
	d->stalled = in->agents.stalled;
	memcpy(d->breakers, in->breakers, sizeof d->breakers);
	d->recheck = true;
	d->failure = in->review.failure;
	asked.agents.count = asked.agents.rungs = 0; /* nobody takes over a review */
	asked.facts.reset_at = in->review.reset_at;
	asked.unreached = in->review.unreached;
	if (decision_pause_failure(&asked, d) || decision_wait_begin(&asked, d))
		return;
	d->action = DECISION_PAUSE;
	decision_reason_add(
		d,
		"every rule holds, but the reviewer gave no opinion: %s (see: ringfence logs "
		"--review); to ask again: ringfence resume",
		in->review.why ? in->review.why : "it was cut off again and again");
}

bool decision_pause_opinion(const struct decision_input *in, struct decision *d)
{
	const struct decision_review *r = &in->review;

	if (!r->wanted || r->given)
		return false;
	if ((r->unanswered && (decision_done_kept(r->failure) || r->failure == FAILURE_BUDGET)) ||
	    r->unanswered >= DECISION_REVIEW_ANSWERS || r->runs >= DECISION_REVIEW_RUNS) {
		wait_for_opinion(in, d);
	} else if (!decision_limit_used_up(in, d)) {
		d->action = DECISION_REVIEW;
		decision_reason_add(d, "every rule holds; asking for a second opinion");
	}
	return true;
}

bool decision_pause_review(const struct decision_input *in, struct decision *d)
{
	const struct decision_review *r = &in->review;

	if (!d->review_rounds || !r->most_rounds || d->review_rounds < r->most_rounds)
		return false;
	d->action = DECISION_PAUSE;
	decision_reason_add(
		d,
		"every rule holds, but the reviewer still has blocking findings in round %" PRIu32
		" of %" PRIu32 " (see: ringfence history); to let the agent try again: ringfence "
		"resume (change the limit with --review-rounds)",
		d->review_rounds, r->most_rounds);
	return true;
}

bool decision_pause_pins(const struct decision_input *in, struct decision *d)
{
	d->pins_told = in->checks_own > 0 &&
		       failure_checks_held(&in->facts) + in->checks_own == in->facts.checks;
	if (!d->pins_told || !in->pins_told)
		return false;
	d->action = DECISION_PAUSE;
	decision_reason_add(
		d,
		"the checks pass only with the agent's version of pinned files (see: ringfence diff); "
		"to check with it: ringfence resume --unpin PATH");
	return true;
}

bool decision_pause_final(const struct decision_input *in, struct decision *d)
{
	if (!in->final_failed || !in->final_tries || d->final_failures < in->final_tries)
		return false;
	d->action = DECISION_PAUSE;
	decision_reason_add(
		d,
		"everything else holds, but final checks have failed %" PRIu32
		" time%s (see: ringfence logs --checks); to allow more failures in all: ringfence "
		"resume --final-tries NUMBER",
		d->final_failures, d->final_failures == 1 ? "" : "s");
	return true;
}
