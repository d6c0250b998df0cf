/*
 * A growable byte buffer whose maximum size is set when it is created.
 *
 * An append past the maximum drops the bytes and marks the buffer as overflowed. Callers check
 * buffer_overflowed() once at the end instead of after every append.
 */
#ifndef UTIL_BUFFER_H
#define UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	char *data;
	size_t used;
	size_t room;
	size_t max;
	bool overflow;
};

#define BUFFER_INIT(maximum) ((struct buffer){ .max = (maximum) })

void buffer_release(struct buffer *buffer);
void buffer_add(struct buffer *buffer, const void *data, size_t size);
void buffer_add_text(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool buffer_overflowed(const struct buffer *buffer);

/* Returns the bytes as a NUL-terminated string, even if nothing was ever added. */
const char *buffer_text(struct buffer *buffer);

#define AUTO_BUFFER __attribute__((cleanup(buffer_release)))

#endif
