/*
 * What a loop is: its configuration, frozen when it begins, and a state that is nothing but the sum of
 * its events. The supervisor writes an event and only then acts on it; whoever comes later (after a crash,
 * or from another process) folds the journal and stands where it stood.
 *
 * Which event may follow in which phase is one table; everything else is a damaged journal.
 */
#ifndef LOOP_STATE_LOOP_EVENT_H
#define LOOP_STATE_LOOP_EVENT_H

#include "decision/all.h"
#include "journal/journal.h"
#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the loop is in the midst of. */
#define LOOP_PHASES(X)                                                            \
	X(new)      /* nothing is written yet */                                  \
	X(baseline) /* the checks are run for the first time */                   \
	X(ready)    /* the next iteration may begin */                            \
	X(agent)    /* the agent works */                                         \
	X(checks)   /* it has ended; what did it achieve? */                      \
	X(waiting)  /* until a stated time */                                     \
	X(paused)                                                                 \
	X(closing) /* it is over; leftovers are committed in its own work tree */ \
	X(finished)

/* What can happen. The name is the event's kind in the journal. */
#define LOOP_EVENTS(X)                                                                 \
	X(created)     /* with the whole configuration */                              \
	X(started)     /* a supervisor is there */                                     \
	X(checked)     /* one check has run */                                         \
	X(baselined)   /* all have, before the first iteration */                      \
	X(begun)       /* an iteration: the agent is started after this */             \
	X(ended)       /* the agent's part of it */                                    \
	X(interrupted) /* an iteration was cut off; it does not count */               \
	X(continued)   /* decided: go on */                                            \
	X(waits)       /* decided: go on, but later */                                 \
	X(waited)                                                                      \
	X(paused)                                                                      \
	X(resumed)                                                                     \
	X(asked)        /* by a person: pause or abort when it suits */                \
	X(changed)      /* limits; or the clock, by a jump */                          \
	X(checkpointed) /* or why not */                                               \
	X(restoring)    /* by a person: the project, or a part of it, goes back now */ \
	X(restored)     /* it has */                                                   \
	X(git)          /* what it is inside, and why */                               \
	X(imported)     /* what the agent committed, or why not */                     \
	X(closing)      /* decided: it is over; with all that `finished` will say */   \
	X(finished)

enum loop_phase {
#define LOOP_PHASE(name) LOOP_PHASE_##name,
	LOOP_PHASES(LOOP_PHASE)
#undef LOOP_PHASE
		LOOP_PHASE_COUNT
};

enum loop_event {
#define LOOP_EVENT(name) LOOP_EVENT_##name,
	LOOP_EVENTS(LOOP_EVENT)
#undef LOOP_EVENT
		LOOP_EVENT_COUNT
};

const char *loop_event_phase_name(enum loop_phase phase);
const char *loop_event_name(enum loop_event event);

/* The event with this name, or -1. */
int loop_event_find(const char *name);

/* May it wait for the next one to be on the disk? After a power cut what it records is found out again. */
bool loop_event_can_wait(enum loop_event event);

/* Where an event leads, or -1: it cannot happen there. */
int loop_event_next(enum loop_phase phase, enum loop_event event);

#endif
