/* Errors as sentences: see error.h. */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	return -1;
}

int error_sys(struct error *err, const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);

	size_t used = strlen(err->text);

	snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
	return -1;
}
