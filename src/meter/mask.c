/* Masking of secrets: see mask.h. */
#include "meter/mask.h"

#include <string.h>
#include <strings.h>

enum found {
	FOUND_NOT,
	FOUND_PERHAPS, /* all bytes so far match */
	FOUND,
};

/* Matches one letter, plain or escaped. Sets *ret_size to the number of bytes used. A backslash
 * is escaped by one backslash, any other letter by one per level of nesting. */
static enum found find_letter(char letter, const char *at, size_t left, size_t *ret_size)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char byte = (unsigned char)letter;
	const char escaped[5] = { 'u', '0', '0', digits[byte >> 4], digits[byte & 15] };
	size_t most = letter == '\\' ? 1 : MASK_SLASHES;
	size_t slashes = 0;

	*ret_size = 1;
	if (left > 0 && *at != '\\')
		return *at == letter ? FOUND : FOUND_NOT;
	while (slashes < left && slashes < most && at[slashes] == '\\')
		slashes++;
	*ret_size = slashes + 1;
	if (slashes < left && at[slashes] == letter && strchr("/\"\\", letter))
		return FOUND;
	at += slashes;
	left -= slashes;
	*ret_size = slashes + sizeof escaped;
	if (strncasecmp(at, escaped, left < sizeof escaped ? left : sizeof escaped) != 0)
		return FOUND_NOT;
	return left < sizeof escaped ? FOUND_PERHAPS : FOUND;
}

static enum found find_here(const char *secret, size_t length, const char *at, size_t left,
			    size_t *ret_size)
{
	size_t letter;

	*ret_size = length;
	if (memcmp(at, secret, left < length ? left : length) == 0)
		return left < length ? FOUND_PERHAPS : FOUND;
	*ret_size = 0;
	for (size_t i = 0; i < length; i++, *ret_size += letter) {
		enum found found = find_letter(secret[i], at + *ret_size, left - *ret_size,
					       &letter);

		if (found != FOUND)
			return found;
	}
	return FOUND;
}

static const char *next(const char *at, const char *end, char letter)
{
	const char *found = memchr(at, letter, (size_t)(end - at));

	return found ? found : end;
}

/* Finds the first place from *at on where the secret is or may begin. Sets *ret_size to its
 * length there. */
static enum found find(const char *secret, size_t length, const char *bytes, size_t size,
		       size_t *at, size_t *ret_size)
{
	const char *end = bytes + size;
	const char *plain = next(bytes + *at, end, secret[0]);
	const char *escaped = next(bytes + *at, end, '\\');
	const char *here;

	while ((here = plain < escaped ? plain : escaped) < end) {
		enum found found = find_here(secret, length, here, (size_t)(end - here), ret_size);

		*at = (size_t)(here - bytes);
		if (found != FOUND_NOT)
			return found;
		if (here == plain)
			plain = next(here + 1, end, secret[0]);
		if (here == escaped)
			escaped = next(here + 1, end, '\\');
	}
	*at = size;
	return FOUND_NOT;
}

/* An escaped letter becomes an escaped x, because the byte before it may be a backslash. */
static void overwrite(const char *secret, size_t length, char *at, size_t size)
{
	static const char hex_of_x[4] = { '0', '0', '7', '8' };
	size_t letter;

	if (size == length) {
		memset(at, 'x', size);
		return;
	}
	for (size_t i = 0; i < length; i++, at += letter, size -= letter) {
		find_letter(secret[i], at, size, &letter);
		if (letter > 5 && strchr("uU", at[letter - 5]))
			memcpy(at + letter - 4, hex_of_x, 4);
		else
			memset(at, 'x', letter);
	}
}

/* Returns the offset where another occurrence may begin, or the end. */
static size_t overwrite_all(const char *secret, size_t length, char *bytes, size_t size)
{
	size_t at = 0;
	size_t found;

	while (find(secret, length, bytes, size, &at, &found) == FOUND) {
		overwrite(secret, length, bytes + at, found);
		at += found;
	}
	return at;
}

void mask_init(struct mask *mask, const char *secret)
{
	size_t size = secret ? strlen(secret) : 0;

	mask->secret = secret;
	mask->size = size >= MASK_SHORTEST && size <= MASK_SECRET ? size : 0;
	mask->held = 0;
}

size_t mask_feed(struct mask *mask, const char *bytes, size_t size, struct buffer *scratch,
		 const char **ret_bytes)
{
	size_t at = 0;
	size_t found;

	*ret_bytes = bytes;
	if (!mask->size || size == 0)
		return size;
	if (mask->held || find(mask->secret, mask->size, bytes, size, &at, &found) == FOUND) {
		scratch->used = 0;
		buffer_add(scratch, mask->kept, mask->held);
		buffer_add(scratch, bytes, size);
		*ret_bytes = scratch->data;
		size = scratch->used;
		at = overwrite_all(mask->secret, mask->size, scratch->data, size);
	}
	mask->held = size - at;
	memcpy(mask->kept, *ret_bytes + at, mask->held);
	return at;
}

size_t mask_end(struct mask *mask, const char **ret_bytes)
{
	size_t size = mask->held;

	*ret_bytes = mask->kept;
	mask->held = 0;
	return size;
}

void mask_text(const char *secret, char *text, size_t size)
{
	if (*secret && size)
		overwrite_all(secret, strlen(secret), text, size);
}
