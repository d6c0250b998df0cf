/* Signs that a single added line shows, or a line whose number changed. */
#ifndef DETECT_DETECT_RULES_H
#define DETECT_DETECT_RULES_H

#include "detect/detect_pair.h"

void detect_rules_apply(struct detect_pairs *pairs);

#endif
