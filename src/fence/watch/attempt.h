/*
 * Finds out, from outside, what a waiting process in the fence is about to do.
 *
 * The process controls everything that is read here: its memory, its names, its links. It is read
 * in bounded pieces, and paths are opened only with O_PATH. A process that changes these in the
 * meantime deceives only the report.
 */
#ifndef FENCE_WATCH_ATTEMPT_H
#define FENCE_WATCH_ATTEMPT_H

#include "fence/fence_plan.h"
#include "fence/watch/inside.h"
#include "fence/watch/perform.h"
#include "fence/watch/verdict.h"

#include <limits.h>
#include <linux/seccomp.h>

enum { ATTEMPT_MOST = 2 }; /* rename has two paths */

/* One act that the fence refuses, or a file that is created in a private place. */
struct attempt {
	bool allowed; /* the latter */
	const char *kind;
	char target[PATH_MAX + 64];
	struct verdict by;
};

/* State shared by all processes of a fence. */
struct attempt_context {
	const struct fence_plan *plan;
	const struct perform_context *performer;
	struct inside inside;
	uint8_t reached[65536 / 8]; /* bit N: connecting to port N on loopback was not a denial */
};

/* Fills in the acts in this call that the fence will refuse or that create a file in a private
 * place. Returns their number; 0 also if that cannot be determined. */
size_t attempt_look(struct attempt_context *context, const struct seccomp_notif *call,
		    struct attempt ret_attempts[ATTEMPT_MOST]);

/* A path of a rename, as processes in the fence see it. */
struct attempt_path {
	char path[PATH_MAX];
	bool is_folder;
};

struct attempt_rename {
	struct attempt_path from, to;
	bool exchange; /* of both */
};

/* Reports whether this call renames a folder, and what. */
bool attempt_renames_folder(struct attempt_context *context, const struct seccomp_notif *call,
			    struct attempt_rename *ret_rename);

/*
 * Reports whether this call sets the times of a file to now that a cover shows read-only. Git does
 * so before it uses an object again, and stores the object once more if that fails. It keeps the
 * owner's `git gc` from removing the object, which is not the command's business: it may be told
 * that it succeeded.
 */
bool attempt_freshens(struct attempt_context *context, const struct seccomp_notif *call);

#endif
