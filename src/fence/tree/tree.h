/*
 * The file tree of a fence: what is where, from the system's programs to the user's folders.
 *
 *	/usr, /bin, /lib ...	the system's, read-only
 *	/etc			a prepared copy (etc.h), read-only
 *	/dev, /tmp, the home	the fence's own, empty
 *	what the rules name	as they say
 *
 * /proc is left to the mechanism: it belongs to the process namespace, which is not there yet.
 */
#ifndef FENCE_TREE_TREE_H
#define FENCE_TREE_TREE_H

#include "fence/fence_plan.h"

/* Where ringfence-init is found inside. */
#define TREE_INIT "/run/ringfence/init"

/*
 * In a process that began in the namespaces of a stage: builds the tree (stage.h) and returns where its root lies. `needed` is one more path that must stay reachable there. NULL
 * with err set.
 */
char *tree_build(const struct fence_plan *plan, const char *etc, const char *needed,
		 struct error *err);

/* What init must find of it, for its canaries. Returns 0, or -1 with err set. */
int tree_describe(struct buffer *order, const struct fence_plan *plan, const char *etc,
		  struct error *err);

#endif
