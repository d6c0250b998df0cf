/* Dependencies, lockfiles, recorded results, and scripts that run at installation. */
#ifndef DETECT_DETECT_PACKAGES_H
#define DETECT_DETECT_PACKAGES_H

#include "detect/detect_pair.h"

void detect_packages_compare(struct detect_pairs *pairs);

#endif
