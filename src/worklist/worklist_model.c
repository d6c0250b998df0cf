/* The model of a list: see worklist_model.h. */
#include "worklist/worklist_model.h"

#include <stdlib.h>
#include <string.h>

static const char *const formats[WORKLIST_FORMATS] = {
	[WORKLIST_MARKDOWN] = "markdown", [WORKLIST_PLAN] = "plan",     [WORKLIST_PRD] = "prd",
	[WORKLIST_BEADS] = "beads",       [WORKLIST_GITHUB] = "github", [WORKLIST_YAML] = "yaml",
};

const char *worklist_model_format(enum worklist_format format)
{
	return formats[format];
}

static void item_release(struct worklist_item *item)
{
	free(item->id);
	free(item->title);
	free(item->prompt);
	free(item->agent);
	free(item->model);
	free(item->marks);
	list_release(&item->checks);
	list_release(&item->pins);
	list_release(&item->files);
	list_release(&item->depends);
}

void worklist_model_release(struct worklist *list)
{
	for (size_t i = 0; i < list->count; i++)
		item_release(&list->items[i]);
	free(list->items);
	free(list->formats);
	list_release(&list->files);
	list_release(&list->notes);
	*list = (struct worklist){ 0 };
}

const struct worklist_item *worklist_model_find(const struct worklist *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].id, id) == 0)
			return &list->items[i];
	return NULL;
}
