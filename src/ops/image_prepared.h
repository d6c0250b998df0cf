/*
 * Parts of images that are made on this machine before an engine builds: folders in the user's
 * cache, by a hash of what they were made of. A folder appears complete or not at all.
 */
#ifndef OPS_IMAGE_PREPARED_H
#define OPS_IMAGE_PREPARED_H

#include "image/image_recipe.h"
#include "util/error.h"
#include "util/list.h"
#include "util/taint.h"

struct image_prepared {
	char *cache; /* the folder of all of them */
	const struct taint *taint;
	const struct list *fence_options;
	void (*heard)(void *context, const char *bytes, size_t size);
	void *context;
};

/* Finds the cache, which is created if needed. Refuses one that an agent can change. Returns 0, or
 * -1 with err set. */
int image_prepared_init(struct image_prepared *ret_prepared, const struct taint *taint,
			struct error *err);
void image_prepared_release(struct image_prepared *prepared);

/* Makes a new empty folder in the cache, which the caller removes with image_prepared_drop(). */
int image_prepared_temporary(const struct image_prepared *prepared, char **ret_path,
			     struct error *err);
void image_prepared_drop(const char *path);

/* Makes the folder of a build: agents/, which npm installs in a fence, and folders/, the empty
 * folders of a system. The caller frees *ret_path. */
int image_prepared_context(const struct image_prepared *prepared, const struct list *agents,
			   char **ret_path, struct error *err);

/* Makes a tar file of a Debian system with these packages, by debootstrap. Needs root. */
int image_prepared_debian(const struct image_prepared *prepared, const struct list *packages,
			  const char *mirror, char **ret_path, struct error *err);

#endif
