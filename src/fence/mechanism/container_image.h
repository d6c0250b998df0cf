/*
 * The system folders of a container's image, as parts of the file tree.
 *
 * Of an image, the fence shows /usr, /opt and the like, and /etc, all read-only. The fence's own
 * passwd and group cover those of the image. The rest of the image is not shown, and its
 * configuration (entry point, environment, user, volumes) is ignored.
 */
#ifndef FENCE_MECHANISM_CONTAINER_IMAGE_H
#define FENCE_MECHANISM_CONTAINER_IMAGE_H

#include "fence/tree/tree.h"
#include "util/error.h"
#include "util/launcher.h"

/*
 * Replaces the entries of kind TREE_IMAGE by the folders and symlinks of a running container, whose
 * first process is a pidfd. An image whose /usr is empty or missing gets the folders of the host;
 * its /opt is shown if it has files.
 * Returns 0, or -1 with err set. The tree then owns descriptors (tree_release()).
 */
int container_image_add(const struct launcher *launcher, int process, struct tree *tree,
			struct error *err);

#endif
