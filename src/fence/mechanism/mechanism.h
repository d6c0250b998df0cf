/*
 * Mechanisms: the programs or kernel features that confine a command.
 *
 * A mechanism is a file mechanism_NAME.c with the operations below, and a name in
 * fence_mechanisms.h. It starts ringfence-init in new namespaces with the file tree (tree.h).
 * Everything else is shared: rules, the order for init, limits, environment, canaries, seccomp,
 * Landlock, the outlet and the sweep.
 */
#ifndef FENCE_MECHANISM_MECHANISM_H
#define FENCE_MECHANISM_MECHANISM_H

#include "fence/fence_mechanisms.h"
#include "fence/fence_plan.h"
#include "fence/tree/tree.h"
#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct container;
struct limit_set;

/* The time limit for setting up a fence: a base, and more for each rule. */
enum { MECHANISM_SETUP_MS = 5000, MECHANISM_SETUP_MS_PER_RULE = 10 };

struct mechanism_start {
	const struct fence_plan *plan;
	const struct limit_set *limiter;
	int control;    /* init's end of the control socket */
	int complaints; /* receives the mechanism's error messages */
	int stdio[3];   /* for the command; -1 if closed, or for the fence's own terminal */
	/* Set by start() for mount(); the session releases them. */
	pid_t child;   /* becomes or starts ringfence-init */
	char *program; /* the mechanism's program, or NULL */
	int gate;      /* a socket to the child, or -1 */
	/* Of a container engine (container.h); end() releases it. */
	struct container *container;
	/* ringfence-init, if it is not below the child: mount() sets it; or 0. */
	pid_t init;
};

struct mechanism {
	const char *name;
	/* Checks cheaply whether the mechanism can work here; the run's canaries are the proof.
	 * Returns 0, or -1 with the remedy for this machine in err. */
	int (*detect)(struct error *err);
	/* Refuses a plan that it cannot realize. */
	int (*plan)(struct fence_plan *plan, struct error *err);
	/* Starts the child that will become ringfence-init (TREE_INIT). Does not wait for it: the
	 * session makes the file tree while the child loads. */
	int (*start)(struct mechanism_start *start, struct error *err);
	/* Makes the tree the root of the fence, with the folders of an image. Not called for "none"
	 * and for mechanisms without a tree (mechanism_shares_host()). */
	int (*mount)(struct mechanism_start *start, struct tree *tree, struct error *err);
	/* Sets err from the child's messages and wait status, with the remedy for this machine. */
	void (*classify)(const char *complaints, int status, struct error *err);
	/* Removes what the mechanism has made for a run, when its lifeline is closed, and makes the
	 * child end if it has not. status: the child's, or NULL if nobody has waited for it. */
	void (*end)(struct mechanism_start *start, const int *status);
};

/* All mechanisms; "none" is not a choice but an option of its own. A missing operation does not
 * link. */
#define MECHANISM_LIST(X)   \
	FENCE_MECHANISMS(X) \
	X(none)

enum mechanism_id {
#define MECHANISM_ID(name) MECHANISM_##name,
	MECHANISM_LIST(MECHANISM_ID)
#undef MECHANISM_ID
		MECHANISM_COUNT
};

#define MECHANISM_DECLARE(name)                                                                  \
	int mechanism_##name##_detect(struct error *err);                                        \
	int mechanism_##name##_plan(struct fence_plan *plan, struct error *err);                 \
	int mechanism_##name##_start(struct mechanism_start *start, struct error *err);          \
	int mechanism_##name##_mount(struct mechanism_start *start, struct tree *tree,           \
				     struct error *err);                                         \
	void mechanism_##name##_classify(const char *complaints, int status, struct error *err); \
	void mechanism_##name##_end(struct mechanism_start *start, const int *status);
MECHANISM_LIST(MECHANISM_DECLARE)
#undef MECHANISM_DECLARE

/* Returns the mechanism with this name, or NULL. */
const struct mechanism *mechanism_find(const char *name);

/*
 * Returns the mechanism for "auto": the first of bwrap, podman and docker that is installed or, for
 * an image, of podman and docker. Never a weaker one. *ret_why is the reason if it is not the first
 * of them, or NULL; the caller frees it.
 */
const struct mechanism *mechanism_choose(bool image, char **ret_why);

/* Reports whether commands share the host's namespaces, so that the fence has no file tree of its
 * own: Landlock has the rules of the plan (tree/grant.h), and mount() is not called. */
bool mechanism_shares_host(const struct mechanism *mechanism);

/* Returns the time limit for setting up the fence of this plan. */
uint64_t mechanism_setup_ms(const struct fence_plan *plan);

/*
 * Helpers for mechanisms. Functions with err return 0, or -1 with err set.
 */

/* Refuses a program that the command may write, because it could disable the fence of a later
 * run. */
int mechanism_check_program(const struct fence_plan *plan, const char *program, struct error *err);

/* Refuses an image, for mechanisms that show the system folders of the host. */
int mechanism_refuse_image(const struct fence_plan *plan, struct error *err);

/* In the child: creates a session, resets signals, places the descriptors where init expects them
 * and enters the cgroups. */
int mechanism_prepare_child(const struct mechanism_start *start, struct error *err);

/* In a child of `parent`: makes the kernel kill it when the parent dies or setup times out. This
 * survives execve(); mechanism_stand_alone() undoes it. */
int mechanism_stay_with(const struct mechanism_start *start, pid_t parent, struct error *err);
void mechanism_stand_alone(void);

/* In the child: enters a new stage (stage.h). May close the descriptors from `first_closed` on. */
int mechanism_enter_stage(const struct mechanism_start *start, unsigned int first_closed,
			  struct error *err);

/* Mounts the tree on the stage that start->child entered, in a separate process, and calls ready()
 * there with the path of the root. On failure, writes a complaint and kills the child. */
typedef void mechanism_ready_fn(const struct mechanism_start *start, const char *root);
void mechanism_build(struct mechanism_start *start, const struct tree *tree,
		     mechanism_ready_fn *ready);

/* mechanism_complain() writes an error of ringfence's own to the complaints. mechanism_complained()
 * returns true with err set if there is one, or if the child timed out. */
void mechanism_complain(const struct mechanism_start *start, const struct error *err);
bool mechanism_complained(const char *complaints, int status, struct error *err);

#endif
