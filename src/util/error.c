/* Errors as sentences: see error.h. */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_format(struct error *err, int with_errno, const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);

	size_t used = strlen(err->text);

	if (with_errno)
		snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
	errno = saved;
}
