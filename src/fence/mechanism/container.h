/*
 * A container for one run, for the mechanisms of container engines.
 *
 * The engine makes the namespaces, the control groups and the identity, drops all capabilities and
 * starts ringfence-init. The file tree is ours: it is built on a stage (tree/stage.h) and takes the
 * place of the container's own (tree/graft.h), so the tree of every mechanism is the same, and
 * nothing that an image or the engine's configuration mounts is left.
 *
 *	STATE/containers/NAME/	one container: the socket of handover.h
 *	STATE/containers/NAME/engine
 *				the name of the engine; locked while ringfence lives
 *	STATE/containers/root/	an empty file system, for runs without an image
 *	STATE/containers/seccomp-ENGINE.json
 *				the seccomp profile of an engine
 *
 * A folder that nobody locks was left by a killed ringfence: its container is removed when the next
 * one starts.
 */
#ifndef FENCE_MECHANISM_CONTAINER_H
#define FENCE_MECHANISM_CONTAINER_H

#include "fence/mechanism/mechanism.h"
#include "util/container_engine.h"
#include "util/list.h"

struct container {
	struct container_engine engine;
	char *name;
	char *folder;
	int lock;
	int listener; /* for init */
};

/* Adds the options and the image by which engines differ. Returns 0, or -1 with err set. */
typedef int container_options_fn(const struct mechanism_start *start, struct list *words,
				 struct error *err);

/* The operations of a mechanism (mechanism.h). container_plan() refuses an engine whose program the
 * command could replace. */
int container_detect(enum container_engine_kind kind, struct error *err);
int container_plan(enum container_engine_kind kind, struct fence_plan *plan, struct error *err);
int container_start(enum container_engine_kind kind, container_options_fn *options,
		    struct mechanism_start *start, struct error *err);
int container_mount(struct mechanism_start *start, struct tree *tree, struct error *err);
void container_classify(enum container_engine_kind kind, const char *complaints, int status,
			struct error *err);
void container_end(struct mechanism_start *start, const int *status);

/* Returns the path of STATE/containers/root, which is made if it is missing, or NULL with err set.
 * The caller frees it. */
char *container_root(const struct fence_plan *plan, struct error *err);

#endif
