/* A project's own image: by a devcontainer.json, or by a Containerfile or Dockerfile at its root.
 * The user agrees to exactly this content before anything is built from it. */
#ifndef OPS_IMAGE_SOURCE_H
#define OPS_IMAGE_SOURCE_H

#include "image/devcontainer.h"
#include "image/image_context.h"
#include "util/error.h"
#include "util/text/sha256.h"

struct image_source {
	char *file; /* full path of the file that decides; the record of trust has this name */
	struct devcontainer found; /* of a Containerfile alone: only its path and folder */
	struct image_context context;
	char hash[SHA256_HEX]; /* of everything that an engine would read */
};

/*
 * Reads the project's own image. With `target`, a descriptor of an empty folder, copies the
 * Containerfile and the folder of the build there, as "Containerfile" and "context"; -1: only reads
 * them. The caller releases *ret_source. Returns 0, or -1 with err set (ERROR_NOT_FOUND: the
 * project says nothing).
 */
int image_source_load(const char *project, int target, struct image_source *ret_source,
		      struct error *err);
void image_source_release(struct image_source *source);

/* Adds what is honoured: "image: debian", a line each. */
void image_source_honoured(const struct image_source *source, struct list *lines);

/* The files that could decide, by their paths below a project, from 0; NULL after the last. */
const char *image_source_place(size_t index);

/* Has the user agreed to this content? Returns 1, 0, or -1 with err set. */
int image_source_trusted(const char *state, const struct image_source *source, struct error *err);

#endif
