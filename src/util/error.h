/*
 * Why something failed: a sentence for a person, and a status for the caller.
 *
 * A function that can fail takes a `struct error *` and returns 0, or -1 with err set. The sentence says
 * what was tried, on what, why it failed and what to do. A caller that must tell one failure from
 * another looks at the status; nobody compares the sentence (scripts/lint refuses it). Only the
 * command prints.
 */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

enum error_status {
	ERROR_OTHER,
	ERROR_REFUSED, /* a rule of ours forbids it */
	ERROR_INVALID, /* the input is malformed */
	ERROR_NOT_FOUND,
	ERROR_EXISTS,
	ERROR_BUSY,   /* somebody else holds it; a later try may succeed */
	ERROR_DENIED, /* the system forbids it */
	ERROR_NO_SPACE,
	ERROR_IO,
	ERROR_PROTOCOL, /* the peer said something that it must not say */
	ERROR_OUTPUT,   /* stdout cannot be written */
	ERROR_STATUS_COUNT
};

struct error {
	enum error_status status;
	char text[2048];
};

/* Sets status and sentence. */
void error_format(struct error *err, enum error_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the sentence followed by what errno says, and the status that errno stands for. */
void error_format_errno(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline int error_failed(void)
{
	return -1;
}

/* All are -1, so that `return error_set(...)` says it all (to the analyzer, too). */
#define error_set(err, ...)          (error_format(err, ERROR_OTHER, __VA_ARGS__), error_failed())
#define error_with(err, status, ...) (error_format(err, status, __VA_ARGS__), error_failed())
#define error_sys(err, ...)          (error_format_errno(err, __VA_ARGS__), error_failed())

/* A status as a word, for a message to another process. A word that is unknown is ERROR_OTHER, and
 * so is NULL: the other process may be of another version. */
const char *error_status_name(enum error_status status);
enum error_status error_status_named(const char *name);

#endif
