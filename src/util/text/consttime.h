/* Comparing secrets in constant time. */
#ifndef UTIL_TEXT_CONSTTIME_H
#define UTIL_TEXT_CONSTTIME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reports whether `given` equals the string `expected`. For inputs of the expected length the
 * comparison takes the same time wherever they differ.
 */
bool consttime_equal(const char *given, size_t size, const char *expected);

#endif
