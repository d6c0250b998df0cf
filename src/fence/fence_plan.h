/*
 * The plan: a spec after it was judged. Every path is resolved once and held by device and inode,
 * and everything that nobody may ask for is refused.
 *
 * A plan borrows its spec. Making one starts nothing; it writes only what the recovery of a killed
 * run requires.
 */
#ifndef FENCE_FENCE_PLAN_H
#define FENCE_FENCE_PLAN_H

#include "fence/fence_found.h"
#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "fence/run/wire.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct mechanism;

/* What the command may do at a path and below it. */
struct fence_rule {
	char *path; /* real path, the same inside */
	enum wire_access access;
	char *origin; /* "--hide", "ringfence.yml:12", or the name of a built-in table; for the
			 project: who made it read-only, if somebody did */
	bool asked;   /* by a person: the origin says where */
	bool exact;   /* named by a person; beats a pattern at the same path */
	bool project; /* the project's own */
	bool weak;    /* see struct fence_path */
	bool ignored; /* hidden by a pattern */
	bool is_dir;
	bool root;    /* a folder that was asked for: looked through for what is special in it */
	bool lent;    /* a folder of the user's: where root's files are mapped, this one is */
	dev_t device; /* of the file at the path; 0: the fence makes the place */
	ino_t inode;
	char *source; /* the place that is shown there instead; NULL: itself */
	dev_t source_device;
	ino_t source_inode;
};

/* A file that the host executes and that was there before the run. */
struct fence_known {
	uint64_t device;
	uint64_t inode;
};

/* A folder above a rule, as it was when the rule was found. If it changed since, the rule may
 * protect the wrong place. */
struct fence_witness {
	char *path;
	uint64_t device;
	uint64_t inode;
	struct timespec changed;
};

/* A symlink that the host executes. No mount can protect it, so the sweep restores it. */
struct fence_link {
	char *path;
	char *target;
};

struct fence_plan {
	struct fence_identity identity;
	char *project;
	char *cwd;
	char *home;  /* the private one inside; the same path as the real one if there is one */
	char *state; /* Ringfence's own folder */
	char *init;  /* ringfence-init */
	struct fence_rule *rules; /* sorted: parents first */
	size_t rule_count;
	bool whole; /* the project was named as writable */
	struct fence_known *known;
	size_t known_count;
	struct fence_witness *witnesses;
	size_t witness_count;
	struct fence_link *links;
	size_t link_count;
	struct fence_found recovered; /* left by a killed run */
	struct list exempt;           /* host-executed places that the user opened by name */
	struct list notices;          /* for the user, before the run */
	struct list environment;
	const struct fence_spec *spec;
	const struct mechanism *mechanism;
	unsigned int weaker; /* bits of enum fence_weaker: given up, and missing here */
};

/* Judges a spec. Returns 0, or -1 with err set. */
int fence_plan_make(const struct fence_spec *spec, struct fence_plan *ret_plan, struct error *err);
void fence_plan_release(struct fence_plan *plan);

/* The name of the mechanism that will run it. */
const char *fence_plan_mechanism(const struct fence_plan *plan);

/* Is every folder above a rule still as it was when the rule was found? -1 with err set if not. */
int fence_plan_holds(const struct fence_plan *plan, struct error *err);

/* The rule that decides about a path; NULL: no rule names it, and it does not exist inside. */
const struct fence_rule *fence_plan_decide(const struct fence_plan *plan, const char *path);

/* May somebody ask for this path? Returns 0, or -1 with the reason. */
int fence_plan_permits(const struct fence_plan *plan, bool writable, const char *path,
		       struct error *err);

#endif
