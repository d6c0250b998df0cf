/*
 * A container engine of the user: podman or docker.
 *
 * The engine runs outside the fence. So its program is the system's own (process_find_system()), or
 * the one of RINGFENCE_PODMAN or RINGFENCE_DOCKER. It gets an environment of its own: the variables
 * by which it finds its storage, configuration and daemon, and a PATH of system folders, in which
 * it finds its helpers. container_engine_check() makes sure that none of these leads to files that
 * an agent can change.
 */
#ifndef UTIL_CONTAINER_ENGINE_H
#define UTIL_CONTAINER_ENGINE_H

#include "util/error.h"
#include "util/list.h"
#include "util/taint.h"

enum container_engine_kind {
	CONTAINER_ENGINE_PODMAN,
	CONTAINER_ENGINE_DOCKER,
	CONTAINER_ENGINE_COUNT
};

struct container_engine {
	enum container_engine_kind kind;
	char *program;           /* full path */
	struct list environment; /* NAME=VALUE, complete */
};

/* Returns "podman" or "docker". */
const char *container_engine_name(enum container_engine_kind kind);

/* Returns the kind with this name, or CONTAINER_ENGINE_COUNT. */
enum container_engine_kind container_engine_named(const char *name);

/* Finds the engine. The caller releases *ret_engine. Returns 0, or -1 with err set
 * (ERROR_NOT_FOUND: it is not installed). */
int container_engine_find(enum container_engine_kind kind, struct container_engine *ret_engine,
			  struct error *err);
void container_engine_release(struct container_engine *engine);

/* Refuses an engine if an agent can change its program, a file or folder that its environment
 * names, or its own folders there: its configuration names programs that run outside. Returns 0, or
 * -1 with err set (ERROR_REFUSED). */
int container_engine_check(const struct container_engine *engine, const struct taint *taint,
			   struct error *err);

/* Refuses a text that cannot be the name of an image: "debian", "quay.io/team/base:1.2", an id or a
 * digest. Returns 0, or -1 with err set (ERROR_INVALID). */
int container_engine_check_image(const char *name, struct error *err);

#endif
