/* Pins in a copy: files that replace others, as a layer of overlayfs would show them. */
#ifndef DRAFT_TREE_PINS_H
#define DRAFT_TREE_PINS_H

#include "util/error.h"

/* Copies the files in a folder of pins to a tree, where they replace what is there; overlayfs's
 * marks for hidden files remove it. Returns 0, or -1 with err set. */
int tree_pins_copy(const char *pins, int tree, struct error *err);

#endif
