/*
 * Example prompts: the pages of docs/prompts, compiled in. A page explains its prompt, with the
 * commands that run it; its last section, "## Prompt", is the prompt itself.
 */
#ifndef SETTINGS_EXAMPLE_H
#define SETTINGS_EXAMPLE_H

#include "util/error.h"

#include <stddef.h>

struct example {
	const char *name;
	const char *details; /* what the user has to add, or NULL */
	const char *page;
};

/* Returns the examples one after the other, then NULL. */
const struct example *example_at(size_t index);

/* Returns the example of this name, or NULL with err set. */
const struct example *example_find(const char *name, struct error *err);

/* Returns the first line of the page without its mark. The caller frees it. */
char *example_title(const struct example *example);

/* Returns the prompt alone. */
const char *example_prompt(const struct example *example);

#endif
