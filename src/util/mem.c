/* Allocation that ends the program on failure: see mem.h. */
#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check_allocated(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

void *mem_alloc(size_t size)
{
	return check_allocated(malloc(size ? size : 1));
}

void *mem_zero(size_t size)
{
	return check_allocated(calloc(1, size ? size : 1));
}

void *mem_resize(void *old, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		abort();
	return check_allocated(realloc(old, count && size ? count * size : 1));
}

void *mem_extend(void *array, size_t count, size_t size)
{
	bool full = (count & (count - 1)) == 0;

	return full ? mem_resize(array, count ? 2 * count : 1, size) : array;
}

char *mem_dup(const char *text)
{
	return check_allocated(strdup(text));
}

char *mem_copy(const char *text)
{
	return text ? mem_dup(text) : NULL;
}

void mem_replace(char **text, const char *by)
{
	char *copy = mem_copy(by);

	free(*text);
	*text = copy;
}

char *mem_format_list(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		abort();
	return text;
}

char *mem_format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = mem_format_list(format, args);
	va_end(args);
	return text;
}

void mem_free_pointer(void *pointer)
{
	free(*(void **)pointer);
}
