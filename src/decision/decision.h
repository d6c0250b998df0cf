/*
 * The decision: the loop's next action after an iteration, and whether an iteration may start.
 *
 * The first rule that applies decides:
 *
 *   done     every configured rule holds: checks that exited 0 and ran something, the promise, the
 *            boxes. A promise never outvotes a check. An agent that the provider kept from working
 *            and that changed nothing has not finished anything, and without a rule nothing is
 *            ever done. Nor is a loop whose user has a message that no agent has read yet.
 *   pause    the agent says that it is blocked: a person must act before it can go on. If every
 *            rule holds, these words decide nothing
 *   pause    every rule holds, but signs that the changes weaken the checks need a review; or signs
 *            that stop a loop are still there after the agent was told to take them back; or the
 *            checks still pass only with the agent's version of pinned files
 *   mutate   every rule holds, and changes to the agent's lines are still to be tried, to see which
 *            of them a check notices
 *   review   every rule holds, and the second opinion that was asked for is still missing. Without
 *            one, nothing is done: a reviewer that its provider kept from working is waited for,
 *            and one that gives no readable answer is asked once more; then a person decides. So
 *            does a person after too many rounds of blocking findings.
 *   limit    iterations, total time or total cost are used up, or a wait would exceed the time
 *   limit    an early stop: every check passes, the confidence is high, the agent did not fail, and
 *            several iterations in a row brought no progress. The rules do not hold, so this is
 *            never "done".
 *   failed   a breaker is open
 *   pause    a person is needed: a failure whose response is FAILURE_PAUSE, or a model server that
 *            is still unreachable after several waits in a row (six are half an hour)
 *   wait     a failure whose response is FAILURE_WAIT: until the time that the provider states;
 *            without one, and after other failures, 30 s, doubled up to 15 min. If the limit of a
 *            provider lasts longer than the user's patience and another agent can work, it goes on
 *            with that one instead.
 *   pause    a limit of the phase is reached, unless the next one follows then
 *   pause    the cost warning, if it is configured to pause
 *   go on
 *
 * In a loop with phases (phase.h), "done" also needs the last phase to be over. A phase that is
 * over is followed by the next one, whatever else is decided; level and breakers start afresh.
 *
 * Waits, pauses for a person (also by a blocked agent) and interruptions do not use up an
 * iteration, and breakers ignore the first two. Every reason is a sentence. A limit is reported
 * with its value and the option that changes it, and with a hint if a check passes that nobody
 * configured.
 */
#ifndef DECISION_DECISION_H
#define DECISION_DECISION_H

#include "decision/decision_input.h"
#include "decision/decision_wait.h"

/* Decides after an iteration. */
void decision_make(const struct decision_input *input, struct decision *ret_decision);

/* Decides before an iteration: go on, limit, failed or pause. */
void decision_before(const struct decision_input *input, struct decision *ret_decision);

/* "done", "go on" and so on, as stored in the journal. */
const char *decision_action_name(enum decision_action action);

#endif
