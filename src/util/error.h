/*
 * Failures: a message for people and a status for the caller.
 *
 * A function that can fail takes a `struct error *` and returns 0, or -1 with err set. The message
 * states what was tried, on what, why it failed and what to do next. Callers that must distinguish
 * failures use the status and never compare messages (scripts/check-errors enforces it). Only
 * commands print.
 */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

enum error_status {
	ERROR_OTHER,
	ERROR_REFUSED, /* forbidden by one of our own rules */
	ERROR_INVALID, /* the input is malformed */
	ERROR_NOT_FOUND,
	ERROR_EXISTS,
	ERROR_BUSY,   /* held by someone else; a retry may succeed */
	ERROR_DENIED, /* forbidden by the system */
	ERROR_NO_SPACE,
	ERROR_IO,
	ERROR_PROTOCOL, /* the peer sent something illegal */
	ERROR_OUTPUT,   /* writing to stdout failed */
	ERROR_DIED,     /* the process that did the work died; a retry may succeed */
	ERROR_STATUS_COUNT
};

struct error {
	enum error_status status;
	char text[2048];
};

/* Sets the status and the message. */
void error_format(struct error *err, enum error_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the message, followed by strerror(errno), and the status that matches errno. */
void error_format_errno(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline int error_failed(void)
{
	return -1;
}

/* All evaluate to -1, so that `return error_set(...)` is clear to readers and to the analyzer. */
#define error_set(err, ...)          (error_format(err, ERROR_OTHER, __VA_ARGS__), error_failed())
#define error_with(err, status, ...) (error_format(err, status, __VA_ARGS__), error_failed())
#define error_sys(err, ...)          (error_format_errno(err, __VA_ARGS__), error_failed())

/* A status as a word, for messages to another process. Unknown words and NULL map to ERROR_OTHER,
 * because the other process may be of another version. */
const char *error_status_name(enum error_status status);
enum error_status error_status_named(const char *name);

#endif
