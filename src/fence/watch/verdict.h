/*
 * Decides whether the fence stands in the way of an act, from text alone: nothing here touches the
 * file system or enforces anything. Mounts, Landlock and seccomp enforce; this explains.
 */
#ifndef FENCE_WATCH_VERDICT_H
#define FENCE_WATCH_VERDICT_H

#include "fence/fence_plan.h"
#include "fence/plan/names.h"

/* An act on a path. */
enum verdict_act {
	VERDICT_READ,    /* open or execute an existing file */
	VERDICT_LOOK,    /* check for existence */
	VERDICT_CONNECT, /* to an existing unix socket */
	VERDICT_LINK,    /* create a second name for an existing file */
	VERDICT_CHANGE,  /* write to an existing file */
	VERDICT_REMOVE,  /* an existing file */
	VERDICT_WRITE,   /* to an existing or a new file */
	VERDICT_CREATE,  /* a new file */
	VERDICT_ACTS,
};

/* The way the fence presents a path. */
enum verdict_wall {
	VERDICT_OPEN,      /* the host's, writable */
	VERDICT_PRIVATE,   /* writable, but the fence's own instead of the host's */
	VERDICT_FIXED,     /* the fence's own: existing files are writable, none can be created */
	VERDICT_READ_ONLY, /* the host's, read-only */
	VERDICT_HIDDEN,    /* an inaccessible stub */
	VERDICT_OUTSIDE,   /* absent */
	VERDICT_WALLS,
};

struct verdict {
	enum verdict_wall wall;
	const struct fence_rule *by; /* the rule, or NULL if only `name` is set */
	const char *name;
	const char *path; /* the path, borrowed; or NULL */
};

/* Facts about a path besides its text. */
struct verdict_sight {
	bool inside;  /* exists in the fence */
	bool on_host; /* exists on the host */
	bool folder;  /* its parent folder exists in the fence */
	bool folder_on_host;
};

/* Returns the verdict of a finished plan on a path, which must be absolute, clean and without
 * symlinks. */
struct verdict verdict_at(const struct fence_plan *plan, const char *path);

/* Returns why a component of a path is always protected: "secret", "executed by the host", or
 * NULL. */
const char *verdict_protected(const char *path);

/* Returns the reader of a new or changed file at this path of a project, in one class, or NULL. */
const char *verdict_reader(const char *path, enum names_class class);

/* Reports whether the last name of a path is in the table of names, in any class. */
bool verdict_is_named(const char *path);

/* Reports whether a denial is harmless: Python tries to store bytecode next to every module that it
 * reads. */
bool verdict_harmless(const struct verdict *verdict, const char *path);

/* Reports whether the wall refuses the act. False if the act succeeds, or would also fail
 * outside. */
bool verdict_refuses(enum verdict_wall wall, enum verdict_act act,
		     const struct verdict_sight *sight);

/* The word for a refused act in reports. */
const char *verdict_kind(enum verdict_act act, bool there);

/* Names the rule behind a verdict for people, and its origin. The caller frees *ret_rule;
 * *ret_origin belongs to the plan. */
void verdict_name(const struct fence_plan *plan, const struct verdict *verdict, char **ret_rule,
		  const char **ret_origin);

/*
 * Strips /proc/self/root, /proc/N/root and /proc/self/cwd from the start of a path: all processes
 * in the fence share one root. *ret_from_cwd: the rest is relative to the working directory.
 */
const char *verdict_past_proc(const char *path, bool *ret_from_cwd);

/* The pid in the process's own namespace, from the text of /proc/N/status; 0 if missing. */
pid_t verdict_inner_pid(const char *status);

/* Reports whether a port has a listener, from a table such as /proc/N/net/tcp. */
bool verdict_listens(const char *table, unsigned int port);

/* The inode of the connected socket between two ports, from such a table; 0 if not found. */
uint64_t verdict_socket(const char *table, unsigned int local_port, unsigned int remote_port);

/* Splits the bytes of /proc/N/cmdline into arguments, at most 256. */
void verdict_arguments(const char *bytes, size_t size, struct list *ret_arguments);

#endif
