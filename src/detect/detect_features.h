/* Public names, routes and command-line options that are gone, tests that replace what they test,
 * and results that depend on the input's value. */
#ifndef DETECT_DETECT_FEATURES_H
#define DETECT_DETECT_FEATURES_H

#include "detect/detect_pair.h"

void detect_features_compare(struct detect_pairs *pairs);

#endif
