/*
 * Signs that a change weakens the checks instead of improving the work: tests that are deleted,
 * skipped or emptied, failures that are ignored, thresholds that are lowered, and the like.
 *
 * Pure: two versions of each changed file go in, findings come out. It looks at all files of a
 * change together, so that a test that moved or was renamed is not taken for a deleted one. The
 * texts are untrusted.
 */
#ifndef DETECT_DETECT_H
#define DETECT_DETECT_H

#include "detect/detect_finding.h"

/* Finds signs in a change. The caller releases the findings. */
void detect_run(const struct detect_change *changes, size_t count,
		struct detect_findings *ret_findings);

#endif
