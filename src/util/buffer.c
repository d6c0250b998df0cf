/* Bounded growing buffers: see buffer.h. */
#include "util/buffer.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 128 }; /* the first allocation; most texts are built from a few words */

void buffer_release(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = BUFFER_INIT(buffer->max);
}

void buffer_add(struct buffer *buffer, const void *data, size_t size)
{
	if (buffer->overflow || size > buffer->max - buffer->used) {
		buffer->overflow = true;
		return;
	}
	if (buffer->used + size + 1 > buffer->room) {
		size_t room = (buffer->used + size + 1) * 2;

		buffer->room = room < LEAST ? LEAST : room;
		buffer->data = mem_resize(buffer->data, buffer->room, 1);
	}
	if (size)
		memcpy(buffer->data + buffer->used, data, size);
	buffer->used += size;
	buffer->data[buffer->used] = '\0';
}

void buffer_add_text(struct buffer *buffer, const char *text)
{
	buffer_add(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	char small[256];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(small, sizeof small, format, args);
	va_end(args);
	if (size >= 0 && (size_t)size < sizeof small) {
		buffer_add(buffer, small, (size_t)size);
		return;
	}

	AUTO_FREE char *text = NULL;

	va_start(args, format);
	text = mem_format_list(format, args);
	va_end(args);
	buffer_add_text(buffer, text);
}

bool buffer_overflowed(const struct buffer *buffer)
{
	return buffer->overflow;
}

const char *buffer_text(struct buffer *buffer)
{
	buffer_add(buffer, "", 0);
	return buffer->data ? buffer->data : "";
}
