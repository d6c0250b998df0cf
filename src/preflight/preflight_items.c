/* Items of the preflight: see preflight_items.h. */
#include "preflight/preflight_items.h"

#include "util/mem.h"

#include <stdlib.h>

const char *preflight_state_name(enum preflight_state state)
{
	static const char *const names[] = { "pass", "warn", "fail" };

	return names[state];
}

void preflight_items_add(struct preflight_items *items, const char *name,
			 enum preflight_state state, char *detail, const char *fix)
{
	struct preflight_item *item;

	items->items = mem_resize(items->items, items->count + 1, sizeof *items->items);
	item = &items->items[items->count++];
	*item = (struct preflight_item){ .name = name, .state = state };
	item->detail = detail;
	item->fix = fix ? mem_dup(fix) : NULL;
}

void preflight_items_mark_known(struct preflight_items *items)
{
	items->items[items->count - 1].known = true;
}

void preflight_items_add_secret(struct preflight_items *items,
				const struct preflight_secret *secret)
{
	items->secrets = mem_resize(items->secrets, items->secret_count + 1,
				    sizeof *items->secrets);
	items->secrets[items->secret_count++] = (struct preflight_secret){
		.path = mem_dup(secret->path),
		.commit = secret->commit ? mem_dup(secret->commit) : NULL,
		.what = mem_dup(secret->what),
		.shown = mem_dup(secret->shown),
		.line = secret->line,
	};
}

bool preflight_items_have(const struct preflight_items *items, enum preflight_state state)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->items[i].state == state)
			return true;
	return false;
}

void preflight_items_release(struct preflight_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		free(items->items[i].detail);
		free(items->items[i].fix);
	}
	for (size_t i = 0; i < items->secret_count; i++) {
		free(items->secrets[i].path);
		free(items->secrets[i].commit);
		free(items->secrets[i].what);
		free(items->secrets[i].shown);
	}
	free(items->items);
	free(items->secrets);
	*items = (struct preflight_items){ 0 };
}
