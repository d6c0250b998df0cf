/* Names with counts: see view_names.h. */
#include "view/view_names.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void view_names_release(struct view_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].text);
	free(names->items);
	free(names->slots);
	*names = (struct view_names){ .most = names->most };
}

/* FNV-1a with a seed: nobody can choose names that all have the same slot. */
static size_t hash_of(const struct view_names *names, uint32_t group, const char *text, size_t size)
{
	uint64_t hash = names->seed ^ group;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211U;
	return (size_t)(hash ^ hash >> 32);
}

/* Finds the slot of a name, or the free one where it belongs. */
static uint32_t *find_slot(const struct view_names *names, uint32_t group, const char *text,
			   size_t size)
{
	size_t at = hash_of(names, group, text, size) % names->slot_count;

	for (; names->slots[at]; at = (at + 1) % names->slot_count) {
		const struct view_name *item = &names->items[names->slots[at] - 1];

		if (item->group == group && strncmp(item->text, text, size) == 0 &&
		    item->text[size] == '\0')
			break;
	}
	return &names->slots[at];
}

size_t view_names_add(struct view_names *names, uint32_t group, const char *text, uint64_t count)
{
	size_t size = text_first(text, strlen(text), VIEW_NAMES_BYTES);
	uint32_t *slot;

	if (!names->slots) {
		names->slot_count = 2 * names->most + 1;
		names->slots = mem_zero(names->slot_count * sizeof *names->slots);
		if (getrandom(&names->seed, sizeof names->seed, GRND_NONBLOCK) !=
		    sizeof names->seed)
			names->seed =
				14695981039346656037U; /* an early boot: only time is at risk */
	}
	slot = find_slot(names, group, text, size);
	if (!*slot && names->count == names->most) {
		names->unlisted += count;
		return SIZE_MAX;
	}
	if (!*slot) {
		names->items = mem_extend(names->items, names->count, sizeof *names->items);
		names->items[names->count++] = (struct view_name){
			.text = mem_format("%.*s", (int)size, text),
			.group = group,
		};
		*slot = (uint32_t)names->count;
	}
	names->items[*slot - 1].count += count;
	return *slot - 1;
}

static int compare(const void *a, const void *b, void *items)
{
	const struct view_name *one = (const struct view_name *)items + *(const size_t *)a;
	const struct view_name *other = (const struct view_name *)items + *(const size_t *)b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	if (one->group != other->group)
		return one->group < other->group ? -1 : 1;
	return strcmp(one->text, other->text);
}

size_t *view_names_order(const struct view_names *names)
{
	size_t *order = mem_alloc((names->count + 1) * sizeof *order);

	for (size_t i = 0; i < names->count; i++)
		order[i] = i;
	qsort_r(order, names->count, sizeof *order, compare, names->items);
	return order;
}
