/* Pins: files that replace others, and marks that hide some, as a layer of overlayfs has them; and
 * the same in a copy. */
#ifndef DRAFT_TREE_PINS_H
#define DRAFT_TREE_PINS_H

#include "util/error.h"

/* Makes a mark that hides the file with this name, unless there is one. Needs no privilege. Returns
 * 0, or -1 with errno. */
int tree_pins_hide(int folder, const char *name);

/* Copies the files in a folder of pins to a tree, where they replace what is there; marks
 * remove it. Returns 0, or -1 with err set. */
int tree_pins_copy(const char *pins, int tree, struct error *err);

#endif
