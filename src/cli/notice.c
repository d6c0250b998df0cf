/* Notices: see notice.h. */
#include "cli/notice.h"

#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>

void notice(const char *text)
{
	AUTO_FREE char *shown = text_escaped(text);

	fprintf(stderr, "[ringfence] %s\n", shown);
}

void notice_found(const struct fence_found *found)
{
	enum { MOST_LINES = 20 };

	for (size_t i = 0; i < found->count; i++) {
		const struct fence_quarantined *at = &found->items[i];
		AUTO_FREE char *text =
			at->kept
				? mem_format("quarantined %s (new; %s) -> %s", at->path, at->reason,
					     at->kept)
				: mem_format(
					  "COULD NOT quarantine %s (new; %s): do not use this folder before it is gone",
					  at->path, at->reason);

		if (i < MOST_LINES || !at->kept)
			notice(text);
	}
	if (found->count > MOST_LINES)
		fprintf(stderr, "[ringfence] quarantined %zu entries in all; --report lists them\n",
			found->count);
}

void notice_config(const struct config *config)
{
	for (size_t i = 0; i < config->notices.count; i++)
		notice(config->notices.items[i]);
	for (size_t i = 0; i < config->count; i++) {
		AUTO_FREE char *line = config_inactive_line(&config->values[i]);

		if (config->values[i].state == CONFIG_INACTIVE)
			notice(line);
	}
}
