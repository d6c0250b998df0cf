/*
 * Mechanisms: the programs or kernel features that confine a command.
 *
 * A mechanism is one file, mechanism_NAME.c, with the five operations below, and a line in
 * MECHANISM_LIST. It gives ringfence-init its namespaces and the file tree (tree.h). Everything else
 * is shared: rules, the order for init, limits, environment, canaries, seccomp, Landlock, the outlet
 * and the sweep.
 */
#ifndef FENCE_MECHANISM_MECHANISM_H
#define FENCE_MECHANISM_MECHANISM_H

#include "fence/fence_plan.h"
#include "fence/tree/tree.h"
#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct limit_set;

/* How long a fence may take to come up: a base, and an addition for each rule. */
enum { MECHANISM_SETUP_MS = 5000, MECHANISM_SETUP_MS_PER_RULE = 10 };

struct mechanism_start {
	const struct fence_plan *plan;
	const struct limit_set *limiter;
	int control;    /* init's end of the control socket */
	int complaints; /* where the mechanism's own messages go */
	int stdio[3];   /* for the command; -1: closed, or the fence's own terminal */
	/* Set by start(), for mount(); the session releases them. */
	pid_t child;   /* becomes ringfence-init, or starts it */
	char *program; /* of the mechanism; NULL: none */
	int gate;      /* a socket to the child; -1: none */
};

struct mechanism {
	const char *name;
	/* Can it work here at all? Cheap; the canaries of the run are the proof. -1 with the remedy
	 * for this machine. */
	int (*detect)(struct error *err);
	/* Refuses a plan that it cannot realise. */
	int (*plan)(struct fence_plan *plan, struct error *err);
	/* Starts the child that will be ringfence-init (TREE_INIT) in a fence. Returns at once: while
	 * the child loads, the session decides on the file tree. */
	int (*start)(struct mechanism_start *start, struct error *err);
	/* Makes the tree the root of the fence. Not called without a fence. */
	int (*mount)(struct mechanism_start *start, const struct tree *tree, struct error *err);
	/* Turns complaints into a sentence with the remedy for this machine. */
	void (*classify)(const char *complaints, int status, struct error *err);
};

/* All mechanisms. A name without all of its operations does not compile. */
#define MECHANISM_LIST(X) \
	X(bwrap)          \
	X(none)

enum mechanism_id {
#define MECHANISM_ID(name) MECHANISM_##name,
	MECHANISM_LIST(MECHANISM_ID)
#undef MECHANISM_ID
		MECHANISM_COUNT
};

#define MECHANISM_DECLARE(name)                                                              \
	int mechanism_##name##_detect(struct error *err);                                    \
	int mechanism_##name##_plan(struct fence_plan *plan, struct error *err);             \
	int mechanism_##name##_start(struct mechanism_start *start, struct error *err);      \
	int mechanism_##name##_mount(struct mechanism_start *start, const struct tree *tree, \
				     struct error *err);                                     \
	void mechanism_##name##_classify(const char *complaints, int status, struct error *err);
MECHANISM_LIST(MECHANISM_DECLARE)
#undef MECHANISM_DECLARE

/* The mechanism with this name, or with "auto" the best one; NULL if there is no such name. */
const struct mechanism *mechanism_find(const char *name);

/* How long the fence of this plan may take to come up. */
uint64_t mechanism_setup_ms(const struct fence_plan *plan);

/*
 * What mechanisms share. Functions with err return 0, or -1 with err set.
 */

/* Refuses a program that the command may write: it would decide whether there is a fence. */
int mechanism_check_program(const struct fence_plan *plan, const char *program, struct error *err);

/* In the child: a session and signals of its own, the descriptors of a start where init expects
 * them, and the groups that limit it. */
int mechanism_prepare_child(const struct mechanism_start *start, struct error *err);

/* In a child of `parent`: dies with it, and after the time that a fence has to come up. Becoming
 * another program does not end that: mechanism_stand_alone() does. */
int mechanism_stay_with(const struct mechanism_start *start, pid_t parent, struct error *err);
void mechanism_stand_alone(void);

/* In the child: makes it the first process of a stage (stage.h). Descriptors from `first_closed` on
 * may be closed. */
int mechanism_enter_stage(const struct mechanism_start *start, unsigned int first_closed,
			  struct error *err);

/* Mounts the tree on the stage that start->child has entered, in a process of its own, and calls
 * ready() there with the path of its root. A failure becomes a complaint, and ends the child. */
typedef void mechanism_ready_fn(const struct mechanism_start *start, const char *root);
void mechanism_build(struct mechanism_start *start, const struct tree *tree,
		     mechanism_ready_fn *ready);

/* Writes a complaint of our own, and recognises one, or a child that took too long: true with err
 * set. */
void mechanism_complain(const struct mechanism_start *start, const struct error *err);
bool mechanism_complained(const char *complaints, int status, struct error *err);

#endif
