/*
 * Does the fence stand in the way? Decided by text alone: nothing here touches the file system, and
 * nothing here keeps anybody from anything. Mounts, Landlock and seccomp do that; this explains it.
 */
#ifndef FENCE_WATCH_VERDICT_H
#define FENCE_WATCH_VERDICT_H

#include "fence/fence_plan.h"

/* What somebody wants to do to a path. */
enum verdict_act {
	VERDICT_READ,    /* open or execute what is there */
	VERDICT_LOOK,    /* ask whether it is there */
	VERDICT_CONNECT, /* to a unix socket that is there */
	VERDICT_LINK,    /* give a second name to what is there */
	VERDICT_CHANGE,  /* write to what is there */
	VERDICT_REMOVE,  /* what is there */
	VERDICT_WRITE,   /* to what is there, or to a new file */
	VERDICT_CREATE,  /* what is not there */
	VERDICT_ACTS,
};

/* What the fence has made of a place. */
enum verdict_wall {
	VERDICT_OPEN,      /* the host's own, writable */
	VERDICT_PRIVATE,   /* writable, but the fence's own: the host's is not there */
	VERDICT_FIXED,     /* the fence's own: what is there may be written, nothing else be made */
	VERDICT_READ_ONLY, /* the host's own */
	VERDICT_HIDDEN,    /* a closed stub */
	VERDICT_OUTSIDE,   /* nothing is there */
	VERDICT_WALLS,
};

struct verdict {
	enum verdict_wall wall;
	const struct fence_rule *by; /* NULL: no rule of the plan; then a name */
	const char *name;
	const char *path; /* that it is about; borrowed, NULL where nobody asked about one */
};

/* What is known about a path besides its text. */
struct verdict_sight {
	bool inside;  /* it is there, in the fence */
	bool on_host; /* it is there, outside */
	bool folder;  /* the folder that it is in, or would be, is there in the fence */
	bool folder_on_host;
};

/* The wall at a path, which is absolute, clean and without symlinks. */
struct verdict verdict_at(const struct fence_plan *plan, const char *path);

/* Why a part of a path is special, whatever holds for it: "secret", "executed by the host", or NULL. */
const char *verdict_protected(const char *path);

/* Does nobody miss it? Python tries to keep its bytecode beside every module that it reads. */
bool verdict_harmless(const struct verdict *verdict, const char *path);

/* Is it the wall that refuses the act? False where the act succeeds, or would fail outside, too. */
bool verdict_refuses(enum verdict_wall wall, enum verdict_act act,
		     const struct verdict_sight *sight);

/* The word for a refused act in reports. */
const char *verdict_kind(enum verdict_act act, bool there);

/* The rule of a verdict as a person would name it, and where it comes from. The caller frees
 * *ret_rule; *ret_origin belongs to the plan. */
void verdict_name(const struct fence_plan *plan, const struct verdict *verdict, char **ret_rule,
		  const char **ret_origin);

/*
 * Strips /proc/self/root, /proc/N/root and /proc/self/cwd from the front of a path: all that is in the
 * fence has one root. *ret_from_cwd: the rest is meant from the working directory.
 */
const char *verdict_past_proc(const char *path, bool *ret_from_cwd);

/* A process as its namespace numbers it, from the text of /proc/N/status; 0 if it does not say. */
pid_t verdict_inner_pid(const char *status);

/* Does somebody listen on the port, by a table such as /proc/N/net/tcp? */
bool verdict_listens(const char *table, unsigned int port);

/* The inode of the connected socket between two ports, by such a table; 0: there is none. */
uint64_t verdict_socket(const char *table, unsigned int local_port, unsigned int remote_port);

/* The arguments in the bytes of /proc/N/cmdline; the first 256 of them. */
void verdict_arguments(const char *bytes, size_t size, struct list *ret_arguments);

#endif
