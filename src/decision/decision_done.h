/* When is the work done? The rules that a loop was given, and what is missing. */
#ifndef DECISION_DECISION_DONE_H
#define DECISION_DECISION_DONE_H

#include "decision/decision_reason.h"

/* Did the provider keep the agent from working? Such an iteration does not count. */
bool decision_done_kept(enum failure failure);

/* Was the agent able to work? */
bool decision_done_worked(const struct decision_input *in, enum failure failure);

/* Do all configured rules hold? Each adds its reason. */
bool decision_done_rules(const struct decision_input *in, struct decision *d);

/* Are all boxes ticked? Adds a reason either way. */
bool decision_done_boxes(const struct decision_input *in, struct decision *d);

/* Is the agent's promise all that is missing, because nobody chose the check? */
bool decision_done_unpromised(const struct decision_input *in);

/* Returns the advice to choose that check. */
struct decision_remark decision_done_choose_check(const struct decision_input *in);

/* Returns why the loop continues; done: although every rule holds. A failing check is reported on
 * its own. */
const char *decision_done_unfinished(const struct decision_input *in, bool done);

#endif
