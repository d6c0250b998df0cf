/*
 * A look at the content of a file whose name alone does not decide whether it is a secret.
 *
 * The look is bounded and never blocks. A file counts as a secret if it cannot be read, is too
 * large, or is text in UTF-16.
 */
#ifndef FENCE_PLAN_SECRET_H
#define FENCE_PLAN_SECRET_H

#include "fence/plan/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of all files together is read; more are secrets unread. */
enum { SECRET_BUDGET = 64 << 20 };

/* Returns whether a text holds a secret, by a test from NAMES_SECRET on. */
bool secret_in_text(enum names_class test, const char *text, size_t size);

/* Returns whether a file with these classes is a secret. Reads at most *budget bytes, and reduces
 * it by what was read. */
bool secret_file(const struct names_found *found, int folder, const char *name, uint64_t *budget);

#endif
