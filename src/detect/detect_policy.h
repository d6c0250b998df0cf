/* The action for each kind of finding: the defaults, and the user's changes to them. */
#ifndef DETECT_DETECT_POLICY_H
#define DETECT_DETECT_POLICY_H

#include "detect/detect_finding.h"

#include <stdbool.h>

struct detect_policy {
	enum detect_action actions[DETECT_KIND_COUNT];
};

void detect_policy_init(struct detect_policy *policy);

/* Applies a change such as "test-skipped=note" or "all=off". Returns false if it is malformed. */
bool detect_policy_change(struct detect_policy *policy, const char *change);

#endif
