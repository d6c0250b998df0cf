/*
 * What the loop knows for sure: when to go on, to wait and to stop, and why.
 *
 * Pure functions. Nothing here reads a file, a clock, the environment or a global; time, zones and
 * all facts are passed in, and what must be kept between iterations is in plain structs. So every
 * decision can be tested, replayed from a journal, and explained.
 */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include "guard/boxes.h"
#include "guard/breaker.h"
#include "guard/check.h"
#include "guard/confidence.h"
#include "guard/decide.h"
#include "guard/excerpt.h"
#include "guard/failure.h"
#include "guard/progress.h"
#include "guard/promise.h"
#include "guard/reset.h"

#endif
