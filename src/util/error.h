/*
 * Why something failed, in a sentence for a person.
 *
 * A function that can fail takes a `struct error *`, returns 0 or -1 and, when it fails, leaves
 * here what was tried, on what, why it failed and what to do. Nobody below the command prints.
 */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

struct error {
	char text[2048];
};

/* Sets the reason. Always returns -1. */
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the reason and adds what errno says. Always returns -1. */
int error_sys(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
