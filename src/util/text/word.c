/* Texts as words: see word.h. */
#include "util/text/word.h"

#include "util/mem.h"

#include <string.h>

enum { DIGITS = 19 }; /* a number of this many digits fits into 64 bits */

static const char hex[] = "0123456789abcdef";

void word_add(struct buffer *out, const char *text)
{
	if (!*text)
		buffer_add_text(out, "%");
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte <= ' ' || byte == '%' || byte == 0x7f)
			buffer_printf(out, "%%%c%c", hex[byte >> 4], hex[byte & 15]);
		else
			buffer_add(out, text, 1);
	}
}

char *word_from(const char *text)
{
	struct buffer word = BUFFER_INIT(3 * strlen(text) + 2);

	word_add(&word, text);
	buffer_text(&word);
	return word.data;
}

const char *word_take(const char **at, size_t *ret_size)
{
	const char *start = *at;
	size_t size = (size_t)(strchrnul(start, ' ') - start);

	if (size == 0)
		return NULL;
	*at = start + size + (start[size] == ' ');
	*ret_size = size;
	return start;
}

static int digit(char character)
{
	const char *found = character ? strchr(hex, character) : NULL;

	return found ? (int)(found - hex) : -1;
}

char *word_take_text(const char **at)
{
	size_t size;
	const char *word = word_take(at, &size);
	AUTO_FREE char *text = word ? mem_zero(size + 1) : NULL;
	char *end = text;
	char *result = text;

	if (!word)
		return NULL;
	for (size_t i = 0; i < size && !(size == 1 && *word == '%'); i++) {
		if (word[i] != '%') {
			*end++ = word[i];
			continue;
		}
		int high = size - i < 3 ? -1 : digit(word[i + 1]);
		int low = high < 0 ? -1 : digit(word[i + 2]);

		if (low < 0)
			return NULL;
		*end++ = (char)(high * 16 + low);
		i += 2;
	}
	text = NULL;
	return result;
}

int word_take_number(const char **at, uint64_t *ret_number)
{
	const char *end = *at;
	uint64_t number = 0;
	size_t size;

	for (; *end >= '0' && *end <= '9' && end - *at < DIGITS; end++)
		number = number * 10 + (uint64_t)(*end - '0');
	if (end == *at || (*end && *end != ' ')) {
		word_take(at, &size);
		return -1;
	}
	*at = end + (*end == ' ');
	*ret_number = number;
	return 0;
}
