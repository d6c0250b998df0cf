/*
 * A private copy of the folder that an image is built from.
 *
 * An agent can change the project, so what an engine reads is a copy, made once, and what the user
 * has agreed to is the hash of that copy.
 */
#ifndef IMAGE_IMAGE_CONTEXT_H
#define IMAGE_IMAGE_CONTEXT_H

#include "util/error.h"
#include "util/text/sha256.h"

#include <stddef.h>
#include <stdint.h>

enum { IMAGE_CONTEXT_FILES = 10000, IMAGE_CONTEXT_MIB = 64 };

struct image_context {
	size_t files;
	uint64_t bytes;
	char hash[SHA256_HEX]; /* of names, contents, executable bits and symlinks */
};

/*
 * Copies the folder `path` below the descriptor `project` ("" is the project itself) into `target`,
 * an empty folder; target -1: only reads it. Leaves out .git. Symlinks on the way to the folder are
 * refused, those in it are copied. Returns 0, or -1 with err set, also if there are more than the
 * limits above allow.
 */
int image_context_copy(int project, const char *path, int target, struct image_context *ret_context,
		       struct error *err);

#endif
