/* Errors with a message and a status: see error.h. */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[ERROR_STATUS_COUNT] = {
	[ERROR_OTHER] = "other",         [ERROR_REFUSED] = "refused",   [ERROR_INVALID] = "invalid",
	[ERROR_NOT_FOUND] = "not found", [ERROR_EXISTS] = "exists",     [ERROR_BUSY] = "busy",
	[ERROR_DENIED] = "denied",       [ERROR_NO_SPACE] = "no space", [ERROR_IO] = "I/O",
	[ERROR_PROTOCOL] = "protocol",   [ERROR_OUTPUT] = "output",     [ERROR_DIED] = "died",
};

/* Any other errno is ERROR_IO. */
static const struct {
	int number;
	enum error_status status;
} meanings[] = {
	{ ENOENT, ERROR_NOT_FOUND }, { ENOTDIR, ERROR_NOT_FOUND }, { ESRCH, ERROR_NOT_FOUND },
	{ EEXIST, ERROR_EXISTS },    { ENOTEMPTY, ERROR_EXISTS },  { EAGAIN, ERROR_BUSY },
	{ EBUSY, ERROR_BUSY },       { ETXTBSY, ERROR_BUSY },      { EADDRINUSE, ERROR_BUSY },
	{ EACCES, ERROR_DENIED },    { EPERM, ERROR_DENIED },      { EROFS, ERROR_DENIED },
	{ ENOSPC, ERROR_NO_SPACE },  { EDQUOT, ERROR_NO_SPACE },   { EFBIG, ERROR_NO_SPACE },
	{ EPROTO, ERROR_PROTOCOL },
};

static enum error_status status_of(int number)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (meanings[i].number == number)
			return meanings[i].status;
	return ERROR_IO;
}

void error_format(struct error *err, enum error_status status, const char *format, ...)
{
	int saved = errno;
	va_list args;

	err->status = status;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	errno = saved;
}

void error_format_errno(struct error *err, const char *format, ...)
{
	int saved = errno;
	va_list args;

	err->status = status_of(saved);
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);

	size_t used = strlen(err->text);

	snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
	errno = saved;
}

const char *error_status_name(enum error_status status)
{
	return names[status];
}

enum error_status error_status_named(const char *name)
{
	for (size_t i = 0; name && i < ERROR_STATUS_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return (enum error_status)i;
	return ERROR_OTHER;
}
