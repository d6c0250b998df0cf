/* Compares the tests before a change with those after it. */
#ifndef DETECT_DETECT_COMPARE_H
#define DETECT_DETECT_COMPARE_H

#include "detect/detect_pair.h"

void detect_compare_tests(struct detect_pairs *pairs);

#endif
