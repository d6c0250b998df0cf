/* Mistakes in a file: see problem.h. */
#include "config/problem.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void problem_add(struct list *problems, const char *file, struct problem_position at,
		 const char *format, ...)
{
	AUTO_FREE char *text = NULL;
	va_list args;

	if (problems->count >= PROBLEMS_MOST)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	list_printf(problems, "%s:%u:%u: %s", file, at.line, at.column, text);
}
