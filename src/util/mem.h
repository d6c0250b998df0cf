/*
 * Allocation that ends the program on failure: at the sizes used here there is no useful way to
 * continue.
 */
#ifndef UTIL_MEM_H
#define UTIL_MEM_H

#include <stdarg.h>
#include <stddef.h>

void *mem_alloc(size_t size);
void *mem_zero(size_t size);
void *mem_resize(void *old, size_t count, size_t size);

/* Makes room for one more element in an array of `count` elements that was NULL at first and has
 * only grown this way. Returns the array; its capacity doubles when it is full. */
void *mem_extend(void *array, size_t count, size_t size);

char *mem_dup(const char *text);

/* The same, but the copy of NULL is NULL. */
char *mem_copy(const char *text);

/* Replaces a text by a copy of another one; either may be NULL. */
void mem_replace(char **text, const char *by);

char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_format_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

void mem_free_pointer(void *pointer);

/* A heap pointer that is freed at the end of its scope. */
#define AUTO_FREE __attribute__((cleanup(mem_free_pointer)))

#endif
