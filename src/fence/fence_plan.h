/*
 * The plan: a validated spec. Every path is resolved once and identified by device and inode;
 * forbidden requests are refused.
 *
 * A plan borrows its spec. Making a plan starts nothing, and writes nothing except to recover from
 * a killed run.
 */
#ifndef FENCE_FENCE_PLAN_H
#define FENCE_FENCE_PLAN_H

#include "fence/fence_found.h"
#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "fence/run/wire.h"
#include "util/error.h"
#include "util/list.h"
#include "util/text/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct mechanism;

/* The command's access to a path and everything below it. */
struct fence_rule {
	char *path; /* real path, the same inside */
	enum wire_access access;
	char *origin; /* "--hide", "ringfence.yml:12", or the name of a built-in table; for the
			 project: the setting that made it read-only, if any */
	bool asked;   /* requested by the user; origin names the option or line */
	bool exact;   /* names this very path; beats a pattern at the same path */
	bool project; /* the rule of the project itself */
	bool weak;    /* see struct fence_path */
	bool ignored; /* hidden by a pattern */
	bool is_dir;
	bool root;    /* a requested folder, to be scanned for entries that need protection */
	bool lent;    /* a writable folder of the user's; idmapped if the identity is mapped */
	bool draft;   /* a writable folder of a draft */
	dev_t device; /* of the file at the path; 0 if the fence creates the mount point */
	ino_t inode;
	char *source; /* the path that is mounted here, or NULL for the path itself */
	dev_t source_device;
	ino_t source_inode;
};

/* Identifies an entry on disk. A number alone can be given to another entry later. */
struct fence_inode {
	uint64_t device;
	uint64_t inode;
	int64_t birth_s; /* 0 if the file system has no birth times */
	uint64_t birth_ns;
};

/* An entry that existed before the run and that the command cannot change; see known.h. */
struct fence_known {
	char *path;
	struct fence_inode inode;
	char content[SHA256_HEX]; /* the hash of a file that is known by its content, or "" */
	bool hidden;              /* a folder that the command cannot even see */
};

/* A file that a tool obeys when it starts, as it was before the run. */
struct fence_seen {
	uint64_t device;
	uint64_t inode;
	int64_t changed_s; /* ctime, which no program can set */
	int64_t changed_ns;
	char place[16]; /* the start of a hash of its path, and of a symlink's target */
};

/* A folder above a rule, as seen when the rule was made. If it has changed since, the rule may
 * protect the wrong path. */
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
	char *home;  /* the private home inside, at the path of the real one if there is one */
	char *tmp;   /* the private folder for temporary files inside */
	char *own;   /* of a command that shares the host's file tree: the folder of the run that
			has its home and tmp (run/run_home.h); or NULL */
	char *state; /* Ringfence's state folder */
	char *init;  /* ringfence-init */
	struct fence_rule *rules; /* sorted: parents first */
	size_t rule_count;
	bool whole; /* the user named the project itself as writable */
	struct fence_known *known;
	size_t known_count;
	struct fence_seen *seen;
	size_t seen_count;
	struct fence_inode *secrets; /* entries that exist and would be hidden */
	size_t secret_count;
	struct fence_inode *others; /* entries that another live run may have made */
	size_t other_count;
	struct fence_witness *witnesses;
	size_t witness_count;
	struct fence_link *links;
	size_t link_count;
	struct fence_found recovered; /* left by a killed run */
	struct list ended;            /* records of runs that had been swept before the scan */
	struct list exempt;           /* host-executed paths that the user made writable by name */
	struct list notices;          /* to print before the run */
	struct list environment;
	const struct fence_spec *spec;
	const struct mechanism *mechanism;
	bool outside;        /* a container engine, outside the view of a draft, starts init */
	unsigned int weaker; /* bits of enum fence_weaker: missing here, and accepted as such */
};

/* Validates a spec. Returns 0, or -1 with err set. */
int fence_plan_make(const struct fence_spec *spec, struct fence_plan *ret_plan, struct error *err);

/* The same in two steps, for callers that have something to do beside the scans: check the request,
 * then scan. Both return 0, or -1 with err set. If the second one fails, the caller releases the
 * plan. */
int fence_plan_begin(const struct fence_spec *spec, struct fence_plan *ret_plan, struct error *err);
int fence_plan_scan(struct fence_plan *plan, struct error *err);

void fence_plan_release(struct fence_plan *plan);

/* Returns the name of the mechanism that will run the plan. */
const char *fence_plan_mechanism(const struct fence_plan *plan);

/* Returns whether the mechanism's program runs outside the view of a draft. The spec then needs a
 * launcher in one. */
bool fence_plan_outside(const struct fence_plan *plan);

/* Checks that no folder above a rule has changed since the rule was made. Returns 0, or -1 with err
 * set. */
int fence_plan_holds(const struct fence_plan *plan, struct error *err);

/* Returns the rule that governs a path, or NULL if none does. */
const struct fence_rule *fence_plan_decide(const struct fence_plan *plan, const char *path);

/* Checks whether the user may make this path writable or readable. Returns 0, or -1 with the reason
 * in err. */
int fence_plan_permits(const struct fence_plan *plan, bool writable, const char *path,
		       struct error *err);

#endif
