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

/* Sets the reason; with_errno adds what errno says. */
void error_format(struct error *err, int with_errno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static inline int error_failed(void)
{
	return -1;
}

/* Both are -1, so that `return error_set(...)` says it all (to the analyzer, too). */
#define error_set(err, ...) (error_format(err, 0, __VA_ARGS__), error_failed())
#define error_sys(err, ...) (error_format(err, 1, __VA_ARGS__), error_failed())

#endif
