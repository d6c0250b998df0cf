/* The result of a run: see fence_result.h. */
#include "fence/fence_result.h"

#include <stdlib.h>

void fence_denial_release(struct fence_denial *denial)
{
	free(denial->target);
	free(denial->rule);
	free(denial->program);
	list_release(&denial->argv);
}

size_t fence_denials_count(const struct fence_denials *denials)
{
	size_t count = 0;

	for (size_t i = 0; i < denials->count; i++)
		count += !denials->items[i].harmless;
	return count;
}

static void release_denials(struct fence_denials *denials)
{
	for (size_t i = 0; i < denials->count; i++)
		fence_denial_release(&denials->items[i]);
	free(denials->items);
	*denials = (struct fence_denials){ 0 };
}

const char *fence_exit_name(enum fence_exit kind)
{
	static const char *const names[] = {
		"ok", "command", "signal", "limit", "denied", "setup"
	};

	return names[kind];
}

void fence_result_release(struct fence_result *result)
{
	fence_found_release(&result->found);
	release_denials(&result->denials);
	free(result->hosts);
	list_release(&result->warnings);
}
