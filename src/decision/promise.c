/* The promise: see promise.h. */
#include "decision/promise.h"

#include "decision/lines.h"

#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Letters, digits and joiners. Any byte beyond ASCII may be part of a letter. */
static bool is_word_byte(char c)
{
	return lines_letter(c) || lines_digit(c) || c == '_' || c == '-' ||
	       (unsigned char)c >= 0x80;
}

static bool ends_in(const char *message, size_t size, const char *promise, size_t length)
{
	if (size < length || memcmp(message + size - length, promise, length) != 0)
		return false;
	return size == length || !is_word_byte(promise[0]) ||
	       !is_word_byte(message[size - length - 1]);
}

/* Returns the size without a closing fence in the last line, or the same size. */
static size_t without_fence(const char *message, size_t size)
{
	size_t at = size;
	char mark = message[size - 1];

	if (mark != '`' && mark != '~')
		return size;
	while (at > 0 && message[at - 1] == mark)
		at--;
	if (size - at < 3)
		return size;
	while (at > 0 && (message[at - 1] == ' ' || message[at - 1] == '\t'))
		at--;
	return at > 0 && message[at - 1] == '\n' ? at : size;
}

size_t promise_strip(const char *message, size_t size)
{
	if (size == 0)
		return 0;
	return is_space(message[size - 1]) || message[size - 1] == '*'
		       ? size - 1
		       : without_fence(message, size);
}

bool promise_found(const char *message, size_t size, const char *promise)
{
	size_t length;

	promise = promise ? promise : PROMISE_DEFAULT;
	while (is_space(*promise))
		promise++;
	length = strlen(promise);
	while (length > 0 && is_space(promise[length - 1]))
		length--;
	if (length == 0)
		return false;
	while (size > 0) {
		if (ends_in(message, size, promise, length))
			return true;

		size_t less = promise_strip(message, size);

		if (less == size)
			return false;
		size = less;
	}
	return false;
}
