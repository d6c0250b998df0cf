/*
 * A project's devcontainer.json: which image it wants, or how one is built.
 *
 * The file comes with the repository. Keys that name or build an image are read; all others are
 * listed as ignored, because a fence has rules of its own for them. A file that asks for privileges
 * or mounts is refused: its container would not work in a fence.
 */
#ifndef IMAGE_DEVCONTAINER_H
#define IMAGE_DEVCONTAINER_H

#include "util/error.h"
#include "util/list.h"

#include <stddef.h>

enum { DEVCONTAINER_BYTES_MAX = 256 << 10 };

struct devcontainer {
	char *image;           /* or NULL: it is built */
	char *containerfile;   /* below the project, or NULL */
	char *context;         /* below the project; "" is the project itself. Or NULL */
	char *target;          /* a stage of the Containerfile, or NULL */
	struct list arguments; /* NAME=VALUE */
	struct list ignored;   /* "features: not installed", a line each */
};

/* Reads JSON with comments. `folder` is that of the file, below the project, such as
 * ".devcontainer" or "". The caller releases *ret_devcontainer. Returns 0, or -1 with err set:
 * ERROR_INVALID, or ERROR_REFUSED with everything that the fence denies. */
int devcontainer_read(const char *bytes, size_t size, const char *folder,
		      struct devcontainer *ret_devcontainer, struct error *err);
void devcontainer_release(struct devcontainer *devcontainer);

#endif
