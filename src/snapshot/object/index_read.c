/* Reads an index file of git. */
#include "snapshot/object/index_read.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEAD = 12,  /* signature, version, number of entries */
	MODE = 24,  /* of an entry: after times, device and inode */
	ID = 40,    /* after owner, group and size */
	FLAGS = 60, /* after the id */
	FIXED = 62, /* the part before the path */
	STAGE = 12, /* the lowest of two bits in the flags */
	EXTENDED = 0x4000,
	EXTENSION = 8, /* signature and size */
};

static uint32_t number(const char *at)
{
	const unsigned char *bytes = (const unsigned char *)at;

	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* Reads an entry. Returns its length with the padding, or 0 if it is damaged. */
static size_t read_entry(const char *at, size_t left, struct index_read_entry *ret_entry)
{
	size_t fixed = FIXED;
	const char *end;
	unsigned int flags;
	size_t length;

	if (left < FIXED + 2)
		return 0;
	flags = number(at + FLAGS) >> 16;
	if (flags & EXTENDED)
		fixed += 2;
	end = memchr(at + fixed, '\0', left - fixed);
	if (!end || end == at + fixed)
		return 0;
	length = ((size_t)(end - at) + 8) / 8 * 8;
	if (length > left)
		return 0;
	*ret_entry = (struct index_read_entry){ .path = at + fixed,
						.id = (const unsigned char *)at + ID,
						.mode = number(at + MODE),
						.stage = flags >> STAGE & 3 };
	return length;
}

/* Finds the id of the whole tree in the extension TREE. */
static const unsigned char *read_tree(const char *at, size_t size)
{
	const char *line;

	if (size < 2 || at[0] != '\0' || at[1] == '-')
		return NULL;
	line = memchr(at, '\n', size);
	return line && size - (size_t)(line + 1 - at) >= FSCK_ID ? (const unsigned char *)line + 1
								 : NULL;
}

/* Reads the extensions. Those with a lower-case name change the meaning of the file. */
static enum index_read_result read_extensions(const char *at, const char *end,
					      struct index_read *index)
{
	while (end - at >= EXTENSION + FSCK_ID) {
		size_t size = number(at + 4);

		if (size > (size_t)(end - at) - EXTENSION)
			return INDEX_READ_DAMAGED;
		if (*at < 'A' || *at > 'Z')
			return INDEX_READ_OTHER;
		if (memcmp(at, "TREE", 4) == 0)
			index->tree = read_tree(at + EXTENSION, size);
		at += EXTENSION + size;
	}
	return end - at == FSCK_ID ? INDEX_READ_WHOLE : INDEX_READ_DAMAGED;
}

static enum index_read_result read_all(const char *bytes, size_t size, struct index_read *index)
{
	const char *at = bytes + HEAD;
	const char *end = bytes + size;
	uint32_t version;
	uint32_t count;

	if (size < HEAD + FSCK_ID || memcmp(bytes, "DIRC", 4) != 0)
		return INDEX_READ_DAMAGED;
	version = number(bytes + 4);
	count = number(bytes + 8);
	if (version < 2 || version > 3 || count > INDEX_READ_MOST)
		return version == 4 || count > INDEX_READ_MOST ? INDEX_READ_OTHER
							       : INDEX_READ_DAMAGED;
	for (uint32_t i = 0; i < count; i++) {
		struct index_read_entry entry;
		size_t length = read_entry(at, (size_t)(end - at), &entry);

		if (!length)
			return INDEX_READ_DAMAGED;
		index->items = mem_extend(index->items, index->count, sizeof *index->items);
		index->items[index->count++] = entry;
		at += length;
	}
	return read_extensions(at, end, index);
}

enum index_read_result index_read_parse(const char *bytes, size_t size,
					struct index_read *ret_index)
{
	enum index_read_result result;

	*ret_index = (struct index_read){ 0 };
	result = read_all(bytes, size, ret_index);
	if (result != INDEX_READ_WHOLE)
		index_read_release(ret_index);
	return result;
}

void index_read_release(struct index_read *index)
{
	free(index->items);
	*index = (struct index_read){ 0 };
}
