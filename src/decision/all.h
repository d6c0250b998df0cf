/*
 * The rules of the loop: when it continues, waits or stops, and why.
 *
 * Pure functions. Nothing here reads a file, a clock, the environment or a global: time, zones and
 * all facts are arguments, and whatever must survive an iteration is a plain struct. Every decision
 * can therefore be tested, replayed from a journal, and explained.
 */
#ifndef DECISION_ALL_H
#define DECISION_ALL_H

#include "decision/blocked.h"
#include "decision/boxes.h"
#include "decision/breaker.h"
#include "decision/check_output.h"
#include "decision/check_summary.h"
#include "decision/confidence.h"
#include "decision/decision.h"
#include "decision/excerpt.h"
#include "decision/failed_tests.h"
#include "decision/phase.h"
#include "decision/progress.h"
#include "decision/promise.h"
#include "decision/reset.h"
#include "decision/review.h"
#include "decision/told.h"
#include "failure/failure.h"

#endif
