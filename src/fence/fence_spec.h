/*
 * The spec: a request to run a command, as written in options and files.
 *
 * Nothing in it is resolved or validated; fence_plan_make() does that. Every path carries its
 * origin, so that an error can name the option or file. Strings are borrowed, except those that a
 * list owns.
 */
#ifndef FENCE_FENCE_SPEC_H
#define FENCE_FENCE_SPEC_H

#include "fence/fence_limit.h"
#include "fence/run/wire.h"
#include "provider/model_access.h"
#include "util/error.h"
#include "util/list.h"
#include "util/outlet.h"
#include "util/taint.h"
#include "util/text/glob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Network access: none, only hosts that the outlet allows, or the host's network. */
enum fence_net { FENCE_NET_NONE, FENCE_NET_LIST, FENCE_NET_OPEN };

/* Protections that the user can accept to run without, or that a mechanism does not have. */
enum fence_weaker {
	FENCE_WEAKER_LANDLOCK = 1,
	FENCE_WEAKER_ABSTRACT_SOCKETS = 2,
	FENCE_WEAKER_NO_FENCE = 4,
	FENCE_WEAKER_USER_NAMESPACE = 8, /* of docker */
	/* Of a command that shares the host's namespaces. Choosing such a fence accepts them. */
	FENCE_WEAKER_NAMES = 16,
	FENCE_WEAKER_PROCESSES = 32,
	FENCE_WEAKER_NETWORK = 64,
	FENCE_WEAKER_LIFETIME = 128,
	FENCE_WEAKER_SIGNALS = 256,
};

struct fence_listen {
	struct wire_listen where; /* inside */
	char *socket;             /* outside, or NULL for a private path named after the port */
};

/* A path and its origin: "--hide", or a file and line. */
struct fence_path {
	char *path;
	char *origin;
	bool weak; /* only restricts; yields to every rule except the project's own */
	bool made; /* if it is missing, an empty file, or a folder if it ends with a slash, is made
		      for the run (fenced/fenced.h) */
};

struct fence_paths {
	struct fence_path *items;
	size_t count;
};

/* A pattern that hides entries of the project. */
struct fence_pattern {
	struct glob glob;
	char *origin;
};

struct fence_patterns {
	struct fence_pattern *items;
	size_t count;
};

/* Mounts one path over another: a private git directory over the project's. */
struct fence_cover {
	char *path;   /* inside */
	char *source; /* outside */
	bool writable;
};

struct fence_covers {
	struct fence_cover *items; /* parents first */
	size_t count;
};

/* Knows what the commands of a draft have made: nothing is hidden there because of its name. */
struct fence_made {
	/* Reports whether they made the entry at a path of the project. */
	bool (*has)(const void *own, const char *path);
	const void *own;
};

struct fence_index;
struct fence_place;
struct fence_plan;
struct launcher;

struct fence_spec {
	const char *mechanism; /* "auto", or a name */
	const char *image;     /* whose system folders are shown; NULL: those of the host */
	const char *project;   /* NULL: the current directory */
	const char *cwd; /* NULL: the current directory if inside the project, else the project */
	const struct fence_place *place; /* the project's place if already known, or NULL */
	struct fence_paths write, read, hide;
	struct fence_covers covers; /* a user's rule for the same path wins */
	struct fence_patterns patterns;
	struct list env;
	bool draft; /* the command runs in a view of a draft (draft/draft.h): the host sees nothing
		       of what it does to the project */
	const char *layers; /* of a layered draft: the folder of its layers; or NULL */
	/* In a view: the plan that was made outside, which says what the project itself protects.
	 * Otherwise NULL. */
	const struct fence_plan *before;
	const struct fence_made *made; /* in a view; or NULL: by nobody */
	struct fence_index *index;     /* of the project (fence_index.h), or NULL */
	bool read_only;
	const char *read_only_origin; /* the option or file and line that set read_only, or NULL */
	bool denials;                 /* report and explain denials */
	bool trace_reads;             /* with denials: include reads */
	bool raw_terminal;            /* the command's output reaches a terminal unfiltered */
	enum fence_net net;
	const char *net_origin; /* the option or file and line that set net, or NULL */
	struct fence_paths
		allow; /* with FENCE_NET_LIST: the hosts, as rules (gateway/proxy/rule.h) */
	struct model_access models; /* with FENCE_NET_LIST: the models that the outlet serves */
	struct outlet_caps net_caps;
	struct outlet *outlet; /* serves the connections; NULL if the plan will not be run */
	struct fence_listen *listens;
	size_t listen_count;
	uint64_t limits[FENCE_LIMIT_COUNT]; /* 0: none */
	unsigned int accepted_weaker;       /* bits of enum fence_weaker */
	unsigned int accepted_limits;       /* a bit for each limit that need not be enforced */
	/* Starts programs outside the view of a draft; or NULL if this process is in none. */
	const struct launcher *launcher;
	const char *login; /* the login file that is copied into the fence, or NULL */
	/* The read end of a pipe, or NULL. A byte stops the run gracefully (TERM, grace period,
	 * KILL); end of file kills it at once. */
	const int *lifeline;
	char *const *command;
};

void fence_spec_release(struct fence_spec *spec);

/* Reports whether the fence has mounts: it can show a draft, or a private git directory, at the
 * path of the user's own. */
bool fence_spec_has_mounts(const struct fence_spec *spec);

/* Says what the command can change outside the fence. The caller releases *ret_taint. */
void fence_spec_taint(const struct fence_spec *spec, struct taint *ret_taint);

/* Parses "127.0.0.1:8080" or "[::1]:8080", optionally followed by "=SOCKET". Returns 0, or -1 with
 * err set. */
int fence_listen_parse(const char *text, struct fence_listen *ret_listen, struct error *err);

void fence_paths_add(struct fence_paths *paths, const char *path, const char *origin);
/* Adds the git directory of the project, if there is one, by a weak rule. */
void fence_paths_add_git(struct fence_paths *paths, const char *project);
void fence_paths_add_all(struct fence_paths *paths, const struct fence_paths *from);
void fence_paths_release(struct fence_paths *paths);

void fence_covers_add(struct fence_covers *covers, const char *path, const char *source,
		      bool writable);
void fence_covers_release(struct fence_covers *covers);

#endif
