/* News: see notify_event.h. */
#include "notify/notify_event.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define NOTIFY_EVENT(name) [NOTIFY_EVENT_##name] = #name,
	NOTIFY_EVENTS(NOTIFY_EVENT)
#undef NOTIFY_EVENT
};

const char *notify_event_name(enum notify_event event)
{
	return names[event];
}

int notify_event_find(const char *name)
{
	for (int i = 0; i < NOTIFY_EVENT_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

void notify_list_add(struct notify_list *list, int64_t seq, int64_t at_ms, enum notify_event event,
		     /* NOLINTNEXTLINE(readability-non-const-parameter): the list owns it */
		     char *text)
{
	list->items = mem_resize(list->items, list->count + 1, sizeof *list->items);
	list->items[list->count++] = (struct notify_news){ seq, at_ms, event, text };
}

void notify_list_release(struct notify_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].text);
	free(list->items);
	*list = (struct notify_list){ 0 };
}

void notify_list_drop(struct notify_list *list, int64_t seq)
{
	size_t gone = 0;

	while (gone < list->count && list->items[gone].seq <= seq)
		free(list->items[gone++].text);
	if (gone)
		memmove(list->items, list->items + gone,
			(list->count - gone) * sizeof *list->items);
	list->count -= gone;
}
