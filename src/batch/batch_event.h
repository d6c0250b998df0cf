/*
 * The events of a batch, and what each one makes of the task that it is about.
 *
 * A batch is a work list that is run. Each task has a loop of its own; when that is completed, the
 * result lands: it becomes a part of the tip, the loop that all later ones begin with. A result
 * that began with an older tip is merged into the present one by another loop of the task.
 */
#ifndef BATCH_BATCH_EVENT_H
#define BATCH_BATCH_EVENT_H

#include <stdbool.h>

#define BATCH_STEPS(X)                                              \
	X(waiting)  /* no loop yet */                               \
	X(running)  /* its loop is running */                       \
	X(held)     /* its loop waits for a person */               \
	X(verified) /* its loop is completed, and has not landed */ \
	X(landed)   /* its result is a part of the tip */           \
	X(failed)                                                   \
	X(lost) /* another candidate of the task has won */

enum batch_step {
#define BATCH_STEP(name) BATCH_STEP_##name,
	BATCH_STEPS(BATCH_STEP)
#undef BATCH_STEP
		BATCH_STEP_COUNT
};

#define BATCH_EVENTS(X)                                                                  \
	X(created)    /* the batch: its configuration */                                 \
	X(started)    /* the batch: a supervisor */                                      \
	X(asked)      /* the batch: a person's request to pause or abort */              \
	X(changed)    /* the batch: limits */                                            \
	X(begun)      /* a loop of the task is about to start; again, if it never did */ \
	X(granted)    /* its loop may cost less, because the limits have changed */      \
	X(conflicted) /* it merges a result that does not fit to what has landed */      \
	X(held)       /* it paused */                                                    \
	X(unheld)     /* it continues */                                                 \
	X(ended)      /* it ended */                                                     \
	X(landed)     /* it is the tip */                                                \
	X(refused)    /* the task has failed without a loop that failed */               \
	X(picked)     /* a person has chosen this candidate of a task */                 \
	X(lost)       /* another candidate of the task has won */                        \
	X(retried)    /* the task begins again */                                        \
	X(paused)     /* the batch: nothing runs, and a person has to act */             \
	X(resumed)    /* the batch */                                                    \
	X(finished)   /* the batch */

enum batch_event {
#define BATCH_EVENT(name) BATCH_EVENT_##name,
	BATCH_EVENTS(BATCH_EVENT)
#undef BATCH_EVENT
		BATCH_EVENT_COUNT
};

const char *batch_event_name(enum batch_event event);
const char *batch_event_step_name(enum batch_step step);

/* Returns the event with this name, or -1. */
int batch_event_find(const char *name);

/* Is the event about one task? */
bool batch_event_has_task(enum batch_event event);

/* Returns the step of a task after an event about it, or -1 if that is illegal. An `ended` loop
 * that was not completed has failed instead. */
int batch_event_next(enum batch_step step, enum batch_event event);

#endif
