/* A set of object ids. */
#include "snapshot/object/seen.h"

#include "util/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 4096 };

static struct seen_object *slot_of(const struct seen *seen, const unsigned char *id)
{
	uint64_t key;

	memcpy(&key, id, sizeof key);

	size_t slot = key & (seen->slots - 1);

	while (seen->table[slot].type != FSCK_ANY && memcmp(seen->table[slot].id, id, FSCK_ID) != 0)
		slot = (slot + 1) & (seen->slots - 1);
	return &seen->table[slot];
}

enum fsck_type seen_type(const struct seen *seen, const unsigned char id[FSCK_ID])
{
	return seen->slots ? slot_of(seen, id)->type : FSCK_ANY;
}

static void grow(struct seen *seen)
{
	struct seen_object *old = seen->table;
	size_t slots = seen->slots;

	seen->slots = slots ? 2 * slots : SMALLEST;
	seen->table = mem_zero(seen->slots * sizeof *seen->table);
	for (size_t i = 0; i < slots; i++)
		if (old[i].type != FSCK_ANY)
			*slot_of(seen, old[i].id) = old[i];
	free(old);
}

void seen_add(struct seen *seen, const unsigned char id[FSCK_ID], enum fsck_type type)
{
	struct seen_object *slot;

	if (2 * (seen->count + 1) > seen->slots)
		grow(seen);
	slot = slot_of(seen, id);
	memcpy(slot->id, id, FSCK_ID);
	slot->type = type;
	seen->count++;
}

unsigned int seen_height(const struct seen *seen, const unsigned char id[FSCK_ID])
{
	return seen->slots ? slot_of(seen, id)->height : 0;
}

void seen_set_height(struct seen *seen, const unsigned char id[FSCK_ID], unsigned int height)
{
	if (seen_type(seen, id) != FSCK_ANY)
		slot_of(seen, id)->height = height;
}

void seen_release(struct seen *seen)
{
	free(seen->table);
	*seen = (struct seen){ 0 };
}
