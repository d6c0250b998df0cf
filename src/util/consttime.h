/* Comparing secrets in constant time. */
#ifndef UTIL_CONSTTIME_H
#define UTIL_CONSTTIME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does `given` equal the string `expected`? A wrong one of the right length takes as
 * long as the right one: the time does not tell where they differ.
 */
bool consttime_equal(const char *given, size_t size, const char *expected);

#endif
