/* The findings of a sweep: see fence_found.h. */
#include "fence/fence_found.h"

#include <stdlib.h>

void fence_found_release(struct fence_found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free(found->items[i].path);
		free(found->items[i].reason);
		free(found->items[i].kept);
	}
	free(found->items);
	for (size_t i = 0; i < found->flagged_count; i++)
		free(found->flagged[i].path);
	free(found->flagged);
	*found = (struct fence_found){ 0 };
}
