/*
 * A loop is its configuration, fixed when it starts, and a state that is the sum of its events. The
 * supervisor writes an event before acting on it; a later process (after a crash, or a reader)
 * folds the journal and reaches the same state.
 *
 * One table lists which event may follow in which step; anything else is a damaged journal.
 */
#ifndef LOOP_STATE_LOOP_EVENT_H
#define LOOP_STATE_LOOP_EVENT_H

#include <stdbool.h>

/* The steps of a loop. */
#define LOOP_STEPS(X)                                                               \
	X(new)      /* nothing is written yet */                                    \
	X(baseline) /* the checks run for the first time */                         \
	X(ready)    /* the next iteration may start */                              \
	X(agent)    /* the agent is running */                                      \
	X(checks)   /* the agent has ended; the checks run */                       \
	X(mutants)  /* every rule holds; the checks run with changes to the code */ \
	X(review)   /* every rule holds; the reviewer is running */                 \
	X(waiting)  /* until a stated time */                                       \
	X(paused)                                                                   \
	X(closing) /* the loop is over; leftovers are committed in its work tree */ \
	X(finished)

/* The events. The name is the event's kind in the journal. */
#define LOOP_EVENTS(X)                                                                \
	X(created)     /* with the whole configuration */                             \
	X(started)     /* by a supervisor */                                          \
	X(checked)     /* one check has run */                                        \
	X(held_out)    /* one final check has run, which the agent never sees */      \
	X(probed)      /* one command that ends a phase has run */                    \
	X(proved)      /* whether a check fails when the code is broken */            \
	X(baselined)   /* all checks have run before the first iteration */           \
	X(begun)       /* an iteration; the agent starts after this */                \
	X(ended)       /* the agent of this iteration */                              \
	X(rechecks)    /* an iteration without an agent: only its end is missing */   \
	X(mutating)    /* decided: mutants are tried after this */                    \
	X(mutant)      /* one was tried */                                            \
	X(mutated)     /* all were, or as many as possible */                         \
	X(reviewing)   /* decided: the reviewer starts after this */                  \
	X(reviewed)    /* its findings, or why there are none */                      \
	X(interrupted) /* an iteration was cut off and does not count */              \
	X(continued)   /* decided: next iteration */                                  \
	X(waits)       /* decided: next iteration after a wait */                     \
	X(waited)                                                                     \
	X(paused)                                                                     \
	X(resumed)                                                                    \
	X(asked)        /* the user requested a pause, an abort or a reset */         \
	X(told)         /* the user has a message for the agent */                    \
	X(changed)      /* limits, or the clock jumped */                             \
	X(alerted)      /* a rule of alert/alert.h holds */                           \
	X(checkpointed) /* or the reason why not */                                   \
	X(examined)     /* signs that the changes weaken the checks */                \
	X(retried)      /* a process that works for the supervisor died */            \
	X(restoring)    /* the user is about to restore the project or a part */      \
	X(restored)     /* the restore is done */                                     \
	X(git)          /* how git works in the fence, and why */                     \
	X(imported)     /* the agent's commits, or why not */                         \
	X(closing)      /* the loop is over, or again; with the data of `finished` */ \
	X(finished)

enum loop_step {
#define LOOP_STEP(name) LOOP_STEP_##name,
	LOOP_STEPS(LOOP_STEP)
#undef LOOP_STEP
		LOOP_STEP_COUNT
};

enum loop_event {
#define LOOP_EVENT(name) LOOP_EVENT_##name,
	LOOP_EVENTS(LOOP_EVENT)
#undef LOOP_EVENT
		LOOP_EVENT_COUNT
};

const char *loop_event_step_name(enum loop_step step);
const char *loop_event_name(enum loop_event event);

/* Returns the event with this name, or -1. */
int loop_event_find(const char *name);

/*
 * May this event wait for the next one to reach the disk? After a power failure, its facts are
 * determined again.
 */
bool loop_event_can_wait(enum loop_event event);

/* Returns the step after an event, or -1 if the event is not legal in this step. */
int loop_event_next(enum loop_step step, enum loop_event event);

#endif
