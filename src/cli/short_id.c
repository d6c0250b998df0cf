/* Words for loops and drafts: see short_id.h. */
#include "cli/short_id.h"

#include "draft/draft_record.h"
#include "loop/client.h"
#include "util/buffer.h"
#include "util/id.h"
#include "util/mem.h"

#include <string.h>

enum { SHOWN = 5 };

/* Adds drafts of commands, of the project if there are any, else of all. */
static int add_drafts(const struct fence_place *place, const char *word, struct list *ids,
		      struct error *err)
{
	struct draft_records all;

	if (draft_record_list(place->state, &all, err) < 0)
		return -1;
	for (int other = 0; other < 2 && !ids->count; other++)
		for (size_t i = 0; i < all.count; i++)
			if (id_matches(all.items[i].id, word) &&
			    (strcmp(all.items[i].project, place->project) == 0) == !other)
				list_add(ids, all.items[i].id);
	draft_records_release(&all);
	return 0;
}

/* A name counts before everything that is abbreviated. */
static bool is_by_name(const struct list *loops, const char *word)
{
	return loops->count && !id_matches(loops->items[0], word);
}

static void fail_ambiguous(const char *word, const struct list *ids, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);

	for (size_t i = 0; i < ids->count && i < SHOWN; i++)
		buffer_printf(&text, "%s%s", i ? ", " : "", ids->items[i]);
	if (ids->count > SHOWN)
		buffer_printf(&text, " and %zu more", ids->count - SHOWN);
	error_with(err, ERROR_INVALID, "'%.40s' stands for %zu loops or drafts: %s", word,
		   ids->count, buffer_text(&text));
}

const char *short_id_resolve(const struct fence_place *place, const char *word, struct list *kept,
			     struct error *err)
{
	struct list loops = { 0 };
	struct list drafts = { 0 };
	const char *found = NULL;

	if (id_is_valid(word))
		return word;
	if (client_match(place->state, place->project, word, &loops, err) == 0 &&
	    (is_by_name(&loops, word) || add_drafts(place, word, &drafts, err) == 0)) {
		for (size_t i = 0; i < drafts.count; i++)
			list_add(&loops, drafts.items[i]);
		found = word;
		if (loops.count > 1) {
			found = NULL;
			fail_ambiguous(word, &loops, err);
		} else if (loops.count) {
			list_add(kept, loops.items[0]);
			found = kept->items[kept->count - 1];
		}
	}
	list_release(&drafts);
	list_release(&loops);
	return found;
}
