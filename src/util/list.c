/* Lists of strings: see list.h. */
#include "util/list.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void list_release(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct list){ 0 };
}

static void append_owned(struct list *list, char *text)
{
	list->items = mem_resize(list->items, list->count + 2, sizeof *list->items);
	list->items[list->count++] = text;
	list->items[list->count] = NULL;
}

void list_add(struct list *list, const char *text)
{
	append_owned(list, mem_dup(text));
}

void list_printf(struct list *list, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_owned(list, mem_format_list(format, args));
	va_end(args);
}

bool list_has(const struct list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

const char *list_after_prefix(const struct list *list, const char *prefix)
{
	const char *rest = NULL;

	for (size_t i = 0; i < list->count && !rest; i++)
		rest = text_after_prefix(list->items[i], prefix);
	return rest;
}
