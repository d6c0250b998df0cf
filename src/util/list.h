/* An owned list of strings. */
#ifndef UTIL_LIST_H
#define UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	char **items; /* NULL-terminated once something was added */
	size_t count;
};

void list_release(struct list *list);
void list_add(struct list *list, const char *text);
void list_printf(struct list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool list_has(const struct list *list, const char *text);

/* Returns the rest of the first item that starts with prefix, or NULL. */
const char *list_after_prefix(const struct list *list, const char *prefix);

#endif
