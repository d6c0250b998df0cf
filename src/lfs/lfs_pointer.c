/* Pointers of Git LFS. */
#include "lfs/lfs_pointer.h"

#include <stdio.h>
#include <string.h>

#define VERSION "version https://git-lfs.github.com/spec/v1\n"

enum { HEX = SHA256_HEX - 1, MOST_DIGITS = 18 };

/* The rest of a text. */
struct rest {
	const char *at, *end;
};

static bool take(struct rest *rest, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(rest->end - rest->at) < size || memcmp(rest->at, word, size) != 0)
		return false;
	rest->at += size;
	return true;
}

static bool take_hash(struct rest *rest, char ret_hex[SHA256_HEX])
{
	if (!take(rest, "sha256:") || rest->end - rest->at < HEX + 1 || rest->at[HEX] != '\n')
		return false;
	memcpy(ret_hex, rest->at, HEX);
	ret_hex[HEX] = '\0';
	rest->at += HEX + 1;
	return strspn(ret_hex, "0123456789abcdef") == HEX;
}

/* A line such as "ext-0-name sha256:...". */
static bool take_extension(struct rest *rest)
{
	char ignored[SHA256_HEX];

	if (!take(rest, "ext-") || rest->at == rest->end || *rest->at < '0' || *rest->at > '9')
		return false;
	rest->at++;
	if (!take(rest, "-"))
		return false;
	while (rest->at<rest->end && * rest->at> ' ')
		rest->at++;
	return take(rest, " ") && take_hash(rest, ignored);
}

static bool take_size(struct rest *rest, uint64_t *ret_size)
{
	const char *first = rest->at;

	*ret_size = 0;
	while (rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9' &&
	       rest->at - first < MOST_DIGITS)
		*ret_size = *ret_size * 10 + (uint64_t)(*rest->at++ - '0');
	return rest->at > first && (*first != '0' || rest->at == first + 1) && take(rest, "\n");
}

bool lfs_pointer_read(const char *bytes, size_t size, struct lfs_pointer *ret_pointer)
{
	struct rest rest = { bytes, bytes + size };
	struct lfs_pointer pointer = { 0 };

	if (size >= LFS_POINTER_BYTES || !take(&rest, VERSION))
		return false;
	while (rest.at < rest.end && *rest.at == 'e') {
		if (!take_extension(&rest))
			return false;
		pointer.extended = true;
	}
	if (!take(&rest, "oid ") || !take_hash(&rest, pointer.hex) || !take(&rest, "size ") ||
	    !take_size(&rest, &pointer.size) || rest.at != rest.end)
		return false;
	*ret_pointer = pointer;
	return true;
}

size_t lfs_pointer_write(const struct lfs_pointer *pointer, char ret_text[LFS_POINTER_BYTES])
{
	return (size_t)snprintf(ret_text, LFS_POINTER_BYTES, VERSION "oid sha256:%s\nsize %llu\n",
				pointer->hex, (unsigned long long)pointer->size);
}
