/* The agents that an image can contain: npm packages, in the exact versions that our tests run
 * (tests/agents/install). */
#ifndef IMAGE_IMAGE_AGENT_H
#define IMAGE_IMAGE_AGENT_H

#include "util/list.h"

#include <stddef.h>

struct image_agent {
	const char *name; /* as for --agent */
	const char *version;
	const char *package;
};

/* Returns the agent with this name, or with this index from 0; NULL if there is none. */
const struct image_agent *image_agent_find(const char *name);
const struct image_agent *image_agent_at(size_t index);

/* The package, with its version, that brings the Node.js these agents need. */
const char *image_agent_node(void);

/* Adds PACKAGE@VERSION for each of the names, which must be known. */
void image_agent_packages(const struct list *names, struct list *packages);

/* Returns the names of all of them, separated by commas; the caller frees. */
char *image_agent_names(void);

#endif
