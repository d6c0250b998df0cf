/* An owned list of strings. */
#ifndef UTIL_LIST_H
#define UTIL_LIST_H

#include <stddef.h>

struct list {
	char **items; /* always ends in NULL once something was added */
	size_t count;
};

void list_release(struct list *list);
void list_add(struct list *list, const char *text);
void list_printf(struct list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What is behind these words in the first item that begins with them, or NULL: none does. */
const char *list_behind(const struct list *list, const char *words);

#endif
