/*
 * Mechanisms: the programs or kernel features that confine a command.
 *
 * A mechanism is one file with the operations below, and a name in FENCE_MECHANISMS. It gives
 * ringfence-init its namespaces and mounts. Everything else is shared: rules, limits, environment,
 * canaries, seccomp, Landlock, the outlet and the sweep.
 */
#ifndef FENCE_FENCE_MECHANISM_H
#define FENCE_FENCE_MECHANISM_H

#include "fence/fence_plan.h"
#include "util/buffer.h"
#include "util/error.h"

#include <sys/types.h>

struct limit_set;

/* How long a fence may take to come up: a base, and an addition for each rule. */
enum { FENCE_SETUP_MS = 5000, FENCE_SETUP_MS_PER_RULE = 10 };

struct fence_start {
	const struct fence_plan *plan;
	const struct limit_set *limiter;
	struct buffer *order; /* for init; the mechanism adds what init must find. Sent later */
	int control;          /* init's end of the control socket */
	int complaints;       /* where the mechanism's own messages go */
	int stdio[3];         /* for the command; -1: closed, or the fence's own terminal */
};

struct fence_mechanism {
	const char *name;
	/* Can it work here at all? Cheap; the canaries of the run are the proof. -1 with the remedy
	 * for this machine. */
	int (*detect)(struct error *err);
	/* Adds to a plan what only this mechanism needs, or refuses what it cannot do. */
	int (*plan)(struct fence_plan *plan, struct error *err);
	/* Starts ringfence-init in the fence and returns its process here; the child reports trouble
	 * on `complaints`. */
	int (*start)(const struct fence_start *start, pid_t *ret_pid, struct error *err);
	/* Turns the complaints into a sentence with the remedy for this machine. */
	void (*classify)(const char *complaints, int status, struct error *err);
};

/* All mechanisms. A name without all of its operations does not compile. */
#define FENCE_MECHANISMS(X) \
	X(bwrap)            \
	X(none)

enum fence_mechanism_id {
#define FENCE_ID(name) FENCE_MECHANISM_##name,
	FENCE_MECHANISMS(FENCE_ID)
#undef FENCE_ID
		FENCE_MECHANISM_COUNT
};

#define FENCE_DECLARE(name)                                                                   \
	int name##_detect(struct error *err);                                                 \
	int name##_plan(struct fence_plan *plan, struct error *err);                          \
	int name##_start(const struct fence_start *start, pid_t *ret_pid, struct error *err); \
	void name##_classify(const char *complaints, int status, struct error *err);
FENCE_MECHANISMS(FENCE_DECLARE)
#undef FENCE_DECLARE

/* The mechanism with this name, or with "auto" the best one; NULL if there is no such name. */
const struct fence_mechanism *fence_mechanism_find(const char *name);

/* For mechanisms, in the child: a session and signals of its own, the descriptors of a start where
 * init expects them, and the groups that limit it. Returns 0, or -1 with err set. */
int fence_mechanism_prepare_child(const struct fence_start *start, struct error *err);

#endif
